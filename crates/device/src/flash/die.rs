//! A die and a channel as the controller sees them.

use crate::flash::marked::Marked;
use crate::flash::queue::{DieQueue, RankedQueue};
use crate::flash::txn::{Txn, Txns, Wait};
use crate::observe::ledger::{Account, Doing, Ledger};
use fowler_agenda::Ticket;
use fowler_nand::{CellOp, EraseOp, Timing};
use fowler_units::{ChannelId, DieId, Id, Nanos, Span, TxnId};
use std::collections::VecDeque;

/// What a die is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing. It may wait for the channel to begin a program (or to refill the page buffer), and
    /// takes up anything better that comes meanwhile.
    Idle,
    /// Sensing the page of a read.
    Sensing,
    /// A page is in the page buffer and waits for the channel.
    AwaitOut,
    /// A page is on its way out.
    TransferOut,
    /// The next page of a multi-plane program waits for the channel.
    AwaitIn,
    /// A page is on its way in.
    TransferIn,
    /// The data of a suspended program is on its way in again.
    Refill,
    /// The data of a program is in the page buffer: it goes on the cells, unless a read goes first.
    Loaded,
    /// A program or erase is on the cells.
    Running,
    /// A program or erase is being taken off the cells.
    Suspending,
}

/// Where the program or erase is that a die has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// There is none.
    Free,
    /// On the cells.
    Running,
    /// Taken off them.
    Suspended,
}

/// A program or erase that a die has begun.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its transactions, chained: one for each plane that takes part.
    pub first: TxnId,
    /// How far the cells have come.
    pub cells: CellOp,
    /// When the cells started.
    pub started: Nanos,
    /// What it takes undisturbed.
    pub nominal: Span,
    /// Time spent on reads while it was suspended.
    pub reads: Span,
    /// When it was first suspended, if it has been.
    pub suspended: Option<Nanos>,
    /// The die's time accounting at that moment, where the die's log does not reach back to it.
    pub account: Ledger,
}

impl Command {
    /// None yet.
    fn none(timing: &Timing) -> Self {
        Self {
            first: TxnId::NONE,
            cells: CellOp::Erase(EraseOp::new(timing)),
            started: Nanos::ZERO,
            nominal: Span::ZERO,
            reads: Span::ZERO,
            suspended: None,
            account: Ledger::default(),
        }
    }
}

/// A die.
#[derive(Clone, Debug)]
pub struct Die {
    /// The channel it hangs on.
    pub channel: ChannelId,
    /// What waits for it.
    pub queue: DieQueue,
    /// The same by rank, if the order goes by it.
    pub ranked: Option<Box<RankedQueue>>,
    /// What it has spent its time on.
    pub account: Account,
    /// What it does.
    pub state: State,
    /// The agenda entry of the end of that; any other is stale.
    pub ticket: Ticket,
    /// The transactions of the program being transferred in, chained.
    pub first: TxnId,
    /// The one of them whose page is being transferred, or the read being served.
    pub cursor: TxnId,
    /// How long the page on the way in or out takes on the channel.
    pub transfer: Span,
    /// Where its program or erase is, if it has begun one.
    pub cells: Cells,
    /// That program or erase; means nothing while the cells are free.
    pub command: Command,
    /// When what it does ends, if that is known: an event of it is due then, and none before.
    pub until: Nanos,
    /// A read waits for the transfer in progress to end (S14).
    pub suspend_wanted: bool,
    /// It stands in the channel's queue.
    pub wants_channel: bool,
    /// It is to be attended to before time moves on.
    pub marked: bool,
    /// Its channel was reserved for it; it may have taken it since.
    pub offered: bool,
    /// No host program can be given a page here until a GC job ends.
    pub blocked: bool,
    /// Time that its finished operations took, reads within a suspended one counted once.
    pub served: Span,
    /// Since when it has been idle.
    pub idle_since: Nanos,
}

impl Die {
    /// An idle die on a channel; with `ranks`, what waits for it is ranked.
    pub fn new(channel: ChannelId, ranks: bool, timing: &Timing) -> Self {
        Self {
            channel,
            queue: DieQueue::default(),
            ranked: ranks.then(Box::default),
            account: Account::default(),
            state: State::Idle,
            ticket: Ticket::NONE,
            first: TxnId::NONE,
            cursor: TxnId::NONE,
            transfer: Span::ZERO,
            cells: Cells::Free,
            command: Command::none(timing),
            until: Nanos::ZERO,
            suspend_wanted: false,
            wants_channel: false,
            marked: false,
            offered: false,
            blocked: false,
            served: Span::ZERO,
            idle_since: Nanos::ZERO,
        }
    }

