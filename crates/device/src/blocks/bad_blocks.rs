//! Blocks that fail in use. A program or an erase reports failure; the data of the block is moved,
//! the block is retired, and the room of its plane shrinks. See docs/decisions/blocks.md, "How does a
//! block fail?".

use super::page_allocator::PageAllocator;
use crate::config::Config;
use crate::config::layout::{Layout, Refusals};
use crate::observe::operation::Source;
use crate::policy::stream_tag::StreamTag;
use fowler_physics::bad_blocks::FailureLaw;
use fowler_units::{BlockId, Bytes, IdVec, Nanos, PlaneId, Rng};
use serde::{Deserialize, Serialize};

/// When and how blocks fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The share of blocks that have failed when all have reached `lifetime.cycles`; in [0, 0.5].
    /// Zero: no block fails.
    pub share: f64,
    /// The Weibull shape of the P/E cycle in which a block fails; in [0.1, 20].
    pub shape: f64,
    /// The share of failures that an erase reports; in [0, 1]. A program reports the others.
    pub erases: f64,
}

impl Default for Params {
    /// Off. The shape and the share of erases are assumed.
    fn default() -> Self {
        Self { share: 0.0, shape: 3.0, erases: 0.5 }
    }
}

/// What has become of failing blocks so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadBlockCounts {
    /// Programs that failed; each cost its block.
    pub programs: u64,
    /// Erases that failed; each cost its block.
    pub erases: u64,
    /// Erases that would have failed, of blocks that the drive could not spare at that moment.
    pub postponed: u64,
    /// Retired blocks.
    pub retired: u64,
    /// When the drive would have lost so many blocks that the rest could not hold its data.
    pub worn_out: Option<Nanos>,
}

/// The state of failing blocks, as saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BadBlocksSnapshot {
    counts: BadBlockCounts,
    condemned: Vec<BlockId>,
}

/// How a block fails.
#[derive(Clone, Copy, Debug)]
struct Fate {
    /// The P/E cycle in which it fails, counted from the beginning of the run.
    cycle: u32,
    /// The page whose program fails, or [`ERASE`].
    page: u16,
    /// A program of it has failed: it is retired when it is erased next.
    condemned: bool,
}

/// No page: the erase at the end of the cycle fails.
const ERASE: u16 = u16::MAX;

/// The blocks that fail.
#[derive(Clone, Debug)]
pub(crate) struct BadBlocks {
    fates: IdVec<BlockId, Fate>,
    /// How often each block had been erased at the beginning.
    begun: IdVec<BlockId, u32>,
    /// The number of cycles that one stands for.
    dilation: u32,
    /// Blocks whose program has just failed. They are still open.
    failed: Vec<BlockId>,
    /// Blocks that wait to be emptied.
    condemned: Vec<BlockId>,
    /// The pages that all planes may lose before they cannot hold the drive's data, and those that
    /// a die may lose if addresses determine dies.
    left: u64,
    left_of_die: Option<u32>,
    counts: BadBlockCounts,
}

impl Config {
    /// Returns whether blocks may fail.
    pub(crate) fn blocks_fail(&self) -> bool {
        self.bad_blocks.share > 0.0
    }

    pub(crate) fn refuse_bad_blocks(&self, refusals: &mut Refusals) {
        let its = &self.bad_blocks;
        let ranges = [
            ("bad_blocks.share", its.share, 0.0..=0.5),
            ("bad_blocks.shape", its.shape, 0.1..=20.0),
            ("bad_blocks.erases", its.erases, 0.0..=1.0),
        ];
        for (key, value, range) in ranges {
            refusals.unless(range.contains(&value), &[key], || {
                format!("{value}; expected {} to {}", range.start(), range.end())
            });
        }
    }
}

impl BadBlocks {
    /// Draws the fate of every block; `erased` is how often each has been erased.
    fn new(config: &Config, layout: &Layout, erased: &[u32]) -> BadBlocks {
        let its = &config.bad_blocks;
        let law = FailureLaw { share: its.share, cycles: config.life.cycles, shape: its.shape };
        let mut rng = Rng::stream(config.seed, "bad_blocks");
        let dilation = config.life.dilation.max(1);
        let cycles = config.initial_cycles(layout.geometry.blocks());
        let pages = u64::from(layout.geometry.pages_per_block);
        let fates = cycles.as_slice().iter().zip(erased).map(|(&before, &erased)| {
            let survived = f64::from(before) + f64::from(erased);
            let more = law.fails_after(survived, rng.unit()) - survived;
            let (by_erase, page) = (rng.chance(its.erases), rng.below(pages) as u16);
            // Saturates: a block with more cycles to go never fails.
            let cycle = more as u32;
            Fate { cycle, page: if by_erase { ERASE } else { page }, condemned: false }
        });
        let dies = layout.geometry.dies();
        let room = u64::from(layout.geometry.planes()) * u64::from(layout.plane_limit());
        let homed = layout.mapped_pages.div_ceil(dies) + layout.parities + 1;
        let of_die = layout.geometry.planes_per_die * layout.plane_limit();
        BadBlocks {
            fates: fates.collect(),
            begun: erased.iter().copied().collect(),
            dilation,
            failed: Vec::new(),
            condemned: Vec::new(),
            // An overwrite needs its new page before the old one becomes invalid.
            left: room.saturating_sub(u64::from(layout.mapped_pages) + 1),
            left_of_die: config.redundancy.has_stripes().then(|| of_die.saturating_sub(homed)),
            counts: BadBlockCounts::default(),
        }
    }

