//! The steps of flash operations, for probes that watch. A step is recorded when it ends, because
//! then everything about it is known. The phases of programs and erases follow from when they ran.

use super::Flash;
use crate::flash::die::{Command, Die};
use crate::flash::txn::Txn;
use crate::observe::operation::{Op, Source};
use fowler_nand::CellOp;
use fowler_units::{DieId, Id, Lpn, Nanos, Ppn, ReqId, Span, TxnId};

/// Which steps of flash operations are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Steps {
    /// None.
    #[default]
    None,
    /// [`FlashEvent::Done`] of programs.
    Programs,
    /// All.
    All,
}

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

/// A flash operation, as shown to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its place in the order in which operations were opened, which is unique.
    pub order: u64,
    /// What it does.
    pub op: Op,
    /// On whose behalf.
    pub source: Source,
    /// The host request that waits for it, if any. Its id is used again once that is answered.
    pub request: ReqId,
    /// The physical page, or the first page of the block; none for a page that was never written.
    pub ppn: Ppn,
    /// The logical page; none for an erase.
    pub lpn: Lpn,
    /// When it was submitted to its die.
    pub submitted: Nanos,
    /// When the die took it up.
    pub dispatched: Nanos,
}

/// What happens in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashEvent {
    /// A try of a read ends. The page was sensed from the start of the try, and transferred until
    /// now; in between it waited for the channel.
    Read {
        /// Sensing.
        sense: Span,
        /// The transfer out.
        transfer: Span,
        /// The level; 0 is the hard decision.
        level: u8,
        /// Whether the page is read again at the next level.
        again: bool,
    },
    /// The transfer of a page in has just ended.
    Load {
        /// The transfer.
        transfer: Span,
        /// Whether the data was transferred in again, because of a suspension.
        again: bool,
    },
    /// The transfer of a page of the next program into the cache register has just ended.
    LoadAhead {
        /// The transfer.
        transfer: Span,
    },
    /// A program or erase goes on the cells, for the first time or again.
    Run {
        /// Its progress, from which its phases follow.
        cells: CellOp,
        /// When it ends unless it is interrupted.
        until: Nanos,
    },
    /// A program or erase is taken off the cells.
    Off {
        /// When the running phase stops.
        stopped: Nanos,
        /// When the cells are free for a read.
        free: Nanos,
        /// Whether it had touched the cells (S10).
        counted: bool,
    },
    /// The operation is done.
    Done,
    /// The operation waited for one that is now done on the die: the program of another page write
    /// that it had joined, the parity of its stripe, or a page that its data is rebuilt from.
    Joined,
}

impl Flash {
    /// Records these steps from now on.
    /// See docs/decisions/observe.md, "How can a probe watch the flash?".
    pub(crate) fn watch(&mut self, steps: Steps) {
        // Steps recorded before have not been shown yet.
        self.trace = (steps > Steps::None).then(|| self.trace.take().unwrap_or_default());
        self.watched = steps == Steps::All;
        self.plain_program = self.plain_program();
    }

    /// Returns the steps since they were last cleared, if a probe watches.
    #[inline]
    pub(crate) fn trace(&mut self) -> Option<&mut Vec<FlashStep>> {
        self.trace.as_mut()
    }

    /// Records a step of a transaction, if a probe watches.
    #[inline]
    pub(super) fn note(&mut self, die: DieId, txn: TxnId, event: FlashEvent) {
        if self.watched {
            self.note_down(die, txn, event);
        }
    }

    /// Records the transfer of a page in, if a probe watches.
    #[inline]
    pub(super) fn note_load(&mut self, die: DieId) {
        if self.watched {
            let Die { cursor, transfer, .. } = self.dies[die];
            self.note_down(die, cursor, FlashEvent::Load { transfer, again: false });
        }
    }

    /// Records that the command of a die is on its cells until `until`, if a probe watches.
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

    /// Records the end of a transaction and of those that joined it, if a probe watches.
    #[inline]
    pub(super) fn note_done(&mut self, die: DieId, txn: TxnId) {
        if self.trace.is_some() {
            self.note_all_done(die, txn);
        }
    }

    /// Whether a probe watches all steps.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }

    /// Records that a transaction, and those that joined it, have waited since the end of their own
    /// service for a parity transaction that is now done.
    #[cold]
    pub(crate) fn note_awaited(&mut self, done: &Txn, waiter: TxnId) {
        let Txn { dispatched: since, joined, .. } = *self.txns.get(waiter);
        let mut at = waiter;
        while at.is_some() {
            let Txn { req: request, created, next, .. } = *self.txns.get(at);
            // One that joined later has waited only since then.
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
