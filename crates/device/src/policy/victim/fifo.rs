//! GC in order of filling: the victim is the block that became full first, regardless of its valid
//! pages. Takes one pass over the plane's columns per GC job.

use super::{Candidates, Params, Victim};
use fowler_units::{BlockId, Nanos};
use serde::{Deserialize, Serialize};

/// Chooses the block that became full first as victim.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fifo;

impl Fifo {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Victim for Fifo {
    fn pick(&mut self, candidates: &Candidates<'_>, _now: Nanos) -> Option<BlockId> {
        candidates.iter().min_by_key(|&block| candidates.fill_order(block))
    }
}
