//! Hot-cold swap (Agrawal et al., "Design Tradeoffs for SSD Performance", USENIX ATC'08, section
//! 3.5): when a block becomes much more worn than others, cold data from the least worn block moves
//! into it, so that the worn block is not erased for a while and the other one is used.

use super::{Candidates, Params, Wear};
use fowler_units::BlockId;
use serde::{Deserialize, Serialize};

/// Swaps cold data into a block that is much more worn than others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HotColdSwap {
    threshold: u32,
    /// For each plane, the fewest erases of any block, as of the last scan of the plane's erase
    /// counts. The true value can only be higher, so a block that is not worn far beyond this value
    /// needs no new scan.
    fewest: Vec<u32>,
}

impl HotColdSwap {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self { threshold: params.threshold, fewest: Vec::new() }
    }
}

impl Wear for HotColdSwap {
    fn swap(&mut self, candidates: &Candidates<'_>, erased: BlockId) -> Option<BlockId> {
        let plane = (candidates.slot(0).0 / candidates.slots()) as usize;
        if self.fewest.len() <= plane {
            self.fewest.resize(plane + 1, 0);
        }
        let worn = candidates.erases(erased);
        if worn.saturating_sub(self.fewest[plane]) <= self.threshold {
            return None;
        }
        let slots = (0..candidates.slots()).map(|index| candidates.slot(index));
        let every = slots.filter(|&it| candidates.is_in_use(it)).map(|it| candidates.erases(it));
        self.fewest[plane] = every.min().unwrap_or(0);
        if worn.saturating_sub(self.fewest[plane]) <= self.threshold {
            return None;
        }
        let coldest = candidates.iter().min_by_key(|&block| candidates.erases(block))?;
        let ahead = worn.saturating_sub(candidates.erases(coldest));
        (ahead > self.threshold).then_some(coldest)
    }
}
