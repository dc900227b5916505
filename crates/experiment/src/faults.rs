//! Parses and prints lists of faults, checks that a drive has the units they name, and runs a drive
//! with faults.

use crate::device_spec::Resolved;
use crate::diagnostic::{Diagnostic, Diagnostics, printable};
use crate::field::nearest;
use crate::power::{self, PowerOff};
use fowler_device::{Device, Fault, Faulty, Pacing, Probe};
use fowler_units::{BlockId, DieId, HostIo, Lpn, Nanos, PlaneId, Span, StripeId};
use fowler_workload::{LATEST, TimeScale};
use std::fmt;

/// A fault of the drive with the time at which it strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scripted {
    /// Time of the fault, counted from the first request. For a rate of failures: the mean time
    /// between them.
    pub at: Nanos,
    /// Kind of fault: a unit that fails, a power loss, or a rate of failures.
    pub what: FaultKind,
    /// True if the fault was drawn at random from a rate, not listed with its time.
    pub drawn: bool,
}

/// A fault that the user lists: a unit that fails, a power loss, or a rate of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A unit of the flash, such as a die, block or page, fails.
    Unit(Fault),
    /// The power is off for this long.
    PowerOff(Span),
    /// Units of this kind fail at random, at a given rate.
    Rate(Fault),
}

/// Description of the fault entries that [`parse`] accepts, for error messages.
pub(crate) const EXPECTED: &str = "a list of times and faults: \"10s chip 3\", likewise channel, die, plane, block or parity (of a \
     stripe); \"20s page 4711 uncorrectable\"; \"20s miscorrected 4711\" or \"20s misdirected 4711\" (a page, unnoticed); \"30s power 2s\"; \"every 10s page\" for random ones of a kind";

/// Largest number of faults in one run.
pub(crate) const MOST: usize = 1000;

/// Kind of unit that can fail: its word in a list of faults, such as `die`, and the constructor of
/// a fault from the number of the failing unit.
type Kind = (&'static str, fn(u32) -> Fault);

const KINDS: [Kind; 9] = [
    ("page", |number| Fault::Page(Lpn(number))),
    (MISCORRECTED, |number| Fault::Miscorrected(Lpn(number))),
    (MISDIRECTED, |number| Fault::Misdirected(Lpn(number))),
    ("parity", |number| Fault::Parity(StripeId(number))),
    ("block", |number| Fault::Block(BlockId(number))),
    ("plane", |number| Fault::Plane(PlaneId(number))),
    ("die", |number| Fault::Die(DieId(number))),
    ("chip", Fault::Chip),
    ("channel", Fault::Channel),
];

const POWER: &str = "power";
/// Words for page faults that go unnoticed by the drive.
const MISCORRECTED: &str = "miscorrected";
const MISDIRECTED: &str = "misdirected";
/// The word before the mean time between faults in an entry such as `every 10s chip`.
const EVERY: &str = "every";
/// Last word of an entry such as `20s page 4711 uncorrectable` in a list of faults: from then on,
/// the logical page with this number cannot be read.
const UNCORRECTABLE: &str = "uncorrectable";

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            FaultKind::PowerOff(lasts) => write!(f, "{POWER} {lasts}"),
            FaultKind::Unit(Fault::Page(page)) => write!(f, "page {} {UNCORRECTABLE}", page.0),
            FaultKind::Unit(Fault::Miscorrected(page)) => write!(f, "{MISCORRECTED} {}", page.0),
            FaultKind::Unit(Fault::Misdirected(page)) => write!(f, "{MISDIRECTED} {}", page.0),
            FaultKind::Unit(Fault::Parity(stripe)) => write!(f, "parity {}", stripe.0),
            FaultKind::Unit(Fault::Block(block)) => write!(f, "block {}", block.0),
            FaultKind::Unit(Fault::Plane(plane)) => write!(f, "plane {}", plane.0),
            FaultKind::Unit(Fault::Die(die)) => write!(f, "die {}", die.0),
            FaultKind::Unit(Fault::Chip(chip)) => write!(f, "chip {chip}"),
            FaultKind::Unit(Fault::Channel(channel)) => write!(f, "channel {channel}"),
            FaultKind::Unit(fault @ (Fault::Power | Fault::Bug(_))) => write!(f, "{fault:?}"),
            FaultKind::Rate(kind) => {
                // The unit of a rate has a meaningless number, which is cut off.
                let unit = FaultKind::Unit(kind).to_string();
                f.write_str(unit.split(' ').next().unwrap_or_default())
            }
        }
    }
}

