//! Builds a record from the numbers of a line. Ranges and times are checked here for every format.

use crate::Cause;
use crate::columns::Columns;
use crate::extra::{Extra, LONGEST_TRIM, first_piece};
use crate::fields::Fault;
use crate::formats::TraceFormat;
use fowler_units::{HostIo, HostOp, Nanos};

/// The latest time at which a request may arrive: half of the 584 years that 64 bits of nanoseconds
/// can represent. The other half leaves room for the drive's later work.
pub const LATEST: Nanos = Nanos(u64::MAX / 2);

/// Longest time by which a request may precede the first event of a trace that logs completions and
/// latencies, in nanoseconds. Times in such formats start at this value.
pub(crate) const BEFORE_TRACE: u64 = 86_400_000_000_000;

/// Returns the arrival of a request that completed at `done` after `took`, both in nanoseconds.
#[inline]
pub(crate) fn arrival_before<'a, C: Columns<'a>>(
    done: u64,
    took: u64,
    column: &'static str,
) -> Result<u64, C::Fault> {
    let too_large = || C::fault(Fault::new(Cause::TooLarge, column, b""));
    let done = done.checked_add(BEFORE_TRACE).ok_or_else(too_large)?;
    done.checked_sub(took).ok_or_else(|| C::fault(Fault::new(Cause::NegativeTime, column, b"")))
}

/// Size of the blocks or sectors that formats count in, in bytes.
pub(crate) const SECTOR: u64 = 512;

/// A request decoded from a line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Number of the request's device in the trace.
    pub device: u64,
    /// The request, with its arrival on the trace's clock.
    pub io: HostIo,
}

/// Returns true if the record arrives at most 292 years ([`LATEST`]) after time zero of the trace.
/// Always true for formats whose times count from a date: the time between the first record and
/// this one is then checked later.
#[inline]
pub(crate) fn in_time<F: TraceFormat>(record: &Record) -> bool {
    record.io.at <= LATEST || F::FROM_A_DATE
}

/// Address or size of a request as a line prints it: the number, the bytes per unit, and the
/// column.
#[derive(Clone, Copy)]
pub(crate) struct Measure {
    pub count: u64,
    pub unit: u64,
    pub column: &'static str,
}

/// Builds a request from the numbers of a line and checks its range.
#[inline(always)]
pub(crate) fn record<'a, C: Columns<'a>>(
    at: u64,
    device: u64,
    start: Measure,
    length: Measure,
    op: HostOp,
) -> Result<Record, C::Fault> {
    let fault = |cause, measure: Measure| C::fault(Fault::new(cause, measure.column, b""));
    let too_large = |measure: Measure| fault(Cause::TooLarge, measure);
    let offset = start.count.checked_mul(start.unit).ok_or_else(|| too_large(start))?;
    let size = length.count.checked_mul(length.unit).ok_or_else(|| too_large(length))?;
    let size = u32::try_from(size).map_err(|_| too_large(length))?;
    if offset.checked_add(u64::from(size)).is_none() {
        return Err(too_large(start));
    }
    if op == HostOp::Flush {
        if offset != 0 || size != 0 {
            return Err(fault(Cause::FlushWithRange, length));
        }
    } else if size == 0 {
        return Err(fault(Cause::ZeroLength, length));
    }
    Ok(Record { device, io: HostIo::new(op, Nanos(at), offset, size) })
}

/// Builds a record from the numbers of a line in a format with trims. A trim too long for one
/// request yields a record of its first piece; the rest follows as further requests.
#[inline(always)]
pub(crate) fn record_or_piece<'a, C: Columns<'a>>(
    columns: &mut C,
    at: u64,
    device: u64,
    start: Measure,
    length: Measure,
    op: HostOp,
) -> Result<Record, C::Fault> {
    if C::SEVERAL && op == HostOp::Trim && length.count > u64::from(u32::MAX) / length.unit {
        let (first, extra) = piece(at, device, start, length).map_err(C::fault)?;
        columns.extra(extra)?;
        return Ok(first);
    }
    record::<C>(at, device, start, length, op)
}

/// Returns the first piece of a long trim and its remaining length in bytes.
#[cold]
fn piece(
    at: u64,
    device: u64,
    start: Measure,
    length: Measure,
) -> Result<(Record, Extra), Fault<'static>> {
    let too_large = |measure: Measure| Fault::new(Cause::TooLarge, measure.column, b"");
    let offset = start.count.checked_mul(start.unit).ok_or_else(|| too_large(start))?;
    let size = length.count.checked_mul(length.unit).filter(|&size| size <= LONGEST_TRIM);
    let size = size.ok_or_else(|| too_large(length))?;
    offset.checked_add(size).ok_or_else(|| too_large(start))?;
    let first = first_piece(offset, size);
    let extra = Extra { more: size - u64::from(first), ..Extra::NONE };
    Ok((Record { device, io: HostIo::trim(Nanos(at), offset, first) }, extra))
}

/// Returns the fault for an operation that the format does not define.
pub(crate) fn unknown_op<'a, C: Columns<'a>>(
    column: &'static str,
    field: &'a [u8],
    expected: &'static str,
) -> C::Fault {
    C::fault(Fault { expected, ..Fault::new(Cause::UnknownOp, column, field) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, decode_line};

    #[test]
    fn a_range_never_wraps() {
        for (line, column) in [
            ("0,read,18446744073709551615,1", "offset"),
            ("0,read,0,4294967296", "size"),
            ("0,read,18446744073709551616,1", "offset"),
            ("18446744073709551616,read,0,1", "at_ns"),
        ] {
            let fault = decode_line(Format::Native, line.as_bytes()).unwrap_err();
            assert_eq!((fault.cause, fault.column), (Cause::TooLarge, column), "{line}");
        }
        let late = decode_line(Format::Native, b"9223372036854775808,read,0,1").unwrap_err();
        assert_eq!((late.cause, late.column), (Cause::TooLarge, "at_ns"));
        assert_eq!(
            decode_line(Format::Native, b"9223372036854775807,read,0,1").unwrap().io.at,
            LATEST
        );
        let last = decode_line(Format::Native, b"0,read,18446744069414584320,4294967295").unwrap();
        assert_eq!(last.io.offset + u64::from(last.io.size), u64::MAX);
        let fault = decode_line(Format::Mqsim, b"0 0 36028797018963968 1 1").unwrap_err();
        assert_eq!((fault.cause, fault.column), (Cause::TooLarge, "sector"));
        let fault = decode_line(Format::Mqsim, b"0 0 0 8388608 1").unwrap_err();
        assert_eq!((fault.cause, fault.column), (Cause::TooLarge, "sectors"));
    }
}
