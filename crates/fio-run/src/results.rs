//! The result of a run of jobs, before it is written in one of fio's formats.

use super::plan::{Direction, HostCosts, Looks, Plan, Recorded, Steady, Target};
use super::stats::{Stage, Stats};
use super::steady_state::Finding;
use fowler_device::Counters;
use fowler_experiment::outcome::Outcome;
use fowler_experiment::outcome::streams::Seen;
use fowler_units::Span;
use std::path::PathBuf;

/// A job of the output: a process, or with `group_reporting` a group of them.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Name of the job that this entry of fio's output reports; of the first job if
    /// `group_reporting` sums up several.
    pub name: String,
    /// Number, from 0, of the group of jobs that this entry of fio's output reports or is part of.
    pub group: usize,
    /// Number of processes (jobs and their clones) that this entry of fio's output sums up.
    pub processes: usize,
    /// Options of the job that this entry of fio's output reports, by fio's names, as the job file
    /// gives them.
    pub options: Vec<(String, String)>,
    /// Statistics of the requests of all processes that this entry of fio's output sums up.
    pub stats: Stats,
    /// Latencies and rates that an entry (a process, or a group with `group_reporting`) of fio's
    /// output reports, and the percentiles of latency.
    pub recorded: Recorded,
    /// Queue depth of the processes that this entry of fio's output reports, in requests; with a
    /// latency target, the depth that the search for one found.
    pub depth: u32,
    /// Latency target of the processes that this entry of fio's output reports; `None` for none.
    pub target: Option<Target>,
    /// Steady-state criterion (`steadystate`) of the job that this entry of fio's output reports,
    /// with the result of its last examination; `None` for no criterion.
    pub steady: Option<(Steady, Finding)>,
    /// Error number of the processes as in `errno`, 0 for none; 84 if data read back is not what
    /// was written.
    pub error: u32,
}

impl Entry {
    /// Returns the entry of fio's output that reports one process, with these statistics and
    /// options, and with the queue depth that the process had at its end.
    pub fn new(plan: &Plan, stats: Stats, depth: u32, options: Vec<(String, String)>) -> Entry {
        Entry {
            name: plan.name.clone(),
            group: plan.group,
            processes: 1,
            options,
            stats: if plan.recorded.unified { stats.unified() } else { stats },
            recorded: plan.recorded.clone(),
            depth,
            target: plan.target,
            steady: None,
            error: 0,
        }
    }

    /// Adds the statistics of another process of the same group of jobs to this entry of fio's
    /// output.
    pub fn merge(&mut self, other: Entry) {
        self.processes += other.processes;
        self.stats.merge(&other.stats);
        self.error = self.error.max(other.error);
    }
}

impl Entry {
    /// Returns the latencies and rates of a process or group in fio's output, for each kind of
    /// request that it issued.
    pub fn seen(&self) -> impl Iterator<Item = Seen> + '_ {
        let some = |direction: &Direction| self.stats.done[*direction].requests > 0;
        Direction::ALL.into_iter().filter(some).map(|direction| {
            let done = &self.stats.done[direction];
            // Completions have buckets by default, and totals if the job asks for them. All numbers
            // of a row are of the same.
            let p99 = |stage: Stage| {
                let buckets = &done.latencies[stage as usize].buckets;
                buckets.percentiles(&[99.0]).next().map(|(_, ns)| (stage, ns))
            };
            let found = p99(Stage::Total).or_else(|| p99(Stage::Completion));
            let stage = found.map_or(Stage::Total, |(stage, _)| stage);
            let latencies = &done.latencies[stage as usize];
            let mut later = latencies.buckets.filled().map(|(_, count)| count).sum::<u64>();
            let later_than = latencies.buckets.filled().map(|(ns, count)| {
                later -= count;
                (Span::ns(ns), later)
            });
            Seen {
                stream: self.name.clone(),
                kind: direction.name(),
                requests: done.requests,
                bytes: done.bytes,
                over: self.stats.ran,
                mean_us: latencies.summary.mean / 1e3,
                p99_us: found.map(|(_, ns)| ns as f64 / 1e3),
                max_us: latencies.summary.max as f64 / 1e3,
                later_than: later_than.collect(),
            }
        })
    }
}

/// Names the criterion of steady state as fio does.
pub(super) fn criterion(steady: &Steady) -> String {
    let looks = match steady.looks {
        Looks::Iops => "iops",
        Looks::Bandwidth => "bw",
    };
    let slope = if steady.slope { "_slope" } else { "" };
    let percent = if steady.percent { "%" } else { "" };
    format!("{looks}{slope}:{:.6}{percent}", steady.limit)
}

/// A region of the drive that stands for a file or a device of the jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Name of the file or device in the jobs.
    pub name: String,
    /// First byte, on the drive, of the region that stands for a file or device of the jobs.
    pub start: u64,
    /// Length in bytes of the region of the drive that stands for a file or device of the jobs.
    pub length: u64,
}

/// Result of a finished run of jobs, for fio's outputs.
pub struct Fio {
    /// Result of the simulated drive: counters, latencies and time accounting, as of any other run.
    pub outcome: Outcome,
    /// Entries of the output: processes, or groups that report together.
    pub(super) entries: Vec<Entry>,
    /// Counters of the drive for each group of jobs that fio's output can report together, from the
    /// end of the group's ramp (`ramp_time`) on; `None` if the measurement of the group never
    /// started.
    pub(super) groups: Vec<Option<Counters>>,
    /// Options of all jobs, in fio's words.
    pub(super) global: Vec<(String, String)>,
    /// Regions of the drive that stand for the files of the jobs.
    pub regions: Vec<Region>,
    /// Notes for the user about how the jobs were understood.
    pub notes: Vec<String>,
    /// Options of the job file that have no effect on a simulated drive.
    pub no_effect: Vec<String>,
    /// Host CPU time that each request cost.
    pub costs: HostCosts,
    /// Paths of the log files that were written.
    pub logs: Vec<PathBuf>,
    /// Simulated time until the last process ended.
    pub elapsed: Span,
}
