//! A job: the work of one fio process, with every option parsed.

use crate::recording::Recording;
use fowler_units::{HostOp, Span};
use std::sync::Arc;

/// Operation of a request; fio distinguishes two kinds of flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// A read: the request returns data.
    Read,
    /// A write: the request stores data.
    Write,
    /// A trim: the request discards data.
    Trim,
    /// A flush as `fsync` asks for it: all writes become durable.
    Sync,
    /// A flush as `fdatasync` asks for it: all writes become durable.
    DataSync,
}

impl Op {
    /// Returns the word for the operation in fio's logs.
    pub fn word(self) -> &'static str {
        ["read", "write", "trim", "sync", "datasync"][self as usize]
    }

    /// Returns the command that the drive receives for the operation: both flushes are one command.
    pub fn host_op(self) -> HostOp {
        match self {
            Op::Read => HostOp::Read,
            Op::Write => HostOp::Write,
            Op::Trim => HostOp::Trim,
            Op::Sync | Op::DataSync => HostOp::Flush,
        }
    }

    /// Returns true if the operation is a flush, which has no address and no size.
    pub fn is_flush(self) -> bool {
        matches!(self, Op::Sync | Op::DataSync)
    }
}

/// A value for reads, writes and trims, in this order: indexed by an [`Op`] with a range.
pub type ByDirection<T> = [T; 3];

/// Operations and order of a job's requests: the value of `rw`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// True if the job issues reads.
    pub reads: bool,
    /// True if the job issues writes.
    pub writes: bool,
    /// True if the job issues trims. Together with `writes`: every range is trimmed and then
    /// written.
    pub trims: bool,
    /// True if the job's offsets are random, false if they are sequential.
    pub random: bool,
}

impl Kind {
    /// Returns true if the job mixes reads and writes.
    pub fn mixed(self) -> bool {
        self.reads && self.writes
    }

    /// Returns true if every range is trimmed before it is written.
    pub fn trim_then_write(self) -> bool {
        self.trims && self.writes
    }

    /// Returns fio's word for the combination of reads, writes, trims and order, as its option `rw`
    /// takes it.
    pub fn word(self) -> &'static str {
        match (self.reads, self.writes, self.trims, self.random) {
            (true, true, _, false) => "rw",
            (true, true, _, true) => "randrw",
            (_, true, true, false) => "trimwrite",
            (_, true, true, true) => "randtrimwrite",
            (_, true, _, false) => "write",
            (_, true, _, true) => "randwrite",
            (_, _, true, false) => "trim",
            (_, _, true, true) => "randtrim",
            (_, _, _, false) => "read",
            (_, _, _, true) => "randread",
        }
    }
}

/// One request size of `bssplit`, and the share of requests that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeShare {
    /// Size of the requests, in bytes.
    pub bytes: u32,
    /// Share of the requests with this size, in percent.
    pub percent: u32,
}

/// Sizes of a job's requests in one direction (reads, writes or trims).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSizes {
    /// Smallest request size, in bytes.
    pub min: u32,
    /// Largest request size, in bytes.
    pub max: u32,
    /// Alignment of the requests' random offsets, in bytes.
    pub align: u32,
    /// Request sizes of `bssplit`, the smallest share first; empty without `bssplit`.
    pub split: Vec<SizeShare>,
}

/// Value of an option of fio such as `size` or `offset`: bytes, or percent of the size of the job's
/// file or drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The size is stated in bytes.
    Bytes(u64),
    /// The size is stated in percent of the size of the job's file or drive.
    Percent(u32),
}

impl Default for Size {
    fn default() -> Size {
        Size::Bytes(0)
    }
}

impl Size {
    /// A size of zero bytes.
    pub const ZERO: Size = Size::Bytes(0);
}

