//! Spans without power.
//!
//! 1. Data ages, and superblocks that are past their limit when power returns become due.
//! 2. If the buffer survives, nothing else happens: a capacitor ends what is being programmed.
//! 3. Otherwise commands that a die has begun end, or are cut off once the energy is used up
//!    (`policy.redundancy.cut_programs`). Those that are cut off, and those that no die has begun,
//!    take the units of the host that they store with them, and the parity that they were. Units
//!    that they move are read again from their old place, and lost if that has failed for good.
//! 4. Units that wait in the buffer are saved while energy is left; the others are lost, and the
//!    copy in the flash is the newest again. Clean frames are dropped.
//! 5. The running parity of open stripes is lost. The drive computes it again from the pages of the
//!    stripe, in no simulated time. Units of the stripe that cannot be read are lost.
//!
//! Data whose write was not answered is never lost, because the host writes it again. Commands that
//! were cut off or not begun are programmed when power returns, without what was lost.

use super::Superblocks;
use super::buffer::State;
use super::commands::{Command, Stored, Stream};
use super::contents::Parity;
use super::shape::{Line, in_txn};
use crate::event::Event;
use crate::event_loop::Faulty;
use crate::flash::Flash;
use crate::flash::txn::Owner;
use crate::raid::fault_kinds::Fault;
use crate::raid::losses::{Failure, Loss, Reason};
use fowler_agenda::Phase;
use fowler_units::{FrameId, HostOp, Lpn, Span, UnitId};
use std::ops::Range;

/// The losses of the controller by one loss of power.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// Number of units of acknowledged writes whose data was lost.
    lost_writes: u64,
    /// Number of parity pages lost because they were still in the controller.
    parity_lost: u64,
    /// Number of page programs that the loss of power cut off.
    torn: u64,
}

/// A loss of power: what the drive can still save, and what the host will repeat.
struct Outage {
    /// Number of units that the drive's remaining energy (of its capacitors) can still program
    /// after the loss of power.
    energy: usize,
    /// Ranges of units of the host that lie in the write buffer and belong to writes not yet
    /// acknowledged; the host repeats these writes.
    repeated: Vec<Range<u32>>,
    taken: Taken,
}

impl Superblocks {
    /// Turns the power off for `lasts`, in no time of the drive's clock.
    pub(super) fn lose_power_for(&mut self, flash: &mut Flash, lasts: Span) {
        if let Some(condition) = flash.condition_mut() {
            condition.grow_older(lasts);
        }
        if let Some(aging) = &mut self.aging {
            aging.grow_older(lasts);
        }
        let overdue = self.age_limits(flash, lasts);
        self.patrol_without_power(flash, lasts);
        let before = self.ledger();
        let taken = self.lose_power(flash);
        self.note_struck(Fault::Power, flash.now(), before);
        let power_offs = &mut self.power_offs;
        power_offs.spans += 1;
        power_offs.off += lasts;
        power_offs.overdue += overdue;
        power_offs.lost_writes += taken.lost_writes;
        power_offs.parity_lost += taken.parity_lost;
        power_offs.torn += taken.torn;
    }

    /// Data grows older by a span without power. Returns the number of superblocks that are past
    /// their limit of age or reads when power returns, which are due now.
    fn age_limits(&mut self, flash: &mut Flash, lasts: Span) -> u64 {
        let Some(limits) = &mut self.limits else { return 0 };
        limits.grow_older(lasts);
        let before = self.renewals.due.len();
        if let Some(next) = self.check_limits_at(flash.now()) {
            flash.agenda.schedule(next, Phase::Decision, Event::Deadline);
        }
        let overdue = self.renewals.due.len() - before;
        self.collect(flash);
        overdue as u64
    }

