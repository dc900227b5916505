//! A program or an erase as the cells see it: something that runs to a known end, can be interrupted,
//! and can be put back. One face for both kinds.

use crate::{EraseOp, ProgramOp, Timing};
use fowler_units::Nanos;

/// Where a running operation may be taken off the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspendAt {
    /// Inter-phase suspension: at the end of the running program or verify phase (S5).
    PhaseEnd,
    /// Intra-phase cancellation: at once, after a voltage reset; the phase is lost (S5).
    Anywhere,
}

/// What an interruption comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// The operation completes before it could be taken off; it runs on and nothing was suspended.
    Completes,
    /// The cells are free at `at`. `counted`: a running operation was taken off them (S10), as opposed
    /// to a resumption that had not yet touched them (S11).
    Off {
        /// When the die can sense.
        at: Nanos,
        /// Whether this is a suspension in the sense of S10.
        counted: bool,
    },
}

/// A program or an erase on the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellOp {
    /// A page program (or one multi-plane program).
    Program(ProgramOp),
    /// A block erase.
    Erase(EraseOp),
}

impl CellOp {
    /// Starts or resumes the operation; it ends at the moment returned unless interrupted.
    pub fn run(&mut self, now: Nanos, timing: &Timing) -> Nanos {
        match self {
            CellOp::Program(program) => program.run(now, timing),
            CellOp::Erase(erase) => erase.run(now, timing),
        }
    }

    /// Takes the running operation off the cells for a read that is there at `now`.
    ///
    /// The progress kept is that at the moment the cells are free; call [`CellOp::run`] afterwards to
    /// resume. Erases are suspended in the same way under either rule (S9). An operation that completes
    /// is left as it is.
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

    /// When the running stretch began: the last start or resumption.
    pub fn running_since(&self) -> Nanos {
        match self {
            CellOp::Program(program) => program.running_since(),
            CellOp::Erase(erase) => erase.running_since(),
        }
    }
}
