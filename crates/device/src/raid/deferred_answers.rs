//! Programs and completions that wait for parity, and notes on the transactions that parity
//! concerns.
//!
//! 1. A program that waits for parity before it is sent to a die adds up the time
//!    ([`Raid::has_waited`]).
//! 2. The completion of a transaction that has ended is deferred: of a program until the parity of
//!    its stripe is written, of a failed read until its page is recovered. The causes of the time
//!    until then are saved ([`Raid::defer`]).
//! 3. When it completes, the time since is blamed on parity, or on the degraded read
//!    ([`Raid::blame_of`]).
//!
//! Invariant: a note holds only for the transaction whose `order` it has; the record of a closed
//! transaction may be used again. The notes form a separate column beside the transactions of the
//! flash, which know nothing of parity.

use super::{NOTHING, Note, Raid};
use crate::flash::Flash;
use crate::flash::txn::Txn;
use crate::observe::blame::{Blame, Part};
use crate::observe::operation::Op;
use fowler_units::{Id, Span, TxnId};

impl Raid {
    /// Returns the parity notes of a transaction: facts that concern its stripe, such as that its
    /// completion waits for the parity of the stripe.
    #[inline]
    pub(super) fn note(&self, flash: &Flash, id: TxnId) -> Note {
        let note = self.notes[id];
        if note.order == flash.txns.get(id).order { note } else { NOTHING }
    }

    /// Returns, for modification, the parity notes of a transaction: facts that concern its stripe,
    /// such as that its completion waits for the parity of the stripe.
    #[inline]
    pub(super) fn note_mut(&mut self, flash: &Flash, id: TxnId) -> &mut Note {
        let order = flash.txns.get(id).order;
        let note = &mut self.notes[id];
        if note.order != order {
            *note = Note { order, ..NOTHING };
        }
        note
    }

    /// Returns the time for which a program waited for an entry of the parity cache, or until the
    /// parity of its stripe was written, before it was sent to a die.
    pub(super) fn wait_of(&self, flash: &Flash, id: TxnId) -> Span {
        self.note(flash, id).wait
    }

    /// Ends a program's wait for parity, which began when it was last dispatched.
    pub(super) fn has_waited(&mut self, flash: &Flash, id: TxnId) {
        let waited = flash.now() - flash.txns.get(id).dispatched;
        self.note_mut(flash, id).wait += waited;
    }

    /// Defers the completion of a transaction that has ended: of a program until the parity of its
    /// stripe is written, of a failed read until its page is recovered. Records the causes of the
    /// time until now, for it and for the page writes that joined it (waited for the same program).
    pub(super) fn defer(&mut self, flash: &mut Flash, id: TxnId) {
        let mut waiter = id;
        loop {
            let blame = &mut self.blames[waiter];
            *blame = Blame::default();
            flash.blame_if_served(id, waiter, blame);
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

    /// Adds the time since submission of `waiter` to the causes of latency in `blame`. `waiter` is
    /// the transaction `id` itself, or a page write that joined that program (waits for it as
    /// well).
    pub(super) fn blame_of(&self, flash: &Flash, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        if !self.note(flash, id).awaiting_parity {
            return flash.blame_if_served(id, waiter, blame);
        }
        let txn = flash.txns.get(id);
        if self.note(flash, waiter).blamed {
            // Most parts are zero.
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
