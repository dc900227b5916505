//! The accounting of each transaction's time, by what it waited for.
//!
//! 1. A die logs its activities ([`crate::observe::ledger::Account`]). While a transaction waits,
//!    nothing is computed for it.
//! 2. When the log is full, the die adds it to the totals. Transactions that have waited since
//!    before then save the totals at their submission, or their finished wait ([`Die::sum_up`]).
//! 3. When a die takes a transaction up, the wait is the difference between the totals then and at
//!    the submission ([`Die::settle_waits`]).
//! 4. When the transaction ends, wait and service are added to the blame of its page, cause by
//!    cause ([`Flash::service_blame`]). Time of a read beyond sensing and transfer is the
//!    channel's, soft sensing or retries; time of a program beyond its nominal duration is that of
//!    suspensions.
//!
//! Invariant: the parts that are added sum to the time from the submission to the end. The loop
//! asserts it for whole requests when it reports them to the probe.

use super::Flash;
use crate::cells::reliability::RetryCost;
use crate::flash::die::{Cells, Die, State};
use crate::flash::txn::{Txn, Txns, Wait};
use crate::observe::blame::{Blame, Part};
use crate::observe::operation::Op;
use fowler_units::{Id, InPage, Nanos, Span, TxnId};

impl Die {
    /// Adds the die's full log of activities to the total time of each activity, and empties the
    /// log. Each queued host transaction submitted within the log first saves the totals at its
    /// submission, from which its wait is computed later.
    #[cold]
    pub(super) fn sum_up(&mut self, txns: &mut Txns) {
        let begins = self.account.log_begins();
        for class in self.queue.classes() {
            let mut at = self.queue.last(class);
            while let Some(id) = at {
                let Txn { submitted, req, wait, .. } = *txns.get(id);
                if submitted < begins {
                    break;
                }
                if req.is_some() && wait == Wait::InLog {
                    *txns.waits_mut(id) = self.account.read_at(submitted);
                    txns.get_mut(id).wait = Wait::Noted;
                }
                at = self.queue.before(id, class, txns);
            }
        }
        match self.state {
            State::Sensing | State::AwaitOut | State::TransferOut | State::AwaitCache => {
                self.settle(self.cursor, txns);
            }
            State::AwaitIn | State::TransferIn | State::Loaded => self.settle(self.first, txns),
            State::Idle | State::Refill | State::Running | State::Suspending | State::Abandoned => {
            }
        }
        if self.cache.has_read() {
            self.settle(self.cache.txn, txns);
        }
        if self.cells != Cells::Free {
            self.settle(self.command.first, txns);
            if let Some(suspended) = self.command.suspended.filter(|&it| it >= begins) {
                self.command.account = self.account.read_at(suspended);
            }
        }
        self.account.sum_up();
    }

    /// Saves, for a read or for the pages of a command, the time that the die spent on each
    /// activity while they waited, from the die's log of activities.
    fn settle(&self, first: TxnId, txns: &mut Txns) {
        let mut id = first;
        while id.is_some() {
            let Txn { wait, submitted, dispatched, req, op, next, .. } = *txns.get(id);
            if req.is_some() && wait == Wait::InLog {
                *txns.waits_mut(id) = self.account.between(submitted, dispatched);
                txns.get_mut(id).wait = Wait::Settled;
            }
            id = if op == Op::Program { next } else { TxnId::NONE };
        }
    }

    /// Computes the time of each die activity during the wait of a transaction, and of each page
    /// write that waits for the same program. The result replaces the total times saved at the
    /// submission of each.
    #[cold]
    pub(super) fn settle_waits(&self, id: TxnId, now: Nanos, txns: &mut Txns) {
        let mut waiter = id;
        while waiter.is_some() {
            if txns.get(waiter).wait == Wait::Noted {
                self.account.settle(now, txns.waits_mut(waiter));
                txns.get_mut(waiter).wait = Wait::Settled;
            }
            let Txn { joined, next, .. } = *txns.get(waiter);
            waiter = if waiter == id { joined } else { next };
        }
    }
}

impl Flash {
    /// Adds the time from submission until now, when the transaction `id` ends, to the latency
    /// breakdown `blame`, by cause. `waiter` is `id` or, to break down the latency of another page
    /// write, the transaction of a page write that waits for the same program.
    #[inline(always)]
    pub fn service_blame(&self, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        self.blame_service::<false>(id, waiter, blame);
    }

    /// Adds the time of a transaction from its submission until now to the latency breakdown
    /// `blame`, by cause, on a drive whose pages hold several mapping units
    /// ([`super::Translation::PACKED`]).
    pub fn packed_service_blame(&self, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        self.blame_service::<true>(id, waiter, blame);
    }

