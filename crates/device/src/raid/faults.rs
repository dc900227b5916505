//! Faults of a drive with stripes, and the fate of every unreadable page: it is rebuilt from its
//! stripe, rewritten by the host before that, or lost.
//!
//! 1. A fault makes physical pages unreadable ([`Raid::spoil`]).
//! 2. For each stripe that is struck, the equations determine which data pages can still be
//!    computed; the others are lost at once ([`Raid::weigh`]). At any later time every page that is
//!    not lost can be recovered.
//! 3. Equations that contained the lost pages are repaired: the cached parity is computed anew,
//!    useless parity is dropped, flushes that need an unreadable page read other pages
//!    ([`Raid::mend`]).
//! 4. The pages that can be recovered are rebuilt (`rebuild.rs`).
//!
//! A failed unit loses its contents and continues empty, unless it is a die that no spare die
//! replaces ([`crate::blocks::failed_dies`]). Data that is in the controller at that moment,
//! because it is being programmed or moved, is not affected.

use super::Raid;
use super::fault_kinds::Fault;
use super::integrity::Exceeded;
use super::losses::{Failure, Loss, Reason};
use super::parity_cache::{Entry, Progress, bit};
use super::tag::Tag;
use crate::cache::buffer::Listed;
use crate::core::Core;
use crate::flash::Flash;
use crate::host::Ftl;
use crate::mapping::page_map::Location;
use fowler_units::{FrameId, Id, Lpn, ParityId, Ppn, StripeId, UnitId};

/// A physical page of a stripe: its location, and its version if it is readable.
pub type Cell = (Ppn, Option<u64>);

/// The present contents of a stripe, for checks by tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StripeView {
    /// Data pages of the stripe, each with its copy in the flash.
    pub data: Vec<(Lpn, Option<Cell>)>,
    /// Parity page of the stripe in the flash; `None` without one.
    pub parity: Option<Cell>,
    /// Entry of the stripe in the parity cache; `None` without one.
    pub cached: Option<CachedView>,
}

/// Contents of a stripe's entry in the parity cache, for checks by tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedView {
    /// For each data page of the stripe: true if the cached parity includes the page, and the old
    /// copy that the page replaced, if that is still kept.
    pub covered: Vec<(bool, Option<Cell>)>,
    /// True if the flash holds valid parity of the stripe as it was before the pages in the cached
    /// parity replaced their old copies.
    pub based: bool,
    /// Old copies of the pages in the cached parity, kept until they have been read and removed
    /// from the cached parity.
    pub deltas: Vec<Cell>,
    /// Cached parity: that of the pages included in it and of the old copies still to be removed
    /// from it; `None` while every page included is being read again.
    pub value: Option<u64>,
    /// Parity of all data pages of the stripe; `None` until it has been computed.
    pub whole: Option<u64>,
    /// True if a die has begun to program the parity of all data pages of the stripe, which
    /// replaces the cached parity.
    pub on_its_way: bool,
}

/// The unreadable pages of a stripe, for determining which can be recovered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unknowns {
    /// Unreadable data pages of the stripe, one bit each.
    pub current: u64,
    /// Number of unreadable pages among those of the stripe's state before the writes in the parity
    /// cache: its parity page in the flash, and the old copies of rewritten pages.
    pub before: u32,
    /// Number of unreadable pages among the superseded copies that the cached parity still
    /// includes.
    pub deltas: u32,
}

/// The unreadable pages of a stripe that its equations cannot recover.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// Data pages of the stripe that cannot be recovered, one bit each.
    pub lost: u64,
    /// Number of all pages that cannot be recovered, parity included.
    pub failed: u32,
    /// Maximum number of unreadable pages of the stripe that its parities, in the flash and in the
    /// parity cache, can recover. Smaller than `failed`, the number of pages that cannot be
    /// recovered.
    pub given_back: u32,
}

