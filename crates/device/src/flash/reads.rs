//! A read: sensing, its page on the bus, done. There is one page buffer (S1): a read holds its die for
//! both and goes alone, whatever the planes could do together.

use super::{Flash, Translation};
use crate::die::{Cells, State};
use crate::event::{Event, lane};
use crate::ledger::Doing;
use crate::txn::Txn;
use fowler_agenda::Phase;
use fowler_units::{DieId, TxnId};

impl Flash {
    #[inline]
    pub(super) fn start_read(&mut self, id: DieId, txn: TxnId) {
        let now = self.now();
        let Txn { op, source, ppn, .. } = *self.txns.get(txn);
        let mut time = self.timing.read.at(self.offset(ppn));
        let die = &mut self.dies[id];
        let channel = &mut self.channels[die.channel];
        channel.withdraw(id, die);
        die.dispatch(txn, now, &mut self.txns);
        die.cursor = txn;
        die.state = State::Sensing;
        if self.channels_owned {
            // Nobody else uses this channel: the transfer follows the sensing without a question.
            let transfer = self.timing.bus_transfer;
            time += transfer;
            channel.carried += transfer;
            channel.busy = true;
            die.state = State::TransferOut;
        }
        die.account.switch(now, Doing::serving(op, source));
        let event = Event::Die(id);
        die.ticket = self.agenda.schedule_in(lane::SENSE, now + time, Phase::Completion, event);
    }

    #[inline]
    pub(super) fn sensed(&mut self, id: DieId) {
        let die = &mut self.dies[id];
        let channel = &mut self.channels[die.channel];
        die.state = State::AwaitOut;
        channel.ask(id, die, self.timing.bus_transfer, &mut self.agenda);
    }

    #[inline]
    pub(super) fn transferred_out(&mut self, id: DieId, layer: &mut impl Translation) {
        let now = self.now();
        let die = &mut self.dies[id];
        let read = die.cursor;
        let Txn { source, dispatched, .. } = *self.txns.get(read);
        let took = now - dispatched;
        self.counters.reads[source as usize] += 1;
        die.state = State::Idle;
        die.served += took;
        if die.cells == Cells::Suspended {
            self.commands[id].reads += took;
        }
        layer.done(self, read, false);
        self.mark(id);
    }
}
