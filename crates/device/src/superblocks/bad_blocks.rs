//! The blocks of superblocks that fail: their fates, the gaps that they leave, and the room that is
//! left to lose. What the drive does with them is in [`super::failed_blocks`].
//!
//! *Room* is counted in units of the superblocks that are not set aside: those that hold data after
//! the next erase, when all that has failed has dropped out. The *spare* is the room beyond what
//! the drive must be able to hold. A block that fails takes its part of the spare at once.
//!
//! A die that fails for good ([`super::die_failures`]) takes its part of every superblock at once.
//!
//! Invariants: the superblocks in service have room for `needed` units unless dies have failed, so
//! that a block fails only if the spare covers the loss; a superblock has gaps only if a block or a
//! die of it has failed.

use super::gaps::Gaps;
use super::shape::Shape;
use crate::blocks::bad_blocks::BadBlockCounts;
use crate::blocks::block_fates::Fates;
use crate::config::{Config, Retire};
use crate::raid::losses::Failure;
use fowler_units::{BlockId, Bytes, IdVec, RuId};
use serde::{Deserialize, Serialize};

/// State of failed blocks in a saved state of the drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SavedBadBlocks {
    pub counts: BadBlockCounts,
    /// Blocks that have failed, in ascending order of their numbers.
    failed: Vec<BlockId>,
    /// Superblocks that are retired as a whole, in ascending order of their numbers.
    pub retired: Vec<RuId>,
    /// Dies that program nothing in a superblock, or only the first commands of it, because a block
    /// failed: superblock, position of the die in striping order, first command that the die leaves
    /// out, and true if the die drops out of the superblock at the next erase.
    parts: Vec<(RuId, u32, u32, bool)>,
}

/// Blocks of the drive that fail in the course of a simulation: when each does, and what their
/// failures do to superblocks.
#[derive(Clone, Debug)]
pub(super) struct BadBlocks {
    /// When each block fails; `None` on a drive on which dies fail and blocks do not.
    pub fates: Option<Fates>,
    pub retire: Retire,
    pub counts: BadBlockCounts,
    /// Gaps of each superblock, the program commands that store nothing because a block of their
    /// die has failed; `None` for a superblock without failed blocks.
    gaps: IdVec<RuId, Option<Box<Gaps>>>,
    /// Number of superblocks that are not reserved for the SLC cache (`slc.static`); they have the
    /// lowest numbers.
    usual: u32,
    /// Largest number of units of each superblock that may be lost to padding: a command for each
    /// stream of moved data, if there are several; else 0.
    padding: u32,
    /// Units of data that the superblocks must be able to hold together: the data of the host and
    /// the reserve of erased superblocks.
    pub needed: u64,
    /// True if a die has dropped out of a superblock in service: superblocks differ in size.
    pub uneven: bool,
    /// Units that are reserved besides `needed` once superblocks differ in size.
    more_needed: u64,
    /// For each die, by its position in striping order: how the die failed for good; `None` for one
    /// in service.
    dead: Vec<Option<Failure>>,
    /// Number of pages that a program command stores on each plane.
    rows: u32,
    /// Number of program commands that have just failed with the data of one command, which the
    /// next command of the stream stores. That command starts after the time that the failed ones
    /// took.
    pub failed_programs: u8,
}

impl BadBlocks {
    /// Draws the P/E cycle in which each block of a drive fails; `erases` is the erase count of
    /// each superblock. `None` if no block is to fail.
    pub fn new(config: &Config, shape: &Shape, erases: &[u32]) -> Option<BadBlocks> {
        if !config.blocks_fail() {
            return None;
        }
        let geometry = Shape::geometry_of(config);
        let erased = erases.iter().copied().cycle().take(geometry.blocks() as usize);
        Some(BadBlocks::with(config, shape, Some(Fates::draw(config, &geometry, erased))))
    }

    /// Creates the record of a drive on which no block has failed, and blocks have these fates;
    /// `None` if none is to fail.
    pub fn with(config: &Config, shape: &Shape, fates: Option<Fates>) -> BadBlocks {
        let moved = config.moved_superblocks();
        let layout = config.superblock_sizes();
        let padding = if moved > 1 { moved * shape.units_per_command } else { 0 };
        let mut bad = BadBlocks {
            fates,
            retire: config.superblocks.retire,
            counts: BadBlockCounts::default(),
            gaps: IdVec::filled(None, shape.superblocks as usize),
            usual: shape.superblocks - config.slc.fixed,
            padding,
            needed: 0,
            uneven: false,
            more_needed: 0,
            dead: vec![None; shape.dies as usize],
            rows: config.pages_of_program(),
            failed_programs: 0,
        };
        let whole = u64::from(bad.room(shape, None));
        let uneven = if bad.retire == Retire::Block { moved } else { 0 };
        let reserve = u64::from(layout.reserve_blocks - config.slc.fixed + uneven);
        let all = u64::from(bad.usual) * whole;
        bad.needed = (u64::from(layout.logical_pages) + reserve * whole).min(all);
        bad.counts.spare = all - bad.needed;
        if bad.retire == Retire::Superblock {
            bad.more_needed = u64::from(moved) * whole;
        }
        bad
    }

