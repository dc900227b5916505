//! Drives of stripes whose caches lose power, and whose cells lose data with age.

use super::small;
use fowler_device::policy::redundancy::{CachePower, RedundancyKind};
use fowler_device::*;
use fowler_units::{Bytes, HostIo, HostOp, Nanos, Span};

pub const MINUTE: Span = Span(60_000_000_000);

/// Stripes of four pages on five chips, pages kept for a minute.
pub fn striped(kind: RedundancyKind, cache: CachePower) -> Config {
    let mut config = small();
    config.geometry.channels = 5;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 40;
    config.over_provisioning = 0.4;
    config.buffer.ack = Ack::OnInsert;
    let redundancy = &mut config.redundancy;
    (redundancy.name, redundancy.stripe, redundancy.cache) = (kind, 4, cache);
    redundancy.parity_cache = Bytes(16 * 4096);
    redundancy.retention = MINUTE;
    redundancy.integrity = kind != RedundancyKind::Unprotected;
    config
}

pub fn io(op: HostOp, page: u64, pages: u32, at: Span) -> HostIo {
    HostIo::new(op, Nanos(at.0), page * 4096, pages * 4096)
}

pub const DAYS: fn(u64) -> Span = |days| Span(days * 86_400_000_000_000);

/// A drive whose cells hold their data for slightly more than a hundred days.
pub fn fading(kind: RedundancyKind) -> Config {
    let mut config = striped(kind, CachePower::Protected);
    config.reliability.model = reliability::ModelKind::Table;
    config.reliability.levels = 1;
    config.reliability.table = reliability::RateTable {
        cycles: vec![0.0, 3000.0],
        ages: vec![DAYS(0), DAYS(100), DAYS(200)],
        rates: vec![vec![1e-4, 1e-4, 0.2], vec![1e-4, 1e-4, 0.2]],
    };
    config.redundancy.retention = DAYS(100);
    config
}
