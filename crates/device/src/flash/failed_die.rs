//! Dies that have failed for good.
//!
//! 1. The program or erase that the die had begun is lost; its transactions are returned to the
//!    caller ([`Flash::fail_die`]). A read that the die had begun ends when it would have ended.
//! 2. The die is marked. When it decides, every transaction in its queue is handed back to the
//!    layer ([`Flash::hand_back`]).
//! 3. Transactions that are sent to the die later are handed back at once in the same way: neither
//!    the die nor the channel spends any time on them.
//!
//! Exceptions: a transfer to the die that is in progress occupies the channel to the end
//! ([`Flash::abandoned`], and `cache_operations.rs` for a transfer to the cache register). If the
//! whole drive has failed, nothing is handed back ([`Flash::shut_down`]).

use super::{Flash, Translation};
use crate::flash::die::{Cells, State};
use crate::flash::queue::DieQueue;
use crate::flash::txn::{Txn, Wait};
use crate::observe::blame::Blame;
use crate::observe::ledger::Doing;
use crate::observe::operation::Op;
use fowler_agenda::Ticket;
use fowler_units::{DieId, Id, TxnId};

impl Flash {
    /// Returns true if a die has failed for good.
    #[inline]
    pub fn has_failed(&self, die: DieId) -> bool {
        self.dies[die].cells == Cells::Failed
    }

    /// Lets a die fail for good. Returns the transactions of the program or erase that it had
    /// begun.
    pub fn fail_die(&mut self, id: DieId) -> Vec<TxnId> {
        let now = self.now();
        let die = &mut self.dies[id];
        if die.cells == Cells::Failed {
            return Vec::new();
        }
        let first = match die.state {
            State::AwaitIn | State::TransferIn => die.first,
            State::Loaded if die.cells != Cells::Suspended => die.first,
            _ if die.cells != Cells::Free => die.command.first,
            _ => TxnId::NONE,
        };
        let reads = matches!(
            die.state,
            State::Sensing | State::AwaitOut | State::TransferOut | State::AwaitCache
        );
        let begun = self.take_chain(first);
        let die = &mut self.dies[id];
        die.cache.forget_program();
        if !reads {
            // The transfer occupies the channel to its end.
            let transfers = matches!(die.state, State::TransferIn | State::Refill);
            let state = if transfers { State::Abandoned } else { State::Idle };
            die.cells = Cells::Free;
            die.enter(now, state, Doing::IDLE, &mut self.txns);
            self.channels[die.channel].withdraw(id, die);
            if !transfers {
                (die.ticket, die.until) = (Ticket::NONE, now);
            }
        }
        die.cells = Cells::Failed;
        (die.command.first, die.command.suspended) = (TxnId::NONE, None);
        (die.suspend_wanted, die.blocked) = (false, false);
        self.mark(id);
        begun
    }

    /// Stops a die without handing back its transactions: the whole drive has failed.
    pub fn shut_down(&mut self, id: DieId) {
        self.fail_die(id);
        let die = &mut self.dies[id];
        die.queue = DieQueue::default();
        if let Some(ranked) = &mut die.ranked {
            ranked.clear();
        }
        // Whatever the die is still doing never ends.
        let now = self.agenda.now();
        die.ticket = Ticket::NONE;
        die.enter(now, State::Idle, Doing::IDLE, &mut self.txns);
    }

    /// Separates the chained transactions of a command, and returns them.
    fn take_chain(&mut self, first: TxnId) -> Vec<TxnId> {
        let (mut chain, mut member) = (Vec::new(), first);
        while member.is_some() {
            chain.push(member);
            let txn = self.txns.get_mut(member);
            let next = if txn.op == Op::Program { txn.next } else { TxnId::NONE };
            txn.next = TxnId::NONE;
            member = next;
        }
        chain
    }

    /// Handles the end of a transfer to a die that has failed meanwhile.
    #[cold]
    pub(super) fn abandoned(&mut self, id: DieId) {
        self.dies[id].state = State::Idle;
        self.mark(id);
    }

    /// Hands back every transaction that waits for a failed die.
    #[cold]
    #[inline(never)]
    pub(super) fn hand_back(&mut self, id: DieId, layer: &mut impl Translation) {
        let now = self.now();
        let die = &mut self.dies[id];
        self.channels[die.channel].withdraw(id, die);
        if die.account.doing() != Doing::IDLE {
            die.enter(now, State::Idle, Doing::IDLE, &mut self.txns);
        }
        loop {
            let die = &mut self.dies[id];
            let Some(class) = die.queue.classes().next() else { return };
            let Some(txn) = die.queue.head(class) else { return };
            die.dispatch(txn, now, &mut self.txns);
            layer.handed_back(self, txn);
        }
    }

    /// Returns true if a failed die handed a read back.
    pub fn was_handed_back(&self, id: TxnId) -> bool {
        let Txn { op, die, dispatched, .. } = *self.txns.get(id);
        op == Op::Read && self.has_failed(die) && dispatched == self.now()
    }

    /// Adds the time of a transaction from its submission until now to the latency breakdown
    /// `blame`, by cause, on a drive whose dies may fail: a read that a failed die handed back has
    /// only waited and was never served.
    pub fn blame_if_served(&self, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        if self.was_handed_back(id) {
            self.wait_blame(id, waiter, blame);
        } else {
            self.service_blame(id, waiter, blame);
        }
    }

    /// Adds the time of a read that a failed die handed back, from its submission until then, to
    /// the latency breakdown `blame`, by cause. `waiter` is the read, or another transaction that
    /// waits for it.
    pub fn wait_blame(&self, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        let Txn { submitted, req, wait, .. } = *self.txns.get(waiter);
        let Txn { die, dispatched, .. } = *self.txns.get(id);
        match wait {
            _ if !req.is_some() => {} // No request reads its blame.
            Wait::Settled => self.txns.waits(waiter).blame(blame),
            _ => self.dies[die].account.blame_between(submitted, dispatched, blame),
        }
    }
}
