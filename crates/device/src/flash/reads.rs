//! A read: sensing, its page or pages on the bus, done.

use super::{Flash, Translation};
use crate::die::State;
use crate::ledger::Doing;
use crate::txn::{Op, Txn, Txns};
use fowler_units::{DieId, Id, TxnId};

impl Flash {
    pub(super) fn start_read(&mut self, id: DieId, txn: TxnId) {
        self.withdraw(id);
        self.dispatch(id, txn);
        let Txn { op, source, ppn, .. } = *self.txns.get(txn);
        self.txns.get_mut(txn).next = TxnId::NONE;
        self.dies[id].first = txn;
        self.dies[id].cursor = txn;
        if self.geometry.planes_per_die > 1 && ppn.is_some() {
            self.gather_reads(id, txn);
        }
        let sense = self.timing.read.at(self.offset(ppn));
        let sole = self.geometry.dies_per_channel() == 1;
        if sole && !self.txns.get(txn).next.is_some() {
            // Nobody else uses this channel: the transfer follows the sensing without a question.
            let transfer = self.timing.bus_transfer;
            self.channels[self.dies[id].channel].busy = true;
            self.counters.channel_busy += transfer;
            self.enter(id, State::TransferOut, Doing::serving(op, source));
            self.schedule(id, self.now() + sense + transfer);
        } else {
            self.enter(id, State::Sensing, Doing::serving(op, source));
            self.schedule(id, self.now() + sense);
        }
    }

    /// Pages at the same offset on other planes are sensed together.
    pub(super) fn gather_reads(&mut self, id: DieId, first: TxnId) {
        let class = self.txns.get(first).class;
        let geometry = self.geometry;
        let place = |txns: &Txns, txn: TxnId| {
            let ppn = txns.get(txn).ppn;
            (
                ppn.0 / geometry.pages_per_plane() % geometry.planes_per_die,
                geometry.offset_in_block(ppn),
            )
        };
        let (plane, offset) = place(&self.txns, first);
        let mut used = 1u32 << plane;
        let mut last = first;
        // Nobody who would have been served in between is overtaken.
        while let Some(next) = self.pick(id) {
            let Txn { op, ppn, .. } = *self.txns.get(next);
            if op != Op::Read || !ppn.is_some() || self.txns.get(next).class != class {
                return;
            }
            let (plane, its_offset) = place(&self.txns, next);
            if its_offset != offset || used & (1 << plane) != 0 {
                return;
            }
            used |= 1 << plane;
            self.dispatch(id, next);
            self.txns.get_mut(next).next = TxnId::NONE;
            self.txns.get_mut(last).next = next;
            last = next;
        }
    }

    pub(super) fn sensed(&mut self, id: DieId) {
        self.dies[id].state = State::AwaitOut;
        self.ask_channel(id);
    }

    pub(super) fn transferred_out(&mut self, id: DieId, layer: &mut impl Translation) {
        let read = self.dies[id].cursor;
        let next = self.txns.get(read).next;
        self.counters.reads[self.txns.get(read).source as usize] += 1;
        if next.is_some() {
            self.dies[id].cursor = next;
            self.dies[id].state = State::AwaitOut;
            layer.done(self, read, false);
            self.release_channel(id);
            self.ask_channel(id);
            return;
        }
        let took = self.now() - self.txns.get(read).dispatched;
        let die = &mut self.dies[id];
        die.state = State::Idle;
        die.served += took;
        if let Some(suspended) = &mut die.suspended {
            suspended.reads += took;
        }
        layer.done(self, read, false);
        self.mark(id);
        self.release_channel(id);
    }
}
