//! What is written is covered: its stripe takes it into the parity that the cache holds, from the moment it gets its
//! place in the flash, and keeps what it replaced.

use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Op, Owner, Source};
use crate::ftl::Ftl;
use crate::mapping::page_map::Location;
use crate::policy::redundancy::Commits;
use crate::raid::Array;
use crate::raid::parity_cache::{Progress, bit};
use fowler_units::{FrameId, Id, Lpn, ParityId, Ppn, StripeId, TxnId};

impl Ftl {
    /// The data of a program is whole: it goes to a die, once its stripe can take it in.
    #[inline]
    pub(crate) fn proceed(&mut self, flash: &mut Flash, id: TxnId) {
        if self.array.is_none() {
            return self.try_to_place(flash, id);
        }
        self.proceed_in_stripe(flash, id);
    }

    #[cold]
    fn proceed_in_stripe(&mut self, flash: &mut Flash, id: TxnId) {
        let array = self.array.as_ref().expect("asked before");
        let Owner::Frame(slot) = flash.txns.get(id).owner else { unreachable!("buffered data") };
        let page = self.buffer.get(slot).lpn;
        let stripe = array.stripes.of(page);
        if !self.covers(stripe) || self.buffer.get(slot).orphan {
            return self.try_to_place(flash, id);
        }
        match self.entry_for(flash, stripe) {
            Ok(entry) => self.cover(flash, id, entry, page),
            Err(Some(busy)) => self.wait_for_stripe(flash, id, busy),
            Err(None) => self.hold_for_parity(flash, id),
        }
    }

    /// The place of a stripe that takes in what is written, pinned; an error names the place that takes in nothing more,
    /// or none if there is no place left.
    pub(crate) fn entry_for(
        &mut self,
        flash: &mut Flash,
        stripe: StripeId,
    ) -> Result<ParityId, Option<ParityId>> {
        let array = self.array.as_mut().expect("asked by an array");
        if let Some(id) = array.cache.find(stripe) {
            let entry = array.cache.get(id);
            // What is written with its data takes in what comes before the first of it is programmed.
            let soon = entry.hurried || array.rules.commits == Commits::AtOnce;
            let full = soon && entry.covered != 0 && entry.pinned > 0;
            if entry.progress != Progress::Open || full {
                return Err(Some(id));
            }
            array.cache.get_mut(id).pinned += 1;
            return Ok(id);
        }
        let parity = array.stripes.parity(stripe);
        let based = self.map.place(parity) != Location::Nowhere;
        let opened = array.cache.open(stripe, based);
        if let Some(id) = opened {
            array.cache.get_mut(id).pinned = 1;
        }
        self.make_room(flash);
        opened.ok_or(None)
    }

    pub(crate) fn wait_for_stripe(&mut self, flash: &mut Flash, id: TxnId, busy: ParityId) {
        let array = self.array.as_mut().expect("its stripe is busy");
        let txn = flash.txns.get_mut(id);
        txn.next = TxnId::NONE;
        txn.dispatched = flash.agenda.now();
        let before = array.cache.wait(busy, id);
        if before.is_some() {
            flash.txns.get_mut(before).next = id;
        }
    }

    pub(crate) fn hold_for_parity(&mut self, flash: &mut Flash, id: TxnId) {
        flash.txns.get_mut(id).dispatched = flash.now();
        self.array.as_mut().expect("its cache is full").held.push_back(id);
        self.make_room(flash);
    }

    /// A program will be covered by an entry.
    pub(crate) fn cover(&mut self, flash: &mut Flash, id: TxnId, entry: ParityId, page: Lpn) {
        let array = self.array.as_mut().expect("it has an entry");
        let position = array.stripes.position(page);
        array.cache.touch(entry);
        let its = array.cache.get_mut(entry);
        let (covered, stripe, together) = (its.covered, its.stripe, array.together);
        flash.txns.get_mut(id).pinned = true;
        // What goes past the caches together is taken in together, and hurries its stripe after that.
        its.hurried |= flash.txns.get(id).hurried && together == 0;
        if array.rules.commits == Commits::WhenEvicted && covered != 0 {
            let many = array.rules.n_update.is_some_and(|most| together.count_ones() > most);
            if many && its.anew & bit(position) == 0 {
                // Parity anew from what is written and what else is covered, once for all that leave together. One of
                // them whose old data is read first comes later, and on its own.
                its.anew = together;
                let rest = covered & !together;
                #[cfg(test)]
                let rest = self.forget_as_printed(entry, rest);
                self.read_positions(flash, entry, stripe, rest);
            }
            let array = self.array.as_mut().expect("it has an entry");
            let its = array.cache.get_mut(entry);
            let anew = its.anew & bit(position) != 0;
            its.anew &= !bit(position);
            if !anew && covered & bit(position) != 0 {
                self.take_from_parity(flash, entry, position, self.flash_copy(page));
            }
        }
        self.try_to_place(flash, id);
    }

