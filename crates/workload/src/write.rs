//! Writes native traces. Reading them back yields the same requests.

use crate::source::io_error;
use crate::{Format, OptionalColumns, TraceError};
use fowler_units::{Diagnostic, HostIo, HostOp};
use std::io::Write;

/// File name in the errors of writing a native trace.
const NAME: &str = "native trace";
/// Number of bytes of trace text that are buffered before they are written.
const CHUNK: usize = 1 << 16;

/// Writes `records` as CSV with the header `at_ns,op,offset,size` and the optional columns. Returns
/// the number of records written.
///
/// # Errors
/// The first error of the source, after everything before it was written; a request with a value in
/// an optional column that is not written; or a write error.
pub fn write_native(
    records: impl IntoIterator<Item = Result<HostIo, TraceError>>,
    optional: OptionalColumns,
    mut out: impl Write,
) -> Result<u64, TraceError> {
    let mut text = Vec::with_capacity(CHUNK + 256);
    text.extend_from_slice(Format::Native.columns().as_bytes());
    for column in optional.columns() {
        text.push(b',');
        text.extend_from_slice(column.name().as_bytes());
    }
    text.push(b'\n');
    let (mut count, mut failed) = (0, None);
    for record in records {
        match record.and_then(|io| complete(optional, io)) {
            Ok(record) => line(&mut text, &record, optional),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
        count += 1;
        if text.len() >= CHUNK {
            out.write_all(&text).map_err(|error| io_error(NAME, "writing", &error))?;
            text.clear();
        }
    }
    out.write_all(&text)
        .and_then(|()| out.flush())
        .map_err(|error| io_error(NAME, "writing", &error))?;
    failed.map_or(Ok(count), Err)
}

/// Returns an error for a request with a value in an optional column that the native trace being
/// written does not have.
#[inline]
fn complete(optional: OptionalColumns, io: HostIo) -> Result<HostIo, TraceError> {
    match optional.lacking(&io) {
        None => Ok(io),
        Some(column) => {
            let what = format!(
                "a request has a value for column `{}`, which the trace being written does not have",
                column.name()
            );
            Err(TraceError::one(NAME, Diagnostic::of(what)))
        }
    }
}

fn line(text: &mut Vec<u8>, request: &HostIo, optional: OptionalColumns) {
    let is_flush = request.op == HostOp::Flush;
    let (offset, size) = if is_flush { (0, 0) } else { (request.offset, request.size) };
    number(text, request.at.0);
    text.push(b',');
    text.extend_from_slice(request.op.word().as_bytes());
    text.push(b',');
    number(text, offset);
    text.push(b',');
    number(text, u64::from(size));
    for column in optional.columns() {
        text.push(b',');
        if let Some(value) = column.value(request) {
            number(text, value);
        }
    }
    text.push(b'\n');
}

/// Appends a number in decimal to the text; faster than `format!`.
fn number(text: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cause, ReadOptions, TraceReader};
    use fowler_units::{Deadline, Nanos, PlacementHandle, QueueId, Rng, Span};
    use std::io::Cursor;

    const NONE: OptionalColumns = OptionalColumns([false; 3]);

    #[test]
    fn what_is_written_reads_back_as_the_same_requests() {
        let mut rng = Rng::stream(11, "native");
        for count in [1usize, 2, 1000, 20_000] {
            let mut at = 0;
            let requests: Vec<HostIo> = (0..count)
                .map(|_| {
                    at += rng.bits() >> (20 + rng.below(44));
                    let op = HostOp::ALL[rng.below(4) as usize];
                    let size = (rng.bits() >> (32 + rng.below(32))).max(1) as u32;
                    let offset = (rng.bits() >> rng.below(64)).min(u64::MAX - u64::from(size));
                    let flush = op == HostOp::Flush;
                    let (offset, size) = if flush { (0, 0) } else { (offset, size) };
                    HostIo::new(op, Nanos(at), offset, size)
                })
                .collect();
            let mut text = Vec::new();
            let written = write_native(requests.iter().copied().map(Ok), NONE, &mut text).unwrap();
            assert_eq!(written, count as u64);
            let options = ReadOptions::default();
            let reader = TraceReader::from_stream("t", Box::new(Cursor::new(text)), &options);
            let again: Vec<HostIo> = reader.unwrap().map(Result::unwrap).collect();
            assert_eq!(again, requests);
        }
    }

    #[test]
    fn what_came_before_an_error_is_written() {
        let request = HostIo::trim(Nanos(5), 10, 20);
        let error = TraceError::one("t", Diagnostic::of("torn"));
        let mut text = Vec::new();
        let result = write_native([Ok(request), Err(error.clone())], NONE, &mut text);
        assert_eq!(result, Err(error));
        assert_eq!(text, b"at_ns,op,offset,size\n5,trim,10,20\n");
    }

    /// Returns the requests of a text, and the optional columns of its header.
    fn read(text: &[u8]) -> (Result<Vec<HostIo>, TraceError>, OptionalColumns) {
        let stream = Box::new(Cursor::new(text.to_vec()));
        let mut reader = TraceReader::from_stream("t", stream, &ReadOptions::default()).unwrap();
        let requests = reader.by_ref().collect();
        (requests, reader.optional_columns())
    }

    #[test]
    fn optional_columns_read_back_whichever_are_there() {
        let mut rng = Rng::stream(12, "native/optional");
        for choice in 0..8u8 {
            let [queue, placement, deadline] = [1, 2, 4].map(|bit| choice & bit != 0);
            let requests: Vec<HostIo> = (0..500)
                .map(|at| {
                    let mut io = HostIo::new(HostOp::ALL[at % 4], Nanos(at as u64), 0, 512);
                    if io.op == HostOp::Flush {
                        io = io.with_size(0);
                    }
                    if queue {
                        io.queue = QueueId(rng.below(1 << 16) as u16);
                    }
                    if placement {
                        io.placement = PlacementHandle(rng.below(1 << 8) as u8);
                    }
                    if deadline && rng.chance(0.7) {
                        io.deadline = Deadline::after(Span(rng.bits() >> (1 + rng.below(63))));
                    }
                    io
                })
                .collect();
            let columns = OptionalColumns::used_by(requests.iter().copied());
            assert_eq!(columns, OptionalColumns([queue, placement, deadline]));
            let mut text = Vec::new();
            write_native(requests.iter().copied().map(Ok), columns, &mut text).unwrap();
            assert_eq!(read(&text), (Ok(requests), columns));
        }
    }

    #[test]
    fn optional_columns_come_in_any_order_and_an_empty_value_says_nothing() {
        let text = b"at_ns,op,offset,size,deadline_ns,queue\n1,read,0,512,,7\n2,flush,0,0, 90 ,\n";
        let (requests, columns) = read(text);
        let expected = [
            HostIo::read(Nanos(1), 0, 512).with_queue(QueueId(7)),
            HostIo::flush(Nanos(2)).with_deadline(Deadline::after(Span(90))),
        ];
        assert_eq!(requests.unwrap(), expected);
        let mut written = Vec::new();
        write_native(expected.map(Ok), columns, &mut written).unwrap();
        let text = "at_ns,op,offset,size,queue,deadline_ns\n1,read,0,512,7,\n2,flush,0,0,,90\n";
        assert_eq!(String::from_utf8(written).unwrap(), text);
        let lost = write_native(expected.map(Ok), NONE, &mut Vec::new()).unwrap_err().to_string();
        assert!(lost.contains("a value for column `queue`"), "{lost}");
    }

    #[test]
    fn bad_values_and_columns_are_refused_with_their_line() {
        let header = "at_ns,op,offset,size,queue,placement,deadline_ns";
        for (line, said) in [
            ("1,read,0,512,65536,,", "`65536` in `queue` is too large"),
            ("1,read,0,512,65536,,", "expected: a queue from 0 to 65535"),
            ("1,read,0,512,,255,", "`255` in `placement` is too large"),
            ("1,read,0,512,,x,", "`x` in `placement` is not a number"),
            ("1,read,0,512,,x,", "expected: a placement handle from 0 to 254"),
            ("1,read,0,512,,,9223372036854775808", "`9223372036854775808` in `deadline_ns` is too"),
            ("1,read,0,512,,,-1", "`-1` in `deadline_ns` is negative"),
            ("1,read,0,512,,,5us", "expected: whole nanoseconds, up to 292 years"),
            ("1,read,0,512,1,2", "column `deadline_ns` is missing"),
            ("1,read,0,512,1,2", "expected: at_ns,op,offset,size,queue,placement,deadline_ns ("),
            ("1,read,0,512,1,2,3,4", "too many columns, starting at `4`"),
            ("1,read,0,0,1,2,3", "`size` is zero"),
            ("9223372036854775808,read,0,1,1,2,3", "`at_ns` is too large"),
        ] {
            let text = format!("{header}\n0,read,0,512,1,2,3\n{line}\n");
            let error = read(text.as_bytes()).0.unwrap_err().to_string();
            assert!(error.starts_with("t:3: ") && error.contains(said), "{said}: {error}");
        }
        for (header, said) in [
            ("at_ns,op,offset,size,speed", "unexpected column `speed` in the header"),
            ("at_ns,op,offset,size,queue,queue", "unexpected column `queue` in the header"),
            ("at_ns,op,offset,size,", "unexpected column `,` in the header"),
            (
                "at_ns,op,offset,size,Queue",
                "any of queue, placement, deadline_ns, each at most once",
            ),
        ] {
            let error = read(format!("{header}\n0,read,0,512\n").as_bytes()).0.unwrap_err();
            assert_eq!(error.counts[&Cause::Header], 1);
            let error = error.to_string();
            assert!(error.starts_with("t:1: ") && error.contains(said), "{said}: {error}");
        }
    }
}
