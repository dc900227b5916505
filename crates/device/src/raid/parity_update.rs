//! Covering of writes: the cached parity of a stripe includes a page from the moment at which a
//! flash page is assigned to it.
//!
//! 1. A program with complete data asks for the entry of its stripe, and pins it
//!    ([`Raid::cover_program`]).
//! 2. Depending on the policy, the old copy of the page is read first (`early_reads.rs`), or the
//!    page is removed from the cached parity (`parity_delta.rs`). The program is then sent to its
//!    die.
//! 3. When the program is bound to a page, the entry covers it ([`Raid::take_in`]), and the copy
//!    that it replaced is retained until the parity is flushed.
//! 4. The entry is unpinned, and flushed if it is not to stay ([`Raid::unpin`]).
//!
//! Exceptions:
//!
//! - A stripe whose entry is being flushed covers no more writes: the program waits for the next
//!   entry of the stripe. Without a free entry it waits for one.
//! - A program that was sent to its die before its stripe had parity, and is bound after, goes back
//!   to step 1 ([`Raid::is_late`]).
//! - With more than `N_update` pages that leave the buffer together, the cached parity is computed
//!   anew from them (Algorithm 2 of DA-RAID-5).
//! - A trim counts as a write of zeroes: steps 1, 3 and 4 without a program
//!   ([`Raid::page_trimmed`]).

use super::early_reads::EARLY;
use super::parity_cache::{Progress, bit};
use super::tag::Tag;
use crate::core::Core;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::Owner;
use crate::host::Ftl;
use crate::mapping::page_map::Location;
use crate::observe::operation::{Op, Source};
use crate::policy::redundancy::{AboveNUpdate, ParityFlush};
use crate::raid::Raid;
use fowler_units::{Id, Lpn, ParityId, StripeId, TxnId, UnitId};

impl Raid {
    /// Sends a program with complete data to a die, once the parity entry of its stripe can cover
    /// the page.
    #[inline(never)]
    pub(super) fn cover_program(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) {
        let Owner::Frame(frame_id) = flash.txns.get(id).owner else {
            unreachable!("not buffered data")
        };
        let page = ftl.core.buffer.get(frame_id).lpn;
        let stripe = self.stripes.of(page);
        if !self.covers(&ftl.core, stripe) || ftl.core.buffer.get(frame_id).orphan {
            return ftl.try_to_place(flash, id);
        }
        match self.entry_for(ftl, flash, stripe) {
            Ok(entry) => self.cover(ftl, flash, id, entry, page),
            Err(Some(busy)) => self.wait_for_stripe(flash, id, busy),
            Err(None) => self.await_parity(ftl, flash, id),
        }
    }

    /// Returns the parity cache entry of a stripe, pinned (kept in the cache) for a write that its
    /// parity will cover. The error is the entry being flushed, which covers no more writes, or
    /// `None` if the stripe has no entry and none is free.
    pub(crate) fn entry_for(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        stripe: StripeId,
    ) -> Result<ParityId, Option<ParityId>> {
        if let Some(id) = self.cache.find(stripe) {
            let entry = self.cache.get(id);
            // An entry flushed with its data takes in writes only until the first of them is
            // programmed.
            let soon = entry.expedited || self.rules.parity_flush == ParityFlush::AtOnce;
            let full = soon && entry.covered != 0 && entry.pinned > 0;
            if entry.progress != Progress::Open || full {
                return Err(Some(id));
            }
            self.cache.get_mut(id).pinned += 1;
            return Ok(id);
        }
        let parity = self.stripes.parity(stripe);
        let based = ftl.core.map.place(parity) != Location::Nowhere;
        let opened = self.cache.open(stripe, based);
        if let Some(id) = opened {
            self.cache.get_mut(id).pinned = 1;
        }
        self.make_room(ftl, flash);
        opened.ok_or(None)
    }

    pub(crate) fn wait_for_stripe(&mut self, flash: &mut Flash, id: TxnId, busy: ParityId) {
        let txn = flash.txns.get_mut(id);
        txn.next = TxnId::NONE;
        txn.dispatched = flash.agenda.now();
        let before = self.cache.wait(busy, id);
        if before.is_some() {
            flash.txns.get_mut(before).next = id;
        }
    }

    pub(crate) fn await_parity(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) {
        flash.txns.get_mut(id).dispatched = flash.now();
        self.waiting_programs.push_back(id);
        self.make_room(ftl, flash);
    }

