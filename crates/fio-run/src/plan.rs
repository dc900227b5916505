//! The plan of a process of the host: the options of a job that decide when which request is
//! issued, and what is recorded of it.

use super::flow::Share;
use fowler_units::{HostOp, Span};

/// Direction of a data request, in fio's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Reads, including those that `verify` issues.
    Read,
    /// Requests that write data.
    Write,
    /// Requests that trim (discard) a range of the drive.
    Trim,
}

impl Direction {
    /// All directions, in the order of fio's output.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

    /// Returns the name of the direction in fio's JSON.
    pub fn name(self) -> &'static str {
        ["read", "write", "trim"][self as usize]
    }
}

fowler_units::enumerated! {
    Direction:
    /// A value for each direction of data requests.
    pub ByDirection
}

/// Kind of a request that a fio job issues: a read, write or trim, or a flush (`fsync`,
/// `fdatasync`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A data request in this direction.
    Data(Direction),
    /// A flush command (`fsync`).
    Sync,
    /// `fdatasync`: a flush command, as a drive knows no other.
    DataSync,
}

impl RequestKind {
    /// Returns the command that the drive receives for a request of this kind.
    pub fn command(self) -> HostOp {
        match self {
            RequestKind::Data(Direction::Read) => HostOp::Read,
            RequestKind::Data(Direction::Write) => HostOp::Write,
            RequestKind::Data(Direction::Trim) => HostOp::Trim,
            RequestKind::Sync | RequestKind::DataSync => HostOp::Flush,
        }
    }
}

/// A request of a job, with its place on the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Kind of the request of a fio job: data (a read, write or trim) or a flush.
    pub what: RequestKind,
    /// Index of the request's file among those of the job.
    pub file: usize,
    /// First byte of the request in its file.
    pub offset: u64,
    /// First byte of the request on the drive.
    pub address: u64,
    /// Length of the request in bytes; zero for a flush.
    pub length: u32,
    /// True if all earlier requests of the process must complete before this one: it begins another
    /// pass over the file (`loops`), or reads back written data for verification.
    pub after_all: bool,
    /// Earliest time of issue that a log of requests sets, from the start of the process; `None`
    /// without one.
    pub not_before: Option<Span>,
}

/// Source of the requests that one process of a fio job issues, in order of issue.
pub trait Requests: Send {
    /// Returns the next request; `None` at the end, which a job with `time_based` does not have.
    /// Where rates decide, `pick` is asked which direction to issue instead of the one that is
    /// next.
    fn next(&mut self, pick: &mut dyn FnMut(Direction) -> Direction) -> Option<Op>;

    /// Ends this source of a fio process's requests because the process must end, for example after
    /// its `runtime`: from then on, `next` returns only the flushes that the job issues at its end.
    fn stop(&mut self);

    /// Draws the next interval of a Poisson process of `iops` requests per second, in whole
    /// microseconds.
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
    /// Returns the batch sizes that fio has by default at this queue depth.
    #[cfg(test)]
    pub fn single(depth: u32) -> Batches {
        Batches { submit: 1, complete_min: 1, complete_max: 1, low: depth }
    }
}

/// Rate of a process in one direction, from `rate` or `rate_iops`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Number of bytes per second that the process may move in the direction.
    pub bytes_per_s: u64,
    /// Smallest request of the direction, in bytes; Poisson processes count requests of this size.
    pub block: u64,
}

/// Pauses of a process between its requests (`thinktime`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// Length of each pause that the process makes between its requests (`thinktime`).
    pub time: Span,
    /// Number of requests of the process between two pauses (`thinktime_blocks`).
    pub blocks: u64,
    /// True if the requests between two pauses of the process are counted when they are issued,
    /// false if when they are answered.
    pub counts_issued: bool,
    /// Time for which the process issues requests before each pause; `None` if it pauses after a
    /// number of requests instead.
    pub after: Option<Span>,
}

