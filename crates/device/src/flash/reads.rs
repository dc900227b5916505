//! Reads on a die.
//!
//! 1. The die senses the page at the level that is expected to suffice ([`Flash::start_read`]).
//! 2. The data waits for the channel, and is transferred out ([`Flash::sensed`]).
//! 3. If the level was too low, the page is sensed again at the next one; the die serves nothing
//!    else in between.
//! 4. The read is handed back to the layer ([`Flash::read_ended`]).
//!
//! A die has one page buffer (S1), so a read occupies its die alone during sensing and transfer,
//! even if the die has several planes. Where each die has a channel of its own, the transfer
//! follows the sensing at once and both are one event. A page that no level corrects is given up at
//! the last level; the layer learns that from `needed` and `level`, and which unit of a page a
//! random failure has struck from `failed`.

use super::flash_trace::FlashEvent;
use super::{Flash, Translation};
use crate::cells::condition::Attempt;
use crate::cells::reliability::RetryCost;
use crate::cells::unreadable_pages::FailedReads;
use crate::event::{Event, lane};
use crate::flash::die::{Cells, State};
use crate::flash::txn::Txn;
use crate::observe::ledger::Doing;
use crate::observe::operation::{Op, Source};
use fowler_agenda::Phase;
use fowler_units::{DieId, Id, Ppn, Span, TxnId, UnitId};

impl Flash {
    #[inline(always)]
    pub(super) fn start_read<L: Translation>(&mut self, id: DieId, txn: TxnId, layer: &mut L) {
        let now = self.now();
        let die = &mut self.dies[id];
        self.channels[die.channel].withdraw(id, die);
        die.dispatch(txn, now, &mut self.txns);
        die.cursor = txn;
        let Txn { op, source, unit, .. } = *self.txns.get(txn);
        die.enter(now, State::Sensing, Doing::serving(op, source), &mut self.txns);
        let page = self.locator.page_of(unit);
        if L::PACKED && self.ages {
            self.sense_by_age(id, txn, layer);
        } else if self.may_err {
            self.sense_by_condition(id, txn, page, layer);
        } else {
            let (time, transfer) = self.levels.sense_and_transfer(0, || self.offset(page));
            self.sense_for(id, time, self.txns.get(txn).all_of(L::PACKED, transfer));
        }
    }

    /// Begins to sense a page at the level of the first try. Not inlined, because a drive whose
    /// cells do not err never needs it.
    #[inline(never)]
    fn sense_by_condition<L: Translation>(&mut self, id: DieId, txn: TxnId, page: Ppn, layer: &L) {
        let draws = self.random_failures.is_some();
        let fails = draws && !L::PACKED && self.fails_at_random(page);
        if self.errs {
            self.sense_by_last::<L>(id, txn, page);
        } else {
            self.sense::<L>(id, txn, page, 0);
        }
        let beyond = self.levels.count();
        if fails || draws && L::PACKED && self.strikes_unit(txn, beyond, layer) {
            // No level corrects the page; the read finds that out level by level.
            self.txns.get_mut(txn).needed = beyond;
        }
    }

    /// Returns true if a random failure strikes one of the mapping units that a read brings, and
    /// records which. A failure waits for the next unit that is read if it would strike a second
    /// unit of one read, or one that cannot fail ([`Translation::cannot_fail`]), so that as many
    /// units fail as the rate says. A page that needs `beyond` tries is unreadable already.
    pub(super) fn strikes_unit<L: Translation>(
        &mut self,
        read: TxnId,
        beyond: u8,
        layer: &L,
    ) -> bool {
        let record = self.txns.get_mut(read);
        let Some(failures) = &mut self.random_failures else { return false };
        for number in 0..record.parts {
            if !failures.strikes() {
                continue;
            }
            let spared = record.failed > 0 || record.needed >= beyond;
            if spared || layer.cannot_fail(record.unit_read(number)) {
                failures.put_off();
            } else {
                record.failed = number + 1;
                self.counters.failed_at_random += 1;
            }
        }
        record.failed > 0
    }

