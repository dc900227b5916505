//! The plan of a process of the host: the options of a job that decide when which request is
//! issued, and what is recorded of it.

use super::flow::Share;
use fowler_units::{HostOp, Span};

/// Data directions, in fio's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Reads, including the reads of `verify`.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
}

impl Direction {
    /// All directions, in the order of fio's output.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        ["read", "write", "trim"][self as usize]
    }
}

fowler_units::enumerated! {
    Direction:
    /// A value for each direction.
    pub ByDirection
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A data request in this direction.
    Data(Direction),
    /// A flush command (`fsync`).
    Sync,
    /// `fdatasync`: a flush command, as a drive knows no other.
    DataSync,
}

impl What {
    /// Returns the command of the drive.
    pub fn command(self) -> HostOp {
        match self {
            What::Data(Direction::Read) => HostOp::Read,
            What::Data(Direction::Write) => HostOp::Write,
            What::Data(Direction::Trim) => HostOp::Trim,
            What::Sync | What::DataSync => HostOp::Flush,
        }
    }
}

/// A request of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Kind of the request.
    pub what: What,
    /// The file, in the order of the job's files.
    pub file: usize,
    /// First byte of the request in the file.
    pub offset: u64,
    /// First byte of the request on the drive.
    pub address: u64,
    /// Bytes; zero for a flush.
    pub length: u32,
    /// True if all earlier requests must complete before this one: it starts another pass, or reads
    /// back written data.
    pub after_all: bool,
    /// Earliest time of issue by a log of requests, from the start of the process.
    pub not_before: Option<Span>,
}

/// The requests of one process, in order.
pub trait Requests: Send {
    /// Returns the next request; `None` at the end, which a job with `time_based` does not have.
    /// Where rates decide, `pick` is asked which direction to issue instead of the one that is
    /// next.
    fn next(&mut self, pick: &mut dyn FnMut(Direction) -> Direction) -> Option<Op>;

    /// The time is up: only flushes at the end follow.
    fn stop(&mut self);

    /// Draws the next interval of a Poisson process, in whole microseconds.
    fn gap_us(&mut self, direction: Direction, iops: u64) -> u64;
}

/// The numbers of requests that are handed over and collected at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batches {
    /// `iodepth_batch`: number of requests submitted at once.
    pub submit: u32,
    /// `iodepth_batch_complete_min`: number of completions waited for when all slots are in use.
    pub complete_min: u32,
    /// `iodepth_batch_complete_max`: largest number of completions collected at once.
    pub complete_max: u32,
    /// `iodepth_low`: number of slots in use at which collecting stops.
    pub low: u32,
}

impl Batches {
    /// Returns fio's defaults at this depth.
    #[cfg(test)]
    pub fn single(depth: u32) -> Batches {
        Batches { submit: 1, complete_min: 1, complete_max: 1, low: depth }
    }
}

/// `rate` or `rate_iops` of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Rate in bytes per second.
    pub bytes_per_s: u64,
    /// The smallest block of the direction: Poisson processes count these.
    pub block: u64,
}

/// `thinktime`: pauses between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// Length of a pause.
    pub time: Span,
    /// Number of requests between two pauses.
    pub blocks: u64,
    /// True if requests count once issued instead of once answered.
    pub counts_issued: bool,
    /// Issuing time after which the process pauses; `None` if it counts requests instead.
    pub after: Option<Span>,
}

/// `latency_target` with its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The latency that is to be met.
    pub latency: Span,
    /// Time for which each depth is tried.
    pub window: Span,
    /// Share of requests that must meet the target, in percent.
    pub percentile: f64,
    /// True if the job continues once the depth is found.
    pub runs_on: bool,
}

/// The rate that a criterion of steady state looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// Requests per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
}

/// `steadystate`: criterion for ending the job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Rate that the criterion looks at.
    pub looks: Looks,
    /// True if the slope of a line through the samples counts, instead of the largest deviation
    /// from their mean.
    pub slope: bool,
    /// Limit of the criterion.
    pub limit: f64,
    /// True if the limit is in percent of the mean.
    pub percent: bool,
    /// Seconds that are looked at, one sample each.
    pub duration: u64,
    /// Time before the first sample.
    pub ramp: Span,
}

/// The processes that end when a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Only the process itself ends.
    Itself,
    /// All processes of the group end.
    Group,
    /// The process's wave: all processes between two `stonewall`s.
    Wave,
    /// All processes end.
    All,
}

/// The latencies that have percentiles, and those that are recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Percentiles of the output, ascending, in percent.
    pub percentiles: Vec<f64>,
    /// Percentiles of submission, completion and total latency.
    pub of: [bool; 3],
    /// The windows of the samples of bandwidth and of requests per second.
    pub windows: [Span; 2],
    /// `unified_rw_reporting`: all directions as one.
    pub unified: bool,
    /// True if submission, completion and total latency are recorded at all.
    pub kept: [bool; 3],
    /// True if rates are sampled.
    pub rates: bool,
}

impl Default for Recorded {
    /// Returns fio's defaults.
    fn default() -> Recorded {
        Recorded {
            percentiles: fowler_fio::PERCENTILES.into(),
            of: [false, true, false],
            windows: [Span::ms(500); 2],
            unified: false,
            kept: [true; 3],
            rates: true,
        }
    }
}

