//! Parity on its way to the flash, and whoever waits for it.

use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Op, Owner, Source, Txn};
use crate::ftl::Ftl;
use crate::policy::redundancy::Commits;
use crate::raid::parity_cache::{Progress, bit};
use fowler_units::{DieId, FrameId, Id, Lpn, ParityId, Ppn, StripeId, TxnId};

impl Ftl {
    /// A stripe gets parity of its own accord; `page` has just been written, and is at hand.
    pub(crate) fn begin_parity(
        &mut self,
        flash: &mut Flash,
        stripe: StripeId,
        written: Option<(Lpn, Ppn)>,
    ) {
        let array = self.array.as_mut().expect("it has stripes");
        let entry = if array.may_build() { array.cache.open(stripe, false) } else { None };
        let Some(entry) = entry else {
            array.want(stripe);
            return self.make_room(flash);
        };
        if !array.building.is_some() {
            array.building = entry;
        }
        if let Some((page, new)) = written {
            self.take_in(flash, entry, page, Ppn::NONE, new);
        }
        self.commit(flash, entry);
    }

    /// Stripes that are to have parity get it while places are left.
    pub(crate) fn build_wanted(&mut self, flash: &mut Flash) {
        while let Some(array) = &mut self.array
            && array.wanted_count > 0
            && array.may_build()
        {
            let Some(stripe) = array.next_wanted() else { return };
            let taken = array.cache.find(stripe).is_some();
            // Whoever has a place without parity in the flash will write it from all pages.
            if !taken && self.needs_parity(stripe) {
                self.begin_parity(flash, stripe, None);
            }
        }
        self.all_have_parity();
    }

    /// Where blocks are recycled no more, they are as long as a stripe lacks its parity (section III-B: "the RAID-5 is
    /// applied to all the stripes"). A drive never goes back.
    fn all_have_parity(&mut self) {
        if self.array.as_ref().is_some_and(|its| !its.rules.recycles && its.wanted_count == 0) {
            self.recycler = None;
        }
    }

    /// Sees to it that a place becomes free for everyone who waits for one, and for one more; and where stripes are to
    /// get parity, for one of them at a time, so that they get it however full the cache is kept.
    pub(crate) fn make_room(&mut self, flash: &mut Flash) {
        while let Some(array) = &self.array {
            let kept = array.rules.commits == Commits::WhenEvicted;
            let ahead = u32::from(kept);
            let wanted = (array.held.len() as u32 + u32::from(array.trims_wait)).max(ahead);
            let wanted = wanted + u32::from(kept && array.wanted_count > 0);
            if array.cache.free_count() + array.cache.committing() >= wanted {
                return;
            }
            let Some(oldest) = array.cache.evictable() else { return };
            self.commit(flash, oldest);
        }
    }

    /// The parity of a stripe goes to the flash. What it lacks is read: the pages that are not covered, or what the
    /// covered ones replaced and the parity before, whichever is less (equations (2) and (1) of the paper; with all
    /// pages there the first if `N - n <= n + 1`).
    pub(crate) fn commit(&mut self, flash: &mut Flash, entry: ParityId) {
        let array = self.array.as_mut().expect("it has an entry");
        array.cache.commit(entry);
        let its = *array.cache.get(entry);
        if !array.protects(its.stripe) && !self.is_damaged(its.stripe) {
            return self.finish(flash, entry);
        }
        let rest = self.uncovered_positions(entry);
        let array = self.array.as_ref().expect("it has an entry");
        let before = array.cache.all_replaced(entry).iter().filter(|ppn| ppn.is_some()).count();
        let less = !its.based || rest.count_ones() <= before as u32 + 1;
        let by_rest = self.readable_way(entry, rest, less);
        self.array.as_mut().expect("it has an entry").cache.get_mut(entry).by_rest = by_rest;
        flash.counters.parity_ways[usize::from(!by_rest)] += 1;
        self.set_whole(entry);
        self.read_lacking(flash, entry, rest, by_rest);
        self.write_if_read(flash, entry);
    }

