//! Flushing of cached parity to the flash.
//!
//! 1. An entry that is flushed covers no more writes. The equation that needs fewer reads is
//!    chosen: the pages that are not covered, or the replaced pages and the earlier parity
//!    ([`Raid::flush`]).
//! 2. These pages are read. A read that fails makes the entry use the other equation.
//! 3. When all are read, the parity is programmed like a page of the host, on the die of its
//!    address ([`Raid::write_parity`]).
//! 4. The end of the program maps the new parity; the retained pages are invalidated, the entry is
//!    freed, and the completions, programs and trims that waited are resumed ([`Raid::finish`]).
//!
//! Exceptions:
//!
//! - A page of the stripe that is lost in the meantime makes the parity stale: the entry is
//!   reopened and flushed again, or the value is corrected and programmed anew.
//! - While two pages of the stripe are unreadable, the computed parity is kept in the controller:
//!   only the entry and its inputs together recover both.
//! - A stripe that needs no parity any more drops it instead of step 1.

use super::Raid;
use super::early_reads::EARLY;
use super::integrity::Exceeded;
use super::parity_cache::{Entry, Progress, bit, positions};
use crate::blocks::page_allocator::Taken;
use crate::core::Core;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::host::Ftl;
use crate::observe::operation::{Op, Source};
use crate::policy::redundancy::ParityFlush;
use fowler_units::{DieId, FrameId, Id, ParityId, StripeId, TxnId, UnitId};

impl Raid {
    /// Flushes the cached parity of a stripe of `N` data pages, `n` of which it covers. Reads the
    /// other `N - n` pages, or the `n` replaced pages and the old parity, whichever is less
    /// (equations (2) and (1) of DA-RAID-5, a RAID-5 inside the drive).
    pub(crate) fn flush(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        self.cache.flush(entry);
        let Entry { stripe, based, .. } = *self.cache.get(entry);
        if !self.protects(stripe) && !self.is_damaged(&ftl.core, stripe) {
            return self.finish(ftl, flash, entry);
        }
        let cached = self.cache.get(entry);
        let (early, uncovered) = (cached.early, cached.uncovered);
        let parity = early & bit(self.stripes.parity_position(stripe)) == 0;
        let delta = self.cache.unread_count(entry) + u32::from(parity);
        // If the delta method wins anyway, stop counting the uncovered pages.
        let most = if based && self.integrity.is_none() && uncovered == 0 {
            delta as usize + 1
        } else {
            usize::MAX
        };
        let rest = self.uncovered_positions(&ftl.core, entry, most);
        // The delta method would also have to read the old copies of uncovered pages.
        let less = !based || uncovered != 0 || rest.count_ones() <= delta;
        let versions = self.integrity.is_some();
        let by_rest = if versions { self.readable_way(&ftl.core, entry, rest, less) } else { less };
        self.cache.get_mut(entry).by_rest = by_rest;
        let ways = &mut flash.counters.parity_ways;
        *if by_rest { &mut ways.from_rest } else { &mut ways.by_delta } += 1;
        if versions {
            self.set_whole(ftl, entry);
        }
        self.read_lacking(ftl, flash, entry, rest, by_rest);
        self.write_if_read(ftl, flash, entry);
    }

    /// Returns the positions (one bit each) of the data pages of a stripe that are in the flash and
    /// that the cached parity of the stripe does not cover; at most the first `most` of them.
    pub(crate) fn uncovered_positions(&self, core: &Core, entry: ParityId, most: usize) -> u64 {
        let cached = self.cache.get(entry);
        let data = self.stripes.data_positions(cached.stripe);
        let lacks =
            |&position: &u32| core.flash_copy(self.stripes.page(cached.stripe, position)).is_some();
        let lacking = positions(data & !cached.covered).filter(lacks).take(most);
        lacking.fold(0, |all, position| all | bit(position))
    }

