//! What the buffer loses with the power.

use super::Ftl;
use super::redundancy_hooks::RedundancyHooks;
use crate::cache::buffer::{Frame, Listed};
use crate::flash::Flash;
use crate::flash::txn::Txn;
use crate::observe::operation::Source;
use fowler_units::{FrameId, Id, Ppn};

impl Ftl {
    /// What was acknowledged and no die has begun to program is gone. Returns how many page writes that are.
    pub fn lose_buffer<R: RedundancyHooks>(&mut self, flash: &mut Flash, raid: &mut R) -> u64 {
        let lost: Vec<FrameId> = self
            .core
            .buffer
            .used()
            .map(|(slot, _)| slot)
            .filter(|&slot| self.is_only_here(flash, slot, raid))
            .collect();
        lost.iter().for_each(|&slot| self.lose_frame(slot, raid));
        lost.len() as u64
    }

    /// Whether a frame holds what was acknowledged and no die has begun to program. What the host waits for still is no
    /// data of its own, and what is programmed anew in idle time lies in the flash.
    pub fn is_only_here<R: RedundancyHooks>(&self, flash: &Flash, slot: FrameId, raid: &R) -> bool {
        let Frame { queued, listed, orphan, lpn, ppn, .. } = *self.core.buffer.get(slot);
        if orphan || !queued.is_some() {
            return listed == Listed::Dirty;
        }
        let Txn { req, joined, source, .. } = *flash.txns.get(queued);
        let anew = source == Source::Refresh && raid.same_as_flash(lpn, ppn);
        !req.is_some() && !joined.is_some() && !anew
    }

    /// A page that was acknowledged and never reached the flash is lost; what the flash has of it is older.
    fn lose_frame<R: RedundancyHooks>(&mut self, slot: FrameId, raid: &mut R) {
        let frame = *self.core.buffer.get(slot);
        raid.frame_lost(frame.lpn, frame.ppn);
        if frame.queued.is_some() {
            // Its program is dropped when its turn comes, as that of a page that was trimmed.
            self.core.map.set_flash(frame.lpn, frame.ppn);
            let its = self.core.buffer.get_mut(slot);
            (its.orphan, its.ppn) = (true, Ppn::NONE);
            return;
        }
        self.core.buffer.settled(frame.epoch);
        self.core.buffer.delist(slot);
        if frame.programs > 0 {
            return; // An older version is being programmed: the frame goes when it is done.
        }
        self.core.map.set_flash(frame.lpn, frame.ppn);
        self.core.buffer.stay(slot);
        self.core.buffer.release(slot);
    }
}
