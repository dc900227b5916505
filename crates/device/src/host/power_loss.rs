//! The data that the buffer loses at a loss of power, and the programs that are cut off. The caller
//! (`event_loop/power_loss.rs`) knows for how many pages the drive has energy left.
//!
//! 1. Programs in flight end in the order of their submission while the energy lasts; all others
//!    are cut off ([`Ftl::cut_programs`]).
//! 2. Frames that are only in the buffer are saved while energy is left, those with a queued
//!    program first; the others are lost, and the mapping returns to the older copy. Clean frames
//!    are dropped ([`Ftl::lose_buffer`]).
//! 3. With a program that is cut off, its frame is lost if the write was acknowledged
//!    ([`Ftl::lose_torn_frames`]), and so are the earlier pages of its word line
//!    ([`Ftl::paired_pages`]).
//!
//! Data whose write was not acknowledged is never lost, because the host writes it again. See
//! docs/decisions/raid.md, "What becomes of a program when the power goes?".

use super::Ftl;
use super::redundancy_hooks::RedundancyHooks;
use crate::cache::buffer::{Frame, Listed};
use crate::flash::Flash;
use crate::flash::txn::{Owner, Txn};
use crate::mapping::page_map::Location;
use crate::observe::operation::{Op, Source};
use fowler_units::{FrameId, Id, TxnId, UnitId};

/// The programs in flight at a loss of power.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// Number of programs that still end with the energy left in the drive.
    pub ended: usize,
    /// Programs that the loss of power cuts off, in order of submission.
    pub torn: Vec<TxnId>,
}

impl Ftl {
    /// Returns the programs in flight that are cut off at a loss of power, if the drive has energy
    /// for only `saved` programs.
    pub fn cut_programs(&self, flash: &Flash, saved: usize) -> Cut {
        if !self.rules.tears {
            return Cut::default();
        }
        let begun =
            flash.txns.iter().filter(|(_, txn)| txn.op == Op::Program && txn.unit.is_some());
        let mut torn: Vec<TxnId> = begun.map(|(id, _)| id).collect();
        torn.sort_unstable_by_key(|&id| flash.txns.get(id).order);
        let ended = torn.len().min(saved);
        torn.drain(..ended);
        Cut { ended, torn }
    }

    /// Removes acknowledged data whose program is cut off from the buffer: the only copy is a flash
    /// page that cannot be read. Returns these pages. A program of a write that was not
    /// acknowledged is repeated, because the host repeats the write. The program of a moved page is
    /// repeated, because the old copy is whole; and lost parity is computed again.
    pub fn lose_torn_frames(&mut self, flash: &Flash, torn: &[TxnId]) -> Vec<UnitId> {
        let mut lost = Vec::new();
        for &id in torn {
            let Txn { owner, unit, req, joined, .. } = *flash.txns.get(id);
            let Owner::Frame(frame_id) = owner else { continue };
            if req.is_some() || joined.is_some() || !self.core.allocator.blocks.is_valid(unit) {
                continue;
            }
            let page = self.core.map.owner(unit);
            let Frame { queued, listed, unit: newest, .. } = *self.core.buffer.get(frame_id);
            // The buffer may hold a newer version that survives, or is to be written again.
            let newer = queued.is_some() || listed == Listed::Dirty || newest != unit;
            if self.core.map.place(page) == Location::Buffer(frame_id) && !newer {
                self.forget(frame_id);
                self.core.map.set_flash(page, unit);
            }
            lost.push(unit);
        }
        lost
    }

    /// Returns the pages that are lost because programs were cut off on the cells: the earlier
    /// pages of the same word lines, except pages that are being programmed themselves.
    pub fn paired_pages(&self, flash: &Flash, torn: &[TxnId]) -> Vec<UnitId> {
        let programs = flash.txns.iter().filter(|(_, txn)| txn.op == Op::Program);
        let in_flight: Vec<UnitId> = programs.map(|(_, txn)| txn.unit).collect();
        let mut paired = Vec::new();
        for &id in torn.iter().filter(|&&id| flash.is_on_the_cells(id)) {
            let unit = flash.txns.get(id).unit;
            let locator = &self.core.locator;
            let (block, at) = (locator.block_of(unit), locator.place_in_block(unit));
            let first = at - at % self.rules.word_line;
            let earlier = (first..at).map(|at| locator.unit(block, at));
            let done = earlier.filter(|unit| !in_flight.contains(unit));
            paired.extend(done.filter(|&unit| self.core.allocator.blocks.is_valid(unit)));
        }
        paired
    }

    /// Discards acknowledged data that no die has begun to program, except for `saved` pages: pages
    /// with a queued program are saved first. Returns the number of page writes lost, and of pages
    /// that could still be saved.
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
        self.lose_clean_frames(flash);
        (lost.len() as u64, saved - kept)
    }

    /// Drops the clean frames of the buffer, whose data is in the flash.
    fn lose_clean_frames(&mut self, flash: &mut Flash) {
        let copies = |frame: &Frame| matches!(frame.listed, Listed::Clean | Listed::Rewrite);
        let used = self.core.buffer.used();
        let clean: Vec<FrameId> = used.filter(|(_, it)| copies(it)).map(|(id, _)| id).collect();
        clean.into_iter().for_each(|frame_id| self.drop_clean(flash, frame_id));
    }

    /// Returns true if a frame holds acknowledged data that no die has begun to program. This
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
            // The queued program is dropped when its turn comes, like that of a trimmed page.
            self.core.map.set_flash(frame.lpn, frame.unit);
            let buffered = self.core.buffer.get_mut(frame_id);
            (buffered.orphan, buffered.unit) = (true, UnitId::NONE);
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
