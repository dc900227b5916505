//! What the model asks for, of the inputs that it knows: by retention age alone it is the reading
//! of RT-R and RHIO (section III-B), by voltage that of HIRE.

use super::{Advice, Params, Sensing};
use fowler_physics::thresholds::Lasting;

/// See the module.
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
        advice.modelled()
    }
}
