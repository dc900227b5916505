//! A page program: ISPP iterations of a program phase and a verify phase, and its suspension.
//!
//! From a start or resumption, a program goes through `[reload] [check-verify] phase, phase, ...`.
//! The position of a program at any moment follows from the time since then, so that phases need no
//! events.

use crate::{Interrupt, PhaseKind, SuspendAt, Timing};
use fowler_units::{Nanos, Span};

/// The step of a program whose program phase was cancelled for a read (S7). When the program
/// resumes, it first verifies the cells (check-verify); this step follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CancelledProgram {
    /// The cancelled program phase is repeated in full, with its verify. This is the worst case,
    /// and the only one consistent with an iteration count fixed at its maximum.
    #[default]
    Redo,
    /// The cancelled pulse had reached its programming voltage and counts as done, so the next ISPP
    /// iteration follows.
    Reached,
}

/// Treatment of a read that arrives while a resumed program loads its page buffer again (S11 in
/// docs/pes.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reload {
    /// The read is served at once and cancels the reload of the page buffer. The reload is repeated
    /// in full afterwards.
    #[default]
    Abort,
    /// The read is served after the reload of the page buffer. The reload is repeated after the
    /// read, because the read overwrites the buffer.
    Finish,
}

/// A page program and its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramOp {
    since: Nanos,
    phases: u32,
    phases_done: u32,
    check_due: bool,
    reload_due: bool,
    reloading: Span,
    cancelled: CancelledProgram,
    reload: Reload,
}

/// Phase of a program to which a moment since the last start or resumption belongs. A moment
/// between two phases belongs to the earlier one (S15).
enum Place {
    Reload { end: Span },
    ReloadEnd,
    Phase { kind: Phase, phases_before: u32, into: Span, length: Span, end: Span },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Check,
    Program,
    Verify,
}

impl ProgramOp {
    /// Creates a program of `iterations` that has not begun, with its data in the page buffer.
    pub fn new(iterations: u32, cancelled: CancelledProgram, reload: Reload) -> Self {
        Self {
            since: Nanos::ZERO,
            phases: 2 * iterations,
            phases_done: 0,
            check_due: false,
            reload_due: false,
            reloading: Span::ZERO,
            cancelled,
            reload,
        }
    }

    /// Records that a read uses the page buffer before the first phase of the program (S14 in
    /// docs/pes.md), so that the program's data must be loaded again.
    pub fn displace(&mut self) {
        self.reload_due = true;
    }

    /// Records that the program's data was transferred to the page buffer over the channel again
    /// (on a die without a shadow buffer), so that the program needs no reload when it resumes.
    pub fn refill(&mut self) {
        self.reload_due = false;
    }

    /// Returns true if the page buffer must be filled again before the program can resume.
    pub fn reload_due(&self) -> bool {
        self.reload_due
    }

    pub(crate) fn running_since(&self) -> Nanos {
        self.since
    }

    #[inline]
    pub(crate) fn begin(&mut self, now: Nanos) {
        self.since = now;
    }

    pub(crate) fn run(&mut self, now: Nanos, timing: &Timing) -> Nanos {
        self.since = now;
        self.reloading = if self.reload_due { timing.buffer_load } else { Span::ZERO };
        let check = if self.check_due { timing.verify_phase } else { Span::ZERO };
        let first = self.first_phase();
        now + self.reloading + check + phases_length(first, self.phases - first, timing)
    }

    /// Returns the number of the program's first phase after a resumption, after the reload and the
    /// check-verify if these are due.
    fn first_phase(&self) -> u32 {
        match (self.check_due, self.cancelled) {
            (true, CancelledProgram::Reached) => self.phases_done + 2,
            _ => self.phases_done,
        }
    }

    pub(crate) fn phases(&self, timing: &Timing) -> Vec<(PhaseKind, Span)> {
        let mut phases = vec![(PhaseKind::Reload, self.reloading)];
        if self.check_due {
            phases.push((PhaseKind::CheckVerify, timing.verify_phase));
        }
        phases.extend((self.first_phase()..self.phases).map(|index| {
            match phase_at(index, timing) {
                (Phase::Program, length) => (PhaseKind::Program, length),
                (Phase::Check | Phase::Verify, length) => (PhaseKind::Verify, length),
            }
        }));
        phases
    }

