//! Any CSV whose columns the user gives, as in `--columns "ts=us,op=rw,lba=512,len=bytes"`.
//!
//! Quotes around a field are removed. Fields with commas inside are not supported: no column that
//! is read has any.

use super::{Table, TraceFormat};
use crate::Cause;
use crate::columns::Columns;
use crate::context::Context;
use crate::csv::{CsvColumn, CsvColumns};
use crate::fields::Fault;
use crate::left_out_events::NamedKind;
use crate::number::{NumberError, cuts_digits, time_ns, unsigned};
use crate::op_code::{self, as_replayed};
use crate::record::{LATEST, Measure, Record, record_or_piece};
use fowler_units::HostOp;

/// Names of the time, the address and the size in messages: as in `--columns`, or as in the header
/// of a native trace.
const NAMES: [&str; 3] = ["ts", "lba", "len"];
const NATIVE_NAMES: [&str; 3] = ["at_ns", "offset", "size"];

/// A CSV whose columns the user or a header names.
pub(crate) struct Csv;

impl TraceFormat for Csv {
    const COLUMNS: &'static str = "as given with --columns";
    const ABOUT: &'static str = "\
        any CSV: time in the unit, and the code of a read, that --columns gives; op one of r, w, \
        t, f or words, or 0 and 1";
    const TABLE: Table = Table {
        time: "`ts=s`, `ms`, `us`, `100ns`, `ns`; decimals allowed",
        range: "`lba=N`, `len=N`: units of N bytes",
        read: "`op=rw`: words or letters; `op=1=read`; `op=0=read`",
    };
    const EXAMPLE: &'static [u8] = b"10,R,8,4096\n12.5,write,16,512\n13,\"r\",0,1\n";
    const COMMAS: bool = true;
    const TIME_COLUMN: &'static str = "columns";
    const FROM_A_DATE: bool = true;
    const STATEFUL: bool = true;
    const DETECTED: bool = false;
    const LEFT_OUT: &'static [NamedKind] = op_code::LEFT_OUT;

    fn decode_after<'a, C: Columns<'a>>(
        columns: &mut C,
        context: &mut Context,
    ) -> Result<Record, C::Fault> {
        let csv = context.csv.get_or_insert_with(CsvColumns::default);
        let (mut at, mut device, mut op) = (0, 0, None);
        // Stays empty (no allocation) except for native traces with reordered columns.
        let mut optional = Vec::new();
        let names = if csv.from_zero { NATIVE_NAMES } else { NAMES };
        let [ts, lba, len] = names;
        let nothing = |column| Measure { count: 0, unit: 1, column };
        let (mut start, mut length) = (nothing(lba), nothing(len));
        for &column in csv.columns() {
            match column {
                CsvColumn::Skipped => drop(columns.next("a skipped column")?),
                CsvColumn::Time { digits } => {
                    let field = unquoted(columns.next(ts)?);
                    at = time_ns(field, digits).map_err(|error| {
                        C::fault(match error {
                            NumberError::Negative => Fault::new(Cause::NegativeTime, ts, field),
                            other => of_number(other, ts, field),
                        })
                    })?;
                }
                CsvColumn::Op(code) => {
                    let field = unquoted(columns.next("op")?);
                    op = Some(code.read::<C>(field)?);
                }
                CsvColumn::Offset { unit } => {
                    start = Measure { count: number(columns, lba)?, unit, column: lba };
                }
                CsvColumn::Size { unit } => {
                    length = Measure { count: number(columns, len)?, unit, column: len };
                }
                CsvColumn::Device { named: true } => columns.host_named("dev")?,
                CsvColumn::Device { named: false } => device = number(columns, "dev")?,
                CsvColumn::Optional(column) => {
                    optional.push((column, columns.next(column.name())?))
                }
            }
        }
        if !csv.more() {
            columns.finish()?;
        }
        let (op, extra) =
            op.ok_or_else(|| C::fault(Fault::new(Cause::TooFewColumns, "op", b"")))?;
        let (op, extra) = as_replayed(op, extra, length.count);
        if op == HostOp::Flush && length.count == 0 && !csv.from_zero {
            // Flushes logged by the kernel have a meaningless sector.
            start.count = 0;
        }
        let from_zero = csv.from_zero;
        columns.extra(extra)?;
        let mut record = record_or_piece(columns, at, device, start, length, op)?;
        if from_zero && record.io.at > LATEST {
            return Err(C::fault(Fault::new(Cause::TooLarge, "at_ns", b"")));
        }
        for (column, value) in optional {
            record.io = column.read(value, record.io).map_err(C::fault)?;
        }
        Ok(record)
    }
}

