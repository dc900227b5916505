//! Progress of preconditioning, and its early end.

use std::sync::atomic::{AtomicBool, Ordering};

/// Overwrites between two looks at the watch.
pub(super) const WATCHED_EVERY: u64 = 1 << 16;

/// Who watches preconditioning and may end it early: on a large drive it takes half a minute.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set from outside to end it.
    pub stop: &'a AtomicBool,
    /// Called now and then with the share that is done, from 0 to 1. Where it depends on when the
    /// drive is steady, that is not known before: the share then jumps to 1.
    pub progress: &'a (dyn Fn(f64) + Sync),
}

/// Nobody watches.
pub(crate) const UNWATCHED: Watch<'static> = Watch { stop: &NEVER, progress: &|_| () };
static NEVER: AtomicBool = AtomicBool::new(false);

impl Watch<'_> {
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
