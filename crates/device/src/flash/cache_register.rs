//! The cache register of a die: data crosses the channel while the cells work on other data. A page
//! that was sensed leaves through the register while the next one is sensed (cache read); the data
//! of the next program enters the register while a program runs (cache program). Only drives whose
//! layer is [`super::Translation::PACKED`] have one. See docs/decisions/superblocks.md, "What is a
//! cache register?".
//!
//! Invariants: the register holds data of one transaction, `txn`, which is none exactly while the
//! register is empty; at most one transfer of the register waits or is in progress, and `ticket`
//! and `until` are those of the transfer in progress. The state of the die describes the cells and
//! the page register only. Both registers share the place of the die in the line of the channel;
//! transfers of the page register go first.

use fowler_agenda::Ticket;
use fowler_units::{Id, Nanos, Span, TxnId};

/// The data that a cache register holds, and the state of its transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The cache register is empty.
    Nothing,
    /// The cache register holds the data of a read, which waits for the channel.
    AwaitOut,
    /// The cache register holds the data of a read, which is crossing the channel.
    Out,
    /// The cache register holds some pages of the next program, possibly none yet. The next page
    /// waits for the channel and, while a command is suspended, for that command to resume.
    AwaitIn,
    /// The cache register holds some pages of the next program, and one more page crosses the
    /// channel into it.
    In,
    /// The cache register holds all pages of the next program.
    Program,
}

/// The cache register of a die.
#[derive(Clone, Debug)]
pub struct CacheRegister {
    /// Contents of the cache register, and the state of its transfer.
    pub holds: Holds,
    /// The read whose data is in the cache register, or the first page program of the next command,
    /// which is still in the queue.
    pub txn: TxnId,
    /// Page program whose data is being transferred into the cache register.
    pub(super) cursor: TxnId,
    /// Duration of the cache register's transfer over the channel that waits or is in progress.
    pub(super) transfer: Span,
    /// Entry in the event queue for the end of the cache register's transfer over the channel.
    pub(super) ticket: Ticket,
    /// Time at which the cache register's transfer in progress ends.
    pub(super) until: Nanos,
    /// Time at which the data of the last read left the cache register.
    pub(super) left: Nanos,
}

impl CacheRegister {
    /// Creates an empty cache register.
    pub fn new() -> CacheRegister {
        CacheRegister {
            holds: Holds::Nothing,
            txn: TxnId::NONE,
            cursor: TxnId::NONE,
            transfer: Span::ZERO,
            ticket: Ticket::NONE,
            until: Nanos::ZERO,
            left: Nanos::ZERO,
        }
    }

    /// Returns true while the cache register holds the data of a read.
    #[inline]
    pub fn has_read(&self) -> bool {
        debug_assert_eq!(self.holds == Holds::Nothing, !self.txn.is_some());
        matches!(self.holds, Holds::AwaitOut | Holds::Out)
    }

    /// Returns the time from which the duration of a read counts, if its die started the read at
    /// `dispatched`: not before the data of the previous read has left the cache register, so that
    /// time in which both reads overlap counts only once.
    #[inline]
    pub fn alone_since(&self, dispatched: Nanos) -> Nanos {
        dispatched.max(self.left)
    }

    /// Drops the data of the next program, because the die has failed. A page that crosses the
    /// channel arrives in vain.
    pub(super) fn forget_program(&mut self) {
        if matches!(self.holds, Holds::AwaitIn | Holds::Program) {
            self.empty();
        }
    }

    /// Makes the cache register empty.
    pub(super) fn empty(&mut self) {
        (self.holds, self.txn) = (Holds::Nothing, TxnId::NONE);
    }

    /// Returns true while the cache register waits for the channel.
    #[inline]
    pub fn awaits_channel(&self) -> bool {
        matches!(self.holds, Holds::AwaitOut | Holds::AwaitIn)
    }
}
