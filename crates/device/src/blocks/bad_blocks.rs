//! Blocks that fail in use.
//!
//! 1. Each block has a fate, drawn before the run (`block_fates.rs`).
//! 2. A program fails: the block takes no more pages, another open block takes the page in place of
//!    it, and the room of the plane shrinks. The failed block waits to be emptied
//!    (`gc/failed_blocks.rs`).
//! 3. An erase fails, or the block whose program failed has been emptied and erased: the block is
//!    retired.
//!
//! Exceptions: a block that the plane cannot spare now stays in use, and fails at a later erase.
//! When the drive as a whole can lose no block any more, none fails from then on (`worn_out`).
//!
//! Invariant: a block fails only if the drive still has room for `needed` pages without it; on a
//! drive whose addresses determine dies, if the die still has room for its own. See
//! docs/decisions/blocks.md, "How does a block fail?".

use super::block_fates::{ERASE, Fates};
use super::block_table::BlockState;
use super::page_allocator::PageAllocator;
use crate::config::Config;
pub use crate::config::bad_blocks::Params;
use crate::config::layout::{Layout, Refusals};
use crate::observe::operation::Source;
use crate::policy::stream_tag::StreamTag;
use fowler_units::{BlockId, Bytes, DieId, Nanos, PlaneId};
use serde::{Deserialize, Serialize};

/// Counts of block failures and their effects: failed programs and erases, blocks out of service,
/// and the spare pages left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadBlockCounts {
    /// Programs that failed.
    pub programs: u64,
    /// Erases that failed.
    pub erases: u64,
    /// Failed blocks that stayed in use for some cycles, because their plane needed them.
    pub delayed: u64,
    /// Retired blocks.
    pub retired: u64,
    /// Blocks that work and are no longer used, because they share a superblock with a failed one.
    pub sound: u64,
    /// The number of pages that the drive can lose before it can no longer hold its data.
    pub spare: u64,
    /// The time at which a block failed that the drive could not lose. No block has failed since.
    pub worn_out: Option<Nanos>,
}

/// The state of failing blocks, as saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BadBlocksSnapshot {
    counts: BadBlockCounts,
    /// Failed blocks that are not retired yet; the flag is true for a block that waits to be
    /// emptied.
    failed: Vec<(BlockId, bool)>,
}

/// The blocks that fail.
#[derive(Clone, Debug)]
pub(crate) struct BadBlocks {
    fates: Fates,
    /// Blocks whose program has just failed. These blocks are still open.
    just_failed: Vec<BlockId>,
    /// Blocks that wait to be emptied.
    waiting: Vec<BlockId>,
    /// The pages that a die must be able to hold, if addresses determine dies.
    homed: Option<u32>,
    /// Number of pages that the drive must be able to hold at any time: all mapped pages (data and
    /// parity), and one more.
    needed: u64,
    counts: BadBlockCounts,
}

impl Config {
    /// Returns true if blocks may fail.
    pub(crate) fn blocks_fail(&self) -> bool {
        self.bad_blocks.share > 0.0
    }

    pub(crate) fn refuse_bad_blocks(&self, refusals: &mut Refusals) {
        let params = &self.bad_blocks;
        let ranges = [
            ("bad_blocks.share", params.share, 0.0..=0.5),
            ("bad_blocks.shape", params.shape, 0.1..=20.0),
            ("bad_blocks.erases", params.erases, 0.0..=1.0),
        ];
        for (key, value, range) in ranges {
            refusals.unless(range.contains(&value), &[key], || {
                format!("{value}; expected {} to {}", range.start(), range.end())
            });
        }
    }
}

impl BadBlocks {
    /// Draws for every block the P/E cycle in which it fails and the operation that reports the
    /// failure. `erased` are the erase counts of the blocks.
    fn new(config: &Config, layout: &Layout, erased: &[u32]) -> BadBlocks {
        let fates = Fates::draw(config, &layout.geometry, erased.iter().copied());
        let homed = layout.mapped_pages.div_ceil(layout.geometry.dies()) + layout.parities + 1;
        let blocks = layout.geometry.blocks() as usize;
        BadBlocks {
            fates,
            just_failed: Vec::with_capacity(blocks),
            waiting: Vec::with_capacity(blocks),
            homed: config.redundancy.has_stripes().then_some(homed),
            // An overwrite needs its new page before the old one becomes invalid.
            needed: u64::from(layout.mapped_pages) + 1,
            counts: BadBlockCounts::default(),
        }
    }

