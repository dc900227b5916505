//! Faults at times known in advance: scheduling, and the strike.

use super::Device;
use super::controller::Controller;
use super::fault_schedule::{Coming, Struck};
use crate::event::Event;
use crate::flash::Flash;
use crate::raid::fault_kinds::Fault;
use crate::raid::losses::LossLedger;
use fowler_agenda::Phase;
use fowler_units::{Nanos, Span};

impl Device {
    /// Notes every scheduled fault that strikes from now on, and every span without power.
    pub fn note_faults(&mut self) {
        self.layer.faults.get_or_insert_default();
    }

    /// Lets a fault strike at `at`, by the clock of the drive. Faults of the same nanosecond strike
    /// in the order of the calls.
    ///
    /// # Panics
    /// If `at` is in the past or before a fault that is still to come. When the fault strikes, as
    /// [`Device::inject`].
    pub fn schedule_fault(&mut self, at: Nanos, fault: Fault) {
        self.schedule(at, Coming::Fault(fault));
    }

    /// Turns the power off at `at` for `lasts`, whatever is in flight; see [`Device::power_off`].
    ///
    /// # Panics
    /// As [`Device::schedule_fault`]; if the drive has a throttle, whose lifetime runs on the
    /// drive's clock.
    pub fn schedule_power_off(&mut self, at: Nanos, lasts: Span) {
        assert!(self.layer.throttle.is_none(), "a drive with a throttle cannot lose power");
        self.schedule(at, Coming::PowerOff(lasts));
    }

    fn schedule(&mut self, at: Nanos, coming: Coming) {
        let to_come = &mut self.layer.faults.get_or_insert_default().to_come;
        assert!(to_come.back().is_none_or(|&(last, _)| last <= at), "faults out of order");
        to_come.push_back((at, coming));
        self.flash.agenda.schedule(at, Phase::Completion, Event::Fault);
    }

    /// Returns the faults that have struck since the first fault was scheduled, or since
    /// [`Device::note_faults`], in order.
    pub fn struck(&self) -> &[Struck] {
        self.layer.faults.as_ref().map_or(&[], |faults| &faults.struck)
    }
}

impl Controller {
    /// Lets the next of the scheduled faults strike.
    #[cold]
    pub(super) fn strike_next(&mut self, flash: &mut Flash) {
        let next = self.faults.as_mut().and_then(|faults| faults.to_come.pop_front());
        let (at, coming) = next.expect("an event for each fault");
        match coming {
            Coming::Fault(fault) => {
                let before = self.ledger();
                self.inject(flash, fault);
                self.note_struck(fault, at, before);
            }
            Coming::PowerOff(lasts) => self.power_off(flash, lasts),
        }
    }

    /// Notes the effect of a fault, if any faults are scheduled.
    pub(super) fn note_struck(&mut self, fault: Fault, at: Nanos, before: Option<LossLedger>) {
        let after = self.ledger().unwrap_or_default();
        if let Some(faults) = &mut self.faults {
            faults.struck.push(Struck { fault, at, before: before.unwrap_or_default(), after });
        }
    }
}
