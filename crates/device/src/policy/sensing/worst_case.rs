//! Sensing of every page at the level that the weakest block needs at the end of its life (RHIO's
//! NOOP and PV-W, HIRE's baseline).

use super::{Advice, Params, Sensing, always};
use fowler_physics::thresholds::Lasting;

/// Begins every read at the sensing level of the worst case.
#[derive(Clone, Debug)]
pub struct WorstCase;

impl WorstCase {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Sensing for WorstCase {
    #[inline]
    fn level(&self, advice: &mut impl Advice) -> Lasting {
        always(advice.worst())
    }
}
