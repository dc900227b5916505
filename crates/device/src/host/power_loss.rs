//! What the buffer loses with the power.

use super::Ftl;
use super::redundancy_hooks::RedundancyHooks;
use crate::cache::buffer::{Frame, Listed};
use crate::flash::Flash;
use crate::flash::txn::Txn;
use crate::observe::operation::Source;
use fowler_units::{FrameId, Id, UnitId};

impl Ftl {
    /// Discards acknowledged data that no die has begun to program, except for as many pages as can
    /// be `saved`: those on their way to the flash first. Returns the number of page writes lost,
    /// and of pages that could still be saved.
    pub fn lose_buffer<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        saved: usize,
        raid: &mut R,
    ) -> (u64, usize) {
        let mut only_here: Vec<FrameId> = self
            .core
            .buffer
            .used()
            .map(|(frame_id, _)| frame_id)
            .filter(|&frame_id| self.is_only_here(flash, frame_id, raid))
            .collect();
        only_here.sort_by_key(|&frame_id| !self.core.buffer.get(frame_id).queued.is_some());
        let kept = only_here.len().min(saved);
        let lost = &only_here[kept..];
        lost.iter().for_each(|&frame_id| self.lose_frame(frame_id, raid));
        (lost.len() as u64, saved - kept)
    }

    /// Returns whether a frame holds acknowledged data that no die has begun to program. This
    /// excludes data whose write is not acknowledged yet, and data reprogrammed in idle time, which
    /// is also in the flash.
    pub fn is_only_here<R: RedundancyHooks>(
        &self,
        flash: &Flash,
        frame_id: FrameId,
        raid: &R,
    ) -> bool {
        let Frame { queued, listed, orphan, lpn, unit, .. } = *self.core.buffer.get(frame_id);
        if orphan || !queued.is_some() {
            return listed == Listed::Dirty;
        }
        let Txn { req, joined, source, .. } = *flash.txns.get(queued);
        let anew = source == Source::Refresh && raid.same_as_flash(lpn, unit);
        !req.is_some() && !joined.is_some() && !anew
    }

    /// Loses an acknowledged page that never reached the flash. Any copy in the flash is older.
    fn lose_frame<R: RedundancyHooks>(&mut self, frame_id: FrameId, raid: &mut R) {
        let frame = *self.core.buffer.get(frame_id);
        raid.frame_lost(frame.lpn, frame.unit);
        if frame.queued.is_some() {
            // Its program is dropped when its turn comes, like that of a trimmed page.
            self.core.map.set_flash(frame.lpn, frame.unit);
            let its = self.core.buffer.get_mut(frame_id);
            (its.orphan, its.unit) = (true, UnitId::NONE);
            return;
        }
        self.core.buffer.settled(frame.epoch);
        self.core.buffer.delist(frame_id);
        if frame.programs > 0 {
            return; // An older version is being programmed: the frame is released when that ends.
        }
        self.core.map.set_flash(frame.lpn, frame.unit);
        self.core.buffer.stay(frame_id);
        self.core.buffer.release(frame_id);
    }
}
