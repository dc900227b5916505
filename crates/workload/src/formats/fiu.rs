//! The FIU traces in their own columns (SNIA trace set 411): `ts pid process lba size op major
//! minor digest`.
//!
//! Source: the README of the trace set. Nanoseconds, sectors of 512 B, op W or R. The digest is of
//! 4 KiB, or of 512 B in the traces of the home directories, so that it is longer there; it is
//! ignored. The device is `major * 2^20 + minor`, the kernel's `MKDEV`.

use super::blkparse::device;
use super::systor17::letter;
use super::{Table, TraceFormat};
use crate::Cause;
use crate::columns::Columns;
use crate::fields::Fault;
use crate::record::{Measure, Record, SECTOR, record};

/// The format of the FIU traces.
pub(crate) struct Fiu;

impl TraceFormat for Fiu {
    const COLUMNS: &'static str = "ts pid process lba size op major minor digest";
    const ABOUT: &'static str = "\
        FIU traces (SNIA set 411): time in ns (counted from the first request on), sectors of \
        512 B, op R or W, major and minor number are the device, the digest is ignored";
    const TABLE: Table = Table { time: "ns, whole", range: "sectors of 512 B", read: "`R`" };
    const EXAMPLE: &'static [u8] = b"\
        89967404949926 4892 syslogd 904265560 8 W 6 0 531e779f8a1a9bbb0e3bc2b9a9f4aa3e\n\
        89967405012007 2522 kjournald 508256 16 R 6 0 3f4fc2833a17fd2a3dacad7c0e8ca8ad\n";
    const TIME_COLUMN: &'static str = "ts";
    const FROM_A_DATE: bool = true;

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let at = columns.whole_time("ts", 1)?;
        columns.unsigned("pid")?;
        columns.next("process")?;
        let start = Measure { count: columns.unsigned("lba")?, unit: SECTOR, column: "lba" };
        let length = Measure { count: columns.unsigned("size")?, unit: SECTOR, column: "size" };
        let op = letter(columns, "op")?;
        let (major, minor) = (columns.small("major")?, columns.small("minor")?);
        let device = device(major, minor)
            .ok_or_else(|| C::fault(Fault::new(Cause::TooLarge, "major", b"")))?;
        let decoded = record::<C>(at, device, start, length, op)?;
        columns.skip_long("digest")?;
        columns.finish().map(|()| decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use crate::{Cause, Format, Record};
    use fowler_units::{HostIo, HostOp, Nanos};

    #[test]
    fn letters_are_operations_and_digests_of_both_widths_are_ignored() {
        for digest in ["531e779f8a1a9bbb0e3bc2b9a9f4aa3e".to_string(), "a".repeat(256)] {
            for (letter, op) in [("R", HostOp::Read), ("W", HostOp::Write)] {
                let line = format!("89967404949926 4892 syslogd 8 16 {letter} 6 1 {digest}");
                let io = HostIo::new(op, Nanos(89_967_404_949_926), 4096, 8192);
                let expected = Record { device: 6 << 20 | 1, io };
                assert_eq!(decode_line(Format::Fiu, line.as_bytes()), Ok(expected));
            }
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "1 4892 syslogd 8 16 X 6 1 aa",
            "1 4892 syslogd 8 16 W 6 1",
            "1 4892 syslogd 8 16 W 6 1 aa bb",
            "1 4892 Web Content 8 16 W 6 1 aa",
            "-1 4892 syslogd 8 16 W 6 1 aa",
            "1 4892 syslogd 8 0 W 6 1 aa",
            "1 4892 syslogd 8 16 W 6 1048576 aa",
            "1 4892 syslogd 8 8388608 W 6 1 aa",
        ];
        let expected = [
            Cause::UnknownOp,
            Cause::TooFewColumns,
            Cause::TooManyColumns,
            Cause::NotANumber,
            Cause::NegativeTime,
            Cause::ZeroLength,
            Cause::TooLarge,
            Cause::TooLarge,
        ];
        assert_eq!(causes(Format::Fiu, &lines), expected);
    }
}
