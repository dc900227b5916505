//! The interface of a translation layer whose flash and power may fail.

use super::fault_schedule::{Coming, FaultSchedule, Struck};
use super::layer::Layer;
use super::power_offs::PowerOffs;
use crate::flash::Flash;
use crate::raid::fault_kinds::Fault;
use crate::raid::losses::LossLedger;
use fowler_units::{Nanos, Span};

/// A translation layer whose flash and power may fail.
pub trait Faulty: Layer {
    /// Returns the record of faults, those to come and those that have struck; `None` if no fault
    /// was scheduled.
    fn faults(&self) -> Option<&FaultSchedule>;

    /// Returns a mutable reference to the optional schedule of faults (those to come and those that
    /// have struck). A caller that schedules a fault creates the schedule if there is none.
    fn faults_mut(&mut self) -> &mut Option<Box<FaultSchedule>>;

    /// Returns the counts of unreadable and lost pages; `None` on a drive that does not notice
    /// losses.
    fn ledger(&self) -> Option<LossLedger>;

    /// Injects a fault at the present time: a failure of a page, block, plane, die, chip or
    /// channel, a silent corruption, a moment without power, or a bug of the controller.
    ///
    /// # Panics
    /// If the drive does not notice losses, or the failed unit does not exist.
    fn inject(&mut self, flash: &mut Flash, fault: Fault);

    /// Turns the power off for `lasts`; the clock of the drive does not advance.
    fn power_off(&mut self, flash: &mut Flash, lasts: Span);

    /// Returns the totals over all losses of power so far: their number, and the writes, pages and
    /// parity that they took.
    fn power_offs(&self) -> &PowerOffs;

    /// Lets the next scheduled fault strike.
    #[cold]
    fn strike_next(&mut self, flash: &mut Flash) {
        let next = self.faults_mut().as_mut().and_then(|faults| faults.to_come.pop_front());
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

    /// Records the effect of a fault that struck, if the drive has a record of faults.
    fn note_struck(&mut self, fault: Fault, at: Nanos, before: Option<LossLedger>) {
        let after = self.ledger().unwrap_or_default();
        if let Some(faults) = self.faults_mut() {
            faults.struck.push(Struck { fault, at, before: before.unwrap_or_default(), after });
        }
    }
}