impl Unknowns {
    /// Returns the unreadable pages of a stripe that cannot be recovered. Each parity known for the
    /// stripe (cached, in the flash or being written) is an equation; one with a single unreadable
    /// page recovers that page.
    fn left(mut self, entry: Option<&Entry>, based: bool) -> Left {
        let covered = entry.map_or(0, |entry| entry.covered);
        let known = entry.is_some_and(|entry| !entry.blank);
        // The parity of all pages; XORed with that of the covered pages, this is the parity of the
        // rest.
        let computed = entry.is_some_and(|it| it.progress == Progress::Writing && !it.again);
        loop {
            let cached = self.current & covered;
            let rest = self.current & !covered;
            let (current, deltas) = (self.current, self.deltas);
            if known && cached.count_ones() + self.deltas == 1 {
                self.current &= !cached;
                self.deltas = 0;
            }
            if based && rest.count_ones() + self.before == 1 {
                self.current &= !rest;
                self.before = 0;
            }
            if computed && self.current.count_ones() == 1 {
                self.current = 0;
            }
            if computed && (self.current & !covered).count_ones() == 1 {
                self.current &= covered;
            }
            if (self.current, self.deltas) == (current, deltas) || self.current == 0 {
                break;
            }
        }
        let (cached, rest) = (self.current & covered, self.current & !covered);
        let (in_cached, in_base) = (cached != 0, based && rest != 0);
        let equations = [in_cached, in_base, computed && self.current != 0];
        // Cached parity is reread because of an unreadable page that the parity still includes.
        let deltas = if in_cached { self.deltas + u32::from(!known) } else { 0 };
        let before = if in_base { self.before } else { 0 };
        let failed = self.current.count_ones() + deltas + before;
        let given_back = equations.into_iter().map(u32::from).sum::<u32>();
        Left {
            lost: self.current,
            failed,
            // Equations may depend on each other: together they give back fewer than all.
            given_back: given_back.min(failed.saturating_sub(1)),
        }
    }
}

impl Raid {
    /// Makes the stored pages of a failing part of the flash unreadable: of the page, block, plane,
    /// die, chip or channel that `fault` names. See docs/decisions/raid.md, "What happens to a
    /// failed chip?".
    pub(crate) fn strike(&mut self, ftl: &mut Ftl, flash: &mut Flash, fault: Fault) {
        let spoilt = fault.stored_pages(&ftl.core, flash, Some(self.stripes));
        self.strike_pages(ftl, flash, spoilt, fault.failure());
    }

    /// Makes physical pages that hold data unreadable.
    pub(crate) fn strike_pages(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        mut pages: Vec<UnitId>,
        failure: Failure,
    ) {
        pages.retain(|&unit| self.reads_well(unit));
        self.spoil(ftl, flash, &pages, failure);
    }

    /// Marks physical pages as unreadable and handles the consequences.
    pub(crate) fn spoil(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        pages: &[UnitId],
        failure: Failure,
    ) {
        let stripes = self.stripes;
        let mut struck: Vec<StripeId> = Vec::with_capacity(pages.len());
        let mut blank: Vec<StripeId> = Vec::new();
        for &unit in pages {
            let page = ftl.core.map.owner(unit);
            let current = ftl.core.flash_copy(page) == unit;
            let integrity = self.integrity.as_deref_mut().expect("integrity is checked");
            integrity.spoil(unit, failure);
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
            if !self.drop_useless_base(ftl, flash, stripe) {
                self.read_another_way(ftl, flash, stripe);
            }
            self.update_frail(ftl, flash, stripe);
        }
        self.rebuild(ftl, flash);
        ftl.evict(flash, self);
    }

    /// Returns the unreadable data pages of a stripe that no equation recovers, one bit each.
    pub(crate) fn beyond_help(&self, core: &Core, stripe: StripeId) -> u64 {
        let current = self.unread_positions(core, stripe);
        self.left_unknown(core, stripe, current, |unit| !self.reads_well(unit)).lost
    }

    /// Returns the pages of a stripe that its equations cannot recover. `current` are the
    /// unreadable data pages of the stripe, one bit each; `unread` returns true for other pages
    /// that are unreadable.
    pub(crate) fn left_unknown(
        &self,
        core: &Core,
        stripe: StripeId,
        current: u64,
        mut unread: impl FnMut(UnitId) -> bool,
    ) -> Left {
        let entry = self.cache.find(stripe);
        let cached = entry.map(|id| *self.cache.get(id));
        let parity = core.flash_copy(self.stripes.parity(stripe));
        let mut unread = |unit: UnitId| u32::from(unit.is_some() && unread(unit));
        let mut unknown = Unknowns { current, before: unread(parity), deltas: 0 };
        if let Some(id) = entry {
            unknown.before +=
                self.cache.all_replaced(id).iter().map(|&unit| unread(unit)).sum::<u32>();
            unknown.deltas = self.deltas(id).map(unread).sum();
        }
        let based = cached.map_or(parity.is_some(), |it| it.based);
        unknown.left(cached.as_ref(), based)
    }

