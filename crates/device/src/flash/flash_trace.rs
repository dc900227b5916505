//! What the flash does, step by step, for those who want to see it. A step is noted when it ends,
//! because then everything about it is known; phases of programs and erases are arithmetic on the
//! stretch they ran in.

use super::Flash;
use crate::flash::die::{Command, Die};
use crate::flash::txn::Txn;
use crate::observe::operation::{Op, Source};
use fowler_nand::CellOp;
use fowler_units::{DieId, Id, Lpn, Nanos, Ppn, ReqId, Span, TxnId};

/// One step of a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashStep {
    /// When.
    pub at: Nanos,
    /// Where.
    pub die: DieId,
    /// Of which operation.
    pub operation: Operation,
    /// What.
    pub event: FlashEvent,
}

/// A flash operation, as far as whoever watches needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its place in the order in which operations were made; no two have the same.
    pub order: u64,
    /// What it does.
    pub op: Op,
    /// On whose behalf.
    pub source: Source,
    /// The host request that waits for it, if any; the frame is used again once that is answered.
    pub request: ReqId,
    /// The physical page, or the first one of the block; none for what was never written.
    pub ppn: Ppn,
    /// The logical page; none of an erase.
    pub lpn: Lpn,
    /// When it began to wait for its die.
    pub submitted: Nanos,
    /// When the die took it up.
    pub dispatched: Nanos,
}

/// What happens in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashEvent {
    /// One try of a read ends: its page was sensed for so long since the try began, and has been
    /// transferred for so long until now; what lies between was waiting for the channel.
    Read {
        /// Sensing.
        sense: Span,
        /// The transfer out.
        transfer: Span,
        /// The level it was sensed at, the hard decision being 0.
        level: u8,
        /// Whether it must be tried again at the next one.
        again: bool,
    },
    /// A page has been transferred in for so long until now; again, where it was due to a
    /// suspension.
    Load {
        /// The transfer.
        transfer: Span,
        /// Whether a suspended program is filled anew.
        again: bool,
    },
    /// A program or erase goes on the cells, for the first time or again, and ends at `until` if
    /// nothing comes.
    Run {
        /// How far it has come: its phases follow from that.
        cells: CellOp,
        /// Its end.
        until: Nanos,
    },
    /// It is taken off the cells, which are free at `free`.
    Off {
        /// When the die can sense.
        free: Nanos,
        /// Whether it had touched the cells (S10).
        counted: bool,
    },
    /// It is done.
    Done,
    /// It waited for what has just been done on the die: the very program that another page write
    /// had brought, the parity of its stripe, or a page that its data is brought back from.
    Joined,
}

impl Flash {
    /// Whether every step is noted down from now on.
    /// See docs/decisions/observe.md, "How can a probe watch the flash?".
    pub(crate) fn watch(&mut self, watched: bool) {
        // What was noted down before, nobody has heard of yet.
        self.trace = watched.then(|| self.trace.take().unwrap_or_default());
        self.plain_program = self.plain_program();
    }

    /// What was noted down since it was last cleared, if anybody watches.
    #[inline]
    pub(crate) fn trace(&mut self) -> Option<&mut Vec<FlashStep>> {
        self.trace.as_mut()
    }

    /// Notes a step of a transaction, if anybody watches.
    #[inline]
    pub(super) fn note(&mut self, die: DieId, txn: TxnId, event: FlashEvent) {
        if self.trace.is_some() {
            self.note_down(die, txn, event);
        }
    }

    /// Notes that a page has been transferred in, if anybody watches.
    #[inline]
    pub(super) fn note_load(&mut self, die: DieId) {
        if self.trace.is_some() {
            let Die { cursor, transfer, .. } = self.dies[die];
            self.note_down(die, cursor, FlashEvent::Load { transfer, again: false });
        }
    }

    /// Notes that what a die serves is on its cells until `until`, if anybody watches.
    #[inline]
    pub(super) fn note_run(&mut self, die: DieId, until: Nanos) {
        if self.trace.is_some() {
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

    /// Notes that a transaction is done, and with it those that joined it.
    #[inline]
    pub(super) fn note_done(&mut self, die: DieId, txn: TxnId) {
        if self.trace.is_some() {
            self.note_all_done(die, txn);
        }
    }

    /// Whether anybody watches.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.trace.is_some()
    }

    /// Notes that a transaction whose service is over, and those that joined it, waited since then
    /// for one of parity that has just been done.
    #[cold]
    pub(crate) fn note_awaited(&mut self, done: &Txn, waiter: TxnId) {
        let Txn { dispatched: since, joined, .. } = *self.txns.get(waiter);
        let mut at = waiter;
        while at.is_some() {
            let Txn { req: request, created, next, .. } = *self.txns.get(at);
            // One that joined later waits since then.
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
        self.note_down(die, txn, FlashEvent::Done);
        let mut joined = self.txns.get(txn).joined;
        while joined.is_some() {
            let host = *self.txns.get(txn);
            let its = self.txns.get(joined);
            let operation = Operation {
                ppn: self.locator.page_of(host.unit),
                dispatched: host.dispatched,
                ..self.operation(its)
            };
            joined = its.next;
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