    /// Returns true if a flush computes the parity from the data pages that the cached parity does
    /// not cover, false if from the replaced pages and the old parity. `by_rest` is the cheaper of
    /// the two; the other one is taken if a page that it needs is unreadable.
    pub(crate) fn readable_way(
        &self,
        core: &Core,
        entry: ParityId,
        rest: u64,
        by_rest: bool,
    ) -> bool {
        if self.integrity.is_none() {
            return by_rest;
        }
        let cached = self.cache.get(entry);
        let page = |position| core.flash_copy(self.stripes.page(cached.stripe, position));
        let parity = core.flash_copy(self.stripes.parity(cached.stripe));
        if by_rest {
            let reads = |position| rest & bit(position) == 0 || self.reads_well(page(position));
            return !cached.based || (0..self.stripes.width()).all(reads);
        }
        let reads = |&unit: &UnitId| !unit.is_some() || self.reads_well(unit);
        !(self.cache.all_replaced(entry).iter().all(reads) && reads(&parity))
    }

    /// Reads the pages that a flush needs to compute a stripe's new parity from a parity cache
    /// entry: if `by_rest`, the data pages `rest` (one bit each) that the cached parity does not
    /// cover; otherwise the old copies of the covered pages and the old parity.
    pub(crate) fn read_lacking(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        rest: u64,
        by_rest: bool,
    ) {
        let (stripes, stripe) = (self.stripes, self.cache.get(entry).stripe);
        if by_rest {
            return self.read_positions(ftl, flash, entry, stripe, rest);
        }
        let (covered, early) = (self.cache.get(entry).covered, self.cache.get(entry).early);
        self.note_early(ftl, entry);
        for position in positions(covered & !early) {
            let replaced = self.cache.replaced(entry, position);
            self.read_for_parity(ftl, flash, entry, replaced);
        }
        if early & bit(stripes.parity_position(stripe)) == 0 {
            self.read_for_parity(ftl, flash, entry, ftl.core.flash_copy(stripes.parity(stripe)));
        }
    }

    /// Computes the parity of all data pages of a stripe, as a sum of data versions: that of the
    /// parity cache entry and those of the pages read for its flush.
    pub(crate) fn set_whole(&mut self, ftl: &mut Ftl, entry: ParityId) {
        let cached = self.cache.get(entry);
        let Some(integrity) = &self.integrity else { return };
        let rest = self.uncovered_positions(&ftl.core, entry, usize::MAX);
        let mut whole = cached.value;
        if cached.by_rest {
            for (position, page) in self.stripes.data_pages(cached.stripe) {
                if rest & bit(position) != 0 {
                    whole ^= integrity.tag_at(ftl.core.flash_copy(page));
                }
            }
        } else {
            let replaced = self.cache.all_replaced(entry).iter();
            whole = replaced.fold(whole, |sum, &unit| sum ^ integrity.tag_at(unit));
            whole ^= integrity.tag_at(ftl.core.flash_copy(self.stripes.parity(cached.stripe)));
        }
        self.cache.get_mut(entry).whole = whole;
    }

    /// Handles the end of a read for the parity of a stripe. If the read fails, the parity flush
    /// reads other pages that give the same parity, or gives up if pages are lost.
    pub(crate) fn parity_read(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        entry: ParityId,
    ) {
        let Txn { unit, epoch: turn, .. } = *flash.txns.get(id);
        let failed = self.failed(ftl, flash, id);
        if turn == EARLY {
            self.early_read_done(ftl, entry, unit, failed);
        } else if failed {
            self.read_others(ftl, flash, entry, unit);
        } else {
            self.note_seen(entry, turn, unit);
        }
        let done = flash.is_watched().then(|| *flash.txns.get(id));
        let program = self.note(flash, id).program;
        flash.txns.close(id);
        if program.is_some() {
            self.has_waited(flash, program);
            ftl.try_to_place(flash, program);
        }
        let cached = self.cache.get_mut(entry);
        cached.reads -= 1;
        let progress = cached.progress;
        if cached.reads == 0 {
            cached.blank = false;
            self.left(ftl, flash, entry);
        }
        let cached = self.cache.get(entry);
        match progress {
            Progress::Open => {
                if cached.reads == 0 {
                    self.note_awaited(flash, done, entry);
                    self.release_awaiting(ftl, flash, entry);
                    self.maybe_flush(ftl, flash, entry);
                    self.make_room(ftl, flash);
                }
            }
            Progress::Reading => self.write_if_read(ftl, flash, entry),
            Progress::Writing => unreachable!("all reads are done"),
        }
    }

