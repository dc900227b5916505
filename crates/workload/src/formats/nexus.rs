//! BIOtracer's log of a Nexus 5 phone: `sector sectors bytes type generated processed submitted
//! completed`, times in decimal seconds.
//!
//! Source: the README of the traces of Zhou et al., "I/O Characteristics of Smartphone Applications
//! and Their Implications for eMMC Design" (IISWC 2015). Bit 0 of the type is set for a write, bit
//! 2 if the request did not wait. A request arrives when it is generated.
//!
//! The phone's clock is set while it boots, from seconds since the start to seconds since 1970 and
//! then to the network's time. So times jump by years, and a request in flight has times of two
//! clocks: if it was generated on another clock than it was processed on, the time of processing is
//! taken. A jump of more than a day between two lines is a change of the clock and takes no time.

use super::{Table, TraceFormat};
use crate::Cause;
use crate::columns::Columns;
use crate::context::Context;
use crate::fields::Fault;
use crate::record::{BEFORE_TRACE, Measure, Record, SECTOR, record};
use fowler_units::HostOp;

/// One day, in nanoseconds: a longer step between two times of the log means that the phone's clock
/// was set.
const DAY: u64 = 86_400_000_000_000;

/// Operations of BIOtracer's log by their type code.
const TYPES: &[(&[u8], HostOp)] =
    &[(b"0", HostOp::Read), (b"1", HostOp::Write), (b"4", HostOp::Read), (b"5", HostOp::Write)];

/// The format of BIOtracer's Nexus 5 traces.
pub(crate) struct Nexus;

impl TraceFormat for Nexus {
    const COLUMNS: &'static str =
        "sector sectors bytes type generated processed submitted completed";
    const ABOUT: &'static str = "\
        BIOtracer's log of a Nexus 5: sectors of 512 B, bit 0 of the type set for a write and not \
        set for a read, time in decimal seconds when the request was generated, on a clock that is \
        set while the phone boots (counted from the first request on)";
    const TABLE: Table = Table {
        time: "s, decimal; the clock jumps",
        range: "sectors of 512 B, bytes",
        read: "bit 0 of the type is not set",
    };
    const EXAMPLE: &'static [u8] = b"\
        0\t\t8\t\t4096\t\t4\t\t1.740780627\t\t1.740812815\t\t1.740851877\t\t1.741075471\n\
        8\t\t8\t\t4096\t\t5\t\t1.741165940\t\t1.741177190\t\t1.741193648\t\t1.741418961\n\
        64\t\t16\t\t8192\t\t0\t\t10363866.5\t\t10363866.6\t\t10363866.7\t\t10363866.8\n";
    const TIME_COLUMN: &'static str = "generated";
    const FROM_A_DATE: bool = true;
    const STATEFUL: bool = true;

    fn decode_after<'a, C: Columns<'a>>(
        columns: &mut C,
        context: &mut Context,
    ) -> Result<Record, C::Fault> {
        let start = Measure { count: columns.unsigned("sector")?, unit: SECTOR, column: "sector" };
        let sectors = columns.unsigned("sectors")?;
        let length = Measure { count: columns.unsigned("bytes")?, unit: 1, column: "bytes" };
        let op = columns.word("type", TYPES, "0 or 4 (read), 1 or 5 (write)")?;
        let generated = columns.time("generated", 9)?;
        let processed = columns.time("processed", 9)?;
        columns.time("submitted", 9)?;
        columns.time("completed", 9)?;
        columns.finish()?;
        if sectors.checked_mul(SECTOR) != Some(length.count) {
            let expected = "bytes = 512 * sectors";
            let fault = Fault::new(Cause::Contradiction, "bytes", b"");
            return Err(C::fault(Fault { expected, ..fault }));
        }
        let on_one_clock = processed.checked_sub(generated).is_some_and(|wait| wait <= DAY);
        let printed = if on_one_clock { generated } else { processed };
        let checked = record::<C>(0, 0, start, length, op)?;
        let at = on_steady_clock(printed, context)
            .ok_or_else(|| C::fault(Fault::new(Cause::NegativeTime, "generated", b"")))?;
        Ok(Record { io: checked.io.with_at(fowler_units::Nanos(at)), ..checked })
    }

