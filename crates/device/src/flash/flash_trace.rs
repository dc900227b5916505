//! The steps of flash operations, for probes that watch. A step is recorded when it ends, because
//! then everything about it is known. The phases of programs and erases follow from when they ran.

use crate::observe::operation::{Op, Source};
use fowler_nand::CellOp;
use fowler_units::{DieId, Lpn, Nanos, Ppn, ReqId, Span};

/// Which steps of flash operations are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Steps {
    /// None.
    #[default]
    None,
    /// [`FlashEvent::Done`] of programs.
    Programs,
    /// All.
    All,
}

/// One step of a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashStep {
    /// When.
    pub at: Nanos,
    /// Where.
    pub die: DieId,
    /// Of which operation.
    pub operation: Operation,
    /// What.
    pub event: FlashEvent,
}

/// A flash operation, as shown to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its place in the order in which operations were opened, which is unique.
    pub order: u64,
    /// What it does.
    pub op: Op,
    /// On whose behalf.
    pub source: Source,
    /// The host request that waits for it, if any. Its id is used again once that is answered.
    pub request: ReqId,
    /// The physical page, or the first page of the block; none for a page that was never written.
    pub ppn: Ppn,
    /// The logical page; none for an erase.
    pub lpn: Lpn,
    /// When it was submitted to its die.
    pub submitted: Nanos,
    /// When the die took it up.
    pub dispatched: Nanos,
}

/// What happens in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashEvent {
    /// A try of a read ends. The page was sensed from the start of the try, and transferred until
    /// now; in between it waited for the channel.
    Read {
        /// Sensing.
        sense: Span,
        /// The transfer out.
        transfer: Span,
        /// The level; 0 is the hard decision.
        level: u8,
        /// Whether the page is read again at the next level.
        again: bool,
    },
    /// The transfer of a page in has just ended.
    Load {
        /// The transfer.
        transfer: Span,
        /// Whether the data was transferred in again, because of a suspension.
        again: bool,
    },
    /// The transfer of a page of the next program into the cache register has just ended.
    LoadAhead {
        /// The transfer.
        transfer: Span,
    },
    /// A program or erase goes on the cells, for the first time or again.
    Run {
        /// Its progress, from which its phases follow.
        cells: CellOp,
        /// When it ends unless it is interrupted.
        until: Nanos,
    },
    /// A program or erase is taken off the cells.
    Off {
        /// When the running phase stops.
        stopped: Nanos,
        /// When the cells are free for a read.
        free: Nanos,
        /// Whether it had touched the cells (S10).
        counted: bool,
    },
    /// The operation is done.
    Done,
    /// The operation waited for one that is now done on the die: the program of another page write
    /// that it had joined, the parity of its stripe, or a page that its data is rebuilt from.
    Joined,
}