impl fmt::Display for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let every = if matches!(self.what, FaultKind::Rate(_)) { "every " } else { "" };
        write!(f, "{every}{} {}", self.at - Nanos::ZERO, self.what)
    }
}

/// Parses a list of faults, which must be in order of time.
///
/// # Errors
///
/// Every error in the texts.
pub fn parse(texts: &[String]) -> Result<Vec<Scripted>, Vec<String>> {
    let (all, wrong) = parse_all(texts);
    if wrong.is_empty() { Ok(all) } else { Err(wrong) }
}

/// Parses the faults that a flag lists, like [`parse`]: returns the valid entries, and a diagnostic
/// for each invalid one.
pub fn read(flag: &str, texts: &[String]) -> (Vec<Scripted>, Diagnostics) {
    let (all, wrong) = parse_all(texts);
    let diagnostic = |what| Diagnostic::new(flag, what).expected(EXPECTED);
    (all, Diagnostics(wrong.into_iter().map(diagnostic).collect()))
}

fn parse_all(texts: &[String]) -> (Vec<Scripted>, Vec<String>) {
    if texts.len() > MOST {
        return (Vec::new(), vec![format!("{} faults; at most {MOST} are possible", texts.len())]);
    }
    let (mut all, mut wrong): (Vec<Scripted>, Vec<String>) = (Vec::new(), Vec::new());
    for text in texts {
        match one(text) {
            Err(errors) => {
                wrong.push(format!("`{}` {}", printable(text.trim()), errors.join(", and ")))
            }
            Ok(fault) => {
                wrong.extend(disorder(&all, &fault));
                all.push(fault);
            }
        }
    }
    wrong.extend(power::too_long(all.iter().filter_map(Scripted::power_off)));
    (all, wrong)
}

/// Returns the error if `fault` may not follow the faults `before` it, which must be in order of
/// time; `None` if it may.
fn disorder(before: &[Scripted], fault: &Scripted) -> Option<String> {
    let off = fault.power_off();
    let last_off = before.iter().rev().find_map(Scripted::power_off);
    if let Some(wrong) = last_off.zip(off).and_then(|(before, off)| power::disorder(&before, &off))
    {
        return Some(wrong);
    }
    if matches!(fault.what, FaultKind::Rate(_)) {
        return None;
    }
    let mut listed = before.iter().filter(|it| !matches!(it.what, FaultKind::Rate(_)));
    let last = listed.next_back().filter(|last| last.at > fault.at)?;
    Some(format!("`{fault}` is listed after `{last}`"))
}

/// Parses one fault entry, or returns all its errors as predicates, such as `has no time`.
fn one(text: &str) -> Result<Scripted, Vec<String>> {
    let mut words = text.split_whitespace();
    let Some(at) = words.next() else { return Err(vec!["is empty".into()]) };
    if at == EVERY {
        return rate(words);
    }
    let mut wrong = Vec::new();
    let mut take = |result: Result<Span, String>| {
        result.map_err(|reason| wrong.push(format!("has no valid time: {reason}"))).ok()
    };
    let at = take(power::time(at));
    let what = match words.next() {
        None => {
            wrong.push("names no fault".into());
            None
        }
        Some(POWER) => match words.next().map(power::time) {
            None => {
                wrong.push("lacks the length of the power loss".into());
                None
            }
            Some(lasts) => match take(lasts) {
                Some(Span::ZERO) => {
                    wrong.push("has no length".into());
                    None
                }
                lasts => lasts.map(FaultKind::PowerOff),
            },
        },
        Some(word) => unit(word, &mut words, &mut wrong),
    };
    let rest: Vec<&str> = words.collect();
    if what.is_some() && !rest.is_empty() {
        wrong.push(format!(
            "ends with `{}`, which is not part of a fault",
            printable(rest.join(" "))
        ));
    }
    match (at, what) {
        (Some(at), Some(what)) if wrong.is_empty() => {
            Ok(Scripted { at: Nanos(at.0), what, drawn: false })
        }
        _ => Err(wrong),
    }
}

