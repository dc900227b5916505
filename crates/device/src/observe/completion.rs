//! The record of a completed request.

use super::blame::Blame;
use fowler_units::{HostIo, Nanos, ReqId, Span};

/// A host request that has been served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request, with its arrival time.
    pub io: HostIo,
    /// The ID of the request while it was in flight; reused afterwards.
    pub id: ReqId,
    /// When the host received the answer.
    pub done: Nanos,
    /// The breakdown of the latency; the parts sum to [`Completion::latency`].
    pub blame: Blame,
}

impl Completion {
    /// Returns the time from arrival to answer.
    #[inline]
    pub fn latency(&self) -> Span {
        self.done - self.io.at
    }
}