    pub(crate) fn write_if_read(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        let cached = self.cache.get_mut(entry);
        if cached.reads > 0 {
            return;
        }
        cached.progress = Progress::Writing;
        self.note_computed(entry);
        self.write_parity(ftl, flash, entry);
    }

    /// Discards the parity that a flush has computed for a parity cache entry. The entry's parity
    /// then covers further writes to the stripe.
    pub(crate) fn reopen(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        self.cache.reopen(entry);
        self.maybe_flush(ftl, flash, entry);
    }

    pub(crate) fn write_parity(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        let cached = self.cache.get_mut(entry);
        cached.stalled = false;
        let page = self.stripes.parity(cached.stripe);
        let (class, owner) = (TxnClass::HostProgram, Owner::Parity(entry));
        let (id, txn) = flash.open(Op::Program, Source::Parity, class, owner, DieId::NONE);
        txn.lpn = page;
        txn.group = 1;
        ftl.try_to_place(flash, id);
    }

    /// Assigns a flash page to the new parity of a parity cache entry's stripe. The old parity page
    /// stays valid until the new one is programmed.
    pub(crate) fn take_parity_page(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        entry: ParityId,
        page: Taken,
    ) {
        let value = self.cache.get(entry).whole;
        if let Some(integrity) = &mut self.integrity {
            integrity.set(page.unit, value);
        }
        ftl.occupy(flash, id, page);
    }

    /// Returns true if the computed parity of a parity cache entry is out of date, because a page
    /// of its stripe was lost: it is not programmed but computed again.
    pub(crate) fn is_superseded(&self, entry: ParityId) -> bool {
        self.cache.get(entry).again
    }

    /// Handles the end of a parity program; `dropped` is true if it wrote no page.
    pub(crate) fn parity_stored(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        entry: ParityId,
        dropped: bool,
    ) {
        let Txn { lpn, unit, die, .. } = *flash.txns.get(id);
        let done = flash.is_watched().then(|| *flash.txns.get(id));
        flash.txns.close(id);
        if dropped {
            ftl.core.allocator.arrived(die);
            self.reopen(ftl, flash, entry);
            return ftl.place_waiting(flash);
        }
        let cached = self.cache.get_mut(entry);
        if cached.frail || cached.again || cached.stale {
            // The computed parity may be needed to recover a page, so it stays together with its
            // inputs.
            let (again, frail) = (cached.again, cached.frail);
            cached.stale = false;
            cached.stalled = !again;
            ftl.invalidate(flash, unit);
            ftl.page_programmed(flash, unit);
            if again {
                self.reopen(ftl, flash, entry);
            } else if !frail {
                self.write_parity(ftl, flash, entry);
            }
            return;
        }
        let old = ftl.core.flash_copy(lpn);
        ftl.core.map.set_flash(lpn, unit);
        ftl.invalidate(flash, old);
        ftl.page_programmed(flash, unit);
        if let Some(integrity) = &mut self.integrity {
            integrity.set_exceeded(self.cache.get(entry).stripe, Exceeded::default());
        }
        self.note_awaited(flash, done, entry);
        self.finish(ftl, flash, entry);
    }

    /// Reports `done`, a flash transaction that served to write the parity of a stripe, to the
    /// observer of the simulation, if any, as one that the programs waiting for that parity had to
    /// wait for.
    fn note_awaited(&self, flash: &mut Flash, done: Option<Txn>, entry: ParityId) {
        let Some(done) = done else { return };
        let cached = self.cache.get(entry);
        for mut waiter in [cached.awaiting, cached.first_waiting] {
            while waiter.is_some() {
                flash.note_awaited(&done, waiter);
                waiter = flash.txns.get(waiter).next;
            }
        }
        // The first waiting program waited for this entry to become free.
        if let Some(&waiting) = self.waiting_programs.front().filter(|_| done.op == Op::Program) {
            flash.note_awaited(&done, waiting);
        }
    }

