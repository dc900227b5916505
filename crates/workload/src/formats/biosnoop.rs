//! The output of bcc's biosnoop: `TIME(s) COMM PID DISK T SECTOR BYTES [P] [QUE(ms)] LAT(ms)`, with
//! this header.
//!
//! Source: biosnoop(8), `tools/biosnoop.py` and `libbpf-tools/biosnoop.c` of bcc. TIME is when the
//! request completed, in seconds since the first completion; its arrival is TIME - LAT, and - QUE
//! if option -Q printed that. COMM may contain blanks, so a line is read from its end. Sectors of
//! 512 B. The tool in Python prints R or W in T: it compares with the write operation only, so that
//! a discard is printed as R; a request of 0 bytes is a flush. The tool with libbpf prints the
//! letters of [`rwbs`]. bpftrace's biosnoop.bt prints neither address nor size.

use super::rwbs::{self, Rwbs};
use super::{Table, TraceFormat};
use crate::Cause;
use crate::columns::Columns;
use crate::context::Context;
use crate::extra::Extra;
use crate::fields::Fault;
use crate::left_out_events::{Kind, NEITHER, NamedKind, ZONE};
use crate::number::{NumberError, decimal_ns, unsigned};
use crate::record::{Measure, Record, SECTOR, arrival_before, record, record_or_piece, unknown_op};
use fowler_units::HostOp;

/// Words of the header row; `true` marks those that may be missing.
const HEADER: [(&[u8], bool); 10] = [
    (b"TIME(s)", false),
    (b"COMM", false),
    (b"PID", false),
    (b"DISK", false),
    (b"T", false),
    (b"SECTOR", false),
    (b"BYTES", false),
    (b"P", true),
    (b"QUE(ms)", true),
    (b"LAT(ms)", false),
];

/// Rows with an empty DISK: older versions of biosnoop print no disk for flushes of the kernel and
/// passthrough commands.
const NO_DISK: NamedKind = ("no disk", "flushes and commands whose DISK is empty");
const NO_DISK_KIND: Kind = 3;

/// The output format of bcc's biosnoop.
pub(crate) struct Biosnoop;

impl TraceFormat for Biosnoop {
    const COLUMNS: &'static str = "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)";
    const ABOUT: &'static str = "\
        bcc's biosnoop with its header: time in decimal seconds at completion, from which LAT and \
        QUE in ms are subtracted (counted from the first request on), sectors of 512 B and bytes, \
        T R or W, D a trim, F a flush, the disk is the device";
    const TABLE: Table = Table {
        time: "s, decimal, at completion; less `LAT(ms)` and `QUE(ms)`",
        range: "sectors of 512 B, bytes",
        read: "`R`",
    };
    const EXAMPLE: &'static [u8] = b"TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n\
        0.000004 supervise 1950 xvda1 W 13092560 4096 0.74\n\
        0.000178 Web Content 1950 xvda1 R 13092432 4096 0.61\n\
        0.001469 jbd2/xvda1-8 1956 xvda1 R 0 0 1.24\n";
    const HEADER: Option<&'static str> = Some(Self::COLUMNS);
    const TIME_COLUMN: &'static str = "TIME(s)";
    const FROM_A_DATE: bool = true;
    const STATEFUL: bool = true;
    const NAMES_DEVICES: bool = true;
    const LEFT_OUT: &'static [NamedKind] = &[NEITHER, ZONE, NO_DISK];

    fn decode_after<'a, C: Columns<'a>>(
        columns: &mut C,
        context: &mut Context,
    ) -> Result<Record, C::Fault> {
        let line = columns.bytes()?;
        let fields = || line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let missing = |column| C::fault(Fault::new(Cause::TooFewColumns, column, b""));
        if let Some(joined) = joined(fields().rev()) {
            let fault = Fault::new(Cause::TooFewColumns, "BYTES", joined);
            return Err(C::fault(Fault { expected: JOINED, ..fault }));
        }
        let mut last = fields().rev().peekable();
        let latency = ms::<C>("LAT(ms)", last.next().ok_or_else(|| missing("LAT(ms)"))?)?;
        let queued = last.next_if(|field| field.contains(&b'.'));
        let queued = queued.map_or(Ok(0), |field| ms::<C>("QUE(ms)", field))?;
        // With -P: S(equential), R(andom) or unknown.
        last.next_if(|field| [&b"S"[..], b"R", b"U"].contains(field));
        let mut number = |column| {
            let field = last.next().ok_or_else(|| missing(column))?;
            unsigned(field).map_err(|error| C::fault(Fault::number(error, column, field)))
        };
        let (bytes, sector) = (number("BYTES")?, number("SECTOR")?);
        let letters = last.next().ok_or_else(|| missing("T"))?;
        // Only the libbpf version prints other letters than R and W.
        context.noted += u64::from(letters != b"R" && letters != b"W");
        let (op, extra) = operation::<C>(letters, bytes)?;
        let disk = last.next().ok_or_else(|| missing("DISK"))?;
        let pid = last.next().ok_or_else(|| missing("PID"))?;
        if unsigned(disk).is_ok() && unsigned(pid).is_err() {
            return Err(C::fault(Fault::left_out(NO_DISK_KIND, "DISK", pid)));
        }
        unsigned(pid).map_err(|error| C::fault(Fault::number(error, "PID", pid)))?;
        // At least one word of COMM, then TIME.
        last.next().ok_or_else(|| missing("COMM"))?;
        last.next().ok_or_else(|| missing("TIME(s)"))?;
        let time = fields().next().unwrap_or_default();
        let done =
            decimal_ns(time, 9).map_err(|error| fault_of_time::<C>(error, "TIME(s)", time))?;
        let sector = if op == HostOp::Flush { 0 } else { sector };
        let start = Measure { count: sector, unit: SECTOR, column: "SECTOR" };
        let length = Measure { count: bytes, unit: 1, column: "BYTES" };
        let took = latency.checked_add(queued);
        let took = took.ok_or_else(|| C::fault(Fault::new(Cause::TooLarge, "LAT(ms)", b"")))?;
        let at = arrival_before::<C>(done, took, "LAT(ms)")?;
        columns.host_is(disk);
        if op == HostOp::Flush {
            return record::<C>(at, 0, start, length, op);
        }
        columns.extra(extra)?;
        record_or_piece(columns, at, 0, start, length, op)
    }

