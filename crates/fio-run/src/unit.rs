//! A request on its way through a process.

use super::plan::Op;
use super::stats::Times;
use fowler_units::{HostIo, Nanos};

/// A request that the process has taken up and not collected yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// What it is.
    pub op: Op,
    /// What the drive has of it.
    pub sent: HostIo,
    /// When it was taken up.
    pub start: Nanos,
    /// When its hand-over is complete; `None` with an engine that waits.
    pub issued: Option<Nanos>,
    /// When it is complete for the host; `None` before.
    pub answered: Option<Nanos>,
    /// Whether the drive still has to make it durable.
    pub then_flush: bool,
}

impl Unit {
    /// Returns its times if it is collected now.
    pub fn times(&self, collected: Nanos) -> Times {
        Times { start: self.start, issued: self.issued, collected }
    }
}