    /// Returns the memory that this takes.
    pub fn bytes(config: &Config, layout: &Layout) -> Bytes {
        let blocks = u64::from(layout.geometry.blocks());
        match config.blocks_fail() {
            true => Bytes::of::<Fate>(blocks) + Bytes::of::<u32>(blocks),
            false => Bytes(0),
        }
    }

    /// Returns whether the present cycle of a block is its last.
    fn is_last_cycle(&self, block: BlockId, erases: u32) -> bool {
        let since = u64::from(erases - self.begun[block]) * u64::from(self.dilation);
        // The cycle in which it fails is one of those that this one stands for, or an earlier one.
        since + u64::from(self.dilation) > u64::from(self.fates[block].cycle)
    }
}

/// What a plane must have left for a block of it to fail.
#[derive(Clone, Copy)]
enum Loss {
    /// A program: the next erased block takes its page at once, and another must be left for GC.
    OfProgram,
    /// An erase: an erased block must be left for GC.
    OfErase,
}

impl PageAllocator {
    /// Lets blocks fail from now on, if the drive is to have such blocks.
    pub fn let_blocks_fail(&mut self, config: &Config, layout: &Layout) {
        let erased = self.blocks.erase_counts();
        let its = config.blocks_fail().then(|| BadBlocks::new(config, layout, erased));
        self.bad_blocks = its.map(Box::new);
    }

    /// Lets no block fail any more.
    pub fn let_no_block_fail(&mut self) {
        self.bad_blocks = None;
    }

    /// Returns what has become of failing blocks, if blocks may fail.
    pub fn bad_blocks(&self) -> Option<BadBlockCounts> {
        self.bad_blocks.as_ref().map(|its| its.counts)
    }

    /// Returns whether blocks may fail.
    #[inline]
    pub fn blocks_fail(&self) -> bool {
        self.bad_blocks.is_some()
    }

    /// Returns the open block of a plane that takes the next page of `source` and `tag`: `block`, or
    /// an erased one if the program in that fails. Its page lies at the same offset: planes that are
    /// programmed together stay in step.
    #[cold]
    #[inline(never)]
    pub(super) fn sound_block(
        &mut self,
        plane: PlaneId,
        mut block: BlockId,
        source: Source,
        tag: StreamTag,
    ) -> BlockId {
        while self.program_fails(block) && self.can_lose(plane, Loss::OfProgram) {
            let offset = self.blocks.written(block);
            self.blocks.pass_over_rest(block);
            self.lose(plane);
            let its = self.bad_blocks.as_mut().expect("a block has failed");
            its.fates[block].condemned = true;
            its.counts.programs += 1;
            its.failed.push(block);
            block = self.open_blocks.open(&mut self.blocks, plane, source, tag);
            self.blocks.skip(block, offset);
        }
        block
    }

    /// Returns how many pages of an open block, at most `most`, are programmed before one fails.
    pub(super) fn pages_before_failure(&self, block: BlockId, most: u32) -> u32 {
        let Some(its) = &self.bad_blocks else { return most };
        let (page, written) = (u32::from(its.fates[block].page), self.blocks.written(block));
        let fails = its.is_last_cycle(block, self.blocks.erases(block)) && page > written;
        if fails { most.min(page - written) } else { most }
    }

    /// Returns whether the program of the next page of an open block fails.
    fn program_fails(&self, block: BlockId) -> bool {
        self.bad_blocks.as_ref().is_some_and(|its| {
            let Fate { page, condemned, .. } = its.fates[block];
            !condemned
                && u32::from(page) == self.blocks.written(block)
                && its.is_last_cycle(block, self.blocks.erases(block))
        })
    }