/// The distribution of the offsets of random requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// All blocks of the file are equally likely.
    #[default]
    Uniform,
    /// Zipf's law; the center, if given, is the place of the hottest block as a share of the file.
    Zipf {
        /// Exponent of Zipf's law, at least 0 and not 1.
        theta: f64,
        /// Place of the hottest block as a share of the file, 0 to 1; `None` draws it.
        center: Option<f64>,
    },
    /// Self-similar: the share `h` of the blocks gets the share `1 - h` of the requests.
    Pareto {
        /// Share `h` of the blocks, above 0 and below 1, that gets the share `1 - h` of the
        /// requests.
        h: f64,
        /// Place of the hottest block as a share of the file, 0 to 1; `None` draws it.
        center: Option<f64>,
    },
    /// A normal distribution around the middle of the file, or around `center`.
    Normal {
        /// Standard deviation of the offsets around the center, in percent of the file.
        deviation: f64,
        /// Place of the hottest block as a share of the file, 0 to 1; `None` for the middle.
        center: Option<f64>,
    },
    /// Zones that share the requests, per direction; their sizes are percent of the file.
    Zoned(ByDirection<Vec<Zone>>),
    /// Zones that share the requests, per direction; their sizes are bytes.
    ZonedBytes(ByDirection<Vec<Zone>>),
}

/// A part of a file that gets a share of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Share of the job's requests that go to this zone of the file, in percent.
    pub percent: u32,
    /// Size of a zone of the job's file, in percent of the file or in bytes, depending on the kind
    /// of zoned distribution.
    pub size: u64,
}

/// Generator that draws a job's random offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// The 32-bit generator taus88 (`tausworthe`).
    #[default]
    Taus88,
    /// The 64-bit generator taus258 (`tausworthe64`).
    Taus258,
    /// A shift register (`lfsr`) that draws every block of the file once, without a map.
    Lfsr,
}

/// The offsets of the sequential requests among random ones (`rw=randread:8`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sequencer {
    /// Sequential requests begin where the last request ended.
    #[default]
    Sequential,
    /// Sequential requests repeat the offset of the last request.
    Identical,
}

/// The rule that chooses the file of the next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileService {
    /// The files of the job take turns, a number of requests each.
    #[default]
    RoundRobin,
    /// Files are drawn at random.
    Random,
    /// A file is used until it is done, then the next.
    Sequential,
}

/// Spacing of the requests of a job that has a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateProcess {
    /// Requests are due at equal intervals.
    #[default]
    Linear,
    /// Requests are due at exponentially distributed intervals (Poisson arrivals).
    Poisson,
}

/// Condition for the start of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StartAfter {
    /// The job has no condition of its own: it starts together with the job above it.
    #[default]
    Nothing,
    /// The job starts when all jobs above have ended (`stonewall`).
    AllAbove,
    /// The job starts when the jobs of this name have ended (`wait_for`).
    Named(String),
}

/// The jobs that end when this job ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExitAll {
    /// The end of this job ends no other.
    #[default]
    Off,
    /// The end of this job ends the other jobs of its group.
    Group,
    /// The end of this job ends the running jobs between the same two stonewalls.
    Stonewall,
    /// The end of this job ends all jobs, including those that have not started.
    All,
}

/// Rates of a job: `rate` and related options. Zero means no rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Rate in bytes per second, by direction; zero for none.
    pub bytes: ByDirection<u64>,
    /// Rate in requests of the smallest block size per second, by direction; zero for none.
    pub iops: ByDirection<u32>,
    /// Lowest rate in bytes per second, below which the job fails, by direction; zero for none.
    pub min_bytes: ByDirection<u64>,
    /// Lowest rate in requests per second, below which the job fails, by direction; zero for none.
    pub min_iops: ByDirection<u32>,
    /// Spacing of the requests: regular or as a Poisson process.
    pub process: RateProcess,
    /// Time over which a rate is averaged before it is compared with the lowest rate.
    pub cycle: Span,
    /// True if requests that were not issued in a pause of `thinktime` are not caught up.
    pub ignore_thinktime: bool,
}

