//! Submission to a die that ranks its queue, and picking from it.
//!
//! 1. Waiting host reads are ranked by the age of their data, programs by the size of their request
//!    ([`Flash::rank`]).
//! 2. A program moves forward when a page write that is due earlier joins it ([`Flash::expedite`]).
//! 3. A transaction that waits alone is picked without asking the die order, unless that is a
//!    custom one; otherwise the order picks ([`Flash::pick_by_rank`]).
//! 4. The choice of a custom order is checked ([`Flash::checked_choice`]).
//!
//! Usually a transaction finds the queue empty and is started before the next one comes. That path
//! is short: every rarer case is a call at the end, so that the short path saves no registers for
//! it.

use super::Flash;
use super::txn::Txn;
use crate::policy::die_order::AnyDieOrder;
use fowler_units::{DieId, TxnId};

impl Flash {
    /// Adds a transaction to the ranked queue of its die, as the rest of [`Flash::submit`].
    #[inline(never)]
    pub(super) fn rank(&mut self, id: TxnId, die: DieId) {
        // Reads rank by age: the younger the page, the smaller the key.
        let page = self.locator.page_of(self.txns.get(id).unit);
        let age_key = self.condition.as_ref().map_or(0, |condition| condition.youth(page));
        if let Some(ranked) = &mut self.dies[die].ranked {
            ranked.push(id, age_key, &mut self.txns);
        }
    }

    /// Moves a waiting program forward in its die's order of due times if the page write `joined`,
    /// which has begun to wait for the same program, is due earlier than the program.
    #[inline(never)]
    pub fn expedite(&mut self, program: TxnId, joined: TxnId) {
        let die = self.txns.get(program).die;
        if let Some(ranked) = &mut self.dies[die].ranked {
            ranked.expedite(program, joined, &mut self.txns);
        }
    }

    /// Returns the transaction that a die serves next, for a die order that may use ranks and a
    /// queue that is not empty. A transaction that waits alone is chosen without asking the die
    /// order, unless that is a custom one.
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

    /// Asserts that a transaction chosen by a custom order waits for this die, as the order may
    /// return any number. Returns the transaction to serve.
    #[cold]
    #[inline(never)]
    pub(super) fn checked_choice(&self, id: DieId, choice: TxnId) -> TxnId {
        let waits = self.txns.find(choice).is_some_and(|txn| {
            let mut waiting = self.dies[id].queue.iter(txn.class, &self.txns);
            waiting.any(|it| it == choice)
        });
        assert!(waits, "a die order chose transaction {}, which does not wait here", choice.0);
        self.first_of_block(id, choice)
    }

    /// Returns the transaction to serve when a custom order has chosen `choice`: of the programs of
    /// a superblock, whose pages have their places before they wait, the first that waits, because
    /// the pages of a block are programmed in order.
    fn first_of_block(&self, id: DieId, choice: TxnId) -> TxnId {
        let placed = |txn: &Txn| {
            let place = || self.locator.place_in_plane(self.locator.block_of(txn.unit));
            txn.has_place().then(place)
        };
        let chosen = self.txns.get(choice);
        let (class, Some(place)) = (chosen.class, placed(chosen)) else { return choice };
        let mut waiting = self.dies[id].queue.iter(class, &self.txns);
        waiting.find(|&it| placed(self.txns.get(it)) == Some(place)).unwrap_or(choice)
    }
}
