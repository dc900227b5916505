//! Faults, and what becomes of every page that cannot be read: it is rebuilt from its stripe, or the host writes it
//! anew before that, or it is lost. Which of its pages a stripe can still bring back is decided when a fault
//! strikes, so that at any later moment every page that is not lost can be.
//!
//! A unit that fails loses what it holds and goes on as a spare would. Data that the controller holds at that moment,
//! because it is on its way to the flash or between two places, is not touched.

use crate::cache::buffer::Listed;
use crate::device::Device;
use crate::flash::Flash;
use crate::flash::txn::{Op, Owner};
use crate::ftl::Ftl;
use crate::mapping::page_map::Location;
use crate::raid::integrity::Integrity;
use crate::raid::parity_cache::{Entry, Progress, bit};
use fowler_units::{BlockId, FrameId, Id, Lpn, Nanos, ParityId, PlaneId, Ppn, Span, StripeId};

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The copy of a page of the host in the flash.
    Page(Lpn),
    /// The parity page of a stripe.
    Parity(StripeId),
    /// A block.
    Block(BlockId),
    /// A plane.
    Plane(PlaneId),
    /// A chip, numbered channel by channel, with all its dies.
    Chip(u32),
    /// A channel, with all its chips.
    Channel(u32),
    /// The power, for a moment. What a die has begun to program runs to its end; what the caches hold is gone, unless
    /// they are protected, and so is what waits for a die.
    Power,
}

/// Why a page was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// Its stripe had no parity.
    Unprotected,
    /// Its stripe lacked another page, too.
    TwoInStripe,
    /// It was in a buffer that lost its power.
    Power,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Reason; 3] = [Reason::Unprotected, Reason::TwoInStripe, Reason::Power];

    /// Its name in JSON and tables.
    pub fn name(self) -> &'static str {
        ["unprotected", "two_in_stripe", "power"][self as usize]
    }
}

/// What became of pages that could not be read. All counts are of data pages; parity is data of nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossLedger {
    /// Faults that struck.
    pub faults: u64,
    /// Data pages that became unreadable.
    pub unreadable: u64,
    /// Of them, brought back from their stripes and programmed anew.
    pub rebuilt: u64,
    /// Of them, written anew or trimmed by the host before that.
    pub rewritten: u64,
    /// Of them, lost, by [`Reason`]; writes that were acknowledged and lost with the power are among the last.
    pub lost: [u64; Reason::ALL.len()],
    /// Of the lost, writes that were acknowledged and gone with the power before they were programmed.
    pub lost_writes: u64,
    /// Parity pages that became unreadable.
    pub parity_unreadable: u64,
    /// Stripes that had parity nowhere but in a cache that lost its power.
    pub parity_lost: u64,
    /// Pages that the rest of their stripe brought back as something else than was written: there are none
    /// (a law of [`Device::check`]).
    pub wrong: u64,
    /// Parities that went to the flash though what was read for them, with what was cached, does not make them: there are
    /// none (a law of [`Device::check`]).
    pub unread: u64,
    /// Host reads answered from the rest of a stripe.
    pub degraded_reads: u64,
    /// Host reads of pages that were lost.
    pub failed_reads: u64,
    /// Time during which some page waited to be rebuilt.
    pub at_risk: Span,
    /// Since when some page does.
    pub since: Option<Nanos>,
}

impl LossLedger {
    /// Data pages lost for any reason.
    pub fn lost_in_all(&self) -> u64 {
        self.lost.iter().sum()
    }
}

/// A physical page of a stripe: where it is, and its tag if it can be read.
pub type Cell = (Ppn, Option<u64>);

/// What a stripe consists of at a moment, for those who check what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StripeView {
    /// Its data pages, and what the flash has of each.
    pub data: Vec<(Lpn, Option<Cell>)>,
    /// Its parity in the flash.
    pub parity: Option<Cell>,
    /// What the parity cache has of it.
    pub cached: Option<CachedView>,
}

/// What the parity cache has of a stripe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedView {
    /// Of each data page: whether the cached parity covers it, and what it replaced that is kept.
    pub covered: Vec<(bool, Option<Cell>)>,
    /// Whether what was replaced and what is not covered make up the parity in the flash.
    pub based: bool,
    /// What covered pages replaced of each other, until what of it has to leave the parity has been read.
    pub leaving: Vec<Cell>,
    /// The parity of the covered pages and of those that leave; none while all of it is read anew.
    pub value: Option<u64>,
    /// The parity of all data pages, once it is computed.
    pub whole: Option<u64>,
    /// Whether a die has begun to program that.
    pub on_its_way: bool,
}

