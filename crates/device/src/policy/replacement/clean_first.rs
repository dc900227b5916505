//! Replacement that drops clean pages first, because that costs no program.

use super::{Leaves, Params, Replacement, Tail};

/// Drops the least recently used clean page, if there is one.
#[derive(Clone, Debug)]
pub struct CleanFirst;

impl CleanFirst {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Replacement for CleanFirst {
    fn leaves(&self, tail: &impl Tail) -> Option<Leaves> {
        if tail.clean().is_some() {
            Some(Leaves::Clean)
        } else {
            tail.dirty().map(|_| Leaves::Dirty)
        }
    }

    fn drops_ahead(&self) -> bool {
        false
    }
}
