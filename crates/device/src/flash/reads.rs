//! A read: sensing, its page on the bus, done. There is one page buffer (S1): a read holds its die for
//! both and goes alone, whatever the planes could do together.

use super::{Flash, Translation};
use crate::die::{Cells, State};
use crate::event::lane;
use crate::ledger::Doing;
use crate::txn::Txn;
use fowler_units::{DieId, TxnId};

impl Flash {
    #[inline]
    pub(super) fn start_read(&mut self, id: DieId, txn: TxnId) {
        self.withdraw(id);
        self.dispatch(id, txn);
        let Txn { op, source, ppn, .. } = *self.txns.get(txn);
        self.dies[id].cursor = txn;
        let sense = self.timing.read.at(self.offset(ppn));
        if self.geometry.dies_per_channel() == 1 {
            // Nobody else uses this channel: the transfer follows the sensing without a question.
            let transfer = self.timing.bus_transfer;
            self.channels[self.dies[id].channel].busy = true;
            self.counters.channel_busy += transfer;
            self.enter(id, State::TransferOut, Doing::serving(op, source));
            self.schedule(id, lane::SENSE, self.now() + sense + transfer);
        } else {
            self.enter(id, State::Sensing, Doing::serving(op, source));
            self.schedule(id, lane::SENSE, self.now() + sense);
        }
    }

    #[inline]
    pub(super) fn sensed(&mut self, id: DieId) {
        self.dies[id].state = State::AwaitOut;
        self.ask_channel(id);
    }

    #[inline]
    pub(super) fn transferred_out(&mut self, id: DieId, layer: &mut impl Translation) {
        let read = self.dies[id].cursor;
        let Txn { source, dispatched, .. } = *self.txns.get(read);
        self.counters.reads[source as usize] += 1;
        let took = self.now() - dispatched;
        let die = &mut self.dies[id];
        die.state = State::Idle;
        die.served += took;
        if die.cells == Cells::Suspended {
            self.commands[id].reads += took;
        }
        layer.done(self, read, false);
        self.mark(id);
        self.release_channel(id);
    }
}
