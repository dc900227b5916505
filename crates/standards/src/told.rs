//! What the caller hears of a test while it runs.

use super::steady::{ROUNDS_MOST, WINDOW};
use fowler_experiment::numbers::counted;

/// Lets the caller watch tests. Steps come from any thread.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set by the caller to end everything.
    pub control: fowler_experiment::progress::Control<'a>,
    /// Called with the number of a test in the order of the specification, and the share of it that
    /// is done.
    pub share: &'a (dyn Fn(usize, f64) + Sync),
    /// Called with what a test is at.
    pub say: &'a (dyn Fn(String) + Sync),
}

/// A part of a test, which tells how far it is.
#[derive(Clone)]
pub(super) struct Told<'a> {
    watch: Watch<'a>,
    number: usize,
    name: String,
    /// Which shares of the test this part takes.
    from: f64,
    until: f64,
}

impl<'a> Told<'a> {
    /// Returns the whole of a test.
    pub fn test(watch: Watch<'a>, number: usize, name: &str) -> Told<'a> {
        Told { watch, number, name: name.into(), from: 0.0, until: 1.0 }
    }

    /// Returns the part of it from one share to another.
    pub fn part(&self, name: &str, from: f64, until: f64) -> Told<'a> {
        let within = |share: f64| self.from + share * (self.until - self.from);
        let name = format!("{} {name}", self.name);
        Told { name, from: within(from), until: within(until), ..self.clone() }
    }

    /// Returns the name of the random streams of this part.
    pub fn stream(&self) -> String {
        format!("pts/{}", self.name)
    }

    /// Tells how much of it is done, from 0 to 1, and what is being done.
    pub fn share(&self, share: f64, what: &str) {
        let share = self.from + share.clamp(0.0, 1.0) * (self.until - self.from);
        (self.watch.share)(self.number, share);
        (self.watch.say)(format!("{}: {what}", self.name));
    }

    /// Tells how much of a round is done. How many there will be is not known: at least five.
    pub fn round(&self, number: usize, share: f64) {
        let (rounds, fewest) = ((number - 1) as f64 + share, WINDOW as f64);
        let beyond = (rounds - fewest).max(0.0) / (ROUNDS_MOST as f64 - fewest);
        let done = 0.9 * (rounds / fewest).min(1.0) + 0.1 * beyond;
        self.share(done, &format!("round {number} of {ROUNDS_MOST} at most"));
    }

    /// Tells that the drive is being written before the rounds.
    pub fn preconditioning(&self, bytes: u64) {
        let gib = (bytes >> 30).max(1);
        self.share(0.0, &format!("preconditioning with {} GiB", counted(gib, "").trim()));
    }
}
