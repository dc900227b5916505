//! Tencent Cloud Block Storage (SNIA trace set 28064, October 2018):
//! `Timestamp,Offset,Size,IOType,VolumeID`, no header.
//!
//! Source: the README of the trace set. Unix seconds, sectors of 512 B for both offset and size,
//! IOType 0 is a read and 1 a write: the opposite of MQSim's code. Arrivals are in whole seconds,
//! so the arrivals of one second are spread over that second.

use super::{Table, TraceFormat};
use crate::columns::Columns;
use crate::recognition::plausibility::{Clock, Rules};
use crate::record::{Measure, Record, SECTOR, record};
use fowler_units::HostOp;

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// The format of the Tencent Cloud Block Storage traces.
pub(crate) struct Tencent;

impl TraceFormat for Tencent {
    const COLUMNS: &'static str = "Timestamp,Offset,Size,IOType,VolumeID";
    const ABOUT: &'static str = "\
        Tencent Cloud Block Storage CSV of 2018: time in whole Unix seconds (counted from the first \
        request on), offset and size in sectors of 512 B, IOType 0 is a read and 1 a write, the \
        volume is the device";
    const TABLE: Table = Table { time: "Unix s, whole", range: "sectors of 512 B", read: "`0`" };
    const EXAMPLE: &'static [u8] = b"1538323200,4247200,128,1,1058\n\
        1538323199,13896880,128,0,1063\n\
        1538323200,16,8,0,1058\n";
    const RULES: Rules = Rules { clock: Clock::Unix, ..Rules::NONE };
    const AS_COLUMNS: Option<&'static str> = Some("ts=s,lba=512,len=512,op=0=read,dev=number");
    const TIME_COLUMN: &'static str = "Timestamp";
    const FROM_A_DATE: bool = true;
    const WHOLE_SECONDS: bool = true;

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let at = columns.whole_time("Timestamp", SECOND)?;
        let start = Measure { count: columns.unsigned("Offset")?, unit: SECTOR, column: "Offset" };
        let length = Measure { count: columns.unsigned("Size")?, unit: SECTOR, column: "Size" };
        let words: &[(&[u8], HostOp)] = &[(b"0", HostOp::Read), (b"1", HostOp::Write)];
        let op = columns.word("IOType", words, "0 (read) or 1 (write)")?;
        let device = columns.unsigned("VolumeID")?;
        columns.finish()?;
        record::<C>(at, device, start, length, op)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use crate::{Cause, Format, Record};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn zero_is_a_read_and_both_numbers_count_sectors() {
        let at = Nanos(1_538_323_200_000_000_000);
        for (line, io) in [
            ("1538323200,8,128,0,1058", HostIo::read(at, 4096, 65_536)),
            ("1538323200,8,128,1,1058", HostIo::write(at, 4096, 65_536)),
        ] {
            let expected = Record { device: 1058, io };
            assert_eq!(decode_line(Format::Tencent, line.as_bytes()), Ok(expected));
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "1538323200,8,128,2,1058",
            "1538323200,8,128,R,1058",
            "1538323200.5,8,128,0,1058",
            "-1,8,128,0,1058",
            "1538323200,8,128,0",
            "1538323200,8,128,0,1,2",
            "1538323200,8,0,0,1",
            "1538323200,8,8388608,0,1",
            "18446744074,8,8,0,1",
        ];
        let expected = [
            Cause::UnknownOp,
            Cause::UnknownOp,
            Cause::NotANumber,
            Cause::NegativeTime,
            Cause::TooFewColumns,
            Cause::TooManyColumns,
            Cause::ZeroLength,
            Cause::TooLarge,
            Cause::TooLarge,
        ];
        assert_eq!(causes(Format::Tencent, &lines), expected);
    }
}
