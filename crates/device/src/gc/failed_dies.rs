//! Dies that have failed for good. The jobs and the check of such a die are dropped; nothing is
//! collected, refreshed, scrubbed or measured there any more. Transactions of the dropped jobs end
//! without effect.

use super::Gc;
use crate::core::Core;
use fowler_units::DieId;

impl Gc {
    /// Abandons all background work on a die that has failed. The transactions of the die's jobs
    /// end without effect.
    pub fn give_up_die(&mut self, core: &Core, die: DieId) {
        let geometry = &core.layout.geometry;
        self.wanting[die] = false;
        for plane in geometry.planes_of_die(die) {
            self.jobs[plane] = None;
            self.starved[plane] = false;
            for block in geometry.blocks_of_plane(plane) {
                // The data of the block is not refreshed any more.
                self.refreshed(block);
            }
        }
        if let Some(scrub) = &mut self.scrub {
            scrub.give_up_die(die);
        }
    }
}
