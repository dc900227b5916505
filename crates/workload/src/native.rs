//! Writes native traces. What is written reads back as the same requests.

use crate::source::io_error;
use crate::{Format, TraceError};
use fowler_units::{HostIo, HostOp};
use std::io::Write;

/// The name errors of writing go by.
const NAME: &str = "native trace";
/// Text gathered before it is written.
const CHUNK: usize = 1 << 16;

/// Writes `records` as CSV with the header `at_ns,op,offset,size`. Returns how many were written.
///
/// # Errors
/// The first error of the source, after everything before it was written; or of writing.
pub fn write_native(
    records: impl IntoIterator<Item = Result<HostIo, TraceError>>,
    mut out: impl Write,
) -> Result<u64, TraceError> {
    let mut text = Vec::with_capacity(CHUNK + 128);
    text.extend_from_slice(Format::Native.columns().as_bytes());
    text.push(b'\n');
    let (mut count, mut failed) = (0, None);
    for record in records {
        match record {
            Ok(record) => line(&mut text, &record),
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

fn line(text: &mut Vec<u8>, request: &HostIo) {
    let is_flush = request.op == HostOp::Flush;
    let (offset, size) = if is_flush { (0, 0) } else { (request.offset, request.size) };
    number(text, request.at.0);
    text.push(b',');
    text.extend_from_slice(request.op.word().as_bytes());
    text.push(b',');
    number(text, offset);
    text.push(b',');
    number(text, u64::from(size));
    text.push(b'\n');
}

/// Appends a number in decimal, without the machinery of `format!`.
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
    use crate::{Problem, ReadOptions, TraceReader};
    use fowler_units::{Nanos, Rng};
    use std::io::Cursor;

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
                    HostIo { at: Nanos(at), offset, size, op }
                })
                .collect();
            let mut text = Vec::new();
            let written = write_native(requests.iter().copied().map(Ok), &mut text).unwrap();
            assert_eq!(written, count as u64);
            let options = ReadOptions::default();
            let reader = TraceReader::from_stream("t", Box::new(Cursor::new(text)), &options);
            let again: Vec<HostIo> = reader.unwrap().map(Result::unwrap).collect();
            assert_eq!(again, requests);
        }
    }

    #[test]
    fn what_came_before_an_error_is_written() {
        let request = HostIo { at: Nanos(5), offset: 10, size: 20, op: HostOp::Trim };
        let error = TraceError::one("t", Problem::new("torn"));
        let mut text = Vec::new();
        let result = write_native([Ok(request), Err(error.clone())], &mut text);
        assert_eq!(result, Err(error));
        assert_eq!(text, b"at_ns,op,offset,size\n5,trim,10,20\n");
    }
}
