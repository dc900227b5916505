//! Unbound-disturb limiting (DA-RAID-5, section III-C): a page's error-correcting code suffices
//! until its data is too old or has been read too often, so blocks are refreshed before that.

use super::{Params, Redundancy, Rules, Stage};

/// Protects data by refresh before it fails, without parity (UDL of DA-RAID-5).
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
