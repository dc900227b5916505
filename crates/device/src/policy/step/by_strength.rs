//! ISPP step by strength: hot data is programmed as fast as the strength of its block allows, all
//! other data at the nominal step (PV-W, after Shi et al.; RHIO, section III-A).

use super::{Params, StepRule};
use crate::cells::program_mode::Step;
use crate::policy::stream_tag::StreamTag;

/// The ISPP step by strength: the coarsest that a block tolerates for hot data, the nominal one for
/// other data.
#[derive(Clone, Debug)]
pub struct ByStrength;

impl ByStrength {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl StepRule for ByStrength {
    fn step(&self, tag: StreamTag, coarsest: Step) -> Step {
        if tag.is_hot() { coarsest } else { Step::NOMINAL }
    }
}
