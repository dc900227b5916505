//! The native format: CSV with the header `at_ns,op,offset,size`; time in ns, offset and size in
//! bytes, the operation as a word. A flush has offset 0 and size 0.
//!
//! A header may name any of three more columns, each at most once. It may name all columns in any
//! order. An empty value has the same meaning as a missing column. An operation may also be a
//! letter or another word that `op=rw` of `--columns` takes.
//!
//! | column | value | empty |
//! |---|---|---|
//! | `queue` | the submission queue, 0 to 65535 | 0 |
//! | `placement` | the placement handle, 0 to 254 | none |
//! | `deadline_ns` | ns from the arrival to when the host wants the answer, below 2^63 | none |

use super::{Table, TraceFormat};
use crate::columns::Columns;
use crate::csv::{CsvColumn, CsvColumns, Parting};
use crate::op_code::{Meant, OpCode};
use crate::optional_column::OptionalColumn;
use crate::recognition::plausibility::{Clock, Rules};
use crate::record::{Measure, Record, record_or_piece, unknown_op};
use fowler_units::HostOp;

/// Operations of a native trace by their words.
const WORDS: &[(&[u8], HostOp)] = &[
    (b"read", HostOp::Read),
    (b"write", HostOp::Write),
    (b"trim", HostOp::Trim),
    (b"flush", HostOp::Flush),
];

/// This project's own trace format.
pub(crate) struct Native;

impl TraceFormat for Native {
    const COLUMNS: &'static str = "at_ns,op,offset,size";
    const ABOUT: &'static str = "\
        CSV with the header at_ns,op,offset,size; time in ns, offset and size in bytes, op one \
        of read, write, trim, flush";
    const TABLE: Table = Table { time: "ns", range: "bytes, bytes", read: "`read`" };
    const EXAMPLE: &'static [u8] = b"at_ns,op,offset,size\n0,read,0,4096\n7,write,4096,512\n\
        7,trim,0,8192\n\
        9,flush,0,0\n";
    const TIME_COLUMN: &'static str = "at_ns";
    const HEADER: Option<&'static str> = Some(Self::COLUMNS);
    const OPTIONAL_COLUMNS: bool = true;
    const RULES: Rules = Rules { clock: Clock::Relative, ..Rules::NONE };
    const AS_COLUMNS: Option<&'static str> = Some("header,ts=ns,op=rw,lba=bytes,len=bytes");

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let (at, op, start, length) = usual(columns)?;
        columns.finish()?;
        record_or_piece(columns, at, 0, start, length, op)
    }

    fn is_header(line: &[u8]) -> bool {
        line == Self::COLUMNS.as_bytes()
            || reordered(line).is_some()
            || unexpected_column(line).is_some()
    }

    fn decode_wider<'a, C: Columns<'a>>(
        columns: &mut C,
        optional: &[OptionalColumn],
    ) -> Result<Record, C::Fault> {
        let (at, op, start, length) = usual(columns)?;
        let mut values = columns.clone();
        for column in optional {
            columns.next(column.name())?;
        }
        columns.finish()?;
        let mut record = record_or_piece(columns, at, 0, start, length, op)?;
        for column in optional {
            let value = values.next(column.name())?;
            record.io = column.read(value, record.io).map_err(C::fault)?;
        }
        Ok(record)
    }
}

/// Decodes the operation column of a native trace: a native word, or any word that `op=rw` of
/// `--columns` accepts. The fast decoder leaves the latter to the full decoder.
#[inline(always)]
fn operation<'a, C: Columns<'a>>(columns: &mut C) -> Result<HostOp, C::Fault> {
    if C::SEVERAL { other_operation(columns) } else { columns.word("op", WORDS, "") }
}

fn other_operation<'a, C: Columns<'a>>(columns: &mut C) -> Result<HostOp, C::Fault> {
    let mut again = columns.clone();
    match columns.word("op", WORDS, "") {
        Ok(op) => Ok(op),
        Err(_) => {
            let field = again.next("op")?;
            let Some(Meant::Request(op, extra)) = OpCode::Words.meaning(field) else {
                return Err(unknown_op::<C>("op", field, "read, write, trim or flush"));
            };
            *columns = again;
            columns.extra(extra)?;
            Ok(op)
        }
    }
}

/// Returns the column of a native trace with this name.
fn by_name(name: &[u8]) -> Option<CsvColumn> {
    match name.trim_ascii() {
        b"at_ns" => Some(CsvColumn::Time { digits: 0 }),
        b"op" => Some(CsvColumn::Op(OpCode::Words)),
        b"offset" => Some(CsvColumn::Offset { unit: 1 }),
        b"size" => Some(CsvColumn::Size { unit: 1 }),
        other => OptionalColumn::by_name(other).map(CsvColumn::Optional),
    }
}

/// Largest number of header columns that are examined.
const MOST: usize = 256;

/// Returns the names in a header row that has each of the columns `at_ns`, `op`, `offset` and
/// `size` once, in any order; `None` if it does not, or if a column has no name.
fn names(header: &[u8]) -> Option<Vec<&[u8]>> {
    let names: Vec<&[u8]> = header.split(|&byte| byte == b',').take(MOST).collect();
    let required = names.iter().filter_map(|name| by_name(name));
    let required = required.filter(|column| !matches!(column, CsvColumn::Optional(_)));
    let required: Vec<CsvColumn> = required.collect();
    let once = |column: &CsvColumn| required.iter().filter(|it| *it == column).count() == 1;
    let are_named = names.iter().all(|name| !name.trim_ascii().is_empty());
    (required.len() == 4 && required.iter().all(once) && are_named).then_some(names)
}

