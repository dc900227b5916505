//! The record of a benchmark job: latencies of probe and load, and the drive's counters over time.

use super::estimate::{Estimate, quantile};
use super::job::{Job, Length, Role};
use super::scale::Effort;
use crate::streams::{Answer, Go, Watcher};
use fowler_device::{Counters, Device, Layer, Source};
use fowler_metrics::{ByKind, Kind, Latencies};
use fowler_units::{Nanos, Span};

/// Latencies of the reads, or of the writes, of all probe streams (the measured ones) or of all
/// load streams of a benchmark job.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    all: Latencies,
    /// Latencies of single requests of the probe streams in order of completion, in nanoseconds;
    /// empty in the tally of the load streams.
    kept: Vec<u64>,
}

impl Tally {
    fn record(&mut self, latency: Span, keep: bool) {
        self.all.record(latency);
        if keep {
            self.kept.push(latency.0);
        }
    }

    /// Returns the number of latencies recorded.
    pub fn count(&self) -> u64 {
        self.all.count()
    }

    /// Returns the mean latency in microseconds, with its confidence interval.
    pub fn mean_us(&self) -> Option<Estimate> {
        let value = self.all.mean_us()?;
        let length = self.kept.len() / MEAN_BATCHES;
        if length == 0 {
            return Some(Estimate::bare(value));
        }
        let mean = |batch: &[u64]| batch.iter().sum::<u64>() as f64 / batch.len() as f64 / 1e3;
        let batches: Vec<f64> = self.kept.chunks_exact(length).map(mean).collect();
        Some(Estimate::of_batches(value, &batches))
    }

    /// Returns quantiles of the latencies in microseconds; `None` for a quantile with too few
    /// latencies beyond it.
    pub fn quantiles_us<const N: usize>(&self, of: [f64; N]) -> [Option<Estimate>; N] {
        if self.kept.is_empty() {
            return of.map(|p| self.counted(p));
        }
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        of.map(|p| quantile(&sorted, &self.kept, p).map(|it| it.map(|ns| ns / 1e3)))
    }

    /// Returns a quantile `p` (0 to 1) of the latencies in microseconds, from their histogram and
    /// thus without a confidence interval; `None` with fewer than ten latencies beyond it.
    fn counted(&self, p: f64) -> Option<Estimate> {
        let count = self.all.count();
        let beyond = count as f64 * p.min(1.0 - p);
        let beyond_it = |&(_, later): &(Span, u64)| later as f64 <= count as f64 * (1.0 - p);
        let found = (beyond >= 10.0).then(|| self.all.later_than().find(beyond_it)).flatten();
        found.map(|(latency, _)| Estimate::bare(latency.as_us()))
    }
}

/// Number of batches from which the interval of a mean is computed.
const MEAN_BATCHES: usize = 20;

/// Counters of a benchmark job at one time of its run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moment {
    /// Time at which the drive's counters were recorded, in seconds since the start of the
    /// benchmark job.
    pub at: f64,
    /// Bytes that the host has read, and bytes that it has written, since the start of the job.
    pub moved: [f64; 2],
    /// Requests completed since the start of the job: reads and writes of the probe, then of the
    /// load.
    pub answered: [[f64; 2]; 2],
    /// Bytes programmed since the start of the job, including bytes that GC copied.
    pub programmed: f64,
    /// Bytes that GC copied since the start of the job.
    pub copied: f64,
}

impl Moment {
    /// Returns the drive's counters at the time `at`, between this record of the counters and the
    /// next one, interpolated linearly.
    pub fn towards(&self, next: &Moment, at: f64) -> Moment {
        let share = match next.at - self.at {
            0.0 => 0.0,
            span => (at - self.at) / span,
        };
        let mix = |one: f64, other: f64| one + share * (other - one);
        let both = |one: [f64; 2], other: [f64; 2]| [mix(one[0], other[0]), mix(one[1], other[1])];
        Moment {
            at,
            moved: both(self.moved, next.moved),
            answered: [
                both(self.answered[0], next.answered[0]),
                both(self.answered[1], next.answered[1]),
            ],
            programmed: mix(self.programmed, next.programmed),
            copied: mix(self.copied, next.copied),
        }
    }
}

/// Number of times at which the drive's counters are recorded during a benchmark job whose length
/// is known.
const MOMENTS: f64 = 240.0;
/// Number of completed requests between two records of the drive's counters during a benchmark job
/// whose length is not known.
const ANSWERS: f64 = 4_000.0;

/// Records a benchmark job and decides when it ends.
pub(super) struct Recording<'a> {
    job: &'a Job,
    effort: &'a Effort,
    /// Bytes read and written after which the job ends; infinite if it ends by time.
    bytes: f64,
    /// Seconds after which the job ends; infinite if it ends by the amount of data.
    seconds: f64,
    before: Counters,
    /// Size in bytes of the unit in which the drive counts programs: a page, or a mapping unit if a
    /// page holds several.
    page: f64,
    /// Size in bytes of one block on every plane of the drive.
    row: f64,
    began: Nanos,
    so_far: Moment,
    /// Counters of the simulated drive at the end of a benchmark job's warm-up; `None` before it.
    warm: Option<Moment>,
    next_moment: f64,
    next_check: u64,
    /// Counters of the drive at points in time since the start of the job, in order of time.
    pub moments: Vec<Moment>,
    /// Latencies of the probe, then of the load, recorded since the end of the warm-up.
    pub tallies: [ByKind<Tally>; 2],
}

