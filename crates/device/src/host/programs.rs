//! Programs of buffered data, from a frame to a page of the flash.
//!
//! 1. [`Ftl::send`] counts the program among the writes. A frame with part of a page reads the
//!    other part first (`read_modify_write.rs`).
//! 2. [`Ftl::try_to_place`] assigns the program to a die with room, where it joins the queue.
//!    Programs for which no die has room wait, in order; room that appears goes to the first of
//!    them ([`Ftl::place_waiting`]).
//! 3. When the die starts the program, [`Ftl::bind_frame`] gives it the next page of an open block.
//!    The old copy of the page becomes invalid, and GC checks the stock of erased blocks.
//!    [`Ftl::bind_beside`] adds programs for the other planes of the die.
//! 4. [`Ftl::stored`] handles the end of the program: the frame is released or becomes clean, the
//!    writes that waited complete, and whatever waits for room is resumed.
//!
//! Exceptions:
//!
//! - A die whose plane has no page for the host blocks its host programs until GC makes progress;
//!   [`Ftl::host_page`] starts or promotes the job.
//! - Data that was trimmed is dropped at step 3: its program ends without a page
//!   ([`Bind::Dropped`]).
//! - A drive with stripes sends a program that comes too late for the parity of its stripe back to
//!   step 2 ([`Ftl::begin_anew`]), and may postpone the completion of step 4 until the parity is
//!   written.
//! - Moves of GC begin at step 3 on the die of their block; their end is [`Ftl::moved`].

use super::Ftl;
use super::redundancy_hooks::RedundancyHooks;
use crate::blocks::page_allocator::Taken;
use crate::cache::buffer::{Frame, Listed};
use crate::flash::txn::{Owner, Txn};
use crate::flash::{Bind, Flash};
use fowler_units::{DieId, FrameId, Id, TxnId, UnitId};

