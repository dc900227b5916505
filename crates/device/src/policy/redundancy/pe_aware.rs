//! P/E-aware RAID-5 (DA-RAID-5, section III-D): parity for the stripes with a page in a worn block,
//! refresh for all others. Pages of a stripe leave the write buffer together, so that their parity
//! is computed once.

use super::{Eviction, Params, Protects, Redundancy, Rules, Stage};

/// Protects stripes with a page in a worn block by parity (PE-aware RAID-5), and all others by
/// refresh.
#[derive(Clone, Debug)]
pub struct WearAware;

impl WearAware {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Redundancy for WearAware {
    fn rules(&self, _stage: Stage) -> Rules {
        Rules {
            protects: Protects::Worn,
            eviction: Eviction::WithStripe,
            refreshes: true,
            ..Rules::NONE
        }
    }
}
