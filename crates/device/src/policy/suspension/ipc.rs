//! Intra-phase cancellation (PES, section 4.2): the read waits at most for a voltage reset; the
//! running phase is lost.

use super::{Candidate, Params, Running, SuspendAt, Suspension};

/// The policy; see the module.
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
