//! Greedy GC: the victim is the block with the fewest valid pages, taken from the buckets without a
//! search.

use super::{Candidates, Params, Victim};
use fowler_units::{BlockId, Nanos};
use serde::{Deserialize, Serialize};

/// Chooses the block with the fewest valid pages as victim.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Greedy;

impl Greedy {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Victim for Greedy {
    #[inline]
    fn pick(&mut self, candidates: &Candidates<'_>, _now: Nanos) -> Option<BlockId> {
        candidates.fewest_valid()
    }
}
