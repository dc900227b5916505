//! The cache register of a die: data cross the channel while the cells work on other data. A page
//! that was sensed leaves through it while the next one is sensed (cache read); the data of the
//! next program enter it while a program runs (cache program). Only drives whose layer is
//! [`super::Translation::PACKED`] have one. See docs/decisions/superblocks.md, "What is a cache
//! register?".
//!
//! The die's own state says what its cells and its page register do; the register has a state, a
//! transfer and an agenda entry of its own. Both share the die's place in the line of the channel,
//! and what the page register has to transfer goes first.

use fowler_agenda::Ticket;
use fowler_units::{Id, Nanos, Span, TxnId};

/// What a cache register holds, and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Nothing.
    Nothing,
    /// The data of a read, which wait for the channel.
    AwaitOut,
    /// The data of a read, on their way out.
    Out,
    /// Part of the data of the next program, or none yet; its next page waits for the channel, and
    /// while a command is off the cells for that to run again.
    AwaitIn,
    /// The same; its next page is on its way in.
    In,
    /// All data of the next program.
    Program,
}

/// A cache register.
#[derive(Clone, Debug)]
pub struct CacheRegister {
    /// What it holds.
    pub holds: Holds,
    /// The read, or the first page program of the next command, which is still in the queue.
    pub txn: TxnId,
    /// The page program whose data are being transferred.
    pub(super) cursor: TxnId,
    /// The time of the transfer that waits or is in progress.
    pub(super) transfer: Span,
    /// The agenda entry for the end of the transfer in progress, and that end.
    pub(super) ticket: Ticket,
    pub(super) until: Nanos,
    /// When the last read left it.
    pub(super) left: Nanos,
}

impl CacheRegister {
    /// Creates an empty register.
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

    /// Whether the data of a read are in it.
    #[inline]
    pub fn has_read(&self) -> bool {
        matches!(self.holds, Holds::AwaitOut | Holds::Out)
    }

    /// Since when a read that was dispatched then has had its die to itself: what it shared with
    /// the read before it counts once.
    #[inline]
    pub fn alone_since(&self, dispatched: Nanos) -> Nanos {
        dispatched.max(self.left)
    }

    /// Whether it waits for the channel.
    #[inline]
    pub fn awaits_channel(&self) -> bool {
        matches!(self.holds, Holds::AwaitOut | Holds::AwaitIn)
    }
}
