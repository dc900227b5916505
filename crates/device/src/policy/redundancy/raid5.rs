//! RAID-5 over the chips of a drive (DA-RAID-5, section II-B): a write is complete when its parity
//! is in the flash.

use super::{Params, Protects, Redundancy, Rules, Stage};

/// Protects all stripes by parity that is written with the data (RAID-5).
#[derive(Clone, Debug)]
pub struct Raid5;

impl Raid5 {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Redundancy for Raid5 {
    fn rules(&self, _stage: Stage) -> Rules {
        Rules { protects: Protects::All, ..Rules::NONE }
    }
}
