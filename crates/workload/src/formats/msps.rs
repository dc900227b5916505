//! Microsoft Production Server traces (SNIA trace set 158) and other CSV of Event Tracing for
//! Windows, as `xperf -a dumper` writes it: a block from `BeginHeader` to `EndHeader` that lists
//! the columns of every kind of event, then the events.
//!
//! Source: that header, in every file; the columns are where it names them, and where those of the
//! production servers are if a file has no header. `DiskRead` and `DiskWrite` are requests,
//! `DiskFlush` is a flush; all other events are skipped. Times are microseconds since the trace
//! began. The event is logged when the request completes, so its arrival is `TimeStamp -
//! ElapsedTime`: in an excerpt of the MSN file server, no request packet (`IrpPtr`) is then in use
//! twice at once, while 251 of 927 would be if the event were logged on arrival.

use super::{Table, TraceFormat};
use crate::Cause;
use crate::columns::Columns;
use crate::context::Context;
use crate::etw_columns::{EtwColumn, EtwKind};
use crate::fields::Fault;
use crate::left_out_events::NamedKind;
use crate::record::{Measure, Record, arrival_before, record, unknown_op};
use fowler_units::HostOp;

/// Nanoseconds in a microsecond.
const US: u64 = 1_000;

/// The format of Microsoft's production server traces.
pub(crate) struct Msps;

/// First line of the header of a Windows event trace.
const BEGIN: &[u8] = b"BeginHeader";
const END: &[u8] = b"EndHeader";
const SYSTEM: &[u8] = b"OS Version";

/// True if the text is an event name such as `DiskReadInit`, `T-DCEnd` or `UnknownEvent/Classic`.
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
        hexadecimal bytes, the disk number is the device; columns as the file's header names them";
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
    const LEFT_OUT: &'static [NamedKind] = &[("other", "other than disk events")];

    fn decode_after<'a, C: Columns<'a>>(
        columns: &mut C,
        context: &mut Context,
    ) -> Result<Record, C::Fault> {
        let event = columns.next("event")?;
        let no_event = C::fault(Fault::new(Cause::OtherEvent, "event", event));
        if [BEGIN, END, SYSTEM].iter().any(|line| event.starts_with(line)) {
            context.etw.in_header = event.starts_with(BEGIN);
            return Err(no_event);
        }
        let expected = "DiskRead, DiskWrite, DiskFlush or the name of another event";
        if !is_name(event) {
            return Err(unknown_op::<C>("event", event, expected));
        }
        let kind = match event {
            b"DiskRead" => Some((EtwKind::Read, HostOp::Read)),
            b"DiskWrite" => Some((EtwKind::Write, HostOp::Write)),
            b"DiskFlush" => Some((EtwKind::Flush, HostOp::Flush)),
            _ => None,
        };
        if context.etw.in_header || columns.peek()? == Some(b"TimeStamp") {
            if let Some((kind, _)) = kind {
                learn(columns, context, kind)?;
            }
            return Err(no_event);
        }
        let Some((kind, op)) = kind else {
            columns.whole_time("TimeStamp", US)?;
            return Err(C::fault(Fault::left_out(1, "event", event)));
        };
        let event = context.etw.of(kind);
        let expected = "a line for this event in the header, with all columns that are read";
        let no_header = Fault { expected, ..Fault::new(Cause::Header, "", b"") };
        let event = event.ok_or_else(|| C::fault(no_header))?;
        let nothing = |column| Measure { count: 0, unit: 1, column };
        let (mut start, mut length) = (nothing("ByteOffset"), nothing("IOSize"));
        let (mut done, mut elapsed, mut device) = (0, 0, 0);
        for column in event.columns() {
            match column {
                EtwColumn::Skipped => drop(columns.next("a column that is not read")?),
                EtwColumn::Time => done = columns.whole_time("TimeStamp", US)?,
                EtwColumn::Offset => start.count = columns.hexadecimal("ByteOffset")?,
                EtwColumn::Size => length.count = columns.hexadecimal("IOSize")?,
                EtwColumn::Elapsed => elapsed = columns.whole_time("ElapsedTime", US)?,
                EtwColumn::Disk => device = columns.unsigned("DiskNum")?,
            }
        }
        if op == HostOp::Flush {
            (start.count, length.count) = (0, 0);
        }
        let at = arrival_before::<C>(done, elapsed, "ElapsedTime")?;
        record::<C>(at, device, start, length, op)
    }

    fn is_header(line: &[u8]) -> bool {
        line == b"BeginHeader"
    }
}

/// Reads the columns of an ETW event from the rest of the event's header line in an MSPS trace.
fn learn<'a, C: Columns<'a>>(
    columns: &mut C,
    context: &mut Context,
    kind: EtwKind,
) -> Result<(), C::Fault> {
    let mut rest = columns.clone();
    let names = std::iter::from_fn(|| match rest.peek() {
        Ok(Some(_)) => rest.next("a column of the header").ok(),
        _ => None,
    });
    context.etw.learn(kind, names).map_err(|column| {
        let expected = "a header that names TimeStamp, ByteOffset, IOSize, ElapsedTime and DiskNum";
        C::fault(Fault { expected, ..Fault::new(Cause::TooFewColumns, column, b"") })
    })
}

#[cfg(test)]
mod tests {
    use super::super::decode_line;
    use super::super::tests::{causes, decode_stateful};
    use super::*;
    use crate::Format;
    use crate::record::BEFORE_TRACE;
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
    fn columns_are_where_the_header_of_the_file_names_them() {
        let mut context = Context::default();
        let mut decoded = |line: &'static str| {
            let decoded = decode_stateful::<Msps>(line.as_bytes(), &mut context);
            decoded.map(|(record, _)| record).map_err(|fault| (fault.cause, fault.column))
        };
        let read = "DiskRead, 260, a.exe (5), 42, 1, 0xf1, 0x1000, 0x200, 60, 3, 0x1";
        let at = Nanos(BEFORE_TRACE + 200_000);
        for line in [
            "BeginHeader",
            "DiskRead, TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ByteOffset, IOSize, \
             ElapsedTime, DiskNum, IrpFlags",
            "FileIoRead, Loggers, CPU, TimeStamp",
            "DiskWrite, CPU, TimeStamp, DiskNum, ElapsedTime, IOSize, ByteOffset",
            "EndHeader",
        ] {
            assert_eq!(decoded(line), Err((Cause::OtherEvent, "event")), "{line}");
        }
        let expected = Record { device: 3, io: HostIo::read(at, 4096, 512) };
        assert_eq!(decoded(read), Ok(expected));
        let expected = Record { device: 7, io: HostIo::write(at, 4096, 512) };
        assert_eq!(decoded("DiskWrite, 1, 260, 7, 60, 0x200, 0x1000"), Ok(expected));
        // A header that lacks a required column is wrong, and so are the events it describes.
        assert_eq!(decoded("BeginHeader"), Err((Cause::OtherEvent, "event")));
        let missing = Err((Cause::TooFewColumns, "IOSize"));
        assert_eq!(decoded("DiskRead, TimeStamp, ByteOffset, ElapsedTime, DiskNum"), missing);
        assert_eq!(decoded("EndHeader"), Err((Cause::OtherEvent, "event")));
        assert_eq!(decoded(read), Err((Cause::Header, "")));
    }

    #[test]
    fn other_events_are_told_from_rubbish() {
        let lines = [
            "BeginHeader",
            "EndHeader",
            "OS Version: 5.2.3790, Trace Size: 1KB",
            "DiskRead, TimeStamp, ByteOffset, IOSize, ElapsedTime, DiskNum",
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
