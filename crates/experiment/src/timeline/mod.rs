//! Timelines: records what dies and channels do in a window of time, operation by operation, writes
//! it as a trace for Perfetto and Chrome, and explains it in words.
//!
//! The room owns the recording: it watches runs and changes nothing. Callers record a run
//! ([`record`]), write the file, and get the explanation of the slowest requests.

mod explain;
mod json;
mod recorder;
mod slowest;
mod trace;

use crate::device_spec::Resolved;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::numbers::counted;
use crate::outcome::{Ending, Outcome};
use crate::progress::Progress;
use crate::replay_speed::Found;
use crate::run::{Ready, Run, RunSpec, Watcher, find_speed};
use crate::workload::Control;
use fowler_units::{Nanos, Span};
use recorder::Part;
use slowest::Slowest;

pub use explain::Explanation;
pub use json::schema_of_explained;
pub use recorder::{Asked, Operated, Own, Slice, SliceKind, Timeline, Track};

/// The file name of a timeline in a folder of results.
pub const TIMELINE: &str = "timeline.json";
/// Most slow requests that a timeline can record; `--requests` logs all.
pub const SLOWEST_MAX: usize = 1000;

/// The part of a run that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A window of simulated time, in which all operations and requests are recorded.
    Window {
        /// Beginning of the window to record, as time since the first request.
        from: Span,
        /// End of the window to record, as time since the first request; later than its beginning.
        until: Span,
    },
    /// This many of the slowest reads and as many of the slowest writes are recorded, with the
    /// other operations on their dies.
    Slowest(usize),
    /// This many of the slowest reads and as many of the slowest writes, to be explained in words:
    /// only their own flash operations get time slices, not the others on their dies.
    Explained(usize),
}

impl Choice {
    /// Returns the name of the command-line flag that selects this part of a run to record.
    fn flag(self) -> &'static str {
        match self {
            Choice::Window { .. } | Choice::Slowest(_) => "--timeline",
            Choice::Explained(_) => "--slowest",
        }
    }

    /// Parses the part of a run to record: `10ms..12ms` or `slowest:5`, the argument of `flag`.
    ///
    /// # Errors
    /// If the text is no choice: the errors say what is wrong and what is expected.
    pub fn parse(text: &str, flag: &str) -> Result<Choice, Diagnostics> {
        let wrong = |what: String| {
            Diagnostics::from(Diagnostic::new(flag, what).expected(
                "a window such as 10ms..12ms, counted from the first request, or slowest:5",
            ))
        };
        let shown = crate::diagnostic::printable(text);
        if let Some(count) = text.strip_prefix("slowest:") {
            let count =
                count.parse().map_err(|_| wrong(format!("`{shown}` has no valid number")))?;
            return slowest(count, flag).map(Choice::Slowest);
        }
        let Some((from, until)) = text.split_once("..") else {
            return Err(wrong(format!("`{shown}` is not a window")));
        };
        let moment = |text: &str| {
            text.trim().parse::<Span>().map_err(|error| wrong(format!("`{shown}`: {error}")))
        };
        let (from, until) = (moment(from)?, moment(until)?);
        if from >= until {
            let what = if from == until { "is empty" } else { "ends before it begins" };
            return Err(wrong(format!("`{shown}` {what}")));
        }
        Ok(Choice::Window { from, until })
    }
}

/// Chooses to record a number of the slowest requests.
///
/// # Errors
/// If the number is zero or too large.
pub fn slowest(count: usize, flag: &str) -> Result<usize, Diagnostics> {
    if (1..=SLOWEST_MAX).contains(&count) {
        return Ok(count);
    }
    let what = match count {
        0 => "the number of requests must be at least 1".into(),
        _ => format!("{count} requests are too many"),
    };
    let hint = "to log every request with its causes, use --requests".to_string();
    let expected = format!("1 to {SLOWEST_MAX} requests");
    Err(Diagnostic::new(flag, what).expected(expected).hint(hint).into())
}

/// A run and the recording of a part of it.
pub struct Recorded {
    /// Results of the recorded run.
    pub outcome: Outcome,
    /// The recorded part of the run: its operations and requests.
    pub timeline: Timeline,
    /// Reasons why the recorded timeline is incomplete; empty if it is complete.
    pub diagnostics: Diagnostics,
}

/// Runs `spec` and records the part that `choice` selects. For the slowest requests it runs twice:
/// the first run finds them, and the second, which is identical to the nanosecond, records them.
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
    let again = RunSpec { detail: false, requests: None, ..spec.clone() };
    let replays = Replays { specs: [spec, &again], ready: &ready, speed, control };
    let (outcome, timeline, diagnostics) = record_of(&replays, &ready.drive, choice, control)?;
    Ok(Recorded { outcome, timeline, diagnostics })
}

/// A run that can be repeated exactly, to the nanosecond, under any observer.
pub trait Repeatable {
    /// The result of one run.
    type Done;