    /// The data pages of a stripe that its entry does not cover, as far as there are such.
    pub(crate) fn uncovered_positions(&self, entry: ParityId) -> u64 {
        let array = self.array.as_ref().expect("it has an entry");
        let its = array.cache.get(entry);
        let lacks = |&(at, page): &(u32, Lpn)| {
            its.covered & bit(at) == 0 && self.flash_copy(page).is_some()
        };
        array.stripes.data_pages(its.stripe).filter(lacks).fold(0, |all, (at, _)| all | bit(at))
    }

    /// Which equation the parity of an entry is computed by: that which reads less, if all that it reads can be read;
    /// of the two one always can.
    pub(crate) fn readable_way(&self, entry: ParityId, rest: u64, by_rest: bool) -> bool {
        let array = self.array.as_ref().expect("it has an entry");
        if array.integrity.is_none() {
            return by_rest;
        }
        let its = array.cache.get(entry);
        let page = |at: u32| self.flash_copy(array.stripes.page(its.stripe, at));
        let parity = self.flash_copy(array.stripes.parity(its.stripe));
        if by_rest {
            let reads = |at: u32| rest & bit(at) == 0 || self.reads_well(page(at));
            return !its.based || (0..array.stripes.width()).all(reads);
        }
        let reads = |&ppn: &Ppn| !ppn.is_some() || self.reads_well(ppn);
        !(array.cache.all_replaced(entry).iter().all(reads) && reads(&parity))
    }

    /// What an entry lacks is read.
    pub(crate) fn read_lacking(
        &mut self,
        flash: &mut Flash,
        entry: ParityId,
        rest: u64,
        by_rest: bool,
    ) {
        let array = self.array.as_ref().expect("it has an entry");
        let (stripes, stripe) = (array.stripes, array.cache.get(entry).stripe);
        if by_rest {
            return self.read_positions(flash, entry, stripe, rest);
        }
        for position in 0..stripes.width() {
            let array = self.array.as_ref().expect("it has an entry");
            let replaced = array.cache.replaced(entry, position);
            self.read_for_parity(flash, entry, replaced);
        }
        self.read_for_parity(flash, entry, self.flash_copy(stripes.parity(stripe)));
    }

    /// The parity of all pages, from the tags of what an entry has and of what it reads.
    pub(crate) fn set_whole(&mut self, entry: ParityId) {
        let array = self.array.as_ref().expect("it has an entry");
        let its = array.cache.get(entry);
        let Some(integrity) = &array.integrity else { return };
        let rest = self.uncovered_positions(entry);
        let mut whole = its.value;
        if its.by_rest {
            for (position, page) in array.stripes.data_pages(its.stripe) {
                if rest & bit(position) != 0 {
                    whole ^= integrity.tag(self.flash_copy(page));
                }
            }
        } else {
            let replaced = array.cache.all_replaced(entry).iter();
            whole = replaced.fold(whole, |sum, &ppn| sum ^ integrity.tag(ppn));
            whole ^= integrity.tag(self.flash_copy(array.stripes.parity(its.stripe)));
        }
        self.array.as_mut().expect("it has an entry").cache.get_mut(entry).whole = whole;
    }

    /// A read that an entry needs has come; if without its data, another equation is read by now, or pages are lost.
    pub(crate) fn parity_read(&mut self, flash: &mut Flash, id: TxnId, entry: ParityId) {
        let Txn { ppn, epoch: turn, .. } = *flash.txns.get(id);
        if self.failed(flash, id) {
            self.read_others(flash, entry, ppn);
        } else {
            self.note_seen(entry, turn, ppn);
        }
        let done = flash.is_watched().then(|| *flash.txns.get(id));
        flash.txns.close(id);
        let array = self.array.as_mut().expect("it has an entry");
        let its = array.cache.get_mut(entry);
        its.reads -= 1;
        let progress = its.progress;
        if its.reads == 0 {
            its.blank = false;
            self.left(flash, entry);
        }
        let its = self.array.as_ref().expect("it has an entry").cache.get(entry);
        match progress {
            Progress::Open => {
                if its.reads == 0 {
                    self.note_awaited(flash, done, entry);
                    self.release_parked(flash, entry);
                    self.consider_commit(flash, entry);
                    self.make_room(flash);
                }
            }
            Progress::Reading => self.write_if_read(flash, entry),
            Progress::Writing => unreachable!("it has been read"),
        }
    }

