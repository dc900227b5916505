//! Parity as a check of the data: a scrub that has read the parity of a stripe also reads the other
//! pages of the stripe, one after another, and compares. This finds silent corruption on a drive
//! that stores nothing beside its data. Which page is wrong it does not tell, so the stripe is
//! reported and stays as it is, like the mismatches that Linux counts in `md` (md(4),
//! "Scrubbing and mismatches"). See docs/decisions/raid.md, "What does parity tell of its data?".

use super::Raid;
use super::silent::SilentLedger;
use crate::config::Config;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::host::Ftl;
use crate::observe::operation::{Op, Source};
use fowler_units::{Bytes, DieId, Id, IdVec, StripeId, TxnId, UnitId};

/// A comparison in progress, by the die whose scrub has read the parity.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    /// The read of the parity; the scrub of the die waits for the comparison.
    parity_read: TxnId,
    stripe: StripeId,
    /// Where the parity lay.
    parity: UnitId,
    /// The position in the stripe from which on pages are still to be read.
    next: u32,
    /// The exclusive-or of the errors read so far: zero if the stripe matches.
    error: u64,
}

const NOTHING: Comparison = Comparison {
    parity_read: TxnId::NONE,
    stripe: StripeId::NONE,
    parity: UnitId::NONE,
    next: 0,
    error: 0,
};

/// The comparisons of all dies, and the stripes that did not match when they were last compared.
#[derive(Clone, Debug)]
pub(crate) struct StripeChecks {
    dies: IdVec<DieId, Comparison>,
    /// One bit for each stripe.
    unequal: Vec<u64>,
}

impl StripeChecks {
    /// Creates the state; none if no stripe is ever compared.
    pub fn new(config: &Config, dies: u32, stripes: u32) -> Option<Box<Self>> {
        config.compares_stripes().then(|| {
            Box::new(Self {
                dies: IdVec::filled(NOTHING, dies as usize),
                unequal: vec![0; (stripes as usize).div_ceil(64)],
            })
        })
    }

    /// Returns the memory that this takes.
    pub fn bytes(config: &Config, dies: u32, stripes: u32) -> Bytes {
        if !config.compares_stripes() {
            return Bytes(0);
        }
        Bytes::of::<Comparison>(dies.into()) + Bytes::of::<u64>(u64::from(stripes).div_ceil(64))
    }

    /// Notes what a comparison has shown. A stripe counts once until it matches again.
    fn note(&mut self, stripe: StripeId, matches: bool, ledger: &mut SilentLedger) {
        ledger.stripes_compared += 1;
        let (word, mask) = (&mut self.unequal[stripe.index() / 64], 1 << (stripe.index() % 64));
        ledger.by_parity += u64::from(!matches && *word & mask == 0);
        *word = if matches { *word & !mask } else { *word | mask };
    }
}

impl Raid {
    /// Begins to compare a stripe if a scrub has read its parity. Returns whether it does: the read
    /// then stays open, and its scrub waits.
    pub(crate) fn begin_comparison(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        read: TxnId,
    ) -> bool {
        let Some(checks) = &mut self.stripe_checks else { return false };
        let Txn { unit, die, .. } = *flash.txns.get(read);
        let page = ftl.core.map.owner(unit);
        let current = ftl.core.allocator.blocks.is_valid(unit) && ftl.core.flash_copy(page) == unit;
        if !current || !self.stripes.is_parity(page) || flash.has_failed(die) {
            return false;
        }
        let stripe = self.stripes.of(page);
        let integrity = self.integrity.as_ref().expect("only versions are compared");
        let error = integrity.tag_at(unit).error;
        checks.dies[die] = Comparison { parity_read: read, stripe, parity: unit, next: 0, error };
        self.read_next_page(ftl, flash, die);
        true
    }

    /// Reads the next page of a stripe, or ends the comparison.
    fn read_next_page(&mut self, ftl: &mut Ftl, flash: &mut Flash, die: DieId) {
        let Some(checks) = &mut self.stripe_checks else { return };
        let Comparison { stripe, parity, next, .. } = checks.dies[die];
        // While pages of the stripe are being rewritten, its parity is in the cache; afterwards, it
        // lies elsewhere.
        let same = self.cache.find(stripe).is_none()
            && ftl.core.flash_copy(self.stripes.parity(stripe)) == parity;
        let mut rest = self.stripes.data_pages(stripe).filter(|&(at, _)| at >= next);
        let page = rest.find_map(|(at, page)| {
            let unit = ftl.core.flash_copy(page);
            unit.is_some().then_some((at, unit))
        });
        let Some((at, unit)) = page.filter(|_| same) else {
            return self.end_comparison(ftl, flash, die, same);
        };
        // As for parity, a page counts as read when its read begins.
        let integrity = self.integrity.as_ref().expect("only versions are compared");
        let error = integrity.tag_at(unit).error;
        let its = &mut checks.dies[die];
        (its.next, its.error) = (at + 1, its.error ^ error);
        if !self.reads_well(unit) {
            return self.end_comparison(ftl, flash, die, false);
        }
        let (class, owner) = (TxnClass::BackgroundRead, Owner::StripeCheck(die));
        let its = ftl.core.locator.die_of(unit);
        let (id, read) = flash.open(Op::Read, Source::Refresh, class, owner, its);
        read.unit = unit;
        flash.submit(id);
    }

    /// Handles the end of the read of a page that is compared, for the scrub of a die.
    pub(crate) fn page_compared(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        die: DieId,
    ) {
        let failed = self.failed(ftl, flash, id);
        flash.txns.close(id);
        match failed {
            true => self.end_comparison(ftl, flash, die, false),
            false => self.read_next_page(ftl, flash, die),
        }
    }

    /// Notes the result if the stripe could be compared, and lets the scrub go on.
    fn end_comparison(&mut self, ftl: &mut Ftl, flash: &mut Flash, die: DieId, compared: bool) {
        let Some(checks) = &mut self.stripe_checks else { return };
        let integrity = self.integrity.as_mut().expect("only versions are compared");
        let Comparison { parity_read, stripe, error, .. } =
            std::mem::replace(&mut checks.dies[die], NOTHING);
        let ledger = &mut integrity.silent.ledger;
        match compared {
            true => checks.note(stripe, error == 0, ledger),
            false => ledger.stripes_undecided += 1,
        }
        ftl.gc.scrubbed(&mut ftl.core, flash, parity_read, false);
    }
}
