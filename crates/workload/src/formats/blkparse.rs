//! blkparse text: `%D %2c %8s %5T.%9t %5p %2a %3d` and, for a request, `sector + sectors
//! [process]`.
//!
//! Source: blkparse(1), "default output format", and `blkparse_fmt.c`; the letters of the second
//! last column are those of the kernel's `blk_fill_rwbs`. A request causes many events; like fio,
//! this reader only reads `Q`, its arrival at the block layer, so that each request counts once.
//! Sectors are 512 B on every device. The device is `major * 2^20 + minor`, the kernel's `MKDEV`.
//!
//! An arrival with a preflush and no range is a flush; with a range it is a write. At the end
//! blkparse prints a summary that begins with `CPU` or `Total`.

use super::{Table, TraceFormat};
use crate::Cause;
use crate::columns::Columns;
use crate::fields::Fault;
use crate::record::{Measure, Record, SECTOR, record, unknown_op};
use fowler_units::HostOp;

/// Whether this is an event of blkparse(1) other than an arrival.
#[inline]
fn is_other(action: &[u8]) -> bool {
    match action {
        [letter] => b"ABCDFGIMPRSTUXm".contains(letter),
        other => other == b"UT",
    }
}

/// Bits of a minor device number in the kernel.
const MINOR_BITS: u32 = 20;

/// blkparse.
pub(crate) struct Blkparse;

