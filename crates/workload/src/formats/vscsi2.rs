//! VMware's vSCSI traces, version 2: records of 40 bytes, `cmd ver sn len nSG lbn ts rt`.

use super::vscsi::{Layout, notes};
use super::{Table, TraceFormat};
use crate::binary::Binary;
use crate::columns::Columns;
use crate::context::Context;
use crate::record::Record;

/// Version 2 of VMware's vSCSI format.
pub(crate) struct Vscsi2;

const LAYOUT: Layout = Layout { version: 2, length: 40, cmd: 0, ver: 2, len: 8 };

impl TraceFormat for Vscsi2 {
    const COLUMNS: &'static str = "cmd ver sn len nSG lbn ts rt";
    const ABOUT: &'static str = "\
        binary vSCSI trace, version 2: cmd a SCSI operation code, which is a Read or Write or a \
        flush, lbn in blocks of 512 B, len in bytes, time in us (counted from the first request on)";
    const TABLE: Table = Table {
        time: "us",
        range: "blocks of 512 B, **bytes**",
        read: "a READ of SCSI: 0x08, 0x28, 0xa8, 0x88",
    };
    const EXAMPLE: &'static [u8] = b"\
        \x28\0\x1a\x02\x07\0\0\0\0\x10\0\0\x01\0\0\0\x08\0\0\0\0\0\0\0\x40\x42\x0f\0\0\0\0\0\x05\0\0\0\0\0\0\0\
        \x2a\0\x1a\x02\x08\0\0\0\0\x02\0\0\x01\0\0\0\x10\0\0\0\0\0\0\0\x41\x42\x0f\0\0\0\0\0\x05\0\0\0\0\0\0\0\
        \x12\0\x1a\x02\x09\0\0\0\x24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x42\x42\x0f\0\0\0\0\0\x05\0\0\0\0\0\0\0";
    const TIME_COLUMN: &'static str = "ts";
    const FROM_A_DATE: bool = true;
    const STATEFUL: bool = true;
    const BINARY: Option<Binary> = Some(Binary {
        head: LAYOUT.length,
        length: |_| Some(LAYOUT.length),
        preamble: |_| 0,
        shows: |head| LAYOUT.shows(head),
    });

    #[inline(always)]
    fn decode_after<'a, C: Columns<'a>>(
        columns: &mut C,
        context: &mut Context,
    ) -> Result<Record, C::Fault> {
        LAYOUT.decode(columns, context)
    }

    fn notes(context: &Context) -> Option<String> {
        notes(context)
    }
}
