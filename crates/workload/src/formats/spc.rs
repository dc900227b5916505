//! SPC, as the UMass repository keeps it: `ASU,LBA,Size,Opcode,Timestamp[,more...]`.
//!
//! Source: SPC trace file format specification 1.0.1. The LBA counts blocks of the ASU (512 B in
//! the UMass traces), but the size counts bytes, a common source of mistakes. Fields may be
//! surrounded by white space, further fields may follow, and the opcode is one letter.

use super::{Table, TraceFormat};
use crate::columns::Columns;
use crate::recognition::plausibility::{Clock, Rules};
use crate::record::{Measure, Record, SECTOR, record};
use fowler_units::HostOp;

/// Operations of an SPC trace by their letter.
const WORDS: &[(&[u8], HostOp)] =
    &[(b"R", HostOp::Read), (b"W", HostOp::Write), (b"r", HostOp::Read), (b"w", HostOp::Write)];

/// The SPC trace format.
pub(crate) struct Spc;

impl TraceFormat for Spc {
    const COLUMNS: &'static str = "ASU,LBA,Size,Opcode,Timestamp[,more...]";
    const ABOUT: &'static str = "\
        SPC as in the UMass repository: the ASU is the device, LBA in 512 B blocks, size in \
        bytes, opcode r/R or w/W, time in decimal seconds; further columns are ignored";
    const TABLE: Table =
        Table { time: "s, decimal", range: "blocks of 512 B, **bytes**", read: "`r`, `R`" };
    const EXAMPLE: &'static [u8] = b"0,20941264,8192,W,0.551706\n0,20939840,8192,w,0.554041\n\
        1,3436288,512,R,1.01,x\n";
    const RULES: Rules =
        Rules { clock: Clock::Relative, devices_below: 1 << 16, in_order: true, ..Rules::NONE };
    const AS_COLUMNS: Option<&'static str> = Some("dev=number,lba=512,len=bytes,op=rw,ts=s,...");
    const TIME_COLUMN: &'static str = "Timestamp";

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let device = columns.small("ASU")?;
        let start = Measure { count: columns.unsigned("LBA")?, unit: SECTOR, column: "LBA" };
        let length = Measure { count: columns.unsigned("Size")?, unit: 1, column: "Size" };
        let op = columns.word("Opcode", WORDS, "r or R (read), w or W (write)")?;
        let at = columns.time("Timestamp", 9)?;
        record::<C>(at, device, start, length, op)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use super::*;
    use crate::{Cause, Format};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn letters_are_operations_and_only_the_address_counts_blocks() {
        for (line, device, op) in [
            ("0,20941264,8192,W,0.551706", 0, HostOp::Write),
            ("1,20941264,8192,w,0.551706,extra,1", 1, HostOp::Write),
            ("2 , 20941264 , 8192 , r , 0.551706", 2, HostOp::Read),
            ("3,20941264,8192,R,0.551706000", 3, HostOp::Read),
        ] {
            let offset = 20_941_264 * 512;
            let expected = Record { device, io: HostIo::new(op, Nanos(551_706_000), offset, 8192) };
            assert_eq!(decode_line(Format::Spc, line.as_bytes()), Ok(expected));
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "0,1,512,Read,0.5",
            "0,1,512,1,0.5",
            "0,1,512,R,-0.5",
            "0,1,512,R",
            "0,1,0,R,0.5",
            "0,1,512.0,R,0.5",
            "0,36028797018963968,512,R,0.5",
        ];
        let expected = [
            Cause::UnknownOp,
            Cause::UnknownOp,
            Cause::NegativeTime,
            Cause::TooFewColumns,
            Cause::ZeroLength,
            Cause::NotANumber,
            Cause::TooLarge,
        ];
        assert_eq!(causes(Format::Spc, &lines), expected);
    }
}
