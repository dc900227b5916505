//! What dies and channels did in a window of time, operation by operation: recorded, written as a
//! trace that Perfetto and Chrome open, and described in words.
//!
//! The room owns what was recorded: it watches runs and changes none. It is asked to record one
//! ([`record`]), for the file, and for the explanation of the slowest requests.

mod explain;
mod recorder;
mod slowest;
mod trace;

use crate::device::Resolved;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::numbers::counted;
use crate::outcome::{Ending, Outcome};
use crate::run::{Ready, Run, RunSpec, find_speed};
use crate::workload::Control;
use fowler_units::{Nanos, Span};
use recorder::Part;
use slowest::Slowest;

pub use explain::Explanation;
pub use recorder::{Asked, Operated, Own, Slice, Timeline, Track, What};

/// The name of a timeline in a folder of results.
pub const TIMELINE: &str = "timeline.json";
/// Slow requests at most: more would be a log, which `--requests` writes.
pub const SLOWEST_MAX: usize = 1000;

/// Which part of a run is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// From one moment to another, since the first request.
    Window {
        /// The beginning.
        from: Span,
        /// The end; later than the beginning.
        until: Span,
    },
    /// The lives of so many of the slowest requests, reads and writes alike.
    Slowest(usize),
    /// The same as far as [`Timeline::explain`] needs it.
    Explained(usize),
}

impl Choice {
    /// The flag that carries such a choice.
    fn flag(self) -> &'static str {
        match self {
            Choice::Window { .. } | Choice::Slowest(_) => "--timeline",
            Choice::Explained(_) => "--slowest",
        }
    }

    /// Reads `10ms..12ms` or `slowest:5`; `flag` carried it.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn parse(text: &str, flag: &str) -> Result<Choice, Diagnostics> {
        let wrong = |what: String| {
            Diagnostics::from(Diagnostic::new(flag, what).expected(
                "a window such as 10ms..12ms, counted from the first request, or slowest:5",
            ))
        };
        let shown = crate::diagnostic::printable(text);
        if let Some(count) = text.strip_prefix("slowest:") {
            let count = count.parse().map_err(|_| wrong(format!("`{shown}` names no number")))?;
            return slowest(count, flag).map(Choice::Slowest);
        }
        let Some((from, until)) = text.split_once("..") else {
            return Err(wrong(format!("`{shown}` is no window")));
        };
        let moment = |text: &str| {
            text.trim().parse::<Span>().map_err(|error| wrong(format!("`{shown}`: {error}")))
        };
        let (from, until) = (moment(from)?, moment(until)?);
        if from >= until {
            let what = if from == until { "is empty" } else { "ends before it has begun" };
            return Err(wrong(format!("`{shown}` {what}")));
        }
        Ok(Choice::Window { from, until })
    }
}

/// So many of the slowest.
///
/// # Errors
/// None, or too many.
pub fn slowest(count: usize, flag: &str) -> Result<usize, Diagnostics> {
    if (1..=SLOWEST_MAX).contains(&count) {
        return Ok(count);
    }
    let what = match count {
        0 => "there is nothing to look at in none of the requests".into(),
        _ => format!("{count} requests are too many"),
    };
    let hint = "--requests writes every request with its causes".to_string();
    let expected = format!("1 to {SLOWEST_MAX} requests");
    Err(Diagnostic::new(flag, what).expected(expected).hint(hint).into())
}

/// A run, and what was recorded of it.
pub struct Recorded {
    /// The run.
    pub outcome: Outcome,
    /// What was recorded.
    pub timeline: Timeline,
    /// Why it is not what was asked for, if it is not.
    pub diagnostics: Diagnostics,
}

