//! Programs hot data as fast as the strength of its block allows, and all other data at the nominal
//! step (PV-W, after Shi et al.; RHIO, section III-A).

use super::{Params, StepRule};
use crate::cells::program_mode::Step;
use crate::policy::stream_tag::StreamTag;

/// The policy; see the module.
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
