//! Statistics of a process, as fio counts them.
//!
//! **Owns** counts, summaries and buckets of one process, and how those of a group add up. **May
//! touch** nothing else: the process records, the outputs read.

mod buckets;
mod samples;
mod summary;

pub(super) use buckets::Buckets;
pub(super) use samples::{Samples, Window};
pub(super) use summary::{BATCHES, BOUNDS, Depths, LEVELS, Summary, Table};

use super::plan::{ByDirection, Direction, Recorded};
use fowler_units::{Nanos, Span};

/// Recorded latencies of one kind: a summary and a histogram.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Latency {
    /// Number, extremes, mean and deviation of the latencies of one kind (submission, completion or
    /// total), in nanoseconds.
    pub summary: Summary,
    /// Histogram of the latencies of one kind (submission, completion or total); empty if the
    /// output reports no percentiles of this kind.
    pub buckets: Buckets,
}

impl Latency {
    #[inline]
    fn record(&mut self, latency: Span, in_buckets: bool) {
        self.summary.record(latency.0);
        if in_buckets {
            self.buckets.record(latency.0);
        }
    }

    fn merge(&mut self, other: &Latency) {
        self.summary.merge(&other.summary);
        self.buckets.merge(&other.buckets);
    }
}

/// Part of a request's latency that fio reports separately: submission, completion, or both
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Submission latency (`slat`): from the time at which a process takes a request up to its
    /// hand-over to the drive.
    Submission,
    /// `clat`: from the hand-over to the collected answer.
    Completion,
    /// Total latency: submission and completion (`lat`).
    Total,
}

impl Stage {
    /// All parts of a latency, in fio's order.
    pub const ALL: [Stage; 3] = [Stage::Submission, Stage::Completion, Stage::Total];

    /// Returns fio's name for this latency (submission `slat`, completion `clat`, total `lat`) in
    /// logs and outputs.
    pub fn name(self) -> &'static str {
        ["slat", "clat", "lat"][self as usize]
    }
}

/// Requests of one direction that a process has completed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Done {
    /// Number of bytes moved by the requests.
    pub bytes: u64,
    /// Number of completed requests.
    pub requests: u64,
    /// Latencies of the requests: submission, completion and total.
    pub latencies: [Latency; 3],
    /// Summary of the bandwidth samples, in KiB/s.
    pub bandwidth: Summary,
    /// Summary of the samples of requests per second.
    pub iops: Summary,
}

impl Done {
    fn merge(&mut self, other: &Done) {
        self.bytes += other.bytes;
        self.requests += other.requests;
        self.latencies
            .iter_mut()
            .zip(&other.latencies)
            .for_each(|(latencies, more)| latencies.merge(more));
    }
}

/// Times at which a fio process took up, issued and collected a request that the drive answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    /// Time at which the process took the request up.
    pub start: Nanos,
    /// Time at which the request was handed to the drive; `None` with an engine that waits for each
    /// request.
    pub issued: Option<Nanos>,
    /// Time at which the process collected the answer.
    pub collected: Nanos,
}

impl Times {
    /// Returns the submission, completion or total latency of a request; `None` for the submission
    /// latency with a synchronous engine, which has none.
    #[inline]
    pub fn latency(&self, stage: Stage) -> Option<Span> {
        match stage {
            Stage::Submission => self.issued.map(|issued| issued - self.start),
            Stage::Completion => Some(self.collected - self.issued.unwrap_or(self.start)),
            Stage::Total => Some(self.collected - self.start),
        }
    }
}

/// Statistics of a process, or of a group of processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stats {
    /// Completed requests of a process, or of all processes of a group, by direction.
    pub done: ByDirection<Done>,
    /// Latencies of completed flushes.
    pub syncs: Latency,
    /// Latencies of all requests in fio's latency table.
    pub table: Table,
    /// Distribution of queue depths and batch sizes.
    pub depths: Depths,
    /// Run time of the process after the ramp; the longest of a group.
    pub ran: Span,
    /// Run time summed over the processes of a reporting group, in whole milliseconds.
    pub ran_in_all_ms: u64,
}

impl Stats {
    /// Records an answered data request: its bytes and latencies.
    #[inline]
    pub fn record(&mut self, direction: Direction, bytes: u32, times: &Times, how: &Recorded) {
        let done = &mut self.done[direction];
        done.bytes += u64::from(bytes);
        done.requests += 1;
        for stage in Stage::ALL {
            if let Some(latency) = times.latency(stage).filter(|_| how.kept[stage as usize]) {
                done.latencies[stage as usize].record(latency, how.of[stage as usize]);
            }
        }
        if let Some(latency) = times.latency(Stage::Completion).filter(|_| how.kept[1]) {
            self.table.record(latency.0);
        }
    }

    /// Records the times of a completed flush.
    pub fn record_sync(&mut self, times: &Times) {
        self.syncs.record(times.collected - times.start, true);
    }

    /// Returns the number of reads, writes and trims of a fio process.
    pub fn requests(&self) -> u64 {
        Direction::ALL.iter().map(|&direction| self.done[direction].requests).sum()
    }

    /// Adds the statistics of another process of the reporting group, which fio's output shows as
    /// one entry.
    pub fn merge(&mut self, other: &Stats) {
        for direction in Direction::ALL {
            let (ours, theirs) = (&mut self.done[direction], &other.done[direction]);
            ours.merge(theirs);
            ours.bandwidth.add(&theirs.bandwidth);
            ours.iops.add(&theirs.iops);
        }
        self.syncs.merge(&other.syncs);
        self.table.merge(&other.table);
        self.depths.merge(&other.depths);
        self.ran = self.ran.max(other.ran);
        self.ran_in_all_ms += other.ran_in_all_ms;
    }

    /// Returns the statistics with all directions as reads: `unified_rw_reporting`.
    pub fn unified(&self) -> Stats {
        let mut all = self.clone();
        let mut mixed = Done::default();
        for direction in Direction::ALL {
            let done = std::mem::take(&mut all.done[direction]);
            mixed.merge(&done);
            mixed.bandwidth.add(&done.bandwidth);
            mixed.iops.add(&done.iops);
        }
        all.done[Direction::Read] = mixed;
        all
    }

    /// Returns the run time in whole milliseconds, rounded up as fio does.
    pub fn ran_ms(&self) -> u64 {
        self.ran.0.div_ceil(1_000_000)
    }
}
