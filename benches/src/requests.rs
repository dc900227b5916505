//! The requests of the synthetic workloads: the drive and its floor draw the same ones.

use fowler_units::{HostIo, HostOp, Nanos, Rng};

/// Uniform random requests of one page each.
#[derive(Clone)]
pub struct Uniform {
    rng: Rng,
    pages: u64,
    read_share: f64,
    left: u64,
}

impl Uniform {
    /// `count` requests over `pages` logical pages, a `read_share` of them reads.
    pub fn new(count: u64, pages: u32, read_share: f64) -> Self {
        Self { rng: Rng::stream(7, "bench"), pages: u64::from(pages), read_share, left: count }
    }
}

impl Iterator for Uniform {
    type Item = HostIo;
    #[inline]
    fn next(&mut self) -> Option<HostIo> {
        self.left = self.left.checked_sub(1)?;
        let page = self.rng.below(self.pages);
        let read =
            self.read_share >= 1.0 || (self.read_share > 0.0 && self.rng.chance(self.read_share));
        let op = if read { HostOp::Read } else { HostOp::Write };
        Some(HostIo { at: Nanos::ZERO, offset: page * 4096, size: 4096, op })
    }
}
