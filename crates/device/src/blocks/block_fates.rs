//! The P/E cycle in which each block fails, and the operation that reports it: the laws of failure
//! of every drive, whatever it does with a block that has failed.
//!
//! Invariants: fates are drawn once, before the run, from a random stream of their own, so they do
//! not depend on the workload; a block that has failed does not fail again. See
//! docs/decisions/blocks.md, "How does a block fail?".

use crate::config::Config;
use fowler_physics::bad_blocks::FailureLaw;
use fowler_units::{BlockId, Bytes, Geometry, Id, IdVec, Rng};
use std::ops::{Index, IndexMut};

/// The failure drawn for a block before the run: its P/E cycle, and the operation that reports it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    /// The P/E cycle in which the block fails, counted from the beginning of the run.
    cycle: u32,
    /// Page of the block, counted from 0, whose program fails; [`ERASE`] if no program fails, but
    /// the erase at the end of the P/E cycle.
    pub page: u16,
    /// True once the block has failed and its pages are no longer counted on. The block is retired
    /// as soon as the drive can do without it.
    pub failed: bool,
}

/// Marks a failure without a page: the erase at the end of the cycle fails.
pub(crate) const ERASE: u16 = u16::MAX;

/// For every block, the P/E cycle in which it fails and the operation that reports the failure,
/// drawn before the run.
#[derive(Clone, Debug)]
pub(crate) struct Fates {
    fates: IdVec<BlockId, Fate>,
    /// Erase count of each block at the time when the block failures were drawn, before the run.
    begun: IdVec<BlockId, u32>,
    /// The number of real P/E cycles that a simulated one stands for.
    dilation: u32,
}

impl Fates {
    /// Draws for every block of a geometry when and how it fails. `erased` are the erase counts of
    /// the blocks.
    pub fn draw(
        config: &Config,
        geometry: &Geometry,
        erased: impl Iterator<Item = u32> + Clone,
    ) -> Fates {
        let params = &config.bad_blocks;
        let law =
            FailureLaw { share: params.share, cycles: config.life.cycles, shape: params.shape };
        let mut rng = Rng::stream(config.seed, "bad_blocks");
        let cycles = config.initial_cycles(geometry.blocks());
        let pages = u64::from(config.geometry.pages_per_block);
        let fates = cycles.as_slice().iter().zip(erased.clone()).map(|(&before, erased)| {
            let survived = f64::from(before) + f64::from(erased);
            let more = law.fails_after(survived, rng.unit()) - survived;
            let (by_erase, page) = (rng.chance(params.erases), rng.below(pages) as u16);
            // Saturates: a block with more cycles to go never fails.
            let page = if by_erase { ERASE } else { page };
            Fate { cycle: more as u32, page, failed: false }
        });
        Fates {
            fates: fates.collect(),
            begun: erased.collect(),
            dilation: config.life.dilation.max(1),
        }
    }

    /// Lets a block fail in its present cycle, with the program of a page or with its erase.
    #[cfg(test)]
    pub fn set(&mut self, block: BlockId, page: Option<u16>) {
        self.fates[block] = Fate { cycle: 0, page: page.unwrap_or(ERASE), failed: false };
    }

    /// Returns the memory that the failures drawn for `blocks` blocks take on the simulating
    /// machine.
    pub fn bytes(blocks: u64) -> Bytes {
        Bytes::of::<Fate>(blocks) + Bytes::of::<u32>(blocks)
    }

    /// Returns true if a block that has been erased so often, and has not failed yet, fails in its
    /// present cycle.
    pub fn fails_in_this_cycle(&self, block: BlockId, erases: u32) -> bool {
        let Fate { cycle, failed, .. } = self.fates[block];
        let since = u64::from(erases - self.begun[block]) * u64::from(self.dilation);
        // The cycle of the failure is one of the real cycles that this one stands for, or an
        // earlier one.
        !failed && since + u64::from(self.dilation) > u64::from(cycle)
    }

    /// Returns the numbers of all blocks.
    pub fn ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        self.fates.ids()
    }

    /// Returns the failure drawn for a block, for modification; `None` if there is no such block.
    pub fn get_mut(&mut self, block: BlockId) -> Option<&mut Fate> {
        self.fates.as_mut_slice().get_mut(block.index())
    }
}

impl Index<BlockId> for Fates {
    type Output = Fate;
    #[inline]
    fn index(&self, block: BlockId) -> &Fate {
        &self.fates[block]
    }
}

impl IndexMut<BlockId> for Fates {
    fn index_mut(&mut self, block: BlockId) -> &mut Fate {
        &mut self.fates[block]
    }
}
