//! Faults at times known in advance. Each fault strikes as an event of its own, before every
//! request and decision of the same nanosecond, whatever is in flight. A drive without scheduled
//! faults has no such events.

use crate::raid::fault_kinds::Fault;
use crate::raid::losses::LossLedger;
use fowler_units::{Nanos, Span};
use std::collections::VecDeque;

/// A fault that struck at a time known in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Struck {
    /// The fault that struck.
    pub fault: Fault,
    /// The time at which the fault struck, by the clock of the drive.
    pub at: Nanos,
    /// Counts of unreadable and lost pages in the run up to the moment before this fault struck.
    pub before: LossLedger,
    /// Counts of unreadable and lost pages in the run up to the moment after this fault struck: a
    /// page that its stripe cannot recover is lost at once.
    pub after: LossLedger,
}

/// A scheduled event that is still to come: a fault, or a loss of power.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coming {
    Fault(Fault),
    /// Power is lost for this time.
    PowerOff(Span),
}

/// The scheduled faults of a run, such as the failure of a die or a loss of power: those still to
/// come, and those that have struck.
#[derive(Clone, Debug, Default)]
pub struct FaultSchedule {
    pub(super) to_come: VecDeque<(Nanos, Coming)>,
    pub(super) struck: Vec<Struck>,
}
