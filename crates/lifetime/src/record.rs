//! The records of a lifetime: response times and delays of page writes, and the amount written over
//! time.

use fowler_device::{Entered, LifetimeDrive, SteadyLife};
use fowler_metrics::Latencies;
use fowler_units::{Nanos, Span};
use serde::{Deserialize, Serialize};

/// Number of equal parts of a lifetime; each is a point in every time series.
const POINTS: usize = 400;
/// Number of equal parts of a drive's initial spare capacity; the record of the life begins a new
/// entry each time that failed blocks have used up one more part.
const SPARE_PARTS: u64 = 64;
/// The most points of a close-up (a recording second by second).
const SECONDS_MOST: u64 = 86_400;

/// Time series of a drive's writes and write delays over its simulated life: sums over consecutive
/// intervals of equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Time in the drive's life, in nanoseconds, at which the first interval of the time series
    /// begins.
    pub from: Nanos,
    /// Length in nanoseconds of each interval of the drive's life that one point of the time series
    /// sums up.
    pub step: Span,
    /// Number of host pages written in each part of the life, one entry per part.
    pub pages: Vec<u64>,
    /// Number of pages programmed in each part of the life, by the host, GC and everything else.
    pub programmed: Vec<u64>,
    /// Total delay that the write throttle spread over host pages in each part of the life, without
    /// the time for which it blocked writes because no write capacity was left.
    pub spread: Vec<Span>,
    /// Total time for which the write throttle blocked host pages in each part of the life because
    /// no write capacity was left.
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

/// A part of a life in which the spare of the drive changed little, and the programs that its
/// writes took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparePart {
    /// Spare capacity at the beginning of this part of the drive's life: pages or mapping units
    /// that the drive can still lose to failed blocks.
    pub first: u64,
    /// Spare capacity at the end of this part of the drive's life: pages or mapping units that the
    /// drive can still lose to failed blocks.
    pub last: u64,
    /// Number of host pages written in this part of the drive's life.
    pub pages: u64,
    /// Number of pages programmed in this part of the drive's life, for the host, GC and everything
    /// else.
    pub programmed: u64,
}

/// Records of a life: response times, throttle delays and time series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Response times of page writes over the life.
    #[serde(with = "saved_latencies")]
    pub responses: Latencies,
    /// Throttle delays of page writes over the life.
    #[serde(with = "saved_latencies")]
    pub delays: Latencies,
    /// Sum of the squared response times of page writes, in seconds squared.
    pub squares: f64,
    /// Sums of host pages, programmed pages and throttle delays over the whole lifetime, as time
    /// series.
    pub life: Series,
    /// Time series of the close-up, second by second, from a time in the second repetition of the
    /// workload; empty if not requested.
    pub close_up: Series,
    /// Parts of the life between losses of spare capacity, in order; empty if no block fails.
    pub spare: Vec<SparePart>,
    /// Start of the close-up (a second-by-second recording of the life) in nanoseconds from the
    /// beginning of the workload's second repetition; `None` once it is reached, or without a
    /// close-up.
    awaited: Option<u64>,
    /// Number of pages that the drive had programmed when the records of its life were last
    /// updated, which is at every host write.
    programmed: u64,
}

/// State of a simulated drive just after it accepted a host write: pages programmed so far, and
/// delay of the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Time of a page's program that nothing delays.
    program: Span,
    /// Number of pages that the simulated drive has programmed since the start of its life.
    programmed: u64,
    /// Time by which the host is behind its own schedule of requests.
    behind: Span,
    /// Pages or mapping units that the drive can lose; `None` if no block fails.
    spare: Option<u64>,
}

impl Seen {
    pub(super) fn of(drive: &LifetimeDrive) -> Self {
        let programmed = drive.counters().programs.sum();
        let spare = drive.bad_blocks().map(|it| it.spare);
        Self { program: drive.program(), programmed, behind: drive.behind(), spare }
    }

    #[inline]
    pub(super) fn of_steady(life: &SteadyLife) -> Self {
        let programmed = life.counters().programs.sum();
        Self { program: life.program(), programmed, behind: life.behind(), spare: None }
    }
}

/// The form in which a distribution of latencies is saved.
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
    /// Returns empty records (response times, delays, time series) for the life of a drive that
    /// ends at `ends`. `close_up` is the start and the length of a second-by-second recording.
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
            spare: Vec::new(),
            awaited,
            programmed: 0,
        }
    }

    /// Returns true if the close-up (a recording second by second) has started; `None` if none was
    /// requested.
    pub(super) fn close_up_came(&self) -> Option<bool> {
        (!self.close_up.pages.is_empty()).then_some(self.awaited.is_none())
    }

    /// Records the response times and delays of a host write. The pages of the write share equally
    /// the delay by which the throttle slows writes down; those that the throttle blocked also
    /// share equally the time of that blocking.
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
        if let Some(spare) = seen.spare {
            self.note_spare(spare, pages, here);
        }
        if !self.close_up.pages.is_empty() {
            self.close_up(seen, entered, here, begins);
        }
    }

    fn note_spare(&mut self, spare: u64, pages: u64, programmed: u64) {
        let whole = self.spare.first().map_or(spare, |it| it.first);
        let step = (whole / SPARE_PARTS).max(1);
        match self.spare.last_mut() {
            Some(part) if part.first.saturating_sub(spare) < step => {
                part.last = spare;
                part.pages += pages;
                part.programmed += programmed;
            }
            _ => self.spare.push(SparePart { first: spare, last: spare, pages, programmed }),
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

    /// Returns the standard deviation of the response times of page writes, in microseconds.
    pub fn deviation_us(&self) -> Option<f64> {
        let mean = self.responses.mean_us()? / 1e6;
        let variance = self.squares / self.responses.count() as f64 - mean * mean;
        Some(libm::sqrt(variance.max(0.0)) * 1e6)
    }
}

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;
