//! The interface of a translation layer whose flash and power may fail.

use super::fault_schedule::{Coming, FaultSchedule, Struck};
use super::layer::Layer;
use super::power_offs::PowerOffs;
use crate::flash::Flash;
use crate::raid::fault_kinds::Fault;
use crate::raid::losses::LossLedger;
use fowler_units::{Nanos, Span};

/// A layer whose flash and power may fail.
pub trait Faulty: Layer {
    /// Returns the faults to come and those that have struck, if there is a record of them.
    fn faults(&self) -> Option<&FaultSchedule>;

    /// Returns the place of the record of faults, which is made on demand.
    fn faults_mut(&mut self) -> &mut Option<Box<FaultSchedule>>;

    /// Returns the fate of pages that could not be read, if the drive notices losses.
    fn ledger(&self) -> Option<LossLedger>;

    /// Injects a fault.
    ///
    /// # Panics
    /// If the drive does not notice losses, or the unit does not exist.
    fn inject(&mut self, flash: &mut Flash, fault: Fault);

    /// Turns the power off for `lasts`, in no time of the drive's clock.
    fn power_off(&mut self, flash: &mut Flash, lasts: Span);

    /// Returns the totals of all spans without power so far.
    fn power_offs(&self) -> &PowerOffs;

    /// Lets the next of the scheduled faults strike.
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

    /// Notes the effect of a fault, if any faults are scheduled.
    fn note_struck(&mut self, fault: Fault, at: Nanos, before: Option<LossLedger>) {
        let after = self.ledger().unwrap_or_default();
        if let Some(faults) = self.faults_mut() {
            faults.struck.push(Struck { fault, at, before: before.unwrap_or_default(), after });
        }
    }
}