    #[inline(always)]
    fn blame_service<const PACKED: bool>(&self, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        let txn = self.txns.get(id);
        let waiting = self.txns.get(waiter);
        match waiting.wait {
            Wait::InLog if !waiting.req.is_some() => {} // No request reads its blame.
            Wait::InLog => {
                let account = &self.dies[txn.die].account;
                account.blame_between(waiting.submitted, txn.dispatched, blame);
            }
            Wait::Noted => unreachable!("transaction {} still waits", waiter.0),
            Wait::Settled => self.txns.waits(waiter).blame(blame),
        }
        // No page write joined after the die took the program up: a new program would have begun.
        let total = self.now() - txn.dispatched;
        match txn.op {
            Op::Read => {
                let sense = self.timing.read.of(|| self.offset(txn.unit));
                let data = txn.all_of(PACKED, self.levels.transfer(0));
                let transfer = data + self.registers.read_command;
                let hard = sense + transfer;
                blame[Part::Sense] += sense;
                blame[Part::Transfer] += transfer;
                blame[Part::Channel] += total - hard;
                if txn.level > 0 && PACKED && self.ages {
                    self.read_retry_blame(txn, blame);
                } else if txn.level > 0 && PACKED {
                    self.soft_blame_by_page(txn, blame);
                } else if txn.level > 0 {
                    self.soft_blame(txn, blame);
                }
            }
            Op::Program | Op::Erase => self.cells_blame::<PACKED>(txn, total, blame),
        }
    }

    /// Reassigns time in the latency breakdown `blame` of a read: the sensing and transfer time
    /// beyond that of a hard-decision read, so far counted as waiting for the channel, becomes soft
    /// sensing. Kept out of line, so that hard-decision reads save no registers for it.
    #[cold]
    #[inline(never)]
    fn soft_blame(&self, txn: &Txn, blame: &mut Blame) {
        match self.levels.beyond_hard(txn.level) {
            Some(soft) => self.blame_on_soft(soft, txn, blame),
            None => self.soft_blame_by_page(txn, blame),
        }
    }

    /// Reassigns time in the latency breakdown `blame` of a read from the channel to soft sensing:
    /// the time that sensing and transfer at the read's level take beyond a hard-decision read.
    /// Used if that time differs between page types.
    #[inline(never)]
    fn soft_blame_by_page(&self, txn: &Txn, blame: &mut Blame) {
        let soft = self.took_at(txn.level, txn) - self.took_at(0, txn);
        self.blame_on_soft(soft, txn, blame);
    }

    #[inline(always)]
    fn blame_on_soft(&self, soft: Span, txn: &Txn, blame: &mut Blame) {
        blame[Part::SoftSensing] += soft;
        blame[Part::Channel] -= soft;
        if txn.first_level < txn.level {
            self.retry_blame(txn, blame);
        }
    }

    /// Reassigns the time of the failed tries of a read to retries, in the latency breakdown
    /// `blame`; so far it was counted as waiting for the channel. If a retry senses only what its
    /// level adds ([`RetryCost::Increment`]), the time after the first try becomes retries; so far
    /// it was counted as soft sensing.
    #[cold]
    #[inline(never)]
    fn retry_blame(&self, txn: &Txn, blame: &mut Blame) {
        let commands = self.registers.read_command * u64::from(txn.level - txn.first_level);
        blame[Part::Retry] += commands;
        blame[Part::Channel] -= commands;
        if self.retry == RetryCost::Increment {
            let later = self.took_at(txn.level, txn) - self.took_at(txn.first_level, txn);
            blame[Part::Retry] += later;
            blame[Part::SoftSensing] -= later;
            return;
        }
        let tries: Span = (txn.first_level..txn.level).map(|level| self.took_at(level, txn)).sum();
        blame[Part::Retry] += tries;
        blame[Part::Channel] -= tries;
    }

    /// Returns the time to sense the page of a read at a sensing level, and to transfer those
    /// mapping units of the page that the read needs, without the time of the read command.
    fn took_at(&self, level: u8, txn: &Txn) -> Span {
        let (sense, transfer) = self.levels.sense_and_transfer(level, || self.offset(txn.unit));
        sense + transfer * u64::from(txn.parts)
    }

    #[inline]
    fn cells_blame<const PACKED: bool>(&self, txn: &Txn, total: Span, blame: &mut Blame) {
        let die = &self.dies[txn.die];
        if die.cells != Cells::Running {
            return; // A dropped program did nothing and took no time.
        }
        let command = &die.command;
        let transfer = match txn.op {
            Op::Program if !txn.data_in_buffer => txn.all_of(PACKED, self.timing.bus_transfer),
            _ => Span::ZERO,
        };
        let before = command.started - txn.dispatched;
        blame[Part::Transfer] += transfer;
        blame[Part::Channel] += before - transfer;
        let mut own = total - before;
        if let Some(suspended) = command.suspended {
            let since = if suspended < die.account.log_begins() {
                die.account.read_at(self.now()).since(&command.account)
            } else {
                die.account.between(suspended, self.now())
            };
            since.blame_reads(blame);
            own -= since.reading();
        }
        // If a cut pulse had reached its voltage, the rest of the pulse is saved (S7, `reached`).
        let program = own.min(command.nominal);
        blame[Part::Program] += program;
        blame[Part::Suspend] += own - program;
    }

    #[inline]
    pub(super) fn offset(&self, at: impl InPage) -> u32 {
        let page = self.locator.page_of(at);
        if page.is_some() { self.locator.offset_in_block(page) } else { 0 }
    }
}
