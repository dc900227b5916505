//! Slot: may this candidate interrupt the operation that runs, and where?
//!
//! Asked only after `die_order` named the candidate, so that "who is next" and "who is interrupted"
//! cannot disagree. Never searches the queue.

use crate::observe::operation::Op;
use crate::policy::custom::Custom;
use crate::policy::registry::slot;
use dyn_clone::clone_trait_object;
use fowler_nand::{CancelledProgram, Reload, SuspendAt};
use fowler_units::{DieId, Nanos, Span};

slot! { $
    /// The suspension rule a device was configured with.
    pub enum AnySuspension, named SuspensionKind, match by each_suspension, or Custom(CustomSuspension) {
        "never" => never::Never, "a program or erase runs to its end";
        "ips" => ips::Ips, "inter-phase suspension: at the end of the running phase";
        "ipc" => ipc::Ipc, "intra-phase cancellation: at once, and the phase is lost";
    }
}

/// Parameters of every policy of this slot, and of the die that carries the decision out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The policy.
    pub name: SuspensionKind,
    /// Which reads may suspend.
    pub reads: SuspendingReads,
    /// What follows a cancelled program phase (S7).
    pub cancelled_program: CancelledProgram,
    /// What a read does that arrives during the buffer reload (S11).
    pub reload: Reload,
    /// Whether the die has a shadow buffer; without, the data is sent over the bus again (S7).
    pub shadow_buffer: bool,
    /// Suspensions that one operation bears at most; `None` is no limit.
    pub max_suspends: Option<u32>,
    /// Time an operation runs after each start or resumption, reload or re-bias included, before it
    /// may be suspended.
    pub min_progress: Span,
}

/// Which reads may suspend a program or an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspendingReads {
    /// Those that a host request waits for.
    Host,
    /// Those of garbage collection and read-modify-write too.
    All,
}

/// The operation that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// The present.
    pub now: Nanos,
    /// Where it runs.
    pub die: DieId,
    /// What it is.
    pub op: Op,
    /// How often it was suspended.
    pub suspensions: u32,
    /// How long it has run since it started or resumed.
    pub ran: Span,
}

impl Running {
    /// Whether it is an erase, and no program.
    pub fn erases(&self) -> bool {
        self.op == Op::Erase
    }
}

/// The read that `die_order` named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Whether a host request waits for it.
    pub host_waits: bool,
    /// Since when it has waited for its die.
    pub since: Nanos,
}

/// A rule that decides whether an operation is interrupted.
pub trait Suspension {
    /// Where `running`, a program or an erase, may be interrupted for `candidate`, a read that may
    /// suspend by [`Params::reads`]; `None` if it may not.
    fn interrupts(&mut self, running: Running, candidate: Candidate) -> Option<SuspendAt>;
}

impl Suspension for AnySuspension {
    #[inline]
    fn interrupts(&mut self, running: Running, candidate: Candidate) -> Option<SuspendAt> {
        each_suspension!(self, policy => policy.interrupts(running, candidate))
    }
}

impl Params {
    /// Whether an operation has the right to be left alone no longer; the policy is asked of those
    /// alone.
    pub(crate) fn permits(&self, running: Running) -> bool {
        self.max_suspends.is_none_or(|limit| running.suspensions < limit)
            && running.ran >= self.min_progress
    }
}

/// A policy that whoever builds the drive hands over.
pub trait CustomSuspension: Custom {
    /// Where `running` may be interrupted for `candidate`; `None` if it may not. Asked only of
    /// reads that wait for a program or an erase.
    fn interrupts(&mut self, running: Running, candidate: Candidate) -> Option<SuspendAt>;
}
clone_trait_object!(CustomSuspension);
