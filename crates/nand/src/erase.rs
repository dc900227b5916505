//! A block erase: one pulse and one verify (S4), and their suspension.
//!
//! From a start or resumption, an erase goes through `[re-bias] [rest of the pulse] verify`. A
//! pulse in steps can be suspended only where a whole number of steps is left.

use crate::{Interrupt, PhaseKind, Timing};
use fowler_units::{Nanos, Span};

/// A block erase and its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EraseOp {
    since: Nanos,
    pulse_left: Span,
    /// Length of a step of the erase pulse; zero if the pulse can be suspended anywhere.
    step: Span,
    rebias_due: bool,
    rebiasing: Span,
}

impl EraseOp {
    /// Creates an erase that has not begun.
    pub fn new(timing: &Timing) -> Self {
        Self {
            since: Nanos::ZERO,
            pulse_left: timing.erase_pulse,
            step: Span::ZERO,
            rebias_due: false,
            rebiasing: Span::ZERO,
        }
    }

    /// Returns the block erase with its pulse divided into steps of the length `step`, each with a
    /// voltage reset at its end, so that it can be suspended only between steps. The first step may
    /// be shorter; a length of zero means an undivided pulse.
    #[must_use]
    pub fn in_steps(self, step: Span) -> Self {
        Self { step, ..self }
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
        let rebias = self.rebias_due && self.pulse_left > Span::ZERO;
        self.rebiasing = if rebias { timing.voltage_reset } else { Span::ZERO };
        now + self.rebiasing + self.pulse_left + timing.erase_verify
    }

    pub(crate) fn phases(&self, timing: &Timing) -> Vec<(PhaseKind, Span)> {
        vec![
            (PhaseKind::Rebias, self.rebiasing),
            (PhaseKind::Pulse, self.pulse_left),
            (PhaseKind::EraseVerify, timing.erase_verify),
        ]
    }

    pub(crate) fn interrupt(&mut self, now: Nanos, timing: &Timing) -> Interrupt {
        let reset = timing.voltage_reset;
        let off = |at| Interrupt::Off { at, counted: true };
        let into_run = now - self.since;
        self.rebias_due = true;
        // S12: a reset undoes the re-biasing, which starts over later. The pulse has not advanced.
        if into_run < self.rebiasing {
            return off(now + reset);
        }
        let into_pulse = into_run - self.rebiasing;
        if into_pulse <= self.pulse_left && self.pulse_left > Span::ZERO {
            return self.interrupt_pulse(now, into_pulse, reset, off);
        }
        let into_verify = into_pulse - self.pulse_left;
        if into_verify + reset < timing.erase_verify {
            // S8: a cancelled verify is repeated in full.
            self.pulse_left = Span::ZERO;
            return off(now + reset);
        }
        Interrupt::Completes
    }

    fn interrupt_pulse(
        &mut self,
        now: Nanos,
        into: Span,
        reset: Span,
        off: impl Fn(Nanos) -> Interrupt,
    ) -> Interrupt {
        let left = self.pulse_left - into;
        if let Some(steps_left) = left.0.checked_div(self.step.0) {
            self.pulse_left = self.step * steps_left;
            return off(now + (left - self.pulse_left));
        }
        if left > reset {
            self.pulse_left = left;
            return off(now + reset);
        }
        // S3, S5: the pulse is in its own reset, and is complete when the reset ends.
        self.pulse_left = Span::ZERO;
        off(now + left)
    }
}
