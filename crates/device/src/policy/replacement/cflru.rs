//! Clean-first LRU: drops the oldest clean page among a window of least recently used pages, or
//! else the oldest page of all (Park et al., "CFLRU", CASES 2006). It saves programs at the cost of
//! read hits.

use super::lru::Lru;
use super::{Leaves, Params, Replacement, Tail};

/// Drops a clean page within a window of least recently used pages (CFLRU).
#[derive(Clone, Debug)]
pub struct Cflru {
    window: u32,
}

impl Cflru {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self { window: params.window }
    }
}

impl Replacement for Cflru {
    fn leaves(&self, tail: &impl Tail) -> Option<Leaves> {
        let (Some(clean), Some(_)) = (tail.clean(), tail.dirty()) else {
            return Lru.leaves(tail);
        };
        let ahead = tail.dirty_before(clean, self.window);
        Some(if ahead < self.window { Leaves::Clean } else { Leaves::Dirty })
    }
}
