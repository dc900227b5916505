//! The steps of flash operations, for probes that observe them.
//!
//! Invariants: a step is recorded when it ends, because then everything about it is known; steps
//! are in the order of their ends. The phases of programs and erases are not recorded: they follow
//! from the times at which these ran.

use crate::observe::operation::{Op, Source};
use fowler_nand::CellOp;
use fowler_units::{DieId, Lpn, Nanos, Ppn, ReqId, Span};

/// Selects which steps of flash operations are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Steps {
    /// No steps of flash operations are recorded.
    #[default]
    None,
    /// The drive records only the ends of programs ([`FlashEvent::Done`]) for the probe.
    Programs,
    /// The drive records the steps of all flash operations for the probe.
    All,
}

/// One step of a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashStep {
    /// Simulated time at which the step of the flash operation ended.
    pub at: Nanos,
    /// The die that executed the step of the flash operation.
    pub die: DieId,
    /// The flash operation that the step belongs to.
    pub operation: Operation,
    /// The kind of the flash operation's step, and its times.
    pub event: FlashEvent,
}

/// A flash operation, as a probe (an observer of the simulation) sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Number of the operation, unique and ascending in the order in which operations were opened.
    pub order: u64,
    /// Kind of the operation: read, program or erase.
    pub op: Op,
    /// The source of the operation: host, GC and so on.
    pub source: Source,
    /// Host request that waits for the operation, if any. The id is used again once that request is
    /// completed.
    pub request: ReqId,
    /// Physical page that the operation accesses, or the first page of the block for an erase; none
    /// for a page that was never written.
    pub ppn: Ppn,
    /// Logical page whose data the operation accesses; none for an erase.
    pub lpn: Lpn,
    /// Time at which the operation was submitted to its die.
    pub submitted: Nanos,
    /// Time at which the die started the operation.
    pub dispatched: Nanos,
}

/// A kind of step of a flash operation, with its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashEvent {
    /// A try of a read ends. The page was sensed from the start of the try, and transferred until
    /// now; in between it waited for the channel.
    Read {
        /// Time to sense the page.
        sense: Span,
        /// Time to transfer the page from the die.
        transfer: Span,
        /// Sensing level of the try; 0 is the hard decision.
        level: u8,
        /// True if the page is read again at the next sensing level.
        again: bool,
    },
    /// The transfer of a page to the die ends.
    Load {
        /// Time to transfer the page over the channel to the die.
        transfer: Span,
        /// True if a suspension made a second transfer of the same data necessary.
        again: bool,
    },
    /// The transfer of a page of the next program into the cache register ends.
    LoadAhead {
        /// Time to transfer the page over the channel into the cache register of the die.
        transfer: Span,
    },
    /// A program or erase starts or resumes on the cells.
    Run {
        /// Progress of the program or erase on the cells when it starts or resumes; the times of
        /// its remaining pulses and verifications follow from it.
        cells: CellOp,
        /// Time at which the operation ends unless it is interrupted.
        until: Nanos,
    },
    /// A program or erase is suspended or cancelled.
    Off {
        /// Time at which the pulse or verification in progress stops, and the program or erase with
        /// it.
        stopped: Nanos,
        /// Time from which the cells are free for a read.
        free: Nanos,
        /// True if the program or erase had changed the cells before it was suspended or cancelled,
        /// so that the interruption counts as a suspension (rule S10 of docs/pes.md).
        counted: bool,
    },
    /// The operation ends, and with it the transaction.
    Done,
    /// The operation had waited for another that ends now: the program of another page write that
    /// it had joined, the parity of its stripe, or a page that its data is rebuilt from.
    Joined,
}