    /// Ends the erase of a block. It is erased, or has failed and is retired.
    pub fn erased(&mut self, block: BlockId, now: Nanos) {
        if self.bad_blocks.is_some() && self.retires(block, now) {
            self.blocks.retire(block);
        } else {
            self.blocks.erase(block);
        }
    }

    /// Returns whether a block whose erase ends is used no more.
    #[cold]
    fn retires(&mut self, block: BlockId, now: Nanos) -> bool {
        let (plane, erases) =
            (self.blocks.geometry().plane_of_block(block), self.blocks.erases(block));
        let Some(its) = &self.bad_blocks else { return false };
        let condemned = its.fates[block].condemned;
        if !condemned && !its.is_last_cycle(block, erases) {
            return false;
        }
        // The room of a condemned block is gone already.
        let may = match condemned {
            true => self.blocks.free_in(plane) > 0,
            false => self.can_lose(plane, Loss::OfErase),
        };
        let worn_out = !condemned && !self.holds_data_without_a_block_of(plane);
        if may && !condemned {
            self.lose(plane);
        }
        let Some(its) = &mut self.bad_blocks else { return false };
        if may {
            its.counts.retired += 1;
            its.counts.erases += u64::from(!condemned);
        } else {
            its.counts.postponed += 1;
            if worn_out {
                its.counts.worn_out.get_or_insert(now);
            }
        }
        may
    }

    /// Returns whether a plane can do without one more block now.
    fn can_lose(&self, plane: PlaneId, loss: Loss) -> bool {
        let die = self.blocks.geometry().die_of_plane(plane);
        let pages = self.blocks.geometry().pages_per_block;
        let erased = match loss {
            Loss::OfProgram => 2,
            Loss::OfErase => 1,
        };
        self.blocks.free_in(plane) >= erased
            && self.blocks.valid_in(plane) + pages <= self.blocks.limit_of(plane)
            && self.assigned_to(die) + pages <= self.room_of(die)
            && self.holds_data_without_a_block_of(plane)
    }

    /// Returns whether the drive could hold all its data with one block less on a plane.
    fn holds_data_without_a_block_of(&self, plane: PlaneId) -> bool {
        let Some(its) = &self.bad_blocks else { return false };
        let die = self.blocks.geometry().die_of_plane(plane);
        let pages = self.blocks.geometry().pages_per_block;
        let lost = self.die_limit - self.room_of(die);
        its.left >= u64::from(pages) && its.left_of_die.is_none_or(|left| lost + pages <= left)
    }

    /// Takes the pages of a block from the room of its plane.
    fn lose(&mut self, plane: PlaneId) {
        let pages = self.blocks.geometry().pages_per_block;
        self.blocks.lower_limit(plane, pages);
        self.lower_room(self.blocks.geometry().die_of_plane(plane), pages);
        if let Some(its) = &mut self.bad_blocks {
            its.left -= u64::from(pages);
        }
    }

    /// Takes a block whose program has just failed.
    pub fn next_failed(&mut self) -> Option<BlockId> {
        self.bad_blocks.as_mut()?.failed.pop()
    }

    /// Notes a failed block, full and no candidate for GC, that waits to be emptied.
    pub fn condemn(&mut self, block: BlockId) {
        if let Some(its) = &mut self.bad_blocks {
            its.condemned.push(block);
        }
    }

    /// Takes a block of a plane that waits to be emptied, if the plane has room for its data beside
    /// what GC needs.
    pub fn take_condemned(&mut self, plane: PlaneId) -> Option<BlockId> {
        let its = self.bad_blocks.as_mut()?;
        let geometry = self.blocks.geometry();
        let at = its.condemned.iter().position(|&it| geometry.plane_of_block(it) == plane)?;
        (self.blocks.free_in(plane) >= 2).then(|| its.condemned.remove(at))
    }

    /// Returns the state to save.
    pub(super) fn saved_bad_blocks(&self) -> Option<BadBlocksSnapshot> {
        let its = self.bad_blocks.as_ref()?;
        Some(BadBlocksSnapshot { counts: its.counts, condemned: its.condemned.clone() })
    }

    /// Resumes from a saved state. The room of planes and dies is already that of the snapshot.
    pub(super) fn resume_bad_blocks(&mut self, saved: Option<BadBlocksSnapshot>) {
        let pages = u64::from(self.blocks.geometry().pages_per_block);
        let (Some(its), Some(saved)) = (&mut self.bad_blocks, saved) else { return };
        let lost = saved.counts.programs + saved.counts.erases;
        its.left = its.left.saturating_sub(lost * pages);
        saved.condemned.iter().for_each(|&block| its.fates[block].condemned = true);
        (its.counts, its.condemned) = (saved.counts, saved.condemned);
    }
}