/// Runs `spec` and records the part of it that `choice` names. For the slowest requests it runs
/// twice: the first run finds them, the second, which is the same to the nanosecond, records them.
///
/// # Errors
/// As [`Run::start`].
pub fn record(
    spec: &RunSpec,
    choice: Choice,
    control: Control<'_>,
) -> Result<Recorded, Diagnostics> {
    let ready = Ready::of(spec, control)?;
    let speed = find_speed(spec.replay_speed, &ready, None, control)?;
    let run = |spec| Run::new(spec, control).ready(&ready).speed(speed);
    let (outcome, mut timeline, clock, mut diagnostics) = match choice {
        Choice::Window { from, until } => {
            let recorder = Timeline::new(&ready.drive, Part::Window(from, until));
            let (outcome, timeline) = run(spec).watched_by(recorder).start()?;
            let clock = outcome.clock;
            (outcome, timeline, clock, Diagnostics::default())
        }
        Choice::Slowest(count) | Choice::Explained(count) => {
            let finder = Slowest::new(count);
            let (outcome, found) = run(spec).watched_by(finder).start()?;
            let lives = found.lives();
            let part = Part::Lives(lives, matches!(choice, Choice::Slowest(_)));
            let recorder = Timeline::new(&ready.drive, part);
            if matches!(outcome.ending, Ending::Stopped) {
                let what =
                    "the run was stopped, and is not made again to look at its slowest requests";
                let (clock, diagnostics) =
                    (outcome.clock, Diagnostic::new(choice.flag(), what).into());
                (outcome, recorder, clock, diagnostics)
            } else {
                let again = RunSpec { detail: false, requests: None, ..spec.clone() };
                let (second, timeline) = run(&again).watched_by(recorder).start()?;
                let diagnostics = cut_short(&second, choice);
                (outcome, timeline, second.clock, diagnostics)
            }
        }
    };
    timeline.end(clock);
    diagnostics.0.extend(what_is_missing(&outcome, choice, &timeline).0);
    Ok(Recorded { outcome, timeline, diagnostics })
}

/// Why the second run, which records the slowest requests, may not have come to them.
fn cut_short(second: &Outcome, choice: Choice) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    if matches!(second.ending, Ending::Stopped) {
        let requests = counted(second.workload.requests, "request");
        let what = format!(
            "the second run, which looks at the slowest requests, was stopped after {requests}: later ones are missing"
        );
        diagnostics.push(Diagnostic::new(choice.flag(), what));
    }
    diagnostics
}

fn what_is_missing(outcome: &Outcome, choice: Choice, timeline: &Timeline) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    if let Choice::Window { from, until } = choice
        && from > outcome.simulated
    {
        let end = outcome.simulated;
        let what =
            format!("the window {from}..{until} lies outside the run, which ended after {end}");
        diagnostics.push(Diagnostic::new(choice.flag(), what).expected("a window within the run"));
    }
    if timeline.is_full() {
        let most = recorder::SLICES_MAX;
        let (place, hint) = match choice {
            Choice::Window { .. } => ("in the window", "choose a shorter window"),
            Choice::Slowest(_) | Choice::Explained(_) => {
                ("while these requests lived", "choose fewer requests")
            }
        };
        let what = format!("there is more {place} than a trace can hold ({most} slices)");
        diagnostics.push(Diagnostic::new(choice.flag(), what).hint(hint.to_string()));
    }
    diagnostics
}

/// The channel of each die, and how many there are.
fn dies_per_channel(drive: &Resolved) -> u32 {
    drive.layout.geometry.dies_per_channel()
}

/// A moment since the first request.
fn since(moment: Nanos, origin: Nanos) -> Span {
    if moment > origin { moment - origin } else { Span::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_wrong_ones_refused() {
        let read = |text| Choice::parse(text, "--timeline");
        let window = Choice::Window { from: Span::ms(10), until: Span::ms(12) };
        assert_eq!(read("10ms..12ms"), Ok(window));
        assert_eq!(read("slowest:5"), Ok(Choice::Slowest(5)));
        for (text, said) in [
            ("slowest:0", "nothing to look at"),
            ("slowest:1001", "too many"),
            ("slowest:-1", "names no number"),
            ("12ms..10ms", "ends before"),
            ("10ms..10ms", "is empty"),
            ("10..12", "`10..12`"),
            ("10ms", "is no window"),
            ("", "is no window"),
        ] {
            let diagnostic = read(text).unwrap_err().to_string();
            assert!(diagnostic.contains(said), "{text}: {diagnostic}");
        }
    }
}
