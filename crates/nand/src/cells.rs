//! The operation on a die's cells: a program or an erase, which runs to a known end, can be
//! suspended, and can be resumed.

use crate::{EraseOp, ProgramOp, Timing};
use fowler_units::Nanos;

/// Points at which a running program or erase may be suspended for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspendAt {
    /// Inter-phase suspension: at the end of the running program or verify phase (S5).
    PhaseEnd,
    /// Intra-phase cancellation: at once, after a voltage reset; the running phase is lost (S5).
    Anywhere,
}

/// Result of interrupting a program or erase for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// The program or erase completes before it could be suspended, and so is not interrupted.
    Completes,
    /// The program or erase no longer occupies the cells of the die.
    Off {
        /// Simulated time from which the die, freed of the suspended operation, can sense a page
        /// for the read.
        at: Nanos,
        /// True if the interruption counts as a suspension (S10). It does not count if the
        /// operation was resuming and had not yet touched the cells (S11).
        counted: bool,
    },
}

/// Kind of a phase of a running program or erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// Phase of a program that was suspended for a read: the page buffer of the die is filled again
    /// from the shadow buffer, a second buffer that kept its data.
    Reload,
    /// Phase that verifies the result of a cancelled program phase (S7).
    CheckVerify,
    /// Program phase, including its voltage reset (S3).
    Program,
    /// Verify phase of a program, after each program phase.
    Verify,
    /// Phase that restores the voltages of a suspended erase (S8).
    Rebias,
    /// Erase pulse, or the rest of a suspended one.
    Pulse,
    /// Verify phase of an erase, after the pulse.
    EraseVerify,
}

/// A phase of a running program or erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Kind of the phase, such as program, verify or erase pulse.
    pub kind: PhaseKind,
    /// Simulated time at which this phase of the program or erase starts.
    pub from: Nanos,
    /// Simulated time at which this phase of the program or erase ends.
    pub until: Nanos,
}

/// A program or an erase on the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellOp {
    /// A page program, or one program of pages on several planes.
    Program(ProgramOp),
    /// A block erase.
    Erase(EraseOp),
}

impl CellOp {
    /// Starts or resumes the program or erase at the time `now`. Returns the simulated time at
    /// which it ends if nothing interrupts it.
    pub fn run(&mut self, now: Nanos, timing: &Timing) -> Nanos {
        match self {
            CellOp::Program(program) => program.run(now, timing),
            CellOp::Erase(erase) => erase.run(now, timing),
        }
    }

    /// Starts the program or erase for the first time. Unless interrupted, a program takes
    /// [`Timing::iteration`] times the number of its iterations, an erase takes [`Timing::erase`].
    #[inline]
    pub fn begin(&mut self, now: Nanos) {
        match self {
            CellOp::Program(program) => program.begin(now),
            CellOp::Erase(erase) => erase.begin(now),
        }
    }

    /// Suspends the running program or erase for a read that arrives at `now`. `rule` is the point
    /// at which a program may be suspended; it has no effect on an erase (S9).
    ///
    /// The operation keeps its progress up to the moment at which the cells are free. Call
    /// [`CellOp::run`] to resume it. An operation that completes before it could be suspended does
    /// not change.
    pub fn interrupt(&mut self, now: Nanos, timing: &Timing, rule: SuspendAt) -> Interrupt {
        let before = *self;
        let outcome = match self {
            CellOp::Program(program) => program.interrupt(now, timing, rule),
            CellOp::Erase(erase) => erase.interrupt(now, timing),
        };
        if outcome == Interrupt::Completes {
            *self = before;
        }
        outcome
    }

    /// Returns the phases of the program or erase from its last start or resumption to its end, in
    /// order and without gaps, as they are if nothing interrupts it. Phases of zero length are left
    /// out.
    pub fn phases(&self, timing: &Timing) -> Vec<Phase> {
        let mut at = self.running_since();
        let lengths = match self {
            CellOp::Program(program) => program.phases(timing),
            CellOp::Erase(erase) => erase.phases(timing),
        };
        let mut phase = |(kind, length)| {
            let from = at;
            at = at + length;
            Phase { kind, from, until: at }
        };
        lengths.into_iter().map(&mut phase).filter(|phase| phase.from < phase.until).collect()
    }

    /// Returns the simulated time at which the program or erase last started or resumed.
    pub fn running_since(&self) -> Nanos {
        match self {
            CellOp::Program(program) => program.running_since(),
            CellOp::Erase(erase) => erase.running_since(),
        }
    }
}
