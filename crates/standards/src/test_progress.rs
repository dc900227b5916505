//! Progress reports of a test to the caller while it runs.

use super::steady_state::{ROUNDS_MOST, WINDOW};
use fowler_experiment::numbers::counted;

/// Lets the caller watch tests of a drive. Steps come from any thread.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set by the caller to end all tests.
    pub control: fowler_experiment::progress::Control<'a>,
    /// Called with the number of a test in the order of the specification, and the share of it that
    /// is done.
    pub share: &'a (dyn Fn(usize, f64) + Sync),
    /// A part of a drive test, such as preconditioning or one round, that reports its progress.
    pub say: &'a (dyn Fn(String) + Sync),
}

/// Progress of a part of a PTS test, reported to the caller as a share of the whole test.
#[derive(Clone)]
pub(super) struct TestProgress<'a> {
    watch: Watch<'a>,
    number: usize,
    name: String,
    /// Share of the whole drive test, from 0 to 1, that is done when the part that `self` reports
    /// begins.
    from: f64,
    until: f64,
}

impl<'a> TestProgress<'a> {
    /// Returns the progress of a whole test.
    pub fn test(watch: Watch<'a>, number: usize, name: &str) -> TestProgress<'a> {
        TestProgress { watch, number, name: name.into(), from: 0.0, until: 1.0 }
    }

    /// Returns the progress reporter of the part `name` of a drive test. The part begins and ends
    /// at the shares `from` and `until` (0 to 1) of the part that `self` reports.
    pub fn part(&self, name: &str, from: f64, until: f64) -> TestProgress<'a> {
        let within = |share: f64| self.from + share * (self.until - self.from);
        let name = format!("{} {name}", self.name);
        TestProgress { name, from: within(from), until: within(until), ..self.clone() }
    }

    /// Returns the name of the random streams from which a part of a PTS test draws its requests.
    pub fn stream(&self) -> String {
        format!("pts/{}", self.name)
    }

    /// Reports to the caller which share (0 to 1) of a part of a PTS test is done, and the current
    /// step in words.
    pub fn share(&self, share: f64, what: &str) {
        let share = self.from + share.clamp(0.0, 1.0) * (self.until - self.from);
        (self.watch.share)(self.number, share);
        (self.watch.say)(format!("{}: {what}", self.name));
    }

    /// Reports the share of a round that is done, from 0 to 1. The number of rounds is not known:
    /// at least five.
    pub fn round(&self, number: usize, share: f64) {
        let (rounds, fewest) = ((number - 1) as f64 + share, WINDOW as f64);
        let beyond = (rounds - fewest).max(0.0) / (ROUNDS_MOST as f64 - fewest);
        let done = 0.9 * (rounds / fewest).min(1.0) + 0.1 * beyond;
        self.share(done, &format!("round {number} of {ROUNDS_MOST} at most"));
    }

    /// Reports that the drive is being written before the rounds, `bytes` so far.
    pub fn preconditioning(&self, bytes: u64) {
        let gib = (bytes >> 30).max(1);
        self.share(0.0, &format!("preconditioning with {} GiB", counted(gib, "").trim()));
    }
}