/// Parses the next field as a whole number. Decimals are allowed if they are zero, because tables
/// with missing values store all numbers as floats.
fn number<'a, C: Columns<'a>>(columns: &mut C, column: &'static str) -> Result<u64, C::Fault> {
    let field = unquoted(columns.next(column)?);
    let point = field.iter().position(|&byte| byte == b'.').filter(|&point| point > 0);
    let is_whole = |point: usize| field[point + 1..].iter().all(|&digit| digit == b'0');
    let whole = point.filter(|&point| is_whole(point)).map_or(field, |point| &field[..point]);
    unsigned(whole).map_err(|error| C::fault(of_number(error, column, field)))
}

/// Returns the fault for a field of a CSV trace that is not a number.
fn of_number<'a>(error: NumberError, column: &'static str, field: &'a [u8]) -> Fault<'a> {
    let fault = Fault::number(error, column, field);
    let expected = if cuts_digits(field) { ALL_DIGITS } else { fault.expected };
    Fault { expected, ..fault }
}

/// Advice for numbers with a positive exponent, which may have lost digits.
const ALL_DIGITS: &str = "all digits: an exponent may cut some off (awk: print with %d; R: \
                          options(scipen = 99))";

/// Returns a field of a CSV without the quotes around it.
fn unquoted(field: &[u8]) -> &[u8] {
    match field {
        [b'"', inner @ .., b'"'] => inner.trim_ascii(),
        field => field,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::decode_stateful;
    use super::*;
    use fowler_units::{HostIo, Nanos};

    fn decoded(columns: &str, line: &str) -> Result<Record, Cause> {
        let csv = Some(CsvColumns::parse(columns).unwrap());
        let mut context = Context { csv, ..Context::default() };
        let decoded = decode_stateful::<Csv>(line.as_bytes(), &mut context);
        decoded.map(|(record, _)| record).map_err(|fault| fault.cause)
    }

    #[test]
    fn every_unit_and_code_is_as_given() {
        for (columns, line, device, io) in [
            (
                "ts=us,op=rw,lba=512,len=bytes",
                "1.5,Read,8,100",
                0,
                HostIo::read(Nanos(1500), 4096, 100),
            ),
            (
                "len=4096,_,lba=bytes,op=0=read,dev=number,ts=100ns",
                "2,x,512,1,7,3",
                7,
                HostIo::write(Nanos(300), 512, 8192),
            ),
            (
                "ts=s,op=1=read,lba=512,len=512,...,blanks",
                " 0.25  \"1\"\t2 1  and more",
                0,
                HostIo::read(Nanos(250_000_000), 1024, 512),
            ),
            (
                "ts=s,_,op=0=read,lba=bytes,len=bytes,tabs",
                "10e-1\ta b\tTrue\t4096.0\t512.",
                0,
                HostIo::write(Nanos(1_000_000_000), 4096, 512),
            ),
            ("ts=ns,op=rw,lba=1,len=1", "5,F,0,0", 0, HostIo::flush(Nanos(5))),
            (
                "ts=ms,op=rw,lba=1,len=1",
                "\"5\",\"discard\",\"4\",\"2\"",
                0,
                HostIo::new(HostOp::Trim, Nanos(5_000_000), 4, 2),
            ),
        ] {
            assert_eq!(decoded(columns, line), Ok(Record { device, io }), "{columns}: {line}");
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let columns = "ts=us,op=rw,lba=4096,len=4096";
        for (line, cause) in [
            ("-1,r,0,1", Cause::NegativeTime),
            ("now,r,0,1", Cause::NotANumber),
            ("1e+05,r,0,1", Cause::NotANumber),
            ("1,r,1e+05,1", Cause::NotANumber),
            ("1,x,0,1", Cause::UnknownOp),
            ("1,1,0,1", Cause::UnknownOp),
            ("1,r,0", Cause::TooFewColumns),
            ("1,r,0,1,2", Cause::TooManyColumns),
            ("1,r,0,0", Cause::ZeroLength),
            ("1,r,0,1048576", Cause::TooLarge),
            ("1,r,4503599627370496,1", Cause::TooLarge),
            ("99999999999999999999,r,0,1", Cause::TooLarge),
            ("1,r,-4,1", Cause::NotANumber),
            ("1,r,4.5,1", Cause::NotANumber),
            ("1,r,.0,1", Cause::NotANumber),
            ("1,f,0,1", Cause::FlushWithRange),
            ("1,r,\"0,1", Cause::NotANumber),
        ] {
            assert_eq!(decoded(columns, line), Err(cause), "{line}");
        }
        assert_eq!(decoded("ts=s,op=0=read,lba=1,len=1", "1,2,0,1"), Err(Cause::UnknownOp));
    }
}
