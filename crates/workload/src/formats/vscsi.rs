//! Records that both versions of VMware's vSCSI traces share: SCSI commands as the hypervisor saw
//! them.
//!
//! Source: `vscsi.h` of libCacheSim, by CloudPhysics, whose traces are in both versions. Numbers
//! are little-endian; `len` is in bytes, `lbn` in blocks of 512 B, `ts` in microseconds. The high
//! byte of `ver` is the version. `cmd` is the operation code of SBC-3 and SPC-4.

use crate::Cause;
use crate::binary::{Bytes, Order};
use crate::columns::Columns;
use crate::context::Context;
use crate::fields::Fault;
use crate::record::{Measure, Record, SECTOR, record, unknown_op};
use fowler_units::HostOp;

/// Byte offsets of the numbers in a vSCSI record.
pub(super) struct Layout {
    pub version: u64,
    pub length: usize,
    pub cmd: usize,
    pub ver: usize,
    pub len: usize,
}

/// Byte offset of the block number in a vSCSI record, the same in both versions.
const LBN: usize = 16;
const TS: usize = 24;

/// How many records at the beginning of a file must be valid to show its format.
const SHOWN_BY: usize = 64;

/// Effect of a traced SCSI command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    /// A read, write or flush whose address and size are in the record.
    Request(HostOp),
    /// A command that changes data at places that are not in the record: UNMAP, WRITE SAME.
    Elsewhere,
    /// A command that moves no data, such as INQUIRY.
    NoData,
}

/// Returns the effect of a SCSI operation code; `None` for codes that no disk supports.
fn command(code: u64) -> Option<Command> {
    Some(match code {
        0x08 | 0x28 | 0xa8 | 0x88 => Command::Request(HostOp::Read),
        // WRITE, and WRITE AND VERIFY.
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Command::Request(HostOp::Write),
        // SYNCHRONIZE CACHE.
        0x35 | 0x91 => Command::Request(HostOp::Flush),
        // UNMAP, WRITE SAME, COMPARE AND WRITE, EXTENDED COPY.
        0x42 | 0x41 | 0x93 | 0x89 | 0x83 => Command::Elsewhere,
        // TEST UNIT READY to REQUEST SENSE, INQUIRY, MODE SELECT to START STOP UNIT, READ CAPACITY,
        // VERIFY, LOG and MODE SENSE, PERSISTENT RESERVE, RECEIVE COPY, REPORT LUNS, MAINTENANCE.
        0x00..=0x04
        | 0x12
        | 0x15..=0x1e
        | 0x25
        | 0x2f
        | 0x34
        | 0x4c..=0x5f
        | 0x84
        | 0x8f
        | 0x90
        | 0x9e
        | 0xa0
        | 0xa3
        | 0xa4
        | 0xaf => Command::NoData,
        _ => return None,
    })
}

impl Layout {
    /// True if the first bytes of a file are valid vSCSI records of this version.
    pub fn shows(&self, head: &[u8]) -> bool {
        let is_valid = |bytes: &[u8]| {
            let bytes = Bytes::of(bytes, Order::Little);
            bytes.u16(self.ver) >> 8 == self.version && command(bytes.u16(self.cmd)).is_some()
        };
        // A file shorter than two records is more likely a text.
        head.len() >= 2 * self.length && head.chunks_exact(self.length).take(SHOWN_BY).all(is_valid)
    }