    /// Prepares a parity cache entry for the program of a page that its parity will cover: begins
    /// the reads of old data that this requires. See docs/decisions/raid.md, "What does `hc` do
    /// above N_update?".
    pub(crate) fn cover(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        entry: ParityId,
        page: Lpn,
    ) {
        let position = self.stripes.position(page);
        self.cache.touch(entry);
        let note = self.note_mut(flash, id);
        note.pinned = true;
        let expedited = note.expedited;
        let mut read =
            if self.read_first { self.read_early(ftl, flash, id, entry, page) } else { None };
        let cached = self.cache.get_mut(entry);
        let (covered, stripe, together) = (cached.covered, cached.stripe, self.together);
        // Pages that bypass the caches together are taken in together; the stripe is expedited
        // after that.
        cached.expedited |= expedited && together == 0;
        if self.rules.parity_flush == ParityFlush::WhenEvicted && covered != 0 {
            let many = self.rules.n_update.is_some_and(|most| together.count_ones() > most);
            if many && cached.anew & bit(position) == 0 {
                // Rebuilds the parity from the written pages and the other covered ones, once for
                // all pages that leave together. A page whose old data must be read first comes
                // later, on its own.
                cached.anew = together;
                let rest = covered & !together;
                let rest = match self.above_n_update {
                    _ if self.bugs.as_printed => self.forget(&ftl.core, entry, rest),
                    AboveNUpdate::Add => rest,
                    AboveNUpdate::Replace => self.uncover_rest(entry, rest),
                };
                self.read_positions(ftl, flash, entry, stripe, rest);
            }
            let cached = self.cache.get_mut(entry);
            let anew = cached.anew & bit(position) != 0;
            cached.anew &= !bit(position);
            if !anew && covered & bit(position) != 0 {
                let old = ftl.core.flash_copy(page);
                let taken = self.take_from_parity(ftl, flash, entry, position, old);
                read = taken.filter(|_| self.read_first);
            }
        }
        match read {
            None => ftl.try_to_place(flash, id),
            Some(read) => self.program_after(flash, id, read),
        }
    }

    /// Reads the flash copies of the pages at the positions `which` of a stripe (one bit each) for
    /// the cached parity of the stripe or its flush.
    pub(crate) fn read_positions(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        stripe: StripeId,
        which: u64,
    ) {
        let stripes = self.stripes;
        let mut left = which;
        while left != 0 {
            let page = stripes.page(stripe, left.trailing_zeros());
            left &= left - 1;
            self.read_for_parity(ftl, flash, entry, ftl.core.flash_copy(page));
        }
    }

    /// Reads a page for the parity of a stripe, as part of the current pass of reads of the
    /// stripe's parity cache entry. Returns the read, if one is needed.
    pub(crate) fn read_for_parity(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        unit: UnitId,
    ) -> Option<TxnId> {
        let turn = self.cache.get(entry).turn;
        self.read_for_turn(ftl, flash, entry, unit, turn)
    }

    /// Reads a page for the parity of a stripe, as part of the pass of reads numbered `turn`: the
    /// result is ignored if that pass has been abandoned by then. Returns the read, if one is
    /// needed.
    pub(super) fn read_for_turn(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        unit: UnitId,
        turn: u32,
    ) -> Option<TxnId> {
        if !unit.is_some() {
            return None; // Never written: contributes nothing.
        }
        if self.bugs.skipped_reads > 0 {
            self.bugs.skipped_reads -= 1;
            return None;
        }
        let cached = self.cache.get_mut(entry);
        cached.reads += 1;
        cached.early_reads += u32::from(turn == EARLY);
        let die = ftl.core.locator.die_of(unit);
        let owner = Owner::Parity(entry);
        let (id, read) = flash.open(Op::Read, Source::Parity, TxnClass::BackgroundRead, owner, die);
        (read.unit, read.epoch) = (unit, turn);
        flash.submit(id);
        Some(id)
    }

    /// Handles the assignment of a flash page to buffered data: the old copy becomes invalid, or
    /// stays until the parity of its stripe is in the flash.
    #[inline(never)]
    pub(super) fn page_bound(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        page: Lpn,
        old: UnitId,
        new: UnitId,
    ) {
        let stripe = self.count_wear(ftl, page, old, new);
        self.note_rewrite(old);
        let wrong = match flash.txns.get(id).owner {
            Owner::Frame(frame_id) => ftl.core.buffer.get(frame_id).wrong,
            _ => false,
        };
        self.note_program(new, page, wrong);
        let pinned = std::mem::take(&mut self.note_mut(flash, id).pinned);
        if let Some(entry) = self.cache.find(stripe) {
            debug_assert_eq!(self.cache.get(entry).progress, Progress::Open);
            self.take_in(ftl, flash, entry, page, old, new);
            self.update_frail(ftl, flash, stripe);
            if pinned {
                self.unpin(ftl, flash, entry);
            }
            return;
        }
        ftl.invalidate(flash, old);
        if self.needs_parity(&ftl.core, stripe) {
            self.begin_parity(ftl, flash, stripe, Some((page, new)));
        }
        self.look_at_age(ftl, flash);
    }

    /// Returns true if a stripe needs parity and has none.
    pub(crate) fn needs_parity(&self, core: &Core, stripe: StripeId) -> bool {
        self.protects(stripe) && core.map.place(self.stripes.parity(stripe)) == Location::Nowhere
    }

