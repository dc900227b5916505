//! Lines shared by the formats that read tracepoints of the kernel from text: from ftrace's `trace`
//! and `trace_pipe`, from `trace-cmd report` and from `perf script`.
//!
//! Source: `print_trace_line` and the header of ftrace's `trace` file, perf-script(1), and the
//! `TP_printk` of the events in `include/trace/events/block.h` and `drivers/nvme/host/trace.h` of
//! the kernel. A line is `task-pid [cpu] flags time: event: what it prints`; perf puts a blank
//! between task and pid, no flags, and the event's group in front of its name. The name of a task
//! may have blanks, and the processor may be missing: the time is the first word that is a decimal
//! number and a colon. It is in seconds since the machine began.
//!
//! A request causes many events. Each format reads one of them and counts the others.

use super::blkparse::device;
use super::rwbs::{self, Rwbs};
use crate::Cause;
use crate::columns::Columns;
use crate::extra::Extra;
use crate::fields::Fault;
use crate::left_out_events::{Kind, LeftOut, NEITHER, NamedKind, ZONE};
use crate::number::{NumberError, decimal_ns};
use crate::record::{Measure, Record, SECTOR, record, record_or_piece, unknown_op};
use fowler_units::{Diagnostic, HostOp, Nanos};

/// Kinds of events that a kernel log may contain and that are not requests: tracepoints by name,
/// then others.
pub(super) const EVENTS: &[NamedKind] = &[
    ("block_bio_queue", "arrived; --format block-bio-queue reads these"),
    ("block_rq_issue", "issued to the drive; --format block-rq-issue reads these"),
    ("nvme_setup_cmd", "commands to the drive; --format nvme-lba512 or nvme-lba4k reads these"),
    ("nvme_complete_rq", "completed by the drive"),
    ("nvme_sq", "heads of a submission queue"),
    ("block_rq_complete", "completed"),
    ("block_bio_complete", "completed"),
    ("block_bio_remap", "remapped from another device"),
    ("block_rq_remap", "remapped from another device"),
    ("block_getrq", "requests allocated"),
    ("block_io_start", "began to be measured"),
    ("block_io_done", "ended to be measured"),
    ("block_rq_insert", "inserted into the queue"),
    ("block_plug", "plugged"),
    ("block_unplug", "unplugged"),
    ("block_bio_backmerge", "merged behind"),
    ("block_bio_frontmerge", "merged in front"),
    ("block_rq_merge", "merged"),
    ("block_split", "split"),
    ("block_rq_requeue", "requeued"),
    ("other", "other events"),
    ("lost", "places where the tracer lost events"),
    NEITHER,
    ZONE,
    ("dsm", "dataset management (deallocate): its ranges are not in the trace"),
    ("admin", "administrative commands"),
    ("command", "commands that neither read, write nor flush"),
    ("stack", "stack frames after events of perf"),
];

/// Numbers of the tracepoints of the kernel that some trace format reads as requests: their
/// positions, counted from 1, in [`EVENTS`], the list of events that other formats skip.
pub(super) const BIO_QUEUE: Kind = 1;
pub(super) const RQ_ISSUE: Kind = 2;
pub(super) const NVME_SETUP: Kind = 3;

/// Numbers, from 1, in [`EVENTS`] (the list of kernel events) of the kinds that are always skipped:
/// unknown tracepoints, lost events, operations that are no requests, and commands for zones.
const OTHER: Kind = 21;
const LOST: Kind = 22;
const NEITHER_KIND: Kind = 23;
const ZONE_KIND: Kind = 24;
pub(super) const DSM: Kind = 25;
pub(super) const ADMIN: Kind = 26;
pub(super) const COMMAND: Kind = 27;
const STACK: Kind = 28;

/// Largest number of words before the time in a line of a kernel log (ftrace): the task name, of up
/// to 15 characters, and a few more.
const WORDS_BEFORE_TIME: usize = 16;

/// Largest number of words in a passthrough command.
const COMMAND_WORDS: usize = 64;

