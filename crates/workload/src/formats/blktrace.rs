//! blktrace's binary files: records of 48 bytes, each followed by `pdu_len` bytes of data.
//!
//! Source: `blktrace_api.h` of the kernel. Magic `0x65617400 | 7`, in the byte order of the traced
//! machine: the magic number shows which. Nanoseconds, sectors of 512 B, bytes. Like fio, this
//! reader takes only `__BLK_TA_QUEUE`, a request's arrival at the block layer, so that each counts
//! once; notes and SCSI passthrough are no requests. The device is the kernel's `dev_t`. Version 8
//! (`blk_io_trace2`) has another layout and is refused.
//!
//! blktrace writes a file for each CPU: `blkparse -i NAME -d MERGED` merges them.

use super::{Table, TraceFormat};
use crate::Cause;
use crate::binary::{Binary, Bytes, Order};
use crate::columns::Columns;
use crate::extra::Extra;
use crate::fields::Fault;
use crate::left_out_events::{Kind, LeftOut, NamedKind};
use crate::record::{Measure, Record, SECTOR, record, unknown_op};
use fowler_units::{Diagnostic, HostOp};

/// The magic number that begins each record of a blktrace file, without the version in its lowest
/// byte.
const MAGIC: u64 = 0x6561_7400;
const VERSION: u64 = 7;

/// Length of a record of blktrace without its data, in bytes.
const LENGTH: usize = 48;

/// Byte offsets of the numbers in a record of blktrace.
const TIME: usize = 8;
const SECTOR_AT: usize = 16;
const BYTES: usize = 24;
const ACTION: usize = 28;
const DEVICE: usize = 36;
const PDU_LEN: usize = 46;

/// The kinds of events that are skipped, by the numbers of `enum blktrace_act` and with the letters
/// that blkparse prints for them; the first, an arrival, is left out only if it has neither data
/// nor a flush.
const EVENTS: &[NamedKind] = &[
    ("Q", "arrived, without data"),
    ("M", "merged behind"),
    ("F", "merged in front"),
    ("G", "request allocated"),
    ("S", "waited for a request"),
    ("R", "requeued"),
    ("D", "issued to the drive"),
    ("C", "completed"),
    ("P", "plugged"),
    ("U", "unplugged"),
    ("UT", "unplugged after a time"),
    ("I", "inserted into the queue"),
    ("X", "split"),
    ("B", "bounced"),
    ("A", "remapped from another device"),
    ("other", "events of other numbers"),
    ("m", "message or name of a process"),
    ("N", "command passed through"),
];

/// Numbers, from 1, of the last three kinds in [`EVENTS`], the list of skipped events: unknown
/// events, messages, and commands passed through to the drive.
const OTHER_KIND: Kind = 16;
const NOTE_KIND: Kind = 17;
const PASSTHROUGH_KIND: Kind = 18;

/// Code of blktrace for the arrival of a request, `__BLK_TA_QUEUE`.
const QUEUE: u64 = 1;
const CGROUP: u64 = 1 << 8;

/// Bits for the categories (such as read or discard) of a blktrace record's action, in the upper 32
/// bits of the action.
const READ: u64 = 1 << 0;
const WRITE: u64 = 1 << 1;
const FLUSH: u64 = 1 << 2;
const PASSTHROUGH: u64 = 1 << 9;
const NOTIFY: u64 = 1 << 10;
const DISCARD: u64 = 1 << 13;
const FUA: u64 = 1 << 15;

/// The binary format of blktrace.
pub(crate) struct Blktrace;

/// Returns the byte order and the version of a record; `None` without the magic number.
fn order(head: &[u8]) -> Option<(Order, u64)> {
    [Order::Little, Order::Big].into_iter().find_map(|order| {
        let magic = Bytes::of(head, order).u32(0);
        (magic & !0xff == MAGIC).then_some((order, magic & 0xff))
    })
}

