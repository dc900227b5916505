//! What the device tells whoever watches it. A probe observes; it is never asked.

use crate::blame::Blame;
use fowler_units::{HostIo, Nanos, ReqId, Span};

/// A host request that has been served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request, with its time of arrival.
    pub io: HostIo,
    /// Its frame in the device while it was in flight; reused afterwards.
    pub id: ReqId,
    /// When the host had its answer.
    pub done: Nanos,
    /// Where the time went; the parts sum to [`Completion::latency`].
    pub blame: Blame,
}

impl Completion {
    /// From arrival to answer.
    #[inline]
    pub fn latency(&self) -> Span {
        self.done - self.io.at
    }
}

/// Someone who watches a device.
pub trait Probe {
    /// A host request was served. Called in order of completion.
    fn completed(&mut self, completion: &Completion);
}

impl Probe for () {
    fn completed(&mut self, _completion: &Completion) {}
}

impl<P: Probe, Q: Probe> Probe for (P, Q) {
    fn completed(&mut self, completion: &Completion) {
        self.0.completed(completion);
        self.1.completed(completion);
    }
}

impl Probe for Vec<Completion> {
    fn completed(&mut self, completion: &Completion) {
        self.push(*completion);
    }
}
