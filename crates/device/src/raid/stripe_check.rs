//! The state of stripe checks: parity as a check of the data. A scrub that has read the parity of a
//! stripe also reads the other pages of the stripe, one after another, and compares
//! (`stripe_comparisons.rs`). This finds silent corruption on a drive that stores no check beside
//! its data. The comparison does not tell which page is wrong, so the stripe is reported and stays
//! as it is, like the mismatches that Linux counts in `md` (md(4), "Scrubbing and mismatches"). See
//! docs/decisions/raid.md, "What does parity tell of its data?".
//!
//! Invariants: each die compares at most one stripe at a time; the bit of a stripe is set exactly
//! while its last comparison found a mismatch, so that a mismatch counts once until the stripe
//! matches again.

use super::losses::SilentLedger;
use crate::config::Config;
use fowler_units::{Bytes, DieId, Id, IdVec, StripeId, TxnId, UnitId};

/// A comparison of a stripe with its parity in progress, on behalf of the scrub of a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    /// The read of a stripe's parity page with which scrubbing begins to compare the stripe with
    /// its parity; the scrub of the die waits until the comparison has ended.
    pub(super) parity_read: TxnId,
    pub(super) stripe: StripeId,
    /// Location of the stripe's parity in the flash when the scrub's read of that parity began.
    pub(super) parity: UnitId,
    /// Position in the stripe of the first page that scrubbing has not yet read to compare the
    /// stripe with its parity.
    pub(super) next: u32,
    /// Exclusive-or of the silent errors (wrong data xor right data) of the pages read so far: zero
    /// in the end if the stripe matches its parity.
    pub(super) error: u64,
}

pub(super) const NOTHING: Comparison = Comparison {
    parity_read: TxnId::NONE,
    stripe: StripeId::NONE,
    parity: UnitId::NONE,
    next: 0,
    error: 0,
};

/// Comparisons of stripes with their parity by scrubbing: the one in progress on each die, and the
/// stripes that did not match when they were last compared.
#[derive(Clone, Debug)]
pub(crate) struct StripeChecks {
    pub(super) dies: IdVec<DieId, Comparison>,
    pub(super) unequal: UnequalStripes,
}

/// The stripes that did not match when they were last compared: one bit for each stripe.
#[derive(Clone, Debug)]
pub(crate) struct UnequalStripes(Vec<u64>);

impl UnequalStripes {
    /// Creates the state of a drive whose stripes have not been compared yet.
    pub fn new(stripes: u32) -> Self {
        Self(vec![0; (stripes as usize).div_ceil(64)])
    }

    /// Returns the memory that the record of mismatched stripes takes on the simulating machine:
    /// one bit for each of `stripes` stripes.
    pub fn bytes(stripes: u32) -> Bytes {
        Bytes::of::<u64>(u64::from(stripes).div_ceil(64))
    }

    /// Records the result of a comparison of a stripe with its parity by scrubbing. A stripe that
    /// does not match is counted once, until it matches again.
    pub fn note(&mut self, stripe: StripeId, matches: bool, ledger: &mut SilentLedger) {
        ledger.stripes_compared += 1;
        let (word, mask) = (&mut self.0[stripe.index() / 64], 1 << (stripe.index() % 64));
        ledger.by_parity += u64::from(!matches && *word & mask == 0);
        *word = if matches { *word & !mask } else { *word | mask };
    }

    /// Forgets whether a stripe matched its parity when it was last compared, because its data has
    /// been erased.
    pub fn forget(&mut self, stripe: StripeId) {
        self.0[stripe.index() / 64] &= !(1 << (stripe.index() % 64));
    }
}

impl StripeChecks {
    /// Creates the record of the stripes compared with their parity, with no comparison in
    /// progress; `None` if the drive never compares them.
    pub fn new(config: &Config, dies: u32, stripes: u32) -> Option<Box<Self>> {
        config.compares_stripes().then(|| {
            Box::new(Self {
                dies: IdVec::filled(NOTHING, dies as usize),
                unequal: UnequalStripes::new(stripes),
            })
        })
    }

    /// Returns the memory that the comparisons of stripes take on the simulating machine.
    pub fn bytes(config: &Config, dies: u32, stripes: u32) -> Bytes {
        if !config.compares_stripes() {
            return Bytes(0);
        }
        Bytes::of::<Comparison>(dies.into()) + UnequalStripes::bytes(stripes)
    }
}
