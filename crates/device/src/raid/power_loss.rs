//! Parity that the cache loses at a loss of power.
//!
//! 1. All entries lose their parity, except those whose program a die has begun and that was not
//!    cut off, and those for which energy is left ([`Raid::lose_parity`]).
//! 2. Unreadable pages of such a stripe are lost: nothing recovers them any more.
//! 3. The entry is computed anew from the pages of the stripe.

use super::Raid;
use super::losses::{Failure, Loss, Reason};
use super::parity_cache::{Progress, bit};
use crate::flash::Flash;
use crate::flash::txn::{Owner, Txn};
use crate::host::Ftl;
use crate::observe::operation::Op;
use fowler_units::{Id, ParityId, StripeId, TxnId};

impl Raid {
    /// Returns true if a die has begun to program the parity of a parity cache entry.
    pub(crate) fn parity_has_begun(&self, flash: &Flash, entry: ParityId) -> bool {
        let begun = |txn: &Txn| {
            txn.op == Op::Program && txn.owner == Owner::Parity(entry) && txn.unit.is_some()
        };
        flash.txns.iter().any(|(_, txn)| begun(txn))
    }

    /// Discards cached parity that no die has begun to program, or whose program is among those
    /// that were `torn`, except for the parity of `saved` stripes. Returns the number of stripes
    /// affected.
    pub(crate) fn lose_parity(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        saved: usize,
        torn: &[TxnId],
    ) -> u64 {
        let owners = torn.iter().map(|&id| flash.txns.get(id).owner);
        let torn: Vec<ParityId> = owners
            .filter_map(|owner| match owner {
                Owner::Parity(entry) => Some(entry),
                _ => None,
            })
            .collect();
        let volatile: Vec<(ParityId, StripeId)> = self
            .cache
            .iter()
            .filter(|(id, it)| {
                let computed = it.progress == Progress::Writing && !it.again && !it.stale;
                !computed || !self.parity_has_begun(flash, *id) || torn.contains(id)
            })
            .filter(|(_, entry)| entry.covered | entry.uncovered != 0)
            .map(|(id, entry)| (id, entry.stripe))
            .collect();
        let mut lost = 0;
        for (id, stripe) in volatile.into_iter().skip(saved) {
            // Resuming one entry may have closed another.
            if self.cache.find(stripe) != Some(id) {
                continue;
            }
            lost += 1;
            if let Some(integrity) = &mut self.integrity {
                integrity.ledger.parity_lost += 1;
            }
            self.give_up_unreadable(ftl, flash, stripe);
            self.forget_parity(ftl, flash, id);
            // The unreadable pages of the stripe are now lost, so nothing keeps its parity from
            // being flushed.
            self.update_frail(ftl, flash, stripe);
        }
        lost
    }

    /// Gives up the unreadable pages of a stripe without any parity.
    fn give_up_unreadable(&mut self, ftl: &mut Ftl, flash: &mut Flash, stripe: StripeId) {
        let (stripes, unread) = (self.stripes, self.unread_positions(&ftl.core, stripe));
        let failed = unread.count_ones() as u8;
        let loss = Loss { reason: Reason::Power, failure: Failure::Cells, failed, given_back: 0 };
        for (at, page) in stripes.data_pages(stripe) {
            if unread & bit(at) != 0 {
                self.lose(ftl, flash, page, loss);
            }
        }
    }
}
