//! SYSTOR '17 (SNIA trace set 4928): `Timestamp,Response,IOType,LUN,Offset,Size`, as its header
//! row.
//!
//! Unix seconds with a fraction, IOType R or W, bytes. The response time was measured on the traced
//! system and is ignored; it may be blank. A line with a blank IOType names no operation and is
//! bad.

use super::{Table, TraceFormat};
use crate::columns::Columns;
use crate::record::{Measure, Record, record};
use fowler_units::HostOp;

/// The format of the SYSTOR '17 traces.
pub(crate) struct Systor17;

impl TraceFormat for Systor17 {
    const COLUMNS: &'static str = "Timestamp,Response,IOType,LUN,Offset,Size";
    const ABOUT: &'static str = "\
        SYSTOR '17 CSV with its header: time in decimal Unix seconds (counted from the first \
        request on), IOType R or W, the LUN is the device, offset and size in bytes";
    const TABLE: Table = Table { time: "Unix s, decimal", range: "bytes, bytes", read: "`R`" };
    const EXAMPLE: &'static [u8] = b"Timestamp,Response,IOType,LUN,Offset,Size\n\
        1456095145.133076000,0.000806000,R,0,899056122368,131072\n\
        1456095145.126285000,,W,0,4256049987072,122880\n";
    const AS_COLUMNS: Option<&'static str> =
        Some("header,ts=s,_,op=rw,dev=number,lba=bytes,len=bytes");
    const TIME_COLUMN: &'static str = "Timestamp";
    const HEADER: Option<&'static str> = Some(Self::COLUMNS);
    const FROM_A_DATE: bool = true;

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let at = columns.time("Timestamp", 9)?;
        columns.next("Response")?;
        let op = letter(columns, "IOType")?;
        let device = columns.small("LUN")?;
        let start = Measure { count: columns.unsigned("Offset")?, unit: 1, column: "Offset" };
        let length = Measure { count: columns.unsigned("Size")?, unit: 1, column: "Size" };
        columns.finish()?;
        record::<C>(at, device, start, length, op)
    }
}

/// Decodes an operation given as a letter, as in traces of storage services.
#[inline(always)]
pub(super) fn letter<'a, C: Columns<'a>>(
    columns: &mut C,
    column: &'static str,
) -> Result<HostOp, C::Fault> {
    columns.word(column, &[(b"R", HostOp::Read), (b"W", HostOp::Write)], "R or W")
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
}
