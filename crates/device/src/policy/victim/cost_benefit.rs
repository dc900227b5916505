//! Cost-benefit cleaning (Rosenblum and Ousterhout, "The design and implementation of a
//! log-structured file system", 1991): the victim is the block with the highest
//! `age * (1 - u) / 2u`, where `u` is the share of valid pages and `age` the time since the block
//! became full. Takes one pass over the plane's columns per GC job.

use super::{Candidates, Params, Victim};
use fowler_units::{BlockId, Nanos};
use serde::{Deserialize, Serialize};

/// Chooses the victim with the best ratio of benefit to cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CostBenefit;

impl CostBenefit {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }

    /// Returns the score of a block as a fraction, `age * invalid / (2 * valid)`, so that ties
    /// break the same way on every machine; the 2 cancels in comparisons.
    fn score(candidates: &Candidates<'_>, block: BlockId, now: Nanos) -> (u128, u128) {
        let valid = candidates.valid(block);
        let invalid = candidates.capacity() - valid;
        let age = (now - candidates.filled_at(block)).0 + 1;
        (u128::from(age) * u128::from(invalid), u128::from(valid))
    }
}

impl Victim for CostBenefit {
    fn pick(&mut self, candidates: &Candidates<'_>, now: Nanos) -> Option<BlockId> {
        candidates.iter().max_by(|&a, &b| {
            let (gain_a, cost_a) = Self::score(candidates, a, now);
            let (gain_b, cost_b) = Self::score(candidates, b, now);
            // A block without valid pages costs nothing and beats all others; the older of two
            // equals goes first.
            (gain_a * cost_b)
                .cmp(&(gain_b * cost_a))
                .then_with(|| candidates.fill_order(b).cmp(&candidates.fill_order(a)))
        })
    }
}
