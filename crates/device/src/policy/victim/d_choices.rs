//! GC by d choices: the victim is the block with the fewest valid pages among `d` drawn at random,
//! with replacement (Van Houdt, "A mean field model for a class of garbage collection algorithms in
//! flash-based solid state drives", SIGMETRICS'13). `d = 1` is a random victim.

use super::{Candidates, Params, Victim};
use fowler_units::{BlockId, Nanos, Rng};
use serde::{Deserialize, Serialize};

/// Chooses the emptiest of `d` random blocks as victim.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DChoices {
    d: u32,
    rng: Rng,
}

impl DChoices {
    pub(super) fn new(params: &Params, seed: u64) -> Self {
        Self { d: params.d.max(1), rng: Rng::stream(seed, "victim/d_choices") }
    }

    /// Draws a block that GC may choose as victim, uniformly: other blocks are drawn again.
    fn draw(&mut self, candidates: &Candidates<'_>) -> BlockId {
        loop {
            let block = candidates.slot(self.rng.below(u64::from(candidates.slots())) as u32);
            if candidates.contains(block) {
                return block;
            }
        }
    }
}

impl Victim for DChoices {
    fn pick(&mut self, candidates: &Candidates<'_>, _now: Nanos) -> Option<BlockId> {
        if candidates.count() == 0 {
            return None;
        }
        (0..self.d).map(|_| self.draw(candidates)).min_by_key(|&block| candidates.valid(block))
    }
}
