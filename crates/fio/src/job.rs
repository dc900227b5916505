//! A job: the work of one fio process, with every option parsed.

use crate::recording::Recording;
use fowler_units::{HostOp, Span};
use std::sync::Arc;

/// Operation of a request; fio distinguishes two kinds of flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Request that returns data.
    Read,
    /// Request that stores data.
    Write,
    /// Request that discards data.
    Trim,
    /// Make writes durable, as `fsync` asks.
    Sync,
    /// Make writes durable, as `fdatasync` asks.
    DataSync,
}

impl Op {
    /// Returns the word of fio's logs.
    pub fn word(self) -> &'static str {
        ["read", "write", "trim", "sync", "datasync"][self as usize]
    }

    /// Returns the command to the drive: both flushes are one command.
    pub fn host_op(self) -> HostOp {
        match self {
            Op::Read => HostOp::Read,
            Op::Write => HostOp::Write,
            Op::Trim => HostOp::Trim,
            Op::Sync | Op::DataSync => HostOp::Flush,
        }
    }

    /// Returns true if the operation has no range.
    pub fn is_flush(self) -> bool {
        matches!(self, Op::Sync | Op::DataSync)
    }
}

/// A value for reads, writes and trims, in this order: indexed by an [`Op`] with a range.
pub type ByDirection<T> = [T; 3];

/// Operations and order of a job's requests: the value of `rw`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// True if the job reads.
    pub reads: bool,
    /// True if the job writes.
    pub writes: bool,
    /// True if the job trims. Together with `writes`: every range is trimmed and then written.
    pub trims: bool,
    /// True if offsets are random.
    pub random: bool,
}

impl Kind {
    /// Returns true if reads and writes are mixed.
    pub fn mixed(self) -> bool {
        self.reads && self.writes
    }

    /// Returns true if every range is trimmed before it is written.
    pub fn trim_then_write(self) -> bool {
        self.trims && self.writes
    }

    /// Returns fio's word for the kind.
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

/// One size of `bssplit` and its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeShare {
    /// Size of the requests, in bytes.
    pub bytes: u32,
    /// Percent of the requests.
    pub percent: u32,
}

/// The sizes of the requests of one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSizes {
    /// Smallest size, in bytes.
    pub min: u32,
    /// Largest size, in bytes.
    pub max: u32,
    /// Alignment of random offsets, in bytes.
    pub align: u32,
    /// The sizes of `bssplit`, least share first; empty without `bssplit`.
    pub split: Vec<SizeShare>,
}

/// A size in bytes, or in percent of the file or the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// An amount of bytes.
    Bytes(u64),
    /// Percent of the file or the drive.
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
    /// All blocks are equally likely.
    #[default]
    Uniform,
    /// Zipf's law; the center, if given, is the place of the hottest block as a share of the file.
    Zipf {
        /// Exponent of the distribution.
        theta: f64,
        /// Place of the hottest block as a share of the file, 0 to 1; `None` draws it.
        center: Option<f64>,
    },
    /// Self-similar: the share `h` of the blocks gets the share `1 - h` of the requests.
    Pareto {
        /// The skew, above 0 and below 1.
        h: f64,
        /// Place of the hottest block as a share of the file, 0 to 1; `None` draws it.
        center: Option<f64>,
    },
    /// A normal distribution around the middle.
    Normal {
        /// The deviation in percent of the file.
        deviation: f64,
        /// Place of the hottest block as a share of the file, 0 to 1; `None` for the middle.
        center: Option<f64>,
    },
    /// Zones that share the requests, per direction; their sizes are percent of the file.
    Zoned(ByDirection<Vec<Zone>>),
    /// Zones that share the requests, per direction; their sizes are bytes.
    ZonedBytes(ByDirection<Vec<Zone>>),
}

/// A zone of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Percent of the requests.
    pub percent: u32,
    /// Size of the zone: percent or bytes.
    pub size: u64,
}

/// The generator that draws offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// 32-bit generator (`tausworthe`).
    #[default]
    Taus88,
    /// 64-bit generator (`tausworthe64`).
    Taus258,
    /// `lfsr`: every block once without a map.
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
    /// Files in turn.
    #[default]
    RoundRobin,
    /// A file that is drawn at random.
    Random,
    /// The next file only when one is done.
    Sequential,
}

/// The spacing of the requests of a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateProcess {
    /// Requests at equal intervals.
    #[default]
    Linear,
    /// Requests at exponential intervals (Poisson arrivals).
    Poisson,
}

