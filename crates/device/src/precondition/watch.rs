//! Progress of preconditioning, and early termination.

use std::sync::atomic::{AtomicBool, Ordering};

/// Number of overwrites after which preconditioning checks again if it must stop early.
pub(crate) const WATCHED_EVERY: u64 = 1 << 16;

/// An observer of preconditioning that may end it early: a large drive takes half a minute.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// True once preconditioning must stop early; set by the code that observes it.
    pub stop: &'a AtomicBool,
    /// Called from time to time with the share of preconditioning that is done, from 0 to 1. If
    /// preconditioning ends in steady state, the end is not known in advance, and the share jumps
    /// to 1.
    pub progress: &'a (dyn Fn(f64) + Sync),
}

/// A watch that neither stops preconditioning nor reports its progress.
pub(crate) const UNWATCHED: Watch<'static> = Watch { stop: &NEVER, progress: &|_| () };
static NEVER: AtomicBool = AtomicBool::new(false);

impl Watch<'_> {
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
