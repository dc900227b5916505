//! A die that ranks what waits for it. Most often nothing does, and what comes is taken up before
//! anything else comes: that takes the short way. Whatever is rarer is a call at the end of the one
//! before it, so that the short way saves no registers.

use super::Flash;
use crate::policy::die_order::AnyDieOrder;
use fowler_units::{DieId, TxnId};

impl Flash {
    /// The rest of [`Flash::submit`] where the die ranks what waits for it.
    #[inline(never)]
    pub(super) fn rank(&mut self, id: TxnId, die: DieId) {
        // Of reads: the younger the page, the smaller the key.
        let page = self.locator.page_of(self.txns.get(id).unit);
        let age_key = self.condition.as_ref().map_or(0, |its| its.youth(page));
        if let Some(ranked) = &mut self.dies[die].ranked {
            ranked.push(id, age_key, &mut self.txns);
        }
    }

    /// As [`Flash::pick`], of an order that may go by rank, where something waits. What waits alone
    /// is taken whatever the order, without asking it; only one that was handed over may want to
    /// know.
    #[inline(never)]
    pub(super) fn pick_by_rank(&mut self, id: DieId) -> Option<TxnId> {
        let die = &self.dies[id];
        if !matches!(self.order, AnyDieOrder::Custom(_))
            && let Some(ranked) = &die.ranked
            && let Some(sole) = ranked.sole(die.blocked)
        {
            return Some(sole);
        }
        self.pick_among(id)
    }
}