    /// Makes the run while `watcher` observes it. `again` is true if the run was already made and
    /// is only repeated for the observer, so that its other results are not needed.
    ///
    /// # Errors
    /// Everything that is wrong, or that the run was stopped before its first request.
    fn run<W: Watcher>(&self, watcher: W, again: bool) -> Result<(Self::Done, W), Diagnostics>;

    /// Returns the outcome of the simulated drive, which is part of the result of a repeatable run.
    fn outcome(done: &Self::Done) -> &Outcome;
}

/// Two runs of one specification: the first, and the repetition for recording.
struct Replays<'a> {
    specs: [&'a RunSpec; 2],
    ready: &'a Ready,
    speed: Found,
    control: Control<'a>,
}

impl Repeatable for Replays<'_> {
    type Done = Outcome;

    fn run<W: Watcher>(&self, watcher: W, again: bool) -> Result<(Outcome, W), Diagnostics> {
        let run = Run::new(self.specs[usize::from(again)], self.control);
        run.ready(self.ready).speed(self.speed).watched_by(watcher).start()
    }

    fn outcome(done: &Outcome) -> &Outcome {
        done
    }
}

/// Runs an experiment that can be repeated exactly, on `drive`, and records the part that `choice`
/// selects. For the slowest requests it runs twice: the first run finds them, the second records
/// them.
pub fn record_of<R: Repeatable>(
    what: &R,
    drive: &Resolved,
    choice: Choice,
    control: Control<'_>,
) -> Result<(R::Done, Timeline, Diagnostics), Diagnostics> {
    let runs = if matches!(choice, Choice::Window { .. }) { 1 } else { 2 };
    (control.progress)(Progress::Planned(runs));
    let (done, mut timeline, clock, mut diagnostics) = match choice {
        Choice::Window { from, until } => {
            let recorder = Timeline::new(drive, Part::Window(from, until));
            let (done, timeline) = what.run(recorder, false)?;
            let clock = R::outcome(&done).clock;
            (done, timeline, clock, Diagnostics::default())
        }
        Choice::Slowest(count) | Choice::Explained(count) => {
            let (done, found) = what.run(Slowest::new(count), false)?;
            let lives = found.lives();
            let part = Part::Lives(lives, matches!(choice, Choice::Slowest(_)));
            let recorder = Timeline::new(drive, part);
            let outcome = R::outcome(&done);
            if matches!(outcome.ending, Ending::Stopped) {
                let what =
                    "the run was stopped, so there is no second run to record its slowest requests";
                let (clock, diagnostics) =
                    (outcome.clock, Diagnostic::new(choice.flag(), what).into());
                (done, recorder, clock, diagnostics)
            } else {
                match what.run(recorder, true) {
                    Ok((second, timeline)) => {
                        let second = R::outcome(&second);
                        let diagnostics = cut_short(stopped_after(second), choice);
                        (done, timeline, second.clock, diagnostics)
                    }
                    // The run was stopped before its first request.
                    Err(_) if control.stopped() => {
                        let nothing = Timeline::new(drive, Part::Lives(Vec::new(), false));
                        let clock = outcome.clock;
                        (done, nothing, clock, cut_short(Some(0), choice))
                    }
                    Err(diagnostics) => return Err(diagnostics),
                }
            }
        }
    };
    timeline.end(clock);
    diagnostics.0.extend(what_is_missing(R::outcome(&done), choice, &timeline).0);
    Ok((done, timeline, diagnostics))
}

/// Returns the number of requests after which the user stopped a run; `None` if it was not stopped.
fn stopped_after(outcome: &Outcome) -> Option<u64> {
    matches!(outcome.ending, Ending::Stopped).then_some(outcome.workload.requests)
}

/// Returns the error that slow requests are missing from a recording because the user stopped it.
/// The first run finds the slowest requests; a second, identical run records them.
fn cut_short(stopped_after: Option<u64>, choice: Choice) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    if let Some(requests) = stopped_after {
        let requests = counted(requests, "request");
        let what = format!(
            "the second run, which records the slowest requests, was stopped after {requests}: later ones are missing"
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
                ("during these requests", "choose fewer requests")
            }
        };
        let what = format!(
            "the window has more timeline slices {place} than a trace file can hold ({most})"
        );
        diagnostics.push(Diagnostic::new(choice.flag(), what).hint(hint.to_string()));
    }
    diagnostics
}

/// Returns the number of dies that share a channel.
fn dies_per_channel(drive: &Resolved) -> u32 {
    drive.layout.geometry.dies_per_channel()
}

/// Returns the time of `moment` since `origin`, the first request.
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
            ("slowest:0", "at least 1"),
            ("slowest:1001", "too many"),
            ("slowest:-1", "has no valid number"),
            ("12ms..10ms", "ends before"),
            ("10ms..10ms", "is empty"),
            ("10..12", "`10..12`"),
            ("10ms", "is not a window"),
            ("", "is not a window"),
        ] {
            let diagnostic = read(text).unwrap_err().to_string();
            assert!(diagnostic.contains(said), "{text}: {diagnostic}");
        }
    }
}
