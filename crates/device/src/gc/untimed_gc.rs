//! Writes, garbage collection and wear leveling in no simulated time, for preconditioning and for
//! simulating a whole life without dies. Placement, victims and the reserve are the same as in a
//! run.
//!
//! 1. [`Gc::store_as`] takes the next page of the die of the data, invalidates the old copy, and
//!    maps the new one.
//! 2. It then collects blocks of the plane until the requested number is erased: below the
//!    foreground watermark, any block whose erase gains pages; above it, only blocks that are worth
//!    their moves.
//! 3. A collected block is emptied and erased at once ([`Gc::empty_now`]), and the wear policy may
//!    swap cold data into it.
//! 4. Blocks whose programs fail are emptied too.
//!
//! No transaction exists, so no two jobs compete, and the host never waits.

use super::Gc;
use crate::blocks::candidates::ValidPages;
use crate::core::Core;
use crate::mapping::page_map::Location;
use crate::observe::operation::Source;
use crate::policy::stream_tag::StreamTag;
use fowler_physics::voltage::ByVoltage;
use fowler_units::{BlockId, Id, Lpn, Nanos, PlaneId, UnitId};
use serde::{Deserialize, Serialize};

/// Number of page moves by which the prefetch of a mapping entry is ahead.
const MOVES_AHEAD: u32 = 32;

/// Results and settings of GC work in no simulated time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untimed {
    /// Numbers of pages that GC and wear leveling have moved so far without taking simulated time.
    pub moves: Moves,
    /// Time that the victim policy sees, and that is recorded for blocks that become full, while GC
    /// work takes no simulated time: before the run, and in a lifetime simulation that does not
    /// simulate dies.
    pub clock: Nanos,
    /// True if GC that takes no simulated time includes wear leveling.
    pub levels_wear: bool,
    /// Number of pages programmed by voltage; `None` if they need not be counted.
    pub programs_at: Option<ByVoltage<u64>>,
}

impl Untimed {
    /// Counts pages programmed in a block, by the block's voltages.
    #[inline]
    fn programmed(&mut self, core: &Core, block: BlockId, pages: u32) {
        if let Some(programs_at) = &mut self.programs_at {
            programs_at[core.allocator.open_blocks.mode_of(block).voltage] += u64::from(pages);
        }
    }
}

/// Numbers of pages that GC work has moved in no simulated time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moves {
    /// Number of pages moved by garbage collection.
    pub collected: u64,
    /// Number of pages moved by wear leveling.
    pub leveled: u64,
}

impl Gc {
    /// Writes a page in no simulated time; GC keeps `kept` blocks of its plane erased.
    #[inline]
    pub fn store(&mut self, core: &mut Core, page: Lpn, kept: u32) {
        self.store_as(core, page, StreamTag::PLAIN, kept);
    }

    /// Writes a page with a stream tag in no simulated time; GC keeps `kept` blocks of its plane
    /// erased.
    #[inline]
    pub fn store_as(&mut self, core: &mut Core, page: Lpn, tag: StreamTag, kept: u32) {
        let die = core.allocator.place(page).expect("the data fits the drive");
        let to = loop {
            if let Some(to) = core.allocator.host_page(die, tag, |_| None) {
                break to;
            }
            for plane in core.layout.geometry.planes_of_die(die) {
                self.collect_now(core, plane);
            }
        };
        if let Location::Flash(old) = core.map.place(page) {
            core.allocator.blocks.invalidate(old);
        }
        core.map.set_flash(page, to.unit);
        core.map.set_owner(to.unit, page);
        self.untimed.programmed(core, to.block, 1);
        self.close_if_full(core, to.unit);
        self.collect_up_to(core, to.plane, kept);
        if core.allocator.blocks_fail() {
            self.note_failed_programs_now(core);
            self.empty_failed_now(core, to.plane);
        }
    }

    /// Trims a page in no simulated time. Returns true if it was mapped.
    pub fn forget_now(&mut self, core: &mut Core, page: Lpn) -> bool {
        let Location::Flash(old) = core.map.place(page) else { return false };
        core.allocator.blocks.invalidate(old);
        core.map.set_flash(page, UnitId::NONE);
        true
    }

    /// Collects blocks until `kept` blocks of the plane are erased. Beyond the number that
    /// foreground GC needs, only collects blocks that are worth it, as background GC does.
    pub(super) fn collect_up_to(&mut self, core: &mut Core, plane: PlaneId, kept: u32) {
        let needed = self.rules().foreground_below;
        while core.allocator.blocks.free_in(plane) < kept {
            let idle = core.allocator.blocks.free_in(plane) >= needed;
            if (idle && !self.is_worth_it(core, plane)) || self.collect_now(core, plane) == 0 {
                return;
            }
        }
    }

