//! Intra-phase cancellation (PES, section 4.2): the read waits for a voltage reset at most, a phase is lost.

use super::{Candidate, Params, Running, SuspendAt, Suspension};

/// See the module.
#[derive(Clone, Debug)]
pub struct Ipc {
    params: Params,
}

impl Ipc {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self { params: *params }
    }
}

impl Suspension for Ipc {
    #[inline]
    fn interrupts(&mut self, running: Running, _candidate: Candidate) -> Option<SuspendAt> {
        self.params.permits(running).then_some(SuspendAt::Anywhere)
    }
}