    /// Adds a rewritten page to the parity of a parity cache entry: `new` is the flash location of
    /// the new data, now or in a moment, and `old` that of the data replaced. See
    /// docs/decisions/raid.md, "What happens to the old copy of a covered page?".
    pub(crate) fn take_in(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        page: Lpn,
        old: UnitId,
        new: UnitId,
    ) {
        let position = self.stripes.position(page);
        let tag = |at: UnitId| {
            self.integrity.as_ref().map_or(Tag::ZERO, |integrity| integrity.tag_at(at))
        };
        let (added, taken) = (tag(new), tag(old));
        let cached = self.cache.get_mut(entry);
        cached.anew &= !bit(position);
        cached.value ^= added;
        if cached.covered & bit(position) != 0 {
            cached.value ^= taken;
            return self.leave(ftl, flash, entry, position, old);
        }
        cached.covered |= bit(position);
        if cached.uncovered & bit(position) != 0 {
            // The page that was replaced first is retained already.
            cached.uncovered &= !bit(position);
            ftl.invalidate(flash, old);
        } else if cached.based && old.is_some() {
            self.cache.replaced_mut(entry)[position as usize] = old;
        } else {
            ftl.invalidate(flash, old);
        }
    }

    /// Records that a program or trim has ended that kept (pinned) a parity cache entry in the
    /// cache.
    pub(crate) fn unpin(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        let cached = self.cache.get_mut(entry);
        cached.pinned -= 1;
        self.maybe_flush(ftl, flash, entry);
        self.make_room(ftl, flash);
    }

    /// Unpins the parity cache entry of a buffered page's stripe, as the program of that page will
    /// not be added to the parity after all.
    pub(super) fn uncover(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId, page: Lpn) {
        if std::mem::take(&mut self.note_mut(flash, id).pinned) {
            let entry = self.cache.find(self.stripes.of(page)).expect("a pinned entry exists");
            self.unpin(ftl, flash, entry);
        }
    }

    /// Returns true if a program was sent to a die when its stripe had no parity, and the stripe
    /// has parity by now or is getting it: the parity must then cover the page of that program,
    /// too.
    #[inline(never)]
    pub(super) fn is_late(&self, core: &Core, flash: &Flash, id: TxnId, page: Lpn) -> bool {
        if self.note(flash, id).pinned {
            return false;
        }
        let stripe = self.stripes.of(page);
        match self.cache.find(stripe) {
            Some(entry) => self.cache.get(entry).progress != Progress::Open,
            None => core.map.place(self.stripes.parity(stripe)) != Location::Nowhere,
        }
    }

    // --- Trim ---

    /// Returns true if a logical page can be trimmed now: its stripe needs no parity update for
    /// that, or has a parity cache entry that can take the update.
    pub(super) fn takes_trim(&mut self, ftl: &mut Ftl, flash: &mut Flash, page: Lpn) -> bool {
        let stripe = self.stripes.of(page);
        if !self.covers(&ftl.core, stripe) || ftl.core.map.place(page) == Location::Nowhere {
            return true;
        }
        loop {
            match self.entry_for(ftl, flash, stripe) {
                Ok(_) => return true,
                // The attempt to free an entry may already have succeeded.
                Err(None) if self.cache.free_count() > 0 => {}
                Err(_) => {
                    self.trims_wait = true;
                    return false;
                }
            }
        }
    }

    /// Handles the trim of a page whose flash copy was `old`. To its stripe, the page now contains
    /// zeroes.
    pub(super) fn page_trimmed(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        page: Lpn,
        old: UnitId,
    ) {
        let stripe = self.count_wear(ftl, page, old, UnitId::NONE);
        self.note_rewrite(old);
        self.note_trim(page);
        let Some(entry) = self.cache.find(stripe) else { return ftl.invalidate(flash, old) };
        if old.is_some() {
            let position = self.stripes.position(page);
            if self.cache.get(entry).covered & bit(position) != 0 {
                self.take_from_parity(ftl, flash, entry, position, old);
            }
            self.take_in(ftl, flash, entry, page, old, UnitId::NONE);
        }
        self.unpin(ftl, flash, entry);
    }

    /// Takes the data pages `rest` (one bit each) out of the cached parity of a stripe. The old
    /// copies that they replaced stay retained; the next flush reads these pages with the others of
    /// the stripe. Returns 0: no bit set, as no page has to be read now.
    fn uncover_rest(&mut self, entry: ParityId, rest: u64) -> u64 {
        let cached = self.cache.get_mut(entry);
        cached.uncovered |= rest;
        cached.covered &= !rest;
        0
    }

    /// Removes the data pages `rest` (one bit each) from the value of a cached parity, but not from
    /// the entry's covered pages: an error in the printed Algorithm 2 of DA-RAID-5 (a RAID-5 inside
    /// the drive) for more than `N_update` pages at once. Returns 0: no bit set, no page to read.
    fn forget(&mut self, core: &Core, entry: ParityId, rest: u64) -> u64 {
        let (stripes, stripe) = (self.stripes, self.cache.get(entry).stripe);
        let forgotten = stripes.data_pages(stripe).filter(|(at, _)| rest >> at & 1 != 0);
        let version = |page: Lpn| {
            let unit = core.flash_copy(page);
            self.integrity.as_ref().map_or(Tag::ZERO, |integrity| integrity.tag_at(unit))
        };
        let sum = forgotten.fold(Tag::ZERO, |sum, (_, page)| sum ^ version(page));
        self.cache.get_mut(entry).value ^= sum;
        0
    }
}