    /// Returns the cause of loss of the pages that a stripe's equations cannot recover. The first
    /// losses of a stripe cost it its parity; until the parity is complete again, further failures
    /// add to these.
    pub(crate) fn why_lost(&self, stripe: StripeId, left: Left, failure: Failure) -> Loss {
        let before = self
            .integrity
            .as_ref()
            .map_or(Exceeded::default(), |integrity| integrity.exceeded(stripe));
        let bare = left.given_back == 0;
        let (failed, given_back) = match bare && self.protects(stripe) && before.given_back > 0 {
            true => (left.failed + u32::from(before.failed), u32::from(before.given_back)),
            false => (left.failed, left.given_back),
        };
        if given_back == 0 {
            return Loss::unprotected(failure);
        }
        let (failed, given_back) = (failed as u8, given_back as u8);
        Loss { reason: Reason::BeyondParity, failure, failed, given_back }
    }

    /// Gives up the pages of a stripe that cannot be recovered, and returns them, one bit each.
    fn weigh(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId) -> u64 {
        let current = self.unread_positions(&ftl.core, stripe);
        let left = self.left_unknown(&ftl.core, stripe, current, |unit| !self.reads_well(unit));
        let loss = self.why_lost(stripe, left, Failure::Cells);
        let (stripes, mut lost) = (self.stripes, left.lost);
        while lost != 0 {
            let page = stripes.page(stripe, lost.trailing_zeros());
            lost &= lost - 1;
            self.lose(ftl, flash, page, loss);
        }
        if left.lost != 0
            && let Some(integrity) = &mut self.integrity
        {
            let Loss { failed, given_back, .. } = loss;
            integrity.set_exceeded(stripe, Exceeded { failed, given_back });
        }
        left.lost
    }

    /// Updates the flag `frail` of a stripe with cached parity: true if two of its pages are
    /// unreadable. See docs/decisions/raid.md, "What if two pages of a cached stripe are
    /// unreadable?".
    #[inline]
    pub(crate) fn update_frail(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId) {
        if self.integrity.is_some() {
            self.recompute_frail(ftl, flash, stripe);
        }
    }

    #[cold]
    fn recompute_frail(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId) {
        let Some(id) = self.cache.find(stripe) else { return };
        let frail = self.unread_positions(&ftl.core, stripe).count_ones() > 1;
        let cached = self.cache.get_mut(id);
        let was = std::mem::replace(&mut cached.frail, frail);
        if was && !frail {
            if self.cache.get(id).stalled {
                self.write_parity(ftl, flash, id);
            } else {
                self.maybe_flush(ftl, flash, id);
                self.make_room(ftl, flash);
            }
        }
    }

    /// Gives up the copy of a page in the flash, which is then lost for the given cause.
    pub(crate) fn lose(&mut self, ftl: &mut Ftl, flash: &mut Flash, page: Lpn, loss: Loss) {
        let unit = ftl.core.flash_copy(page);
        self.count_wear(ftl, page, unit, UnitId::NONE);
        let held = give_up_copy(ftl, flash, page, unit);
        let integrity = self.integrity.as_deref_mut().expect("integrity is checked");
        if held {
            integrity.ledger.rewritten += 1;
        } else {
            let failure = integrity.failure(unit).unwrap_or(loss.failure);
            integrity.lose(page, Loss { failure, ..loss });
            integrity.ledger.lost[loss.reason] += 1;
        }
    }

