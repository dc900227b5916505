//! blkparse text: `%D %2c %8s %5T.%9t %5p %2a %3d` and, for a request, `sector + sectors
//! [process]`.
//!
//! Source: blkparse(1), "default output format", and `blkparse_fmt.c`. A request causes many
//! events; like fio, this reader only reads `Q`, its arrival at the block layer, so that each
//! request counts once; [`BlkparseIssued`](super::blkparse_issued) reads `D`. Sectors are 512 B on
//! every device. The device is `major * 2^20 + minor`, the kernel's `MKDEV`.
//!
//! An arrival with a preflush and no range is a flush; with a range it is a flush and a write. At
//! the end blkparse prints a summary that begins with `CPU` or `Total`.

use super::rwbs::{self, Rwbs};
use super::{Table, TraceFormat};
use crate::columns::Columns;
use crate::extra::Extra;
use crate::fields::Fault;
use crate::left_out_events::{Kind, LeftOut, NEITHER, NamedKind, ZONE};
use crate::record::{Measure, Record, SECTOR, record, record_or_piece, unknown_op};
use crate::{Cause, Format};
use fowler_units::{Diagnostic, HostOp};

/// Kinds of events of blkparse(1) that are skipped, since they are not arrivals.
pub(super) const EVENTS: &[NamedKind] = &[
    ("A", "remapped from another device"),
    ("B", "bounced"),
    ("C", "completed"),
    ("D", "issued to the drive; --format blkparse-issued reads these events"),
    ("F", "merged in front"),
    ("G", "request allocated"),
    ("I", "inserted into the queue"),
    ("M", "merged behind"),
    ("P", "plugged"),
    ("Q", "arrived; --format blkparse reads these events"),
    ("R", "requeued"),
    ("S", "waited for a request"),
    ("T", "unplugged after a time"),
    ("U", "unplugged"),
    ("X", "split"),
    ("m", "message"),
    ("UT", "unplugged after a time"),
    (NEITHER.0, NEITHER.1),
    (ZONE.0, ZONE.1),
];

/// Numbers, from 1, of the last two kinds in [`EVENTS`], the list of skipped events: requests that
/// neither read, write, discard nor flush, and commands for zones.
pub(super) const NEITHER_KIND: Kind = 18;
pub(super) const ZONE_KIND: Kind = 19;

/// Returns the number of the kind of event with this action; `None` if blkparse(1) does not define
/// it.
#[inline]
fn kind(action: &[u8]) -> Option<Kind> {
    Some(match action {
        b"A" => 1,
        b"B" => 2,
        b"C" => 3,
        b"D" => 4,
        b"F" => 5,
        b"G" => 6,
        b"I" => 7,
        b"M" => 8,
        b"P" => 9,
        b"Q" => 10,
        b"R" => 11,
        b"S" => 12,
        b"T" => 13,
        b"U" => 14,
        b"X" => 15,
        b"m" => 16,
        b"UT" => 17,
        _ => return None,
    })
}

/// Bits of a minor device number in the kernel.
const MINOR_BITS: u32 = 20;

/// The text format of blkparse, of which arrivals at the block layer (`Q` events) are read.
pub(crate) struct Blkparse;

impl TraceFormat for Blkparse {
    const COLUMNS: &'static str = "device cpu sequence time pid Q rwbs sector + sectors [process]";
    const ABOUT: &'static str = "\
        blkparse text in its default layout: only Q events (arrivals) are read, time in \
        decimal seconds, sectors of 512 B, R or W in the rwbs column, D a trim, F without a \
        range a flush, F before a range a flush and the request";
    const TABLE: Table =
        Table { time: "s, decimal", range: "sectors of 512 B", read: "`R` in rwbs" };
    const EXAMPLE: &'static [u8] = b"259,2 0 1 0.000000000 4020 Q R 282624 + 8 [java]\n\
        259,2 0 2 0.000001581 4020 G R 282624 + 8 [java]\n\
        259,2 0 3 0.000002000 4020 Q FWS [jbd2]\n\
        259,2 0 4 0.000002000 4020 Q D 8 + 8 [x]\n\
        259,2 0 5 0.000003000 4020 Q FWFSM 16 + 8 [jbd2]\n\
        CPU0 (259,2):\n Reads Queued: 1\n";
    const LEFT_OUT: &'static [NamedKind] = EVENTS;
    const SHOWN_BY_EVENTS: bool = true;

    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        request(columns, b"Q")
    }

    fn without_requests(left_out: &[LeftOut]) -> Option<Diagnostic> {
        let wanted = ("Q", "arrivals, of which each request has one");
        without(wanted, left_out, ("D", Format::BlkparseIssued))
    }

    /// True if a line begins the summary that blkparse prints after the events. Unambiguous,
    /// because every event begins with a device number.
    #[inline]
    fn begins_summary(line: &[u8]) -> bool {
        is_summary(line)
    }
}

