//! Counters of the drive at doubling intervals. Without a time series, they show whether the second
//! half of a run resembles the first.

use fowler_device::{BySource, Completion, Counters, Device, Layer, Probe};
use fowler_units::{Nanos, Span};

/// Time from the first request to the first reading of the drive's counters, after which the
/// interval doubles. A run has at most 45 readings and one at its end, as 2^45 ms exceeds the
/// longest time.
const FIRST: Span = Span::ms(1);

/// A reading of the drive's counters at a time after the first request of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Milestone {
    /// Time of the reading, counted from the first request of the run.
    pub at: Span,
    /// Pages programmed since the first request, by source.
    pub programs: BySource<u64>,
    /// Blocks erased since the first request.
    pub erases: u64,
    /// Number of requests in flight, integrated over the time since the first request, in
    /// nanoseconds.
    pub outstanding: u128,
    /// Time without a request in the drive, since the first request.
    pub idle: Span,
}

/// A probe that records the drive's counters at doubling intervals.
#[derive(Clone, Debug)]
pub struct Milestones {
    began: Nanos,
    due: Nanos,
    /// Counters of the drive before the first request.
    before: Milestone,
    all: Vec<Milestone>,
}

impl Default for Milestones {
    fn default() -> Self {
        let before = Milestone::default();
        Self { began: Nanos::ZERO, due: Nanos::NEVER, before, all: Vec::with_capacity(45) }
    }
}

impl Milestones {
    /// Ends the run with a last reading of the drive's counters. Returns all readings (milestones),
    /// in order of time.
    pub fn end<L: Layer>(mut self, device: &Device<L>) -> Vec<Milestone> {
        if self.due != Nanos::NEVER {
            let at = device.now() - self.began;
            self.all.retain(|milestone| milestone.at < at);
            self.all.push(reading(at, &device.counters(), &self.before));
        }
        self.all
    }
}

/// Returns a reading of the drive's counters at `at`, counted from the first request: `counters`
/// less those of `before`, the reading before the first request.
fn reading(at: Span, counters: &Counters, before: &Milestone) -> Milestone {
    Milestone {
        at,
        programs: counters.programs - before.programs,
        erases: counters.erases.sum() - before.erases,
        outstanding: counters.outstanding - before.outstanding,
        // While a request is on the link, the drive does not yet know that this is no idle time.
        idle: Span(counters.idle.0.saturating_sub(before.idle.0)),
    }
}

impl<L: Layer> Probe<L> for Milestones {
    #[inline]
    fn completed(&mut self, _completion: &Completion) {}

    fn begun(&mut self, device: &Device<L>) {
        self.began = device.now();
        self.due = self.began + FIRST;
        self.before = reading(Span::ZERO, &device.counters(), &Milestone::default());
    }

    #[inline]
    fn due(&self) -> Nanos {
        self.due
    }

    fn sampled(&mut self, device: &Device<L>) {
        let at = self.due - self.began;
        self.all.push(reading(at, &device.counters(), &self.before));
        self.due = self.began + at * 2;
    }
}