/// The condition for the start of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StartAfter {
    /// The job starts with the others.
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
    /// No other job ends.
    #[default]
    Off,
    /// The jobs of the job's group end.
    Group,
    /// The running jobs between two stonewalls end.
    Stonewall,
    /// All jobs end, including jobs that have not started.
    All,
}

/// Rates of a job: `rate` and related options. Zero means no rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Bytes per second, per direction.
    pub bytes: ByDirection<u64>,
    /// Requests of the smallest block per second, per direction.
    pub iops: ByDirection<u32>,
    /// The least bytes per second, below which the job fails.
    pub min_bytes: ByDirection<u64>,
    /// The least requests per second.
    pub min_iops: ByDirection<u32>,
    /// Spacing of the requests.
    pub process: RateProcess,
    /// The time over which the least rates are averaged.
    pub cycle: Span,
    /// True if thinking does not count: the time lost is not caught up.
    pub ignore_thinktime: bool,
}

/// Weight of a job in its flow: a job waits while it has issued more than its share of the flow's
/// requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Number of the flow.
    pub id: u32,
    /// Weight of the job; zero if it is in no flow. A negative weight wraps, as in fio.
    pub weight: u32,
    /// Time before a waiting job checks its share again; zero means until another job has issued a
    /// request.
    pub sleep: Span,
}

/// Pauses of a job: `thinktime` and related options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkTime {
    /// Length of a pause; zero means without.
    pub time: Span,
    /// Number of requests between two pauses.
    pub blocks: u32,
    /// True to count issued requests, not completed ones.
    pub count_issues: bool,
    /// Time of I/O after which the job thinks as well; zero means without.
    pub io_time: Span,
}

/// A latency to meet: `latency_target` and related options.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencyTarget {
    /// The latency to stay below; zero means without.
    pub target: Span,
    /// Time for which a depth is tried.
    pub window: Span,
    /// The percent of the requests that must stay below, 0 to 100.
    pub percentile: f64,
    /// True if the job continues at the depth that was found.
    pub keep_running: bool,
    /// `max_latency`: a request slower than this ends the job; zero means without.
    pub max: Span,
}

/// The rate or latency that `steadystate` measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SteadyMetric {
    /// Requests per second.
    #[default]
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean latency, in nanoseconds.
    Latency,
}

/// A criterion of steady state: `steadystate` and related options.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SteadyState {
    /// The metric that is measured.
    pub metric: SteadyMetric,
    /// True to judge the slope of the line of best fit, not the largest deviation from the mean.
    pub slope: bool,
    /// The limit: percent if `percent`, otherwise in the unit of the metric.
    pub limit: f64,
    /// True if the limit is percent of the mean.
    pub percent: bool,
    /// Length of the window.
    pub duration: Span,
    /// Time before measuring starts, in the job.
    pub ramp: Span,
}

/// Verification of written data: `verify` and related options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verify {
    /// True if written data is read back and checked.
    pub on: bool,
    /// True unless `do_verify=0` switches reading back off.
    pub read_back: bool,
    /// Read back after this many writes; zero means after all.
    pub backlog: u64,
    /// Number of writes that are read back at a time; zero means as many as `backlog`.
    pub backlog_batch: u64,
    /// True to write nothing, and only read what would have been written.
    pub only: bool,
    /// `experimental_verify`: every write is read back in the order of writing, after all of them,
    /// even where a later one has replaced it.
    pub repeats: bool,
}

/// `zonemode=strided`: accesses move from zone to zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Bytes of requests in a zone before the next.
    pub size: u64,
    /// Length of a zone in bytes.
    pub range: u64,
    /// The gap between zones, in bytes.
    pub skip: u64,
}

/// Logs of a job: `write_*_log` and related options. A name is as written; empty for the job's
/// name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logs {
    /// `write_bw_log`.
    pub bandwidth: Option<String>,
    /// `write_iops_log`.
    pub iops: Option<String>,
    /// `write_lat_log`: three files.
    pub latency: Option<String>,
    /// `write_hist_log`.
    pub histogram: Option<String>,
    /// `write_iolog`.
    pub iolog: Option<String>,
    /// `log_avg_msec`; zero for a line per request.
    pub window: Span,
    /// `log_hist_msec`: window of the histogram log; zero for none.
    pub histogram_window: Span,
    /// `log_hist_coarseness`, 0 to 6.
    pub histogram_coarseness: u32,
    /// `log_max_value`: the largest value of a window, not the mean.
    pub max_value: bool,
    /// `log_offset`: lines with offsets.
    pub offset: bool,
    /// `per_job_logs`: the job's number is in the name.
    pub per_job: bool,
    /// `bwavgtime`: the window of bandwidth samples.
    pub bandwidth_window: Span,
    /// `iopsavgtime`: the window of IOPS samples.
    pub iops_window: Span,
}

