//! The CSV traces of storage services.
//!
//! SYSTOR '17 (SNIA trace set 4928) has the header row `Timestamp,Response,IOType,LUN,Offset,Size`:
//! Unix seconds with a fraction, IOType R or W, bytes. The response is the traced system's own and
//! not used; it may be blank. IOType may be blank too: such a line names no operation and is bad.
//!
//! Alibaba's block traces of 2020 (README of alibaba/block-traces) have no header and the columns
//! `device_id,opcode,offset,length,timestamp`: opcode R or W, bytes, microseconds since 1970.

use super::{Fault, Measure, Record, record, unknown_op};
use crate::fields::Commas;
use fowler_units::HostOp;

fn letter<'a>(fields: &mut Commas<'a>, column: &'static str) -> Result<HostOp, Fault<'a>> {
    match fields.next(column)? {
        b"R" => Ok(HostOp::Read),
        b"W" => Ok(HostOp::Write),
        other => Err(unknown_op(column, other, "R or W")),
    }
}

#[inline]
pub(super) fn systor17(line: &[u8]) -> Result<Record, Fault<'_>> {
    let mut fields = Commas::of(line);
    let at = fields.time("Timestamp", 9)?;
    fields.next("Response")?;
    let op = letter(&mut fields, "IOType")?;
    let device = fields.unsigned("LUN")?;
    let start = Measure { count: fields.unsigned("Offset")?, unit: 1, column: "Offset" };
    let length = Measure { count: fields.unsigned("Size")?, unit: 1, column: "Size" };
    fields.finish()?;
    record(at, device, start, length, op)
}

#[inline]
pub(super) fn alibaba(line: &[u8]) -> Result<Record, Fault<'_>> {
    let mut fields = Commas::of(line);
    let device = fields.unsigned("device_id")?;
    let op = letter(&mut fields, "opcode")?;
    let start = Measure { count: fields.unsigned("offset")?, unit: 1, column: "offset" };
    let length = Measure { count: fields.unsigned("length")?, unit: 1, column: "length" };
    let at = fields.whole_time("timestamp", 1_000)?;
    fields.finish()?;
    record(at, device, start, length, op)
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use super::*;
    use crate::{Cause, Format};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn systor_letters_are_operations_and_a_blank_response_is_no_matter() {
        for (line, op) in [
            ("1456095145.133076001,0.000806000,R,4,899056122368,131072", HostOp::Read),
            ("1456095145.133076001,,W,4,899056122368,131072", HostOp::Write),
        ] {
            let (at, offset) = (Nanos(1_456_095_145_133_076_001), 899_056_122_368);
            let expected = Record { device: 4, io: HostIo::new(op, at, offset, 131_072) };
            assert_eq!(decode_line(Format::Systor17, line.as_bytes()), Ok(expected));
        }
        let lines = ["1.5,0.1,,4,0,512", "1.5,0.1,r,4,0,512", "1.5,0.1,R,4,0", "1.5,0.1,R,4,0,0"];
        let expected =
            [Cause::UnknownOp, Cause::UnknownOp, Cause::TooFewColumns, Cause::ZeroLength];
        assert_eq!(causes(Format::Systor17, &lines), expected);
    }

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
