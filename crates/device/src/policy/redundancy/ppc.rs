//! Redundancy with a partial parity cache (PPC) of Im and Shin, "Flash-aware RAID techniques for
//! dependable and high-performance flash memory SSD", IEEE Transactions on Computers 60 (1), 2011,
//! as described in section II-B of DA-RAID-5: a cache accumulates parity from the pages written,
//! and from the old version of each page that is overwritten.

use super::{Params, ParityFlush, Protects, Redundancy, Rules, Stage};

/// Protects stripes with cached partial parity (PPC).
#[derive(Clone, Debug)]
pub struct PartialParity;

impl PartialParity {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Redundancy for PartialParity {
    fn rules(&self, _stage: Stage) -> Rules {
        Rules { protects: Protects::All, parity_flush: ParityFlush::WhenEvicted, ..Rules::NONE }
    }
}
