//! Inter-phase suspension (IPS of PES, section 4.2): the read waits for the running phase to end,
//! so that no phase is lost.

use super::{Candidate, Params, Running, SuspendAt, Suspension};

/// Suspends an operation between two phases (IPS).
#[derive(Clone, Debug)]
pub struct Ips;

impl Ips {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Suspension for Ips {
    #[inline]
    fn interrupts(&mut self, _running: Running, _candidate: Candidate) -> Option<SuspendAt> {
        Some(SuspendAt::PhaseEnd)
    }
}