impl<'a> Recording<'a> {
    /// Starts the record of a job on a drive that is smaller than the measured one by `factor`.
    pub fn new<L: Layer>(
        job: &'a Job,
        effort: &'a Effort,
        device: &Device<L>,
        factor: f64,
    ) -> Recording<'a> {
        let (logical, raw) = (device.layout().logical.0 as f64, device.layout().raw.0 as f64);
        let (bytes, seconds) = match job.length {
            Length::Moved { times, .. } => (times * logical, f64::INFINITY),
            Length::Tail { .. } => (f64::INFINITY, f64::INFINITY),
            Length::Lasting(span) => (f64::INFINITY, span.as_s() / factor),
        };
        Recording {
            job,
            effort,
            bytes,
            seconds,
            before: device.counters(),
            page: device.layout().page_size.0 as f64,
            row: raw / f64::from(device.layout().geometry.blocks_per_plane),
            began: device.now(),
            so_far: Moment::default(),
            warm: None,
            next_moment: 0.0,
            next_check: effort.of_a_tail().0,
            moments: vec![Moment::default()],
            tallies: Default::default(),
        }
    }

    /// Returns true if the warm-up is over, so that latencies are recorded.
    fn counts(&self) -> bool {
        match self.job.length {
            Length::Moved { counted_from, .. } => self.moved() >= counted_from * self.bytes,
            Length::Tail { .. } => self.warm.is_some(),
            Length::Lasting(_) => true,
        }
    }

    fn moved(&self) -> f64 {
        self.so_far.moved[0] + self.so_far.moved[1]
    }

    /// Records the counters of the simulated drive if the next record of the benchmark job is due.
    fn note<L: Layer>(&mut self, device: &Device<L>, last: bool) {
        let (position, step) = match self.job.length {
            Length::Moved { .. } => (self.moved(), self.bytes / MOMENTS),
            Length::Tail { .. } => (self.so_far.answered.iter().flatten().sum::<f64>(), ANSWERS),
            Length::Lasting(_) => (self.so_far.at, self.seconds / MOMENTS),
        };
        if position < self.next_moment && !last {
            return;
        }
        self.next_moment = position + step;
        let counters = device.counters().since(&self.before);
        self.so_far.programmed = counters.programs.sum() as f64 * self.page;
        self.so_far.copied = counters.programs[Source::Gc] as f64 * self.page;
        self.moments.push(self.so_far);
        if let (Length::Tail { warm_up, turns }, None) = (self.job.length, self.warm)
            && self.so_far.at >= warm_up.as_s()
            && self.so_far.programmed >= turns * self.row
        {
            self.warm = Some(self.so_far);
        }
    }

    /// Returns the time at which the warm-up ended, in seconds since the start of the job.
    pub fn from(&self) -> f64 {
        self.warm.map_or(0.0, |moment| moment.at)
    }

    /// Returns true if, since the end of the warm-up of a benchmark job that measures tail latency,
    /// as many blocks were programmed on every plane as the job requires.
    fn has_turned(&self) -> bool {
        let Length::Tail { turns, .. } = self.job.length else { return true };
        let from = self.warm.map_or(0.0, |moment| moment.programmed);
        self.so_far.programmed - from >= turns * self.effort.longer * self.row
    }

    /// Returns true if the tail latencies of the probe are known to the required precision.
    fn known(&mut self) -> bool {
        let probe = &self.tallies[Role::Probe as usize];
        let counts = Kind::ALL.map(|kind| probe[kind].count());
        let seldom = counts.into_iter().filter(|&count| count > 0).min().unwrap_or(0);
        if seldom < self.next_check || !self.has_turned() {
            return false;
        }
        self.next_check = seldom + seldom / 2;
        let (_, most, within) = self.effort.of_a_tail();
        let precise = |kind: Kind| {
            let tally = &probe[kind];
            let relative = tally.quantiles_us([0.999])[0].and_then(|it| it.relative());
            tally.count() == 0 || relative.is_some_and(|it| it <= within)
        };
        seldom >= most || Kind::ALL.into_iter().all(precise)
    }
}

impl<L: Layer> Watcher<L> for Recording<'_> {
    fn answered(&mut self, device: &Device<L>, answer: Answer<'_>) -> Go {
        let io = &answer.completion.io;
        let Some(kind) = Kind::of(io.op) else { return Go::On };
        let role = self.job.streams[answer.stream].role;
        self.so_far.at = (device.now() - self.began).as_s();
        self.so_far.moved[kind as usize] += f64::from(io.size);
        self.so_far.answered[role as usize][kind as usize] += 1.0;
        if self.counts() {
            self.tallies[role as usize][kind].record(answer.latency, role == Role::Probe);
        }
        let ends = match self.job.length {
            Length::Moved { .. } => self.moved() >= self.bytes,
            Length::Lasting(_) => self.so_far.at >= self.seconds,
            Length::Tail { .. } => role == Role::Probe && self.known(),
        };
        self.note(device, ends);
        if ends { Go::End } else { Go::On }
    }
}
