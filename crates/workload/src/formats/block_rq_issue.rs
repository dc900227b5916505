//! The tracepoint `block_rq_issue` in text of ftrace, trace-cmd or perf: a request as it is issued
//! to the drive, after merging and scheduling.
//!
//! Source: `TP_printk` of `block_rq_issue` in the kernel's `include/trace/events/block.h`:
//! `device rwbs bytes (command) sector + sectors [priority] [process]`; only newer kernels print
//! the priority. Sectors are 512 B on every device.

use super::kernel_log::{EVENTS, RQ_ISSUE, block, event, without};
use super::{Signs, Table, TraceFormat};
use crate::columns::Columns;
use crate::left_out_events::{LeftOut, NamedKind};
use crate::record::Record;
use fowler_units::Diagnostic;

/// The text format of the tracepoint `block_rq_issue`.
pub(crate) struct BlockRqIssue;

impl TraceFormat for BlockRqIssue {
    const COLUMNS: &'static str = "task-pid [cpu] flags time: block_rq_issue: device rwbs bytes () \
                                   sector + sectors [process]";
    const ABOUT: &'static str = "\
        text of ftrace, trace-cmd or perf script: only block_rq_issue events (requests issued to \
        the drive, merged and scheduled) are read, time in decimal seconds (counted from the first \
        request on), sectors of 512 B, R or W in rwbs, D a trim, F alone a flush";
    const TABLE: Table = Table {
        time: "s, decimal, since the machine began",
        range: "sectors of 512 B",
        read: "`R` in rwbs",
    };
    const EXAMPLE: &'static [u8] = b"\
        \x20 fio  4423 [003]   104.831153: block:block_rq_issue: 259,0 R 4096 () 9838272 + 8 [fio]\n\
        \x20 fio  4423 [003]   104.831310: block:block_rq_issue: 259,0 WFS 8192 () 8 + 16 [fio]\n\
        \x20 fio  4423 [003]   104.831410: block:block_rq_complete: 259,0 WFS () 8 + 16 [0]\n\
        \x20 jbd2/nvme0n1  321 [001]   104.832001: block:block_rq_issue: 259,0 FF 0 () 0 + 0 [jbd2]\n";
    const TIME_COLUMN: &'static str = "time:";
    const FROM_A_DATE: bool = true;
    const SIGNS: Signs = Signs { layer: Some(1), ..Signs::NONE };
    const LEFT_OUT: &'static [NamedKind] = EVENTS;
    const SHOWN_BY_EVENTS: bool = true;
    const NOTE: Option<&'static str> = Some(
        "requests are those issued to the drive (block_rq_issue): merged, scheduled, and requeued ones \
         again",
    );

    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let at = event(columns, RQ_ISSUE)?;
        block(columns, at, true)
    }

    fn without_requests(left_out: &[LeftOut]) -> Option<Diagnostic> {
        without(RQ_ISSUE, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use crate::{Cause, Format, Record};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn the_command_and_the_priority_do_not_matter() {
        let at = Nanos(1_500_000_000);
        for (prints, io) in [
            ("259,2 R 4096 () 8 + 8 [fio]", HostIo::read(at, 4096, 4096)),
            ("259,2 WS 4096 () 8 + 8 none,0,0 [fio]", HostIo::write(at, 4096, 4096)),
            ("259,2 W 512 (2a 00 00 00) 8 + 1 [x]", HostIo::write(at, 4096, 512)),
            ("259,2 FF 0 () 0 + 0 [jbd2]", HostIo::flush(at)),
            ("259,2 FF 0 () 18446744073709551615 + 0 [jbd2]", HostIo::flush(at)),
            ("259,2 WZ 4096 () 8 + 8 [x]", HostIo::trim(at, 4096, 4096)),
        ] {
            let line = format!("x-1 [000] ..... 1.5: block_rq_issue: {prints}");
            let expected = Record { device: 259 << 20 | 2, io };
            assert_eq!(decode_line(Format::BlockRqIssue, line.as_bytes()), Ok(expected), "{line}");
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let endless = format!("x-1 [0] . 1.5: block_rq_issue: 259,2 R 8 (1{}", " 1".repeat(99));
        let lines = [
            "x-1 [000] ..... 1.5: block_rq_issue: 259,2 N 36 (12 00) 0 + 0 [x]",
            "x-1 [000] ..... 1.5: block_rq_issue: 259,2 R 8 + 8 [x]",
            "x-1 [000] ..... 1.5: block_rq_issue: 259,2 R 4096 () 8 + 8x [x]",
            "x-1 [000] ..... 1.5: block_bio_queue: 259,2 R 8 + 8 [x]",
            &endless,
        ];
        let expected = [
            Cause::OtherEvent,
            Cause::UnknownOp,
            Cause::NotANumber,
            Cause::OtherEvent,
            Cause::TooManyColumns,
        ];
        assert_eq!(causes(Format::BlockRqIssue, &lines), expected);
    }
}
