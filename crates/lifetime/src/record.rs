//! The records of a lifetime: response times and delays of page writes, and the amount written over
//! time.

use fowler_device::{Entered, LifetimeDrive, SteadyLife};
use fowler_metrics::Latencies;
use fowler_units::{Nanos, Span};
use serde::{Deserialize, Serialize};

/// Parts of a lifetime; each is a point in every series.
const POINTS: usize = 400;
/// The most points of a close-up, one per second.
const SECONDS_MOST: u64 = 86_400;

/// Sums over consecutive parts of equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Begin of the first part.
    pub from: Nanos,
    /// Length of each interval of the series.
    pub step: Span,
    /// Host pages written in each part.
    pub pages: Vec<u64>,
    /// Pages programmed for any source in each part.
    pub programmed: Vec<u64>,
    /// Time for which pages were throttled by delays, in each part.
    pub spread: Vec<Span>,
    /// Time for which pages were throttled by stops, in each part.
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

/// Records of a life: response times, delays and time series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Response times of page writes.
    #[serde(with = "saved_latencies")]
    pub responses: Latencies,
    /// Throttle delays of page writes.
    #[serde(with = "saved_latencies")]
    pub delays: Latencies,
    /// The sum of the squares of responses in seconds.
    pub squares: f64,
    /// Time series of sums over the lifetime.
    pub life: Series,
    /// The close-up, second by second, from a time in the second repetition; empty if not
    /// requested.
    pub close_up: Series,
    /// Start of the close-up in nanoseconds; `None` once it is reached.
    awaited: Option<u64>,
    /// Pages programmed at the time of the last recorded write.
    programmed: u64,
}

/// State of a drive after a write has entered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Time of a page write that is not delayed.
    program: Span,
    /// Number of pages programmed so far.
    programmed: u64,
    /// Time by which the host is behind its own schedule.
    behind: Span,
}

impl Seen {
    pub(super) fn of(drive: &LifetimeDrive) -> Self {
        let programmed = drive.counters().programs.sum();
        Self { program: drive.program(), programmed, behind: drive.behind() }
    }

    #[inline]
    pub(super) fn of_steady(life: &SteadyLife) -> Self {
        let programmed = life.counters().programs.sum();
        Self { program: life.program(), programmed, behind: life.behind() }
    }
}

/// The form in which latencies are saved.
mod saved_latencies {
    use fowler_metrics::Latencies;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// A saved distribution: each value and its count, the sum, and the extremes.
    type Saved = (Vec<(u64, u64)>, u128, (u64, u64));

    pub(super) fn serialize<S: Serializer>(all: &Latencies, to: S) -> Result<S::Ok, S::Error> {
        let extremes = (all.min().map_or(u64::MAX, |min| min.0), all.max().map_or(0, |max| max.0));
        (all.values(), all.sum(), extremes).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Latencies, D::Error> {
        let (values, sum, extremes) = Saved::deserialize(from)?;
        let records = Latencies::of_values(&values, sum, extremes);
        records.ok_or_else(|| D::Error::custom("response times that cannot have been recorded"))
    }
}

impl Record {
    /// Returns empty records for a drive at the start of a lifetime that ends at `ends`.
    pub(super) fn new(ends: Nanos, close_up: Option<(Span, Span)>) -> Self {
        let step = ends.0.div_ceil(POINTS as u64);
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

    /// Returns true if the close-up has started; `None` if none was requested.
    pub(super) fn close_up_came(&self) -> Option<bool> {
        (!self.close_up.pages.is_empty()).then_some(self.awaited.is_none())
    }

    /// Records a write. All of its pages have the same delay, and all stopped pages the same stop.
    #[inline]
    pub(super) fn note(&mut self, seen: Seen, entered: Entered, begins: Span) {
        let (pages, throttled) = (u64::from(entered.pages), entered.throttled);
        if pages == 0 {
            return;
        }
        let each = Span(throttled.spread.0 / pages);
        let stopped = u64::from(throttled.stops).min(pages);
        self.page(seen, each, pages - stopped);
        if let Some(stop) = throttled.stopped.0.checked_div(stopped) {
            self.page(seen, each + Span(stop), stopped);
        }
        let here = seen.programmed - std::mem::replace(&mut self.programmed, seen.programmed);
        self.life.add(entered, here);
        if !self.close_up.pages.is_empty() {
            self.close_up(seen, entered, here, begins);
        }
    }

    fn close_up(&mut self, seen: Seen, entered: Entered, here: u64, begins: Span) {
        if let Some(awaited) = self.awaited {
            let own = entered.at.0.saturating_sub(seen.behind.0);
            if begins == Span::ZERO || own < begins.0 + awaited {
                return;
            }
            (self.awaited, self.close_up.from) = (None, entered.at);
        }
        self.close_up.add(entered, here);
    }

    #[inline]
    fn page(&mut self, seen: Seen, delay: Span, count: u64) {
        let response = seen.program + delay;
        self.responses.record_many(response, count);
        self.delays.record_many(delay, count);
        self.squares += response.as_s() * response.as_s() * count as f64;
    }

    /// Returns the standard deviation of the response times, in microseconds.
    pub fn deviation_us(&self) -> Option<f64> {
        let mean = self.responses.mean_us()? / 1e6;
        let variance = self.squares / self.responses.count() as f64 - mean * mean;
        Some(libm::sqrt(variance.max(0.0)) * 1e6)
    }
}

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;
