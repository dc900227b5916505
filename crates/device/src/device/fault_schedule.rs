//! Faults at times known in advance. Each strikes as an event of its own, before every request and
//! decision of its nanosecond, whatever is in flight. Without such faults there are no such events.

use crate::raid::fault_kinds::Fault;
use crate::raid::losses::LossLedger;
use fowler_units::{Nanos, Span};
use std::collections::VecDeque;

/// A fault that struck at a time known in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Struck {
    /// What failed.
    pub fault: Fault,
    /// When, by the clock of the drive.
    pub at: Nanos,
    /// The fate of unreadable pages before it.
    pub before: LossLedger,
    /// The same after it: what a stripe cannot give back is lost at once.
    pub after: LossLedger,
}

/// What happens at a time known in advance.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coming {
    Fault(Fault),
    /// The power is off for this long.
    PowerOff(Span),
}

/// The faults to come, and those that have struck.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultSchedule {
    pub(super) to_come: VecDeque<(Nanos, Coming)>,
    pub(super) struck: Vec<Struck>,
}