impl Device {
    /// Lets something fail. Needs tags: [`crate::policy::redundancy::Params::integrity`].
    ///
    /// # Panics
    /// If the drive has no tags, or the unit does not exist.
    pub fn inject(&mut self, fault: Fault) {
        assert!(self.ftl.integrity().is_some(), "faults need policy.redundancy.integrity");
        self.ftl.strike(&mut self.flash, fault);
        self.flash.settle(&mut self.ftl);
    }

    /// What became of pages that could not be read, on a drive with tags.
    pub fn losses(&self) -> Option<LossLedger> {
        let integrity = self.ftl.integrity()?;
        let mut ledger = integrity.ledger;
        ledger.at_risk += ledger.since.map_or(Span::ZERO, |since| self.now() - since);
        Some(ledger)
    }

    /// Why a page of the host is lost, if it is.
    pub fn lost(&self, page: Lpn) -> Option<Reason> {
        self.ftl.integrity()?.lost(self.ftl.stored_page(page))
    }

    /// Physical pages that are still to be rebuilt: the progress of rebuilding.
    pub fn to_rebuild(&self) -> u32 {
        let Some(array) = &self.ftl.array else { return 0 };
        array.integrity.as_ref().map_or(0, |its| its.to_rebuild()) + array.rescues.rebuilding()
    }

    /// Stripes of the drive; none where nothing is striped.
    pub fn stripes(&self) -> u32 {
        self.ftl.array.as_ref().map_or(0, |array| array.stripes.count())
    }

    /// A stripe as it is now.
    pub fn stripe(&self, stripe: StripeId) -> StripeView {
        let ftl = &self.ftl;
        let array = ftl.array.as_ref().expect("a drive with stripes");
        let integrity = ftl.integrity().expect("a drive with tags");
        let cell = |ppn: Ppn| {
            ppn.is_some().then(|| (ppn, integrity.reads(ppn).then(|| integrity.tag(ppn))))
        };
        let pages = || array.stripes.data_pages(stripe);
        let kept = |id: ParityId| {
            let its = array.cache.get(id);
            let of = |(at, _)| (its.covered & bit(at) != 0, cell(array.cache.replaced(id, at)));
            let computed = its.progress == Progress::Writing && !its.again;
            let leaving: Vec<Ppn> = array.leaving(id).collect();
            CachedView {
                covered: pages().map(of).collect(),
                based: its.based,
                value: (!its.blank).then(|| ftl.known_sum(its.value, &leaving)),
                leaving: leaving.into_iter().filter_map(cell).collect(),
                whole: computed.then_some(its.whole),
                on_its_way: computed && !its.stale && ftl.parity_has_begun(&self.flash, id),
            }
        };
        StripeView {
            data: pages()
                .map(|(_, page)| (array.stripes.host(page), cell(ftl.flash_copy(page))))
                .collect(),
            parity: cell(ftl.flash_copy(array.stripes.parity(stripe))),
            cached: array.cache.find(stripe).map(kept),
        }
    }

    /// The version of a page of the host that was written last.
    pub fn version(&self, page: Lpn) -> u64 {
        let stored = self.ftl.stored_page(page);
        self.ftl.integrity().map_or(0, |its| its.version(stored))
    }

    /// Whether the controller holds a page of the host, on its way to the flash or from it.
    pub fn is_buffered(&self, page: Lpn) -> bool {
        matches!(self.ftl.map.place(self.ftl.stored_page(page)), Location::Buffer(_))
    }

    /// Whether the controller holds the data of a physical page: it is being programmed, or moved.
    pub fn is_at_hand(&self, ppn: Ppn) -> bool {
        self.ftl.is_at_hand(&self.flash, ppn)
    }

    /// Whether only the buffer holds what was acknowledged of a page: no die has begun to program it.
    pub fn is_dirty(&self, page: Lpn) -> bool {
        match self.ftl.map.place(self.ftl.stored_page(page)) {
            Location::Buffer(slot) => self.ftl.is_only_here(&self.flash, slot),
            _ => false,
        }
    }
}

