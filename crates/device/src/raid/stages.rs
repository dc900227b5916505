//! The protection of stripes by the wear of the drive: stripes with pages in worn blocks, stages of
//! life, and the parity that each stage requires (DA-RAID-5, section III-B).
//!
//! 1. Before the first request the pages in worn blocks are counted, and the parity that stripes
//!    must have is written in no time ([`Raid::begin`]).
//! 2. A page that is written or moved changes the count of its stripe ([`Raid::count_wear`]). A
//!    stripe that now needs parity gets it; parity that is not needed any more is dropped
//!    ([`Raid::page_moved`]).
//! 3. An erase that makes a block the most worn one may begin the next stage of life
//!    ([`Raid::block_erased`], [`Raid::look_at_age`]).
//! 4. At a new stage the rules change; stripes that need parity and have none are listed, and get
//!    it one after another.
//!
//! Invariants: `worn` has the number of data pages of each stripe in worn blocks, and
//! `worn_stripes` the number of stripes with such pages (`laws.rs`); DA-RAID-5 never returns to an
//! earlier stage.

use super::{Raid, StageChange};
use crate::config::Config;
use crate::core::Core;
use crate::flash::Flash;
use crate::host::Ftl;
use crate::mapping::page_map::Location;
use crate::policy::redundancy::{Age, ParityFlush, Protects, Redundancy, Stage};
use crate::raid::parity_cache::bit;
use crate::raid::stripes::Stripes;
use fowler_units::{BlockId, Id, Lpn, Nanos, StripeId, UnitId};

/// Largest number of rounds before the first request that write missing parity, in no simulated
/// time. A round can move data into worn blocks, so that more stripes need parity; what is left is
/// written during the run.
const SETTLES_MOST: u32 = 8;

impl Raid {
    /// Returns true if writes to a stripe must be covered by parity.
    #[inline]
    pub(crate) fn covers(&self, core: &Core, stripe: StripeId) -> bool {
        self.protects(stripe)
            || self.cache.find(stripe).is_some()
            || core.map.place(self.stripes.parity(stripe)) != Location::Nowhere
    }

    /// Returns the data pages of a stripe whose flash copy is unreadable, one bit each: only parity
    /// can recover them.
    pub(crate) fn unread_positions(&self, core: &Core, stripe: StripeId) -> u64 {
        if self.integrity.is_none() {
            return 0;
        }
        let unread = |&(_, page): &(u32, Lpn)| {
            let unit = core.flash_copy(page);
            unit.is_some() && !self.reads_well(unit)
        };
        self.stripes.data_pages(stripe).filter(unread).fold(0, |all, (at, _)| all | bit(at))
    }

    /// Returns true if a stripe has unreadable data pages.
    pub(crate) fn is_damaged(&self, core: &Core, stripe: StripeId) -> bool {
        self.unread_positions(core, stripe) != 0
    }

    /// Returns true if a block counts as worn for the redundancy policy: it has more P/E cycles
    /// than `policy.redundancy.worn_above`.
    #[inline]
    pub(crate) fn is_worn(&self, core: &Core, block: BlockId) -> bool {
        self.cycles[block] + core.allocator.blocks.erase_counts()[block.index()] > self.worn_above
    }

    // --- Time zero ---

    /// Finds the stripes with pages in worn blocks, after preconditioning has placed the data, and
    /// writes the parity that these stripes must have from the start, in no time. Writing parity
    /// may trigger GC, and thereby move data to other blocks.
    pub(crate) fn begin(&mut self, ftl: &mut Ftl) {
        let mut bare = self.look_at_stripes(ftl);
        for _ in 0..SETTLES_MOST {
            let stripes = self.stripes;
            for &stripe in &bare {
                ftl.gc.store(&mut ftl.core, stripes.parity(stripe), 1);
            }
            if bare.is_empty() {
                break;
            }
            bare = self.look_at_stripes(ftl);
        }
        bare.into_iter().for_each(|stripe| self.want(&mut ftl.gc, stripe));
        self.begin_integrity(ftl);
    }

