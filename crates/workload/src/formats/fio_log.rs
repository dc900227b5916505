//! fio's logs of single requests (`write_lat_log`, `write_bw_log`, `write_iops_log`), with
//! `log_offset=1`: `time, value, direction, bs, offset, priority[, issue_ns]`.
//!
//! Source: fio's HOWTO, "Log File Formats", and `flush_samples` of `iolog.c`. Direction 0 is a
//! read, 1 a write, 2 a trim. `time` is in milliseconds and is when the entry was logged, after
//! completion; the arrival is known only with `log_issue_time=1`, in nanoseconds in a seventh
//! column. What `value` is depends on the log and is ignored. A log without `log_offset=1` has no
//! addresses, and one with `log_avg_msec` has no single requests: their size is 0.

use super::{Table, TraceFormat};
use crate::Cause;
use crate::columns::Columns;
use crate::context::Context;
use crate::fields::Fault;
use crate::number::{hexadecimal, unsigned};
use crate::recognition::plausibility::Rules;
use crate::record::{Measure, Record, record};
use fowler_units::HostOp;

/// Operations of fio's logs by their direction code.
const DIRECTIONS: &[(&[u8], HostOp)] =
    &[(b"0", HostOp::Read), (b"1", HostOp::Write), (b"2", HostOp::Trim)];

/// Number of columns in a line of a fio log without the time of issue (`issue_ns`).
const WITHOUT_ISSUE: usize = 6;
const WITH_ISSUE: usize = 7;

/// The format of fio's logs of single requests.
pub(crate) struct FioLog;

impl TraceFormat for FioLog {
    const COLUMNS: &'static str = "time,value,direction,bs,offset,priority[,issue_ns]";
    const ABOUT: &'static str = "\
        fio's log of single requests with log_offset=1: direction 0 is a read, 1 a write, 2 a trim, \
        size and offset in bytes, time in ms when it was logged, or in ns when it was issued if \
        log_issue_time=1 (counted from the first request on)";
    const TABLE: Table = Table {
        time: "`issue_ns`: ns; else `time`: ms, after completion",
        range: "bytes, bytes",
        read: "`0`",
    };
    const EXAMPLE: &'static [u8] = b"0, 171052, 0, 4096, 8192, 0x0000\n\
        1, 91052, 1, 512, 0, 0x0000\n\
        1, 21052, 2, 65536, 131072, 0x0000\n";
    const RULES: Rules = Rules { blank_after_comma: true, ..Rules::NONE };
    const TIME_COLUMN: &'static str = "time";
    const FROM_A_DATE: bool = true;
    const STATEFUL: bool = true;

    fn decode_after<'a, C: Columns<'a>>(
        columns: &mut C,
        context: &mut Context,
    ) -> Result<Record, C::Fault> {
        let logged = columns.whole_time("time", 1_000_000)?;
        let value = columns.next("value")?;
        if unsigned(value.strip_prefix(b"-").unwrap_or(value)).is_err() {
            return Err(C::fault(Fault::new(Cause::NotANumber, "value", value)));
        }
        let op = columns.word("direction", DIRECTIONS, "0 (read), 1 (write) or 2 (trim)")?;
        let length = Measure { count: columns.unsigned("bs")?, unit: 1, column: "bs" };
        if length.count == 0 {
            let expected = "a log of single requests: made without log_avg_msec";
            let fault = Fault::new(Cause::ZeroLength, "bs", b"0");
            return Err(C::fault(Fault { expected, ..fault }));
        }
        let start = Measure { count: columns.unsigned("offset")?, unit: 1, column: "offset" };
        let priority = columns.next("priority").map_err(|_| no_offset::<C>())?;
        if hexadecimal(priority).is_err() {
            return Err(C::fault(Fault::new(Cause::NotANumber, "priority", priority)));
        }
        let (at, width) = match columns.peek()? {
            None => (logged, WITHOUT_ISSUE),
            Some(_) => (columns.whole_time("issue_ns", 1)?, WITH_ISSUE),
        };
        columns.finish()?;
        if *context.width.get_or_insert(width) != width {
            let expected = "issue_ns on every line or on none: else times are of two clocks";
            let fault = Fault::new(Cause::Contradiction, "issue_ns", b"");
            return Err(C::fault(Fault { expected, ..fault }));
        }
        record::<C>(at, 0, start, length, op)
    }

    fn notes(context: &Context) -> Option<String> {
        (context.width == Some(WITHOUT_ISSUE)).then(|| {
            "times are whole milliseconds at which fio logged a request, after its completion; \
             with log_issue_time=1 they are those of its arrival"
                .to_string()
        })
    }
}

/// Returns the fault of a fio log's line with one column too few: either the offset or the priority
/// is missing.
fn no_offset<'a, C: Columns<'a>>() -> C::Fault {
    let expected = "a log made with log_offset=1: time, value, direction, bs, offset, priority";
    C::fault(Fault { expected, ..Fault::new(Cause::TooFewColumns, "offset", b"") })
}

#[cfg(test)]
mod tests {
    use super::super::{
        decode_line,
        tests::{causes, decode_stateful},
    };
    use super::*;
    use crate::Format;
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn the_time_of_issue_is_the_arrival_if_there_is_one() {
        for (line, io) in [
            ("7, 171052, 0, 4096, 8192, 0x0000", HostIo::read(Nanos(7_000_000), 8192, 4096)),
            ("7, -1, 1, 4096, 8192, 0", HostIo::write(Nanos(7_000_000), 8192, 4096)),
            ("7, 171052, 0, 4096, 8192, 0x6001, 6829123", {
                HostIo::read(Nanos(6_829_123), 8192, 4096)
            }),
            ("7,1,2,1,0,0", HostIo::new(HostOp::Trim, Nanos(7_000_000), 0, 1)),
        ] {
            let expected = Record { device: 0, io };
            assert_eq!(decode_line(Format::FioLog, line.as_bytes()), Ok(expected), "{line}");
        }
    }

    #[test]
    fn a_log_has_one_clock() {
        let mut context = Context::default();
        let mut cause = |line: &'static str| {
            decode_stateful::<FioLog>(line.as_bytes(), &mut context).err().map(|it| it.cause)
        };
        assert_eq!(cause("7, 1, 0, 4096, 8192, 0x0, 5"), None);
        assert_eq!(cause("7, 1, 0, 4096, 8192, 0x0"), Some(Cause::Contradiction));
        assert_eq!(cause("7, 1, 0, 4096, 8192, 0x0, 6"), None);
        assert_eq!(FioLog::notes(&context), None);
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "7, 1, 0, 4096, 0x0000",
            "7, 1, 0, 4096, 0",
            "1000, 5, 0, 0, 0, 0x0000",
            "7, 1, 3, 4096, 8192, 0x0000",
            "7, x, 0, 4096, 8192, 0x0000",
            "7, 1, 0, 4096, 8192, high",
            "7, 1, 0, 4096, 8192, 0x0000, 5, 6",
            "-7, 1, 0, 4096, 8192, 0x0000",
            "18446744073709551, 1, 0, 4096, 8192, 0x0000",
        ];
        let expected = [
            Cause::NotANumber,
            Cause::TooFewColumns,
            Cause::ZeroLength,
            Cause::UnknownOp,
            Cause::NotANumber,
            Cause::NotANumber,
            Cause::TooManyColumns,
            Cause::NegativeTime,
            Cause::TooLarge,
        ];
        assert_eq!(causes(Format::FioLog, &lines), expected);
    }
}