    /// Records that the die at a position of the striping order has failed for good.
    pub fn die_fails(&mut self, position: u32, failure: Failure) {
        self.dead[position as usize] = Some(failure);
        self.needed += std::mem::take(&mut self.more_needed);
    }

    /// Returns true if the die at a position of the striping order has failed for good.
    pub fn is_dead(&self, position: u32) -> bool {
        self.dead[position as usize].is_some()
    }

    /// Returns how the die at a position of the striping order failed for good; `None` if it is in
    /// service.
    pub fn failure_of(&self, position: u32) -> Option<Failure> {
        self.dead[position as usize]
    }

    /// Sets the spare to the room beyond what the drive needs, after dies have failed. Returns
    /// false if there is less room than that.
    pub fn count_spare(&mut self, shape: &Shape, is_retired: impl Fn(RuId) -> bool) -> bool {
        let room = self.room_of_all(shape, is_retired);
        self.counts.spare = room.saturating_sub(self.needed);
        room >= self.needed
    }

    /// Returns the memory that the drawn failures of all blocks take on the simulating machine.
    pub fn bytes(config: &Config, shape: &Shape) -> Bytes {
        if !config.blocks_fail() {
            return Bytes(0);
        }
        let blocks = u64::from(Shape::geometry_of(config).blocks());
        Fates::bytes(blocks) + Bytes::of::<Option<Box<Gaps>>>(shape.superblocks.into())
    }

    /// Returns the gaps of a superblock (program commands that store nothing because a block of
    /// their die has failed); `None` if no block of it has failed.
    #[inline]
    pub fn gaps(&self, superblock: RuId) -> Option<&Gaps> {
        self.gaps[superblock].as_deref()
    }

    /// Returns, for modification, the gaps of a superblock: the commands that program nothing
    /// because a block of their die has failed.
    pub fn gaps_mut(&mut self, shape: &Shape, superblock: RuId) -> &mut Gaps {
        self.gaps[superblock].get_or_insert_with(|| Box::new(Gaps::none(shape)))
    }

    /// Replaces the gaps of a superblock (commands that program nothing because a block of their
    /// die has failed); `None` if no block of it has failed.
    pub fn set_gaps(&mut self, superblock: RuId, gaps: Option<Gaps>) {
        self.gaps[superblock] = gaps.map(Box::new);
    }

    /// Returns a copy of the gaps of a superblock: the commands that program nothing because a
    /// block of their die has failed.
    pub fn copy_of(&self, shape: &Shape, superblock: RuId) -> Gaps {
        self.gaps(superblock).cloned().unwrap_or_else(|| Gaps::none(shape))
    }

    /// Returns the blocks of a superblock, on the die at a position of the striping order, that
    /// fail in their present P/E cycle; `erases` is the erase count of the superblock.
    pub fn failing(
        &self,
        shape: &Shape,
        (superblock, position): (RuId, u32),
        erases: u32,
    ) -> Vec<BlockId> {
        let Some(fates) = &self.fates else { return Vec::new() };
        let blocks = shape.blocks_on(superblock, shape.die_at(position));
        blocks.filter(|&block| fates.fails_in_this_cycle(block, erases)).collect()
    }

    /// Returns the blocks that fail when a given command of a superblock is programmed; `erases` is
    /// the erase count of the superblock.
    pub fn failing_programs(
        &self,
        shape: &Shape,
        (superblock, command): (RuId, u32),
        erases: u32,
    ) -> Vec<BlockId> {
        let Some(fates) = &self.fates else { return Vec::new() };
        let row = command / shape.dies;
        let mut blocks = self.failing(shape, (superblock, command % shape.dies), erases);
        blocks.retain(|&block| u32::from(fates[block].page) / self.rows == row);
        blocks
    }

    /// Returns true if a superblock stays in service once the dies with a failed block drop out of
    /// it: at least half of its data units are left and, if failures retire whole superblocks, only
    /// whole dies have failed. `gaps` records the commands that program nothing.
    pub fn stays(&self, shape: &Shape, gaps: &Gaps) -> bool {
        let mut after = gaps.clone();
        after.erased(shape, |_| true);
        let left = after.data_commands_from(0, false) * shape.units_per_command;
        let of_a_block = || gaps.failed_positions().any(|position| !self.is_dead(position));
        2 * left >= shape.data_units() && !(self.retire == Retire::Superblock && of_a_block())
    }