/// The unknown pages of a stripe, to find out which can be brought back.
struct Unknowns {
    /// Data pages, a bit each.
    current: u64,
    /// Whether what was replaced, or the parity in the flash, lacks something.
    before: u32,
}

impl Unknowns {
    /// What is left unknown: each equation that lacks but one of its pages gives that page.
    fn left(mut self, entry: Option<&Entry>, based: bool) -> u64 {
        let covered = entry.map_or(0, |entry| entry.covered);
        let known = entry.is_some_and(|entry| !entry.blank);
        loop {
            let cached = self.current & covered;
            let rest = self.current & !covered;
            let before = self.current;
            if known && cached.count_ones() == 1 {
                self.current &= !cached;
            }
            if based && rest.count_ones() + self.before == 1 {
                self.current &= !rest;
                self.before = 0;
            }
            let computed = entry.is_some_and(|it| it.progress == Progress::Writing && !it.again);
            // The parity of all pages, and with that of the covered ones taken away that of the rest.
            if computed && self.current.count_ones() == 1 {
                self.current = 0;
            }
            if computed && (self.current & !covered).count_ones() == 1 {
                self.current &= covered;
            }
            if self.current == before || self.current == 0 {
                return self.current;
            }
        }
    }
}

impl Ftl {
    #[inline]
    pub(crate) fn integrity(&self) -> Option<&Integrity> {
        self.array.as_ref().and_then(|array| array.integrity.as_deref())
    }

    fn is_at_hand(&self, flash: &Flash, ppn: Ppn) -> bool {
        let programs = |txn: &crate::flash::txn::Txn| {
            let of_flash = matches!(txn.owner, Owner::Job | Owner::DegradedRead(_));
            txn.op == Op::Program && (txn.ppn == ppn || (of_flash && txn.from == ppn))
        };
        flash.txns.iter().any(|(_, txn)| programs(txn))
    }

    fn strike(&mut self, flash: &mut Flash, fault: Fault) {
        self.integrity_mut().expect("asked before").ledger.faults += 1;
        let geometry = self.layout.geometry;
        let pages_of =
            |from: BlockId, to: BlockId| geometry.first_page(from).0..geometry.first_page(to).0;
        let dies = |from: u32, to: u32| {
            let each = geometry.planes_per_die * geometry.blocks_per_plane;
            pages_of(BlockId(from * each), BlockId(to * each))
        };
        let range = match fault {
            Fault::Page(page) => {
                let ppn = self.flash_copy(self.stored_page(page));
                if ppn.is_some() { ppn.0..ppn.0 + 1 } else { 0..0 }
            }
            Fault::Parity(stripe) => {
                let stripes = self.array.as_ref().expect("it has tags").stripes;
                let ppn = self.flash_copy(stripes.parity(stripe));
                if ppn.is_some() { ppn.0..ppn.0 + 1 } else { 0..0 }
            }
            Fault::Block(block) => pages_of(block, BlockId(block.0 + 1)),
            Fault::Plane(plane) => {
                let first = plane.0 * geometry.blocks_per_plane;
                pages_of(BlockId(first), BlockId(first + geometry.blocks_per_plane))
            }
            Fault::Chip(chip) => {
                assert!(chip < geometry.chips(), "chip {chip} of {}", geometry.chips());
                dies(chip * geometry.dies_per_chip, (chip + 1) * geometry.dies_per_chip)
            }
            Fault::Channel(channel) => {
                assert!(channel < geometry.channels, "channel {channel} of {}", geometry.channels);
                let each = geometry.dies_per_channel();
                dies(channel * each, (channel + 1) * each)
            }
            Fault::Power => {
                self.lose_power(flash);
                return;
            }
        };
        let spoilt: Vec<Ppn> = range
            .map(Ppn)
            .filter(|&ppn| self.space.blocks.is_valid(ppn) && self.reads_well(ppn))
            .filter(|&ppn| !self.is_at_hand(flash, ppn))
            .collect();
        self.spoil(flash, &spoilt);
    }

