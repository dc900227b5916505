//! The tracepoint `block_bio_queue` in text of ftrace, trace-cmd or perf: a request as it arrives
//! at the block layer, before it is merged, split and scheduled.
//!
//! Source: `TP_printk` of `block_bio_queue` in the kernel's `include/trace/events/block.h`:
//! `device rwbs sector + sectors [process]`. Sectors are 512 B on every device.

use super::kernel_log::{BIO_QUEUE, EVENTS, block, event, without};
use super::{Signs, Table, TraceFormat};
use crate::columns::Columns;
use crate::left_out_events::{LeftOut, NamedKind};
use crate::record::Record;
use fowler_units::Diagnostic;

/// The text format of the tracepoint `block_bio_queue`.
pub(crate) struct BlockBioQueue;

impl TraceFormat for BlockBioQueue {
    const COLUMNS: &'static str =
        "task-pid [cpu] flags time: block_bio_queue: device rwbs sector + sectors [process]";
    const ABOUT: &'static str = "\
        text of ftrace, trace-cmd or perf script: only block_bio_queue events (arrivals) are read, \
        time in decimal seconds (counted from the first request on), sectors of 512 B, R or W in \
        rwbs, D a trim, F without a range a flush";
    const TABLE: Table = Table {
        time: "s, decimal, since the machine began",
        range: "sectors of 512 B",
        read: "`R` in rwbs",
    };
    const EXAMPLE: &'static [u8] = b"\
        \x20 fio-4423  [003] .....  104.831151: block_bio_queue: 259,0 R 9838272 + 8 [fio]\n\
        \x20 fio-4423  [003] .....  104.831153: block_rq_issue: 259,0 R 4096 () 9838272 + 8 [fio]\n\
        \x20 jbd2-321  [001] .....  104.832001: block_bio_queue: 259,0 FWFS 48379216 + 8 [jbd2]\n\
        \x20 fio-4423  [003] d.h..  104.833173: block_rq_complete: 259,0 R () 9838272 + 8 [0]\n\
        \x20 fstrim  4431 [003]  104.834310: block:block_bio_queue: 259,0 DS 8 + 2048 [fstrim]\n";
    const TIME_COLUMN: &'static str = "time:";
    const FROM_A_DATE: bool = true;
    const SIGNS: Signs = Signs { layer: Some(0), ..Signs::NONE };
    const LEFT_OUT: &'static [NamedKind] = EVENTS;
    const SHOWN_BY_EVENTS: bool = true;

    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let at = event(columns, BIO_QUEUE)?;
        block(columns, at, false)
    }

    fn without_requests(left_out: &[LeftOut]) -> Option<Diagnostic> {
        without(BIO_QUEUE, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use crate::{Cause, Format, Record};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn letters_and_sectors_are_those_of_the_block_layer() {
        let at = Nanos(1_500_000_000);
        for (prints, io) in [
            ("259,2 R 8 + 8 [fio]", HostIo::read(at, 4096, 4096)),
            ("259,2 WSM 8 + 17 [a b]", HostIo::write(at, 4096, 8704)),
            ("259,2 D 8 + 8 [fstrim]", HostIo::trim(at, 4096, 4096)),
            ("259,2 FWS 0 + 0 [jbd2]", HostIo::flush(at)),
            ("259,2 FWFS 8 + 8 [jbd2]", HostIo::write(at, 4096, 4096)),
            ("259,2 D 0 + 8388608 [x]", HostIo::trim(at, 0, 1 << 31)),
        ] {
            let line = format!("x-1 [000] ..... 1.5: block_bio_queue: {prints}");
            let expected = Record { device: 259 << 20 | 2, io };
            assert_eq!(decode_line(Format::BlockBioQueue, line.as_bytes()), Ok(expected), "{line}");
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "x-1 [000] ..... 1.5: block_bio_queue: 259,2 N 0 + 0 [x]",
            "x-1 [000] ..... 1.5: block_bio_queue: 259,2 ZA 0 + 8 [x]",
            "x-1 [000] ..... 1.5: block_bio_queue: 259,2 Y 8 + 8 [x]",
            "x-1 [000] ..... 1.5: block_bio_queue: 259,2 R 8 - 8 [x]",
            "x-1 [000] ..... 1.5: block_bio_queue: 259,2 R 8 + 0 [x]",
            "x-1 [000] ..... 1.5: block_bio_queue: 259,2 R 8",
            "x-1 [000] ..... 1.5: block_bio_queue: 259 R 8 + 8 [x]",
            "x-1 [000] ..... 1.5: block_bio_queue: 259,1048576 R 8 + 8 [x]",
            "x-1 [000] ..... 1.5: block_bio_queue: 259,2 R 8 + 8388608 [x]",
        ];
        let expected = [
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::UnknownOp,
            Cause::NotANumber,
            Cause::ZeroLength,
            Cause::TooFewColumns,
            Cause::TooFewColumns,
            Cause::TooLarge,
            Cause::TooLarge,
        ];
        assert_eq!(causes(Format::BlockBioQueue, &lines), expected);
    }
}
