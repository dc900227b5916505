//! A die that ranks what waits for it. Most often nothing does, and what comes is taken up before
//! anything else comes: that takes the short way. Whatever is rarer is a call at the end of the one
//! before it, so that the short way saves no registers.

use super::Flash;
use crate::policy::die_order::AnyDieOrder;
use fowler_units::{DieId, Id, TxnId};

impl Flash {
    /// The rest of [`Flash::submit`], of a transaction that is ranked or that page writes joined.
    #[inline(never)]
    pub(super) fn submit_further(&mut self, id: TxnId, die: DieId, marks: bool) {
        if self.dies[die].ranked.is_some() {
            let age_key = self.youth(id);
            if let Some(ranked) = &mut self.dies[die].ranked
                && !ranked.push_alone(id, age_key, &self.txns)
            {
                return self.submit_beside_others(id, die, marks);
            }
        }
        self.submit_ranked(id, die, marks);
    }

    /// How young the page is that a read waits for, as a key that is smaller the younger it is.
    #[inline]
    fn youth(&self, id: TxnId) -> u32 {
        let page = self.locator.page_of(self.txns.get(id).unit);
        self.condition.as_ref().map_or(0, |its| its.youth(page))
    }

    /// As [`Flash::submit_further`], where others wait already.
    #[inline(never)]
    fn submit_beside_others(&mut self, id: TxnId, die: DieId, marks: bool) {
        let age_key = self.youth(id);
        if let Some(ranked) = &mut self.dies[die].ranked {
            ranked.push_beside_others(id, age_key, &mut self.txns);
        }
        self.submit_ranked(id, die, marks);
    }

    #[inline(always)]
    fn submit_ranked(&mut self, id: TxnId, die: DieId, marks: bool) {
        if self.txns.get(id).joined.is_some() {
            return self.submit_joined(id, die, marks);
        }
        if marks {
            self.put_among_marked(die);
        }
    }

    /// As [`Flash::submit_further`], of a transaction that page writes joined.
    #[inline(never)]
    fn submit_joined(&mut self, id: TxnId, die: DieId, marks: bool) {
        if marks {
            self.put_among_marked(die);
        }
        let mut joined = self.txns.get(id).joined;
        while joined.is_some() {
            self.join_at(joined, die);
            joined = self.txns.get(joined).next;
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
