//! The state of dies and channels.
//!
//! Invariants: a die has at most one valid event, that of `ticket`; no event of the die is due
//! before `until`; the time accounting changes with the activity, and has no gap.

use crate::flash::cache_register::CacheRegister;
use crate::flash::marked_dies::Marked;
use crate::flash::queue::{DieQueue, RankedQueue};
use crate::flash::txn::{Txn, Txns, Wait};
use crate::observe::ledger::{Account, Doing, Ledger};
use fowler_agenda::Ticket;
use fowler_nand::{CellOp, EraseOp, Timing};
use fowler_units::{ChannelId, DieId, Id, Nanos, Span, TxnId};
use std::collections::VecDeque;

/// The current activity of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The die does nothing. It may wait for the channel, to transfer in the data of a program or
    /// to refill the page buffer; if a transaction with higher priority arrives meanwhile, the die
    /// starts that one.
    Idle,
    /// The page of a read is being sensed.
    Sensing,
    /// The page of a read is in the page buffer and waits for the channel.
    AwaitOut,
    /// The page of a read is being transferred out.
    TransferOut,
    /// The page of a read is in the page buffer and waits until the previous page has left the
    /// cache register.
    AwaitCache,
    /// The next page of a multi-plane program waits for the channel.
    AwaitIn,
    /// A page of a program is being transferred in.
    TransferIn,
    /// The data of a suspended program is being transferred in again.
    Refill,
    /// The data of a program is in the page buffer. The program starts on the cells unless a read
    /// goes first.
    Loaded,
    /// A program or erase is running on the cells.
    Running,
    /// A program or erase is being suspended.
    Suspending,
    /// A transfer continues to a die that has failed meanwhile.
    Abandoned,
}

/// The state of the program or erase that a die has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cells {
    /// The die has no program or erase in progress.
    Free,
    /// The program or erase is running on the cells.
    Running,
    /// The program or erase is suspended.
    Suspended,
    /// The die has failed for good, and begins no further operation.
    Failed,
}

/// A program or erase that a die has begun.
#[derive(Clone, Debug)]
pub struct Command {
    /// First transaction of the command. `Txn::next` chains one transaction for each plane that
    /// takes part.
    pub first: TxnId,
    /// Progress of the program or erase on the cells.
    pub cells: CellOp,
    /// Time at which the program or erase first ran on the cells.
    pub started: Nanos,
    /// Time that the program or erase takes on the cells without interruption.
    pub nominal: Span,
    /// Time spent on reads while the program or erase was suspended.
    pub reads: Span,
    /// Time at which the program or erase was first suspended; `None` if it never was.
    pub suspended: Option<Nanos>,
    /// Total time that the die had spent on each activity when this program or erase was first
    /// suspended. Set only once the die's log of activities no longer reaches back to that moment.
    pub account: Ledger,
}

impl Command {
    /// A placeholder for a die that has begun no command.
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

/// State of a die: activity, queue, registers and time accounting.
#[derive(Clone, Debug)]
pub struct Die {
    /// Channel over which the die transfers.
    pub channel: ChannelId,
    /// Transactions that wait for the die.
    pub queue: DieQueue,
    /// Waiting host reads and programs by rank (age of the data, size of the request), if the
    /// policy that chooses the die's next transaction uses ranks; else `None`.
    pub ranked: Option<Box<RankedQueue>>,
    /// Time accounting of the die: the time spent on each activity.
    pub account: Account,
    /// The current activity of the die.
    pub state: State,
    /// Entry in the event queue for the end of the current activity. Any other entry of the die is
    /// stale.
    pub ticket: Ticket,
    /// Transactions of the program being transferred in, chained.
    pub first: TxnId,
    /// The page program whose page is being transferred, or the read being served.
    pub cursor: TxnId,
    /// Duration of the die's transfer of a page, in or out.
    pub transfer: Span,
    /// State of the program or erase that the die has begun, if any.
    pub cells: Cells,
    /// The program or erase that the die has begun; meaningless while the cells are free.
    pub command: Command,
    /// The cache register, whose data crosses the channel during the die's current activity.
    pub cache: CacheRegister,
    /// Time at which the current activity ends, if known. No valid event of the die is due before.
    pub until: Nanos,
    /// True if a read is served next, before the program on the cells, once the transfer of the
    /// program's data ends (rule S14 of docs/pes.md).
    pub suspend_wanted: bool,
    /// True while the die is in the line of its channel.
    pub wants_channel: bool,
    /// True while the die is marked to choose its next activity before simulated time advances.
    pub marked: bool,
    /// True if the channel was reserved for the die, which may have used the channel since.
    pub offered: bool,
    /// True if the die has no page for host programs until a GC job ends.
    pub blocked: bool,
    /// Total time of the die's finished operations. Reads during a suspension count once.
    pub served: Span,
    /// Time at which the die last became idle.
    pub idle_since: Nanos,
}

impl Die {
    /// Creates an idle die on a channel. With `ranked`, the queue of the die is ranked.
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

    /// Changes the activity of the die, and accounts for the time of the previous one.
    #[inline]
    pub fn enter(&mut self, now: Nanos, state: State, doing: Doing, txns: &mut Txns) {
        self.state = state;
        if self.account.switch(now, doing) {
            self.sum_up(txns);
        }
    }

    /// Returns true while the page register waits for the channel.
    #[inline]
    pub fn page_waits_for_channel(&self) -> bool {
        matches!(self.state, State::AwaitIn | State::AwaitOut)
    }

    /// Marks the die, at most once, to choose its next activity before simulated time advances.
    #[inline]
    pub fn mark(&mut self, id: DieId, marked: &mut Marked) {
        if !std::mem::replace(&mut self.marked, true) {
            marked.push(id);
        }
    }

    /// Removes a transaction from the queue because the die starts to serve it. The transaction
    /// waited behind everything that the die did since the submission.
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

    /// Removes a transaction from the ranked queue. Not inlined, because most dies have none.
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

    /// Removes a transaction from the ranked queue of the die when other transactions wait, too.
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

    /// Returns true if the die does nothing and no transaction waits for it.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle && self.cells < Cells::Suspended && self.queue.is_empty()
    }
}

/// A channel: one transfer at a time, first come first served.
#[derive(Clone, Debug)]
pub struct Channel {
    /// True while a transfer on the channel is in progress.
    pub busy: bool,
    /// The idle die whose turn is next, until that die has decided what to do; `NONE` without one.
    pub reserved: DieId,
    /// Dies that wait for the channel, each at most once.
    pub waiting: VecDeque<DieId>,
    /// Transfer time of the channel so far, including all of the transfer in progress.
    pub carried: Span,
    /// Time at which the channel's latest transfer ends.
    pub until: Nanos,
    /// Duration of the channel's latest transfer.
    pub latest: Span,
}

impl Channel {
    /// Creates a free channel for `dies` dies.
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

    /// Records a transfer on the channel that ends at `until` and takes `time`.
    #[inline]
    pub fn carry(&mut self, until: Nanos, time: Span) {
        self.carried += time;
        self.until = until;
        self.latest = time;
    }

    /// Returns the total time of transfers over the channel up to `at`. Only the latest transfer
    /// may end after `at`.
    pub fn carried_until(&self, at: Nanos) -> Span {
        let to_come = if at < self.until { self.until - at } else { Span::ZERO };
        self.carried - to_come.min(self.latest)
    }

    /// Returns true if a die may begin a transfer on the channel.
    #[inline]
    pub fn is_free_for(&self, id: DieId) -> bool {
        !self.busy && (!self.reserved.is_some() || self.reserved == id)
    }
}