    fn notes(context: &Context) -> Option<String> {
        let note = "the biosnoop in Python prints discards as reads, and they cannot be told apart";
        (context.noted == 0).then(|| note.to_string())
    }

    fn is_header(line: &[u8]) -> bool {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let mut words = words.peekable();
        let is_there = |&(name, optional): &(&[u8], bool)| {
            words.next_if(|word| *word == name).is_some() || optional
        };
        HEADER.iter().all(is_there) && words.next().is_none()
    }
}

/// Text for `expected` in the error message for a biosnoop line in which the columns BYTES and
/// LAT(ms) have run together.
const JOINED: &str = "BYTES and LAT(ms) with a blank between them: they have run together, as they \
                      do in broken records";

/// Returns the last field of a biosnoop line in which the columns BYTES and LAT(ms) have run
/// together; `last` yields its fields from the last on. The two fields before are then the sector
/// and the letters of the column T (the operation), instead of the bytes and the sector.
fn joined<'a>(mut last: impl Iterator<Item = &'a [u8]>) -> Option<&'a [u8]> {
    let (joined, sector, letters) = (last.next()?, last.next()?, last.next()?);
    let is_joined = unsigned(sector).is_ok() && rwbs::parse(letters).is_some();
    is_joined.then_some(joined)
}

/// Returns the operation of a biosnoop line, from the letters in its column T (as in blktrace, such
/// as `WS`) and the number of bytes of the request.
fn operation<'a, C: Columns<'a>>(
    letters: &'a [u8],
    bytes: u64,
) -> Result<(HostOp, Extra), C::Fault> {
    let left_out = |kind| C::fault(Fault::left_out(kind, "T", letters));
    match rwbs::parse(letters) {
        Some(Rwbs::Request { op: HostOp::Trim, forced, zeroes, .. }) => {
            Ok((HostOp::Trim, Extra { forced, zeroes, ..Extra::NONE }))
        }
        Some(Rwbs::Request { .. }) if bytes == 0 => Ok((HostOp::Flush, Extra::NONE)),
        Some(Rwbs::Request { op, preflush, forced, zeroes }) => {
            Ok((op, Extra { preflush, forced, zeroes, more: 0 }))
        }
        Some(Rwbs::None) => Err(left_out(1)),
        Some(Rwbs::Zone) => Err(left_out(2)),
        None => Err(unknown_op::<C>("T", letters, "R or W, or the letters of rwbs: WS, RA, D, FF")),
    }
}

/// Parses a field as a time in milliseconds and returns nanoseconds.
fn ms<'a, C: Columns<'a>>(column: &'static str, field: &'a [u8]) -> Result<u64, C::Fault> {
    decimal_ns(field, 6).map_err(|error| fault_of_time::<C>(error, column, field))
}

fn fault_of_time<'a, C: Columns<'a>>(
    error: NumberError,
    column: &'static str,
    field: &'a [u8],
) -> C::Fault {
    C::fault(match error {
        NumberError::Negative => Fault::new(Cause::NegativeTime, column, field),
        other => Fault::number(other, column, field),
    })
}

