//! Hard decision first, then climb: what a controller does that knows nothing of its pages.

use super::{Advice, Params, Sensing};

/// See the module.
#[derive(Clone, Debug)]
pub struct Retry;

impl Retry {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Sensing for Retry {
    #[inline]
    fn level(&self, _advice: &impl Advice) -> u8 {
        0
    }
}
