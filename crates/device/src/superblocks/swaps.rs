//! Swaps of static wear leveling: cold data moves into a superblock that is far more worn than
//! others, so that the worn superblock rests and the other one is used.
//!
//! 1. When the erase of a superblock ends that was emptied for its space, `policy.wear` may name a
//!    full one whose data is cold ([`super::wear_leveling::WearLeveling::erased`]).
//! 2. It is emptied by the next job, before those for space, unless the host lacks a superblock.
//!    Nothing is gained, so the host may write one unit for every four that are moved. What it
//!    writes is charged to the next job for space.
//! 3. Its units go to a stream of their own, which opens the most worn of the erased superblocks.

use super::Superblocks;
use super::collection::Why;
use super::commands::SWAPPED;
use crate::blocks::block_table::BlockState;
use crate::policy::placement::StreamId;
use fowler_units::RuId;

/// Number of units that a wear-leveling swap moves for each unit that the host may write meanwhile;
/// the same pace as on a page-mapped drive ([`crate::gc::Gc`]).
const MOVED_FOR_EACH: u32 = 4;

impl Superblocks {
    /// Begins to move the cold data of the superblock that wear leveling chose when another one was
    /// erased, if there is room. Returns true if a job has begun.
    pub(super) fn begin_swap(&mut self) -> bool {
        let Some(cold) = self.leveling.as_ref().and_then(|leveling| leveling.wanted) else {
            return false;
        };
        if self.map.state(cold) == BlockState::Full {
            let valid = self.map.valid(cold);
            if self.host_lacks_superblock()
                || !self.begin_emptying(cold, valid, |_| valid / MOVED_FOR_EACH, Why::Wear)
            {
                return false;
            }
            self.collector.leaving += 1;
        }
        let began = self.collector.job.is_some();
        if let Some(leveling) = &mut self.leveling {
            leveling.wanted = None;
            leveling.moving = began.then_some(cold);
        }
        began
    }

    /// Ends the swap of cold data if the superblock erased is the one that it emptied. Otherwise
    /// the erase may make wear leveling choose the next superblock to swap, unless it was a
    /// refresh.
    pub(super) fn erased_by_wear(&mut self, superblock: RuId, refreshed: bool) {
        let Some(leveling) = &mut self.leveling else { return };
        if leveling.moving == Some(superblock) {
            leveling.moving = None;
        } else if !refreshed && !self.map.is_aside(superblock) {
            leveling.erased(&self.map, superblock);
        }
    }

    /// Returns true if the cold data of a superblock is being moved by a swap.
    #[inline]
    pub(super) fn is_swapped(&self, superblock: RuId) -> bool {
        self.leveling.as_ref().is_some_and(|leveling| leveling.moving == Some(superblock))
    }

    /// Returns the stream into which the data of a superblock is being moved, or would be by
    /// garbage collection.
    #[inline]
    pub(super) fn moved_into(&self, superblock: RuId) -> StreamId {
        if self.is_swapped(superblock) { SWAPPED } else { self.streams.of_survivors(superblock) }
    }
}