/// Returns the time of a line if its event is `wanted`; the cursor then stands after the event's
/// name.
#[inline(always)]
pub(super) fn event<'a, C: Columns<'a>>(columns: &mut C, wanted: Kind) -> Result<Nanos, C::Fault> {
    let first = columns.next("task")?;
    let (mut word, mut has_cpu, mut words) = (first, false, 0);
    while !is_time(word) {
        words += 1;
        if words == WORDS_BEFORE_TIME {
            return Err(no_event::<C>(first, word));
        }
        has_cpu |= is_cpu(word);
        word = match columns.peek()? {
            Some(_) => columns.next("time")?,
            None => return Err(no_event::<C>(first, word)),
        };
    }
    let time = &word[..word.len() - 1];
    let at = decimal_ns(time, 9).map_err(|error| match error {
        NumberError::Negative => C::fault(Fault::new(Cause::NegativeTime, "time:", time)),
        other => C::fault(Fault::number(other, "time:", time)),
    })?;
    let mut name = columns.next("event")?;
    if name.iter().all(u8::is_ascii_digit) {
        // The word is the period of a perf sample; the next is the event.
        name = columns.next("event")?;
    }
    match kind(name) {
        Some(kind) if kind == wanted => Ok(Nanos(at)),
        // A word ending in a colon after a number names an event; a number alone would be a time.
        Some(kind) if kind != OTHER || has_cpu => {
            Err(C::fault(Fault::left_out(kind, "event", name)))
        }
        _ => {
            let expected =
                "the name of an event of the kernel and a colon, such as block_rq_issue:";
            Err(unknown_op::<C>("event", name, expected))
        }
    }
}

/// True if a word of a log line is a time: a decimal number and a colon.
#[inline]
fn is_time(word: &[u8]) -> bool {
    let [b'0'..=b'9', number @ .., b':'] = word else { return false };
    let mut points = 0;
    for &byte in number {
        if !byte.is_ascii_digit() {
            if byte != b'.' {
                return false;
            }
            points += 1;
        }
    }
    points == 1
}

/// True if a word of a log line is a processor, such as `[003]`.
#[inline]
fn is_cpu(word: &[u8]) -> bool {
    matches!(word, [b'[', number @ .., b']'] if number.iter().all(u8::is_ascii_digit))
}

/// Returns the fault of a line without a time: a bad line, or a known message of the tracer.
#[cold]
fn no_event<'a, C: Columns<'a>>(first: &'a [u8], last: &'a [u8]) -> C::Fault {
    // trace-cmd's output begins with these words.
    if first.starts_with(b"cpus=") || first == b"version" {
        return C::fault(Fault::left_out(0, "task", first));
    }
    // Lines such as `CPU:3 [LOST 12 EVENTS]`.
    if first.starts_with(b"CPU:") && (last == b"EVENTS]" || last == b"DROPPED]") {
        return C::fault(Fault::left_out(LOST, "task", first));
    }
    // A stack frame: `ffffffff81234567 blk_mq_start_request+0x5 ([kernel.kallsyms])`.
    let is_address = first.len() >= 4 && first.iter().all(u8::is_ascii_hexdigit);
    if is_address && last.starts_with(b"(") && last.ends_with(b")") {
        return C::fault(Fault::left_out(STACK, "task", first));
    }
    let expected = "task-pid [cpu] flags time: event: and what the event prints; the time in seconds \
                    with a fraction";
    C::fault(Fault { expected, ..Fault::new(Cause::TooFewColumns, "time:", b"") })
}

/// Returns the identifying number of a kernel event's kind; `None` if `word` is no event name.
/// `word` is the event's name, with its group and a colon before it or not, and a colon.
#[inline]
fn kind(word: &[u8]) -> Option<Kind> {
    let name = word.strip_suffix(b":")?;
    let name = memchr::memchr(b':', name).map_or(name, |group| &name[group + 1..]);
    if name == b"nvme_setup_nvm_cmd" {
        // The name of `nvme_setup_cmd` in older kernels.
        return Some(NVME_SETUP);
    }
    if name.starts_with(b"block_") || name.starts_with(b"nvme_") {
        let known = EVENTS[..usize::from(OTHER) - 1].iter();
        let number = known.clone().position(|(known, _)| known.as_bytes() == name);
        return Some(number.map_or(OTHER, |number| number as Kind + 1));
    }
    let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    (!name.is_empty() && name.iter().all(belongs)).then_some(OTHER)
}

