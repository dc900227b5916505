//! A request in the course of its processing by a process.

use super::plan::Op;
use super::stats::Times;
use fowler_units::{HostIo, Nanos};

/// A request that the process has taken up and not collected yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The request as drawn from its job.
    pub op: Op,
    /// The command that the drive has for the request.
    pub sent: HostIo,
    /// Time at which the process took the request up.
    pub start: Nanos,
    /// Time at which the hand-over is complete; `None` with an engine that waits.
    pub issued: Option<Nanos>,
    /// Time at which the request is complete for the host; `None` before.
    pub answered: Option<Nanos>,
    /// True if the drive still has to make the request durable.
    pub then_flush: bool,
}

impl Unit {
    /// Returns the times of the request if it is collected at `collected`.
    pub fn times(&self, collected: Nanos) -> Times {
        Times { start: self.start, issued: self.issued, collected }
    }
}