    /// Counts the pages in worn blocks again and determines the stage of life. Returns the stripes
    /// that need parity and have none.
    fn look_at_stripes(&mut self, ftl: &mut Ftl) -> Vec<StripeId> {
        let erases = ftl.core.allocator.blocks.erase_counts();
        let cycles = self.cycles.as_slice().iter().zip(erases).map(|(&before, &now)| before + now);
        self.most_cycles = cycles.max().unwrap_or(0);
        self.worn_stripes = 0;
        for stripe in (0..self.stripes.count()).map(StripeId) {
            let worn = |&(_, page): &(u32, Lpn)| {
                let at = ftl.core.flash_copy(page);
                at.is_some() && self.is_worn(&ftl.core, ftl.core.locator.block_of(at))
            };
            let count = self.stripes.data_pages(stripe).filter(worn).count();
            self.worn[stripe] = count as u8;
            self.worn_stripes += u32::from(count > 0);
        }
        loop {
            let stage = self.policy.stage(self.stage, &self.age());
            if stage == self.stage {
                break;
            }
            let age = self.age();
            self.changes.push(StageChange { to: stage, at: Nanos::ZERO, age });
            self.stage = stage;
            self.rules = self.policy.rules(stage);
        }
        (0..self.stripes.count())
            .map(StripeId)
            .filter(|&stripe| {
                self.protects(stripe) && self.holds_any(&ftl.core, &self.stripes, stripe)
            })
            .filter(|&stripe| ftl.core.map.place(self.stripes.parity(stripe)) == Location::Nowhere)
            .collect()
    }

    fn holds_any(&self, core: &Core, stripes: &Stripes, stripe: StripeId) -> bool {
        stripes.data_pages(stripe).any(|(_, page)| core.map.place(page) != Location::Nowhere)
    }

    /// Begins refresh, if the present stage of life includes it.
    pub(crate) fn begin_refresh(&self, ftl: &mut Ftl, flash: &mut Flash, config: &Config) {
        if self.rules.refreshes {
            ftl.gc.begin_refresh(&mut ftl.core, flash, config);
            self.update_refresh(&mut ftl.gc);
        }
    }

    // --- Wear and moves ---

    /// Updates the worn-page counter of a stripe whose data page has moved.
    #[inline]
    pub(crate) fn count_wear(
        &mut self,
        ftl: &mut Ftl,
        page: Lpn,
        old: UnitId,
        new: UnitId,
    ) -> StripeId {
        let stripe = self.stripes.of(page);
        // While no block of the drive is worn, neither of these two is.
        if self.most_cycles > self.worn_above {
            self.count_worn(&ftl.core, stripe, old, new);
        }
        debug_assert!(self.most_cycles > self.worn_above || self.worn[stripe] == 0);
        stripe
    }

    #[inline(never)]
    fn count_worn(&mut self, core: &Core, stripe: StripeId, old: UnitId, new: UnitId) {
        let worn = |unit: UnitId| unit.is_some() && self.is_worn(core, core.locator.block_of(unit));
        let (was, is) = (worn(old), worn(new));
        let before = self.worn[stripe];
        let after = match self.bugs.as_printed {
            false => before + u8::from(is) - u8::from(was),
            true => count_as_printed(new, before, is),
        };
        self.worn[stripe] = after;
        self.worn_stripes += u32::from(before == 0 && after > 0);
        self.worn_stripes -= u32::from(before > 0 && after == 0);
    }

    /// Handles a page that was moved from `from` to `to`, for its stripe.
    #[inline]
    pub(crate) fn page_moved(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        page: Lpn,
        from: UnitId,
        to: UnitId,
    ) {
        // Usually no block is worn, and only the page's location changes.
        let map = &mut ftl.core.map;
        if self.rules.protects == Protects::All
            && self.integrity.is_none()
            && self.most_cycles <= self.worn_above
            && map.place(page) == Location::Flash(from)
            && map.place(self.stripes.parity(self.stripes.of(page))) != Location::Nowhere
            && self.policy.stage(self.stage, &self.age()) == self.stage
        {
            map.set_flash(page, to);
        } else {
            self.page_moved_at_length(ftl, flash, page, from, to);
        }
        if self.flush_moved {
            self.flush_moved_stripe(ftl, flash, page);
        }
    }