/// Weight of a job in its flow: a job waits while it has issued more than its share of the flow's
/// requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Number of the flow that the job belongs to.
    pub id: u32,
    /// Weight of the job; zero if it is in no flow. A negative weight wraps, as in fio.
    pub weight: u32,
    /// Time after which a job that waits for the other jobs of its flow checks again if it may
    /// continue; zero means when another job has issued a request.
    pub sleep: Span,
}

/// Pauses of a job: `thinktime` and related options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkTime {
    /// Length of a think-time pause between requests of a fio job; zero means no pauses.
    pub time: Span,
    /// Number of requests between two pauses of the job.
    pub blocks: u32,
    /// True if issued requests count towards the next pause, false if completed ones do.
    pub count_issues: bool,
    /// Time for which the job issues requests before it pauses, in addition to the pauses after
    /// `blocks` requests (`thinktime_iotime`); zero means no such pauses.
    pub io_time: Span,
}

/// A latency to meet: `latency_target` and related options.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencyTarget {
    /// Latency that requests must stay below; zero means no target.
    pub target: Span,
    /// Time for which the search for the highest queue depth that meets the target latency tries
    /// each depth.
    pub window: Span,
    /// Percentage of the requests that must stay below the target latency, 0 to 100.
    pub percentile: f64,
    /// True if the job continues at the queue depth that the search for the latency target found;
    /// false if it ends then.
    pub keep_running: bool,
    /// `max_latency`: a request slower than this ends the job; zero means without.
    pub max: Span,
}

/// The rate or latency that `steadystate` measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SteadyMetric {
    /// The number of requests that the job completes per second.
    #[default]
    Iops,
    /// The number of bytes that the job transfers per second.
    Bandwidth,
    /// The mean latency of requests, in nanoseconds.
    Latency,
}

/// A criterion of steady state: `steadystate` and related options.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SteadyState {
    /// Metric of the job that must become steady: IOPS, bandwidth or mean latency.
    pub metric: SteadyMetric,
    /// True to judge the slope of the line of best fit through the metric's samples, false to judge
    /// their largest deviation from the mean.
    pub slope: bool,
    /// Largest slope or deviation of the metric that counts as steady: in percent of the mean if
    /// `percent`, otherwise in the unit of the metric.
    pub limit: f64,
    /// True if the limit of a steady-state criterion is in percent of the mean.
    pub percent: bool,
    /// Length of the time window whose samples of the metric are judged for steadiness.
    pub duration: Span,
    /// Time from the start of the job to the first sample of the metric whose steadiness is judged.
    pub ramp: Span,
}

/// Verification of written data: `verify` and related options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verify {
    /// True if written data is read back and checked.
    pub on: bool,
    /// True if written data is read back and checked; false with `do_verify=0`.
    pub read_back: bool,
    /// Number of writes after which reading back begins; zero means after all of them.
    pub backlog: u64,
    /// Number of writes that are read back at a time; zero means as many as `backlog`.
    pub backlog_batch: u64,
    /// True if the job writes nothing and only reads back, for verification, the data that it would
    /// have written (`verify_only`).
    pub only: bool,
    /// `experimental_verify`: every write is read back in the order of writing, after all of them,
    /// even where a later one has replaced it.
    pub repeats: bool,
}

/// Zones of a job whose accesses move from zone to zone (`zonemode=strided`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Bytes of requests in one zone before the job moves to the next.
    pub size: u64,
    /// Length of a zone in bytes.
    pub range: u64,
    /// Gap from the end of a zone to the start of the next, in bytes.
    pub skip: u64,
}