    /// Returns the units of data that a superblock can hold after its next erase, when the dies of
    /// failed blocks have dropped out of it; 0 if it will be retired.
    pub fn room(&self, shape: &Shape, gaps: Option<&Gaps>) -> u32 {
        let Some(gaps) = gaps else { return shape.data_units().saturating_sub(self.padding) };
        if !self.stays(shape, gaps) {
            return 0;
        }
        let mut after = gaps.clone();
        after.erased(shape, |_| true);
        let units = after.data_commands_from(0, false) * shape.units_per_command;
        units.saturating_sub(self.padding)
    }

    /// Returns the units of data by which the capacity of the drive shrinks if `gaps` become the
    /// commands of a superblock that program nothing because blocks have failed.
    pub fn lost(&self, shape: &Shape, superblock: RuId, gaps: &Gaps) -> u64 {
        if superblock.0 >= self.usual {
            return 0;
        }
        let before = self.room(shape, self.gaps(superblock));
        u64::from(before - self.room(shape, Some(gaps)))
    }

    /// Returns the units of data that all superblocks in service can hold after their next erase,
    /// without those reserved for the SLC cache.
    pub fn room_of_all(&self, shape: &Shape, is_retired: impl Fn(RuId) -> bool) -> u64 {
        let in_use = (0..self.usual).map(RuId).filter(|&it| !is_retired(it));
        in_use.map(|it| u64::from(self.room(shape, self.gaps(it)))).sum()
    }

    /// Returns the number of data programs of a command that have just failed, and resets it to 0.
    pub fn take_failed_programs(&mut self) -> u8 {
        std::mem::take(&mut self.failed_programs)
    }

    /// Counts the blocks of a superblock that go out of service: those of dies with a failed block,
    /// or of all dies that have not dropped out before. Blocks of dies that have failed for good
    /// are not counted.
    pub fn retire_parts(&mut self, shape: &Shape, superblock: RuId, all: bool) {
        let Some(gaps) = &self.gaps[superblock] else { return };
        let goes =
            |&die: &u32| !gaps.is_dropped(die) && !self.is_dead(die) && (all || !gaps.serves(die));
        let blocks = (0..shape.dies).filter(goes).map(|at| shape.die_at(at));
        let (mut failed, mut sound) = (0, 0);
        for block in blocks.flat_map(|die| shape.blocks_on(superblock, die)) {
            let has_failed = self.fates.as_ref().is_some_and(|fates| fates[block].failed);
            let count = if has_failed { &mut failed } else { &mut sound };
            *count += 1;
        }
        self.counts.retired += failed;
        self.counts.sound += sound;
    }

    /// Adds blocks to the record of failed blocks.
    pub fn mark(&mut self, blocks: &[BlockId]) {
        for &block in blocks {
            if let Some(fates) = &mut self.fates {
                fates[block].failed = true;
            }
        }
    }

    /// Returns the state of failed blocks, to be saved in the middle of a life; `retired` are the
    /// superblocks out of service.
    pub fn save(&self, retired: Vec<RuId>) -> SavedBadBlocks {
        let failed =
            self.fates.iter().flat_map(|fates| fates.ids().filter(|&block| fates[block].failed));
        let parts = self
            .gaps
            .ids()
            .zip(self.gaps.as_slice())
            .filter_map(|(it, gaps)| Some((it, gaps.as_ref()?)));
        let parts = parts.flat_map(|(superblock, gaps)| {
            gaps.saved().map(move |(position, from, failed)| (superblock, position, from, failed))
        });
        SavedBadBlocks {
            counts: self.counts,
            failed: failed.collect(),
            retired,
            parts: parts.collect(),
        }
    }

    /// Takes over the saved record of failed blocks. Returns false if no drive with as many dies,
    /// superblocks and commands as this one can be in that state.
    pub fn resume(&mut self, shape: &Shape, saved: &SavedBadBlocks) -> bool {
        self.counts = saved.counts;
        self.gaps.as_mut_slice().fill(None);
        let Some(fates) = &mut self.fates else { return false };
        for block in fates.ids() {
            fates[block].failed = false;
        }
        for &block in &saved.failed {
            let Some(fate) = fates.get_mut(block) else { return false };
            fate.failed = true;
        }
        let mut parts = saved.parts.clone();
        parts.sort_by_key(|&(superblock, _, from, failed)| (superblock, failed, from));
        for (superblock, position, from, failed) in parts {
            if superblock.0 >= shape.superblocks
                || !self.gaps_mut(shape, superblock).resume(shape, (position, from, failed))
            {
                return false;
            }
        }
        let dropped = |gaps: &Gaps| (0..shape.dies).any(|it| gaps.is_dropped(it));
        self.uneven =
            self.gaps.as_slice().iter().take(self.usual as usize).flatten().any(|it| dropped(it));
        self.gaps.as_slice().iter().flatten().all(|gaps| gaps.data_commands_from(0, true) > 0)
    }
}
