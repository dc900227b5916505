//! Where the time of each transaction goes.

use super::Flash;
use crate::flash::die::Cells;
use crate::flash::txn::Txn;
use crate::observe::blame::{Blame, Part};
use crate::observe::operation::Op;
use fowler_units::{Id, InPage, Span, TxnId};

impl Flash {
    /// Where the time of a transaction went between its submission and now, when it is done. `id`
    /// is the transaction served, `waiter` it or one that joined it.
    #[inline(always)]
    pub fn service_blame(&self, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        let txn = self.txns.get(id);
        if self.txns.get(waiter).waited {
            self.txns.waits(waiter).blame(blame);
        }
        // One that joined after the die took the program up does not exist: it would be a new
        // program.
        let total = self.now() - txn.dispatched;
        match txn.op {
            Op::Read => {
                let sense = self.timing.read.at(self.offset(txn.unit));
                let hard = sense + self.timing.bus_transfer;
                blame[Part::Sense] += sense;
                blame[Part::Transfer] += self.timing.bus_transfer;
                blame[Part::Channel] += total - hard;
                if txn.level > 0 {
                    self.soft_blame(txn, hard, blame);
                }
            }
            Op::Program | Op::Erase => self.cells_blame(txn, total, blame),
        }
    }

    /// What a read took beyond a hard decision that suffices, which has been put down to the
    /// channel.
    #[cold]
    fn soft_blame(&self, txn: &Txn, hard: Span, blame: &mut Blame) {
        let offset = self.offset(txn.unit);
        let at = |level| self.levels.sense(level, offset) + self.levels.transfer(level);
        let soft = at(txn.level) - hard;
        let tries: Span = (txn.first_level..txn.level).map(at).sum();
        blame[Part::SoftSensing] += soft;
        blame[Part::Retry] += tries;
        blame[Part::Channel] = blame[Part::Channel] - soft - tries;
    }

    #[inline]
    pub(super) fn cells_blame(&self, txn: &Txn, total: Span, blame: &mut Blame) {
        let die = &self.dies[txn.die];
        if die.cells != Cells::Running {
            return; // Dropped: nothing was done, at no time.
        }
        let command = &self.commands[txn.die];
        let transfer = match txn.op {
            Op::Program if !txn.data_in_buffer => self.timing.bus_transfer,
            _ => Span::ZERO,
        };
        let before = command.started - txn.dispatched;
        blame[Part::Transfer] += transfer;
        blame[Part::Channel] += before - transfer;
        let mut own = total - before;
        if command.suspended {
            let since = die.account.read(self.now()).since(&command.account);
            since.blame_reads(blame);
            own -= since.reading();
        }
        // A cut pulse that had reached its voltage saves the rest of it (S7, `reached`).
        let program = own.min(command.nominal);
        blame[Part::Program] += program;
        blame[Part::Suspend] += own - program;
    }

    #[inline]
    pub(super) fn offset(&self, at: impl InPage) -> u32 {
        let page = self.locator.page_of(at);
        if page.is_some() { self.locator.offset_in_block(page) } else { 0 }
    }
}
