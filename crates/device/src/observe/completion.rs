//! The record of a completed request.

use super::blame::Blame;
use fowler_units::{HostIo, Nanos, ReqId, Span};

/// Record of a completed host request: its times and the causes of its latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request as issued by the host, with its arrival time.
    pub io: HostIo,
    /// The ID of the request while it was in flight; reused afterwards.
    pub id: ReqId,
    /// Time at which the host received the completion.
    pub done: Nanos,
    /// Breakdown of the latency by cause; the parts sum to [`Completion::latency`].
    pub blame: Blame,
}

impl Completion {
    /// Returns the latency of the request: the time from arrival to completion.
    #[inline]
    pub fn latency(&self) -> Span {
        self.done - self.io.at
    }
}