    /// Reads pages of a stripe as they lie in the flash.
    pub(crate) fn read_positions(
        &mut self,
        flash: &mut Flash,
        entry: ParityId,
        stripe: StripeId,
        which: u64,
    ) {
        let stripes = self.array.as_ref().expect("it has an entry").stripes;
        let mut left = which;
        while left != 0 {
            let page = stripes.page(stripe, left.trailing_zeros());
            left &= left - 1;
            self.read_for_parity(flash, entry, self.flash_copy(page));
        }
    }

    pub(crate) fn read_for_parity(&mut self, flash: &mut Flash, entry: ParityId, ppn: Ppn) {
        if !ppn.is_some() {
            return; // Nothing was ever written there: it adds nothing.
        }
        let array = self.array.as_mut().expect("it has an entry");
        #[cfg(test)]
        if array.spared > 0 {
            array.spared -= 1;
            return;
        }
        let its = array.cache.get_mut(entry);
        its.reads += 1;
        let turn = its.turn;
        let die = self.locator.die_of(ppn);
        let owner = Owner::Parity(entry);
        let (id, read) = flash.open(Op::Read, Source::Parity, TxnClass::BackgroundRead, owner, die);
        (read.ppn, read.epoch) = (ppn, turn);
        flash.submit(id);
    }

    /// Buffered data gets its place in the flash: what lay there before is outdated, or stays until the parity of
    /// its stripe is in the flash.
    #[inline]
    pub(crate) fn bound(&mut self, flash: &mut Flash, id: TxnId, page: Lpn, old: Ppn, new: Ppn) {
        if self.array.is_none() {
            return self.outdate(flash, old);
        }
        self.bound_in_stripe(flash, id, page, old, new);
    }

    #[cold]
    fn bound_in_stripe(&mut self, flash: &mut Flash, id: TxnId, page: Lpn, old: Ppn, new: Ppn) {
        let stripe = self.count_wear(page, old, new);
        self.note_rewrite(old);
        self.note_program(new, page);
        let pinned = std::mem::take(&mut flash.txns.get_mut(id).pinned);
        let array = self.array.as_mut().expect("asked above");
        if let Some(entry) = array.cache.find(stripe) {
            debug_assert_eq!(array.cache.get(entry).progress, Progress::Open);
            self.take_in(flash, entry, page, old, new);
            self.look_whether_frail(flash, stripe);
            if pinned {
                self.unpin(flash, entry);
            }
            return;
        }
        self.outdate(flash, old);
        if self.needs_parity(stripe) {
            self.begin_parity(flash, stripe, Some((page, new)));
        }
        self.look_at_age(flash);
    }

    /// Whether a stripe that is to have parity has none.
    pub(crate) fn needs_parity(&self, stripe: StripeId) -> bool {
        let array = self.array.as_ref().expect("it has stripes");
        array.protects(stripe) && self.map.place(array.stripes.parity(stripe)) == Location::Nowhere
    }

    /// A page is covered: `new` lies in the flash now, or will in a moment, in place of `old`.
    pub(crate) fn take_in(
        &mut self,
        flash: &mut Flash,
        entry: ParityId,
        page: Lpn,
        old: Ppn,
        new: Ppn,
    ) {
        let array = self.array.as_mut().expect("it has an entry");
        let position = array.stripes.position(page);
        let tag = |at: Ppn| array.integrity.as_ref().map_or(0, |its| its.tag(at));
        let (added, taken) = (tag(new), tag(old));
        let its = array.cache.get_mut(entry);
        its.anew &= !bit(position);
        its.value ^= added;
        if its.covered & bit(position) != 0 {
            its.value ^= taken;
            return self.leave(flash, entry, position, old);
        }
        its.covered |= bit(position);
        if its.based && old.is_some() {
            array.cache.replaced_mut(entry)[position as usize] = old;
        } else {
            self.outdate(flash, old);
        }
    }

