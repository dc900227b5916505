//! From one line of text to one record. Pure: no state, no file; what a line means depends on the
//! line and the format alone.

mod cloud;
mod columns;
mod events;
mod msr;
mod native;
mod spc;

pub use crate::fields::Fault;
pub(crate) use events::begins_summary;
pub(crate) use msr::host;

use crate::native::OptionalColumn;
use crate::{Cause, Format};
use fowler_units::{HostIo, HostOp, Nanos};

/// The latest moment at which a request may arrive: half of the 584 years that 64 bits of nanoseconds
/// count. The other half is room for what the drive still does then.
pub const LATEST: Nanos = Nanos(u64::MAX / 2);

/// Blocks and sectors of every format that counts in them.
const SECTOR: u64 = 512;

/// One line of a trace, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The device it is for, by the file's own numbers.
    pub device: u64,
    /// What is asked of that device. It arrives on the file's own clock.
    pub io: HostIo,
}

/// Decodes one line: no line end, no header. Never panics and never wraps a number.
///
/// # Errors
/// The first fault of the line.
#[inline]
pub fn decode_line(format: Format, line: &[u8]) -> Result<Record, Fault<'_>> {
    let line = line.trim_ascii();
    let decoded = match format {
        Format::Native => native::decode(line),
        Format::Spc => spc::decode(line),
        Format::Msr => msr::decode(line),
        Format::Disksim => columns::disksim(line),
        Format::Mqsim | Format::SsdsimNs => columns::sectors::<1, false>(line),
        Format::SsdsimUs => columns::sectors::<1_000, false>(line),
        Format::SsdsimDigest => columns::sectors::<1, true>(line),
        Format::Flashsim => {
            columns::milliseconds(line, ("sector", SECTOR), ("pages", columns::FLASHSIM_PAGE))
        }
        Format::FlashsimBytes => columns::milliseconds(line, ("offset", 1), ("bytes", 1)),
        Format::Blkparse => events::decode(line),
        Format::Systor17 => cloud::systor17(line),
        Format::Alibaba => cloud::alibaba(line),
    };
    decoded.and_then(|record| in_time(format, record))
}

/// Decodes one line of a native trace that has optional columns.
///
/// # Errors
/// As [`decode_line`].
pub(crate) fn decode_wider<'a>(
    line: &'a [u8],
    columns: &[OptionalColumn],
) -> Result<Record, Fault<'a>> {
    native::decode_wider(line.trim_ascii(), columns)
        .and_then(|record| in_time(Format::Native, record))
}

/// Refuses a moment beyond [`LATEST`]. Where times count from a date only the distance between two of
/// them can be too long.
#[inline]
fn in_time<'a>(format: Format, record: Record) -> Result<Record, Fault<'a>> {
    if record.io.at > LATEST && !format.counts_from_a_date() {
        return Err(Fault::new(Cause::TooLarge, format.time_column(), b""));
    }
    Ok(record)
}

/// A number of a range with the column it stands in and the bytes it counts.
#[derive(Clone, Copy)]
struct Measure {
    count: u64,
    unit: u64,
    column: &'static str,
}

/// Puts a record together: the one place where ranges are checked.
#[inline]
fn record<'a>(
    at: u64,
    device: u64,
    start: Measure,
    length: Measure,
    op: HostOp,
) -> Result<Record, Fault<'a>> {
    let too_large = |measure: Measure| Fault::new(Cause::TooLarge, measure.column, b"");
    let offset = start.count.checked_mul(start.unit).ok_or_else(|| too_large(start))?;
    let size = length.count.checked_mul(length.unit).ok_or_else(|| too_large(length))?;
    let size = u32::try_from(size).map_err(|_| too_large(length))?;
    if offset.checked_add(u64::from(size)).is_none() {
        return Err(too_large(start));
    }
    if op == HostOp::Flush {
        if offset != 0 || size != 0 {
            return Err(Fault::new(Cause::FlushWithRange, length.column, b""));
        }
    } else if size == 0 {
        return Err(Fault::new(Cause::ZeroLength, length.column, b""));
    }
    Ok(Record { device, io: HostIo::new(op, Nanos(at), offset, size) })
}

/// An operation that the format does not define.
fn unknown_op<'a>(column: &'static str, field: &'a [u8], expected: &'static str) -> Fault<'a> {
    Fault { cause: Cause::UnknownOp, column, field, expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The causes found in `lines`, in order, for a format.
    pub(super) fn causes(format: Format, lines: &[&str]) -> Vec<Cause> {
        lines
            .iter()
            .map(|line| decode_line(format, line.as_bytes()).expect_err(line).cause)
            .collect()
    }

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

    #[test]
    fn an_empty_line_is_no_record_of_any_format() {
        for &format in Format::ALL {
            for line in ["", " ", ",", ",,,,,,,,", "\0", "-"] {
                assert!(decode_line(format, line.as_bytes()).is_err(), "{format}: {line:?}");
            }
        }
    }
}
