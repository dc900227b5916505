//! A count of the stripes that have less protection than they should, because dies have failed:
//! each stripe with an unreadable page, and each with two readable pages on one chip. Nothing is
//! read or changed.

use super::Raid;
use crate::core::Core;
use fowler_units::{Id, StripeId};

impl Raid {
    /// Returns the number of stripes with an unreadable page, and the number of stripes with two
    /// readable pages on one chip.
    pub(crate) fn exposed_stripes(&self, core: &Core) -> (u32, u32) {
        let geometry = core.layout.geometry;
        let (mut degraded, mut sharing) = (0, 0);
        let mut chips: Vec<u32> = Vec::with_capacity(self.stripes.width() as usize);
        for stripe in (0..self.stripes.count()).map(StripeId) {
            chips.clear();
            let mut unread = false;
            for page in (0..self.stripes.width()).map(|at| self.stripes.page(stripe, at)) {
                let unit = core.flash_copy(page);
                if !unit.is_some() {
                    continue;
                }
                let die = core.locator.die_of(unit);
                match self.reads_well(unit) && !core.allocator.has_failed(die) {
                    true => chips.push(geometry.chip_of_die(die)),
                    false => unread = true,
                }
            }
            let all = chips.len();
            chips.sort_unstable();
            chips.dedup();
            degraded += u32::from(unread);
            sharing += u32::from(chips.len() < all);
        }
        (degraded, sharing)
    }
}
