//! Intra-phase cancellation (IPC of PES, section 4.2): the read waits at most for a voltage reset;
//! the progress of the running phase is lost.

use super::{Candidate, Params, Running, SuspendAt, Suspension};

/// Suspends an operation within its phase, which is cancelled (IPC).
#[derive(Clone, Debug)]
pub struct Ipc;

impl Ipc {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Suspension for Ipc {
    #[inline]
    fn interrupts(&mut self, _running: Running, _candidate: Candidate) -> Option<SuspendAt> {
        Some(SuspendAt::Anywhere)
    }
}
