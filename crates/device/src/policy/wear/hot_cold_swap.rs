//! Hot-cold swap (Agrawal et al., "Design Tradeoffs for SSD Performance", USENIX ATC'08, section 3.5):
//! when a block's wear runs ahead, cold data from the least worn block moves into it, so that it rests
//! and the young block takes its turn.

use super::{Candidates, Params, Wear};
use fowler_units::BlockId;

/// See the module.
#[derive(Clone, Debug)]
pub struct HotColdSwap {
    threshold: u32,
}

impl HotColdSwap {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self { threshold: params.threshold }
    }
}

impl Wear for HotColdSwap {
    fn swap(&mut self, candidates: &Candidates<'_>, erased: BlockId) -> Option<BlockId> {
        let coldest = candidates.iter().min_by_key(|&block| candidates.erases(block))?;
        let ahead = candidates.erases(erased).saturating_sub(candidates.erases(coldest));
        (ahead > self.threshold).then_some(coldest)
    }
}