    /// Simulates a short loss of power: programs in flight and buffered data are lost, except what
    /// is configured to survive. Returns the losses.
    pub(super) fn lose_power(&mut self, flash: &mut Flash) -> Taken {
        if self.survives.all() {
            return Taken::default();
        }
        let (energy, repeated) = (self.survives.saved, self.unanswered());
        let mut outage = Outage { energy, repeated, taken: Taken::default() };
        self.lose_commands(flash, &mut outage);
        self.lose_buffer(&mut outage);
        self.lose_running_parity(flash, &mut outage);
        self.lose_moved(flash);
        if let Some(contents) = &mut self.contents {
            contents.integrity.ledger.parity_lost += outage.taken.parity_lost;
        }
        self.collect(flash);
        self.drain(flash);
        self.resume(flash);
        outage.taken
    }

    /// Returns the units of the host that lie in the write buffer and belong to writes not yet
    /// acknowledged.
    fn unanswered(&self) -> Vec<Range<u32>> {
        let requests = &self.front.requests;
        let writes = requests
            .open_ids(|request| request.io.op == HostOp::Write && request.next < request.end);
        let units = |id| {
            let request = requests.get(id);
            request.end - request.pages..request.next
        };
        writes.map(units).collect()
    }

    /// Returns the numbers of the commands in flight in the order in which they were sent, and
    /// true for those that a die has begun.
    fn commands_sent(&self, flash: &Flash) -> Vec<(u32, bool)> {
        let mut all: Vec<(u64, u32, bool)> = Vec::new();
        for (id, txn) in flash.txns.iter() {
            let Owner::Command(number) = txn.owner else { continue };
            let first_unit = self.commands.records[number as usize].first_unit;
            // The first page waits for the die, and the others follow it.
            if txn.unit == in_txn(self.shape.place(first_unit).1) {
                all.push((txn.order, number, !flash.is_queued(id)));
            }
        }
        all.sort_unstable();
        all.into_iter().map(|(_, number, begun)| (number, begun)).collect()
    }

    /// Loses the program commands for which the energy after a loss of power does not last: those
    /// that no die has begun, and, if the drive can tear programs, those in progress.
    fn lose_commands(&mut self, flash: &mut Flash, outage: &mut Outage) {
        for (number, begun) in self.commands_sent(flash) {
            let Command { first_unit, stores, .. } = self.commands.records[number as usize];
            let slots = self.shape.slots(self.shape.is_slc(first_unit)).len();
            if begun && !self.survives.tears {
                continue;
            }
            if outage.energy >= slots {
                outage.energy -= slots;
                continue;
            }
            let pages = u64::from(slots as u32 / self.shape.units_per_page);
            if begun {
                outage.taken.torn += pages;
            }
            let superblock = self.shape.superblock_of(first_unit);
            if self.is_parity(superblock, self.shape.command_of(first_unit)) {
                outage.taken.parity_lost += pages;
                for unit in first_unit.run(slots as u32) {
                    let parity = Parity::Programmed(unit);
                    self.leave_failed_out(flash, self.shape.line_of(unit), parity);
                }
            }
            let first = number as usize * self.commands.units_per_command;
            for at in first..first + stores as usize {
                if let Stored::Frame(frame) = self.commands.stored[at] {
                    self.lose_frame(frame, outage);
                }
            }
        }
    }

    /// Loses the data of dirty frames in the write buffer for which the energy after a loss of
    /// power does not last, and empties clean frames. Frames that a program command in flight
    /// stores are left out.
    fn lose_buffer(&mut self, outage: &mut Outage) {
        let mut held: Vec<(FrameId, Lpn, State)> = self.buffer.held().collect();
        // Frames that wait for a command are saved first.
        held.sort_by_key(|&(_, _, state)| state != State::Ready);
        for (frame, page, state) in held {
            match state {
                State::Free | State::Leaving => {}
                State::Clean => {
                    self.map.leave_frame(page, self.buffer.unit(frame));
                    self.buffer.release(frame);
                }
                _ if outage.energy > 0 && self.would_be_lost(frame, outage) => outage.energy -= 1,
                _ => self.lose_frame(frame, outage),
            }
        }
    }

