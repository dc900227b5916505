//! Sensing with the hard decision first, then at higher levels: the controller knows nothing about
//! its pages.

use super::{Advice, Params, Sensing, always};
use fowler_physics::thresholds::Lasting;

/// Begins every read with the hard decision, and retries at higher sensing levels.
#[derive(Clone, Debug)]
pub struct Retry;

impl Retry {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Sensing for Retry {
    #[inline]
    fn level(&self, _advice: &mut impl Advice) -> Lasting {
        always(0)
    }
}