    /// Handles a page that was moved within the flash if it may change the protection of its
    /// stripe: follows its version and the wear of its blocks, and writes or drops the parity of
    /// the stripe.
    #[inline(never)]
    fn page_moved_at_length(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        page: Lpn,
        from: UnitId,
        to: UnitId,
    ) {
        if ftl.core.flash_copy(page) != from {
            return self.kept_page_moved(page, from, to);
        }
        let stripe = self.stripes.of(page);
        let parity = self.stripes.parity(stripe);
        if page != parity {
            self.note_rebuilt(from);
        }
        self.copy_version(from, to);
        ftl.core.relocate(page, to);
        if page == parity {
            return;
        }
        self.count_wear(ftl, page, from, to);
        self.update_frail(ftl, flash, stripe);
        if self.cache.find(stripe).is_some() {
            return; // Parity is being written; the need for it is determined afterwards.
        }
        if self.needs_parity(&ftl.core, stripe) {
            self.begin_parity(ftl, flash, stripe, None);
        } else {
            self.drop_parity(ftl, flash, stripe);
        }
        self.look_at_age(ftl, flash);
    }

    /// Handles the move of a replaced page that is retained for its stripe.
    #[cold]
    fn kept_page_moved(&mut self, page: Lpn, from: UnitId, to: UnitId) {
        self.copy_version(from, to);
        if let Some((_, unit)) = self.deltas.iter_mut().find(|(_, unit)| *unit == from) {
            *unit = to;
            return;
        }
        let stripes = self.stripes;
        let entry =
            self.cache.find(stripes.of(page)).expect("the replaced page is retained by an entry");
        let kept = &mut self.cache.replaced_mut(entry)[stripes.position(page) as usize];
        debug_assert_eq!(*kept, from);
        *kept = to;
    }

    /// Handles the erase of a block: if no block had more P/E cycles before, the drive may enter
    /// its next stage of life, a range of wear with its own rules for parity (DA-RAID-5, a RAID-5
    /// inside the drive).
    #[cold]
    pub(crate) fn block_erased(&mut self, ftl: &mut Ftl, flash: &mut Flash, block: BlockId) {
        if let Some(integrity) = &mut self.integrity {
            integrity.erase(ftl.core.locator.units_of(block));
        }
        let cycles = self.cycles[block] + ftl.core.allocator.blocks.erase_counts()[block.index()];
        if cycles > self.most_cycles {
            self.most_cycles = cycles;
            self.look_at_age(ftl, flash);
        }
    }

    /// Moves the drive to another stage of life if its wear requires that.
    #[inline]
    pub(crate) fn look_at_age(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        let age = self.age();
        let stage = self.policy.stage(self.stage, &age);
        if stage != self.stage {
            self.begin_stage(ftl, flash, stage, age);
        }
    }

    #[cold]
    fn begin_stage(&mut self, ftl: &mut Ftl, flash: &mut Flash, stage: Stage, age: Age) {
        if self.rules.parity_flush == ParityFlush::AtOnce {
            // Writes waiting for parity under the old rules cannot wait for an eviction.
            self.cache.expedite_all();
        }
        self.stage = stage;
        self.rules = self.policy.rules(stage);
        self.update_refresh(&mut ftl.gc);
        self.changes.push(StageChange { to: stage, at: flash.now(), age });
        let stripes = self.stripes;
        for stripe in (0..stripes.count()).map(StripeId) {
            let bare = self.cache.find(stripe).is_none() && self.needs_parity(&ftl.core, stripe);
            if bare && self.holds_any(&ftl.core, &stripes, stripe) {
                self.want(&mut ftl.gc, stripe);
            }
        }
        self.build_wanted(ftl, flash);
        self.make_room(ftl, flash);
    }
}

/// Returns the worn-page counter of a stripe by Algorithm 1 of DA-RAID-5 as printed: writes to worn
/// blocks increment it, and writes to other blocks decrement it, regardless of the page's previous
/// block. The algorithm considers nothing but writes.
fn count_as_printed(new: UnitId, before: u8, worn: bool) -> u8 {
    let counted = if worn { before.saturating_add(1) } else { before.saturating_sub(1) };
    if new.is_some() { counted } else { before }
}
