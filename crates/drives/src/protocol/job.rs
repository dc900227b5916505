//! A benchmark job: an initial state of the drive, streams of requests, and the condition for the
//! end. Every protocol is simulated as jobs; rows with equal jobs share one simulation.

use super::addresses::Addresses;
use crate::streams::{HostPath, Pace};
use fowler_units::Span;

/// A benchmark job to simulate: initial state, streams and length.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Short description of the job, for progress reports and results.
    pub name: String,
    /// State of the drive before the first request of the job.
    pub state: State,
    /// Streams of requests that the drive serves at the same time.
    pub streams: Vec<StreamPlan>,
    /// Condition for the end of the benchmark job.
    pub length: Length,
    /// Property of the drive that scaling it down must preserve.
    pub needs: Needs,
}

/// The state of the drive before the first request, reached in no simulated time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// The drive is erased before the job.
    Empty,
    /// This share of the drive, from 0 to 1, was written once, in order; its remaining blocks are
    /// erased.
    Sequential(f64),
    /// Every page of the drive was written once, in random order.
    Shuffled,
    /// The drive was overwritten at random until write amplification was steady.
    Steady,
}

/// Role of a stream in the measurement: probe or load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Stream whose latencies are the results of the measurement; each single latency is recorded.
    Probe,
    /// The stream loads the drive; its latencies are recorded in a histogram.
    Load,
}

/// A stream of requests, described independently of the drive's size.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPlan {
    /// Role of the stream in the measurement: probe or load.
    pub role: Role,
    /// Share of reads among the requests, 0 to 1.
    pub reads: f64,
    /// Address pattern of the stream's requests.
    pub addresses: Addresses,
    /// Share of the drive that the addresses cover, from its beginning, 0 to 1.
    pub space: f64,
    /// Size of a request of the stream in bytes.
    pub block: u32,
    /// Law of the times at which the stream issues requests.
    pub pace: Pace,
    /// Largest number of the stream's requests in flight.
    pub depth: u32,
    /// Host path of the stream: the time that a request spends in the host.
    pub host: HostPath,
}

/// Condition for the end of a benchmark job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// The job ends when a given amount of data was read and written.
    Moved {
        /// Amount of data that a benchmark job reads and writes, in capacities that the drive shows
        /// to the host.
        times: f64,
        /// Share of the job's amount of data (0 to 1) after which latencies are recorded.
        counted_from: f64,
    },
    /// The job ends when the tail latency of the probe (p99.9 of reads and of writes) is known to
    /// the required precision (5 % by default), and the run has covered whole cycles of GC.
    Tail {
        /// Time after which the job records latencies.
        warm_up: Span,
        /// Number of times that an open block of every plane is filled before latencies are
        /// recorded, and again before the job may end. Blocks fill, and GC runs, at about the same
        /// time on all planes.
        turns: f64,
    },
    /// The job ends after this time on the measured drive; on a scaled-down drive, after the time
    /// that fills the same share of it.
    Lasting(Span),
}

/// Property of the described drive that a scaled-down drive must preserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The scaled-down drive keeps the block size, and so how often reads meet an erase and for how
    /// long; it has fewer blocks.
    Tail,
    /// The scaled-down drive keeps the number of blocks, and so the valid pages that GC finds in
    /// them, as long as smaller blocks (with shorter erases) suffice; only then are blocks left
    /// out.
    Blocks,
    /// The scaled-down drive keeps the block size relative to its capacity, because data that is
    /// invalidated together is written in runs of a share of the drive: blocks are smaller, not
    /// fewer.
    Pieces,
}

/// Host path of io_uring or libaio on a raw device with interrupts: 4 us in all. Assumed from
/// published figures: drives that acknowledge writes from DRAM take 8 to 12 us, "a few" of them in
/// the host; reads of a Samsung 980 PRO at queue depth 1 spend 5 to 8 us in host and fio.
pub const KERNEL: HostPath = path(2, 2);
/// Host path of fio with io_uring or libaio through a block layer with accounting: 6 us in all.
pub const FIO: HostPath = path(3, 3);
/// Host path of fio where each job is pinned to a core of a server: 6 us in all, and at most one
/// request every 2.6 us. Measured limits of one core: 383,000 reads per second (Samsung 980 PRO)
/// and 344,000 (Intel P4510, where two threads reach 466,000). What waits for the core is in flight
/// and in the latency: rates times mean latencies of these rows are their depths.
pub const PINNED: HostPath = HostPath { between: Span(2_600), ..FIO };
/// Host path with user-space polling (SPDK): less than a microsecond each way.
pub const POLLED: HostPath = path(1, 0);
/// Host path of fio behind a SAS host bus adapter. Beyond the transfer, which the drive's link
/// simulates, SATA and adapter add 30 to 40 us to reads at queue depth 1 in the measurements.
pub const ADAPTER: HostPath = path(12, 12);

const fn path(before: u64, after: u64) -> HostPath {
    HostPath { before: Span::us(before), after: Span::us(after), between: Span::ZERO }
}

impl StreamPlan {
    /// Returns a load stream of `depth` writes in flight.
    pub fn writes(addresses: Addresses, block: u32, depth: u32, host: HostPath) -> StreamPlan {
        StreamPlan {
            role: Role::Load,
            reads: 0.0,
            addresses,
            space: 1.0,
            block,
            pace: Pace::Closed,
            depth,
            host,
        }
    }

    /// Returns a probe stream of `depth` reads in flight.
    pub fn reads(addresses: Addresses, block: u32, depth: u32, host: HostPath) -> StreamPlan {
        StreamPlan {
            role: Role::Probe,
            reads: 1.0,
            ..StreamPlan::writes(addresses, block, depth, host)
        }
    }
}

/// Returns the job that fills a drive once in order with large requests, one at a time: the
/// `sequential_mb_s` of a measured file.
pub fn fill() -> Job {
    Job {
        name: "sequential fill".into(),
        state: State::Empty,
        streams: vec![StreamPlan::writes(Addresses::InOrder, 512 << 10, 1, KERNEL)],
        length: Length::Moved { times: 1.0, counted_from: 0.0 },
        needs: Needs::Blocks,
    }
}