/// The statistics that a job reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// `clat_percentiles`.
    pub clat_percentiles: bool,
    /// `lat_percentiles`.
    pub lat_percentiles: bool,
    /// `slat_percentiles`.
    pub slat_percentiles: bool,
    /// `percentile_list`, ascending; fio's defaults if none are given.
    pub percentiles: Vec<f64>,
    /// `disable_lat`: true to record no total latency.
    pub no_lat: bool,
    /// `disable_clat`: true to record no completion latency.
    pub no_clat: bool,
    /// `disable_slat`: true to record no submission latency.
    pub no_slat: bool,
    /// `disable_bw_measurement`: true to record no bandwidth.
    pub no_bandwidth: bool,
    /// `unified_rw_reporting`.
    pub unified: Unified,
    /// `stats=0`: the job is not in the output.
    pub silent: bool,
}

/// `unified_rw_reporting`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unified {
    /// Results for each direction by itself.
    #[default]
    Separate,
    /// One result for all directions together.
    Mixed,
    /// Results for each direction, and one for all together.
    Both,
}

/// A recorded sequence instead of a generated one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replay {
    /// `read_iolog`: the files, as written.
    pub iolog: String,
    /// `replay_no_stall`: ignore the times.
    pub no_stall: bool,
    /// `replay_redirect`: file or device that receives all requests of the log.
    pub redirect: Option<String>,
    /// `replay_scale`: offsets are divided by this.
    pub scale: u32,
    /// `replay_align`: offsets are rounded down to this.
    pub align: u32,
    /// `replay_time_scale`: replay speed in percent of the recorded one.
    pub time_scale: u32,
    /// `replay_skip`: the kinds of operations that are left out.
    pub skip: Vec<Op>,
}