impl Ftl {
    /// Sends the data of a frame of the write buffer to the flash. If the frame holds only part of
    /// the new page, the old page is read first.
    #[inline(always)]
    pub fn send<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        frame_id: FrameId,
        program: TxnId,
        raid: &mut R,
    ) {
        self.queues.writes += 1;
        let whole = self.core.buffer.is_whole(frame_id);
        let frame = self.core.buffer.get_mut(frame_id);
        let old = frame.unit;
        frame.queued = program;
        if whole || !old.is_some() {
            raid.proceed(self, flash, program);
        } else {
            self.read_for_merge(flash, frame_id, old, program);
        }
    }

    #[inline(always)]
    pub fn try_to_place(&mut self, flash: &mut Flash, id: TxnId) {
        if self.queues.unplaced.is_empty()
            && let Some(die) = self.die_for(flash, id)
        {
            self.place(flash, id, die);
        } else {
            self.queues.unplaced.push_back(id);
        }
    }

    /// Returns the die for a program of buffered data or of parity; `None` if no die has room.
    #[inline(always)]
    pub(super) fn die_for(&mut self, flash: &Flash, id: TxnId) -> Option<DieId> {
        let txn = flash.txns.get(id);
        debug_assert!(txn.owner != Owner::Job, "what garbage collection moves stays on its die");
        let page = txn.lpn;
        let die = self.core.allocator.place(page);
        if die.is_some() { die } else { self.core.place_displaced(page) }
    }

    #[inline(always)]
    pub(super) fn place(&mut self, flash: &mut Flash, id: TxnId, die: DieId) {
        flash.txns.get_mut(id).die = die;
        flash.submit(id);
    }

    /// Assigns waiting programs to dies, after a die may have got room.
    pub fn place_waiting(&mut self, flash: &mut Flash) {
        while let Some(&id) = self.queues.unplaced.front() {
            let Some(die) = self.die_for(flash, id) else { return };
            self.queues.unplaced.pop_front();
            self.place(flash, id, die);
        }
    }

    /// Assigns a physical page, `page`, to the program `id` of a buffered page, and invalidates the
    /// old copy of the latter.
    #[inline]
    pub(super) fn take_page<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        frame_id: FrameId,
        page: Taken,
        raid: &mut R,
    ) {
        let Taken { unit, block, plane, free } = page;
        let txn = flash.txns.get_mut(id);
        txn.unit = unit;
        txn.mode = self.core.allocator.open_blocks.mode_of(block);
        let frame = self.core.buffer.get_mut(frame_id);
        let (lpn, old) = (frame.lpn, frame.unit);
        frame.unit = unit;
        frame.queued = TxnId::NONE;
        frame.programs += 1;
        self.core.map.set_owner(unit, lpn);
        self.gc.host_wrote(plane);
        raid.bound(self, flash, id, lpn, (old, unit));
        self.gc.look_at_stock(&mut self.core, flash, plane, free);
        if !self.queues.unplaced.is_empty() {
            self.place_waiting(flash);
        }
    }

    #[inline(never)]
    pub fn bind_frame<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        frame_id: FrameId,
        raid: &mut R,
    ) -> Bind {
        let Frame { orphan, lpn, .. } = *self.core.buffer.get(frame_id);
        if orphan || raid.comes_too_late(self, flash, id, lpn) {
            return Bind::Dropped;
        }
        let Some(page) = self.host_page(flash, id) else { return Bind::Blocked };
        self.take_page(flash, id, frame_id, page, raid);
        Bind::Bound
    }

    /// Allocates a page for a program of host data, if its die has one available now; otherwise
    /// returns `None` and lets GC make room.
    #[inline(always)]
    pub fn host_page(&mut self, flash: &mut Flash, id: TxnId) -> Option<Taken> {
        let collector = &self.gc;
        let Txn { die, tag, .. } = *flash.txns.get(id);
        let page = self.core.allocator.host_page(die, tag, |plane| collector.job(plane));
        if page.is_none() {
            self.make_room(flash, die);
        } else if self.core.allocator.blocks_fail() {
            self.gc.note_failed_programs(&mut self.core, flash, id);
        }
        page
    }

    /// Starts or promotes GC on a die whose next free page the host waits for.
    #[cold]
    fn make_room(&mut self, flash: &mut Flash, die: DieId) {
        for plane in self.core.layout.geometry.planes_of_die(die) {
            self.gc.maybe_start(&mut self.core, flash, plane);
        }
    }

    /// Handles the end of a program of buffered data; `dropped` is true if it wrote no page.
    #[inline]
    pub fn stored<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        frame_id: FrameId,
        dropped: bool,
        raid: &mut R,
    ) {
        if !dropped {
            self.page_programmed(flash, flash.txns.get(id).unit);
            if !raid.defers_answer(self, flash, id, frame_id) {
                self.settled(flash, id, frame_id, raid);
            }
            return;
        }
        self.dropped(flash, id, frame_id, raid);
    }

    #[cold]
    pub(super) fn dropped<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        frame_id: FrameId,
        raid: &mut R,
    ) {
        let Frame { lpn, orphan, .. } = *self.core.buffer.get(frame_id);
        if !orphan {
            return self.begin_anew(flash, id, raid);
        }
        raid.given_up(self, flash, id, lpn);
        self.core.buffer.get_mut(frame_id).queued = TxnId::NONE;
        self.core.allocator.arrived(flash.txns.get(id).die);
        self.concluded(flash, id, frame_id, raid);
        self.place_waiting(flash);
    }

    /// Handles the end of the program of buffered data once the data counts as stored: it is in the
    /// flash and so is its parity, if the redundancy policy wants that before the write completes.
    #[inline]
    pub fn settled<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        frame_id: FrameId,
        raid: &mut R,
    ) {
        self.core.buffer.get_mut(frame_id).programs -= 1;
        self.concluded(flash, id, frame_id, raid);
    }

    #[inline(always)]
    fn concluded<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        frame_id: FrameId,
        raid: &mut R,
    ) {
        let epoch = flash.txns.get(id).epoch;
        self.core.buffer.settled(epoch);
        self.retire(frame_id);
        self.answer_writes(flash, id, raid);
        self.resume(flash, raid);
    }

    /// Completes flushes, resumes waiting writes and evicts frames, after room in the write queue
    /// or in the buffer may have appeared.
    #[inline]
    pub fn resume<R: RedundancyHooks>(&mut self, flash: &mut Flash, raid: &mut R) {
        if !self.queues.flushes.is_empty() {
            self.flushed(flash);
        }
        self.resume_writes(flash, raid);
        self.evict(flash, raid);
    }

    /// Makes a frame of the write buffer clean or free, after the program of its data ended or its
    /// data was trimmed, if nothing else needs it.
    #[inline]
    pub fn retire(&mut self, id: FrameId) {
        if !self.core.buffer.stays_clean(id) {
            self.retire_otherwise(id);
        }
    }

    /// Frees a buffer frame whose data is not kept for reads, unless a program of the data is
    /// pending or the page was written again.
    #[inline(never)]
    fn retire_otherwise(&mut self, id: FrameId) {
        let Frame { lpn, unit, programs, queued, listed, orphan, .. } = *self.core.buffer.get(id);
        if programs > 0 || queued.is_some() {
            return;
        }
        if orphan {
            self.core.buffer.release(id);
        } else if listed == Listed::Dirty {
            self.core.buffer.stay(id);
        } else {
            self.core.map.set_flash(lpn, unit);
            self.core.buffer.release(id);
        }
    }

    /// Handles the end of a program for GC: if the page was the last of its block, the block
    /// becomes a GC candidate.
    #[inline]
    pub fn page_programmed(&mut self, flash: &mut Flash, unit: UnitId) {
        self.gc.page_programmed(&mut self.core, flash, unit);
    }

    /// Has the redundancy hooks (RAID) assign a program anew, because its page has come to need
    /// parity since the program was sent to its die.
    pub(super) fn begin_anew<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        raid: &mut R,
    ) {
        let die = std::mem::replace(&mut flash.txns.get_mut(id).die, DieId::NONE);
        self.core.allocator.arrived(die);
        raid.proceed(self, flash, id);
        self.place_waiting(flash);
    }

    /// Adds a host program to others on its die: allocates a page at the same offset on a plane
    /// that has no part in the command yet. Returns true if there was such a page.
    pub fn bind_beside<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        first: TxnId,
        id: TxnId,
        raid: &mut R,
    ) -> bool {
        let Txn { owner, tag, .. } = *flash.txns.get(id);
        let wanted = match owner {
            Owner::Frame(frame_id) => {
                let Frame { orphan, lpn, .. } = *self.core.buffer.get(frame_id);
                !orphan && !raid.comes_too_late(self, flash, id, lpn)
            }
            // Displaced data may lie at any offset, but room is looked for when the turn of its
            // program comes.
            Owner::Displaced(_) => false,
            _ => raid.wants(self, flash, id),
        };
        if !wanted {
            return false;
        }
        let Txn { unit, die, .. } = *flash.txns.get(first);
        let mut used = 0;
        let mut member = first;
        while member.is_some() {
            let txn = flash.txns.get(member);
            let plane = self.core.locator.plane_of(txn.unit);
            used |= 1u32 << (plane.0 % self.core.layout.geometry.planes_per_die);
            member = txn.next;
        }
        let gc = &self.gc;
        let offset = self.core.locator.place_in_block(unit);
        let page = self.core.allocator.host_page_at(die, tag, offset, used, |plane| gc.job(plane));
        let Some(page) = page else { return false };
        if self.core.allocator.blocks_fail() {
            self.gc.note_failed_programs(&mut self.core, flash, id);
        }
        match owner {
            Owner::Frame(frame_id) => self.take_page(flash, id, frame_id, page, raid),
            _ => raid.take_page(self, flash, id, page),
        }
        true
    }

    /// Records that a program of parity, or of a rebuilt page, takes the physical page `page`.
    pub fn occupy(&mut self, flash: &mut Flash, id: TxnId, page: Taken) {
        let Taken { unit, block, plane, free } = page;
        let txn = flash.txns.get_mut(id);
        txn.unit = unit;
        txn.mode = self.core.allocator.open_blocks.mode_of(block);
        self.core.map.set_owner(unit, txn.lpn);
        self.gc.host_wrote(plane);
        self.gc.look_at_stock(&mut self.core, flash, plane, free);
    }

    /// Handles the end of a page move. Until now reads went to the old copy, which is intact. If
    /// the host wrote the page meanwhile, the move was in vain. See docs/decisions/gc.md, "Where
    /// are reads served while a page moves?".
    #[inline]
    pub fn moved<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        dropped: bool,
        raid: &mut R,
    ) {
        let Txn { from, unit, lpn, die, .. } = *flash.txns.get(id);
        let plane = self.core.locator.plane_of(from);
        if !dropped {
            if self.core.allocator.blocks.invalidate_if_valid(from, plane) {
                raid.relocated(self, flash, lpn, (from, unit));
            } else {
                self.core.allocator.blocks.invalidate(unit);
            }
            self.page_programmed(flash, unit);
            // While both copies existed, the plane counted one valid page too many.
            if !self.queues.unplaced.is_empty() {
                self.place_waiting(flash);
            }
        }
        self.gc.step_after(&mut self.core, flash, id, (plane, die));
    }
}