    /// One program less is on its way to an entry.
    pub(crate) fn unpin(&mut self, flash: &mut Flash, entry: ParityId) {
        let array = self.array.as_mut().expect("it has an entry");
        let its = array.cache.get_mut(entry);
        its.pinned -= 1;
        self.consider_commit(flash, entry);
        self.make_room(flash);
    }

    /// An entry that is not to be kept goes to the flash once nothing is on its way to it.
    pub(crate) fn consider_commit(&mut self, flash: &mut Flash, entry: ParityId) {
        let array = self.array.as_mut().expect("it has an entry");
        let its = array.cache.get(entry);
        let quiet = its.progress == Progress::Open && its.pinned == 0 && its.reads == 0;
        let due = its.hurried || array.rules.commits == Commits::AtOnce;
        let nothing = its.covered == 0 && its.based;
        if quiet && nothing {
            // Whatever was to be covered was trimmed on its way.
            self.finish(flash, entry);
        } else if quiet && due && !its.frail {
            self.commit(flash, entry);
        }
    }

    /// A buffered page that was to be covered is not wanted any more.
    pub(crate) fn uncover(&mut self, flash: &mut Flash, id: TxnId, page: Lpn) {
        if let Some(array) = &self.array
            && std::mem::take(&mut flash.txns.get_mut(id).pinned)
        {
            let entry = array.cache.find(array.stripes.of(page)).expect("it was pinned");
            self.unpin(flash, entry);
        }
    }

    /// Whether a program must be covered after all although it has a die: it was not to be when it was sent there, and
    /// by now its stripe has parity, or gets it.
    #[inline]
    pub(crate) fn comes_too_late(&self, flash: &Flash, id: TxnId, page: Lpn) -> bool {
        self.array.as_ref().is_some_and(|array| self.is_late(array, flash, id, page))
    }

    #[cold]
    fn is_late(&self, array: &Array, flash: &Flash, id: TxnId, page: Lpn) -> bool {
        if flash.txns.get(id).pinned {
            return false;
        }
        let stripe = array.stripes.of(page);
        match array.cache.find(stripe) {
            Some(entry) => array.cache.get(entry).progress != Progress::Open,
            None => self.map.place(array.stripes.parity(stripe)) != Location::Nowhere,
        }
    }

    /// It waits, and begins anew from there.
    pub(crate) fn begin_anew(&mut self, flash: &mut Flash, id: TxnId, slot: FrameId) {
        let die = flash.txns.get(id).die;
        self.space.arrived(die);
        self.buffer.get_mut(slot).submitted = false;
        self.proceed(flash, id);
        self.place_waiting(flash);
    }

    // --- Trim ---------------------------------------------------------------------------------------

    /// A page of the mapping is to be forgotten. Returns whether its stripe can take that in now.
    pub(crate) fn may_forget(&mut self, flash: &mut Flash, page: Lpn) -> bool {
        let Some(array) = &self.array else { return true };
        let stripe = array.stripes.of(page);
        if !self.covers(stripe) || self.map.place(page) == Location::Nowhere {
            return true;
        }
        loop {
            match self.entry_for(flash, stripe) {
                Ok(_) => return true,
                // What was to make room may have done so already.
                Err(None) if self.array.as_ref().is_some_and(|it| it.cache.free_count() > 0) => {}
                Err(_) => {
                    self.array.as_mut().expect("it has stripes").trims_wait = true;
                    return false;
                }
            }
        }
    }

    /// A page is forgotten: `old` is what lay in the flash. Its stripe has a page of zeroes there from now on.
    pub(crate) fn forgotten(&mut self, flash: &mut Flash, page: Lpn, old: Ppn) {
        if self.array.is_none() {
            return self.outdate(flash, old);
        }
        let stripe = self.count_wear(page, old, Ppn::NONE);
        self.note_rewrite(old);
        self.note_trim(page);
        let array = self.array.as_mut().expect("asked above");
        let Some(entry) = array.cache.find(stripe) else { return self.outdate(flash, old) };
        if old.is_some() {
            let position = array.stripes.position(page);
            if array.cache.get(entry).covered & bit(position) != 0 {
                self.take_from_parity(flash, entry, position, old);
            }
            self.take_in(flash, entry, page, old, Ppn::NONE);
        }
        self.unpin(flash, entry);
    }
}
