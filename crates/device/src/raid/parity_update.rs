//! What is written is covered: its stripe takes it into the parity that the cache holds, from the
//! moment it gets its place in the flash, and keeps what it replaced.

use super::parity_cache::{Progress, bit};
use crate::core::Core;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::Owner;
use crate::host::Ftl;
use crate::mapping::page_map::Location;
use crate::observe::operation::{Op, Source};
use crate::policy::redundancy::ParityFlush;
use crate::raid::Raid;
use fowler_units::{Id, Lpn, ParityId, StripeId, TxnId, UnitId};

impl Raid {
    /// The data of a program is whole: it goes to a die, once its stripe can take it in.
    #[inline(never)]
    pub(super) fn cover_program(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) {
        let Owner::Frame(frame_id) = flash.txns.get(id).owner else {
            unreachable!("buffered data")
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

    /// The place of a stripe that takes in what is written, pinned; an error names the place that
    /// takes in nothing more, or none if there is no place left.
    pub(crate) fn entry_for(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        stripe: StripeId,
    ) -> Result<ParityId, Option<ParityId>> {
        if let Some(id) = self.cache.find(stripe) {
            let entry = self.cache.get(id);
            // What is written with its data takes in what comes before the first of it is
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

    /// A program will be covered by an entry.
    /// See docs/decisions/raid.md, "What does `hc` do above N_update?".
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
        let its = self.cache.get_mut(entry);
        let (covered, stripe, together) = (its.covered, its.stripe, self.together);
        // What goes past the caches together is taken in together, and hurries its stripe after
        // that.
        its.expedited |= expedited && together == 0;
        if self.rules.parity_flush == ParityFlush::WhenEvicted && covered != 0 {
            let many = self.rules.n_update.is_some_and(|most| together.count_ones() > most);
            if many && its.anew & bit(position) == 0 {
                // Parity anew from what is written and what else is covered, once for all that
                // leave together. One of them whose old data is read first comes later, and on its
                // own.
                its.anew = together;
                let rest = covered & !together;
                let rest =
                    if self.bugs.as_printed { self.forget(&ftl.core, entry, rest) } else { rest };
                self.read_positions(ftl, flash, entry, stripe, rest);
            }
            let its = self.cache.get_mut(entry);
            let anew = its.anew & bit(position) != 0;
            its.anew &= !bit(position);
            if !anew && covered & bit(position) != 0 {
                self.take_from_parity(ftl, flash, entry, position, ftl.core.flash_copy(page));
            }
        }
        ftl.try_to_place(flash, id);
    }

    /// Reads pages of a stripe as they lie in the flash.
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

    pub(crate) fn read_for_parity(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        unit: UnitId,
    ) {
        if !unit.is_some() {
            return; // Nothing was ever written there: it adds nothing.
        }
        if self.bugs.skipped_reads > 0 {
            self.bugs.skipped_reads -= 1;
            return;
        }
        let its = self.cache.get_mut(entry);
        its.reads += 1;
        let turn = its.turn;
        let die = ftl.core.locator.die_of(unit);
        let owner = Owner::Parity(entry);
        let (id, read) = flash.open(Op::Read, Source::Parity, TxnClass::BackgroundRead, owner, die);
        (read.unit, read.epoch) = (unit, turn);
        flash.submit(id);
    }

    /// Buffered data gets its place in the flash: what lay there before is invalid, or stays until
    /// the parity of its stripe is in the flash.
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
        self.note_program(new, page);
        let pinned = std::mem::take(&mut self.note_mut(flash, id).pinned);
        if let Some(entry) = self.cache.find(stripe) {
            debug_assert_eq!(self.cache.get(entry).progress, Progress::Open);
            self.take_in(ftl, flash, entry, page, old, new);
            self.look_whether_frail(ftl, flash, stripe);
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

    /// Whether a stripe that is to have parity has none.
    pub(crate) fn needs_parity(&self, core: &Core, stripe: StripeId) -> bool {
        self.protects(stripe) && core.map.place(self.stripes.parity(stripe)) == Location::Nowhere
    }

    /// A page is covered: `new` lies in the flash now, or will in a moment, in place of `old`.
    /// See docs/decisions/raid.md, "What happens to the old copy of a covered page?".
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
        let version = |at: UnitId| self.integrity.as_ref().map_or(0, |its| its.version_at(at));
        let (added, taken) = (version(new), version(old));
        let its = self.cache.get_mut(entry);
        its.anew &= !bit(position);
        its.value ^= added;
        if its.covered & bit(position) != 0 {
            its.value ^= taken;
            return self.leave(ftl, flash, entry, position, old);
        }
        its.covered |= bit(position);
        if its.based && old.is_some() {
            self.cache.replaced_mut(entry)[position as usize] = old;
        } else {
            ftl.invalidate(flash, old);
        }
    }

    /// One program less is on its way to an entry.
    pub(crate) fn unpin(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        let its = self.cache.get_mut(entry);
        its.pinned -= 1;
        self.maybe_flush(ftl, flash, entry);
        self.make_room(ftl, flash);
    }

    /// A buffered page that was to be covered is not wanted any more.
    pub(super) fn uncover(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId, page: Lpn) {
        if std::mem::take(&mut self.note_mut(flash, id).pinned) {
            let entry = self.cache.find(self.stripes.of(page)).expect("it was pinned");
            self.unpin(ftl, flash, entry);
        }
    }

    /// Whether a program must be covered after all although it has a die: it was not to be when it
    /// was sent there, and by now its stripe has parity, or gets it.
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

    /// A page of the mapping is to be forgotten. Returns whether its stripe can take that in now.
    pub(super) fn takes_trim(&mut self, ftl: &mut Ftl, flash: &mut Flash, page: Lpn) -> bool {
        let stripe = self.stripes.of(page);
        if !self.covers(&ftl.core, stripe) || ftl.core.map.place(page) == Location::Nowhere {
            return true;
        }
        loop {
            match self.entry_for(ftl, flash, stripe) {
                Ok(_) => return true,
                // What was to make room may have done so already.
                Err(None) if self.cache.free_count() > 0 => {}
                Err(_) => {
                    self.trims_wait = true;
                    return false;
                }
            }
        }
    }

    /// A page is forgotten: `old` is what lay in the flash. Its stripe has a page of zeroes there
    /// from now on.
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

    /// Algorithm 2 of DA-RAID-5 as it is printed: of more than `N_update` pages, the partial parity
    /// that there was is replaced by theirs. Which pages it is of is not recorded: whoever writes
    /// it to the flash takes it for that of all pages written since. Returns the pages whose parity
    /// is kept.
    fn forget(&mut self, core: &Core, entry: ParityId, rest: u64) -> u64 {
        let (stripes, stripe) = (self.stripes, self.cache.get(entry).stripe);
        let forgotten = stripes.data_pages(stripe).filter(|(at, _)| rest >> at & 1 != 0);
        let version = |page: Lpn| {
            let unit = core.flash_copy(page);
            self.integrity.as_ref().map_or(0, |its| its.version_at(unit))
        };
        let sum = forgotten.fold(0, |sum, (_, page)| sum ^ version(page));
        self.cache.get_mut(entry).value ^= sum;
        0
    }
}
