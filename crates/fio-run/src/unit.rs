//! A request in the course of its processing by a process.

use super::plan::Op;
use super::stats::Times;
use fowler_units::{HostIo, Nanos};

/// A request that the process has taken up and not collected yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The request, as taken from the requests of the fio job.
    pub op: Op,
    /// NVMe command that the drive received for this request of a fio process.
    pub sent: HostIo,
    /// Time at which the process took the request up.
    pub start: Nanos,
    /// Time at which the request was handed to the drive; `None` with an engine that waits for each
    /// request.
    pub issued: Option<Nanos>,
    /// Time at which the host knows that the request is complete; `None` before.
    pub answered: Option<Nanos>,
    /// True if the process must issue a flush after this write, so that its data is durable.
    pub then_flush: bool,
}

impl Unit {
    /// Returns the times of the request if it is collected at `collected`.
    pub fn times(&self, collected: Nanos) -> Times {
        Times { start: self.start, issued: self.issued, collected }
    }
}
