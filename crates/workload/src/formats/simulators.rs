//! Shared code of the five-column formats of disk and flash simulators: time, device, address,
//! size, operation. They look alike but differ in units:
//!
//! | format | time | address | size | operation |
//! |---|---|---|---|---|
//! | DiskSim | ms, decimal | 512 B blocks | blocks | hexadecimal flags, bit 0 set = read |
//! | MQSim, SSDsim | ns, whole | 512 B sectors | sectors | 1 = read, 0 = write |
//! | SSDsim in us | us, whole | 512 B sectors | sectors | 1 = read, 0 = write |
//! | FlashSim | ms, decimal | 512 B sectors | 4 KiB pages | 1 = read, 0 = write |
//! | MSR cuts | ms, decimal | bytes | bytes | 1 = read, 0 = write |
//!
//! Sources: DiskSim `disksim_iotrace.c` (`iotrace_ascii_get_ioreq_event`, `"%lf %d %d %d %x"`, flag
//! `READ` = 1); MQSim `ASCII_Trace_Definition.h` (time, device, address, size, type;
//! `ASCIITraceReadCode` `"1"`, sectors of 512 B; its `Time_Unit` setting is ignored); SSDsim has
//! MQSim's columns.

use crate::columns::Columns;
use crate::recognition::plausibility::{Clock, Rules};
use crate::record::{Measure, Record, SECTOR, record};
use fowler_units::HostOp;

/// Unit of times in milliseconds, as a power of ten of a nanosecond.
pub(super) const MS: usize = 6;

/// Rules common to the simulator formats: times ascend and begin near 0.
pub(super) const RULES: Rules =
    Rules { clock: Clock::Relative, devices_below: 1 << 16, in_order: true, ..Rules::NONE };

/// Decodes the operation column of every simulator format except DiskSim's: 1 is a read, 0 a write.
#[inline(always)]
fn one_is_read<'a, C: Columns<'a>>(columns: &mut C) -> Result<HostOp, C::Fault> {
    let words: &[(&[u8], HostOp)] = &[(b"1", HostOp::Read), (b"0", HostOp::Write)];
    columns.word("op", words, "1 (read) or 0 (write)")
}

/// Decodes MQSim and SSDsim lines: times in whole units of `UNIT_NS`. With `DIGEST`, a last column
/// follows whose width differs from trace to trace.
#[inline(always)]
pub(super) fn sectors<'a, const UNIT_NS: u64, const DIGEST: bool, C: Columns<'a>>(
    columns: &mut C,
) -> Result<Record, C::Fault> {
    let at = columns.whole_time("time", UNIT_NS)?;
    let device = columns.small("device")?;
    let start = Measure { count: columns.unsigned("sector")?, unit: SECTOR, column: "sector" };
    let length = Measure { count: columns.unsigned("sectors")?, unit: SECTOR, column: "sectors" };
    let op = one_is_read(columns)?;
    let decoded = record::<C>(at, device, start, length, op)?;
    if DIGEST {
        columns.skip_long("digest")?;
    }
    columns.finish().map(|()| decoded)
}