    /// Interrupts the program for a read at `now`. See docs/decisions/flash.md, "What if a read
    /// arrives exactly when a reload ends?".
    pub(crate) fn interrupt(&mut self, now: Nanos, timing: &Timing, rule: SuspendAt) -> Interrupt {
        match self.place(now - self.since, timing) {
            Place::Reload { end } => Interrupt::Off {
                at: if self.reload == Reload::Abort { now } else { self.since + end },
                counted: false,
            },
            Place::ReloadEnd => Interrupt::Off { at: now, counted: false },
            Place::Phase { kind, phases_before, into, length, end } => {
                let cancellable = into + timing.voltage_reset < length;
                if cancellable && rule == SuspendAt::Anywhere {
                    self.cancel(kind, phases_before);
                    return Interrupt::Off { at: now + timing.voltage_reset, counted: true };
                }
                if self.complete(kind, phases_before) {
                    return Interrupt::Completes;
                }
                Interrupt::Off { at: self.since + end, counted: true }
            }
        }
    }

    /// Cancels the running phase of the program (S5). A verify changed nothing and is repeated. A
    /// program pulse leaves the cells in an unknown state, so a check-verify comes first (S7).
    fn cancel(&mut self, kind: Phase, phases_before: u32) {
        self.phases_done = phases_before;
        self.check_due = kind != Phase::Verify;
        self.reload_due = true;
    }

    /// Runs the current phase of the program to its end. Returns true if that completes the
    /// program, in which case nothing is suspended.
    fn complete(&mut self, kind: Phase, phases_before: u32) -> bool {
        let done = match kind {
            Phase::Check if self.cancelled == CancelledProgram::Reached => phases_before + 2,
            Phase::Check => phases_before,
            Phase::Program | Phase::Verify => phases_before + 1,
        };
        if done == self.phases {
            return true;
        }
        self.phases_done = done;
        self.check_due = false;
        self.reload_due = true;
        false
    }

    /// Returns the phase of the program at a moment `into_run` after the last start or resumption.
    /// See docs/decisions/flash.md, "Which phase does the moment between two phases belong to?".
    fn place(&self, into_run: Span, timing: &Timing) -> Place {
        if into_run < self.reloading {
            return Place::Reload { end: self.reloading };
        }
        let mut into = into_run - self.reloading;
        let mut start = self.reloading;
        if into == Span::ZERO && self.reloading > Span::ZERO {
            return Place::ReloadEnd;
        }
        if self.check_due {
            let length = timing.verify_phase;
            if into <= length {
                let phases_before = self.phases_done;
                return Place::Phase {
                    kind: Phase::Check,
                    phases_before,
                    into,
                    length,
                    end: start + length,
                };
            }
            into -= length;
            start += length;
        }
        self.place_in_phases(into, start, timing)
    }

    fn place_in_phases(&self, into: Span, start: Span, timing: &Timing) -> Place {
        let first = self.first_phase();
        let iteration = timing.iteration();
        // Whole iterations that ended strictly before this moment. An iteration that ends now still
        // counts as the current one.
        let whole = into.0.saturating_sub(1).checked_div(iteration.0).unwrap_or(0);
        let mut phases_before = first + 2 * whole as u32;
        let mut phase_start = iteration * whole;
        let (mut kind, mut length) = phase_at(phases_before, timing);
        if into > phase_start + length {
            phase_start += length;
            phases_before += 1;
            (kind, length) = phase_at(phases_before, timing);
        }
        let end = start + phase_start + length;
        Place::Phase { kind, phases_before, into: into - phase_start, length, end }
    }
}

fn phase_at(index: u32, timing: &Timing) -> (Phase, Span) {
    if index.is_multiple_of(2) {
        (Phase::Program, timing.program_phase)
    } else {
        (Phase::Verify, timing.verify_phase)
    }
}

/// Returns the time that `count` consecutive phases of a page program take. Program phases (even
/// numbers) and verify phases (odd numbers) alternate; the first is number `first`, the last a
/// verify.
fn phases_length(first: u32, count: u32, timing: &Timing) -> Span {
    let odd = if first % 2 == 1 { timing.verify_phase } else { Span::ZERO };
    odd + timing.iteration() * u64::from(count / 2)
}