/// One job: a section of the file, or one of its clones (`numjobs`).
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The name of the section.
    pub name: String,
    /// Number of the job in the whole file, from 1: it is part of every seed.
    pub number: u32,
    /// Number of the clone within the section, from 0.
    pub clone: u32,
    /// The group whose statistics `group_reporting` merges, from 0.
    pub group: u32,
    /// True to merge the statistics of the group.
    pub group_reporting: bool,
    /// File in which the section begins.
    pub file: String,
    /// Line at which the section begins, from 1.
    pub line: u64,
    /// `description`.
    pub description: Option<String>,
    /// The options of the section, in order, as written and with those that consumers expect
    /// (`rw`, `bs`, `iodepth`, `numjobs`) spelled out where they are defaults.
    pub given: Vec<(String, String)>,

    /// Operations and order of the job's requests.
    pub kind: Kind,
    /// `rw=randread:n`: every n-th offset is random; 1 for all.
    pub sequential_run: u32,
    /// `rw=write:n`: bytes added to each sequential offset.
    pub sequential_add: i64,
    /// Offsets of the sequential requests among random ones.
    pub sequencer: Sequencer,
    /// Percentage of reads in a mix of reads and writes.
    pub mix_read: u32,
    /// `percentage_random`, per direction, 0 to 100.
    pub percent_random: ByDirection<u32>,
    /// The sizes of requests, per direction.
    pub blocks: ByDirection<BlockSizes>,
    /// `bs_unaligned`: sizes of a range need not be multiples of the smallest.
    pub unaligned: bool,
    /// `bs_is_seq_rand`: sequential requests have the sizes of reads, random ones of writes.
    pub blocks_by_order: bool,

    /// `size` of the job's data; `None` if not given.
    pub size: Option<Size>,
    /// `io_size`, the amount transferred; `None` if not given.
    pub io_size: Option<Size>,
    /// `filesize`: smallest and largest size in bytes; `None` if not given.
    pub file_size: Option<(u64, u64)>,
    /// `offset`.
    pub offset: Size,
    /// `offset_align` in bytes; `None` for the smallest block size.
    pub offset_align: Option<u64>,
    /// `offset_increment`.
    pub offset_increment: Size,
    /// `number_ios`; zero for no limit.
    pub number_ios: u64,
    /// `fill_device`: write to the end of the drive.
    pub fill_device: bool,
    /// Number of times that the whole is repeated, at least 1.
    pub loops: u32,

    /// The files, by name, with `directory` in front.
    pub files: Vec<String>,
    /// Rule that chooses the file of the next request.
    pub file_service: FileService,
    /// Number of requests from a file before the next file.
    pub file_service_run: u32,

    /// `randrepeat`, unless a seed is given.
    pub repeatable: bool,
    /// `randrepeat` as given: fio up to 3.34 has fixed offsets then, whatever the seed.
    pub fixed_offsets: bool,
    /// `randseed`; none if not given.
    pub seed: Option<u64>,
    /// `allrandrepeat`.
    pub all_repeatable: bool,
    /// True if offsets can repeat before all blocks had their turn.
    pub no_map: bool,
    /// Generator that draws the offsets.
    pub generator: Generator,
    /// True if `random_generator` was given.
    pub generator_given: bool,
    /// Distribution of the offsets.
    pub distribution: Distribution,

    /// `fsync`: a flush after this many writes; zero means without.
    pub fsync: u32,
    /// `fdatasync`: number of writes after which one is issued; 0 for never.
    pub fdatasync: u32,
    /// `end_fsync` or `fsync_on_close`: a flush per file at the end.
    pub end_fsync: bool,
    /// `sync=1` or `dsync`: each write is durable when it completes.
    pub durable_writes: bool,

    /// The engine, by fio's name.
    pub engine: String,
    /// True if the engine waits for each trim, although it keeps other requests outstanding.
    pub waits_for_trims: bool,
    /// Number of requests that the job keeps outstanding: 1 for an engine that waits for each.
    pub depth: u32,
    /// `iodepth_batch`: number of requests submitted at once; 1 if not given, 0 for the whole
    /// depth.
    pub batch: u32,
    /// `iodepth_batch_complete_min`: number of completions to wait for.
    pub batch_complete_min: u32,
    /// `iodepth_batch_complete_max`: largest number of completions collected at once.
    pub batch_complete_max: u32,
    /// `iodepth_low`: depth down to which a full queue is drained.
    pub depth_low: u32,
    /// `serialize_overlap`: overlapping requests wait for each other.
    pub serialize_overlap: bool,

    /// Rates: `rate` and related options.
    pub rate: Rate,
    /// Pauses: `thinktime` and related options.
    pub think: ThinkTime,
    /// `flow`, `flow_id`, `flow_sleep`: the job's part in a flow.
    pub flow: Flow,
    /// Latency to meet: `latency_target` and related options.
    pub latency: LatencyTarget,
    /// `steadystate`: criterion for ending the job; `None` if not given.
    pub steady: Option<SteadyState>,
    /// Verification: `verify` and related options.
    pub verify: Verify,
    /// `zonemode=strided`; `None` if not given.
    pub strided: Option<Strided>,
    /// `read_iolog`: the log to replay; `None` if not given.
    pub replay: Option<Replay>,
    /// Contents of the log of `read_iolog`, arranged for the replay.
    pub recording: Option<Arc<Recording>>,

    /// `runtime`; `None` for no limit.
    pub runtime: Option<Span>,
    /// `time_based`: the job repeats itself until `runtime` is over.
    pub time_based: bool,
    /// `ramp_time`: the time before `runtime`, which is not in any statistics.
    pub ramp: Span,
    /// `startdelay`, least and most: one value if they are equal, otherwise drawn.
    pub start_delay: (Span, Span),
    /// Condition for the start of the job.
    pub start_after: StartAfter,
    /// The jobs that end with this one.
    pub exit_all: ExitAll,

    /// Logs: `write_*_log` and related options.
    pub logs: Logs,
    /// Statistics that the job reports.
    pub statistics: Statistics,
}

/// fio's default percentiles.
pub const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Engines that wait for each request.
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

    /// Returns true if the job's engine waits for each request.
    pub fn waits(&self) -> bool {
        WAITING.contains(&self.engine.as_str())
    }

    /// Returns the smallest block of any direction, in bytes.
    pub fn min_block(&self) -> u32 {
        self.blocks.iter().map(|sizes| sizes.min).min().unwrap_or(0)
    }

    /// Returns the largest block of any direction, in bytes.
    pub fn max_block(&self) -> u32 {
        self.blocks.iter().map(|sizes| sizes.max).max().unwrap_or(0)
    }
}
