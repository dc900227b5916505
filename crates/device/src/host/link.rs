//! The link to the host: one server per direction, first come first served. A transfer is a
//! computed end time and costs no event.

use crate::config::LinkConfig;
use fowler_units::{HostIo, HostOp, Nanos, Span};

/// Both directions of the link.
#[derive(Clone, Debug)]
pub struct Link {
    config: LinkConfig,
    inbound_free: Nanos,
    outbound_free: Nanos,
    /// When each firmware core is free.
    cores: Vec<Nanos>,
    /// Whether anything happens to a command after it has come over.
    handles: bool,
}

impl Link {
    /// An idle link.
    pub fn new(config: LinkConfig) -> Self {
        let cores = vec![Nanos::ZERO; config.cores as usize];
        let handles = !cores.is_empty() || config.latency > Span::ZERO;
        Self { config, inbound_free: Nanos::ZERO, outbound_free: Nanos::ZERO, cores, handles }
    }

    /// Returns when a request issued at `at` has come over and has been handled: its command, and
    /// the data of a write.
    /// Requests must be passed in order of issue.
    #[inline]
    pub fn receive(&mut self, io: &HostIo, at: Nanos) -> Nanos {
        let data = if io.op == HostOp::Write { u64::from(io.size) } else { 0 };
        let cost = self.config.command + self.config.bandwidth.time(data);
        self.inbound_free = at.max(self.inbound_free) + cost;
        if self.handles { self.handle(self.inbound_free) } else { self.inbound_free }
    }

    /// Returns when a command that arrived at `at` has been handled: by the core that is free
    /// first, if there are cores, and after a constant latency. All commands take a core as long,
    /// so they come out in order.
    #[inline(never)]
    fn handle(&mut self, at: Nanos) -> Nanos {
        let mut ready = at;
        if let Some(first) = self.cores.iter_mut().min() {
            *first = at.max(*first) + self.config.core_time;
            ready = *first;
        }
        ready + self.config.latency
    }

    /// Returns when the data of a read that is available at `now` has gone over.
    #[inline]
    pub fn send(&mut self, io: &HostIo, now: Nanos) -> Nanos {
        if io.op != HostOp::Read {
            return now;
        }
        let cost = self.config.bandwidth.time(u64::from(io.size));
        self.outbound_free = now.max(self.outbound_free) + cost;
        self.outbound_free
    }
}
