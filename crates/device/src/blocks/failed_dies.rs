//! Dies that fail. A spare die takes the place of a failed one while spare dies are left. After
//! that a failed die stays failed: its blocks are retired, and the capacity of the drive shrinks by
//! them.
//! See docs/decisions/blocks.md, "What happens to a die that fails?".

use super::page_allocator::PageAllocator;
use crate::config::Config;
pub use crate::config::failed_dies::Params;
use crate::config::layout::Layout;
use fowler_units::{DieId, IdVec, Nanos};

/// Counts of failing dies so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailedDieCounts {
    /// Dies that failed and stay failed.
    pub failed: u32,
    /// Dies that failed and were replaced.
    pub replaced: u32,
    /// The spare dies that are left.
    pub spare: u32,
    /// The time at which the remaining dies could no longer hold the capacity of the drive. The
    /// drive has taken no write since.
    pub read_only: Option<Nanos>,
    /// The time at which the remaining dies could not even take the data in the controller. The
    /// drive has answered nothing since.
    pub offline: Option<Nanos>,
    /// Requests that the drive has refused.
    pub refused: u64,
    /// Stripes with a page that cannot be read now, and is recovered from the other pages of the
    /// stripe.
    pub degraded_stripes: u32,
    /// Stripes with two pages on one chip now, because no chip was left without a page of the
    /// stripe: the failure of a further chip may take both.
    pub sharing_stripes: u32,
}

/// The dies that have failed.
#[derive(Clone, Debug)]
pub(crate) struct FailedDies {
    failed: IdVec<DieId, bool>,
    /// The pages that the drive must be able to hold.
    needed: u64,
    /// The number of pages of a stripe, if the drive has stripes and the address of a page
    /// therefore determines its die.
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
    /// Takes the spare dies and the needs of a configuration. Called before the run.
    pub fn let_dies_fail(&mut self, config: &Config, layout: &Layout) {
        self.failed_dies = FailedDies::new(config, layout);
    }

    /// Returns the counts of failing dies; `None` if none has failed.
    pub fn failed_dies(&self) -> Option<FailedDieCounts> {
        let counts = self.failed_dies.counts;
        (counts.failed + counts.replaced > 0).then_some(counts)
    }

    /// Returns the counts of failing dies for modification.
    pub fn failed_dies_mut(&mut self) -> &mut FailedDieCounts {
        &mut self.failed_dies.counts
    }

    /// Returns true if a die has failed for good.
    pub fn has_failed(&self, die: DieId) -> bool {
        self.failed_dies.failed[die]
    }

    /// Returns true if any die has failed for good.
    pub fn dies_have_failed(&self) -> bool {
        self.failed_dies.any()
    }

    /// Returns the number of pages of a stripe if a page may have to leave the die of its address,
    /// because some die has failed.
    pub fn displaced_stripes(&self) -> Option<u32> {
        self.failed_dies.width.filter(|_| self.failed_dies.any())
    }

    /// Notes that a die has failed. Returns true if the die stays failed: nothing is placed on it
    /// any more, and its valid pages remain until they are rebuilt, rewritten or lost.
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

    /// Places nothing on a die any more.
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

    /// Returns true if the remaining dies can hold the capacity of the drive, and the room that
    /// writes need beside that.
    pub fn holds_capacity(&self) -> bool {
        self.room_of_all() >= self.failed_dies.needed
    }

    /// Returns the number of further pages that all dies together can take now.
    pub fn slack(&self) -> u64 {
        let dies = (0..self.blocks.geometry().dies()).map(DieId);
        dies.map(|die| u64::from(self.room_of(die).saturating_sub(self.assigned_to(die)))).sum()
    }
}