    /// Returns true if a frame holds the newest data of its unit, which the host will not repeat.
    fn would_be_lost(&self, frame: FrameId, outage: &Outage) -> bool {
        let page = self.buffer.page(frame);
        let repeated = outage.repeated.iter().any(|units| units.contains(&page.0));
        self.map.is_in(page, frame) && !repeated
    }

    /// Loses the unit in a frame, unless a newer write has replaced it or the host will write it
    /// again.
    fn lose_frame(&mut self, frame: FrameId, outage: &mut Outage) {
        if !self.would_be_lost(frame, outage) {
            return;
        }
        outage.taken.lost_writes += 1;
        let (page, copy) = (self.buffer.page(frame), self.buffer.unit(frame));
        self.buffer.give_up(frame);
        self.map.leave_frame(page, copy);
        if let Some(contents) = &mut self.contents {
            contents.integrity.revert(page, copy);
            contents.integrity.ledger.lost[Reason::Power] += 1;
            contents.integrity.ledger.lost_writes += 1;
        }
    }

    /// The running parity of open stripes is lost, unless there is energy left to program it, and
    /// is computed again from the flash.
    fn lose_running_parity(&mut self, flash: &mut Flash, outage: &mut Outage) {
        for stream in Stream::all() {
            let Some(open) = self.commands.open_of(stream) else { continue };
            let begun = self.has_stripes(open.superblock) && self.has_begun_stripe(open);
            let slots = self.shape.slots(stream == Stream::Slc);
            if !begun {
                continue;
            }
            if outage.energy >= slots.len() {
                outage.energy -= slots.len();
                continue;
            }
            outage.taken.parity_lost += slots.len() as u64 / u64::from(self.shape.units_per_page);
            let slc = stream == Stream::Slc;
            for unit in self.shape.units_of_command(open.superblock, open.command, slc) {
                let parity = Parity::Running(stream, self.shape.slot_of(unit));
                self.leave_failed_out(flash, self.shape.line_of(unit), parity);
            }
        }
    }

    /// Computes the parity of a line (the units at the same place in all commands of a stripe) anew
    /// without the line's unreadable units. Those of them that hold valid data are lost.
    fn leave_failed_out(&mut self, flash: &mut Flash, line: Line, parity: Parity) {
        let failed = |it: &Superblocks, unit: &UnitId| {
            it.contents.as_ref().is_some_and(|contents| !contents.reads(*unit))
        };
        let units: Vec<UnitId> = line.iter().filter(|unit| failed(self, unit)).collect();
        for unit in units {
            let Some(contents) = &self.contents else { return };
            let failure = contents.integrity.failure(unit).unwrap_or(Failure::Cells);
            if self.map.valid_owner(unit).is_some() {
                let reason = Reason::Power;
                self.lose(flash, unit, Loss { reason, failure, failed: 1, given_back: 0 });
            }
            if let Some(contents) = &mut self.contents {
                contents.leave_parity(unit, parity);
            }
        }
    }

    /// Loses units whose only copy was in the controller when power failed: they had been recovered
    /// or read to be moved, and parity cannot recover them any more, because another unit at their
    /// place in the stripe is unreadable.
    fn lose_moved(&mut self, flash: &mut Flash) {
        for unit in self.at_hand() {
            let Some(contents) = &self.contents else { return };
            let Some(failure) = contents.integrity.failure(unit) else { continue };
            let superblock = self.shape.superblock_of(unit);
            let protected = self.has_stripes(superblock);
            if self.map.valid_owner(unit).is_none()
                || protected && self.failed_of_line(contents, unit) == 1
            {
                continue;
            }
            let reason = Reason::Power;
            self.lose(flash, unit, Loss { reason, failure, failed: 1, given_back: 0 });
        }
    }
}
