//! The last units of a superblock that is emptied, which are less than a command.
//!
//! They are programmed with padding in the other places of their command. If emptying the
//! superblock gains less than a command holds, padding may eat all of the gain, and a drive that is
//! full enough would collect for ever and gain nothing. So the places then take units of the next
//! emptiest superblock, which has more to gain when its turn comes.

use super::Superblocks;
use crate::flash::Flash;

impl Superblocks {
    /// Sends what has been read to its new place. What is less than a command waits for more, if
    /// more comes.
    pub(super) fn store_copied(&mut self, flash: &mut Flash) {
        let whole = self.shape.units_per_command;
        loop {
            let waiting = self.collector.waiting();
            let units = waiting.min(whole);
            if waiting < whole {
                let ends = waiting > 0 && self.collector.rests();
                if !ends || self.top_up(flash, whole - waiting) {
                    return;
                }
            }
            if !self.store_moved(flash, units) {
                return;
            }
        }
    }

    /// Reads units of the next emptiest superblock into the places that are left. Returns whether
    /// they come, or may come later: else they are padded.
    fn top_up(&mut self, flash: &mut Flash, mut places: u32) -> bool {
        let page = self.shape.units_per_page;
        if !self.collector.gained_little {
            return false;
        }
        let Some((superblock, _)) = self.map.emptiest().filter(|&(_, valid)| valid > 0) else {
            return false;
        };
        let first = self.shape.first_unit(superblock);
        for first in (first..first + self.shape.units).step_by(page as usize) {
            if places == 0 || !self.collector.has_room_for(page) {
                break;
            }
            let (mut parts, mut which) = (0, 0);
            for at in (0..page).filter(|at| self.map.valid_owner(first + at).is_some()) {
                if parts < places {
                    parts += 1;
                    which |= 1 << at;
                }
            }
            if parts > 0 {
                places -= parts;
                if self.slc.is_some() {
                    self.count_emptied(flash, superblock, parts.into());
                }
                self.read_page(flash, superblock, (first, which, parts));
            }
        }
        // Without room, programs are in flight, and the end of each comes back here.
        true
    }
}
