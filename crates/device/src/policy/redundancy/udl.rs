//! Unbound-disturb limiting (DA-RAID-5, section III-C): a page's code suffices as long as its data
//! is not too old and not read too often, so blocks are refreshed before that.

use super::{Params, Redundancy, Rules, Stage};

/// See the module.
#[derive(Clone, Debug)]
pub struct DisturbLimiting;

impl DisturbLimiting {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Redundancy for DisturbLimiting {
    fn rules(&self, _stage: Stage) -> Rules {
        Rules { refreshes: true, ..Rules::NONE }
    }
}