/// Logs of a job: `write_*_log` and related options. A name is as written; empty for the job's
/// name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logs {
    /// Name of the bandwidth log (`write_bw_log`); `None` for no log.
    pub bandwidth: Option<String>,
    /// Name of the log of requests per second (`write_iops_log`); `None` for no log.
    pub iops: Option<String>,
    /// Name of the latency logs (`write_lat_log`), three files; `None` for no logs.
    pub latency: Option<String>,
    /// Name of the log of latency histograms (`write_hist_log`); `None` for no log.
    pub histogram: Option<String>,
    /// Name of the log of all requests (`write_iolog`); `None` for no log.
    pub iolog: Option<String>,
    /// Window over which each line of a log is averaged (`log_avg_msec`); zero for a line per
    /// request.
    pub window: Span,
    /// `log_hist_msec`: window of the histogram log; zero for none.
    pub histogram_window: Span,
    /// Number of times that neighboring buckets of the histogram log are added up in pairs
    /// (`log_hist_coarseness`), 0 to 6.
    pub histogram_coarseness: u32,
    /// True if a log line has the largest value of its window, false for the mean
    /// (`log_max_value`).
    pub max_value: bool,
    /// True if log lines have the offset of the request (`log_offset`).
    pub offset: bool,
    /// True if the names of log files contain the number of the job (`per_job_logs`).
    pub per_job: bool,
    /// Length of the windows in which bandwidth is sampled (`bwavgtime`).
    pub bandwidth_window: Span,
    /// Length of the windows in which requests per second are sampled (`iopsavgtime`).
    pub iops_window: Span,
}

/// The statistics that a job reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// True if percentiles of the completion latency are reported (`clat_percentiles`).
    pub clat_percentiles: bool,
    /// True if percentiles of the total latency are reported (`lat_percentiles`).
    pub lat_percentiles: bool,
    /// True if percentiles of the submission latency are reported (`slat_percentiles`).
    pub slat_percentiles: bool,
    /// Percentiles of latency to report (`percentile_list`), in percent, ascending; fio's defaults
    /// if none are given.
    pub percentiles: Vec<f64>,
    /// True if the total latency is not recorded (`disable_lat`).
    pub no_lat: bool,
    /// True if the completion latency is not recorded (`disable_clat`).
    pub no_clat: bool,
    /// True if the submission latency is not recorded (`disable_slat`).
    pub no_slat: bool,
    /// True if the bandwidth is not recorded (`disable_bw_measurement`).
    pub no_bandwidth: bool,
    /// Results by direction, or for all directions together (`unified_rw_reporting`).
    pub unified: Unified,
    /// True if the job is left out of the output (`stats=0`).
    pub silent: bool,
}

/// Value of `unified_rw_reporting`: results by direction, or for all directions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unified {
    /// Statistics for reads, writes and trims, each by itself.
    #[default]
    Separate,
    /// Statistics for reads, writes and trims together.
    Mixed,
    /// Statistics for reads, writes and trims each, and for all of them together.
    Both,
}

/// A log of requests that a job repeats instead of generating its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replay {
    /// Names of the log files as written (`read_iolog`).
    pub iolog: String,
    /// True if the times of the log are ignored (`replay_no_stall`).
    pub no_stall: bool,
    /// `replay_redirect`: file or device that receives all requests of the log.
    pub redirect: Option<String>,
    /// Number by which the offsets of the log are divided (`replay_scale`).
    pub scale: u32,
    /// Number of bytes to a multiple of which the offsets of the log are rounded down
    /// (`replay_align`).
    pub align: u32,
    /// Replay speed in percent of the recorded one (`replay_time_scale`).
    pub time_scale: u32,
    /// Operations of the log that are left out (`replay_skip`).
    pub skip: Vec<Op>,
}

