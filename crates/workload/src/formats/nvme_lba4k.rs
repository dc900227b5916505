//! The tracepoint `nvme_setup_cmd` in text of ftrace, trace-cmd or perf, on a namespace with blocks
//! of 4 KiB: see [`nvme`](super::nvme).

use super::kernel_log::{EVENTS, NVME_SETUP, without};
use super::nvme::{command, is_ruled_out};
use super::{Signs, Table, TraceFormat};
use crate::columns::Columns;
use crate::left_out_events::{LeftOut, NamedKind};
use crate::record::Record;
use fowler_units::Diagnostic;

/// Block size of the traced namespace, in bytes.
const BLOCK: u64 = 4096;

/// The text format of `nvme_setup_cmd` with blocks of 4 KiB.
pub(crate) struct NvmeLba4k;

impl TraceFormat for NvmeLba4k {
    const COLUMNS: &'static str = "task-pid [cpu] flags time: nvme_setup_cmd: controller disk qid \
                                   cmdid nsid flags meta cmd slba len ctrl";
    const ABOUT: &'static str = "\
        text of ftrace, trace-cmd or perf script: only nvme_setup_cmd events (commands to the drive) \
        are read, time in decimal seconds (counted from the first request on), blocks of 4 KiB, \
        len + 1 of them, the command Read or Write, write_zeroes a trim, the disk is the device";
    const TABLE: Table = Table {
        time: "s, decimal, since the machine began",
        range: "blocks of 4 KiB",
        read: "`nvme_cmd_read`",
    };
    const EXAMPLE: &'static [u8] = b"\
        \x20 fio-4423  [003] .....  104.831153: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=25169, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_read slba=153723, len=0, ctrl=0x0, dsmgmt=0, reftag=0)\n\
        \x20 fio-4423  [003] .....  104.831310: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=25170, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_write slba=8, len=0, ctrl=0x4000, dsmgmt=0, reftag=0)\n\
        \x20 <idle>-0  [003] d.h..  104.831410: nvme_complete_rq: nvme0: disk=nvme0n1, qid=4, cmdid=25170, res=0x0, retries=0, flags=0x0, status=0x0\n\
        \x20 jbd2-321  [001] .....  104.832001: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=2, cmdid=12290, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_flush cdw10=00 00 00 00)\n";
    const TIME_COLUMN: &'static str = "time:";
    const FROM_A_DATE: bool = true;
    const NAMES_DEVICES: bool = true;
    const SIGNS: Signs = Signs { layer: Some(2), ..Signs::NONE };
    const LEFT_OUT: &'static [NamedKind] = EVENTS;
    const SHOWN_BY_EVENTS: bool = true;
    const NOTE: Option<&'static str> =
        Some("blocks are read as 4 KiB; --format nvme-lba512 reads them as 512 B");

    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        command(columns, BLOCK)
    }

    fn without_requests(left_out: &[LeftOut]) -> Option<Diagnostic> {
        without(NVME_SETUP, left_out)
    }

    fn is_ruled_out(lines: &[&[u8]]) -> bool {
        is_ruled_out(BLOCK, lines)
    }
}
