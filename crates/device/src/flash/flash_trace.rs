//! The steps of flash operations, for probes that watch. A step is recorded when it ends, because
//! then everything about it is known. The phases of programs and erases follow from when they ran.

use crate::observe::operation::{Op, Source};
use fowler_nand::CellOp;
use fowler_units::{DieId, Lpn, Nanos, Ppn, ReqId, Span};

/// Selects which steps of flash operations are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Steps {
    /// No step.
    #[default]
    None,
    /// [`FlashEvent::Done`] of programs.
    Programs,
    /// All steps.
    All,
}

/// One step of a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashStep {
    /// When the step ended, in simulated time.
    pub at: Nanos,
    /// The die that executed the step.
    pub die: DieId,
    /// The operation that the step belongs to.
    pub operation: Operation,
    /// The kind of the step, and its times.
    pub event: FlashEvent,
}

/// A flash operation, as shown to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Place of the operation in the order in which operations were opened, which is unique.
    pub order: u64,
    /// Read, program or erase.
    pub op: Op,
    /// The source of the operation: host, GC and so on.
    pub source: Source,
    /// The host request that waits for the operation, if any. The id is used again once that
    /// request is answered.
    pub request: ReqId,
    /// The physical page, or the first page of the block; none for a page that was never written.
    pub ppn: Ppn,
    /// The logical page; none for an erase.
    pub lpn: Lpn,
    /// When the operation was submitted to its die.
    pub submitted: Nanos,
    /// When the die took the operation up.
    pub dispatched: Nanos,
}

/// The kinds of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashEvent {
    /// A try of a read ends. The page was sensed from the start of the try, and transferred until
    /// now; in between it waited for the channel.
    Read {
        /// The time to sense the page.
        sense: Span,
        /// The time to transfer the page out.
        transfer: Span,
        /// The sensing level; 0 is the hard decision.
        level: u8,
        /// True if the page is read again at the next level.
        again: bool,
    },
    /// The transfer of a page in has just ended.
    Load {
        /// The time of the transfer.
        transfer: Span,
        /// True if a suspension made the second transfer of the same data necessary.
        again: bool,
    },
    /// The transfer of a page of the next program into the cache register has just ended.
    LoadAhead {
        /// The time of the transfer.
        transfer: Span,
    },
    /// A program or erase goes on the cells, for the first time or again.
    Run {
        /// Progress of the operation, from which its phases follow.
        cells: CellOp,
        /// When the operation ends unless it is interrupted.
        until: Nanos,
    },
    /// A program or erase is taken off the cells.
    Off {
        /// When the running phase stops.
        stopped: Nanos,
        /// When the cells are free for a read.
        free: Nanos,
        /// True if the operation had touched the cells, so that this counts as a suspension (S10).
        counted: bool,
    },
    /// The operation is done.
    Done,
    /// The operation waited for one that is now done on the die: the program of another page write
    /// that it had joined, the parity of its stripe, or a page that its data is rebuilt from.
    Joined,
}
