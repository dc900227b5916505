//! MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
//!
//! Source: README of the SNIA trace set "MSR Cambridge Traces". The timestamp is a Windows file
//! time, in ticks of 100 ns since 1601; as nanoseconds it fits in 64 bits until the year 2185. The
//! response time was measured on the traced disks and is ignored, but must be present.

use super::{Table, TraceFormat};
use crate::columns::Columns;
use crate::recognition::plausibility::{Clock, Rules};
use crate::record::{Measure, Record, record, unknown_op};
use fowler_units::HostOp;

/// Nanoseconds in one tick of a Windows file time.
const TICK_NS: u64 = 100;

/// The format of the MSR Cambridge traces.
pub(crate) struct Msr;

impl TraceFormat for Msr {
    const COLUMNS: &'static str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";
    const ABOUT: &'static str = "\
        MSR Cambridge CSV: time in ticks of 100 ns (counted from the first request on), the \
        disk number is the device, Type Read or Write, offset and size in bytes";
    const TABLE: Table =
        Table { time: "ticks of 100 ns since 1601", range: "bytes, bytes", read: "`Read`" };
    const EXAMPLE: &'static [u8] = b"128166385295514663,hm,0,Write,9056014336,2048,2833\n\
        128166385295514878,hm,0,Read,512,512,26\n";
    const RULES: Rules = Rules { clock: Clock::Windows, ..Rules::NONE };
    const AS_COLUMNS: Option<&'static str> =
        Some("ts=100ns,_,dev=number,op=rw,lba=bytes,len=bytes,_");
    const TIME_COLUMN: &'static str = "Timestamp";
    const FROM_A_DATE: bool = true;

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let at = columns.whole_time("Timestamp", TICK_NS)?;
        columns.host_named("Hostname")?;
        let device = columns.small("DiskNumber")?;
        let op = match columns.next("Type")? {
            word if word.eq_ignore_ascii_case(b"Read") => HostOp::Read,
            word if word.eq_ignore_ascii_case(b"Write") => HostOp::Write,
            other => return Err(unknown_op::<C>("Type", other, "Read or Write")),
        };
        let start = Measure { count: columns.unsigned("Offset")?, unit: 1, column: "Offset" };
        let length = Measure { count: columns.unsigned("Size")?, unit: 1, column: "Size" };
        columns.next("ResponseTime")?;
        columns.finish()?;
        record::<C>(at, device, start, length, op)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use super::*;
    use crate::fields::Commas;
    use crate::{Cause, Format};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn words_are_operations_and_ticks_are_exact() {
        let line = b"128166385295514663,hm,3,Write,9056014336,2048,2833";
        let at = Nanos(12_816_638_529_551_466_300);
        let expected = Record { device: 3, io: HostIo::write(at, 9_056_014_336, 2048) };
        assert_eq!(decode_line(Format::Msr, line), Ok(expected));
        let mut columns = Commas::of(line);
        assert_eq!(Msr::decode(&mut columns).map(|record| record.io.at), Ok(at));
        assert_eq!(columns.host(), Some(&b"hm"[..]));
        let read = decode_line(Format::Msr, b"128166385295514664,hm,3,Read,0,512,1").unwrap();
        assert_eq!((read.io.op, read.io.at - at), (HostOp::Read, fowler_units::Span(100)));
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "128166385295514663,hm,0,Trim,0,512,1",
            "128166385295514663,hm,0,1,0,512,1",
            "128166385295514663,hm,0,Read,0,512",
            "128166385295514663,hm,0,Read,0,512,1,2",
            "-1,hm,0,Read,0,512,1",
            "999999999999999999,hm,0,Read,0,512,1",
            "1.5,hm,0,Read,0,512,1",
            "1,hm,x,Read,0,512,1",
            "1,hm,0,Read,0,0,1",
        ];
        let expected = [
            Cause::UnknownOp,
            Cause::UnknownOp,
            Cause::TooFewColumns,
            Cause::TooManyColumns,
            Cause::NegativeTime,
            Cause::TooLarge,
            Cause::NotANumber,
            Cause::NotANumber,
            Cause::ZeroLength,
        ];
        assert_eq!(causes(Format::Msr, &lines), expected);
    }
}