/// True if a line begins the summary that blkparse prints after the events.
#[inline]
pub(super) fn is_summary(line: &[u8]) -> bool {
    line.starts_with(b"CPU") || line.starts_with(b"Total")
}

/// Returns the error for blkparse text that has other block-layer events but none of the action
/// `wanted`, such as Q for queued. `other` is a format that reads the action `there` instead, which
/// the hint proposes.
pub(super) fn without(
    (wanted, meaning): NamedKind,
    left_out: &[LeftOut],
    (there, other): (&str, Format),
) -> Option<Diagnostic> {
    let found: Vec<_> = left_out.iter().map(|it| format!("{} {}", it.count, it.name)).collect();
    if found.is_empty() {
        return None;
    }
    let what = format!("blkparse text without {wanted} events, but with {}", found.join(", "));
    let diagnostic = Diagnostic::of(what).expected(format!("{wanted} events: {meaning}"));
    let other_events = left_out.iter().find(|it| it.name == there);
    Some(diagnostic.hint(match other_events {
        Some(it) => {
            let about = it.about.split(';').next().unwrap_or_default();
            format!(
                "to replay the {} {there} events in this text instead ({about}): --format {other}",
                it.count
            )
        }
        None => "record arrivals: blktrace -a queue".to_string(),
    }))
}

