//! Faults that silently corrupt pages, on a drive with redundancy: the stored pages that the fault
//! names get an error each, current copies of the host as well as parity and pages retained for
//! parity ([`super::silent_corruption`]). Data that is in the controller is not affected.

use super::Raid;
use super::fault_kinds::{Fault, sorted_at_hand};
use super::silent_corruption::{draw_page, is_stored};
use crate::flash::Flash;
use crate::host::Ftl;
use fowler_units::UnitId;

impl Raid {
    /// Corrupts the pages that a fault strikes so that reads succeed with wrong data.
    pub(crate) fn corrupt(&mut self, ftl: &Ftl, flash: &Flash, fault: Fault) {
        let (core, stripes) = (&ftl.core, self.stripes);
        let units = fault.stored_pages(core, flash, Some(stripes));
        let current = |unit: UnitId| {
            let page = core.map.owner(unit);
            core.flash_copy(page) == unit && !stripes.is_parity(page)
        };
        let at_hand = sorted_at_hand(flash);
        if let Some(integrity) = self.integrity.as_deref_mut() {
            let open = |unit| is_stored(core, &at_hand, unit);
            let another = |unit, rng: &mut _| draw_page(core, unit, rng);
            units.into_iter().for_each(|unit| {
                integrity.corrupt((fault, unit), &open, &current, &another);
            });
        }
    }
}
