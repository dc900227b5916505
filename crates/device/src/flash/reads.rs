//! A read: sensing, its page on the bus, done. There is one page buffer (S1): a read holds its die for
//! both and goes alone, whatever the planes could do together.

use super::condition::Attempt;
use super::{Flash, Translation};
use crate::die::{Cells, State};
use crate::event::{Event, lane};
use crate::ledger::Doing;
use crate::txn::Txn;
use fowler_agenda::Phase;
use fowler_units::{DieId, Id, TxnId};

impl Flash {
    #[inline]
    pub(super) fn start_read(&mut self, id: DieId, txn: TxnId) {
        self.withdraw(id);
        self.dispatch(id, txn);
        let now = self.now();
        let record = self.txns.get_mut(txn);
        let ppn = record.ppn;
        if let Some(condition) = &mut self.condition
            && ppn.is_some()
        {
            let Attempt { level, needed } = condition.read(ppn, self.locator.block_of(ppn), now);
            (record.first_level, record.level, record.needed) = (level, level, needed);
        }
        let doing = Doing::serving(record.op, record.source);
        self.dies[id].account.switch(now, doing);
        self.sense(id, txn);
    }

    /// Senses the page of a read that the die serves, at the level that it has come to.
    #[inline]
    fn sense(&mut self, id: DieId, txn: TxnId) {
        let Txn { ppn, level, .. } = *self.txns.get(txn);
        let mut time = self.levels.sense(level, self.offset(ppn));
        let now = self.now();
        let die = &mut self.dies[id];
        die.cursor = txn;
        die.state = State::Sensing;
        if self.channels_owned {
            // Nobody else uses this channel: the transfer follows the sensing without a question.
            let transfer = self.levels.transfer(level);
            time += transfer;
            self.counters.channel_busy += transfer;
            self.channels[die.channel].busy = true;
            die.state = State::TransferOut;
        }
        let event = Event::Die(id);
        die.ticket = self.agenda.schedule_in(lane::SENSE, now + time, Phase::Completion, event);
    }

    #[inline]
    pub(super) fn sensed(&mut self, id: DieId) {
        self.dies[id].state = State::AwaitOut;
        self.ask_channel(id);
    }

    #[inline]
    pub(super) fn transferred_out(&mut self, id: DieId, layer: &mut impl Translation) {
        let read = self.dies[id].cursor;
        let Txn { source, dispatched, level, needed, .. } = *self.txns.get(read);
        if level < needed && self.retries(id, read) {
            return;
        }
        self.counters.reads[source as usize] += 1;
        self.counters.reads_at[usize::from(level)] += 1;
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

    /// What was read has too many errors for the level it was read at: once more, at the next one. Returns
    /// whether there is one.
    #[cold]
    fn retries(&mut self, id: DieId, read: TxnId) -> bool {
        let record = self.txns.get_mut(read);
        if record.level + 1 == self.levels.count() {
            self.counters.uncorrectable += 1;
            return false;
        }
        record.level += 1;
        self.counters.retries += 1;
        self.release_channel(id);
        self.sense(id, read);
        true
    }
}