    /// Closes a parity cache entry whose stripe now has up-to-date parity in the flash: invalidates
    /// the retained old copies of its pages, and resumes the programs and completions that waited
    /// for that parity.
    pub(crate) fn finish(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        let cached = self.cache.get(entry);
        for position in positions(cached.covered | cached.uncovered) {
            let kept = &mut self.cache.replaced_mut(entry)[position as usize];
            let old = std::mem::replace(kept, UnitId::NONE);
            if old.is_some() {
                ftl.invalidate(flash, old);
            }
        }
        self.release_awaiting(ftl, flash, entry);
        let cached = self.cache.get(entry);
        let (stripe, mut waiting) = (cached.stripe, cached.first_waiting);
        self.cache.close(entry);
        if self.building == entry {
            self.building = ParityId::NONE;
        }
        if !self.protects(stripe) {
            self.drop_parity(ftl, flash, stripe);
        }
        while waiting.is_some() {
            let next = flash.txns.get(waiting).next;
            self.resume(ftl, flash, waiting);
            waiting = next;
        }
        self.build_wanted(ftl, flash);
        self.resume_waiting_programs(ftl, flash);
        self.make_room(ftl, flash);
        ftl.place_waiting(flash);
        if std::mem::take(&mut self.trims_wait) {
            ftl.resume_writes(flash, self);
        }
    }

    fn resume_waiting_programs(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        while self.cache.free_count() > 0
            && let Some(waiting) = self.waiting_programs.pop_front()
        {
            self.resume(ftl, flash, waiting);
        }
    }

    /// Resumes a program that has waited for parity.
    fn resume(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) {
        self.has_waited(flash, id);
        flash.txns.get_mut(id).next = TxnId::NONE;
        self.cover_program(ftl, flash, id);
    }

    /// Drops the parity of a stripe whose data pages are all in trusted blocks (blocks that are not
    /// worn).
    pub(crate) fn drop_parity(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId) {
        if self.protects(stripe)
            || self.cache.find(stripe).is_some()
            || self.is_damaged(&ftl.core, stripe)
        {
            return;
        }
        let page = self.stripes.parity(stripe);
        let old = ftl.core.flash_copy(page);
        ftl.core.map.set_flash(page, UnitId::NONE);
        ftl.invalidate(flash, old);
    }

    // --- Answers that wait ---

    /// Handles the end of the program of buffered data. Returns true if the completion of its write
    /// must wait for parity.
    #[inline(never)]
    pub(super) fn waits_for_parity(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        frame_id: FrameId,
    ) -> bool {
        let page = ftl.core.buffer.get(frame_id).lpn;
        let Some(entry) = self.cache.find(self.stripes.of(page)) else { return false };
        let cached = self.cache.get_mut(entry);
        let kept = self.rules.parity_flush == ParityFlush::WhenEvicted && !cached.expedited;
        // The answer does not wait for reads that later programs wait for.
        let all_read = cached.reads == cached.early_reads;
        if kept && all_read || cached.covered & bit(self.stripes.position(page)) == 0 {
            return false;
        }
        self.defer(flash, id);
        let before = std::mem::replace(&mut self.cache.get_mut(entry).awaiting, id);
        flash.txns.get_mut(id).next = before;
        true
    }

    pub(crate) fn release_awaiting(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        let cached = self.cache.get_mut(entry);
        let mut awaiting = std::mem::replace(&mut cached.awaiting, TxnId::NONE);
        while awaiting.is_some() {
            let next = flash.txns.get(awaiting).next;
            let Owner::Frame(frame_id) = flash.txns.get(awaiting).owner else {
                unreachable!("only buffered data waits for parity")
            };
            ftl.settled(flash, awaiting, frame_id, self);
            awaiting = next;
        }
    }
}