    /// Repairs the parity of a stripe after the loss of pages, which makes the equations that
    /// contain them useless. The cached parity is recomputed from the remaining covered pages, and
    /// then the parity of the stripe from the cached parity.
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
        let cached = *self.cache.get(id);
        match cached.progress {
            Progress::Open => self.maybe_flush(ftl, flash, id),
            Progress::Reading => self.read_rest(ftl, flash, id, lost & !covered != 0),
            Progress::Writing if lost & !covered == 0 && !cached.again => {
                let entry = self.cache.get_mut(id);
                entry.stale = !cached.stalled;
                if cached.stalled && !cached.frail {
                    self.write_parity(ftl, flash, id);
                }
            }
            Progress::Writing if cached.stalled => self.reopen(ftl, flash, id),
            // The parity is computed and being written, and includes pages that are now lost.
            Progress::Writing => {
                self.cache.get_mut(id).again = true;
            }
        }
    }

    /// Invalidates the flash copy of a logical page (data or parity) and removes that copy from the
    /// mapping table.
    fn drop_page(&mut self, ftl: &mut Ftl, flash: &mut Flash, page: Lpn) {
        let old = ftl.core.flash_copy(page);
        ftl.core.map.set_flash(page, UnitId::NONE);
        ftl.invalidate(flash, old);
    }

    /// Invalidates the old copies of pages that a parity cache entry retains, and the stripe's
    /// parity page in the flash. From then on, the state of the stripe before these writes cannot
    /// be restored.
    fn drop_base(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: ParityId) {
        let cached = self.cache.get_mut(id);
        (cached.based, cached.expedited) = (false, true);
        (cached.early_asked, cached.early, cached.uncovered) = (0, 0, 0);
        let page = self.stripes.parity(cached.stripe);
        let kept: Vec<UnitId> = self.cache.all_replaced(id).to_vec();
        self.cache.replaced_mut(id).fill(UnitId::NONE);
        kept.into_iter().for_each(|unit| ftl.invalidate(flash, unit));
        self.drop_page(ftl, flash, page);
    }

    /// Recomputes the cached parity of a stripe, after some pages that it covers were lost, from
    /// the covered pages that are left. `id` is the entry of the stripe in the parity cache.
    fn cover_anew(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: ParityId) {
        let (cached, stripes) = (*self.cache.get(id), self.stripes);
        let mut value = Tag::ZERO;
        for (at, page) in stripes.data_pages(cached.stripe) {
            if cached.covered & bit(at) != 0 {
                value ^= self
                    .integrity
                    .as_deref()
                    .map_or(Tag::ZERO, |versions| versions.tag_at(ftl.core.flash_copy(page)));
            }
        }
        let entry = self.cache.get_mut(id);
        // Removes the contribution of the lost pages, and nothing else.
        entry.whole ^= entry.value ^ value;
        (entry.value, entry.expedited) = (value, true);
        if cached.progress != Progress::Writing {
            self.read_anew(ftl, flash, id, cached.covered);
        }
    }

    /// Resets an entry of the parity cache whose contents were lost with the power.
    pub(crate) fn forget_parity(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: ParityId) {
        self.drop_base(ftl, flash, id);
        let cache = &mut self.cache;
        if cache.get(id).stalled {
            cache.reopen(id);
        }
        let cached = self.cache.get_mut(id);
        (cached.covered, cached.value, cached.by_rest, cached.blank) = (0, Tag::ZERO, true, false);
        let (stripe, progress) = (cached.stripe, cached.progress);
        self.left(ftl, flash, id);
        match progress {
            Progress::Open => self.maybe_flush(ftl, flash, id),
            Progress::Reading => {
                let all = self.held_positions(&ftl.core, stripe);
                self.set_whole(ftl, id);
                self.begin_turn(id);
                self.read_positions(ftl, flash, id, stripe, all);
            }
            // The parity being written is computed again once its program ends.
            Progress::Writing => {
                self.cache.get_mut(id).again = true;
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

    /// Drops the earlier state of a stripe if two of its pages are unreadable: the earlier state
    /// can then recover no page, and need not be retained. Returns true if it was dropped.
    fn drop_useless_base(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId) -> bool {
        let Some(id) = self.cache.find(stripe).filter(|&id| self.cache.get(id).based) else {
            return false;
        };
        let covered = self.cache.get(id).covered;
        let rest = self.stripes.data_pages(stripe).filter(|&(at, _)| covered & bit(at) == 0);
        let rest = rest.map(|(_, page)| ftl.core.flash_copy(page));
        let parity = ftl.core.flash_copy(self.stripes.parity(stripe));
        let all = rest.chain(self.cache.all_replaced(id).iter().copied()).chain([parity]);
        let failed = all.filter(|&unit| unit.is_some() && !self.reads_well(unit)).count();
        if failed < 2 {
            return false;
        }
        if let Some(integrity) = &mut self.integrity
            && integrity.exceeded(stripe).failed == 0
        {
            integrity.set_exceeded(stripe, Exceeded { failed: failed as u8, given_back: 1 });
        }
        self.drop_base(ftl, flash, id);
        match self.cache.get(id).progress {
            Progress::Open => self.maybe_flush(ftl, flash, id),
            Progress::Reading => self.read_rest(ftl, flash, id, false),
            Progress::Writing => {}
        }
        true
    }

    /// Restarts the reads of a parity flush, now of the data pages that the cached parity does not
    /// cover. Used if the old parity or the retained old pages are unreadable; and if one of the
    /// data pages is lost (`lost`), in case it was read before.
    fn read_rest(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: ParityId, lost: bool) {
        let cached = self.cache.get_mut(id);
        if !cached.based && (!std::mem::replace(&mut cached.by_rest, true) || lost) {
            self.begin_turn(id);
            let rest = self.uncovered_positions(&ftl.core, id, usize::MAX);
            self.read_lacking(ftl, flash, id, rest, true);
        }
        self.set_whole(ftl, id);
    }

    /// Switches the parity flush of a stripe to other reads if one of its pages has become
    /// unreadable: from the old parity and the replaced pages to the data pages that the cached
    /// parity does not cover, or back.
    fn read_another_way(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId) {
        let Some(id) = self.cache.find(stripe) else { return };
        let cached = *self.cache.get(id);
        if cached.progress != Progress::Reading {
            return;
        }
        let rest = self.uncovered_positions(&ftl.core, id, usize::MAX);
        let by_rest = self.readable_way(&ftl.core, id, rest, cached.by_rest);
        if by_rest != cached.by_rest {
            self.cache.get_mut(id).by_rest = by_rest;
            self.begin_turn(id);
            self.read_lacking(ftl, flash, id, rest, by_rest);
        }
    }
}

/// Gives up the copy of a page in the flash, which is `unit`. Returns true if the buffer holds the
/// whole page, which is then written again.
pub(super) fn give_up_copy(ftl: &mut Ftl, flash: &mut Flash, page: Lpn, unit: UnitId) -> bool {
    let kept = match ftl.core.map.place(page) {
        Location::Buffer(frame_id) => keep_from_buffer(ftl, frame_id),
        _ => {
            ftl.core.map.set_flash(page, UnitId::NONE);
            false
        }
    };
    ftl.invalidate(flash, unit);
    kept
}

/// Handles the loss of the flash copy of a buffered page, by writing it again from the buffer.
/// Returns true if the buffer holds the whole page.
fn keep_from_buffer(ftl: &mut Ftl, frame_id: FrameId) -> bool {
    let whole = ftl.core.buffer.holds_newest(frame_id);
    let frame = ftl.core.buffer.get_mut(frame_id);
    frame.unit = UnitId::NONE;
    let (page, programs) = (frame.lpn, frame.programs);
    if frame.queued.is_some() || frame.listed == Listed::Dirty {
        return true; // The lost copy is older than the data to be programmed.
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raid::parity_cache::EMPTY;

    /// Every unreadable page of an equation counts in deciding what can be recovered: here two
    /// covered pages, one of which has a superseded copy, and two pages that are not covered.
    #[test]
    fn every_unknown_page_of_an_equation_counts() {
        let mut entry = EMPTY;
        entry.covered = 0b0011;
        let left = |current, before, deltas| {
            let left = Unknowns { current, before, deltas }.left(Some(&entry), true);
            (left.lost, left.failed, left.given_back)
        };
        assert_eq!(left(0b0001, 0, 0), (0, 0, 0), "the cached parity gives it back");
        assert_eq!(left(0b0001, 0, 1), (0b0001, 2, 1), "not without what leaves");
        assert_eq!(left(0b0011, 0, 0), (0b0011, 2, 1));
        assert_eq!(left(0b0101, 0, 0), (0, 0, 0), "each equation gives one back");
        assert_eq!(left(0b0101, 1, 1), (0b0101, 4, 2));
        assert_eq!(left(0b0100, 1, 1), (0b0100, 2, 1), "what leaves is of another equation");
    }
}