    pub(super) fn is_worth_it(&mut self, core: &mut Core, plane: PlaneId) -> bool {
        let victim = self.choose(core, plane, self.untimed.clock);
        victim.is_some_and(|victim| core.allocator.blocks.valid(victim) <= self.worth_moving)
    }

    /// Collects one block in no simulated time. Returns the number of pages gained; zero if there
    /// was no block to collect.
    pub(super) fn collect_now(&mut self, core: &mut Core, plane: PlaneId) -> u32 {
        let Some(victim) = self.choose(core, plane, self.untimed.clock) else { return 0 };
        let valid = self.empty_now(core, plane, victim, Source::Gc);
        if self.untimed.levels_wear {
            self.swap_now(core, plane, victim);
        }
        // A victim without invalid pages (a policy may insist on one) gains nothing, but counts as
        // progress through the policy's order.
        (core.layout.geometry.pages_per_block - valid).max(1)
    }

    /// Moves the valid pages of a block to the open block of `source` and erases it, in no
    /// simulated time. Returns the number of pages moved.
    pub(super) fn empty_now(
        &mut self,
        core: &mut Core,
        plane: PlaneId,
        victim: BlockId,
        source: Source,
    ) -> u32 {
        core.allocator.blocks.collect(victim);
        self.empty_collected_now(core, plane, victim, source)
    }

    /// Empties and erases a block in no simulated time, when it is no longer among the candidates
    /// for GC.
    pub(super) fn empty_collected_now(
        &mut self,
        core: &mut Core,
        plane: PlaneId,
        victim: BlockId,
        source: Source,
    ) -> u32 {
        let valid = core.allocator.blocks.valid(victim);
        let mut pages = core.allocator.blocks.valid_pages(victim);
        let mut soon = pages.clone();
        (0..MOVES_AHEAD).for_each(|_| self.prefetch_move(core, &mut soon));
        // Survivors keep their access class; data that wear leveling swaps loses it.
        let tag = match source {
            Source::Wear => StreamTag::PLAIN,
            _ => core.allocator.open_blocks.tag_of_survivors(victim),
        };
        let mut left = valid;
        while left > 0 {
            let (first, count) = core.allocator.write_run(plane, (source, tag), left);
            self.untimed.programmed(core, core.locator.block_of(first), count);
            left -= count;
            for to in (first.0..first.0 + count).map(UnitId) {
                self.prefetch_move(core, &mut soon);
                let from = pages.next(&core.allocator.blocks).expect("as many pages as are valid");
                let page = core.map.owner(from);
                core.map.set_flash(page, to);
                core.map.set_owner(to, page);
            }
            self.close_if_full(core, UnitId(first.0 + count - 1));
        }
        core.allocator.blocks.vacate(victim);
        core.allocator.erased(victim, self.untimed.clock);
        if core.allocator.blocks_fail() {
            self.note_failed_programs_now(core);
        }
        let moves = &mut self.untimed.moves;
        let moved = if source == Source::Wear { &mut moves.leveled } else { &mut moves.collected };
        *moved += u64::from(valid);
        valid
    }

    /// Moves cold data into an erased block, in no simulated time, if the wear policy chooses to.
    pub(super) fn swap_now(&mut self, core: &mut Core, plane: PlaneId, erased: BlockId) {
        if let Some(cold) = self.coldest_for(core, plane, erased)
            && core.allocator.open_for_swap(erased)
        {
            self.empty_now(core, plane, cold, Source::Wear);
        }
    }

    /// Prefetches the mapping entry of a page to be moved soon.
    #[inline]
    pub(super) fn prefetch_move(&self, core: &mut Core, pages: &mut ValidPages) {
        if let Some(from) = pages.next(&core.allocator.blocks) {
            core.map.prefetch(core.map.owner(from));
        }
    }

    pub(super) fn close_if_full(&mut self, core: &mut Core, page: UnitId) {
        if core.locator.place_in_block(page) + 1 == core.layout.geometry.pages_per_block {
            core.allocator.blocks.fill(core.locator.block_of(page), self.untimed.clock);
        }
    }

    /// Simulates a pause of the host: collects blocks until every plane has `kept` erased blocks,
    /// or none can be collected.
    pub fn rest(&mut self, core: &mut Core, kept: u32) {
        for plane in (0..core.layout.geometry.planes()).map(PlaneId) {
            self.collect_up_to(core, plane, kept);
        }
    }
}
