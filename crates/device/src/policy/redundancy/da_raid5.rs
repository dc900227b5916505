//! Redundancy in the three stages of DA-RAID-5 (section III-B), in order of wear: refresh while no
//! block is worn, then parity for the stripes with a page in a worn block, then parity for all
//! stripes once more than `L` have such a page. A drive never returns to an earlier stage: wear
//! does not decrease.

use super::{
    Age, Params, Redundancy, Rules, Stage, hc::HybridCaching, pe_aware::WearAware,
    udl::DisturbLimiting,
};

/// Protects stripes by the drive's stage of life (DA-RAID-5).
#[derive(Clone, Debug)]
pub struct ByStage {
    worn_above: u32,
    all_above: u32,
    first: DisturbLimiting,
    second: WearAware,
    third: HybridCaching,
}

impl ByStage {
    pub(super) fn new(params: &Params, seed: u64) -> Self {
        Self {
            worn_above: params.worn_above,
            all_above: params.all_above,
            first: DisturbLimiting::new(params, seed),
            second: WearAware::new(params, seed),
            third: HybridCaching::new(params, seed),
        }
    }
}

impl Redundancy for ByStage {
    fn rules(&self, stage: Stage) -> Rules {
        match stage {
            Stage::First => self.first.rules(stage),
            Stage::Second => self.second.rules(stage),
            Stage::Third => self.third.rules(stage),
        }
    }

    fn stage(&self, stage: Stage, age: &Age) -> Stage {
        if stage == Stage::Third || age.worn_stripes > self.all_above {
            Stage::Third
        } else if stage == Stage::Second || age.cycles > self.worn_above {
            Stage::Second
        } else {
            Stage::First
        }
    }
}
