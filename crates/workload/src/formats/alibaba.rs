//! Alibaba's block traces of 2020 (README of alibaba/block-traces): no header and the columns
//! `device_id,opcode,offset,length,timestamp`; opcode R or W, bytes, microseconds since 1970.

use super::systor17::letter;
use super::{Table, TraceFormat};
use crate::columns::Columns;
use crate::recognition::plausibility::{Clock, Rules};
use crate::record::{Measure, Record, record};

/// Alibaba's block trace format.
pub(crate) struct Alibaba;

impl TraceFormat for Alibaba {
    const COLUMNS: &'static str = "device_id,opcode,offset,length,timestamp";
    const ABOUT: &'static str = "\
        Alibaba block traces of 2020: opcode R or W, offset and length in bytes, time in us \
        since 1970 (counted from the first request on)";
    const TABLE: Table = Table { time: "us since 1970", range: "bytes, bytes", read: "`R`" };
    const EXAMPLE: &'static [u8] = b"419,W,8792731648,16384,1577808144360767\n\
        419,R,512,512,1577808144360768\n";
    const RULES: Rules = Rules { clock: Clock::Unix, ..Rules::NONE };
    const AS_COLUMNS: Option<&'static str> = Some("dev=number,op=rw,lba=bytes,len=bytes,ts=us");
    const TIME_COLUMN: &'static str = "timestamp";
    const FROM_A_DATE: bool = true;

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let device = columns.unsigned("device_id")?;
        let op = letter(columns, "opcode")?;
        let start = Measure { count: columns.unsigned("offset")?, unit: 1, column: "offset" };
        let length = Measure { count: columns.unsigned("length")?, unit: 1, column: "length" };
        let at = columns.whole_time("timestamp", 1_000)?;
        columns.finish()?;
        record::<C>(at, device, start, length, op)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use crate::Record;
    use crate::{Cause, Format};
    use fowler_units::{HostIo, HostOp, Nanos};

    #[test]
    fn alibaba_letters_are_operations_and_microseconds_are_exact() {
        for (line, op) in [
            ("419,W,8792731648,16384,1577808144360767", HostOp::Write),
            ("419,R,8792731648,16384,1577808144360767", HostOp::Read),
        ] {
            let (at, offset) = (Nanos(1_577_808_144_360_767_000), 8_792_731_648);
            let expected = Record { device: 419, io: HostIo::new(op, at, offset, 16_384) };
            assert_eq!(decode_line(Format::Alibaba, line.as_bytes()), Ok(expected));
        }
        let lines = ["419,0,0,512,1", "419,R,0,512", "419,R,0,512,1.5", "419,R,0,512,1,1"];
        let expected =
            [Cause::UnknownOp, Cause::TooFewColumns, Cause::NotANumber, Cause::TooManyColumns];
        assert_eq!(causes(Format::Alibaba, &lines), expected);
    }
}