    /// Physical pages cannot be read any more.
    pub(crate) fn spoil(&mut self, flash: &mut Flash, pages: &[Ppn]) {
        let stripes = self.array.as_ref().expect("it has tags").stripes;
        let mut struck: Vec<StripeId> = Vec::with_capacity(pages.len());
        let mut blank: Vec<StripeId> = Vec::new();
        for &ppn in pages {
            let page = self.map.owner(ppn);
            let current = self.flash_copy(page) == ppn;
            let integrity = self.integrity_mut().expect("it has tags");
            integrity.spoil(ppn);
            if stripes.is_parity(page) {
                integrity.ledger.parity_unreadable += 1;
            } else if current {
                integrity.ledger.unreadable += 1;
            }
            struck.push(stripes.of(page));
            if self.leaves_no_more(flash, ppn) {
                blank.push(stripes.of(page));
            }
        }
        struck.sort_unstable();
        struck.dedup();
        // First everything is given up that must be: what follows makes other stripes go on.
        let lacking: Vec<(StripeId, u64)> =
            struck.into_iter().map(|stripe| (stripe, self.weigh(flash, stripe))).collect();
        for (stripe, lost) in lacking {
            if blank.contains(&stripe) {
                self.read_covered(flash, stripe, lost);
            }
            if lost != 0 {
                self.mend(flash, stripe, lost);
            }
            if !self.drop_useless_base(flash, stripe) && lost == 0 {
                self.read_another_way(flash, stripe);
            }
            self.look_whether_frail(flash, stripe);
        }
        self.rebuild(flash);
        self.evict(flash);
    }

    /// The unreadable data pages of a stripe that no equation gives, a bit each.
    pub(crate) fn beyond_help(&self, stripe: StripeId) -> u64 {
        let array = self.array.as_ref().expect("it has tags");
        let entry = array.cache.find(stripe);
        let its = entry.map(|id| *array.cache.get(id));
        let parity = self.flash_copy(array.stripes.parity(stripe));
        let mut unknown = Unknowns { current: self.unread_positions(stripe), before: 0 };
        if let Some(id) = entry {
            let kept = array.cache.all_replaced(id).iter();
            unknown.before =
                kept.filter(|&&ppn| ppn.is_some() && !self.reads_well(ppn)).count() as u32;
        }
        unknown.before += u32::from(parity.is_some() && !self.reads_well(parity));
        let based = its.map_or(parity.is_some(), |it| it.based);
        unknown.left(its.as_ref(), based)
    }

    /// Finds out which pages of a stripe cannot be brought back, gives them up and returns them.
    fn weigh(&mut self, flash: &mut Flash, stripe: StripeId) -> u64 {
        let lost = self.beyond_help(stripe);
        let array = self.array.as_ref().expect("it has tags");
        let its = array.cache.find(stripe).map(|id| *array.cache.get(id));
        let parity = self.flash_copy(array.stripes.parity(stripe));
        let based = its.map_or(parity.is_some(), |it| it.based);
        let protected = based || its.is_some_and(|it| it.covered & lost == lost);
        let reason = if protected { Reason::TwoInStripe } else { Reason::Unprotected };
        let (stripes, mut left) = (array.stripes, lost);
        while left != 0 {
            let page = stripes.page(stripe, left.trailing_zeros());
            left &= left - 1;
            self.lose(flash, page, reason);
        }
        lost
    }

    /// Whether two pages of a stripe whose parity is cached cannot be read may have changed.
    pub(crate) fn look_whether_frail(&mut self, flash: &mut Flash, stripe: StripeId) {
        let Some(array) = self.array.as_ref().filter(|array| array.integrity.is_some()) else {
            return;
        };
        let Some(id) = array.cache.find(stripe) else { return };
        let frail = self.unread_positions(stripe).count_ones() > 1;
        let its = &mut self.array.as_mut().expect("it has tags").cache.get_mut(id).frail;
        let was = std::mem::replace(its, frail);
        if was && !frail {
            if self.array.as_ref().expect("it has tags").cache.get(id).stalled {
                self.write_parity(flash, id);
            } else {
                self.consider_commit(flash, id);
                self.make_room(flash);
            }
        }
    }

    /// The copy of a page in the flash is lost.
    pub(crate) fn lose(&mut self, flash: &mut Flash, page: Lpn, reason: Reason) {
        let ppn = self.flash_copy(page);
        self.count_wear(page, ppn, Ppn::NONE);
        let held = match self.map.place(page) {
            Location::Buffer(slot) => self.keep_from_buffer(slot),
            _ => {
                self.map.set_flash(page, Ppn::NONE);
                false
            }
        };
        self.outdate(flash, ppn);
        let integrity = self.integrity_mut().expect("it has tags");
        if held {
            integrity.ledger.rewritten += 1;
        } else {
            integrity.lose(page, reason);
            integrity.ledger.lost[reason as usize] += 1;
        }
    }

