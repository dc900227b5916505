//! No static wear leveling.

use super::{Candidates, Params, Wear};
use fowler_units::BlockId;
use serde::{Deserialize, Serialize};

/// Swaps no data: a drive without static wear leveling.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Off;

impl Off {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Wear for Off {
    #[inline]
    fn swap(&mut self, _candidates: &Candidates<'_>, _erased: BlockId) -> Option<BlockId> {
        None
    }
}
