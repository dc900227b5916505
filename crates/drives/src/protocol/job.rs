//! A job: a state of the drive, streams, and the condition for the end. Every protocol comes down
//! to jobs; rows that need equal jobs share one.

use super::addresses::Addresses;
use crate::streams::{HostPath, Pace};
use fowler_units::Span;

/// A job: the simulation of a state, streams and a length.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Short description of the job, for progress and results.
    pub name: String,
    /// The drive before the first request.
    pub state: State,
    /// The streams.
    pub streams: Vec<StreamPlan>,
    /// Condition for the end of the job.
    pub length: Length,
    /// Properties that a scaled-down drive must keep.
    pub needs: Needs,
}

/// The state of the drive before the first request, reached in no simulated time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// Erased.
    Empty,
    /// A share of the drive, from 0 to 1, was written once, in order; the rest is empty.
    Sequential(f64),
    /// Every page was written once, in random order.
    Shuffled,
    /// Overwritten at random until write amplification is steady.
    Steady,
}

/// The role of a stream in the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The stream's latencies are the row's; every one of them is kept.
    Probe,
    /// The stream loads the drive; its latencies are counted in a histogram.
    Load,
}

/// A stream, on a drive of any size.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPlan {
    /// Role of the stream in the measurement.
    pub role: Role,
    /// The share of reads.
    pub reads: f64,
    /// Addresses of the stream's requests.
    pub addresses: Addresses,
    /// The share of the drive that they cover, from its beginning.
    pub space: f64,
    /// Bytes of a request.
    pub block: u32,
    /// Times at which the stream issues requests.
    pub pace: Pace,
    /// The most requests in flight.
    pub depth: u32,
    /// Host path of the stream.
    pub host: HostPath,
}

/// The condition for the end of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// A job ends when this amount was read and written.
    Moved {
        /// Amount as a multiple of the capacity that the drive shows to the host.
        times: f64,
        /// The share of the amount after which latencies count, from 0 to 1.
        counted_from: f64,
    },
    /// A job ends when the tail of the probe is known: its p99.9, of reads and writes alike, to the
    /// precision of [`super::Effort`], and every part of a cycle of GC has been seen.
    Tail {
        /// The time after which answers count.
        warm_up: Span,
        /// Number of times that an open block of every plane is filled before answers count, and
        /// again before the job may end: blocks fill and GC runs at about the same time on all
        /// planes.
        turns: f64,
    },
    /// A job ends after this time on the drive of the measurement; the smaller drive is filled in
    /// less.
    Lasting(Span),
}

/// The property that a smaller drive must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The size of a block, and so how often a read meets an erase and for how long: only the
    /// number of blocks becomes smaller.
    Tail,
    /// The number of blocks, and so what GC finds in them: first the blocks become smaller, and
    /// their erases shorter, then fewer.
    Blocks,
    /// The size of a block relative to the drive, because data that dies together is written in
    /// pieces of a share of the drive: blocks become smaller, and no fewer.
    Pieces,
}

/// A host of io_uring or libaio on a raw device, interrupts on: 4 us in all. The drives of
/// `latency-under-load` answer writes from DRAM in 8 to 12 us, of which the host has "a few"; QD-1
/// reads of the 980 PRO have 5 to 8 us of it by its file, with fio's own share.
pub const KERNEL: HostPath = path(2, 2);
/// As [`KERNEL`], through fio and a block layer with accounting.
pub const FIO: HostPath = path(3, 3);
/// As [`FIO`], where each job has one core of a server to itself: it hands over a request every 2.6
/// us at best. One job of the 980 PRO's file stops at 383,000 reads per second, which its caveats
/// call the core's limit; one thread of the P4510's at 344,000, where two reach 466,000.
pub const PINNED: HostPath = HostPath { between: Span(2_600), ..FIO };
/// User-space polling (SPDK): less than a microsecond each way.
pub const POLLED: HostPath = path(1, 0);
/// fio behind a SAS host bus adapter: 30 to 40 us of a QD-1 read are SATA and adapter by the file;
/// the transfer itself is the drive's link.
pub const ADAPTER: HostPath = path(12, 12);

const fn path(before: u64, after: u64) -> HostPath {
    HostPath { before: Span::us(before), after: Span::us(after), between: Span::ZERO }
}

impl StreamPlan {
    /// A stream of `depth` writes in flight.
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

    /// A stream of `depth` reads in flight, whose latencies are the row's.
    pub fn reads(addresses: Addresses, block: u32, depth: u32, host: HostPath) -> StreamPlan {
        StreamPlan {
            role: Role::Probe,
            reads: 1.0,
            ..StreamPlan::writes(addresses, block, depth, host)
        }
    }
}

/// A drive written once in order with large requests, one at a time: the `sequential_mb_s` of a
/// measured file.
pub fn fill() -> Job {
    Job {
        name: "sequential fill".into(),
        state: State::Empty,
        streams: vec![StreamPlan::writes(Addresses::InOrder, 512 << 10, 1, KERNEL)],
        length: Length::Moved { times: 1.0, counted_from: 0.0 },
        needs: Needs::Blocks,
    }
}
