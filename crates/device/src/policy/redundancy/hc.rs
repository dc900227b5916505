//! Hybrid caching (DA-RAID-5, section III-E): the write buffer evicts stripe by stripe, and cached
//! parity is rebuilt from the written pages alone if they are most of the stripe.

use super::{Eviction, Params, ParityFlush, Protects, Redundancy, Rules, Stage};

/// Protects stripes with hybrid caching (HC of DA-RAID-5).
#[derive(Clone, Debug)]
pub struct HybridCaching {
    n_update: u32,
    cut_off: Option<u32>,
}

impl HybridCaching {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self { n_update: params.n_update, cut_off: (params.cut_off > 0).then_some(params.cut_off) }
    }
}

impl Redundancy for HybridCaching {
    fn rules(&self, _stage: Stage) -> Rules {
        Rules {
            protects: Protects::All,
            parity_flush: ParityFlush::WhenEvicted,
            eviction: Eviction::StripeByStripe,
            refreshes: false,
            n_update: Some(self.n_update),
            cut_off: self.cut_off,
        }
    }
}
