//! A program or an erase as the cells see it: something that runs to a known end, can be
//! interrupted, and can be put back. One face for both kinds.

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
    /// The cells are free at `at`. `counted`: a running operation was taken off them (S10), as
    /// opposed to a resumption that had not yet touched them (S11).
    Off {
        /// When the die can sense.
        at: Nanos,
        /// Whether this is a suspension in the sense of S10.
        counted: bool,
    },
}

/// What the cells of a running program or erase go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// The page buffer is loaded from the shadow buffer (S7).
    Reload,
    /// What a cancelled program phase has done is verified (S7).
    CheckVerify,
    /// A program phase, its voltage reset included (S3).
    Program,
    /// A verify phase.
    Verify,
    /// The voltages of a suspended erase are put back (S8).
    Rebias,
    /// The erase pulse, or what is left of it.
    Pulse,
    /// The verify after the pulse.
    EraseVerify,
}

/// A phase of a running stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What it is.
    pub kind: PhaseKind,
    /// When it begins.
    pub from: Nanos,
    /// When it ends.
    pub until: Nanos,
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

    /// As [`CellOp::run`], for the first time: it ends after what it takes undisturbed,
    /// [`Timing::iteration`] times its iterations or [`Timing::erase`].
    #[inline]
    pub fn begin(&mut self, now: Nanos) {
        match self {
            CellOp::Program(program) => program.begin(now),
            CellOp::Erase(erase) => erase.begin(now),
        }
    }

    /// Takes the running operation off the cells for a read that is there at `now`.
    ///
    /// The progress kept is that at the moment the cells are free; call [`CellOp::run`] afterwards
    /// to resume. Erases are suspended in the same way under either rule (S9). An operation that
    /// completes is left as it is.
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

    /// The phases of the running stretch, in order, without gaps, as long as nothing comes; those
    /// without any length left out.
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

    /// When the running stretch began: the last start or resumption.
    pub fn running_since(&self) -> Nanos {
        match self {
            CellOp::Program(program) => program.running_since(),
            CellOp::Erase(erase) => erase.running_since(),
        }
    }
}