    /// Returns true if no sensing level corrects the data of a page, because a random failure has
    /// struck it: now, or in an earlier read.
    fn fails_at_random(&mut self, page: Ppn) -> bool {
        if !page.is_some() {
            return false;
        }
        let failed = |failed_reads: &FailedReads| failed_reads.any() && failed_reads.has(page);
        if self.failed_reads.as_deref().is_some_and(failed) {
            return true;
        }
        let strikes = self.random_failures.as_mut().is_some_and(|failures| failures.strikes());
        strikes && self.struck_at_random(page)
    }

    /// Handles a random failure that strikes a page, as the rare rest of
    /// [`Flash::fails_at_random`]. A page whose data is in the controller, because it is being
    /// programmed or moved, is spared: the next one that is read is struck instead.
    #[cold]
    fn struck_at_random(&mut self, page: Ppn) -> bool {
        let holds = |unit: UnitId| unit.is_some() && self.locator.page_of(unit) == page;
        let programs = self.txns.iter().map(|(_, txn)| txn).filter(|txn| txn.op == Op::Program);
        let at_hand = programs.into_iter().any(|txn| holds(txn.unit) || holds(txn.from));
        if at_hand && let Some(failures) = &mut self.random_failures {
            failures.put_off();
        }
        self.counters.failed_at_random += u64::from(!at_hand);
        !at_hand
    }

    /// Begins to sense a page at the level that the last read of its block found to be right.
    #[inline(always)]
    fn sense_by_last<L: Translation>(&mut self, id: DieId, txn: TxnId, page: Ppn) {
        let now = self.now();
        if page.is_some()
            && let Some(condition) = &mut self.condition
        {
            let block = self.locator.block_of(page);
            let record = self.txns.get_mut(txn);
            if let Some(attempt) = condition.read(page, block, record.read_as, now) {
                let Attempt { level, needed } = attempt;
                (record.first_level, record.level, record.needed) = (level, level, needed);
                return self.sense::<L>(id, txn, page, level);
            }
        }
        self.sense_by_search::<L>(id, txn, page);
    }

    /// Begins to sense a page at a sensing level determined for this read, because the level that
    /// was last determined for the whole block is out of date by age or number of reads. Pages
    /// whose age and wear are unknown, because a raw command names them or preconditioning gave
    /// them no address, are read at the worst level.
    #[cold]
    #[inline(never)]
    fn sense_by_search<L: Translation>(&mut self, id: DieId, txn: TxnId, page: Ppn) {
        let now = self.now();
        let record = self.txns.get_mut(txn);
        let worst = Attempt { level: self.unknown_level, needed: self.unknown_level };
        let Attempt { level, needed } = match &mut self.condition {
            Some(condition) if page.is_some() => {
                condition.find_out(page, self.locator.block_of(page), record.read_as, now)
            }
            _ => worst,
        };
        (record.first_level, record.level, record.needed) = (level, level, needed);
        self.sense_again::<L>(id, txn, page, level);
    }

    /// Begins to sense a page at a level. Not inlined, for rare cases.
    #[inline(never)]
    fn sense_again<L: Translation>(&mut self, id: DieId, txn: TxnId, page: Ppn, level: u8) {
        self.sense::<L>(id, txn, page, level);
    }

    /// Begins to sense the page of a read at a sensing level.
    #[inline(always)]
    fn sense<L: Translation>(&mut self, id: DieId, txn: TxnId, page: Ppn, level: u8) {
        let (time, transfer) = self.levels.sense_and_transfer(level, || self.offset(page));
        let transfer = if L::PACKED { self.txns.get(txn).all_of(true, transfer) } else { transfer };
        self.sense_for(id, time, transfer);
    }

    /// Begins to sense the page of a read, which takes `time`. The transfer of its data afterwards
    /// takes `transfer`, and holds the channel for the command of the read as well.
    #[inline(always)]
    pub(super) fn sense_for(&mut self, id: DieId, mut time: Span, transfer: Span) {
        let now = self.now();
        let transfer = transfer + self.registers.read_command;
        let die = &mut self.dies[id];
        die.transfer = transfer;
        die.state = State::Sensing;
        if self.channels_owned {
            // No other die uses this channel, so the transfer follows the sensing at once.
            let channel = &mut self.channels[die.channel];
            time += transfer;
            channel.carry(now + time, transfer);
            channel.busy = true;
            die.state = State::TransferOut;
        }
        let (end, event) = (now + time, Event::Die(id));
        die.until = end;
        let note = |ticket| die.ticket = ticket;
        self.agenda.schedule_noted(lane::SENSE, end, Phase::Completion, event, note);
    }

