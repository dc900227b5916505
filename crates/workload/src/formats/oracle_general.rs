//! libCacheSim's oracleGeneral: records of 24 bytes, `clock_time obj_id obj_size
//! next_access_vtime`.
//!
//! Source: `oracleGeneralBin.h` of libCacheSim. Little-endian; whole seconds, bytes. The format is
//! for caches of objects: it has no operations and no addresses. So all requests are reads, and
//! object n is at byte 4096 n, which is right for traces made of block traces with a block of 4 KiB
//! as the object. Ids that are hashes have no place on a drive, and are refused. Nothing in a file
//! shows the format: it is detected by `oracleGeneral` in the name only.

use super::{Table, TraceFormat};
use crate::Cause;
use crate::binary::{Binary, Bytes, Order};
use crate::columns::Columns;
use crate::fields::Fault;
use crate::record::{Measure, Record, record};
use fowler_units::HostOp;

/// Length of an oracleGeneral record, in bytes.
const LENGTH: usize = 24;

/// Byte offsets of the numbers in an oracleGeneral record.
const ID: usize = 4;
const SIZE: usize = 12;
const NEXT: usize = 16;

/// Distance between the addresses at which two consecutive objects of the cached data are placed,
/// in bytes: the format has object IDs, but no addresses.
const OBJECT: u64 = 4096;

/// Largest object id (`obj_id`) in the format oracleGeneral at which an object, placed at 4096
/// times its id, begins below 2^64 bytes.
const LARGEST_ID: u64 = u64::MAX / OBJECT;

/// Number of records at the beginning of a file that are examined to detect the format
/// oracleGeneral.
const LOOKED_AT: usize = 64;

/// The binary format oracleGeneral of libCacheSim.
pub(crate) struct OracleGeneral;

impl TraceFormat for OracleGeneral {
    const COLUMNS: &'static str = "clock_time obj_id obj_size next_access_vtime";
    const ABOUT: &'static str = "\
        libCacheSim's oracleGeneral: time in whole seconds (counted from the first request on), \
        size in bytes, object n is at byte 4096 n, all are reads: the format has no operations";
    const TABLE: Table =
        Table { time: "s, whole", range: "objects of 4 KiB, bytes", read: "none: all are reads" };
    const EXAMPLE: &'static [u8] = b"\x01\0\0\0\x02\0\0\0\0\0\0\0\0\x10\0\0\x02\0\0\0\0\0\0\0\
        \x01\0\0\0\x02\0\0\0\0\0\0\0\0\x10\0\0\xff\xff\xff\xff\xff\xff\xff\xff";
    const TIME_COLUMN: &'static str = "clock_time";
    const FROM_A_DATE: bool = true;
    const WHOLE_SECONDS: bool = true;
    const DETECTED: bool = false;
    const NOTE: Option<&'static str> = Some(
        "oracleGeneral has no operations and no addresses: all requests are reads, and object n is \
         at byte 4096 n",
    );
    const BINARY: Option<Binary> =
        Some(Binary { head: LENGTH, length: |_| Some(LENGTH), preamble: |_| 0, shows });

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let bytes = Bytes::take(columns, Order::Little)?;
        if bytes.len() != LENGTH {
            return Err(C::fault(Fault::new(Cause::CutShort, "", b"")));
        }
        let id = bytes.u64(ID);
        if id > LARGEST_ID {
            let expected = "the number of a block of 4 KiB: ids that are hashes have no address";
            let fault = Fault::new(Cause::TooLarge, "obj_id", b"");
            return Err(C::fault(Fault { expected, ..fault }));
        }
        let start = Measure { count: id, unit: OBJECT, column: "obj_id" };
        let length = Measure { count: bytes.u32(SIZE), unit: 1, column: "obj_size" };
        record::<C>(bytes.u32(0) * 1_000_000_000, 0, start, length, HostOp::Read)
    }
}

/// True if the first bytes of a file could be libCacheSim's oracleGeneral format: times rise,
/// objects have sizes, and each next access lies in the future or is -1 (never).
fn shows(head: &[u8]) -> bool {
    let mut last = 0;
    head.len() >= 2 * LENGTH
        && head.contains(&0)
        && head.chunks_exact(LENGTH).take(LOOKED_AT).all(|bytes| {
            let bytes = Bytes::of(bytes, Order::Little);
            let (at, next) = (bytes.u32(0), bytes.u64(NEXT).cast_signed());
            let rises = std::mem::replace(&mut last, at) <= at;
            rises && (1..1 << 31).contains(&bytes.u32(SIZE)) && (next == -1 || next > 0)
        })
}

#[cfg(test)]
mod tests {
    use super::super::decode_line;
    use super::*;
    use crate::Format;
    use fowler_units::{HostIo, Nanos};

    fn bytes(at: u32, id: u64, size: u32, next: i64) -> Vec<u8> {
        let (at, id) = (at.to_le_bytes(), id.to_le_bytes());
        [&at[..], &id, &size.to_le_bytes(), &next.to_le_bytes()].concat()
    }

    #[test]
    fn objects_are_blocks_of_4_kib() {
        let io = HostIo::read(Nanos(7_000_000_000), 12_288, 100);
        let decoded = decode_line(Format::OracleGeneral, &bytes(7, 3, 100, -1)).unwrap();
        assert_eq!(decoded, Record { device: 0, io });
        let cause = |bytes: &[u8]| decode_line(Format::OracleGeneral, bytes).unwrap_err().cause;
        assert_eq!(cause(&bytes(7, 1 << 52, 1, 1)), Cause::TooLarge);
        assert_eq!(cause(&bytes(7, 3, 0, 1)), Cause::ZeroLength);
        assert_eq!(cause(&bytes(7, 3, 1, 1)[1..]), Cause::CutShort);
    }

    #[test]
    fn a_file_that_could_not_be_one_is_told() {
        let two = |second: Vec<u8>| [bytes(7, 3, 100, 2), second].concat();
        assert!(shows(&two(bytes(7, 3, 100, i64::MAX))));
        assert!(!shows(&two(bytes(6, 3, 100, -1))), "back in time");
        assert!(!shows(&two(bytes(7, 3, 0, -1))) && !shows(&two(bytes(7, 3, 1, -2))));
        assert!(!shows(&bytes(7, 3, 100, -1)), "too short");
    }
}
