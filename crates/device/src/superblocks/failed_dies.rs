//! The dies of a drive that have failed, and the spare ones. What the drive does about them is in
//! [`super::die_failures`].

use super::bad_blocks::BadBlocks;
use super::gaps::Gaps;
use super::shape::Shape;
use crate::blocks::failed_dies::{FailedDieCounts, Params};
use crate::config::Config;
use fowler_units::{Bytes, RuId};

/// The dies of a drive that have failed, the spare ones that are left, and the effects.
#[derive(Clone, Debug)]
pub(super) struct FailedDies {
    pub counts: FailedDieCounts,
    /// The record of gaps that the drive begins with when the first die fails for good, if it has
    /// none because no block can fail.
    pub gaps: Option<Box<BadBlocks>>,
    /// Superblocks that are erased and of which no die is left to do so: their erase ends at once.
    pub without_dies: Vec<RuId>,
}

impl FailedDies {
    /// Creates the record of a drive on which no die has failed.
    pub fn new(config: &Config, shape: &Shape) -> FailedDies {
        let counts =
            FailedDieCounts { spare: config.failed_dies.spare, ..FailedDieCounts::default() };
        // Faults strike only drives that notice losses.
        let gaps = config.keeps_contents() && !config.blocks_fail();
        let gaps = gaps.then(|| Box::new(BadBlocks::with(config, shape, None)));
        FailedDies { counts, gaps, without_dies: Vec::new() }
    }

    /// Returns the memory of the simulating machine that the record takes.
    pub fn bytes(config: &Config, shape: &Shape) -> Bytes {
        match config.keeps_contents() && !config.blocks_fail() {
            true => Bytes::of::<Option<Box<Gaps>>>(shape.superblocks.into()),
            false => Bytes(0),
        }
    }

    /// Returns true if a die has failed for good.
    #[inline]
    pub fn any(&self) -> bool {
        self.counts.failed > 0
    }

    /// Takes a spare die in place of one that has failed. Returns false if there is none.
    pub fn replaces(&mut self) -> bool {
        let counts = &mut self.counts;
        let replaced = counts.spare > 0;
        if replaced {
            counts.spare -= u32::from(counts.spare != Params::ENDLESS);
            counts.replaced += 1;
        }
        replaced
    }
}