/// Decodes a line of blkparse. Events of other actions than `wanted` are counted and skipped.
#[inline(always)]
pub(super) fn request<'a, C: Columns<'a>>(
    columns: &mut C,
    wanted: &[u8; 1],
) -> Result<Record, C::Fault> {
    let (major, minor, field) = columns.pair("device")?;
    let device = device(major, minor)
        .ok_or_else(|| C::fault(Fault::new(Cause::TooLarge, "device", field)))?;
    columns.unsigned("cpu")?;
    columns.unsigned("sequence")?;
    let at = columns.time("time", 9)?;
    columns.unsigned("pid")?;
    let action = columns.next("action")?;
    if action != wanted {
        return Err(match kind(action) {
            Some(kind) => C::fault(Fault::left_out(kind, "action", action)),
            None => {
                unknown_op::<C>("action", action, "an action of blkparse(1), such as Q, D or C")
            }
        });
    }
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
    let has_range = |columns: &C| {
        let first = columns.peek()?;
        Ok(first.is_some_and(|first| !first.starts_with(b"[")))
    };
    let flush = || record::<C>(at, device, nothing("sector"), nothing("sectors"), HostOp::Flush);
    if op == HostOp::Flush || (extra.preflush && !has_range(columns)?) {
        return flush();
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
    record_or_piece(columns, at, device, start, length, op)
}

/// Combines `major,minor` into one number; `None` if either is too large.
#[inline]
pub(super) fn device(major: u64, minor: u64) -> Option<u64> {
    let major = u64::from(u32::try_from(major).ok()?);
    (minor < 1 << MINOR_BITS).then_some(major << MINOR_BITS | minor)
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, decode_lone, tests::causes};
    use super::*;
    use fowler_units::Nanos;

    const DEVICE: u64 = 259 << 20 | 2;

    fn decoded(rest: &str) -> Result<(HostOp, u64, u32), Cause> {
        let line = format!("259,2    0        1     1.000000007  4020  Q {rest}");
        let record = decode_line(Format::Blkparse, line.as_bytes()).map_err(|fault| fault.cause)?;
        assert_eq!((record.io.at, record.device), (Nanos(1_000_000_007), DEVICE));
        Ok((record.io.op, record.io.offset, record.io.size))
    }

    #[test]
    fn arrivals_are_read_by_their_letters() {
        assert_eq!(decoded("  R 282624 + 8 [java]"), Ok((HostOp::Read, 144_703_488, 4096)));
        assert_eq!(decoded("RSM 8 + 1 [a b]"), Ok((HostOp::Read, 4096, 512)));
        assert_eq!(decoded("WFS 8 + 8 [java]"), Ok((HostOp::Write, 4096, 4096)));
        assert_eq!(decoded("FWS 8 + 8 [jbd2]"), Ok((HostOp::Write, 4096, 4096)));
        assert_eq!(decoded("FWS [jbd2/sda1-8]"), Ok((HostOp::Flush, 0, 0)));
        assert_eq!(decoded("FWS 0 + 0 [jbd2/sda1-8]"), Ok((HostOp::Flush, 0, 0)));
        assert_eq!(decoded("FN [kworker/1:1H]"), Ok((HostOp::Flush, 0, 0)));
        assert_eq!(decoded(" DS 8 + 2048 [fstrim]"), Ok((HostOp::Trim, 4096, 1 << 20)));
        assert_eq!(decoded("  N 0 + 0 [sg]"), Err(Cause::OtherEvent));
    }

    #[test]
    fn a_preflush_and_forced_unit_access_are_noted() {
        for (rest, extra) in [
            ("FWFSM 8 + 8 [x]", Extra { preflush: true, forced: true, ..Extra::NONE }),
            ("WFS 8 + 8 [x]", Extra { forced: true, ..Extra::NONE }),
            ("FWS 8 + 8 [x]", Extra { preflush: true, ..Extra::NONE }),
            ("FWFS [x]", Extra::NONE),
            ("W 8 + 8 [x]", Extra::NONE),
            ("D 4194303 + 8388608 [x]", Extra { more: (1 << 31) + (1 << 31) - 512, ..Extra::NONE }),
        ] {
            let line = format!("259,2 0 1 1.5 4020 Q {rest}");
            let decoded = decode_lone::<Blkparse>(line.as_bytes()).unwrap();
            assert_eq!(decoded.extra, extra, "{rest}");
        }
    }

    #[test]
    fn each_action_has_the_kind_of_its_name() {
        for (number, (name, _)) in EVENTS.iter().enumerate() {
            let number = number as Kind + 1;
            match *name {
                "N" => assert_eq!(number, NEITHER_KIND),
                "Z" => assert_eq!(number, ZONE_KIND),
                name => assert_eq!(kind(name.as_bytes()), Some(number), "{name}"),
            }
        }
    }

    #[test]
    fn other_events_are_told_from_rubbish() {
        let lines = [
            "259,2 0 1 0.000001581  4020  G   R 282624 + 8 [java]",
            "259,2 0 1 0.000001581  4020  UT  N [java] 1",
            "259,2 0 1 0.000001581  4020  m   N cfq1 insert",
            "259,2 0 1 0.000001581  4020  Z   R 282624 + 8 [java]",
            "259,2 0 1 0.000001581  4020  Q   X 282624 + 8 [java]",
            "259,2 0 1 0.000001581  4020  Q   R 282624 - 8 [java]",
            "259,2 0 1 0.000001581  4020  Q   R 282624 + 0 [java]",
            "259 0 1 0.000001581  4020  Q   R 282624 + 8 [java]",
            "259,2 0 1 -0.5  4020  Q   R 282624 + 8 [java]",
            "259,1048576 0 1 0.5  4020  Q   R 282624 + 8 [java]",
        ];
        let expected = [
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::UnknownOp,
            Cause::UnknownOp,
            Cause::NotANumber,
            Cause::ZeroLength,
            Cause::TooFewColumns,
            Cause::NegativeTime,
            Cause::TooLarge,
        ];
        assert_eq!(causes(Format::Blkparse, &lines), expected);
    }
}
