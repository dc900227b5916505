//! Inter-phase suspension (PES, section 4.2): no phase is lost, the read waits for the running one.

use super::{Candidate, Params, Running, SuspendAt, Suspension};

/// See the module.
#[derive(Clone, Debug)]
pub struct Ips {
    params: Params,
}

impl Ips {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self { params: *params }
    }
}

impl Suspension for Ips {
    #[inline]
    fn interrupts(&mut self, running: Running, _candidate: Candidate) -> Option<SuspendAt> {
        self.params.permits(running).then_some(SuspendAt::PhaseEnd)
    }
}