    /// The flash has lost a page that the buffer holds: it is written anew from there. Returns whether the buffer
    /// holds all of it.
    fn keep_from_buffer(&mut self, slot: FrameId) -> bool {
        let frame = self.buffer.get_mut(slot);
        frame.ppn = Ppn::NONE;
        let (page, programs) = (frame.lpn, frame.programs);
        if frame.queued.is_some() || frame.listed == Listed::Dirty {
            return true; // What was lost is older than what is to be programmed.
        }
        // What was lost has just been programmed, and waits for parity: all of it was here.
        let whole = self.buffer.is_whole(slot) || programs > 0;
        self.buffer.delist(slot);
        if whole {
            self.buffer.make_whole(slot);
            self.buffer.get_mut(slot).epoch = self.buffer.born();
            self.buffer.enlist(slot, Listed::Dirty);
        } else {
            self.map.set_flash(page, Ppn::NONE);
            self.buffer.release(slot);
        }
        if whole && programs == 0 {
            self.buffer.stay(slot);
        }
        whole
    }

    /// A stripe has lost pages: the equations that hold them are of no use any more. That of the cached parity is made
    /// anew from the covered pages that are left, and then all parity from that.
    fn mend(&mut self, flash: &mut Flash, stripe: StripeId, lost: u64) {
        let array = self.array.as_ref().expect("it has tags");
        let page = array.stripes.parity(stripe);
        let Some(id) = array.cache.find(stripe) else {
            self.drop_page(flash, page);
            if self.needs_parity(stripe) {
                self.begin_parity(flash, stripe, None);
            }
            return;
        };
        let covered = array.cache.get(id).covered;
        if lost & !covered != 0 {
            self.drop_base(flash, id);
        }
        if lost & covered != 0 {
            self.cover_anew(flash, id);
        }
        let its = *self.array.as_ref().expect("it has tags").cache.get(id);
        match its.progress {
            Progress::Open => self.consider_commit(flash, id),
            Progress::Reading => self.read_rest(flash, id, lost & !covered != 0),
            Progress::Writing if lost & !covered == 0 && !its.again => {
                let entry = self.array.as_mut().expect("it has tags").cache.get_mut(id);
                entry.stale = !its.stalled;
                if its.stalled && !its.frail {
                    self.write_parity(flash, id);
                }
            }
            Progress::Writing if its.stalled => self.reopen(flash, id),
            // It is computed and on its way, with what is lost by now.
            Progress::Writing => {
                self.array.as_mut().expect("it has tags").cache.get_mut(id).again = true;
            }
        }
    }

    /// A page of the mapping has no copy in the flash any more.
    fn drop_page(&mut self, flash: &mut Flash, page: Lpn) {
        let old = self.flash_copy(page);
        self.map.set_flash(page, Ppn::NONE);
        self.outdate(flash, old);
    }

    /// The stripe cannot be had as it was before any more.
    fn drop_base(&mut self, flash: &mut Flash, id: ParityId) {
        let array = self.array.as_mut().expect("it has an entry");
        let its = array.cache.get_mut(id);
        (its.based, its.hurried) = (false, true);
        let page = array.stripes.parity(its.stripe);
        let kept: Vec<Ppn> = array.cache.all_replaced(id).to_vec();
        array.cache.replaced_mut(id).fill(Ppn::NONE);
        kept.into_iter().for_each(|ppn| self.outdate(flash, ppn));
        self.drop_page(flash, page);
    }

    /// The cached parity is computed from the covered pages that are left.
    fn cover_anew(&mut self, flash: &mut Flash, id: ParityId) {
        let array = self.array.as_ref().expect("it has an entry");
        let (its, stripes) = (*array.cache.get(id), array.stripes);
        let mut value = 0;
        for (at, page) in stripes.data_pages(its.stripe) {
            if its.covered & bit(at) != 0 {
                value ^= self.integrity().map_or(0, |tags| tags.tag(self.flash_copy(page)));
            }
        }
        let entry = self.array.as_mut().expect("it has an entry").cache.get_mut(id);
        // With what was lost taken out of it, and nothing else.
        entry.whole ^= entry.value ^ value;
        (entry.value, entry.hurried) = (value, true);
        if its.progress != Progress::Writing {
            self.read_anew(flash, id, its.covered);
        }
    }

