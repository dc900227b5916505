//! Faults, and the fate of every unreadable page: it is rebuilt from its stripe, rewritten by the
//! host before that, or lost. The pages that a stripe can still recover are determined when a fault
//! strikes, so that at any later time every page that is not lost can be recovered.
//!
//! A failed unit loses its contents and continues as a spare would. Data that is in the controller
//! at that moment, because it is on its way to the flash or being moved, is not affected.

use super::Raid;
use super::parity_cache::{Entry, Progress, bit};
use crate::cache::buffer::Listed;
use crate::core::Core;
use crate::flash::Flash;
use crate::flash::txn::{Owner, Txn};
use crate::host::Ftl;
use crate::mapping::page_map::Location;
use crate::observe::operation::Op;
use fowler_units::{
    BlockId, FrameId, Id, Lpn, Nanos, ParityId, PlaneId, Ppn, Span, StripeId, UnitId,
};

/// A failing unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A host page's copy in the flash.
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
    /// The power, for a moment. Programs that a die has begun are completed. The contents of
    /// unprotected caches and programs waiting for a die are lost.
    Power,
    /// The controller itself: for testing that its bugs are noticed.
    Bug(Bug),
}

/// A bug in the handling of parity, injected to see that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Algorithms 1 and 2 of DA-RAID-5 as printed: each of them loses data.
    AsPrinted,
    /// This many of the pages that parity needs are not read.
    SkippedReads(u32),
}

/// The active bugs: none, unless injected.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bugs {
    pub as_printed: bool,
    pub skipped_reads: u32,
}

impl Bugs {
    pub fn add(&mut self, bug: Bug) {
        match bug {
            Bug::AsPrinted => self.as_printed = true,
            Bug::SkippedReads(reads) => self.skipped_reads = reads,
        }
    }
}

/// Why a page was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// Its stripe had no parity.
    Unprotected,
    /// Another page of its stripe was unreadable too.
    TwoInStripe,
    /// It was in a buffer that lost power.
    Power,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Reason; 3] = [Reason::Unprotected, Reason::TwoInStripe, Reason::Power];

    /// Returns its name in JSON and tables.
    pub fn name(self) -> &'static str {
        ["unprotected", "two_in_stripe", "power"][self as usize]
    }
}

fowler_units::enumerated! {
    Reason:
    /// A value for each reason.
    pub ByReason
}

/// The fate of pages that could not be read. All counts are of data pages only; parity pages hold
/// no host data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossLedger {
    /// Faults that struck.
    pub faults: u64,
    /// Data pages that became unreadable.
    pub unreadable: u64,
    /// Of them, recovered from their stripes and reprogrammed.
    pub rebuilt: u64,
    /// Of them, rewritten or trimmed by the host before that.
    pub rewritten: u64,
    /// Of them, lost, by [`Reason`]; acknowledged writes lost with the power are counted under
    /// [`Reason::Power`].
    pub lost: ByReason<u64>,
    /// Of the lost pages, acknowledged writes that were lost with the power before they were
    /// programmed.
    pub lost_writes: u64,
    /// Parity pages that became unreadable.
    pub parity_unreadable: u64,
    /// Stripes whose only parity was in a cache that lost power.
    pub parity_lost: u64,
    /// Pages whose recovered data differs from what was written: always zero (a law of
    /// [`crate::Device::check`]).
    pub wrong: u64,
    /// Parity pages written to the flash that do not match the data read and cached for them:
    /// always zero (a law of [`crate::Device::check`]).
    pub unread: u64,
    /// Host reads answered from the rest of a stripe.
    pub degraded_reads: u64,
    /// Host reads of pages that were lost.
    pub failed_reads: u64,
    /// Time during which some page was waiting to be rebuilt.
    pub at_risk: Span,
    /// The time since which some page has been waiting.
    pub since: Option<Nanos>,
}

impl LossLedger {
    /// Returns the number of data pages lost for any reason.
    pub fn lost_in_all(&self) -> u64 {
        self.lost.sum()
    }
}

/// A physical page of a stripe: its location, and its version if it can be read.
pub type Cell = (Ppn, Option<u64>);

