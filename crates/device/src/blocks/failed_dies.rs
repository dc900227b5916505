//! Dies that fail.
//!
//! 1. A spare die replaces a failed one while spare dies are left (`PageAllocator::die_fails`).
//! 2. After that a failed die stays failed: its open blocks are abandoned, nothing is placed on it
//!    any more, and the room of the drive shrinks (`PageAllocator::shut_down`). Valid pages
//!    remain until they are rebuilt, rewritten or lost.
//! 3. The caller asks if the others hold the capacity (`PageAllocator::holds_capacity`).
//!
//! Invariant: a die that has failed has no room. See docs/decisions/blocks.md, "What happens to a
//! die that fails?".

use super::page_allocator::PageAllocator;
use crate::config::Config;
pub use crate::config::failed_dies::Params;
use crate::config::layout::Layout;
use fowler_units::{DieId, IdVec, Nanos};

/// Counts of failed dies, and their consequences, so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailedDieCounts {
    /// Number of dies that failed and were not replaced.
    pub failed: u32,
    /// Number of dies that failed and were replaced by spare dies.
    pub replaced: u32,
    /// Number of spare dies left.
    pub spare: u32,
    /// Time at which the remaining dies could no longer hold the drive's capacity; the drive has
    /// refused writes since. `None` before that.
    pub read_only: Option<Nanos>,
    /// Time at which the remaining dies could not even take the data in the controller; the drive
    /// has refused every request since. `None` before that.
    pub offline: Option<Nanos>,
    /// Number of requests that the drive has refused.
    pub refused: u64,
    /// Number of stripes with a page that is unreadable now and must be recovered from the other
    /// pages of the stripe.
    pub degraded_stripes: u32,
    /// Number of stripes with two pages on one chip now, because every other chip already had a
    /// page of the stripe: the failure of one more chip may lose both.
    pub sharing_stripes: u32,
}

/// Dies of the drive that have failed, and the spare dies that are left.
#[derive(Clone, Debug)]
pub(crate) struct FailedDies {
    failed: IdVec<DieId, bool>,
    /// Number of pages that the remaining dies must be able to hold.
    needed: u64,
    /// Number of pages in a stripe, if the drive has stripes and so the address of a page
    /// determines its die; `None` otherwise.
    pub width: Option<u32>,
    pub counts: FailedDieCounts,
}

impl FailedDies {
    pub fn new(config: &Config, layout: &Layout) -> FailedDies {
        let dies = layout.geometry.dies();
        let striped = config.redundancy.has_stripes();
        let needed = match striped {
            // An overwrite needs its new page before the old one becomes invalid.
            false => u64::from(layout.mapped_pages) + 1,
            true => {
                let pages = layout.mapped_pages.div_ceil(dies);
                (u64::from(pages) + u64::from(layout.parities) + 1) * u64::from(dies)
            }
        };
        FailedDies {
            failed: IdVec::filled(false, dies as usize),
            needed,
            width: striped.then_some(config.redundancy.stripe + 1),
            counts: FailedDieCounts {
                spare: config.failed_dies.spare,
                ..FailedDieCounts::default()
            },
        }
    }

    fn any(&self) -> bool {
        self.counts.failed > 0
    }
}

impl PageAllocator {
    /// Sets, from a configuration, the number of spare dies and the number of pages that the dies
    /// in service must be able to hold. Called before the run.
    pub fn let_dies_fail(&mut self, config: &Config, layout: &Layout) {
        self.failed_dies = FailedDies::new(config, layout);
    }

    /// Returns the numbers of failed and replaced dies, and the effects of their failures so far;
    /// `None` if no die has failed.
    pub fn failed_dies(&self) -> Option<FailedDieCounts> {
        let counts = self.failed_dies.counts;
        (counts.failed + counts.replaced > 0).then_some(counts)
    }

    /// Returns, for modification, the numbers of failed and replaced dies and the effects of their
    /// failures so far.
    pub fn failed_dies_mut(&mut self) -> &mut FailedDieCounts {
        &mut self.failed_dies.counts
    }

    /// Returns true if a die has failed and was not replaced.
    pub fn has_failed(&self, die: DieId) -> bool {
        self.failed_dies.failed[die]
    }

    /// Returns true if any die has failed and was not replaced.
    pub fn dies_have_failed(&self) -> bool {
        self.failed_dies.any()
    }

    /// Returns the number of pages in a stripe if some die has failed, so that pages may have to
    /// leave the die of their address; `None` otherwise.
    pub fn displaced_stripes(&self) -> Option<u32> {
        self.failed_dies.width.filter(|_| self.failed_dies.any())
    }

    /// Records that a die has failed. Returns true if no spare die replaces it: no data is placed
    /// on it any more, and its valid pages remain until they are rebuilt, rewritten or lost.
    pub fn die_fails(&mut self, die: DieId) -> bool {
        let failed_dies = &mut self.failed_dies;
        if failed_dies.failed[die] {
            return false;
        }
        if failed_dies.counts.spare > 0 {
            failed_dies.counts.spare -= u32::from(failed_dies.counts.spare != Params::ENDLESS);
            failed_dies.counts.replaced += 1;
            return false;
        }
        failed_dies.counts.failed += 1;
        self.shut_down(die);
        true
    }

    /// Excludes a die from the placement of data.
    pub fn shut_down(&mut self, die: DieId) {
        if std::mem::replace(&mut self.failed_dies.failed[die], true) {
            return;
        }
        let geometry = *self.blocks.geometry();
        for plane in geometry.planes_of_die(die) {
            self.open_blocks.abandon(plane);
            self.blocks.abandon(plane);
        }
        let room = self.room_of(die);
        self.lower_room(die, room);
        self.forget_failed_blocks(die);
    }

    /// Returns true if the remaining dies can hold the drive's capacity, and the spare space that
    /// writes need.
    pub fn holds_capacity(&self) -> bool {
        self.room_of_all() >= self.failed_dies.needed
    }

    /// Returns the number of further pages that all dies together can take now.
    pub fn slack(&self) -> u64 {
        let dies = (0..self.blocks.geometry().dies()).map(DieId);
        dies.map(|die| u64::from(self.room_of(die).saturating_sub(self.assigned_to(die)))).sum()
    }
}