    pub(crate) fn write_if_read(&mut self, flash: &mut Flash, entry: ParityId) {
        let array = self.array.as_mut().expect("it has an entry");
        let its = array.cache.get_mut(entry);
        if its.reads > 0 {
            return;
        }
        its.progress = Progress::Writing;
        self.note_computed(entry);
        self.write_parity(flash, entry);
    }

    /// What was computed is of no use any more: the entry takes in again what is written.
    pub(crate) fn reopen(&mut self, flash: &mut Flash, entry: ParityId) {
        self.array.as_mut().expect("it has an entry").cache.reopen(entry);
        self.consider_commit(flash, entry);
    }

    pub(crate) fn write_parity(&mut self, flash: &mut Flash, entry: ParityId) {
        let array = self.array.as_mut().expect("it has an entry");
        let its = array.cache.get_mut(entry);
        its.stalled = false;
        let page = array.stripes.parity(its.stripe);
        let (class, owner) = (TxnClass::HostProgram, Owner::Parity(entry));
        let (id, txn) = flash.open(Op::Program, Source::Parity, class, owner, DieId::NONE);
        txn.lpn = page;
        txn.group = 1;
        self.try_to_place(flash, id);
    }

    /// Parity gets its place in the flash; what lay there before is valid until it is programmed.
    pub(crate) fn take_parity_page(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        entry: ParityId,
        ppn: Ppn,
    ) {
        let array = self.array.as_mut().expect("it has an entry");
        let value = array.cache.get(entry).whole;
        if let Some(integrity) = &mut array.integrity {
            integrity.set(ppn, value);
        }
        self.occupy(flash, id, ppn);
    }

    /// A program of the array's own gets its page.
    pub(crate) fn occupy(&mut self, flash: &mut Flash, id: TxnId, ppn: Ppn) {
        let txn = flash.txns.get_mut(id);
        txn.ppn = ppn;
        txn.mode = self.space.frontiers.mode_of(self.locator.block_of(ppn));
        let (page, die) = (txn.lpn, txn.die);
        self.space.arrived(die);
        self.map.set_owner(ppn, page);
        let plane = self.locator.plane_of(ppn);
        self.collector.host_wrote(plane);
        self.maybe_start(flash, plane);
    }

    /// What was computed is to be computed once more: it need not be programmed.
    pub(crate) fn is_outdated(&self, entry: ParityId) -> bool {
        self.array.as_ref().expect("it has an entry").cache.get(entry).again
    }

    /// Parity is in the flash, or was not wanted any more.
    pub(crate) fn parity_stored(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        entry: ParityId,
        dropped: bool,
    ) {
        let Txn { lpn, ppn, die, .. } = *flash.txns.get(id);
        let done = flash.is_watched().then(|| *flash.txns.get(id));
        flash.txns.close(id);
        if dropped {
            self.space.arrived(die);
            self.reopen(flash, entry);
            return self.place_waiting(flash);
        }
        let array = self.array.as_mut().expect("it has an entry");
        let its = array.cache.get_mut(entry);
        if its.frail || its.again || its.stale {
            // What is computed may be all that brings a page back: it stays with what it was computed from.
            let (again, frail) = (its.again, its.frail);
            its.stale = false;
            its.stalled = !again;
            self.outdate(flash, ppn);
            self.close_block(flash, ppn);
            if again {
                self.reopen(flash, entry);
            } else if !frail {
                self.write_parity(flash, entry);
            }
            return;
        }
        let old = self.flash_copy(lpn);
        self.map.set_flash(lpn, ppn);
        self.outdate(flash, old);
        self.close_block(flash, ppn);
        self.note_awaited(flash, done, entry);
        self.finish(flash, entry);
    }

    /// What has been done for an entry is what those who wait for its parity waited for, if anybody watches.
    fn note_awaited(&self, flash: &mut Flash, done: Option<Txn>, entry: ParityId) {
        let Some(done) = done else { return };
        let array = self.array.as_ref().expect("it has an entry");
        let its = array.cache.get(entry);
        for mut waiter in [its.parked, its.first_waiting] {
            while waiter.is_some() {
                flash.note_awaited(&done, waiter);
                waiter = flash.txns.get(waiter).next;
            }
        }
        // Whose place it has taken.
        if let Some(&held) = array.held.front().filter(|_| done.op == Op::Program) {
            flash.note_awaited(&done, held);
        }
    }