impl TraceFormat for Blkparse {
    const COLUMNS: &'static str = "device cpu sequence time pid Q rwbs sector + sectors [process]";
    const ABOUT: &'static str = "\
        blkparse text in its default layout: only Q events (arrivals) are read, time in \
        decimal seconds, sectors of 512 B, R or W in the rwbs column, D a trim, F without a \
        range a flush";
    const TABLE: Table =
        Table { time: "s, decimal", range: "sectors of 512 B", read: "`R` in rwbs" };
    const EXAMPLE: &'static [u8] = b"\
        259,2 0 1 0.000000000 4020 Q R 282624 + 8 [java]\n\
        259,2 0 2 0.000001581 4020 G R 282624 + 8 [java]\n\
        259,2 0 3 0.000002000 4020 Q FWS [jbd2]\n\
        259,2 0 4 0.000002000 4020 Q D 8 + 8 [x]\n\
        CPU0 (259,2):\n Reads Queued: 1\n";

    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let (major, minor, field) = columns.pair("device")?;
        let device = device(major, minor)
            .ok_or_else(|| C::fault(Fault::new(Cause::TooLarge, "device", field)))?;
        columns.unsigned("cpu")?;
        columns.unsigned("sequence")?;
        let at = columns.time("time", 9)?;
        columns.unsigned("pid")?;
        let action = columns.next("action")?;
        if is_other(action) {
            return Err(C::fault(Fault::new(Cause::OtherEvent, "action", action)));
        }
        if action != b"Q" {
            return Err(unknown_op::<C>(
                "action",
                action,
                "an action of blkparse(1); only Q is read",
            ));
        }
        let letters = columns.next("rwbs")?;
        let (preflush, rest) = match letters {
            [b'F', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let op = match rest.first() {
            Some(b'R') => HostOp::Read,
            Some(b'W') => HostOp::Write,
            Some(b'D') => HostOp::Trim,
            Some(b'N') => HostOp::Flush,
            _ => {
                return Err(unknown_op::<C>(
                    "rwbs",
                    letters,
                    "R, W, D or N, optionally after an F",
                ));
            }
        };
        if op == HostOp::Flush && !preflush {
            return Err(C::fault(Fault::new(Cause::OtherEvent, "rwbs", letters)));
        }
        let nothing = |column| Measure { count: 0, unit: SECTOR, column };
        let has_range = |columns: &C| {
            let first = columns.peek()?;
            Ok(first.is_some_and(|first| !first.starts_with(b"[")))
        };
        if op == HostOp::Flush || (preflush && !has_range(columns)?) {
            return record::<C>(at, device, nothing("sector"), nothing("sectors"), HostOp::Flush);
        }
        let start = Measure { count: columns.unsigned("sector")?, unit: SECTOR, column: "sector" };
        let plus = columns.next("+")?;
        if plus != b"+" {
            return Err(C::fault(Fault::new(Cause::NotANumber, "+", plus)));
        }
        let length =
            Measure { count: columns.unsigned("sectors")?, unit: SECTOR, column: "sectors" };
        record::<C>(at, device, start, length, op)
    }

    /// Unambiguous, because every event begins with a device number.
    #[inline]
    fn begins_summary(line: &[u8]) -> bool {
        line.starts_with(b"CPU") || line.starts_with(b"Total")
    }
}

/// Combines `major,minor` into one number; `None` if either is too large.
#[inline]
pub(super) fn device(major: u64, minor: u64) -> Option<u64> {
    let major = u64::from(u32::try_from(major).ok()?);
    (minor < 1 << MINOR_BITS).then_some(major << MINOR_BITS | minor)
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use super::*;
    use crate::Format;
    use fowler_units::Nanos;

    const DEVICE: u64 = 259 << 20 | 2;

    fn decoded(rest: &str) -> Result<(HostOp, u64, u32), Cause> {
        let line = format!("259,2    0        1     1.000000007  4020  Q {rest}");
        let record = decode_line(Format::Blkparse, line.as_bytes()).map_err(|fault| fault.cause)?;
        assert_eq!((record.io.at, record.device), (Nanos(1_000_000_007), DEVICE));
        Ok((record.io.op, record.io.offset, record.io.size))
    }

    #[test]
    fn arrivals_are_read_by_their_letters() {
        assert_eq!(decoded("  R 282624 + 8 [java]"), Ok((HostOp::Read, 144_703_488, 4096)));
        assert_eq!(decoded("RSM 8 + 1 [a b]"), Ok((HostOp::Read, 4096, 512)));
        assert_eq!(decoded("WFS 8 + 8 [java]"), Ok((HostOp::Write, 4096, 4096)));
        assert_eq!(decoded("FWS 8 + 8 [jbd2]"), Ok((HostOp::Write, 4096, 4096)));
        assert_eq!(decoded("FWS [jbd2/sda1-8]"), Ok((HostOp::Flush, 0, 0)));
        assert_eq!(decoded("FN [kworker/1:1H]"), Ok((HostOp::Flush, 0, 0)));
        assert_eq!(decoded(" DS 8 + 2048 [fstrim]"), Ok((HostOp::Trim, 4096, 1 << 20)));
        assert_eq!(decoded("  N 0 + 0 [sg]"), Err(Cause::OtherEvent));
    }

    #[test]
    fn other_events_are_told_from_rubbish() {
        let lines = [
            "259,2 0 1 0.000001581  4020  G   R 282624 + 8 [java]",
            "259,2 0 1 0.000001581  4020  UT  N [java] 1",
            "259,2 0 1 0.000001581  4020  m   N cfq1 insert",
            "259,2 0 1 0.000001581  4020  Z   R 282624 + 8 [java]",
            "259,2 0 1 0.000001581  4020  Q   X 282624 + 8 [java]",
            "259,2 0 1 0.000001581  4020  Q   R 282624 - 8 [java]",
            "259,2 0 1 0.000001581  4020  Q   R 282624 + 0 [java]",
            "259 0 1 0.000001581  4020  Q   R 282624 + 8 [java]",
            "259,2 0 1 -0.5  4020  Q   R 282624 + 8 [java]",
            "259,1048576 0 1 0.5  4020  Q   R 282624 + 8 [java]",
        ];
        let expected = [
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::UnknownOp,
            Cause::UnknownOp,
            Cause::NotANumber,
            Cause::ZeroLength,
            Cause::TooFewColumns,
            Cause::NegativeTime,
            Cause::TooLarge,
        ];
        assert_eq!(causes(Format::Blkparse, &lines), expected);
    }
}
