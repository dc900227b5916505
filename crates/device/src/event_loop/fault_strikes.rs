//! Faults of a drive: injected at once, or at times known in advance.
//!
//! 1. [`Device::schedule_fault`] and [`Device::schedule_power_off`] put a fault behind those that
//!    are still to come, and an event on the agenda.
//! 2. At that event the layer injects it ([`super::faulty::Faulty`]), before every request and
//!    decision of the same nanosecond.
//! 3. The effects are recorded, and reported after the run ([`Device::struck`],
//!    [`Device::losses`]).
//!
//! [`Device::inject`] and [`Device::power_off`] do step 2 at once.

use super::Device;
use super::fault_schedule::{Coming, Struck};
use super::faulty::Faulty;
use super::power_offs::PowerOffs;
use super::probe::Probe;
use crate::event::Event;
use crate::raid::fault_kinds::Fault;
use crate::raid::losses::LossLedger;
use fowler_agenda::Phase;
use fowler_units::{Nanos, Span};

impl<L: Faulty> Device<L> {
    /// Injects a fault at the present time: a failure of a page, block, plane, die, chip or
    /// channel, a silent corruption, a moment without power, or a bug of the controller.
    /// Dies react when time advances. Requires
    /// [`crate::policy::redundancy::Params::integrity`].
    ///
    /// # Panics
    /// If the drive does not notice losses, or the failed unit does not exist.
    pub fn inject(&mut self, fault: Fault) {
        self.layer.inject(&mut self.flash, fault);
    }

    /// Returns the counts of unreadable and lost pages; `None` on a drive that does not notice
    /// losses.
    pub fn losses(&self) -> Option<LossLedger> {
        let mut ledger = self.layer.ledger()?;
        ledger.at_risk += ledger.since.map_or(Span::ZERO, |since| self.now() - since);
        Some(ledger)
    }

    /// Records every scheduled fault that strikes from now on, and every time without power.
    pub fn note_faults(&mut self) {
        self.layer.faults_mut().get_or_insert_default();
    }

    /// Schedules a fault at `at`, by the clock of the drive. Faults at the same nanosecond strike
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
    /// As [`Device::schedule_fault`]; also if the drive has a throttle, whose lifetime runs on the
    /// drive's clock.
    pub fn schedule_power_off(&mut self, at: Nanos, lasts: Span) {
        assert!(!self.layer.may_delay_writes(), "a drive with a throttle cannot lose power");
        self.schedule(at, Coming::PowerOff(lasts));
    }

    fn schedule(&mut self, at: Nanos, coming: Coming) {
        let to_come = &mut self.layer.faults_mut().get_or_insert_default().to_come;
        assert!(to_come.back().is_none_or(|&(last, _)| last <= at), "faults out of order");
        to_come.push_back((at, coming));
        self.flash.agenda.schedule(at, Phase::Completion, Event::Fault);
    }

    /// Returns the faults that have struck since the first fault was scheduled, or since
    /// [`Device::note_faults`], in order.
    pub fn struck(&self) -> &[Struck] {
        self.layer.faults().map_or(&[], |faults| &faults.struck)
    }

    /// Turns the power off for `lasts`, whatever is in flight: the host repeats requests that were
    /// not completed. `probe` sees the operations that begin when power returns.
    ///
    /// # Panics
    /// If the drive has a throttle, whose lifetime runs on the drive's clock.
    pub fn power_off<P: Probe<L>>(&mut self, lasts: Span, probe: &mut P) {
        assert!(!self.layer.may_delay_writes(), "a drive with a throttle cannot lose power");
        self.layer.power_off(&mut self.flash, lasts);
        self.flash.watch(probe.watches_flash());
        self.flash.settle(&mut self.layer);
        self.report_steps(probe);
    }

    /// Returns the totals over all losses of power so far: their number, and the writes, pages and
    /// parity that they took.
    pub fn power_offs(&self) -> &PowerOffs {
        self.layer.power_offs()
    }
}
