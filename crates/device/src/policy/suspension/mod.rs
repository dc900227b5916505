//! Slot: the permission of a read to suspend the running operation, and the point of suspension.
//!
//! Contract. The rule is called only after `die_order` has chosen the candidate, so that the two
//! decisions cannot conflict. The rule never searches the queue.

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
    /// The selected policy.
    pub name: SuspensionKind,
    /// The reads that may suspend a program or an erase.
    pub reads: SuspendingReads,
    /// The operation that follows a cancelled program phase (S7).
    pub cancelled_program: CancelledProgram,
    /// The service of a read that arrives during the buffer reload (S11).
    pub reload: Reload,
    /// True if the die has a shadow buffer; if not, the data is sent over the bus again (S7).
    pub shadow_buffer: bool,
    /// The maximum number of suspensions per operation; `None` is unlimited.
    pub max_suspends: Option<u32>,
    /// The minimum time that an operation runs after each start or resumption before it may be
    /// suspended, including a reload or re-bias.
    pub min_progress: Span,
    /// The time since an operation first went on the cells after which it runs to its end, even if
    /// reads wait: a suspension that would free the die later is refused, and a suspended operation
    /// resumes before the next read. `None` is unlimited.
    pub max_time: Option<Span>,
    /// The length of the steps of an erase pulse, which is suspended only between steps; zero if
    /// the pulse can be suspended anywhere.
    pub erase_step: Span,
    /// The time from the point of suspension until the die serves the read: the part needs it to
    /// save the state of the operation.
    pub delay: Span,
}

impl Default for Params {
    /// Returns the parameters of a drive that suspends nothing.
    fn default() -> Self {
        Self {
            name: SuspensionKind::Never,
            reads: SuspendingReads::Host,
            cancelled_program: CancelledProgram::Redo,
            reload: Reload::Abort,
            shadow_buffer: true,
            max_suspends: None,
            min_progress: Span::ZERO,
            max_time: None,
            erase_step: Span::ZERO,
            delay: Span::ZERO,
        }
    }
}

/// The reads that may suspend a program or an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspendingReads {
    /// Reads that a host request waits for.
    Host,
    /// All reads, those of garbage collection and read-modify-write included.
    All,
}

/// The running operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// The current time.
    pub now: Nanos,
    /// The die that the operation runs on.
    pub die: DieId,
    /// The kind of operation.
    pub op: Op,
    /// The number of suspensions of the operation so far.
    pub suspensions: u32,
    /// The time since the operation started or last resumed.
    pub ran: Span,
}

impl Running {
    /// Returns true if the operation is an erase rather than a program.
    pub fn erases(&self) -> bool {
        self.op == Op::Erase
    }
}

/// The read chosen by `die_order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// True if a host request waits for the read.
    pub host_waits: bool,
    /// When the read began to wait for its die.
    pub since: Nanos,
}

/// A rule that decides which running operations are suspended.
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
    /// Returns true if the limits allow suspending an operation; the policy is called only then.
    pub(crate) fn permits(&self, running: Running) -> bool {
        self.max_suspends.is_none_or(|limit| running.suspensions < limit)
            && running.ran >= self.min_progress
    }

    /// Returns true if an operation that first went on the cells at `started` must not be off them
    /// at `at`.
    #[inline]
    pub(crate) fn overdue(&self, at: Nanos, started: Nanos) -> bool {
        self.max_time.is_some_and(|limit| at - started >= limit)
    }
}

/// A policy supplied by the code that builds the drive.
pub trait CustomSuspension: Custom {
    /// Returns where `running` may be suspended for `candidate`; `None` if it may not. Called only
    /// for reads that wait for a program or an erase.
    fn interrupts(&mut self, running: Running, candidate: Candidate) -> Option<SuspendAt>;
}
clone_trait_object!(CustomSuspension);