/// The present contents of a stripe, for checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StripeView {
    /// Its data pages, and the copy of each in the flash.
    pub data: Vec<(Lpn, Option<Cell>)>,
    /// Its parity in the flash.
    pub parity: Option<Cell>,
    /// Its entry in the parity cache.
    pub cached: Option<CachedView>,
}

/// A stripe's entry in the parity cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedView {
    /// For each data page: whether the cached parity covers it, and the retained page that it
    /// replaced.
    pub covered: Vec<(bool, Option<Cell>)>,
    /// Whether the parity in the flash is that of the replaced pages and the pages not covered.
    pub based: bool,
    /// Superseded copies of covered pages, retained until they have been read and removed from the
    /// parity.
    pub deltas: Vec<Cell>,
    /// The parity of the covered pages and of those that leave; `None` while all of it is being
    /// reread.
    pub value: Option<u64>,
    /// The parity of all data pages, once it has been computed.
    pub whole: Option<u64>,
    /// Whether a die has begun to program that parity.
    pub on_its_way: bool,
}

/// The unreadable pages of a stripe, for determining which can be recovered.
struct Unknowns {
    /// The unreadable data pages, one bit each.
    current: u64,
    /// The number of unreadable pages among the replaced pages and the parity in the flash.
    before: u32,
}

impl Unknowns {
    /// Returns the pages that remain unknown: an equation with a single unknown page yields that
    /// page.
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
            // The parity of all pages; XORed with that of the covered pages, it is that of the
            // rest.
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

impl Raid {
    /// Counts a fault.
    pub(crate) fn count_fault(&mut self) {
        if let Some(integrity) = &mut self.integrity {
            integrity.ledger.faults += 1;
        }
    }