/// The logs that a process writes, by the beginnings of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Logs {
    /// `write_bw_log`: name of the bandwidth log.
    pub bandwidth: Option<String>,
    /// `write_iops_log`: name of the IOPS log.
    pub iops: Option<String>,
    /// `write_lat_log`: submission, completion and total latency.
    pub latency: Option<String>,
    /// `write_hist_log`: name of the histogram log, and its window.
    pub histogram: Option<(String, Span)>,
    /// `log_hist_coarseness`: the number of times that neighboring buckets are added up in pairs.
    pub coarseness: u32,
    /// `log_avg_msec`: one line for each window instead of one for each request.
    pub window: Option<Span>,
    /// `log_max_value`: windows have their maximum instead of their mean.
    pub maximum: bool,
    /// `log_offset`: lines have the offset.
    pub offset: bool,
    /// `per_job_logs`: the name has the number of the process.
    pub per_job: bool,
    /// `write_iolog`: name of the request log.
    pub iolog: Option<String>,
}

/// Minimum rates of a process by direction; zero for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Least {
    /// Bytes per second.
    pub bytes: ByDirection<u64>,
    /// Requests per second.
    pub requests: ByDirection<u64>,
    /// The time over which the rates are averaged.
    pub cycle: Span,
}

/// The plan of one process of the host: a job, or one of its clones.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the job.
    pub name: String,
    /// The number of the process, from 1: fio's job number.
    pub number: u32,
    /// The job of which the process is a clone, from 0.
    pub job: usize,
    /// Group of the process in the output.
    pub group: usize,
    /// Wave of the process: it begins when every process of earlier waves has ended.
    pub wave: usize,
    /// Name of a job whose processes must all have ended, too, before this one begins.
    pub waits_for: Option<String>,
    /// Earliest begin of the process.
    pub delay: Span,
    /// The most requests in flight.
    pub depth: u32,
    /// True if the engine waits for each request.
    pub synchronous: bool,
    /// True if an engine with a queue waits for each trim.
    pub waits_for_trims: bool,
    /// Batch sizes of submission and completion.
    pub batches: Batches,
    /// The rate of each direction.
    pub rates: ByDirection<Option<Rate>>,
    /// True if rates are Poisson processes.
    pub poisson: bool,
    /// `rate_ignore_thinktime`: requests that were not issued in a pause are not caught up.
    pub pauses_shift_rates: bool,
    /// Pauses between requests; `None` for none.
    pub think: Option<Think>,
    /// `serialize_overlap`: a request waits for outstanding ones that touch the same bytes.
    pub serialize_overlap: bool,
    /// `rate_min`, `rate_iops_min`.
    pub least: Option<Least>,
    /// Part of the process in a flow.
    pub share: Option<Share>,
    /// Time after the ramp at which the process ends.
    pub runtime: Option<Span>,
    /// Time at the beginning that is not recorded.
    pub ramp: Span,
    /// Latency target; `None` for none.
    pub target: Option<Target>,
    /// Steady-state criterion; `None` for none.
    pub steady: Option<Steady>,
    /// True if a write completes only when it is durable: `sync=1` and related options.
    pub durable: bool,
    /// `max_latency`: a slower request ends the process.
    pub max_latency: Option<Span>,
    /// Other processes that end with this one.
    pub ends: Ends,
    /// Latencies and rates that are recorded.
    pub recorded: Recorded,
    /// Log files that are written.
    pub logs: Logs,
    /// Names of the process's files.
    pub files: Vec<String>,
    /// True if the clones of the job, and other jobs of the group, are one entry of the output.
    pub grouped: bool,
    /// `stats=0`: the process is not in the output.
    pub silent: bool,
    /// Upper bound of the bytes moved, if known; used only for progress.
    pub bytes: Option<u64>,
}

#[cfg(test)]
impl Plan {
    /// Returns the plan of a job that has nothing special, with this name and depth.
    pub fn new(name: &str, depth: u32) -> Plan {
        Plan {
            name: name.into(),
            number: 1,
            job: 0,
            group: 0,
            wave: 0,
            waits_for: None,
            delay: Span::ZERO,
            depth,
            synchronous: false,
            waits_for_trims: false,
            batches: Batches::single(depth),
            rates: ByDirection::default(),
            poisson: false,
            pauses_shift_rates: false,
            think: None,
            serialize_overlap: false,
            least: None,
            share: None,
            runtime: None,
            ramp: Span::ZERO,
            target: None,
            steady: None,
            durable: false,
            max_latency: None,
            ends: Ends::Itself,
            recorded: Recorded::default(),
            logs: Logs::default(),
            files: vec![name.into()],
            grouped: false,
            silent: false,
            bytes: None,
        }
    }
}

/// Host CPU time per request, on the one core of each process. Both times are assumed: see
/// docs/fio.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCosts {
    /// Time to submit a request, which reaches the drive at its end.
    pub submission: Span,
    /// Time to learn of the answer, from the interrupt to the collected result.
    pub completion: Span,
}

impl Default for HostCosts {
    /// 2 us each, as the comparison with measured drives takes for a host of libaio or io\_uring on
    /// a raw device (`protocol`).
    fn default() -> HostCosts {
        HostCosts { submission: Span::us(2), completion: Span::us(2) }
    }
}