/// Latency that a process has to meet: `latency_target` with its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// `latency_target` of fio: the latency that `percentile` percent of the job's requests must
    /// not exceed.
    pub latency: Span,
    /// Time for which each queue depth is tried in the search for the largest that meets the
    /// latency target.
    pub window: Span,
    /// Percentage of requests that must not be slower than the latency target.
    pub percentile: f64,
    /// True if the job continues once the queue depth is found.
    pub runs_on: bool,
}

/// Rate whose steadiness a criterion examines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// The number of requests per second that the fio job completes.
    Iops,
    /// The number of bytes per second that the requests of the fio job move.
    Bandwidth,
}

/// Steady-state criterion that ends a job (`steadystate`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Rate of the job, requests or bytes per second, that must become steady for fio's
    /// steady-state criterion (`steadystate`) to end the job.
    pub looks: Looks,
    /// True if fio's steady-state criterion (`steadystate`) limits the slope of a line through the
    /// one-second samples of the job's rate; false if it limits their largest deviation from the
    /// mean.
    pub slope: bool,
    /// Limit of the slope or deviation of the rate: in percent of the mean, or in the unit of the
    /// rate.
    pub limit: f64,
    /// True if the limit of a steady-state criterion is in percent of the mean.
    pub percent: bool,
    /// Number of latest one-second samples of the rate that the steady-state criterion examines.
    pub duration: u64,
    /// Time after the start of the job before the rate is first sampled for the steady-state
    /// criterion.
    pub ramp: Span,
}

/// Processes of a simulated fio run that end together with a process that ends (`exitall`,
/// `exit_what`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// When a process ends, no other process ends with it (no `exitall`).
    Itself,
    /// When a process ends, all processes of its group end with it.
    Group,
    /// When a process ends, all processes of its wave (the jobs between two `stonewall`s) end with
    /// it.
    Wave,
    /// When a process ends, all processes of the run end with it.
    All,
}

/// Latencies and rates that a process records, and the percentiles that it reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Percentiles of latency in the output, ascending, in percent.
    pub percentiles: Vec<f64>,
    /// True for each kind of latency with percentiles: submission, completion and total.
    pub of: [bool; 3],
    /// Lengths of the windows in which bandwidth and requests per second are sampled.
    pub windows: [Span; 2],
    /// True if all directions are reported as one (`unified_rw_reporting`).
    pub unified: bool,
    /// True for each kind of latency that is recorded: submission, completion and total.
    pub kept: [bool; 3],
    /// True if bandwidth and requests per second are sampled.
    pub rates: bool,
}

impl Default for Recorded {
    /// Returns the latencies and percentiles that fio records by default.
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
    /// Name of the bandwidth log (`write_bw_log`); `None` for no log.
    pub bandwidth: Option<String>,
    /// Name of the log of requests per second (`write_iops_log`); `None` for no log.
    pub iops: Option<String>,
    /// Name of the logs of submission, completion and total latency (`write_lat_log`).
    pub latency: Option<String>,
    /// Name of the histogram log (`write_hist_log`), and the window of each line; `None` for no
    /// log.
    pub histogram: Option<(String, Span)>,
    /// `log_hist_coarseness`: the number of times that neighboring buckets are added up in pairs.
    pub coarseness: u32,
    /// Window that a log line averages (`log_avg_msec`); `None` for a line per request.
    pub window: Option<Span>,
    /// True if a log line has the maximum of its window, false for the mean (`log_max_value`).
    pub maximum: bool,
    /// True if log lines have the offset of the request (`log_offset`).
    pub offset: bool,
    /// True if the names of log files contain the number of the process (`per_job_logs`).
    pub per_job: bool,
    /// Name of the log of all requests (`write_iolog`); `None` for no log.
    pub iolog: Option<String>,
}

/// Lowest rates at which a process does not fail, by direction; zero for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Least {
    /// Bandwidth in bytes per second below which the process fails (`rate_min`), by direction; zero
    /// for no limit.
    pub bytes: ByDirection<u64>,
    /// Requests per second below which the process fails (`rate_iops_min`), by direction; zero for
    /// no limit.
    pub requests: ByDirection<u64>,
    /// Time over which a rate is averaged before it is compared with `rate_min` and
    /// `rate_iops_min`.
    pub cycle: Span,
}