    /// Makes units of the flash fail.
    /// See docs/decisions/raid.md, "What happens to a failed chip?".
    pub(crate) fn strike(&mut self, ftl: &mut Ftl, flash: &mut Flash, fault: Fault) {
        let geometry = ftl.core.layout.geometry;
        let locator = ftl.core.locator;
        let pages_of =
            |from: BlockId, to: BlockId| locator.units_of(from).start..locator.units_of(to).start;
        let dies = |from: u32, to: u32| {
            let each = geometry.planes_per_die * geometry.blocks_per_plane;
            pages_of(BlockId(from * each), BlockId(to * each))
        };
        let range = match fault {
            Fault::Page(page) => {
                let unit = ftl.core.flash_copy(self.stripes.stored(page));
                if unit.is_some() { unit.0..unit.0 + 1 } else { 0..0 }
            }
            Fault::Parity(stripe) => {
                let stripes = self.stripes;
                let unit = ftl.core.flash_copy(stripes.parity(stripe));
                if unit.is_some() { unit.0..unit.0 + 1 } else { 0..0 }
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
            Fault::Power | Fault::Bug(_) => unreachable!("handled by the controller"),
        };
        let spoilt: Vec<UnitId> = range
            .map(UnitId)
            .filter(|&unit| ftl.core.allocator.blocks.is_valid(unit) && self.reads_well(unit))
            .filter(|&unit| !is_at_hand(flash, unit))
            .collect();
        self.spoil(ftl, flash, &spoilt);
    }

    /// Marks physical pages as unreadable and handles the consequences.
    pub(crate) fn spoil(&mut self, ftl: &mut Ftl, flash: &mut Flash, pages: &[UnitId]) {
        let stripes = self.stripes;
        let mut struck: Vec<StripeId> = Vec::with_capacity(pages.len());
        let mut blank: Vec<StripeId> = Vec::new();
        for &unit in pages {
            let page = ftl.core.map.owner(unit);
            let current = ftl.core.flash_copy(page) == unit;
            let integrity = self.integrity.as_deref_mut().expect("integrity is checked");
            integrity.spoil(unit);
            if stripes.is_parity(page) {
                integrity.ledger.parity_unreadable += 1;
            } else if current {
                integrity.ledger.unreadable += 1;
            }
            struck.push(stripes.of(page));
            if self.leaves_no_more(ftl, flash, unit) {
                blank.push(stripes.of(page));
            }
        }
        struck.sort_unstable();
        struck.dedup();
        // First give up all pages that are lost: the later steps let other stripes continue.
        let lacking: Vec<(StripeId, u64)> =
            struck.into_iter().map(|stripe| (stripe, self.weigh(ftl, flash, stripe))).collect();
        for (stripe, lost) in lacking {
            if blank.contains(&stripe) {
                self.read_covered(ftl, flash, stripe, lost);
            }
            if lost != 0 {
                self.mend(ftl, flash, stripe, lost);
            }
            if !self.drop_useless_base(ftl, flash, stripe) && lost == 0 {
                self.read_another_way(ftl, flash, stripe);
            }
            self.look_whether_frail(ftl, flash, stripe);
        }
        self.rebuild(ftl, flash);
        ftl.evict(flash, self);
    }

    /// Returns the unreadable data pages of a stripe that no equation yields, one bit each.
    pub(crate) fn beyond_help(&self, core: &Core, stripe: StripeId) -> u64 {
        let entry = self.cache.find(stripe);
        let its = entry.map(|id| *self.cache.get(id));
        let parity = core.flash_copy(self.stripes.parity(stripe));
        let mut unknown = Unknowns { current: self.unread_positions(core, stripe), before: 0 };
        if let Some(id) = entry {
            let kept = self.cache.all_replaced(id).iter();
            unknown.before =
                kept.filter(|&&unit| unit.is_some() && !self.reads_well(unit)).count() as u32;
        }
        unknown.before += u32::from(parity.is_some() && !self.reads_well(parity));
        let based = its.map_or(parity.is_some(), |it| it.based);
        unknown.left(its.as_ref(), based)
    }

    /// Gives up the pages of a stripe that cannot be recovered, and returns them.
    fn weigh(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId) -> u64 {
        let lost = self.beyond_help(&ftl.core, stripe);
        let its = self.cache.find(stripe).map(|id| *self.cache.get(id));
        let parity = ftl.core.flash_copy(self.stripes.parity(stripe));
        let based = its.map_or(parity.is_some(), |it| it.based);
        let protected = based || its.is_some_and(|it| it.covered & lost == lost);
        let reason = if protected { Reason::TwoInStripe } else { Reason::Unprotected };
        let (stripes, mut left) = (self.stripes, lost);
        while left != 0 {
            let page = stripes.page(stripe, left.trailing_zeros());
            left &= left - 1;
            self.lose(ftl, flash, page, reason);
        }
        lost
    }

    /// Updates whether a stripe with cached parity has two unreadable pages.
    /// See docs/decisions/raid.md, "What if two pages of a cached stripe are unreadable?".
    #[inline]
    pub(crate) fn look_whether_frail(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        stripe: StripeId,
    ) {
        if self.integrity.is_some() {
            self.find_whether_frail(ftl, flash, stripe);
        }
    }

    #[cold]
    fn find_whether_frail(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId) {
        let Some(id) = self.cache.find(stripe) else { return };
        let frail = self.unread_positions(&ftl.core, stripe).count_ones() > 1;
        let its = &mut self.cache.get_mut(id).frail;
        let was = std::mem::replace(its, frail);
        if was && !frail {
            if self.cache.get(id).stalled {
                self.write_parity(ftl, flash, id);
            } else {
                self.maybe_flush(ftl, flash, id);
                self.make_room(ftl, flash);
            }
        }
    }

    /// Gives up the copy of a page in the flash.
    pub(crate) fn lose(&mut self, ftl: &mut Ftl, flash: &mut Flash, page: Lpn, reason: Reason) {
        let unit = ftl.core.flash_copy(page);
        self.count_wear(ftl, page, unit, UnitId::NONE);
        let held = match ftl.core.map.place(page) {
            Location::Buffer(frame_id) => self.keep_from_buffer(ftl, frame_id),
            _ => {
                ftl.core.map.set_flash(page, UnitId::NONE);
                false
            }
        };
        ftl.invalidate(flash, unit);
        let integrity = self.integrity.as_deref_mut().expect("integrity is checked");
        if held {
            integrity.ledger.rewritten += 1;
        } else {
            integrity.lose(page, reason);
            integrity.ledger.lost[reason] += 1;
        }
    }

    /// Handles the loss of the flash copy of a buffered page, by rewriting it from the buffer.
    /// Returns whether the buffer holds the complete page.
    fn keep_from_buffer(&mut self, ftl: &mut Ftl, frame_id: FrameId) -> bool {
        let frame = ftl.core.buffer.get_mut(frame_id);
        frame.unit = UnitId::NONE;
        let (page, programs) = (frame.lpn, frame.programs);
        if frame.queued.is_some() || frame.listed == Listed::Dirty {
            return true; // The lost copy is older than the data to be programmed.
        }
        // The lost copy has just been programmed and waits for parity: all of it was in this frame.
        let whole = ftl.core.buffer.is_whole(frame_id) || programs > 0;
        ftl.core.buffer.delist(frame_id);
        if whole {
            ftl.core.buffer.make_whole(frame_id);
            ftl.core.buffer.get_mut(frame_id).epoch = ftl.core.buffer.born();
            ftl.core.buffer.enlist(frame_id, Listed::Dirty);
        } else {
            ftl.core.map.set_flash(page, UnitId::NONE);
            ftl.core.buffer.release(frame_id);
        }
        if whole && programs == 0 {
            ftl.core.buffer.stay(frame_id);
        }
        whole
    }

    /// Handles lost pages of a stripe, which make the equations that contain them useless. The
    /// cached parity is recomputed from the remaining covered pages, and then the stripe's parity
    /// from that.
    fn mend(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId, lost: u64) {
        let page = self.stripes.parity(stripe);
        let Some(id) = self.cache.find(stripe) else {
            self.drop_page(ftl, flash, page);
            if self.needs_parity(&ftl.core, stripe) {
                self.begin_parity(ftl, flash, stripe, None);
            }
            return;
        };
        let covered = self.cache.get(id).covered;
        if lost & !covered != 0 {
            self.drop_base(ftl, flash, id);
        }
        if lost & covered != 0 {
            self.cover_anew(ftl, flash, id);
        }
        let its = *self.cache.get(id);
        match its.progress {
            Progress::Open => self.maybe_flush(ftl, flash, id),
            Progress::Reading => self.read_rest(ftl, flash, id, lost & !covered != 0),
            Progress::Writing if lost & !covered == 0 && !its.again => {
                let entry = self.cache.get_mut(id);
                entry.stale = !its.stalled;
                if its.stalled && !its.frail {
                    self.write_parity(ftl, flash, id);
                }
            }
            Progress::Writing if its.stalled => self.reopen(ftl, flash, id),
            // The parity is computed and being written, and includes pages that are now lost.
            Progress::Writing => {
                self.cache.get_mut(id).again = true;
            }
        }
    }

    /// Drops the flash copy of a page of the mapping.
    fn drop_page(&mut self, ftl: &mut Ftl, flash: &mut Flash, page: Lpn) {
        let old = ftl.core.flash_copy(page);
        ftl.core.map.set_flash(page, UnitId::NONE);
        ftl.invalidate(flash, old);
    }

    /// Drops the data from which the earlier state of the stripe could be restored.
    fn drop_base(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: ParityId) {
        let its = self.cache.get_mut(id);
        (its.based, its.expedited) = (false, true);
        (its.early_asked, its.early, its.uncovered) = (0, 0, 0);
        let page = self.stripes.parity(its.stripe);
        let kept: Vec<UnitId> = self.cache.all_replaced(id).to_vec();
        self.cache.replaced_mut(id).fill(UnitId::NONE);
        kept.into_iter().for_each(|unit| ftl.invalidate(flash, unit));
        self.drop_page(ftl, flash, page);
    }

    /// Recomputes the cached parity from the remaining covered pages.
    fn cover_anew(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: ParityId) {
        let (its, stripes) = (*self.cache.get(id), self.stripes);
        let mut value = 0;
        for (at, page) in stripes.data_pages(its.stripe) {
            if its.covered & bit(at) != 0 {
                value ^= self
                    .integrity
                    .as_deref()
                    .map_or(0, |versions| versions.version_at(ftl.core.flash_copy(page)));
            }
        }
        let entry = self.cache.get_mut(id);
        // Removes the contribution of the lost pages, and nothing else.
        entry.whole ^= entry.value ^ value;
        (entry.value, entry.expedited) = (value, true);
        if its.progress != Progress::Writing {
            self.read_anew(ftl, flash, id, its.covered);
        }
    }

    /// Resets an entry whose contents were lost with the power.
    pub(crate) fn forget_parity(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: ParityId) {
        self.drop_base(ftl, flash, id);
        let cache = &mut self.cache;
        if cache.get(id).stalled {
            cache.reopen(id);
        }
        let its = self.cache.get_mut(id);
        (its.covered, its.value, its.by_rest, its.blank) = (0, 0, true, false);
        let (stripe, progress) = (its.stripe, its.progress);
        self.left(ftl, flash, id);
        match progress {
            Progress::Open => self.maybe_flush(ftl, flash, id),
            Progress::Reading => {
                let all = self.held_positions(&ftl.core, stripe);
                self.set_whole(ftl, id);
                self.begin_turn(id);
                self.read_positions(ftl, flash, id, stripe, all);
            }
            // The parity being written is computed again once that ends.
            Progress::Writing => {
                let its = self.cache.get_mut(id);
                its.again = true;
            }
        }
    }

    fn begin_turn(&mut self, id: ParityId) {
        self.cache.begin_turn(id);
    }

    /// Returns the data pages of a stripe that are in the flash, one bit each.
    fn held_positions(&self, core: &Core, stripe: StripeId) -> u64 {
        let stripes = self.stripes;
        let lies = |&(_, page): &(u32, Lpn)| core.flash_copy(page).is_some();
        stripes.data_pages(stripe).filter(lies).fold(0, |all, (at, _)| all | bit(at))
    }

    /// Drops the earlier state of a stripe if two of its pages are unreadable: it can then recover
    /// none, and need not be kept. Returns whether it was dropped.
    fn drop_useless_base(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId) -> bool {
        let Some(id) = self.cache.find(stripe).filter(|&id| self.cache.get(id).based) else {
            return false;
        };
        let covered = self.cache.get(id).covered;
        let rest = self.stripes.data_pages(stripe).filter(|&(at, _)| covered & bit(at) == 0);
        let rest = rest.map(|(_, page)| ftl.core.flash_copy(page));
        let parity = ftl.core.flash_copy(self.stripes.parity(stripe));
        let all = rest.chain(self.cache.all_replaced(id).iter().copied()).chain([parity]);
        if all.filter(|&unit| unit.is_some() && !self.reads_well(unit)).count() < 2 {
            return false;
        }
        self.drop_base(ftl, flash, id);
        match self.cache.get(id).progress {
            Progress::Open => self.maybe_flush(ftl, flash, id),
            Progress::Reading => self.read_rest(ftl, flash, id, false),
            Progress::Writing => {}
        }
        true
    }

    /// Reads the rest of the stripe for an entry, because the other input of its parity was
    /// dropped, or because some of the rest is lost and may already have been read.
    fn read_rest(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: ParityId, lost: bool) {
        let its = self.cache.get_mut(id);
        if !its.based && (!std::mem::replace(&mut its.by_rest, true) || lost) {
            self.begin_turn(id);
            let rest = self.uncovered_positions(&ftl.core, id, usize::MAX);
            self.read_lacking(ftl, flash, id, rest, true);
        }
        self.set_whole(ftl, id);
    }

    /// Switches to the other equation if a page being read for parity has become unreadable.
    fn read_another_way(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId) {
        let Some(id) = self.cache.find(stripe) else { return };
        let its = *self.cache.get(id);
        if its.progress != Progress::Reading {
            return;
        }
        let rest = self.uncovered_positions(&ftl.core, id, usize::MAX);
        let by_rest = self.readable_way(&ftl.core, id, rest, its.by_rest);
        if by_rest != its.by_rest {
            self.cache.get_mut(id).by_rest = by_rest;
            self.begin_turn(id);
            self.read_lacking(ftl, flash, id, rest, by_rest);
        }
    }
}

/// Returns whether the controller holds a physical page's data: it is being programmed or moved.
pub(crate) fn is_at_hand(flash: &Flash, unit: UnitId) -> bool {
    let programs = |txn: &Txn| {
        let of_flash = matches!(txn.owner, Owner::Job | Owner::DegradedRead(_));
        txn.op == Op::Program && (txn.unit == unit || (of_flash && txn.from == unit))
    };
    flash.txns.iter().any(|(_, txn)| programs(txn))
}
