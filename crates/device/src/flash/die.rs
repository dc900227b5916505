//! The state of dies and channels.

use crate::flash::cache_register::CacheRegister;
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
    /// Nothing. It may wait for the channel to begin a program or to refill the page buffer. It
    /// takes up anything better that comes meanwhile.
    Idle,
    /// Sensing the page of a read.
    Sensing,
    /// The page read is in the page buffer and waits for the channel.
    AwaitOut,
    /// The page read is being transferred out.
    TransferOut,
    /// The page read is in the page buffer and waits until the one before it has left the cache
    /// register.
    AwaitCache,
    /// The next page of a multi-plane program waits for the channel.
    AwaitIn,
    /// A page of a program is being transferred in.
    TransferIn,
    /// The data of a suspended program is being transferred in again.
    Refill,
    /// The data of a program is in the page buffer. It goes on the cells unless a read goes first.
    Loaded,
    /// A program or erase is on the cells.
    Running,
    /// A program or erase is being taken off the cells.
    Suspending,
    /// Data is being transferred to it, but it has failed meanwhile.
    Abandoned,
}

/// Where the program or erase of a die is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cells {
    /// The die has none.
    Free,
    /// It is on the cells.
    Running,
    /// It was taken off the cells.
    Suspended,
    /// The die has failed for good, and begins nothing any more.
    Failed,
}

/// A program or erase that a die has begun.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its transactions, chained: one for each plane that takes part.
    pub first: TxnId,
    /// Its progress on the cells.
    pub cells: CellOp,
    /// When it first went on the cells.
    pub started: Nanos,
    /// Its time on the cells if undisturbed.
    pub nominal: Span,
    /// Time spent on reads while it was suspended.
    pub reads: Span,
    /// When it was first suspended, if it has been.
    pub suspended: Option<Nanos>,
    /// The die's time accounting at that moment, if the die's log no longer reaches back to it.
    pub account: Ledger,
}

impl Command {
    /// A placeholder for a die that has begun none.
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
    /// Its channel.
    pub channel: ChannelId,
    /// The transactions that wait for it.
    pub queue: DieQueue,
    /// The same by rank, if the die order needs ranks.
    pub ranked: Option<Box<RankedQueue>>,
    /// Its time accounting.
    pub account: Account,
    /// What it is doing.
    pub state: State,
    /// The agenda entry for the end of that. Any other entry of the die is stale.
    pub ticket: Ticket,
    /// The transactions of the program being transferred in, chained.
    pub first: TxnId,
    /// The transaction among them whose page is being transferred, or the read being served.
    pub cursor: TxnId,
    /// The transfer time of the page on its way in or out.
    pub transfer: Span,
    /// Whether it has begun a program or erase, and where that is.
    pub cells: Cells,
    /// That program or erase. Meaningless while the cells are free.
    pub command: Command,
    /// What crosses the channel beside what it is doing.
    pub cache: CacheRegister,
    /// When what it is doing ends, if that is known. No valid event of the die is due before.
    pub until: Nanos,
    /// A read goes next, once the transfer in progress ends (S14).
    pub suspend_wanted: bool,
    /// It is in the line of its channel.
    pub wants_channel: bool,
    /// It will be attended to before time moves on.
    pub marked: bool,
    /// Its channel was reserved for it. It may have taken the channel since.
    pub offered: bool,
    /// No page is available here for host programs until a GC job ends.
    pub blocked: bool,
    /// The time of its finished operations. Reads during a suspension count once.
    pub served: Span,
    /// When it last became idle.
    pub idle_since: Nanos,
}

impl Die {
    /// Creates an idle die on a channel. With `ranked`, its queue is ranked.
    pub fn new(channel: ChannelId, ranked: Option<Box<RankedQueue>>, timing: &Timing) -> Self {
        Self {
            channel,
            queue: DieQueue::default(),
            ranked,
            account: Account::default(),
            state: State::Idle,
            ticket: Ticket::NONE,
            first: TxnId::NONE,
            cursor: TxnId::NONE,
            transfer: Span::ZERO,
            cells: Cells::Free,
            command: Command::none(timing),
            cache: CacheRegister::new(),
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

    /// Changes what it is doing.
    #[inline]
    pub fn enter(&mut self, now: Nanos, state: State, doing: Doing, txns: &mut Txns) {
        self.state = state;
        if self.account.switch(now, doing) {
            self.sum_up(txns);
        }
    }

    /// Whether the page register waits for the channel.
    #[inline]
    pub fn page_waits_for_channel(&self) -> bool {
        matches!(self.state, State::AwaitIn | State::AwaitOut)
    }

    /// Marks it as to be attended to before time moves on, at most once.
    #[inline]
    pub fn mark(&mut self, id: DieId, marked: &mut Marked) {
        if !std::mem::replace(&mut self.marked, true) {
            marked.push(id);
        }
    }

    /// Takes a transaction out of the queue to serve it. What the die did since its submission is
    /// what it waited behind.
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

    /// Takes a transaction out of the ranked queue. Not inlined, because most dies have none.
    #[inline(never)]
    fn leave_ranks(&mut self, id: TxnId, txns: &mut Txns) {
        let Some(ranked) = &mut self.ranked else { return };
        // Usually nothing else waits, so nothing was overtaken. The flag must be cleared: the
        // record may have been taken up before.
        if ranked.remove_alone(id) {
            txns.get_mut(id).overtook = false;
        } else {
            self.leave_others(id, txns);
        }
    }

    /// [`Die::leave_ranks`] where others wait, too.
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

    /// Whether it does nothing and nothing waits for it.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle && self.cells < Cells::Suspended && self.queue.is_empty()
    }
}

/// A channel: one transfer at a time, first come first served.
#[derive(Clone, Debug)]
pub struct Channel {
    /// A transfer is in progress.
    pub busy: bool,
    /// The idle die whose turn it is, until it has decided what to do.
    pub reserved: DieId,
    /// The dies that wait, each at most once.
    pub waiting: VecDeque<DieId>,
    /// Transfer time so far, all of the transfer in progress included.
    pub carried: Span,
    /// When the latest transfer ends, and its time.
    pub until: Nanos,
    pub latest: Span,
}

impl Channel {
    /// Creates a free channel for this many dies.
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

    /// Records a transfer that ends at `until` and takes `time`.
    #[inline]
    pub fn carry(&mut self, until: Nanos, time: Span) {
        self.carried += time;
        self.until = until;
        self.latest = time;
    }

    /// Returns the transfer time up to `at`. No transfer but the latest may end later.
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
