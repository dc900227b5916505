//! The reads of a stripe check, and the comparison of the data that they return.
//!
//! 1. A scrub has read the parity of a stripe: that read stays open, and the scrub of the die waits
//!    ([`Raid::begin_comparison`]).
//! 2. The data pages of the stripe are read one after another; a page counts as read when its read
//!    begins ([`Raid::page_compared`]).
//! 3. After the last one the sum of the errors is the result: zero if the stripe matches. The scrub
//!    continues.
//!
//! Exceptions: if the parity has moved, is in the cache, or a page cannot be read, the comparison
//! ends without a result.

use super::Raid;
use super::stripe_check::{Comparison, NOTHING};
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::host::Ftl;
use crate::observe::operation::{Op, Source};
use fowler_units::{DieId, Id, TxnId};

impl Raid {
    /// Begins to compare a stripe if a scrub has read its parity. Returns true if so: the read then
    /// stays open, and the scrub waits.
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

    /// Reads the next page of a stripe that is compared, or ends the comparison.
    fn read_next_page(&mut self, ftl: &mut Ftl, flash: &mut Flash, die: DieId) {
        let Some(checks) = &mut self.stripe_checks else { return };
        let Comparison { stripe, parity, next, .. } = checks.dies[die];
        // While pages of the stripe are being rewritten, the parity is in the cache; afterwards, it
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
        let comparison = &mut checks.dies[die];
        (comparison.next, comparison.error) = (at + 1, comparison.error ^ error);
        if !self.reads_well(unit) {
            return self.end_comparison(ftl, flash, die, false);
        }
        let (class, owner) = (TxnClass::BackgroundRead, Owner::StripeCheck(die));
        let page_die = ftl.core.locator.die_of(unit);
        let (id, read) = flash.open(Op::Read, Source::Refresh, class, owner, page_die);
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

    /// Ends the comparison of a stripe with its parity, and lets the scrubbing of the die continue.
    /// Records the result or, if the stripe could not be compared, that it is undecided.
    fn end_comparison(&mut self, ftl: &mut Ftl, flash: &mut Flash, die: DieId, compared: bool) {
        let Some(checks) = &mut self.stripe_checks else { return };
        let integrity = self.integrity.as_mut().expect("only versions are compared");
        let Comparison { parity_read, stripe, error, .. } =
            std::mem::replace(&mut checks.dies[die], NOTHING);
        let ledger = &mut integrity.silent.ledger;
        match compared {
            true => checks.unequal.note(stripe, error == 0, ledger),
            false => ledger.stripes_undecided += 1,
        }
        ftl.gc.scrubbed(&mut ftl.core, flash, parity_read, false);
    }
}
