//! Sensing at the level that the model predicts from the known facts: by retention age alone, as in
//! RT-R and RHIO (section III-B); by voltage, as in HIRE.

use super::{Advice, Params, Sensing};
use fowler_physics::thresholds::Lasting;

/// Begins a read at the sensing level that the error model of the cells predicts to suffice.
#[derive(Clone, Debug)]
pub struct Model;

impl Model {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Sensing for Model {
    #[inline]
    fn level(&self, advice: &mut impl Advice) -> Lasting {
        advice.modeled()
    }
}
