//! No suspension, as on every drive without suspend commands (FIFO, RPS, PER, PE0, NOOP).

use super::{Candidate, Params, Running, SuspendAt, Suspension};

/// Suspends no operation, as on drives without suspend commands.
#[derive(Clone, Debug)]
pub struct Never;

impl Never {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Suspension for Never {
    #[inline]
    fn interrupts(&mut self, _running: Running, _candidate: Candidate) -> Option<SuspendAt> {
        None
    }
}