    /// Returns the memory that the state of failing blocks takes on the simulating machine; 0 if
    /// blocks never fail.
    pub fn bytes(config: &Config, layout: &Layout) -> Bytes {
        let blocks = u64::from(layout.geometry.blocks());
        match config.blocks_fail() {
            true => Fates::bytes(blocks) + Bytes::of::<[u32; 2]>(blocks),
            false => Bytes(0),
        }
    }

    /// Returns true if a block that has not failed yet fails in its present cycle.
    fn fails_in_this_cycle(&self, block: BlockId, erases: u32) -> bool {
        self.counts.worn_out.is_none() && self.fates.fails_in_this_cycle(block, erases)
    }
}

impl PageAllocator {
    /// Lets blocks fail from now on, if the drive is to have such blocks.
    pub fn let_blocks_fail(&mut self, config: &Config, layout: &Layout) {
        let erased = self.blocks.erase_counts();
        let mut bad_blocks = config.blocks_fail().then(|| BadBlocks::new(config, layout, erased));
        if let Some(bad_blocks) = &mut bad_blocks {
            let dies = (0..layout.geometry.dies()).map(DieId);
            bad_blocks.counts.spare = match bad_blocks.homed {
                None => self.room_of_all().saturating_sub(bad_blocks.needed),
                Some(homed) => {
                    let least = dies.map(|die| self.room_of(die).saturating_sub(homed)).min();
                    u64::from(least.unwrap_or(0)) * u64::from(layout.geometry.dies())
                }
            };
        }
        self.bad_blocks = bad_blocks.map(Box::new);
    }

    /// Lets no block fail any more.
    ///
    /// # Panics
    /// If failed blocks wait to be emptied.
    pub fn let_no_block_fail(&mut self) {
        let waiting =
            self.bad_blocks.as_ref().is_some_and(|bad_blocks| !bad_blocks.waiting.is_empty());
        assert!(!waiting, "failed blocks that nobody would empty");
        self.bad_blocks = None;
    }

    /// Returns the counts of block failures so far (failed programs and erases, blocks out of
    /// service, spare pages left); `None` if blocks never fail.
    pub fn bad_blocks(&self) -> Option<BadBlockCounts> {
        self.bad_blocks.as_ref().map(|bad_blocks| bad_blocks.counts)
    }

    /// Resets the counts of failed programs and erases. The number of spare pages and the time at
    /// which the drive was worn out are not reset.
    pub fn count_failures_anew(&mut self) {
        if let Some(bad_blocks) = &mut self.bad_blocks {
            let BadBlockCounts { spare, worn_out, .. } = bad_blocks.counts;
            bad_blocks.counts = BadBlockCounts { spare, worn_out, ..BadBlockCounts::default() };
        }
    }

    /// Returns true if blocks may fail.
    #[inline]
    pub fn blocks_fail(&self) -> bool {
        self.bad_blocks.is_some()
    }

    /// Returns true if the program of the next page of an open block fails.
    #[inline]
    pub(super) fn program_fails(&self, block: BlockId) -> bool {
        self.bad_blocks.as_ref().is_some_and(|bad_blocks| {
            u32::from(bad_blocks.fates[block].page) == self.blocks.written(block)
                && bad_blocks.fails_in_this_cycle(block, self.blocks.erases(block))
        })
    }

    /// Returns the open block that takes a page in place of `block`, which fails to program that
    /// page. Returns `block` itself if the plane cannot spare it (too few erased blocks, or too
    /// little room); the block then stays in use and fails at its next erase.
    #[cold]
    #[inline(never)]
    pub(super) fn sound_block(
        &mut self,
        plane: PlaneId,
        mut block: BlockId,
        source: Source,
        tag: StreamTag,
    ) -> BlockId {
        let opened = self.open_blocks.opened_for(source, tag);
        // The next erased block takes the page at once, and GC needs another.
        while self.program_fails(block)
            && self.blocks.free_in(plane) >= 2
            && self.fits_without_a_block(plane, 1)
            && self.gives_up_a_block(plane)
        {
            let offset = self.blocks.written(block);
            self.blocks.pass_over_rest(block);
            self.shrink(plane);
            if let Some(bad_blocks) = &mut self.bad_blocks {
                bad_blocks.fates[block].failed = true;
                bad_blocks.counts.programs += 1;
                bad_blocks.just_failed.push(block);
            }
            block = self.open_blocks.open(&mut self.blocks, plane, source, tag);
            // Planes that are programmed together stay at the same offset.
            if opened.is_host() && self.blocks.geometry().planes_per_die > 1 {
                self.blocks.skip(block, offset);
            }
        }
        block
    }

