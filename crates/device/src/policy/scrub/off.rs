//! No scrubbing.

use super::{Errors, Params, Scrub, Span, Verdict};

/// The scrubbing policy `off`: no data is read in the background, and no block is moved.
#[derive(Clone, Debug)]
pub struct Off;

impl Off {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Scrub for Off {
    fn period(&self) -> Option<Span> {
        None
    }

    fn judge(&mut self, _errors: Errors) -> Verdict {
        Verdict::Stays
    }
}
