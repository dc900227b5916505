//! The link to the host, and the firmware that handles commands. A transfer, or work of the
//! firmware, is a computed end time and needs no event.
//!
//! A full-duplex link (PCIe) is one server per direction, first come first served. On a half-duplex
//! link (SATA) both directions share one server: see docs/decisions/host.md, "How do the directions
//! of a SATA link share it?".
//!
//! Invariants: the end of the last transfer in a direction never moves back, so commands arrive in
//! the order in which they were issued; transfers to the host that fit into the gap before a
//! transfer to the drive only shorten that gap.

use crate::config::{Duplex, LinkConfig};
use fowler_units::{HostIo, HostOp, Nanos, Span};

/// The host link in both directions, and the firmware cores.
#[derive(Clone, Debug)]
pub struct Link {
    config: LinkConfig,
    /// Time at which the last transfer to the drive ends; on a half-duplex link, the last transfer
    /// in either direction.
    inbound_free: Nanos,
    /// Time at which the last transfer to the host ends, on a full-duplex link.
    outbound_free: Nanos,
    /// True for a half-duplex link, which carries one direction at a time.
    half: bool,
    /// On a half-duplex link, the idle time before the latest transfer to the drive, which is
    /// scheduled ahead of its time: until it begins, transfers to the host may use that idle time.
    gap: Gap,
    /// Time at which each firmware core becomes free.
    cores: Vec<Nanos>,
    /// Time at which the last trim has changed the mapping, on a drive without modeled cores.
    mapping_free: Nanos,
    /// True if the time at which the drive has a command is computed with extra steps: firmware
    /// takes time after the transfer, or the link is half-duplex and its idle periods are recorded.
    handles: bool,
}

/// A period in which the half-duplex link transfers nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Gap {
    begin: Nanos,
    end: Nanos,
}

impl Link {
    /// Creates an idle host link.
    pub fn new(config: LinkConfig) -> Self {
        let cores = vec![Nanos::ZERO; config.cores as usize];
        let half = config.duplex == Duplex::Half;
        let handles = half || !cores.is_empty() || config.latency > Span::ZERO;
        let (inbound_free, outbound_free) = (Nanos::ZERO, Nanos::ZERO);
        let gap = Gap::default();
        let mapping_free = Nanos::ZERO;
        Self { config, inbound_free, outbound_free, half, gap, cores, mapping_free, handles }
    }

    /// Returns the time at which a request issued at `at` (the command, and the data of a write)
    /// has come over the link and has been handled. The request may be issued in the future, but
    /// then it is the next to come. Requests must be passed in order of issue.
    #[inline]
    pub fn receive(&mut self, io: &HostIo, at: Nanos) -> Nanos {
        let (bytes, inbound) = match io.op {
            HostOp::Write => (u64::from(io.size), u64::from(io.size)),
            HostOp::Read => (u64::from(io.size), 0),
            HostOp::Trim | HostOp::Flush => (0, 0),
        };
        let cost = self.config.command_of(bytes) + self.config.bandwidth.time(inbound);
        let begin = at.max(self.inbound_free);
        let before = std::mem::replace(&mut self.inbound_free, begin + cost);
        debug_assert!(before <= begin, "two transfers to the drive at once");
        if self.handles { self.handle(before, begin) } else { self.inbound_free }
    }

    /// Returns the time at which the firmware has handled the command that has just come over the
    /// inbound link: the core that is free first handles it, if cores are modeled, and a constant
    /// latency follows. The idle period of the link before the command, from `before` to `begin`,
    /// is recorded.
    #[inline(never)]
    fn handle(&mut self, before: Nanos, begin: Nanos) -> Nanos {
        self.gap = Gap { begin: before, end: begin };
        let at = self.inbound_free;
        let mut ready = at;
        if let Some(first) = self.cores.iter_mut().min() {
            *first = at.max(*first) + self.config.core_time;
            ready = *first;
        }
        ready + self.config.latency
    }

    /// Returns the time at which the data of a read, available at `now`, has crossed the link.
    #[inline]
    pub fn send(&mut self, io: &HostIo, now: Nanos) -> Nanos {
        if io.op != HostOp::Read {
            return now;
        }
        let cost = self.config.bandwidth.time(u64::from(io.size));
        if self.half {
            return self.send_between(cost, now);
        }
        self.outbound_free = now.max(self.outbound_free) + cost;
        self.outbound_free
    }