    #[inline]
    pub(super) fn sensed(&mut self, id: DieId) {
        let die = &mut self.dies[id];
        let channel = &mut self.channels[die.channel];
        die.state = State::AwaitOut;
        channel.ask(id, die, &mut self.agenda);
    }

    #[inline]
    pub(super) fn transferred_out<L: Translation>(&mut self, id: DieId, layer: &mut L) {
        let now = self.now();
        let die = &mut self.dies[id];
        let read = die.cursor;
        let Txn { source, dispatched, level, needed, .. } = *self.txns.get(read);
        if level < needed {
            let again = if L::PACKED && self.ages {
                self.retries(id, read)
            } else {
                self.climbs::<L>(id, read)
            };
            if again {
                return;
            }
        }
        let die = &mut self.dies[id];
        die.state = State::Idle;
        let began = if L::PACKED { die.cache.alone_since(dispatched) } else { dispatched };
        self.read_ended(id, (read, source, level), now - began, layer);
        self.mark(id);
    }

    /// Ends a read that occupied its die for the time `took`, in which overlapping time with the
    /// previous read is not counted again.
    #[inline(always)]
    pub(super) fn read_ended<L: Translation>(
        &mut self,
        id: DieId,
        (read, source, level): (TxnId, Source, u8),
        took: Span,
        layer: &mut L,
    ) {
        if L::PACKED && self.ages && level > 0 {
            self.retried(id, read);
        } else {
            self.note_try(id, read, level, false);
        }
        self.counters.reads[source] += self.txns.get(read).units(L::PACKED);
        if self.errs {
            self.counters.reads_at[usize::from(level)] += self.txns.get(read).units(L::PACKED);
        }
        let die = &mut self.dies[id];
        die.served += took;
        if die.cells == Cells::Suspended {
            die.command.reads += took;
        }
        layer.read_done(self, read);
    }

    /// Starts the next try of a read, one sensing level higher, because the page has too many
    /// errors for the last level. Returns true if there is a higher level.
    #[cold]
    fn climbs<L: Translation>(&mut self, id: DieId, read: TxnId) -> bool {
        let record = self.txns.get_mut(read);
        if record.level + 1 == self.levels.count() {
            self.counters.uncorrectable += 1;
            let unit = record.unit;
            if let Some(failed) = &mut self.failed_reads
                && unit.is_some()
            {
                failed.add(self.locator.page_of(unit));
            }
            return false;
        }
        self.counters.retries_at[usize::from(record.level)] += record.units(L::PACKED);
        let tried = record.level;
        record.level += 1;
        let Txn { unit, level, .. } = *record;
        self.note_try(id, read, tried, true);
        if let Some(condition) = &mut self.condition
            && unit.is_some()
        {
            condition.disturb(self.locator.block_of(unit));
        }
        match self.retry {
            RetryCost::Whole => {
                self.sense_again::<L>(id, read, self.locator.page_of(unit), level);
            }
            RetryCost::Increment => {
                let (time, transfer) = self.levels.beyond_last(level, self.offset(unit));
                let transfer = self.txns.get(read).all_of(L::PACKED, transfer);
                self.sense_for(id, time, transfer);
            }
        }
        true
    }

    /// Returns the times that a try of a read at a sensing level took to sense and to transfer.
    fn try_of(&self, txn: &Txn, level: u8) -> (Span, Span) {
        if self.retry == RetryCost::Increment && level > txn.first_level {
            return self.levels.beyond_last(level, self.offset(txn.unit));
        }
        (self.levels.sense(level, self.offset(txn.unit)), self.levels.transfer(level))
    }

    /// Traces the end of a try of a read.
    #[inline]
    fn note_try(&mut self, id: DieId, read: TxnId, level: u8, again: bool) {
        if self.is_watched() {
            let txn = self.txns.get(read);
            let (sense, transfer) = self.try_of(txn, level);
            let transfer = transfer * u64::from(txn.parts) + self.registers.read_command;
            self.note(id, read, FlashEvent::Read { sense, transfer, level, again });
        }
    }
}
