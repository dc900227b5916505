//! Recording of the steps of flash operations, for a trace or a probe.
//!
//! 1. The probe chooses which steps are recorded, before a run ([`Flash::watch`]).
//! 2. The code that ends a step notes it: transfers, runs on the cells, suspensions, ends
//!    ([`Flash::note`]). Page writes that joined a program get a step of their own.
//! 3. The loop reports the steps to the probe, and clears them ([`Flash::trace`]).
//!
//! Without a probe each note is one test of a flag.

use super::Flash;
use super::flash_trace::{FlashEvent, FlashStep, Operation, Steps};
use crate::flash::die::{Command, Die};
use crate::flash::txn::Txn;
use crate::observe::operation::Op;
use fowler_units::{DieId, Id, Nanos, TxnId};

impl Flash {
    /// Sets which steps of flash operations are recorded for a probe from now on: none, the ends of
    /// programs, or all. See docs/decisions/observe.md, "How can a probe watch the flash?".
    pub(crate) fn watch(&mut self, steps: Steps) {
        // Steps recorded before have not been shown yet.
        self.trace = (steps > Steps::None).then(|| self.trace.take().unwrap_or_default());
        self.watched = steps == Steps::All;
        self.plain_program = self.plain_program();
    }

    /// Returns the steps of flash operations (such as transfers and suspensions) recorded since
    /// they were last cleared; `None` if no probe observes the simulation.
    #[inline]
    pub(crate) fn trace(&mut self) -> Option<&mut Vec<FlashStep>> {
        self.trace.as_mut()
    }

    /// Records a step of a transaction, if a probe observes.
    #[inline]
    pub(super) fn note(&mut self, die: DieId, txn: TxnId, event: FlashEvent) {
        if self.watched {
            self.note_down(die, txn, event);
        }
    }

    /// Records the end of a transfer of a page to a die, if a probe observes.
    #[inline]
    pub(super) fn note_load(&mut self, die: DieId) {
        if self.watched {
            let Die { cursor, transfer, .. } = self.dies[die];
            self.note_down(die, cursor, FlashEvent::Load { transfer, again: false });
        }
    }

    /// Records that the command of a die runs on its cells until `until`, if a probe observes.
    #[inline]
    pub(super) fn note_run(&mut self, die: DieId, until: Nanos) {
        if self.watched {
            let Command { first, cells, .. } = self.dies[die].command;
            self.note_down(die, first, FlashEvent::Run { cells, until });
        }
    }

    #[cold]
    fn note_down(&mut self, die: DieId, txn: TxnId, event: FlashEvent) {
        let at = self.now();
        let operation = self.operation(self.txns.get(txn));
        let Some(trace) = &mut self.trace else { return };
        trace.push(FlashStep { at, die, operation, event });
    }

    /// Records the end of a transaction and of the page writes that joined it, if a probe observes.
    #[inline]
    pub(super) fn note_done(&mut self, die: DieId, txn: TxnId) {
        if self.trace.is_some() {
            self.note_all_done(die, txn);
        }
    }

    /// Returns true if a probe (an observer of the simulation) wants the steps of flash operations.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }

    /// Records for a probe that a transaction, and the page writes that joined it, were served
    /// earlier, but have waited until now for the parity transaction `done` of their stripe.
    #[cold]
    pub(crate) fn note_awaited(&mut self, done: &Txn, waiter: TxnId) {
        let Txn { dispatched: since, joined, .. } = *self.txns.get(waiter);
        let mut at = waiter;
        while at.is_some() {
            let Txn { req: request, created, next, .. } = *self.txns.get(at);
            // A page write that joined later has waited only since then.
            let submitted = since.max(created);
            let operation = Operation { request, submitted, ..self.operation(done) };
            if request.is_some() {
                let step = FlashStep {
                    at: self.now(),
                    die: done.die,
                    operation,
                    event: FlashEvent::Joined,
                };
                self.trace.get_or_insert_default().push(step);
            }
            at = if at == waiter { joined } else { next };
        }
    }

    #[cold]
    fn note_all_done(&mut self, die: DieId, txn: TxnId) {
        if !self.watched {
            // Only the ends of programs are wanted.
            if self.txns.get(txn).op == Op::Program {
                self.note_down(die, txn, FlashEvent::Done);
            }
            return;
        }
        self.note_down(die, txn, FlashEvent::Done);
        let mut joined = self.txns.get(txn).joined;
        while joined.is_some() {
            let host = *self.txns.get(txn);
            let joined_txn = self.txns.get(joined);
            let operation = Operation {
                ppn: self.locator.page_of(host.unit),
                dispatched: host.dispatched,
                ..self.operation(joined_txn)
            };
            joined = joined_txn.next;
            let step = FlashStep { at: self.now(), die, operation, event: FlashEvent::Joined };
            self.trace.get_or_insert_default().push(step);
        }
    }

    fn operation(&self, txn: &Txn) -> Operation {
        let &Txn { order, op, source, req, unit, lpn, submitted, dispatched, .. } = txn;
        let ppn = self.locator.page_of(unit);
        Operation { order, op, source, request: req, ppn, lpn, submitted, dispatched }
    }
}
