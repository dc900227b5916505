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
use crate::csv::CsvColumn;
use crate::op_code::{Meant, OpCode};
use crate::optional_column::OptionalColumn;
use crate::recognition::plausibility::{Clock, Rules};
use crate::record::{Measure, Record, record_or_piece, unknown_op};
use fowler_units::HostOp;

/// The operations.
const WORDS: &[(&[u8], HostOp)] = &[
    (b"read", HostOp::Read),
    (b"write", HostOp::Write),
    (b"trim", HostOp::Trim),
    (b"flush", HostOp::Flush),
];

/// Native traces.
pub(crate) struct Native;

impl TraceFormat for Native {
    const COLUMNS: &'static str = "at_ns,op,offset,size";
    const ABOUT: &'static str = "\
        CSV with the header at_ns,op,offset,size; time in ns, offset and size in bytes, op one \
        of read, write, trim, flush";
    const TABLE: Table = Table { time: "ns", range: "bytes, bytes", read: "`read`" };
    const EXAMPLE: &'static [u8] = b"\
        at_ns,op,offset,size\n\
        0,read,0,4096\n\
        7,write,4096,512\n\
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
        line == Self::COLUMNS.as_bytes() || reordered(line).is_some()
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

/// Decodes the operation: the word, or what `op=rw` of `--columns` takes for one. A reader of plain
/// lines leaves others than the words to one of all lines.
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

/// Returns the columns of a native trace by a header row that names the four columns in any order,
/// with optional ones anywhere; `None` if it does not.
pub(crate) fn reordered(header: &[u8]) -> Option<Vec<CsvColumn>> {
    let column = |name: &[u8]| match name.trim_ascii() {
        b"at_ns" => Some(CsvColumn::Time { digits: 0 }),
        b"op" => Some(CsvColumn::Op(OpCode::Words)),
        b"offset" => Some(CsvColumn::Offset { unit: 1 }),
        b"size" => Some(CsvColumn::Size { unit: 1 }),
        other => OptionalColumn::by_name(other).map(CsvColumn::Optional),
    };
    let columns: Option<Vec<CsvColumn>> =
        header.split(|&byte| byte == b',').map(column).take(8).collect();
    let columns = columns?;
    let once = |column: &CsvColumn| columns.iter().filter(|it| *it == column).count() == 1;
    let required = columns.iter().filter(|it| !matches!(it, CsvColumn::Optional(_))).count();
    (required == 4 && columns.iter().all(once)).then_some(columns)
}

/// Decodes the four columns of every native trace.
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