    /// Returns the number of pages of an open block, at most `most`, that are programmed before a
    /// program fails.
    pub(super) fn pages_before_failure(&self, block: BlockId, most: u32) -> u32 {
        let Some(bad_blocks) = &self.bad_blocks else { return most };
        let (page, written) = (u32::from(bad_blocks.fates[block].page), self.blocks.written(block));
        let fails =
            page > written && bad_blocks.fails_in_this_cycle(block, self.blocks.erases(block));
        if fails { most.min(page - written) } else { most }
    }

    /// Ends the erase of a block: marks it as erased, or retires it because it has failed.
    pub fn erased(&mut self, block: BlockId, now: Nanos) {
        if self.bad_blocks.is_some() && self.retires(block, now) {
            self.blocks.retire(block);
        } else {
            self.blocks.erase(block);
        }
    }

    /// Returns true if a block whose erase ends is retired.
    #[cold]
    #[inline(never)]
    fn retires(&mut self, block: BlockId, now: Nanos) -> bool {
        let plane = self.blocks.geometry().plane_of_block(block);
        let erases = self.blocks.erases(block);
        let Some(bad_blocks) = &mut self.bad_blocks else { return false };
        // A block whose program has failed has left the room of its plane already.
        let emptied = bad_blocks.fates[block].page != ERASE && bad_blocks.fates[block].failed;
        let fails = bad_blocks.fails_in_this_cycle(block, erases);
        if fails {
            if !self.gives_up_a_block(plane) {
                if let Some(bad_blocks) = &mut self.bad_blocks {
                    bad_blocks.counts.worn_out = Some(now);
                }
                return false;
            }
            self.mark(block);
        } else if !bad_blocks.fates[block].failed {
            return false;
        }
        let room = emptied || self.fits_without_a_block(plane, 0);
        let may = self.blocks.free_in(plane) >= 1 && room;
        if may && !emptied {
            self.shrink(plane);
        }
        let Some(bad_blocks) = &mut self.bad_blocks else { return false };
        bad_blocks.counts.retired += u64::from(may);
        bad_blocks.counts.delayed += u64::from(fails && !may);
        may
    }

    /// Notes that an erase of a block has failed.
    fn mark(&mut self, block: BlockId) {
        if let Some(bad_blocks) = &mut self.bad_blocks {
            let fate = &mut bad_blocks.fates[block];
            (fate.page, fate.failed) = (ERASE, true);
            bad_blocks.counts.erases += 1;
        }
    }

    /// Returns true if a plane and its die still have enough room after losing one block: for the
    /// valid pages that they hold, the pages assigned to them, and `taken` pages that are being
    /// placed now. With less room, host writes would wait forever.
    fn fits_without_a_block(&self, plane: PlaneId, taken: u32) -> bool {
        let geometry = self.blocks.geometry();
        let (pages, die) = (geometry.pages_per_block, geometry.die_of_plane(plane));
        let limits: u32 = geometry.planes_of_die(die).map(|it| self.blocks.limit_of(it)).sum();
        self.blocks.valid_in(plane) + taken + pages <= self.blocks.limit_of(plane)
            && self.assigned_to(die) + taken + pages <= limits
    }

    /// Takes a block out of the capacity that its die has for host data, if the drive can hold its
    /// data without that block. Data that no longer fits on the die moves to other dies as the host
    /// rewrites it. Returns true if the block was taken.
    fn gives_up_a_block(&mut self, plane: PlaneId) -> bool {
        let pages = self.blocks.geometry().pages_per_block;
        let die = self.blocks.geometry().die_of_plane(plane);
        let dies = u64::from(self.blocks.geometry().dies());
        let room = self.room_of(die);
        let Some(bad_blocks) = &mut self.bad_blocks else { return false };
        match bad_blocks.homed {
            None if bad_blocks.counts.spare < u64::from(pages) || room < pages => return false,
            Some(homed) if room < homed + pages => return false,
            None => bad_blocks.counts.spare -= u64::from(pages),
            Some(homed) => {
                // The die with the least room decides.
                let left = u64::from(room - pages - homed) * dies;
                bad_blocks.counts.spare = bad_blocks.counts.spare.min(left);
            }
        }
        self.lower_room(die, pages);
        true
    }