    /// The parity of a stripe is as it should be: what was kept for it goes, and whoever waited goes on.
    pub(crate) fn finish(&mut self, flash: &mut Flash, entry: ParityId) {
        let width = self.array.as_ref().expect("it has an entry").stripes.width();
        for position in 0..width {
            let array = self.array.as_mut().expect("it has an entry");
            let kept = &mut array.cache.replaced_mut(entry)[position as usize];
            let old = std::mem::replace(kept, Ppn::NONE);
            self.outdate(flash, old);
        }
        self.release_parked(flash, entry);
        let array = self.array.as_mut().expect("it has an entry");
        let its = *array.cache.get(entry);
        array.cache.close(entry);
        if array.building == entry {
            array.building = ParityId::NONE;
        }
        self.drop_parity(flash, its.stripe);
        let mut waiting = its.first_waiting;
        while waiting.is_some() {
            let next = flash.txns.get(waiting).next;
            self.go_on(flash, waiting);
            waiting = next;
        }
        self.build_wanted(flash);
        self.let_held_go_on(flash);
        self.make_room(flash);
        self.place_waiting(flash);
        let array = self.array.as_mut().expect("it has an entry");
        if std::mem::take(&mut array.trims_wait) {
            self.resume_writes(flash);
        }
    }

    fn let_held_go_on(&mut self, flash: &mut Flash) {
        while let Some(array) = &mut self.array
            && array.cache.free_count() > 0
            && let Some(held) = array.held.pop_front()
        {
            self.go_on(flash, held);
        }
    }

    /// A program has waited for parity.
    fn go_on(&mut self, flash: &mut Flash, id: TxnId) {
        flash.has_waited_for_parity(id);
        flash.txns.get_mut(id).next = TxnId::NONE;
        self.proceed(flash, id);
    }

    /// A stripe whose data pages are all in trusted blocks needs its parity no more.
    pub(crate) fn drop_parity(&mut self, flash: &mut Flash, stripe: StripeId) {
        let array = self.array.as_ref().expect("it has stripes");
        if array.protects(stripe) || array.cache.find(stripe).is_some() || self.is_damaged(stripe) {
            return;
        }
        let page = array.stripes.parity(stripe);
        let old = self.flash_copy(page);
        self.map.set_flash(page, Ppn::NONE);
        self.outdate(flash, old);
    }

    // --- Answers that wait --------------------------------------------------------------------------

    /// Buffered data is in the flash. Returns whether its answer must wait for parity.
    #[inline]
    pub(crate) fn parks(&mut self, flash: &mut Flash, id: TxnId, slot: FrameId) -> bool {
        self.array.is_some() && self.waits_for_parity(flash, id, slot)
    }

    #[cold]
    fn waits_for_parity(&mut self, flash: &mut Flash, id: TxnId, slot: FrameId) -> bool {
        let page = self.buffer.get(slot).lpn;
        let array = self.array.as_mut().expect("asked before");
        let Some(entry) = array.cache.find(array.stripes.of(page)) else { return false };
        let its = array.cache.get_mut(entry);
        let kept = array.rules.commits == Commits::WhenEvicted && !its.hurried;
        if kept && its.reads == 0 || its.covered & bit(array.stripes.position(page)) == 0 {
            return false;
        }
        flash.defer(id);
        let before = std::mem::replace(&mut its.parked, id);
        flash.txns.get_mut(id).next = before;
        true
    }

    pub(crate) fn release_parked(&mut self, flash: &mut Flash, entry: ParityId) {
        let array = self.array.as_mut().expect("it has an entry");
        let its = array.cache.get_mut(entry);
        let mut parked = std::mem::replace(&mut its.parked, TxnId::NONE);
        while parked.is_some() {
            let next = flash.txns.get(parked).next;
            let Owner::Frame(slot) = flash.txns.get(parked).owner else {
                unreachable!("only buffered data waits")
            };
            self.settled(flash, parked, slot);
            parked = next;
        }
    }
}
