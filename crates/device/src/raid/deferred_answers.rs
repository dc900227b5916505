//! Programs and answers that wait for parity, and what is known of the transactions that it
//! concerns. A column of its own beside the transactions of the flash, which know nothing of
//! parity.

use super::Raid;
use crate::flash::Flash;
use crate::flash::txn::Txn;
use crate::observe::blame::{Blame, Part};
use crate::observe::operation::Op;
use fowler_units::{Id, Span, TxnId};

/// What is known of a transaction here. It counts for the one with its place in the order of
/// submission alone: others have had its place in the arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    order: u64,
    /// Programs of host data: the parity cache counts on it.
    pub pinned: bool,
    /// Programs of host data: it passes the cache by.
    pub expedited: bool,
    /// It is done, and its answer waits for parity.
    pub awaiting_parity: bool,
    /// It, or what it joined, was done and began to wait for parity: what it is blamed on so far is
    /// noted down.
    blamed: bool,
    /// How long it has waited for parity before it asked for a die.
    wait: Span,
}

/// Nothing is known.
pub(super) const NOTHING: Note = Note {
    order: 0,
    pinned: false,
    expedited: false,
    awaiting_parity: false,
    blamed: false,
    wait: Span::ZERO,
};

impl Raid {
    /// What is known of a transaction.
    #[inline]
    pub(super) fn note(&self, flash: &Flash, id: TxnId) -> Note {
        let its = self.notes[id];
        if its.order == flash.txns.get(id).order { its } else { NOTHING }
    }

    /// See [`Raid::note`].
    #[inline]
    pub(super) fn note_mut(&mut self, flash: &Flash, id: TxnId) -> &mut Note {
        let order = flash.txns.get(id).order;
        let its = &mut self.notes[id];
        if its.order != order {
            *its = Note { order, ..NOTHING };
        }
        its
    }

    /// How long a program waited for a place in the parity cache, or for the parity of its stripe
    /// to be written, before it asked for a die.
    pub(super) fn wait_of(&self, flash: &Flash, id: TxnId) -> Span {
        self.note(flash, id).wait
    }

    /// The wait of a program for parity, which began when it was taken up last, is over.
    pub(super) fn has_waited(&mut self, flash: &Flash, id: TxnId) {
        let waited = flash.now() - flash.txns.get(id).dispatched;
        self.note_mut(flash, id).wait += waited;
    }

    /// A transaction is done, and its answer waits: what it is blamed on is noted down for everyone
    /// who waits for it.
    pub(super) fn defer(&mut self, flash: &mut Flash, id: TxnId) {
        let mut waiter = id;
        loop {
            let blame = &mut self.blames[waiter];
            *blame = Blame::default();
            flash.service_blame(id, waiter, blame);
            self.note_mut(flash, waiter).blamed = true;
            let Txn { joined, next, .. } = *flash.txns.get(waiter);
            waiter = if waiter == id { joined } else { next };
            if !waiter.is_some() {
                break;
            }
        }
        self.note_mut(flash, id).awaiting_parity = true;
        let now = flash.now();
        flash.txns.get_mut(id).dispatched = now;
    }

    /// Where the time of a transaction went since its submission, for it or one that joined it.
    pub(super) fn blame_of(&self, flash: &Flash, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        if !self.note(flash, id).awaiting_parity {
            return flash.service_blame(id, waiter, blame);
        }
        let txn = flash.txns.get(id);
        if self.note(flash, waiter).blamed {
            // Most parts are none.
            for (part, &time) in Part::ALL.into_iter().zip(self.blames[waiter].parts()) {
                if time != Span::ZERO {
                    blame[part] += time;
                }
            }
        }
        let part = if txn.op == Op::Read { Part::Degraded } else { Part::Parity };
        blame[part] += flash.now() - txn.dispatched;
    }
}