/// Returns the columns of a native trace by a header row that names the four columns in any order,
/// with optional ones anywhere; `None` if it does not.
pub(crate) fn reordered(header: &[u8]) -> Option<Vec<CsvColumn>> {
    let columns: Option<Vec<CsvColumn>> = names(header)?.into_iter().map(by_name).collect();
    let columns = columns?;
    let once = |column: &CsvColumn| columns.iter().filter(|it| *it == column).count() == 1;
    columns.iter().all(once).then_some(columns)
}

/// Returns the first unknown or repeated column in a header row that has the four required columns.
pub(crate) fn unexpected_column(header: &[u8]) -> Option<&[u8]> {
    let names = names(header)?;
    let is_known = |at: usize| {
        let known = by_name(names[at]);
        known.is_some() && !names[..at].iter().any(|before| by_name(before) == known)
    };
    (0..names.len()).find(|&at| !is_known(at)).map(|at| names[at].trim_ascii())
}

/// Returns advice for a header row with an unknown column.
pub(crate) fn without_unexpected(header: &[u8]) -> String {
    let of = |name: &[u8]| match by_name(name) {
        Some(CsvColumn::Optional(_)) | None => CsvColumn::Skipped,
        Some(column) => column,
    };
    let names: Vec<&[u8]> = header.split(|&byte| byte == b',').take(MOST).collect();
    let columns: Vec<CsvColumn> = names.iter().map(|name| of(name)).collect();
    let columns = CsvColumns::of_header(columns, Parting::Commas);
    let optional = names.iter().filter_map(|name| OptionalColumn::by_name(name.trim_ascii()));
    let dropped: Vec<String> = optional.map(|column| format!("`{}`", column.name())).collect();
    let but = match &dropped[..] {
        [] => String::new(),
        _ => format!(", without {}", dropped.join(" and ")),
    };
    format!("remove the unknown column, or read the file by its columns: --columns {columns}{but}")
}

/// Decodes the four columns that every native trace has.
#[inline(always)]
fn usual<'a, C: Columns<'a>>(columns: &mut C) -> Result<(u64, HostOp, Measure, Measure), C::Fault> {
    let at = columns.whole_time("at_ns", 1)?;
    let op = operation(columns)?;
    let start = Measure { count: columns.unsigned("offset")?, unit: 1, column: "offset" };
    let length = Measure { count: columns.unsigned("size")?, unit: 1, column: "size" };
    Ok((at, op, start, length))
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use super::*;
    use crate::{Cause, Format};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn each_word_is_its_operation() {
        for (line, op, offset, size) in [
            ("7,read,4096,512", HostOp::Read, 4096, 512),
            ("7,write,1,3", HostOp::Write, 1, 3),
            ("7, trim , 0 ,4096", HostOp::Trim, 0, 4096),
            ("7,R,4096,512", HostOp::Read, 4096, 512),
            ("7,W,1,3", HostOp::Write, 1, 3),
            ("7,discard,0,4096", HostOp::Trim, 0, 4096),
            ("7,FLUSH,0,0", HostOp::Flush, 0, 0),
            ("7,flush,0,0", HostOp::Flush, 0, 0),
        ] {
            let expected = Record { device: 0, io: HostIo::new(op, Nanos(7), offset, size) };
            assert_eq!(decode_line(Format::Native, line.as_bytes()), Ok(expected));
        }
    }

    #[test]
    fn columns_beyond_those_of_a_native_trace_are_named() {
        for (header, unexpected) in [
            ("at_ns,op,offset,size", None),
            ("size,op,queue,offset,at_ns,deadline_ns,placement", None),
            ("at_ns,op,offset,size,latency_us", Some("latency_us")),
            ("id,size,op,offset,at_ns", Some("id")),
            ("at_ns,op,offset,size,queue, queue", Some("queue")),
            // Not the four required columns, or one without a name: not a native trace.
            ("at_ns,op,offset,bytes,x", None),
            ("at_ns,op,offset,size,size", None),
            (",at_ns,op,offset,size", None),
        ] {
            let found = unexpected_column(header.as_bytes()).map(|it| str::from_utf8(it).unwrap());
            assert_eq!(found, unexpected, "{header}");
            let is_read = reordered(header.as_bytes()).is_some();
            assert!(!is_read || unexpected.is_none(), "{header}");
        }
        let advice = without_unexpected(b"id,size,op,queue,offset,at_ns");
        let columns = "--columns header,_,len=bytes,op=rw,_,lba=bytes,ts=ns, without `queue`";
        assert!(advice.ends_with(columns), "{advice}");
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "7,peek,0,512",
            "-7,read,0,512",
            "7,read,0",
            "7,read,0,512,",
            "7.5,read,0,512",
            "7,read,0,0",
            "7,flush,0,512",
            "7,read,-512,512",
        ];
        let expected = [
            Cause::UnknownOp,
            Cause::NegativeTime,
            Cause::TooFewColumns,
            Cause::TooManyColumns,
            Cause::NotANumber,
            Cause::ZeroLength,
            Cause::FlushWithRange,
            Cause::NotANumber,
        ];
        assert_eq!(causes(Format::Native, &lines), expected);
    }
}
