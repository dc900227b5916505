//! Silent corruption by faults, on a drive with redundancy.

use super::Raid;
use super::fault_kinds::Fault;
use crate::flash::Flash;
use crate::host::Ftl;
use fowler_units::UnitId;

impl Raid {
    /// Corrupts pages unnoticed.
    pub(crate) fn corrupt(&mut self, ftl: &Ftl, flash: &Flash, fault: Fault) {
        let (core, stripes) = (&ftl.core, self.stripes);
        let units = fault.stored_pages(core, flash, Some(stripes));
        let current = |unit: UnitId| {
            let page = core.map.owner(unit);
            core.flash_copy(page) == unit && !stripes.is_parity(page)
        };
        if let Some(integrity) = self.integrity.as_deref_mut() {
            units
                .into_iter()
                .for_each(|unit| integrity.corrupt(core, flash, (fault, unit), current));
        }
    }
}
