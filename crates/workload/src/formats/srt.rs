//! HP Labs' SRT traces (Cello and others): big-endian records, after a header in text that ends
//! with a form feed, or without it.
//!
//! Source: `disksim_hptrace.h` and `iotrace_hpl_get_ioreq_event` of DiskSim, by Hewlett-Packard and
//! CMU. A record begins with its length, its version (1 to 4) and type, and the time at which the
//! request was enqueued, in seconds and microseconds. Sectors of 512 B, size in bytes; bit 0 of the
//! flags is set for a read. The device is the whole device number. As in DiskSim, only records of
//! type 1 are requests; those of type 4 are requests that the tracer found suspect.

use super::{Table, TraceFormat};
use crate::Cause;
use crate::binary::{Binary, Bytes, Order};
use crate::columns::Columns;
use crate::context::Context;
use crate::fields::Fault;
use crate::record::{Measure, Record, SECTOR, record, unknown_op};
use fowler_units::HostOp;

/// Types of SRT records that are requests.
const SHORT_IO: u64 = 1;
const SUSPECT_IO: u64 = 4;

/// Length of an SRT record in bytes, without the queue length (version 4) and the flags of a
/// suspect record.
const LENGTH: usize = 52;

/// Allowed lengths of SRT records that are not requests, in bytes.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=4096;

/// Byte offsets of the numbers in an SRT record.
const ID: usize = 4;
const SECONDS: usize = 8;
const MICROSECONDS: usize = 12;
const SIZE: usize = 24;
const SECTOR_AT: usize = 28;
const DEVICE: usize = 32;
const FLAGS: usize = 44;

/// Keyword that begins the last line of the text header of an SRT file.
const DATE_LINE: &[u8] = b"tracedate";
const FORM_FEED: u8 = 0x0c;

/// The binary SRT format of HP Labs.
pub(crate) struct Srt;

/// Returns the length of the text header of an SRT file, in bytes; 0 if it has none.
fn header(head: &[u8]) -> usize {
    let Some(date) = memchr::memmem::find(head, DATE_LINE) else { return 0 };
    memchr::memchr(FORM_FEED, &head[date..]).map_or(0, |end| date + end + 1)
}

/// Returns the version and the type of an SRT record.
fn id(bytes: Bytes<'_>) -> (u64, u64) {
    (bytes.u32(ID) >> 16, bytes.u32(ID) & 0xffff)
}

/// Returns the length that the SRT record of a request must have, in bytes.
fn due_length(bytes: Bytes<'_>) -> usize {
    let (version, kind) = id(bytes);
    LENGTH + 4 * usize::from(version == 4) + 4 * usize::from(kind == SUSPECT_IO)
}

/// Returns the length of the SRT record at the start of `bytes`, in bytes.
fn length(bytes: &[u8]) -> Option<usize> {
    let bytes = Bytes::of(bytes, Order::Big);
    let ((version, kind), length) = (id(bytes), bytes.u32(0) as usize);
    let is_request = [SHORT_IO, SUSPECT_IO].contains(&kind);
    let fits = if is_request { length == due_length(bytes) } else { LENGTHS.contains(&length) };
    (fits && (1..=4).contains(&version) && (1..=10).contains(&kind)).then_some(length)
}

impl TraceFormat for Srt {
    const COLUMNS: &'static str = "length id sec usec start stop size sector device driver \
                                   cylinder flags info [queue] [suspect]";
    const ABOUT: &'static str = "\
        binary SRT trace of HP Labs: time in seconds and us (counted from the first request on), \
        sectors of 512 B, size in bytes, bit 0 of the flags set for a read";
    const TABLE: Table = Table {
        time: "s and us",
        range: "sectors of 512 B, **bytes**",
        read: "bit 0 of the flags is set",
    };
    const EXAMPLE: &'static [u8] = b"tracedate\t= \"Sat Apr 18 00:00:00 1992\";\n\x0c\
        \0\0\0\x34\0\x01\0\x01\0\0\0\x01\0\0\0\x05\0\0\0\x01\0\0\0\x02\0\0\x20\0\0\0\0\x08\
        \0\0\x04\0\0\0\0\x01\0\0\0\x09\0\0\0\x01\0\0\0\0\
        \0\0\0\x38\0\x04\0\x01\0\0\0\x02\0\0\0\x05\0\0\0\x01\0\0\0\x02\0\0\x04\0\0\0\0\x10\
        \0\0\x04\0\0\0\0\x01\0\0\0\x09\0\0\x01\0\0\0\0\0\0\0\0\x03";
    const TIME_COLUMN: &'static str = "sec";
    const FROM_A_DATE: bool = true;
    const STATEFUL: bool = true;
    const BINARY: Option<Binary> = Some(Binary {
        head: 8,
        length,
        preamble: header,
        shows: |head| {
            let records = &head[header(head)..];
            records.len() >= LENGTH && length(records).is_some()
        },
    });