/// One job: a section of the file, or one of its clones (`numjobs`).
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Name of the job's section in the file.
    pub name: String,
    /// Number of the job among all jobs and clones of the file, from 1: it is part of every seed.
    pub number: u32,
    /// Number of this clone among those of its section, from 0.
    pub clone: u32,
    /// Number of the group of jobs whose statistics `group_reporting` merges, from 0.
    pub group: u32,
    /// True if the statistics of the job's group are merged.
    pub group_reporting: bool,
    /// Name of the job file, or of the file it includes, in which the job's section begins.
    pub file: String,
    /// Number of the line in `file` at which the job's section begins, from 1.
    pub line: u64,
    /// Text of the job's option `description`; `None` if not given.
    pub description: Option<String>,
    /// Options of the job's section in the job file, in order, as written; `rw`, `bs`, `iodepth`
    /// and `numjobs` are added with their defaults if missing, because programs that read fio's
    /// output expect them.
    pub given: Vec<(String, String)>,

    /// Operations and order of the job's requests.
    pub kind: Kind,
    /// Number of requests from one random offset to the next (`rw=randread:n`): 1 if all offsets
    /// are random.
    pub sequential_run: u32,
    /// Bytes added to each sequential offset (`rw=write:n`).
    pub sequential_add: i64,
    /// Rule for the offsets of the sequential requests in a fio job with random ones
    /// (`rw_sequencer`).
    pub sequencer: Sequencer,
    /// Percentage of reads in a mix of reads and writes.
    pub mix_read: u32,
    /// Percentage of requests with a random offset (`percentage_random`), by direction, 0 to 100.
    pub percent_random: ByDirection<u32>,
    /// Sizes of the job's requests, by direction.
    pub blocks: ByDirection<BlockSizes>,
    /// `bs_unaligned`: sizes of a range need not be multiples of the smallest.
    pub unaligned: bool,
    /// `bs_is_seq_rand`: sequential requests have the sizes of reads, random ones of writes.
    pub blocks_by_order: bool,

    /// Size of the job's data in its files (`size`); `None` if not given.
    pub size: Option<Size>,
    /// Amount of data that the job transfers (`io_size`); `None` if not given.
    pub io_size: Option<Size>,
    /// `filesize`: smallest and largest size in bytes; `None` if not given.
    pub file_size: Option<(u64, u64)>,
    /// Offset in each file at which the job begins (`offset`).
    pub offset: Size,
    /// Number of bytes to which the job's offset is aligned (`offset_align`); `None` for the
    /// smallest block size.
    pub offset_align: Option<u64>,
    /// Distance between the offsets of two consecutive clones (`offset_increment`).
    pub offset_increment: Size,
    /// Number of requests after which the job ends (`number_ios`); zero for no limit.
    pub number_ios: u64,
    /// True if the job writes to the end of the drive (`fill_device`).
    pub fill_device: bool,
    /// Number of times that the job does its work, at least 1 (`loops`).
    pub loops: u32,

    /// Names of the job's files, with `directory` in front.
    pub files: Vec<String>,
    /// Rule that chooses the file of the next request.
    pub file_service: FileService,
    /// Number of requests to a file before the next file is chosen.
    pub file_service_run: u32,

    /// True if the job issues equal requests in every run (`randrepeat`, and no seed given).
    pub repeatable: bool,
    /// `randrepeat` as given: fio up to 3.34 has fixed offsets then, whatever the seed.
    pub fixed_offsets: bool,
    /// Seed of the job's random numbers (`randseed`); `None` if not given.
    pub seed: Option<u64>,
    /// True if all random draws of the job repeat from run to run (`allrandrepeat`).
    pub all_repeatable: bool,
    /// True if random offsets may repeat before all blocks were accessed.
    pub no_map: bool,
    /// Random number generator that draws the offsets of the job's random requests in its files.
    pub generator: Generator,
    /// True if `random_generator` was given.
    pub generator_given: bool,
    /// Distribution of the job's random offsets.
    pub distribution: Distribution,

    /// Number of writes after which the job issues a flush (`fsync`); zero for never.
    pub fsync: u32,
    /// Number of writes after which the job issues a data flush (`fdatasync`); zero for never.
    pub fdatasync: u32,
    /// True if the job flushes each file at the end (`end_fsync` or `fsync_on_close`).
    pub end_fsync: bool,
    /// True if each write is durable when it completes (`sync=1` or `dsync`).
    pub durable_writes: bool,

    /// Name of the job's I/O engine in fio.
    pub engine: String,
    /// True if the engine waits for each trim, although it keeps other requests outstanding.
    pub waits_for_trims: bool,
    /// Number of requests that the job keeps outstanding: 1 for an engine that waits for each.
    pub depth: u32,
    /// `iodepth_batch`: number of requests submitted at once; 1 if not given, 0 for the whole
    /// depth.
    pub batch: u32,
    /// Number of completions that the job waits for (`iodepth_batch_complete_min`).
    pub batch_complete_min: u32,
    /// Largest number of completions collected at once (`iodepth_batch_complete_max`).
    pub batch_complete_max: u32,
    /// `iodepth_low`: depth down to which a full queue is drained.
    pub depth_low: u32,
    /// True if requests to overlapping ranges wait for each other (`serialize_overlap`).
    pub serialize_overlap: bool,

    /// Rates that the job keeps: `rate` and related options.
    pub rate: Rate,
    /// Pauses of the job: `thinktime` and related options.
    pub think: ThinkTime,
    /// Share of the job in a flow, by which several jobs balance their numbers of requests: `flow`,
    /// `flow_id` and `flow_sleep`.
    pub flow: Flow,
    /// Latency that the job has to meet: `latency_target` and related options.
    pub latency: LatencyTarget,
    /// `steadystate`: criterion for ending the job; `None` if not given.
    pub steady: Option<SteadyState>,
    /// Verification of the data that the job writes: `verify` and related options.
    pub verify: Verify,
    /// Zones of the job's accesses (`zonemode=strided`); `None` if not given.
    pub strided: Option<Strided>,
    /// `read_iolog`: the log to replay; `None` if not given.
    pub replay: Option<Replay>,
    /// Contents of the log of `read_iolog`, arranged for the replay.
    pub recording: Option<Arc<Recording>>,

    /// Time after which the job ends (`runtime`); `None` for no limit.
    pub runtime: Option<Span>,
    /// `time_based`: the job repeats itself until `runtime` is over.
    pub time_based: bool,
    /// Time at the beginning of the job that no statistics cover (`ramp_time`).
    pub ramp: Span,
    /// Shortest and longest delay before the start of the job (`startdelay`): fixed if they are
    /// equal, otherwise drawn between them.
    pub start_delay: (Span, Span),
    /// Condition for the start of the job.
    pub start_after: StartAfter,
    /// Other jobs that end when this job ends.
    pub exit_all: ExitAll,

    /// Logs that the job writes: `write_*_log` and related options.
    pub logs: Logs,
    /// Statistics that the job reports.
    pub statistics: Statistics,
}

