//! No redundancy: a page that cannot be read is lost.

use super::{Params, Redundancy, Rules, Stage};

/// Protects no stripe: a page that cannot be read is lost.
#[derive(Clone, Debug)]
pub struct Unprotected;

impl Unprotected {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Redundancy for Unprotected {
    fn rules(&self, _stage: Stage) -> Rules {
        Rules::NONE
    }
}