    /// Decodes a vSCSI record.
    #[inline(always)]
    pub fn decode<'a, C: Columns<'a>>(
        &self,
        columns: &mut C,
        context: &mut Context,
    ) -> Result<Record, C::Fault> {
        let bytes = Bytes::take(columns, Order::Little)?;
        if bytes.len() != self.length {
            return Err(C::fault(Fault::new(Cause::CutShort, "", b"")));
        }
        if bytes.u16(self.ver) >> 8 != self.version {
            let field = bytes.slice(self.ver, 2);
            let expected = "a high byte of `ver` that is the version of the trace";
            return Err(C::fault(Fault { expected, ..Fault::new(Cause::BadRecord, "ver", field) }));
        }
        let code = bytes.slice(self.cmd, 2);
        let op = match command(bytes.u16(self.cmd)) {
            Some(Command::Request(op)) => op,
            Some(other) => {
                context.noted += u64::from(other == Command::Elsewhere);
                return Err(C::fault(Fault::new(Cause::OtherEvent, "cmd", code)));
            }
            None => return Err(unknown_op::<C>("cmd", code, "an operation code of SBC or SPC")),
        };
        let at = bytes.u64(TS).checked_mul(1_000);
        let at = at.ok_or_else(|| C::fault(Fault::new(Cause::TooLarge, "ts", b"")))?;
        // A flush may name a range; it flushes everything all the same.
        let counts = |count| if op == HostOp::Flush { 0 } else { count };
        let start = Measure { count: counts(bytes.u64(LBN)), unit: SECTOR, column: "lbn" };
        let length = Measure { count: counts(bytes.u32(self.len)), unit: 1, column: "len" };
        record::<C>(at, 0, start, length, op)
    }
}

/// Returns the notes on SCSI commands that were skipped.
pub(super) fn notes(context: &Context) -> Option<String> {
    let times = context.noted;
    (times > 0).then(|| {
        format!(
            "{times} commands such as UNMAP and WRITE SAME were left out: the trace does not say \
             which blocks they change"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::decode_line;
    use super::*;
    use crate::{Format, Record};
    use fowler_units::{HostIo, Nanos};

    /// Returns a record as `vscsi.h` lays it out.
    fn bytes(version: u16, cmd: u16, len: u32, lbn: u64, ts: u64) -> Vec<u8> {
        let ver = (version << 8 | 0x1a).to_le_bytes();
        let (cmd, len, sn) = (cmd.to_le_bytes(), len.to_le_bytes(), 7u32.to_le_bytes());
        let (segments, lbn, ts) = (1u32.to_le_bytes(), lbn.to_le_bytes(), ts.to_le_bytes());
        if version == 1 {
            [&sn[..], &len, &segments, &cmd, &ver, &lbn, &ts].concat()
        } else {
            [&cmd[..], &ver, &sn, &len, &segments, &lbn, &ts, &5u64.to_le_bytes()].concat()
        }
    }

    const VERSIONS: [(u16, Format); 2] = [(1, Format::Vscsi1), (2, Format::Vscsi2)];

    #[test]
    fn commands_are_operations_and_only_addresses_count_blocks() {
        for (version, format) in VERSIONS {
            for (cmd, io) in [
                (0x28, HostIo::read(Nanos(9_000), 4096, 1024)),
                (0x88, HostIo::read(Nanos(9_000), 4096, 1024)),
                (0x2a, HostIo::write(Nanos(9_000), 4096, 1024)),
                (0x0a, HostIo::write(Nanos(9_000), 4096, 1024)),
                (0x35, HostIo::flush(Nanos(9_000))),
            ] {
                let decoded = decode_line(format, &bytes(version, cmd, 1024, 8, 9)).unwrap();
                assert_eq!(decoded, Record { device: 0, io }, "{cmd:x}");
            }
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        for (version, format) in VERSIONS {
            let cause = |bytes: &[u8]| decode_line(format, bytes).unwrap_err().cause;
            assert_eq!(cause(&bytes(version, 0xff, 512, 0, 0)), Cause::UnknownOp);
            assert_eq!(cause(&bytes(version, 0x42, 24, 0, 0)), Cause::OtherEvent);
            assert_eq!(cause(&bytes(version, 0x12, 36, 0, 0)), Cause::OtherEvent);
            assert_eq!(cause(&bytes(version, 0x28, 0, 0, 0)), Cause::ZeroLength);
            assert_eq!(cause(&bytes(version, 0x28, 512, 1 << 55, 0)), Cause::TooLarge);
            assert_eq!(cause(&bytes(version, 0x28, 512, 0, u64::MAX)), Cause::TooLarge);
            let mut other = bytes(version, 0x28, 512, 0, 0);
            assert_eq!(cause(&other[1..]), Cause::CutShort);
            let ver = if version == 1 { 15 } else { 3 };
            other[ver] = 3;
            assert_eq!(cause(&other), Cause::BadRecord);
        }
    }
}