impl TraceFormat for Blktrace {
    const COLUMNS: &'static str =
        "magic sequence time sector bytes action pid device cpu error pdu_len";
    const ABOUT: &'static str = "\
        binary blktrace file, version 7: only queue events (arrivals) are read, with the category \
        bit 0 set for a read, bit 1 for a write, bit 13 for a discard, time in ns (counted from the \
        first request on), sectors of 512 B, size in bytes";
    const TABLE: Table =
        Table { time: "ns", range: "sectors of 512 B, **bytes**", read: "category bit 0" };
    const EXAMPLE: &'static [u8] = b"\
        \x07\x74\x61\x65\x01\0\0\0\x40\x42\x0f\0\0\0\0\0\x08\0\0\0\0\0\0\0\0\x10\0\0\
        \x01\0\x11\0\x64\0\0\0\x02\0\x30\x10\0\0\0\0\0\0\0\0\
        \x07\x74\x61\x65\x02\0\0\0\x41\x42\x0f\0\0\0\0\0\x08\0\0\0\0\0\0\0\0\x10\0\0\
        \x04\0\x11\0\x64\0\0\0\x02\0\x30\x10\0\0\0\0\0\0\x04\0wxyz\
        \x07\x74\x61\x65\x03\0\0\0\x42\x42\x0f\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\x02\0\0\
        \x01\0\x12\0\x64\0\0\0\x02\0\x30\x10\0\0\0\0\0\0\0\0";
    const TIME_COLUMN: &'static str = "time";
    const LEFT_OUT: &'static [NamedKind] = EVENTS;
    const FROM_A_DATE: bool = true;
    const BINARY: Option<Binary> = Some(Binary {
        head: LENGTH,
        length: |bytes| {
            let (order, version) = order(bytes)?;
            let data = Bytes::of(bytes, order).u16(PDU_LEN) as usize;
            Some(LENGTH + if version == VERSION { data } else { 0 })
        },
        preamble: |_| 0,
        shows: |head| order(head).is_some(),
    });

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let bytes = Bytes::take(columns, Order::Little)?;
        if bytes.len() < LENGTH {
            return Err(C::fault(Fault::new(Cause::CutShort, "", b"")));
        }
        let magic = bytes.slice(0, 4);
        let Some((order, VERSION)) = order(magic) else {
            let expected = "a record of blktrace, version 7: 65617407 in hexadecimal; for other \
                            versions, use the text that blkparse makes of them";
            let fault = Fault::new(Cause::BadRecord, "magic", magic);
            return Err(C::fault(Fault { expected, ..fault }));
        };
        let bytes = bytes.in_order(order);
        let action = bytes.u32(ACTION);
        let (event, category) = (action & 0xffff & !CGROUP, action >> 16);
        let left_out = |kind| C::fault(Fault::left_out(kind, "action", bytes.slice(ACTION, 4)));
        let kind = match event {
            _ if category & NOTIFY != 0 => NOTE_KIND,
            _ if category & PASSTHROUGH != 0 => PASSTHROUGH_KIND,
            1..16 => event as Kind,
            _ => OTHER_KIND,
        };
        if kind != QUEUE as Kind {
            return Err(left_out(kind));
        }
        let size = bytes.u32(BYTES);
        let op = match category {
            _ if category & DISCARD != 0 => HostOp::Trim,
            _ if size == 0 && category & FLUSH != 0 => HostOp::Flush,
            // As in blkparse's text, an arrival without a range is no request.
            _ if size == 0 => return Err(left_out(kind)),
            _ if category & WRITE != 0 => HostOp::Write,
            _ if category & READ != 0 => HostOp::Read,
            _ => {
                let expected = "a read, a write, a discard or a flush";
                return Err(unknown_op::<C>("action", bytes.slice(ACTION, 4), expected));
            }
        };
        let sector = if op == HostOp::Flush { 0 } else { bytes.u64(SECTOR_AT) };
        let start = Measure { count: sector, unit: SECTOR, column: "sector" };
        let length = Measure { count: size, unit: 1, column: "bytes" };
        let (preflush, forced) = (category & FLUSH != 0, category & FUA != 0);
        if op != HostOp::Flush && (preflush || forced) {
            columns.extra(Extra { preflush, forced, ..Extra::NONE })?;
        }
        record::<C>(bytes.u64(TIME), bytes.u32(DEVICE), start, length, op)
    }

    fn without_requests(left_out: &[LeftOut]) -> Option<Diagnostic> {
        let found: Vec<_> = left_out.iter().map(|it| format!("{} {}", it.count, it.name)).collect();
        let what = format!("blktrace's file without arrivals (Q), but with {}", found.join(", "));
        let hint = "to replay requests as they were issued, make text of it with blkparse, and read \
                    that with --format blkparse-issued";
        let diagnostic = Diagnostic::of(what).expected("arrivals: blktrace -a queue");
        (!found.is_empty()).then(|| diagnostic.hint(hint.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, decode_lone};
    use super::*;
    use crate::Format;
    use fowler_units::{HostIo, Nanos};

    const DEVICE_NUMBER: u32 = 259 << 20 | 2;

    /// Returns a record as `blktrace_api.h` lays it out, in either byte order.
    fn bytes(order: Order, action: u32, sector: u64, size: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut add = |number: u64, length: usize| match order {
            Order::Little => bytes.extend_from_slice(&number.to_le_bytes()[..length]),
            Order::Big => bytes.extend_from_slice(&number.to_be_bytes()[8 - length..]),
        };
        add(0x6561_7407, 4);
        add(1, 4);
        add(1_000_000_007, 8);
        add(sector, 8);
        [size, action, 4020, DEVICE_NUMBER, 3].iter().for_each(|&number| add(number.into(), 4));
        add(0, 2);
        add(0, 2);
        bytes
    }

    #[test]
    fn categories_are_operations_in_either_byte_order() {
        let at = Nanos(1_000_000_007);
        for order in [Order::Little, Order::Big] {
            for (category, size, io) in [
                (READ | 1 << 4, 4096, HostIo::read(at, 4096, 4096)),
                (WRITE | 1 << 4, 512, HostIo::write(at, 4096, 512)),
                (WRITE | FLUSH, 512, HostIo::write(at, 4096, 512)),
                (WRITE | DISCARD, 512, HostIo::new(HostOp::Trim, at, 4096, 512)),
                (WRITE | FLUSH, 0, HostIo::flush(at)),
            ] {
                let record = bytes(order, (category << 16 | QUEUE) as u32, 8, size);
                let expected = Record { device: u64::from(DEVICE_NUMBER), io };
                assert_eq!(decode_line(Format::Blktrace, &record), Ok(expected));
            }
        }
        for (category, extra) in [
            (WRITE | FLUSH, Extra { preflush: true, ..Extra::NONE }),
            (WRITE | FUA, Extra { forced: true, ..Extra::NONE }),
            (WRITE | FLUSH | FUA, Extra { preflush: true, forced: true, ..Extra::NONE }),
            (WRITE, Extra::NONE),
        ] {
            let record = bytes(Order::Big, (category << 16 | QUEUE) as u32, 8, 512);
            assert_eq!(decode_lone::<Blktrace>(&record).unwrap().extra, extra, "{category:x}");
        }
        let empty = bytes(Order::Big, ((WRITE | FLUSH | FUA) << 16 | QUEUE) as u32, 8, 0);
        assert_eq!(decode_lone::<Blktrace>(&empty).unwrap().extra, Extra::NONE, "a flush alone");
        let in_cgroup = bytes(Order::Little, (READ << 16 | CGROUP | QUEUE) as u32, 8, 512);
        assert!(decode_line(Format::Blktrace, &in_cgroup).is_ok());
    }

    #[test]
    fn other_events_are_told_from_rubbish() {
        let cause = |bytes: &[u8]| decode_line(Format::Blktrace, bytes).unwrap_err().cause;
        let event = |action: u64| bytes(Order::Little, action as u32, 8, 512);
        assert_eq!(cause(&event(READ << 16 | 7)), Cause::OtherEvent, "an issue");
        for (action, name) in [
            (READ << 16 | 7, "D"),
            (READ << 16 | 8, "C"),
            (READ << 16 | 15, "A"),
            (READ << 16 | 99, "other"),
            (NOTIFY << 16 | QUEUE, "m"),
            ((PASSTHROUGH | READ) << 16 | QUEUE, "N"),
        ] {
            let record = event(action);
            let kind = decode_line(Format::Blktrace, &record).unwrap_err().kind;
            assert_eq!(EVENTS[usize::from(kind) - 1].0, name);
        }
        assert_eq!(cause(&event(NOTIFY << 16 | QUEUE)), Cause::OtherEvent);
        assert_eq!(cause(&event((PASSTHROUGH | READ) << 16 | QUEUE)), Cause::OtherEvent);
        assert_eq!(cause(&bytes(Order::Little, 0x11_0001, 8, 0)), Cause::OtherEvent);
        assert_eq!(cause(&event(QUEUE)), Cause::UnknownOp);
        assert_eq!(cause(&bytes(Order::Little, 0x11_0001, 1 << 55, 512)), Cause::TooLarge);
        let mut other = event(READ << 16 | QUEUE);
        assert_eq!(cause(&other[..47]), Cause::CutShort);
        other[0] = 8;
        assert_eq!(cause(&other), Cause::BadRecord, "version 8");
        other[3] = 0;
        assert_eq!(cause(&other), Cause::BadRecord);
    }
}
