//! Nominal ISPP step for all data: safe in the weakest block until the end of its life.

use super::{Params, StepRule};
use crate::cells::program_mode::Step;
use crate::policy::stream_tag::StreamTag;

/// Chooses the nominal ISPP step for all data.
#[derive(Clone, Debug)]
pub struct Nominal;

impl Nominal {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl StepRule for Nominal {
    fn step(&self, _tag: StreamTag, _coarsest: Step) -> Step {
        Step::NOMINAL
    }
}