    fn notes(context: &Context) -> Option<String> {
        let times = context.noted;
        (times > 0).then(|| {
            format!("the phone's clock was set {times} times, and each time the gap between two requests counts as zero")
        })
    }
}

/// Returns a printed time on a clock that is never set, in nanoseconds; `None` if it precedes the
/// trace.
fn on_steady_clock(printed: u64, context: &mut Context) -> Option<u64> {
    let Some(last) = context.last else {
        context.last = Some(printed);
        context.clock = BEFORE_TRACE;
        return Some(context.clock);
    };
    let was_set = printed.abs_diff(last) > DAY;
    let at = match printed.checked_sub(last) {
        _ if was_set => Some(context.clock),
        Some(later) => context.clock.checked_add(later),
        None => context.clock.checked_sub(last - printed),
    }?;
    (context.last, context.clock) = (Some(printed), at);
    context.noted += u64::from(was_set);
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{causes, decode_stateful};
    use super::*;
    use crate::Format;

    /// Returns the times of the lines in microseconds after the first, and how often the clock was
    /// set.
    fn times(lines: &[[&str; 4]]) -> (Vec<i64>, u64) {
        let mut context = Context::default();
        let at = |times: &[&str; 4]| {
            let line = format!("8 8 4096 4 {}", times.join(" "));
            let record = decode_stateful::<Nexus>(line.as_bytes(), &mut context);
            let (record, _) = record.unwrap_or_else(|fault| panic!("{fault:?}"));
            (record.io.at.0 as i64 - BEFORE_TRACE as i64) / 1000
        };
        (lines.iter().map(at).collect(), context.noted)
    }

    #[test]
    fn a_clock_that_is_set_takes_no_time() {
        let lines = [
            ["1.000000", "1.1", "1.2", "1.3"],
            ["1.500000", "1.6", "1.7", "1.8"],
            ["1.400000", "1.6", "1.7", "1.8"],
            ["10363866.0", "10363866.1", "10363866.2", "10363866.3"],
            ["10363866.25", "1398396748.0", "1398396748.1", "1398396748.2"],
            ["1398396748.5", "1398396748.6", "1398396748.7", "1398396748.8"],
        ];
        assert_eq!(times(&lines), (vec![0, 500_000, 400_000, 400_000, 400_000, 900_000], 2));
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "8 8 4096 2 1.0 1.1 1.2 1.3",
            "8 8 4096 4 1.0 1.1 1.2",
            "8 8 4096 4 1.0 1.1 1.2 1.3 1.4",
            "8 8 4097 4 1.0 1.1 1.2 1.3",
            "8 0 0 4 1.0 1.1 1.2 1.3",
            "8 8 4096 4 -1.0 1.1 1.2 1.3",
            "8 8 4096 4 1.0 x 1.2 1.3",
            "36028797018963968 8 4096 4 1.0 1.1 1.2 1.3",
        ];
        let expected = [
            Cause::UnknownOp,
            Cause::TooFewColumns,
            Cause::TooManyColumns,
            Cause::Contradiction,
            Cause::ZeroLength,
            Cause::NegativeTime,
            Cause::NotANumber,
            Cause::TooLarge,
        ];
        assert_eq!(causes(Format::Nexus, &lines), expected);
    }

    #[test]
    fn bit_0_is_set_for_a_write() {
        for (code, op) in
            [("0", HostOp::Read), ("4", HostOp::Read), ("1", HostOp::Write), ("5", HostOp::Write)]
        {
            let line = format!("8 16 8192 {code} 1.0 1.1 1.2 1.3");
            let record = super::super::decode_line(Format::Nexus, line.as_bytes()).unwrap();
            assert_eq!((record.io.op, record.io.offset, record.io.size), (op, 4096, 8192));
        }
    }
}
