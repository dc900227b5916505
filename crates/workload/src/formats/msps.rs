//! Microsoft Production Server traces (SNIA trace set 158) and other CSV of Event Tracing for
//! Windows, as `xperf -a dumper` writes it: a block from `BeginHeader` to `EndHeader` that lists
//! the columns of every kind of event, then the events.
//!
//! Source: that header, in every file. `DiskRead` and `DiskWrite` are requests, `DiskFlush` is a
//! flush; all other events are skipped. Times are microseconds since the trace began. The event is
//! logged when the request completes, so its arrival is `TimeStamp - ElapsedTime`: in an excerpt of
//! the MSN file server, no request packet (`IrpPtr`) is then in use twice at once, while 251 of 927
//! would be if the event were logged on arrival.

use super::{Table, TraceFormat};
use crate::Cause;
use crate::columns::Columns;
use crate::fields::Fault;
use crate::record::{Measure, Record, arrival_before, record, unknown_op};
use fowler_units::HostOp;

/// Nanoseconds in a microsecond.
const US: u64 = 1_000;

/// Microsoft Production Server.
pub(crate) struct Msps;

/// Lines of the header, and of what follows it, that are no events.
const OTHER_LINES: [&[u8]; 3] = [b"BeginHeader", b"EndHeader", b"OS Version"];

/// Whether this is a name as events have it: `DiskReadInit`, `T-DCEnd`, `UnknownEvent/Classic`.
fn is_name(event: &[u8]) -> bool {
    let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || b"-/_".contains(byte);
    event.first().is_some_and(u8::is_ascii_alphabetic) && event.iter().all(belongs)
}

impl TraceFormat for Msps {
    const COLUMNS: &'static str =
        "event,TimeStamp,process,thread,IrpPtr,ByteOffset,IOSize,ElapsedTime,DiskNum[,more...]";
    const ABOUT: &'static str = "\
        Event Tracing for Windows as CSV (Microsoft Production Server): DiskRead or DiskWrite is a \
        Read or Write, DiskFlush a flush, other events are skipped; time in us at completion, from \
        which ElapsedTime is subtracted (counted from the first request on), offset and size in \
        hexadecimal bytes, the disk number is the device";
    const TABLE: Table = Table {
        time: "us, at completion; less ElapsedTime",
        range: "hexadecimal bytes",
        read: "`DiskRead`",
    };
    const EXAMPLE: &'static [u8] = b"BeginHeader\n\
        \x20  DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum\n\
        EndHeader\n\
        \x20  DiskRead,     260959, p0 (2004),       9700, 0xfffffadf39860010, 0x13690de000, 0x00002000,        3738,        4, 0x000901,        3738,       0,  Unknown, 0xfffffadf3b71e8f0, \"Disk8:\\s0\"\n\
        \x20 DiskWrite,     277804, p0 (2004),       9344, 0xfffffadf3a2dd010, 0x0b3b7b9600, 0x0000f000,         454,        4, 0x000a01,         454,       0,  Unknown, 0xfffffadf3c028270, \"Disk4:\\s10\"\n\
        DiskWriteInit,     277900, p0 (2004),       9344, 0xfffffadf3a2dd010\n\
        \x20 DiskFlush,     278000, p0 (2004),       9344, 0xfffffadf3a2dd010, 50,        4, 0x0, 50, 0\n";
    const TIME_COLUMN: &'static str = "TimeStamp";
    const FROM_A_DATE: bool = true;
    const STATEFUL: bool = true;

    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let event = columns.next("event")?;
        let other = C::fault(Fault::new(Cause::OtherEvent, "event", event));
        if OTHER_LINES.iter().any(|line| event.starts_with(line)) {
            return Err(other);
        }
        let expected = "DiskRead, DiskWrite, DiskFlush or the name of another event";
        if !is_name(event) {
            return Err(unknown_op::<C>("event", event, expected));
        }
        if columns.peek()? == Some(b"TimeStamp") {
            return Err(other);
        }
        let done = columns.whole_time("TimeStamp", US)?;
        let op = match event {
            b"DiskRead" => HostOp::Read,
            b"DiskWrite" => HostOp::Write,
            b"DiskFlush" => HostOp::Flush,
            _ => return Err(other),
        };
        for column in ["process", "thread", "IrpPtr"] {
            columns.next(column)?;
        }
        let mut range = |column| {
            let count = if op == HostOp::Flush { 0 } else { columns.hexadecimal(column)? };
            Ok(Measure { count, unit: 1, column })
        };
        let (start, length) = (range("ByteOffset")?, range("IOSize")?);
        let elapsed = columns.whole_time("ElapsedTime", US)?;
        let device = columns.unsigned("DiskNum")?;
        let at = arrival_before::<C>(done, elapsed, "ElapsedTime")?;
        record::<C>(at, device, start, length, op)
    }

    fn is_header(line: &[u8]) -> bool {
        line == b"BeginHeader"
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use crate::record::BEFORE_TRACE;
    use crate::{Cause, Format, Record};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn an_event_is_logged_when_its_request_completes() {
        let at = |us: u64| Nanos(BEFORE_TRACE + us * 1000);
        for (line, io) in [
            (
                "  DiskRead, 260959, p0 (2004), 9700, 0xf1, 0x13690de000, 0x00002000, 3738, 4, 0x1",
                HostIo::read(at(257_221), 0x13_690d_e000, 8192),
            ),
            ("DiskWrite,100,p,1,0x0,0xff,1,101,4", HostIo::write(Nanos(at(0).0 - 1000), 255, 1)),
            ("DiskFlush, 100, p, 1, 0x0, 50, 4, 0x0, 50, 0", HostIo::flush(at(50))),
        ] {
            let expected = Record { device: 4, io };
            assert_eq!(decode_line(Format::Msps, line.as_bytes()), Ok(expected), "{line}");
        }
    }

    #[test]
    fn other_events_are_told_from_rubbish() {
        let lines = [
            "BeginHeader",
            "EndHeader",
            "OS Version: 5.2.3790, Trace Size: 1KB",
            "DiskRead, TimeStamp, Process Name ( PID), ThreadID",
            "T-DCEnd, 17, p (1), 2",
            "DiskReadInit, 17, p (1), 2, 0x0",
            "DiskRead, 17, p, 2, 0x0, 0x0, 0x200, 5",
            "DiskRead, 17, p, 2, 0x0, zero, 0x200, 5, 0",
            "DiskRead, 17, p, 2, 0x0, 0x0, 0x0, 5, 0",
            "DiskRead, soon, p, 2, 0x0, 0x0, 0x200, 5, 0",
            "DiskRead, 17, p, 2, 0x0, 0x0, 0x100000000, 5, 0",
            "DiskRead, 17, p, 2, 0x0, 0x0, 0x200, 99999999999, 0",
            "128166385295514663,hm,0,Write,9056014336,2048,2833",
            "DiskRead",
        ];
        let expected = [
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::TooFewColumns,
            Cause::NotANumber,
            Cause::ZeroLength,
            Cause::NotANumber,
            Cause::TooLarge,
            Cause::NegativeTime,
            Cause::UnknownOp,
            Cause::TooFewColumns,
        ];
        assert_eq!(causes(Format::Msps, &lines), expected);
    }
}