/// Decodes what a tracepoint of the block layer prints: `device rwbs [bytes (command)] sector +
/// sectors`. `at` is the time of the request.
#[inline(always)]
pub(super) fn block<'a, C: Columns<'a>>(
    columns: &mut C,
    at: Nanos,
    prints_bytes: bool,
) -> Result<Record, C::Fault> {
    let (major, minor, field) = columns.pair("device")?;
    let device = device(major, minor)
        .ok_or_else(|| C::fault(Fault::new(Cause::TooLarge, "device", field)))?;
    let letters = columns.next("rwbs")?;
    let left_out = |kind| C::fault(Fault::left_out(kind, "rwbs", letters));
    let (op, extra) = match rwbs::parse(letters) {
        Some(Rwbs::Request { op, preflush, forced, zeroes }) => {
            (op, Extra { preflush, forced, zeroes, more: 0 })
        }
        Some(Rwbs::None) => return Err(left_out(NEITHER_KIND)),
        Some(Rwbs::Zone) => return Err(left_out(ZONE_KIND)),
        None => return Err(unknown_op::<C>("rwbs", letters, rwbs::EXPECTED)),
    };
    let nothing = |column| Measure { count: 0, unit: SECTOR, column };
    let flush = || record::<C>(at.0, device, nothing("sector"), nothing("sectors"), HostOp::Flush);
    if op == HostOp::Flush {
        return flush();
    }
    if prints_bytes {
        columns.unsigned("bytes")?;
        skip_command(columns)?;
    }
    let start = Measure { count: columns.unsigned("sector")?, unit: SECTOR, column: "sector" };
    let plus = columns.next("+")?;
    if plus != b"+" {
        return Err(C::fault(Fault::new(Cause::NotANumber, "+", plus)));
    }
    let length = Measure { count: columns.unsigned("sectors")?, unit: SECTOR, column: "sectors" };
    if extra.preflush && length.count == 0 {
        return flush();
    }
    if extra != Extra::NONE {
        columns.extra(extra)?;
    }
    record_or_piece(columns, at.0, device, start, length, op)
}

/// Skips the SCSI or passthrough command of a request in a block-layer event line; it is in
/// parentheses and mostly empty, `()`.
#[inline(always)]
fn skip_command<'a, C: Columns<'a>>(columns: &mut C) -> Result<(), C::Fault> {
    let mut word = columns.next("command")?;
    if !word.starts_with(b"(") {
        let expected = "a command in parentheses, mostly ()";
        return Err(unknown_op::<C>("command", word, expected));
    }
    for _ in 0..COMMAND_WORDS {
        if word.ends_with(b")") {
            return Ok(());
        }
        word = columns.next("command")?;
    }
    Err(C::fault(Fault::new(Cause::TooManyColumns, "command", word)))
}

