//! Replacement of the least recently used page, clean or dirty: the buffer of HIRE (section 3.1).

use super::{Leaves, Params, Replacement, Tail};

/// Evicts the least recently used page, clean or dirty.
#[derive(Clone, Debug)]
pub struct Lru;

impl Lru {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Replacement for Lru {
    fn leaves(&self, tail: &impl Tail) -> Option<Leaves> {
        match (tail.clean(), tail.dirty()) {
            (Some(clean), Some(dirty)) if dirty < clean => Some(Leaves::Dirty),
            (Some(_), _) => Some(Leaves::Clean),
            (None, dirty) => dirty.map(|_| Leaves::Dirty),
        }
    }
}