/// Percentiles of latency that fio reports by default, in percent.
pub const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Engines of fio that wait for each request before they issue the next.
const WAITING: [&str; 8] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "libzbc"];

impl Job {
    /// True if fio up to 3.34 draws the same offsets for every seed: a seed switches `randrepeat`
    /// off only after the first clone's offsets are set.
    pub(crate) fn has_fixed_offsets(&self) -> bool {
        self.fixed_offsets && (self.seed.is_none() || self.clone == 0)
    }

    /// True if the job accesses each block of its files once, tracked in a bit map.
    pub fn is_mapped(&self) -> bool {
        self.kind.random
            && self.recording.is_none()
            && self.generator != Generator::Lfsr
            && !self.no_map
    }

    /// Returns true if the job's engine waits for each request before it issues the next.
    pub fn waits(&self) -> bool {
        WAITING.contains(&self.engine.as_str())
    }

    /// Returns the smallest request size of the job over all directions, in bytes.
    pub fn min_block(&self) -> u32 {
        self.blocks.iter().map(|sizes| sizes.min).min().unwrap_or(0)
    }

    /// Returns the largest request size of the job over all directions, in bytes.
    pub fn max_block(&self) -> u32 {
        self.blocks.iter().map(|sizes| sizes.max).max().unwrap_or(0)
    }
}