/// Parses the rest of a fault entry after [`EVERY`]: a mean time, and a kind of unit.
fn rate<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Scripted, Vec<String>> {
    let mut wrong = Vec::new();
    let mean = words.next().map(power::time);
    let mean = match mean.unwrap_or_else(|| Err("it is missing".into())) {
        Ok(Span::ZERO) => {
            wrong.push("lacks the mean time between faults after `every`".into());
            Span::ZERO
        }
        Ok(mean) => mean,
        Err(reason) => {
            wrong.push(format!("has no valid time: {reason}"));
            Span::ZERO
        }
    };
    let kind = match words.next() {
        None => {
            wrong.push("names no fault".into());
            None
        }
        Some(POWER) => {
            wrong.push("has power losses at a rate; give each its time".into());
            None
        }
        Some(word) => kind_of(word, &[], &mut wrong),
    };
    let mut rest: Vec<&str> = words.collect();
    // `uncorrectable` follows a page here as in a listed fault.
    if rest == [UNCORRECTABLE] && kind.is_some_and(|(word, _)| word == "page") {
        rest.clear();
    }
    if kind.is_some() && !rest.is_empty() {
        wrong.push(format!(
            "ends with `{}`, which is not part of a fault",
            printable(rest.join(" "))
        ));
    }
    match kind {
        Some((_, fault)) if wrong.is_empty() => {
            Ok(Scripted { at: Nanos(mean.0), what: FaultKind::Rate(fault(0)), drawn: false })
        }
        _ => Err(wrong),
    }
}

/// Returns the kind of flash unit that a word names; `others` are further words allowed here, for
/// the message.
fn kind_of(word: &str, others: &[&'static str], wrong: &mut Vec<String>) -> Option<Kind> {
    let kind = KINDS.into_iter().find(|(kind, _)| *kind == word);
    if kind.is_none() {
        let names = KINDS.map(|(kind, _)| kind).into_iter().chain(others.iter().copied());
        let near = nearest(word, names).map_or(String::new(), |it| format!(" (`{it}`?)"));
        wrong.push(format!("names the unknown fault `{}`{near}", printable(word)));
    }
    kind
}

/// Parses the kind of a failing flash unit and its number.
fn unit<'a>(
    word: &str,
    words: &mut impl Iterator<Item = &'a str>,
    wrong: &mut Vec<String>,
) -> Option<FaultKind> {
    let (kind, fault) = kind_of(word, &[POWER], wrong)?;
    let struck = if [MISCORRECTED, MISDIRECTED].contains(&kind) { "page" } else { kind };
    let Some(number) = words.next() else {
        wrong.push(format!("does not say which {struck}"));
        return None;
    };
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = number.parse().ok().filter(|_| digits);
    if parsed.is_none() {
        wrong.push(format!(
            "names no {struck}: `{}` is not the number of a {struck}",
            printable(number)
        ));
    }
    if kind == "page" && words.next() != Some(UNCORRECTABLE) {
        wrong.push(format!(
            "does not say that the page is {UNCORRECTABLE}: this word must follow its number"
        ));
        return None;
    }
    parsed.map(|number| FaultKind::Unit(fault(number)))
}