/// The plan of one process of the host: a job, or one of its clones.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the process's job.
    pub name: String,
    /// Number of the process, from 1: the job number in fio.
    pub number: u32,
    /// Index of the job of which the process is a clone, from 0.
    pub job: usize,
    /// Number of the group of processes, which fio's output can report together, to which this
    /// process belongs.
    pub group: usize,
    /// Wave of the process: it begins when every process of earlier waves has ended.
    pub wave: usize,
    /// Name of a job whose processes must have ended before this one begins (`wait_for`); `None`
    /// for no such job.
    pub waits_for: Option<String>,
    /// Shortest time from the start of the process's wave (the processes between two `stonewall`s)
    /// to the start of the process.
    pub delay: Span,
    /// Largest number of requests that the process has in flight.
    pub depth: u32,
    /// True if the process's engine waits for each request before it issues the next.
    pub synchronous: bool,
    /// True if the process waits for each trim although its engine keeps other requests in flight.
    pub waits_for_trims: bool,
    /// Numbers of requests that the process submits and collects at once.
    pub batches: Batches,
    /// Rate of the process, by direction; `None` for no limit.
    pub rates: ByDirection<Option<Rate>>,
    /// True if the intervals of rates are those of a Poisson process, false if they are equal.
    pub poisson: bool,
    /// True if requests that were not issued in a pause are not caught up
    /// (`rate_ignore_thinktime`).
    pub pauses_shift_rates: bool,
    /// Pauses of the process between its requests (`thinktime`); `None` for none.
    pub think: Option<Think>,
    /// True if a request waits for outstanding ones that touch the same bytes
    /// (`serialize_overlap`).
    pub serialize_overlap: bool,
    /// Lowest rates of the process (`rate_min`, `rate_iops_min`); `None` for none.
    pub least: Option<Least>,
    /// Flow that the process belongs to, and the process's weight there: processes of one flow
    /// issue requests in proportion to their weights. `None` for a process in no flow.
    pub share: Option<Share>,
    /// Time after the ramp at which the process ends; `None` for no limit.
    pub runtime: Option<Span>,
    /// Time at the beginning of the process that is not recorded.
    pub ramp: Span,
    /// Latency that the process has to meet; `None` for none.
    pub target: Option<Target>,
    /// Steady-state criterion that ends the process; `None` for none.
    pub steady: Option<Steady>,
    /// True if a write completes only when it is durable: `sync=1` and related options.
    pub durable: bool,
    /// Latency of a request above which the process ends (`max_latency`); `None` for no limit.
    pub max_latency: Option<Span>,
    /// Other processes that end when this one ends.
    pub ends: Ends,
    /// Latencies and rates that the process measures, as its job's options (`disable_lat` and so
    /// on) choose.
    pub recorded: Recorded,
    /// Log files that the process writes.
    pub logs: Logs,
    /// Names of the process's files.
    pub files: Vec<String>,
    /// True if the processes of the group share one entry of the output (`group_reporting`).
    pub grouped: bool,
    /// True if the process is left out of the output (`stats=0`).
    pub silent: bool,
    /// Upper bound of the bytes that the process moves, if known; used only for progress.
    pub bytes: Option<u64>,
}

#[cfg(test)]
impl Plan {
    /// Returns the plan of a job without special options, with this name and queue depth.
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

/// Host CPU time to submit a request and to receive its answer, on the one core of each process.
/// Both times are assumed: see docs/fio.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCosts {
    /// CPU time to submit a request, which reaches the drive at its end.
    pub submission: Span,
    /// CPU time to receive the answer to a request, from the interrupt to the collected result.
    pub completion: Span,
}

impl Default for HostCosts {
    /// Returns 2 us of host CPU time to submit a request and 2 us to receive its answer: assumed
    /// for a host that reaches a raw device through libaio or io\_uring. Comparisons of simulated
    /// with measured drives assume as much.
    fn default() -> HostCosts {
        HostCosts { submission: Span::us(2), completion: Span::us(2) }
    }
}
