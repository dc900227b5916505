//! What is said of a request that has been served.

use super::blame::Blame;
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