    /// What an entry has is gone with the power: it begins from nothing.
    pub(crate) fn forget_parity(&mut self, flash: &mut Flash, id: ParityId) {
        self.drop_base(flash, id);
        let cache = &mut self.array.as_mut().expect("it has an entry").cache;
        if cache.get(id).stalled {
            cache.reopen(id);
        }
        let array = self.array.as_mut().expect("it has an entry");
        let its = array.cache.get_mut(id);
        (its.covered, its.value, its.by_rest, its.blank) = (0, 0, true, false);
        let (stripe, progress) = (its.stripe, its.progress);
        self.left(flash, id);
        match progress {
            Progress::Open => self.consider_commit(flash, id),
            Progress::Reading => {
                let all = self.held_positions(stripe);
                self.set_whole(id);
                self.begin_turn(id);
                self.read_positions(flash, id, stripe, all);
            }
            // What is on its way is computed once more when it is there.
            Progress::Writing => {
                let its = self.array.as_mut().expect("it has an entry").cache.get_mut(id);
                its.again = true;
            }
        }
    }

    fn begin_turn(&mut self, id: ParityId) {
        self.array.as_mut().expect("it has an entry").cache.begin_turn(id);
    }

    /// The data pages of a stripe that the flash has, a bit each.
    fn held_positions(&self, stripe: StripeId) -> u64 {
        let stripes = self.array.as_ref().expect("it has stripes").stripes;
        let lies = |&(_, page): &(u32, Lpn)| self.flash_copy(page).is_some();
        stripes.data_pages(stripe).filter(lies).fold(0, |all, (at, _)| all | bit(at))
    }

    /// What the flash had of a stripe before lacks two of its pages: it gives none of them, and nothing need keep it.
    fn drop_useless_base(&mut self, flash: &mut Flash, stripe: StripeId) -> bool {
        let array = self.array.as_ref().expect("it has tags");
        let Some(id) = array.cache.find(stripe).filter(|&id| array.cache.get(id).based) else {
            return false;
        };
        let covered = array.cache.get(id).covered;
        let rest = array.stripes.data_pages(stripe).filter(|&(at, _)| covered & bit(at) == 0);
        let rest = rest.map(|(_, page)| self.flash_copy(page));
        let parity = self.flash_copy(array.stripes.parity(stripe));
        let all = rest.chain(array.cache.all_replaced(id).iter().copied()).chain([parity]);
        if all.filter(|&ppn| ppn.is_some() && !self.reads_well(ppn)).count() < 2 {
            return false;
        }
        self.drop_base(flash, id);
        match self.array.as_ref().expect("it has tags").cache.get(id).progress {
            Progress::Open => self.consider_commit(flash, id),
            Progress::Reading => self.read_rest(flash, id, false),
            Progress::Writing => {}
        }
        true
    }

    /// What an entry computes its parity from was dropped, or some of the rest of the stripe is lost and may have been
    /// read: the rest is read instead, or once more.
    fn read_rest(&mut self, flash: &mut Flash, id: ParityId, lost: bool) {
        let its = self.array.as_mut().expect("it has tags").cache.get_mut(id);
        if !its.based && (!std::mem::replace(&mut its.by_rest, true) || lost) {
            self.begin_turn(id);
            let rest = self.uncovered_positions(id);
            self.read_lacking(flash, id, rest, true);
        }
        self.set_whole(id);
    }

    /// What is being read for parity cannot be read any more: the other equation needs none of it.
    fn read_another_way(&mut self, flash: &mut Flash, stripe: StripeId) {
        let array = self.array.as_ref().expect("it has tags");
        let Some(id) = array.cache.find(stripe) else { return };
        let its = *array.cache.get(id);
        if its.progress != Progress::Reading {
            return;
        }
        let rest = self.uncovered_positions(id);
        let by_rest = self.readable_way(id, rest, its.by_rest);
        if by_rest != its.by_rest {
            self.array.as_mut().expect("it has an entry").cache.get_mut(id).by_rest = by_rest;
            self.begin_turn(id);
            self.read_lacking(flash, id, rest, by_rest);
        }
    }
}
