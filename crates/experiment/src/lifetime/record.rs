//! What is recorded of a life: how long each page write took and was delayed, and how much was
//! written when.

use fowler_device::{Entered, LifetimeDrive};
use fowler_metrics::Latencies;
use fowler_units::{Nanos, Span};
use serde::{Deserialize, Serialize};

/// Parts of a life, each of which has a point in every series.
const POINTS: usize = 400;
/// Points of a close-up at most: its seconds.
const SECONDS_MOST: u64 = 86_400;

/// Sums over parts of time of one length, from a moment on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// When the first part begins.
    pub from: Nanos,
    /// How long each is.
    pub step: Span,
    /// Pages of the host, for each part.
    pub pages: Vec<u64>,
    /// Pages programmed for any source.
    pub programmed: Vec<u64>,
    /// How long pages were throttled: by delays, and by stops.
    pub spread: Vec<Span>,
    /// See above.
    pub stopped: Vec<Span>,
}

impl Series {
    fn new(from: Nanos, step: Span, points: usize) -> Self {
        let (pages, spread) = (vec![0; points], vec![Span::ZERO; points]);
        let (programmed, stopped) = (pages.clone(), spread.clone());
        Self { from, step: step.max(Span::ns(1)), pages, programmed, spread, stopped }
    }

    #[inline]
    fn add(&mut self, entered: Entered, programmed: u64) {
        let Some(after) = entered.at.0.checked_sub(self.from.0) else { return };
        let point = (after / self.step.0) as usize;
        if point < self.pages.len() {
            self.pages[point] += u64::from(entered.pages);
            self.programmed[point] += programmed;
            self.spread[point] += entered.throttled.spread;
            self.stopped[point] += entered.throttled.stopped;
        }
    }
}

/// What is recorded.
#[derive(Clone, Debug)]
pub struct Record {
    /// How long page writes took.
    pub responses: Latencies,
    /// How long the throttle delayed them.
    pub delays: Latencies,
    /// The sum of the squares of responses in seconds.
    pub squares: f64,
    /// Over the life.
    pub life: Series,
    /// Second by second, from a moment of the second repetition in the host's own time on; empty if
    /// that was not wanted.
    pub close_up: Series,
    /// That moment, as long as it has not come.
    awaited: Option<u64>,
    /// Pages programmed when a write was noted last.
    programmed: u64,
}

/// The same, as it is saved.
#[derive(Serialize, Deserialize)]
pub(super) struct RecordSnapshot {
    responses: LatenciesSnapshot,
    delays: LatenciesSnapshot,
    squares: f64,
    life: Series,
    close_up: Series,
    awaited: Option<u64>,
    programmed: u64,
}

#[derive(Serialize, Deserialize)]
struct LatenciesSnapshot {
    values: Vec<(u64, u64)>,
    sum: u128,
    extremes: (u64, u64),
}

impl LatenciesSnapshot {
    fn of(all: &Latencies) -> Self {
        let extremes = (all.min().map_or(u64::MAX, |min| min.0), all.max().map_or(0, |max| max.0));
        Self { values: all.values(), sum: all.sum(), extremes }
    }

    fn latencies(&self) -> Latencies {
        Latencies::of_values(&self.values, self.sum, self.extremes)
    }
}

impl Record {
    /// Nothing yet, of a drive that begins to live.
    pub(super) fn new(drive: &LifetimeDrive, close_up: Option<(Span, Span)>) -> Self {
        let step = drive.ends().0.div_ceil(POINTS as u64);
        let awaited = close_up.map(|(from, _)| from.0);
        let close_up = close_up.map_or_else(Series::default, |(_, length)| {
            let seconds = (length.0 / SECOND).min(SECONDS_MOST);
            Series::new(Nanos::ZERO, Span(SECOND), seconds as usize)
        });
        Self {
            responses: Latencies::new(),
            delays: Latencies::new(),
            squares: 0.0,
            life: Series::new(Nanos::ZERO, Span(step), POINTS),
            close_up,
            awaited,
            programmed: 0,
        }
    }

    /// Whether the moment came from which on it is recorded second by second; none if that was not
    /// wanted.
    pub(super) fn close_up_came(&self) -> Option<bool> {
        (!self.close_up.pages.is_empty()).then_some(self.awaited.is_none())
    }

    pub(super) fn snapshot(&self) -> RecordSnapshot {
        RecordSnapshot {
            responses: LatenciesSnapshot::of(&self.responses),
            delays: LatenciesSnapshot::of(&self.delays),
            squares: self.squares,
            life: self.life.clone(),
            close_up: self.close_up.clone(),
            awaited: self.awaited,
            programmed: self.programmed,
        }
    }

    pub(super) fn of_snapshot(saved: RecordSnapshot) -> Self {
        Self {
            responses: saved.responses.latencies(),
            delays: saved.delays.latencies(),
            squares: saved.squares,
            life: saved.life,
            close_up: saved.close_up,
            awaited: saved.awaited,
            programmed: saved.programmed,
        }
    }

    /// Takes note of a write: each of its pages was delayed alike, and those that were stopped were
    /// so alike.
    #[inline]
    pub(super) fn note(&mut self, drive: &LifetimeDrive, entered: Entered, begins: Span) {
        let (pages, throttled) = (u64::from(entered.pages), entered.throttled);
        if pages == 0 {
            return;
        }
        let each = Span(throttled.spread.0 / pages);
        let stopped = u64::from(throttled.stops).min(pages);
        self.page(drive, each, pages - stopped);
        if let Some(stop) = throttled.stopped.0.checked_div(stopped) {
            self.page(drive, each + Span(stop), stopped);
        }
        let programmed = drive.counters().programs.sum();
        let here = programmed - std::mem::replace(&mut self.programmed, programmed);
        self.life.add(entered, here);
        if !self.close_up.pages.is_empty() {
            self.close_up(drive, entered, here, begins);
        }
    }

    fn close_up(&mut self, drive: &LifetimeDrive, entered: Entered, here: u64, begins: Span) {
        if let Some(awaited) = self.awaited {
            let own = entered.at.0.saturating_sub(drive.behind().0);
            if begins == Span::ZERO || own < begins.0 + awaited {
                return;
            }
            (self.awaited, self.close_up.from) = (None, entered.at);
        }
        self.close_up.add(entered, here);
    }

    #[inline]
    fn page(&mut self, drive: &LifetimeDrive, delay: Span, count: u64) {
        let response = drive.program() + delay;
        self.responses.record_many(response, count);
        self.delays.record_many(delay, count);
        self.squares += response.as_s() * response.as_s() * count as f64;
    }

    /// The standard deviation of the responses, in microseconds.
    pub fn deviation_us(&self) -> Option<f64> {
        let mean = self.responses.mean_us()? / 1e6;
        let variance = self.squares / self.responses.count() as f64 - mean * mean;
        Some(libm::sqrt(variance.max(0.0)) * 1e6)
    }
}

/// Nanoseconds.
const SECOND: u64 = 1_000_000_000;