    /// Subtracts a block from the pages that a plane may hold.
    fn shrink(&mut self, plane: PlaneId) {
        let pages = self.blocks.geometry().pages_per_block;
        self.blocks.lower_limit(plane, pages);
    }

    /// Removes and returns the next block whose program has just failed; `None` if no such block is
    /// left to handle.
    pub fn next_failed(&mut self) -> Option<BlockId> {
        self.bad_blocks.as_mut()?.just_failed.pop()
    }

    /// Notes a failed block, full and no candidate for GC, that waits to be emptied.
    pub fn await_emptying(&mut self, block: BlockId) {
        if let Some(bad_blocks) = &mut self.bad_blocks {
            bad_blocks.waiting.push(block);
        }
    }

    /// Takes a block of a plane that waits to be emptied, if the plane has room for its data beside
    /// what GC needs.
    pub fn take_waiting(&mut self, plane: PlaneId) -> Option<BlockId> {
        let bad_blocks = self.bad_blocks.as_mut()?;
        let geometry = self.blocks.geometry();
        let at = bad_blocks.waiting.iter().position(|&it| geometry.plane_of_block(it) == plane)?;
        (self.blocks.free_in(plane) >= 2).then(|| bad_blocks.waiting.remove(at))
    }

    /// Notes that the drive can no longer hold its capacity.
    pub fn note_worn_out(&mut self, now: Nanos) {
        if let Some(bad_blocks) = &mut self.bad_blocks {
            bad_blocks.counts.worn_out.get_or_insert(now);
        }
    }

    /// Forgets the failed blocks of a die that has failed itself, and counts anew the pages that
    /// the drive can lose.
    pub(super) fn forget_failed_blocks(&mut self, die: DieId) {
        let geometry = *self.blocks.geometry();
        let dies = (0..geometry.dies()).map(DieId).filter(|&die| !self.has_failed(die));
        let (room, live) = (self.room_of_all(), dies.clone().count() as u32);
        let least = dies.map(|die| self.room_of(die)).min().unwrap_or(0);
        let Some(bad_blocks) = &mut self.bad_blocks else { return };
        bad_blocks
            .waiting
            .retain(|&block| geometry.die_of_plane(geometry.plane_of_block(block)) != die);
        match &mut bad_blocks.homed {
            None => {
                let needed = bad_blocks.needed;
                bad_blocks.counts.spare = bad_blocks.counts.spare.min(room.saturating_sub(needed));
            }
            Some(homed) => {
                // The other dies hold the pages of the failed die's stripes as well.
                *homed =
                    (u64::from(*homed) * u64::from(live + 1)).div_ceil(live.max(1).into()) as u32;
                bad_blocks.counts.spare = u64::from(least.saturating_sub(*homed)) * u64::from(live);
            }
        }
    }

    /// Returns the state of failing blocks for a snapshot of the drive: counts, and failed blocks
    /// that are not retired yet. `None` if blocks never fail.
    pub(super) fn saved_bad_blocks(&self) -> Option<BadBlocksSnapshot> {
        let bad_blocks = self.bad_blocks.as_ref()?;
        let in_use = |block: &BlockId| self.blocks.state(*block) != BlockState::Retired;
        let failed =
            bad_blocks.fates.ids().filter(|&block| bad_blocks.fates[block].failed).filter(in_use);
        let failed = failed.map(|block| (block, bad_blocks.fates[block].page != ERASE));
        Some(BadBlocksSnapshot { counts: bad_blocks.counts, failed: failed.collect() })
    }

    /// Restores the state of failing blocks from a snapshot of the drive, after the number of pages
    /// that planes and dies can hold has been restored. Returns false if the snapshot is that of
    /// another drive.
    pub(super) fn resume_bad_blocks(&mut self, saved: Option<BadBlocksSnapshot>) -> bool {
        let (bad_blocks, saved) = match (&mut self.bad_blocks, saved) {
            (Some(bad_blocks), Some(saved)) => (bad_blocks, saved),
            (bad_blocks, saved) => return bad_blocks.is_none() && saved.is_none(),
        };
        bad_blocks.counts = saved.counts;
        for (block, by_program) in saved.failed {
            let Some(fate) = bad_blocks.fates.get_mut(block) else { return false };
            fate.failed = true;
            if !by_program {
                fate.page = ERASE;
            } else if self.blocks.state(block) == BlockState::Collecting {
                bad_blocks.waiting.push(block);
            }
        }
        true
    }
}
