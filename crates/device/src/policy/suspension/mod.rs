//! Slot: may this candidate suspend the running operation, and at which point?
//!
//! Contract. The rule is called only after `die_order` has chosen the candidate, so that the two
//! decisions cannot conflict. It never searches the queue.

use crate::observe::operation::Op;
use crate::policy::custom::Custom;
use crate::policy::registry::slot;
use dyn_clone::clone_trait_object;
use fowler_nand::{CancelledProgram, Reload, SuspendAt};
use fowler_units::{DieId, Nanos, Span};

slot! { $
    /// The suspension rule a device was configured with.
    pub enum AnySuspension, named SuspensionKind, match by each_suspension, or Custom(CustomSuspension) {
        "never" => never::Never needs Nothing, "a program or erase runs to its end";
        "ips" => ips::Ips needs Nothing, "inter-phase suspension: at the end of the running phase";
        "ipc" => ipc::Ipc needs Nothing, "intra-phase cancellation: at once, and the phase is lost";
    }
}

/// Parameters of every policy of this slot, and of the die that executes the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The policy.
    pub name: SuspensionKind,
    /// Which reads may suspend.
    pub reads: SuspendingReads,
    /// What follows a cancelled program phase (S7).
    pub cancelled_program: CancelledProgram,
    /// How a read that arrives during the buffer reload is served (S11).
    pub reload: Reload,
    /// Whether the die has a shadow buffer; if not, the data is sent over the bus again (S7).
    pub shadow_buffer: bool,
    /// The maximum number of suspensions per operation; `None` is unlimited.
    pub max_suspends: Option<u32>,
    /// The minimum time that an operation runs after each start or resumption before it may be
    /// suspended, including a reload or re-bias.
    pub min_progress: Span,
    /// The time from the point of suspension until the die serves the read: what the part needs to
    /// save the state of the operation.
    pub delay: Span,
}

impl Default for Params {
    /// Nothing is suspended.
    fn default() -> Self {
        Self {
            name: SuspensionKind::Never,
            reads: SuspendingReads::Host,
            cancelled_program: CancelledProgram::Redo,
            reload: Reload::Abort,
            shadow_buffer: true,
            max_suspends: None,
            min_progress: Span::ZERO,
            delay: Span::ZERO,
        }
    }
}

/// Which reads may suspend a program or an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspendingReads {
    /// Those that a host request waits for.
    Host,
    /// Also those of garbage collection and read-modify-write.
    All,
}

/// The running operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// The current time.
    pub now: Nanos,
    /// The die it runs on.
    pub die: DieId,
    /// The kind of operation.
    pub op: Op,
    /// How often it has been suspended.
    pub suspensions: u32,
    /// How long it has run since it started or resumed.
    pub ran: Span,
}

impl Running {
    /// Returns whether it is an erase rather than a program.
    pub fn erases(&self) -> bool {
        self.op == Op::Erase
    }
}

/// The read chosen by `die_order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Whether a host request waits for it.
    pub host_waits: bool,
    /// When it began to wait for its die.
    pub since: Nanos,
}

/// A rule that decides whether an operation is suspended.
pub trait Suspension {
    /// Returns where `running`, a program or an erase, may be suspended for `candidate`, a read
    /// that may suspend according to [`Params::reads`]; `None` if it may not.
    fn interrupts(&mut self, running: Running, candidate: Candidate) -> Option<SuspendAt>;
}

impl Suspension for AnySuspension {
    #[inline]
    fn interrupts(&mut self, running: Running, candidate: Candidate) -> Option<SuspendAt> {
        each_suspension!(self, policy => policy.interrupts(running, candidate))
    }
}

impl Params {
    /// Returns whether the limits allow suspending an operation; the policy is called only if they
    /// do.
    pub(crate) fn permits(&self, running: Running) -> bool {
        self.max_suspends.is_none_or(|limit| running.suspensions < limit)
            && running.ran >= self.min_progress
    }
}

/// A policy supplied by the code that builds the drive.
pub trait CustomSuspension: Custom {
    /// Returns where `running` may be suspended for `candidate`; `None` if it may not. Called only
    /// for reads that wait for a program or an erase.
    fn interrupts(&mut self, running: Running, candidate: Candidate) -> Option<SuspendAt>;
}
clone_trait_object!(CustomSuspension);