impl Scripted {
    /// Returns the power loss, if the fault is one.
    pub fn power_off(&self) -> Option<PowerOff> {
        match self.what {
            FaultKind::PowerOff(lasts) => Some(PowerOff { at: self.at, lasts }),
            FaultKind::Unit(_) | FaultKind::Rate(_) => None,
        }
    }

    /// Converts a power loss to a fault.
    pub(crate) fn of_power(PowerOff { at, lasts }: PowerOff) -> Scripted {
        Scripted { at, what: FaultKind::PowerOff(lasts), drawn: false }
    }
}

/// Checks that a drive has the units named by faults; `name` is the flag or key of the list.
///
/// # Errors
///
/// Every unit that the drive does not have.
pub(crate) fn check(faults: &[Scripted], drive: &Resolved, name: &str) -> Result<(), Diagnostics> {
    let absent = |fault: &Scripted| {
        let (FaultKind::Unit(unit) | FaultKind::Rate(unit)) = fault.what else { return None };
        let (number, count) = unit.unit(&drive.config, &drive.layout)?;
        let kind = match unit {
            Fault::Page(_) | Fault::Miscorrected(_) | Fault::Misdirected(_) => "logical page",
            Fault::Parity(_) => "stripe",
            Fault::Block(_) => "block",
            Fault::Plane(_) => "plane",
            Fault::Die(_) => "die",
            Fault::Chip(_) => "chip",
            _ => "channel",
        };
        (number >= count).then(|| match count {
            0 => Diagnostic::new(name, format!("`{fault}`: the drive has no parity"))
                .hint("choose a scheme with parity, such as raid5".to_string()),
            _ => {
                let has = crate::numbers::counted(count.into(), kind);
                Diagnostic::new(name, format!("`{fault}`: the drive has {has}"))
                    .expected(format!("a {kind} from 0 to {}", count - 1))
            }
        })
    };
    Diagnostics(faults.iter().filter_map(absent).collect()).or(())
}

/// Refuses all power losses and other faults; `name` is their flag or key, and `why` the reason.
///
/// # Errors
///
/// If there are any.
pub(crate) fn refuse(faults: &[Scripted], name: &str, why: &str) -> Result<(), Diagnostics> {
    let Some(first) = faults.first() else { return Ok(()) };
    let what = format!("faults, such as `{first}`, cannot be used here: {why}");
    Err(Diagnostic::new(name, what).hint("leave them out".to_string()).into())
}

/// Returns the faults of a workload with their times scaled like those of its requests; none is
/// later than a request can be. Durations of power losses are not scaled.
pub(crate) fn scaled(faults: &[Scripted], scale: &TimeScale) -> Vec<Scripted> {
    let moved =
        |fault: &Scripted| Scripted { at: scale.apply(fault.at).unwrap_or(LATEST), ..*fault };
    faults.iter().map(moved).collect()
}

/// Replays `requests` on the drive with `faults`, which are in order of time.
///
/// Each fault strikes exactly at its time, whatever is in flight. Faults later than the last answer
/// do not strike. The clock of the drive stands still without power, so that all later requests are
/// delayed by the time that the power was off.
///
/// Times of faults are times of the requests. A closed loop ignores the times of requests; there,
/// times are counted from the start.
pub(crate) fn run<L: Faulty, P: Probe<L>>(
    device: &mut Device<L>,
    requests: &mut dyn Iterator<Item = HostIo>,
    pacing: Pacing,
    probe: &mut P,
    faults: &[Scripted],
) {
    let start = device.now();
    for fault in faults {
        let at = start + (fault.at - Nanos::ZERO);
        match fault.what {
            FaultKind::Unit(unit) => device.schedule_fault(at, unit),
            FaultKind::PowerOff(lasts) => device.schedule_power_off(at, lasts),
            FaultKind::Rate(_) => unreachable!("faults were drawn for it"),
        }
    }
    device.run(requests, pacing, probe);
}