    /// From now on it does something else.
    #[inline]
    pub fn enter(&mut self, now: Nanos, state: State, doing: Doing, txns: &mut Txns) {
        self.state = state;
        if self.account.switch(now, doing) {
            self.sum_up(txns);
        }
    }

    /// It is to be attended to before time moves on: it joins those that are `marked`, at most
    /// once.
    #[inline]
    pub fn mark(&mut self, id: DieId, marked: &mut Marked) {
        if !std::mem::replace(&mut self.marked, true) {
            marked.push(id);
        }
    }

    /// Takes a transaction up, which leaves its queue: what the die did meanwhile is what it waited
    /// behind.
    #[inline]
    pub fn dispatch(&mut self, id: TxnId, now: Nanos, txns: &mut Txns) {
        if self.ranked.is_some() {
            self.leave_ranks(id, txns);
        }
        self.queue.remove(id, txns);
        let txn = txns.get_mut(id);
        txn.dispatched = now;
        txn.next = TxnId::NONE;
        if txn.wait != Wait::InLog || txn.joined.is_some() {
            self.settle_waits(id, now, txns);
        }
    }

    /// A transaction leaves those that are ranked. A call of its own, so that a die without ranks
    /// carries nothing of it.
    #[inline(never)]
    fn leave_ranks(&mut self, id: TxnId, txns: &mut Txns) {
        let Some(ranked) = &mut self.ranked else { return };
        // Most often nothing else waits, and nothing was overtaken. The record may say otherwise: a
        // transaction may have been taken up before.
        if ranked.remove_alone(id) {
            txns.get_mut(id).overtook = false;
        } else {
            self.leave_others(id, txns);
        }
    }

    /// As [`Die::leave_ranks`], where others wait too.
    #[inline(never)]
    fn leave_others(&mut self, id: TxnId, txns: &mut Txns) {
        let Some(ranked) = &mut self.ranked else { return };
        // Pages of one request do not overtake each other.
        let Txn { class, req, .. } = *txns.get(id);
        let overtook = self.queue.head(class) != Some(id)
            && self
                .queue
                .iter(class, txns)
                .take_while(|&other| other != id)
                .any(|other| txns.get(other).req != req);
        txns.get_mut(id).overtook = overtook;
        ranked.remove(id, txns);
    }

    /// Whether it neither does nor waits for anything.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle && self.cells != Cells::Suspended && self.queue.is_empty()
    }
}

/// A channel: one transfer at a time, first come first served.
#[derive(Clone, Debug)]
pub struct Channel {
    /// A transfer is in progress.
    pub busy: bool,
    /// The idle die whose turn it is, for as long as it takes to ask what it wants.
    pub reserved: DieId,
    /// The dies that wait, each at most once.
    pub waiting: VecDeque<DieId>,
    /// Time spent transferring, the transfer in progress included.
    pub carried: Span,
    /// When the latest transfer ends, and how long it takes.
    pub until: Nanos,
    pub latest: Span,
}

impl Channel {
    /// A free channel of so many dies.
    pub fn new(dies: usize) -> Self {
        let waiting = VecDeque::with_capacity(dies);
        Self {
            busy: false,
            reserved: DieId::NONE,
            waiting,
            carried: Span::ZERO,
            until: Nanos::ZERO,
            latest: Span::ZERO,
        }
    }

    /// Its next transfer ends at `until` and takes `time`.
    #[inline]
    pub fn carry(&mut self, until: Nanos, time: Span) {
        self.carried += time;
        self.until = until;
        self.latest = time;
    }

    /// Time spent transferring up to `at`, where only the latest transfer may end later.
    pub fn carried_until(&self, at: Nanos) -> Span {
        let to_come = if at < self.until { self.until - at } else { Span::ZERO };
        self.carried - to_come.min(self.latest)
    }

    /// Whether a die may begin a transfer.
    #[inline]
    pub fn is_free_for(&self, id: DieId) -> bool {
        !self.busy && (!self.reserved.is_some() || self.reserved == id)
    }
}
