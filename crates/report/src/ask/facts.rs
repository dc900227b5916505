//! The facts that answers are derived from: the question, the drives with their wear, and the runs
//! that are compared.

use super::choices::Choice;
use fowler_experiment::candidates::Candidates;
use fowler_experiment::device_spec::{DeviceSpec, Resolved};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::life_estimate::{self, Survey};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::seeds::Spread;
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_units::Span;
use fowler_workload::ReadOptions;
use std::path::PathBuf;

/// Input of `fowler ask`: the trace, the drives, and how many requests and seeds are simulated.
#[derive(Clone, Debug)]
pub struct AskSpec {
    /// Path of the trace about which the user asks.
    pub path: PathBuf,
    /// Options for reading the trace.
    pub options: ReadOptions,
    /// Command-line flags for the options of the trace and the settings of the drive, with which
    /// the commands are completed that each answer of `fowler ask` suggests at its end.
    pub flags: String,
    /// The drives about which the user asks.
    pub drives: Drives,
    /// The most requests of the trace that are replayed.
    pub limit: u64,
    /// Number of seeds with which the comparison is run.
    pub seeds: u32,
    /// True to record, in the runs of `fowler ask`, the time series and other data that the charts
    /// of its HTML page show.
    pub detail: bool,
}

/// The drives that a question to `fowler ask` is about.
#[derive(Clone, Debug)]
pub enum Drives {
    /// A preset fitted to a real drive, with these settings, that has room for the trace. The other
    /// such presets get a short answer.
    Fitted(DeviceSpec),
    /// One drive, on which schemes are compared.
    One(DeviceSpec),
    /// Several drives that `fowler ask` compares with one another, and on each of which it compares
    /// schemes (named sets of policies).
    Several(Candidates),
}

/// Functions that simulate long use of a drive; the caller provides them, because this crate
/// simulates single runs only.
#[derive(Clone, Copy)]
pub struct LongUse {
    /// Returns the reason why long use of a drive cannot be simulated; `None` if it can.
    pub why_not: fn(&Resolved) -> Option<String>,
    /// Returns the pages programmed per page of the host after a drive has served a workload, cut
    /// after some number of requests, over and over; `None` if stopped or if the write buffer
    /// absorbs all writes.
    pub write_amplification: WriteAmplification,
}

/// A function that simulates long use of a drive under a workload, up to a number of requests, and
/// returns the pages programmed per host page; `None` if stopped, or if the write buffer absorbs
/// all writes.
pub type WriteAmplification =
    fn(&Resolved, &WorkloadSpec, Option<u64>, Control<'_>) -> Result<Option<f64>, Diagnostics>;

/// The results for one drive from which `fowler ask` derives the answers about that drive.
pub(super) struct Known<'a> {
    pub(super) flags: &'a str,
    pub(super) choices: &'a [Choice],
    pub(super) drive: &'a Resolved,
    pub(super) survey: Survey,
    /// Time span over which the trace was recorded.
    pub(super) recorded: Span,
    pub(super) wear: Wear,
    /// The run of the trace on the drive, under the first scheme if there are several.
    pub(super) outcome: &'a Outcome,
}

/// The runs of a comparison, from which an answer says which is better.
pub(super) struct Compared {
    pub(super) candidates: Candidates,
    /// Results of the runs with the first seed, one for each scheme or drive that `fowler ask`
    /// compares.
    pub(super) outcomes: Vec<Outcome>,
    /// Metrics of the runs that `fowler ask` compares, over the seeds with which they were
    /// repeated; `None` with one seed.
    pub(super) spread: Option<Spread>,
}

impl Compared {
    /// Returns a command line of `fowler` (subcommand `command`, further flags `more`) for this
    /// trace and all drives that `fowler ask` compared.
    pub(super) fn command(&self, known: &Known<'_>, command: &str, more: &str) -> String {
        let devices: Vec<&str> =
            self.candidates.all().iter().map(|it| it.device.device.as_str()).collect();
        known.command_on(&format!("--devices {}", quoted(&devices.join(","))), command, more)
    }
}

/// The wear of the drive's flash by the trace.
pub(super) enum Wear {
    /// The trace contains no writes.
    None,
    /// The write buffer absorbs all that the trace writes, however often it is repeated.
    Absorbed,
    /// Long use of the drive, which would show its lasting write amplification, is not simulated;
    /// the text is the reason.
    Long(f64),
    /// Long use of this drive is not simulated; the text is the reason.
    NotSimulated(String),
}

impl Known<'_> {
    /// Returns the name of the drive, if the questions are about several drives.
    pub(super) fn name(&self) -> Option<String> {
        self.drive.candidate.clone()
    }

    /// Returns the estimated life of the drive at a write amplification; `None` for a trace without
    /// times.
    pub(super) fn estimate(&self, waf: f64) -> Option<life_estimate::Estimate> {
        let is_timed = self.survey.span > Span::ZERO;
        is_timed.then(|| life_estimate::at_waf(self.drive, &self.survey, waf))
    }

    /// Returns a command line that runs this trace on this drive, with flags for the choices that
    /// `fowler ask` made for the user.
    pub(super) fn command(&self, command: &str, more: &str) -> String {
        self.command_on(&format!("--device {}", quoted(&self.drive.device)), command, more)
    }

    pub(super) fn command_on(&self, drives: &str, command: &str, more: &str) -> String {
        // A life has a pace of its own, and repeats all of the trace.
        let of_runs = |it: &Choice| matches!(it.of, "pace" | "requests");
        let chosen = self.choices.iter().filter(|it| it.of != "drive");
        let chosen = chosen.filter(|it| command != "lifetime" || !of_runs(it));
        let flags = chosen.flat_map(|choice| choice.flags.iter().map(String::as_str));
        let words = ["fowler", command, drives, self.flags].into_iter().chain(flags).chain([more]);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/=:,+@%".contains(c);
    match word.chars().all(plain) && !word.is_empty() {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
