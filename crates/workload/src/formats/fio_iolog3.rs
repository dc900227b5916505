//! fio's iolog, version 3 (fio 3.31 and later): `timestamp file action offset length`, after the
//! line `fio version 3 iolog`.
//!
//! The HOWTO gives no unit of the timestamp; fio writes `utime_since_now`, microseconds since the
//! log began. `wait` does not exist in this version.

use super::iolog::{Action, action, request};
use super::{Table, TraceFormat};
use crate::columns::Columns;
use crate::record::{Record, unknown_op};

/// The format of fio's iolog, version 3.
pub(crate) struct FioIolog3;

impl TraceFormat for FioIolog3 {
    const COLUMNS: &'static str = "timestamp file action offset length";
    const ABOUT: &'static str = "\
        fio's iolog, version 3: time in us, action one of read, write, trim, sync, datasync, so \
        that op one of these words, offset and length in bytes, each file is a device";
    const TABLE: Table = Table { time: "us, whole", range: "bytes, bytes", read: "`read`" };
    const EXAMPLE: &'static [u8] = b"\
        fio version 3 iolog\n\
        2 Nvme1n1 add\n\
        872 Nvme1n1 open\n\
        878 Nvme1n1 write 0 16384\n\
        888 Nvme1n1 read 16384 4096\n\
        891 Nvme1n1 sync 0 0\n\
        895 Nvme1n1 trim 0 16384\n\
        10001677 Nvme1n1 close\n";
    const HEADER: Option<&'static str> = Some("fio version 3 iolog");
    const TIME_COLUMN: &'static str = "timestamp";
    const NAMES_DEVICES: bool = true;

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let at = columns.whole_time("timestamp", 1_000)?;
        match action(columns)? {
            Action::Request(op) => request(columns, at, op),
            Action::Wait(_) => Err(unknown_op::<C>(
                "action",
                b"wait",
                "an action with its own time: version 3 has no wait",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{causes, decode_and_host};
    use super::*;
    use crate::{Cause, Format};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn timestamps_are_microseconds() {
        for (line, io) in [
            ("878 Nvme1n1 write 0 16384", HostIo::write(Nanos(878_000), 0, 16_384)),
            ("888 Nvme1n1 read 512 1", HostIo::read(Nanos(888_000), 512, 1)),
            ("891 Nvme1n1 datasync", HostIo::flush(Nanos(891_000))),
        ] {
            let decoded = decode_and_host::<FioIolog3>(line.as_bytes());
            let decoded = decoded.map(|(record, name)| (record.io, name));
            assert_eq!(decoded, Ok((io, Some(&b"Nvme1n1"[..]))));
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "1 a wait 100 0",
            "-1 a read 0 512",
            "1.5 a read 0 512",
            "1 a open",
            "1 a read 0",
            "1 a seek 0 0",
            "9223372036854776 a read 0 512",
        ];
        let expected = [
            Cause::UnknownOp,
            Cause::NegativeTime,
            Cause::NotANumber,
            Cause::OtherEvent,
            Cause::TooFewColumns,
            Cause::UnknownOp,
            Cause::TooLarge,
        ];
        assert_eq!(causes(Format::FioIolog3, &lines), expected);
    }
}
