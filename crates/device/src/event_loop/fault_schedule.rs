//! Faults at times known in advance. Each fault strikes as an event of its own, before every
//! request and decision of its nanosecond, whatever is in flight. Without such faults there are no
//! such events.

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
    /// The fate of unreadable pages before the fault.
    pub before: LossLedger,
    /// The fate of unreadable pages after the fault: a page that its stripe cannot give back is
    /// lost at once.
    pub after: LossLedger,
}

/// An event that is due at a time known in advance.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coming {
    Fault(Fault),
    /// The power goes off for this long.
    PowerOff(Span),
}

/// The faults to come, and the faults that have struck.
#[derive(Clone, Debug, Default)]
pub struct FaultSchedule {
    pub(super) to_come: VecDeque<(Nanos, Coming)>,
    pub(super) struck: Vec<Struck>,
}