/// Decodes FlashSim lines, and MSR Cambridge excerpts in the same columns, with times in decimal
/// milliseconds. For the request's start and for its length, the caller gives the name of the
/// column and the bytes per unit.
#[inline(always)]
pub(super) fn milliseconds<'a, C: Columns<'a>>(
    columns: &mut C,
    (start, start_unit): (&'static str, u64),
    (length, length_unit): (&'static str, u64),
) -> Result<Record, C::Fault> {
    let at = columns.time("time", MS)?;
    let device = columns.small("device")?;
    let start = Measure { count: columns.unsigned(start)?, unit: start_unit, column: start };
    let length = Measure { count: columns.unsigned(length)?, unit: length_unit, column: length };
    let op = one_is_read(columns)?;
    columns.finish()?;
    record::<C>(at, device, start, length, op)
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use crate::Record;
    use crate::{Cause, Format};
    use fowler_units::{HostIo, HostOp, Nanos};

    fn check(format: Format, line: &str, at: u64, device: u64, offset: u64, size: u32, op: HostOp) {
        let expected = Record { device, io: HostIo::new(op, Nanos(at), offset, size) };
        assert_eq!(decode_line(format, line.as_bytes()), Ok(expected), "{format}: {line}");
    }

    #[test]
    fn disksim_reads_have_bit_0_set_in_hexadecimal_flags() {
        use HostOp::{Read, Write};
        check(Format::Disksim, "1.5 2 8 16 1", 1_500_000, 2, 4096, 8192, Read);
        check(Format::Disksim, "1.5 2 8 16 0", 1_500_000, 2, 4096, 8192, Write);
        check(Format::Disksim, "1.5 2 8 16 10", 1_500_000, 2, 4096, 8192, Write);
        check(Format::Disksim, "1.5 2 8 16 b", 1_500_000, 2, 4096, 8192, Read);
        check(Format::Disksim, "1.5 2 8 16 0x2", 1_500_000, 2, 4096, 8192, Write);
        check(Format::Disksim, "  1.0000009\t2 8 16 1", 1_000_001, 2, 4096, 8192, Read);
        check(Format::Disksim, "3 0 8 16 1", 3_000_000, 0, 4096, 8192, Read);
    }

    #[test]
    fn mqsim_and_ssdsim_reads_are_1_and_writes_0() {
        use HostOp::{Read, Write};
        check(
            Format::Mqsim,
            "938513000 4 264719034 16 0",
            938_513_000,
            4,
            135_536_145_408,
            8192,
            Write,
        );
        check(Format::Mqsim, "938513000 4 1 16 1", 938_513_000, 4, 512, 8192, Read);
        check(Format::SsdsimNs, "26214000 1 240840 6 0", 26_214_000, 1, 123_310_080, 3072, Write);
        check(Format::SsdsimNs, "26214000 1 240840 6 1", 26_214_000, 1, 123_310_080, 3072, Read);
        check(Format::SsdsimUs, "979 0 287641400 128 1", 979_000, 0, 147_272_396_800, 65_536, Read);
        check(Format::SsdsimUs, "979 0 8 128 0", 979_000, 0, 4096, 65_536, Write);
        check(Format::SsdsimDigest, "1851 0 8 8 0 2e56f", 1851, 0, 4096, 4096, Write);
        check(Format::SsdsimDigest, "1851 0 8 8 1 2e56f", 1851, 0, 4096, 4096, Read);
    }

    #[test]
    fn flashsim_reads_are_1_and_its_sizes_are_pages_or_bytes() {
        use HostOp::{Read, Write};
        check(
            Format::Flashsim,
            "640.875000\t0\t522424\t16\t1",
            640_875_000,
            0,
            267_481_088,
            65_536,
            Read,
        );
        check(Format::Flashsim, "640.875000\t0\t8\t1\t0", 640_875_000, 0, 4096, 4096, Write);
        check(
            Format::MsrCut,
            "223.412 0 3159347200 36864 0",
            223_412_000,
            0,
            3_159_347_200,
            36_864,
            Write,
        );
        check(Format::MsrCut, "0.000 0 512 4096 1", 0, 0, 512, 4096, Read);
    }

    #[test]
    fn each_fault_has_its_cause() {
        use Cause::*;
        for (format, lines, expected) in [
            (
                Format::Mqsim,
                &[
                    "1 0 8 8 2",
                    "1 0 8 8 R",
                    "1.5 0 8 8 1",
                    "-1 0 8 8 1",
                    "1 0 8 8",
                    "1 0 8 8 1 0",
                    "1 0 8 0 1",
                ][..],
                &[
                    UnknownOp,
                    UnknownOp,
                    NotANumber,
                    NegativeTime,
                    TooFewColumns,
                    TooManyColumns,
                    ZeroLength,
                ][..],
            ),
            (Format::SsdsimUs, &["18446744073709552 0 8 8 1"], &[TooLarge]),
            (Format::SsdsimDigest, &["1 0 8 8 1"], &[TooFewColumns]),
            (
                Format::Disksim,
                &["1.5 0 8 8 R", "1.5 -1 8 8 1", "x 0 8 8 1", "-0.5 0 8 8 1", "1.5,0,8,8,1"],
                &[NotANumber, NotANumber, NotANumber, NegativeTime, NotANumber],
            ),
            (Format::Flashsim, &["1.5 0 8 1048576 1", "1.5 0 8 1 3"], &[TooLarge, UnknownOp]),
            (Format::MsrCut, &["1.5 0 8 4294967296 1"], &[TooLarge]),
        ] {
            assert_eq!(causes(format, lines), expected, "{format}");
        }
    }
}
