//! Slot: the suspension of a running operation for a read, and the point at which it is suspended.
//!
//! Contract. The rule is called only after `die_order` has chosen the read, so that the two
//! decisions cannot conflict. The rule never searches the queue.

use crate::observe::operation::Op;
use crate::policy::custom::Custom;
use crate::policy::registry::slot;
use dyn_clone::clone_trait_object;
use fowler_nand::{CancelledProgram, Reload, SuspendAt};
use fowler_units::{DieId, Nanos, Span};

slot! { $
    /// The suspension policy of a drive.
    pub enum AnySuspension, named SuspensionKind, match by each_suspension, or Custom(CustomSuspension) {
        "never" => never::Never needs Nothing, "a program or erase runs to its end";
        "ips" => ips::Ips needs Nothing, "inter-phase suspension: at the end of the running phase";
        "ipc" => ipc::Ipc needs Nothing, "intra-phase cancellation: at once, and the phase is lost";
    }
}

/// Configuration of suspension: the policy, and the abilities of the die that executes its
/// decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Name of the selected suspension policy.
    pub name: SuspensionKind,
    /// Reads that may suspend a program or an erase.
    pub reads: SuspendingReads,
    /// Operation after a suspended program whose phase was cancelled has resumed and verified its
    /// cells: that phase in full again, or the next program iteration (rule S7 of docs/pes.md).
    pub cancelled_program: CancelledProgram,
    /// Service of a read that arrives while the page buffer is reloaded for a suspended program
    /// (rule S11 of docs/pes.md).
    pub reload: Reload,
    /// True if the die has a shadow buffer that keeps the data of a suspended program; if false,
    /// the data is sent over the bus again when the program resumes (rule S7 of docs/pes.md).
    pub shadow_buffer: bool,
    /// Largest number of suspensions of one program or erase; `None` for no limit.
    pub max_suspends: Option<u32>,
    /// Shortest time that a program or erase runs after each start or resumption before it may be
    /// suspended, including a reload or re-bias.
    pub min_progress: Span,
    /// Time limit, from the first start of a program or erase on the cells, after which it runs to
    /// its end even if reads wait: a suspension that would free the die later is refused, and a
    /// suspended operation resumes before the next read. `None` for no limit.
    pub max_time: Option<Span>,
    /// Length of the steps of an erase pulse, which is suspended only between steps; zero if the
    /// pulse can be suspended anywhere.
    pub erase_step: Span,
    /// Time from the point of suspension until the die serves the read, in which the chip saves the
    /// state of the operation.
    pub delay: Span,
}

impl Default for Params {
    /// Returns the parameters of a drive without suspension.
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
    /// Only reads that a host request waits for may suspend.
    Host,
    /// All reads may suspend, those of garbage collection and read-modify-write included.
    All,
}

/// The running program or erase, as a suspension policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// Simulated time at which the suspension policy decides.
    pub now: Nanos,
    /// Die that executes the running operation.
    pub die: DieId,
    /// Kind of the running operation: program or erase.
    pub op: Op,
    /// Number of suspensions of the running operation so far.
    pub suspensions: u32,
    /// Time since the running operation started or last resumed.
    pub ran: Span,
}

impl Running {
    /// Returns true if the running operation is an erase, false if it is a program.
    pub fn erases(&self) -> bool {
        self.op == Op::Erase
    }
}

/// The read that the die would serve next, as a suspension policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// True if a host request waits for the read that the die would serve next.
    pub host_waits: bool,
    /// Time at which the read that the die would serve next began to wait for its die.
    pub since: Nanos,
}

/// A policy that decides if and where a running program or erase is suspended for a read.
pub trait Suspension {
    /// Returns the point at which `running`, a program or an erase, is suspended for `candidate`, a
    /// read that may suspend according to [`Params::reads`]; `None` if it is not.
    fn interrupts(&mut self, running: Running, candidate: Candidate) -> Option<SuspendAt>;
}

impl Suspension for AnySuspension {
    #[inline]
    fn interrupts(&mut self, running: Running, candidate: Candidate) -> Option<SuspendAt> {
        each_suspension!(self, policy => policy.interrupts(running, candidate))
    }
}

impl Params {
    /// Returns true if the configured limits allow suspending an operation; the policy is called
    /// only then.
    pub(crate) fn permits(&self, running: Running) -> bool {
        self.max_suspends.is_none_or(|limit| running.suspensions < limit)
            && running.ran >= self.min_progress
    }

    /// Returns true if a program or erase first started on the cells at `started` must not be
    /// suspended at the time `at`.
    #[inline]
    pub(crate) fn overdue(&self, at: Nanos, started: Nanos) -> bool {
        self.max_time.is_some_and(|limit| at - started >= limit)
    }
}

/// A custom suspension policy, supplied by the code that builds the drive.
pub trait CustomSuspension: Custom {
    /// Returns the point at which `running` is suspended for `candidate`; `None` if it is not.
    /// Called only for reads that wait for a program or an erase.
    fn interrupts(&mut self, running: Running, candidate: Candidate) -> Option<SuspendAt>;
}
clone_trait_object!(CustomSuspension);