/// Returns the error for a log without the events that a format reads.
pub(super) fn without(wanted: Kind, left_out: &[LeftOut]) -> Option<Diagnostic> {
    if left_out.is_empty() {
        return None;
    }
    let (name, about) = EVENTS[usize::from(wanted) - 1];
    let found: Vec<_> = left_out.iter().map(|it| format!("{} {}", it.count, it.name)).collect();
    let what =
        format!("a log of the kernel without requests in {name}, but with {}", found.join(", "));
    let about = about.split(';').next().unwrap_or_default();
    let readable = &EVENTS[..usize::from(NVME_SETUP)];
    let other = left_out.iter().find(|it| readable.iter().any(|(name, _)| *name == it.name));
    let hint = match other {
        Some(it) => format!("{} {}: {}", it.count, it.name, it.about),
        None => {
            "record block:block_bio_queue, block:block_rq_issue or nvme:nvme_setup_cmd: no other \
                 event has the operation, the address and the size of a request at its beginning"
                .to_string()
        }
    };
    Some(Diagnostic::of(what).expected(format!("{name} events: {about}")).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Blanks;

    fn found(line: &str) -> Result<Nanos, (Cause, Kind)> {
        event(&mut Blanks::of(line.as_bytes()), RQ_ISSUE).map_err(|it| (it.cause, it.kind))
    }

    #[test]
    fn the_time_and_the_event_are_found_in_every_layout() {
        let at = Ok(Nanos(104_831_153_000));
        for line in [
            "fio-4423    [003] .....   104.831153: block_rq_issue: 259,0",
            "fio-4423  (   4423) [003] d.h1.   104.831153: block_rq_issue: 259,0",
            "Web Content-4423  [003]   104.831153: block_rq_issue: 259,0",
            "<idle>-0     [000] ..s.    104.831153: block_rq_issue: 259,0",
            "fio  4423 [003]   104.831153: block:block_rq_issue: 259,0",
            "fio  4423   104.831153: block:block_rq_issue: 259,0",
            "fio  4423/4425 [003]   104.831153000:          1 block:block_rq_issue: 259,0",
            "fio  4423 [003]   104.831153: block_rq_issue:       259,0",
        ] {
            assert_eq!(found(line), at, "{line}");
        }
    }

    #[test]
    fn other_lines_are_told_from_rubbish() {
        let left_out = |kind| Err((Cause::OtherEvent, kind));
        for (line, expected) in [
            ("fio-1 [003] ..... 1.5: block_rq_complete: 259,0 WS () 8 + 8 [0]", left_out(6)),
            ("fio-1 [003] ..... 1.5: nvme_setup_cmd: nvme0:", left_out(NVME_SETUP)),
            ("fio-1 [003] ..... 1.5: nvme_setup_nvm_cmd: qid=1", left_out(NVME_SETUP)),
            ("fio-1 [003] ..... 1.5: block_touch_buffer: 259,0", left_out(OTHER)),
            ("fio-1 [003] ..... 1.5: sched_switch: prev_comm=x", left_out(OTHER)),
            ("fio 1 1.5: nvme:nvme_sq: nvme0: disk=nvme0n1", left_out(5)),
            ("cpus=8", left_out(0)),
            ("CPU:3 [LOST 12 EVENTS]", left_out(LOST)),
            ("CPU:3 [12 EVENTS DROPPED]", left_out(LOST)),
            ("ffffffff81a3 blk_mq_start_request+0x5 ([kernel.kallsyms])", left_out(STACK)),
            ("version = 7", left_out(0)),
            ("ffffffff81a3 12", Err((Cause::TooFewColumns, 0))),
            ("fio 1 1.5: word: 259,0", Err((Cause::UnknownOp, 0))),
            ("fio-1 [003] ..... 1.5: vfs_read <-ksys_read", Err((Cause::UnknownOp, 0))),
            ("fio-1 [003] ..... 12345: block_rq_issue: 259,0", Err((Cause::TooFewColumns, 0))),
            ("fio-1 [003] ..... 1.5.2: block_rq_issue: 259,0", Err((Cause::TooFewColumns, 0))),
            ("1.5:", Err((Cause::TooFewColumns, 0))),
            ("0,20941264,8192,W,0.551706", Err((Cause::TooFewColumns, 0))),
            ("8,0 0 1 0.5 9 Q R 8 + 8 [x]", Err((Cause::TooFewColumns, 0))),
        ] {
            assert_eq!(found(line), expected, "{line}");
        }
        let many = "x ".repeat(40) + "1.5: block_rq_issue: 259,0";
        assert_eq!(found(&many), Err((Cause::TooFewColumns, 0)));
    }

    #[test]
    fn each_kind_has_its_number() {
        for (number, name) in [
            (BIO_QUEUE, "block_bio_queue"),
            (RQ_ISSUE, "block_rq_issue"),
            (NVME_SETUP, "nvme_setup_cmd"),
            (OTHER, "other"),
            (LOST, "lost"),
            (NEITHER_KIND, "N"),
            (ZONE_KIND, "Z"),
            (DSM, "dsm"),
            (ADMIN, "admin"),
            (COMMAND, "command"),
            (STACK, "stack"),
        ] {
            assert_eq!(EVENTS[usize::from(number) - 1].0, name);
        }
    }
}