    /// Returns the time at which the firmware has invalidated `entries` mapping entries for a trim
    /// that may begin at `now`. The core that becomes free first does the work, and takes no other
    /// command meanwhile; if cores are not modeled, trims are done one after another. See
    /// docs/decisions/host.md, "What does a trim take?".
    pub fn trim(&mut self, entries: u32, now: Nanos) -> Nanos {
        let time = self.config.trim + self.config.trim_entry * u64::from(entries);
        let free = self.cores.iter_mut().min().unwrap_or(&mut self.mapping_free);
        *free = now.max(*free) + time;
        *free
    }

    /// Returns the end of a transfer of length `cost` to the host over a half-duplex link, from
    /// `now` on: it uses the idle time before the latest transfer to the drive if it fits there,
    /// and follows that transfer otherwise.
    #[inline(never)]
    fn send_between(&mut self, cost: Span, now: Nanos) -> Nanos {
        let end = now.max(self.gap.begin) + cost;
        debug_assert!(self.gap.begin <= self.gap.end, "a gap that ends before it begins");
        if end <= self.gap.end {
            self.gap.begin = end;
            return end;
        }
        self.inbound_free = now.max(self.inbound_free) + cost;
        self.inbound_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::ByteRate;

    const UNIT: u32 = 4096;

    fn link(duplex: Duplex) -> Link {
        // A unit takes 10 us, and a command 1 us.
        let (bandwidth, command) = (ByteRate(409_600_000), Span::us(1));
        Link::new(LinkConfig { bandwidth, command, duplex, ..LinkConfig::default() })
    }

    fn io(op: HostOp) -> HostIo {
        HostIo::new(op, Nanos::ZERO, 0, UNIT)
    }

    /// A command with up to 8 KiB of data takes 1 us, one with more takes 4 us for the list of its
    /// memory pages in addition; a write also sends its data, 10 us for each 4 KiB.
    #[test]
    fn a_command_with_more_than_two_memory_pages_fetches_a_list() {
        use HostOp::{Flush, Read, Trim, Write};
        for (op, size, expected) in [
            (Read, UNIT, 1),
            (Read, 2 * UNIT, 1),
            (Read, 2 * UNIT + 512, 5),
            (Read, 1 << 20, 5),
            (Write, 2 * UNIT, 21),
            (Write, 4 * UNIT, 45),
            (Trim, 1 << 20, 1),
            (Flush, 0, 1),
        ] {
            let (bandwidth, command) = (ByteRate(409_600_000), Span::us(1));
            let page_list = Span::us(4);
            let mut link =
                Link::new(LinkConfig { bandwidth, command, page_list, ..LinkConfig::default() });
            let io = HostIo::new(op, Nanos::ZERO, 0, size);
            assert_eq!(link.receive(&io, Nanos::ZERO).0 / 1000, expected, "{op:?} of {size} B");
            // The next command waits on the link for as long.
            let next = HostIo::new(Read, Nanos::ZERO, 0, UNIT);
            assert_eq!(link.receive(&next, Nanos::ZERO).0 / 1000, expected + 1, "behind {op:?}");
        }
    }

    /// On a half-duplex link, transfers in both directions share the time: given, in microseconds,
    /// are issue times of requests and times at which data of reads is available.
    #[test]
    fn directions_share_a_half_duplex_link() {
        use HostOp::{Read, Write};
        for (what, transfers, full, half) in [
            (
                "data of a read wait for the data of a write, and the other way round",
                vec![(Some(Write), 0), (None, 5), (Some(Write), 12)],
                vec![11, 15, 23],
                vec![11, 21, 32],
            ),
            (
                "data fit in before a request that is still to come",
                vec![(Some(Read), 0), (Some(Write), 50), (None, 20), (None, 25), (None, 40)],
                vec![1, 61, 30, 40, 50],
                vec![1, 61, 30, 40, 50],
            ),
            (
                "data that do not fit in come behind it",
                vec![(Some(Write), 50), (None, 40), (None, 45)],
                vec![61, 50, 60],
                vec![61, 50, 71],
            ),
            (
                "a gap in the past is no gap",
                vec![(Some(Write), 50), (None, 70), (Some(Read), 60)],
                vec![61, 80, 62],
                vec![61, 80, 81],
            ),
        ] {
            for (duplex, expected) in [(Duplex::Full, full), (Duplex::Half, half)] {
                let mut link = link(duplex);
                let ends: Vec<u64> = transfers
                    .iter()
                    .map(|&(op, at)| match op {
                        Some(op) => link.receive(&io(op), Nanos(at * 1000)).0 / 1000,
                        None => link.send(&io(Read), Nanos(at * 1000)).0 / 1000,
                    })
                    .collect();
                assert_eq!(ends, expected, "{duplex:?}: {what}");
            }
        }
    }
}