#[cfg(test)]
mod tests {
    use super::super::decode_among;
    use super::super::tests::{causes, decode_and_host};
    use super::*;
    use crate::Format;
    use crate::record::BEFORE_TRACE;
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn arrivals_are_completions_less_latency_and_time_in_the_queue() {
        let at = |us: i64| Nanos((BEFORE_TRACE as i64 + us * 1000) as u64);
        for (line, io) in [
            ("0.000004 supervise 1950 xvda1 W 8 4096 0.74", HostIo::write(at(-736), 4096, 4096)),
            ("2.0 a b c 1950 xvda1 R 8 512 0.5", HostIo::read(at(1_999_500), 4096, 512)),
            ("2.0 x 0 xvda1 R 8 512 1.00 0.50", HostIo::read(at(1_998_500), 4096, 512)),
            ("2.0 x 0 xvda1 R 8 512 S 1.00 0.50", HostIo::read(at(1_998_500), 4096, 512)),
            ("2.0 x 0 xvda1 W 8 512 R 0.50", HostIo::write(at(1_999_500), 4096, 512)),
            ("2.0 ? 0 xvda1 R 18446744073709551615 0 0.50", HostIo::flush(at(1_999_500))),
            ("2.0 ? 0 xvda1 FF 18446744073709551615 0 0.50", HostIo::flush(at(1_999_500))),
            ("2.0 ? 0 xvda1 FWS 0 0 0.50", HostIo::flush(at(1_999_500))),
            ("2.0 a b 0 xvda1 RA 8 512 0.50", HostIo::read(at(1_999_500), 4096, 512)),
            ("2.0 a b 0 xvda1 WSM 8 512 0.50", HostIo::write(at(1_999_500), 4096, 512)),
            ("2.0 fstrim 0 xvda1 D 8 1048576 0.50", HostIo::trim(at(1_999_500), 4096, 1 << 20)),
        ] {
            let decoded = decode_and_host::<Biosnoop>(line.as_bytes());
            let decoded = decoded.map(|(record, disk)| (record.io, disk));
            assert_eq!(decoded, Ok((io, Some(&b"xvda1"[..]))), "{line}");
        }
    }

    #[test]
    fn discards_are_told_apart_once_letters_show_the_tool() {
        let mut context = Context::default();
        let mut noted = |line: &'static str| {
            decode_among::<Biosnoop>(line.as_bytes(), &mut context).unwrap();
            Biosnoop::notes(&context).is_some()
        };
        assert!(noted("2.0 x 0 xvda1 R 8 512 0.50"));
        assert!(!noted("2.0 x 0 xvda1 WS 8 512 0.50"));
        assert!(!noted("2.0 x 0 xvda1 R 8 512 0.50"));
        let line = b"2.0 x 0 xvda1 FWFS 8 512 0.50";
        let decoded = decode_among::<Biosnoop>(line, &mut Context::default()).unwrap();
        assert_eq!(decoded.extra, Extra { preflush: true, forced: true, ..Extra::NONE });
    }

    #[test]
    fn the_header_may_have_two_more_columns() {
        for header in [
            "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)",
            "TIME(s) COMM PID DISK T SECTOR BYTES QUE(ms) LAT(ms)",
            "TIME(s) COMM PID DISK T SECTOR BYTES P QUE(ms) LAT(ms)",
        ] {
            assert!(Biosnoop::is_header(header.as_bytes()), "{header}");
        }
        for other in ["TIME(ms) DISK COMM PID LAT(ms)", "", "TIME(s) COMM PID DISK T SECTOR BYTES"]
        {
            assert!(!Biosnoop::is_header(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "0.5 supervise 1950 xvda1 T 8 4096 0.74",
            "0.5 supervise 1950 xvda1 N 8 4096 0.74",
            "0.5 supervise 1950 xvda1 ZA 8 4096 0.74",
            "0.5 ? 0 R 0 8 4.04",
            "0.5 Web Content 9126 R 18446744073709551615 0 0.61",
            "0.5 supervise 1950 xvda1 D 8 0 0.74",
            "0.5 supervise 1950 xvda1 w 8 4096 0.74",
            "0.5 supervise xvda1 W 8 4096 0.74",
            "0.5 supervise 1950 xvda1 W 8 13107212.34",
            "0.5 ^A 0 ^A R 38654705664 1718091776138654.71",
            "0.5 1950 xvda1 W 8 4096 0.74",
            "0.5 supervise 1950 xvda1 W eight 4096 0.74",
            "0.5 supervise 1950 xvda1 W 8 4096 late",
            "x supervise 1950 xvda1 W 8 4096 0.74",
            "-0.5 supervise 1950 xvda1 W 8 4096 0.74",
            "0.5 supervise 1950 xvda1 W 8 4096 99999999.5",
            "0.5 supervise 1950 xvda1 W 36028797018963968 4096 0.74",
            "0.74",
        ];
        let expected = [
            Cause::UnknownOp,
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::ZeroLength,
            Cause::UnknownOp,
            Cause::NotANumber,
            Cause::TooFewColumns,
            Cause::TooFewColumns,
            Cause::TooFewColumns,
            Cause::NotANumber,
            Cause::NotANumber,
            Cause::NotANumber,
            Cause::NegativeTime,
            Cause::NegativeTime,
            Cause::TooLarge,
            Cause::TooFewColumns,
        ];
        assert_eq!(causes(Format::Biosnoop, &lines), expected);
    }
}