    #[inline(always)]
    fn decode_after<'a, C: Columns<'a>>(
        columns: &mut C,
        context: &mut Context,
    ) -> Result<Record, C::Fault> {
        let bytes = Bytes::take(columns, Order::Big)?;
        let kind = bytes.slice(ID, 4);
        match id(bytes).1 {
            SHORT_IO => {}
            SUSPECT_IO => {
                context.noted += 1;
                return Err(C::fault(Fault::new(Cause::OtherEvent, "id", kind)));
            }
            _ => return Err(unknown_op::<C>("id", kind, "a record of type 1 or 4")),
        }
        if bytes.len() < due_length(bytes) {
            return Err(C::fault(Fault::new(Cause::CutShort, "", b"")));
        }
        let us = bytes.u32(MICROSECONDS);
        if us >= 1_000_000 {
            let expected = "less than a million microseconds";
            let fault = Fault::new(Cause::TooLarge, "usec", b"");
            return Err(C::fault(Fault { expected, ..fault }));
        }
        let at = bytes.u32(SECONDS) * 1_000_000_000 + us * 1_000;
        let op = if bytes.u32(FLAGS) & 1 == 1 { HostOp::Read } else { HostOp::Write };
        let start = Measure { count: bytes.u32(SECTOR_AT), unit: SECTOR, column: "sector" };
        let length = Measure { count: bytes.u32(SIZE), unit: 1, column: "size" };
        record::<C>(at, bytes.u32(DEVICE), start, length, op)
    }

    fn notes(context: &Context) -> Option<String> {
        let times = context.noted;
        (times > 0).then(|| format!("{times} requests that the tracer found suspect were left out"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode_line;
    use super::*;
    use crate::Format;
    use fowler_units::{HostIo, Nanos};

    /// Returns a record as `disksim_hptrace.h` lays it out.
    fn bytes(version: u32, kind: u32, us: u32, size: u32, flags: u32) -> Vec<u8> {
        let mut words = vec![0, version << 16 | kind, 3, us, 1, 2, size, 8, 0x400, 1, 9, flags, 0];
        words.extend((version == 4).then_some(5));
        words.extend((u64::from(kind) == SUSPECT_IO).then_some(1));
        words[0] = 4 * words.len() as u32;
        words.into_iter().flat_map(u32::to_be_bytes).collect()
    }

    #[test]
    fn bit_0_is_set_for_a_read_in_every_version() {
        for version in 1..=4 {
            let at = Nanos(3_000_005_000);
            for (flags, io) in
                [(0x101, HostIo::read(at, 4096, 1024)), (0x100, HostIo::write(at, 4096, 1024))]
            {
                let record = bytes(version, 1, 5, 1024, flags);
                assert_eq!(length(&record), Some(record.len()));
                let expected = Record { device: 0x400, io };
                assert_eq!(decode_line(Format::Srt, &record), Ok(expected));
            }
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let cause = |bytes: &[u8]| decode_line(Format::Srt, bytes).unwrap_err().cause;
        assert_eq!(cause(&bytes(3, 4, 5, 1024, 1)), Cause::OtherEvent);
        assert_eq!(cause(&bytes(3, 2, 5, 1024, 1)), Cause::UnknownOp);
        assert_eq!(cause(&bytes(3, 1, 1_000_000, 1024, 1)), Cause::TooLarge);
        assert_eq!(cause(&bytes(3, 1, 5, 0, 1)), Cause::ZeroLength);
        assert_eq!(cause(&bytes(4, 1, 5, 512, 1)[..52]), Cause::CutShort);
        for (word, wrong) in [(0, 51), (0, 56), (1, 5 << 16 | 1), (1, 1), (1, 1 << 16 | 11)] {
            let mut record = bytes(1, 1, 5, 512, 1);
            record[4 * word..4 * word + 4].copy_from_slice(&u32::to_be_bytes(wrong));
            assert_eq!(length(&record), None, "word {word} is {wrong}");
        }
    }
}
