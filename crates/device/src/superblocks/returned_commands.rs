//! Program commands that a failed die returns: those that it had begun, those that waited for it,
//! and those between their two passes.
//!
//! 1. The transactions of the command end without effect ([`Superblocks::return_begun`]).
//! 2. Its units count as programmed and failed: later commands may have gone into the parity of the
//!    stripe together with it. The stripe has lost one command, and its superblock is moved when it
//!    is full ([`Superblocks::return_command`]).
//! 3. The controller still has the data. Units of the host wait for the next command of their
//!    stream again, before all others, and so do those that are moved.
//!
//! Exception: units that are moved leave their old place after the first of two passes. They are
//! moved once more, from the place that has failed.

use super::Superblocks;
use super::commands::{Command, Stored};
use crate::flash::Flash;
use crate::flash::txn::Owner;
use crate::observe::operation::Op;
use crate::raid::losses::Failure;
use fowler_units::{RuId, TxnId, UnitId};

impl Superblocks {
    /// Ends the transactions that failed dies return: page programs of commands, and erases. All
    /// pages of a pass of a command come together. The data of a command waits again when nothing
    /// of it is sent any more. Returns the superblocks of the erases, of which each is done with
    /// one die.
    pub(super) fn return_begun(&mut self, flash: &mut Flash, begun: Vec<TxnId>) -> Vec<RuId> {
        let mut returned = Vec::new();
        let mut erased = Vec::new();
        for id in begun {
            let txn = flash.txns.get(id);
            match (txn.op, txn.owner) {
                (Op::Program, Owner::Command(number) | Owner::FirstPass(number)) => {
                    returned.push(number);
                }
                (Op::Erase, Owner::Superblock(superblock)) => erased.push(superblock),
                (op, owner) => unreachable!("a die returns {op:?} of {owner:?}"),
            }
            flash.txns.close(id);
        }
        returned.dedup();
        for number in returned {
            if let Some(passes) = &mut self.commands.passes {
                let begun = passes.begun.iter_mut().flatten();
                for place in begun {
                    place.take_if(|begun| begun.number == number);
                }
            }
            let sent = |owner| owner == Owner::Command(number) || owner == Owner::FirstPass(number);
            if !flash.txns.iter().any(|(_, txn)| sent(txn.owner)) {
                self.return_command(flash, number);
            }
        }
        erased
    }

    /// Returns the commands of failed dies whose first pass has ended and whose second has not been
    /// sent.
    pub(super) fn return_between_passes(&mut self, flash: &mut Flash) {
        let (Some(passes), Some(bad)) = (&mut self.commands.passes, &self.bad) else { return };
        let mut returned = Vec::new();
        for begun in &mut passes.begun {
            for (position, place) in (0..).zip(begun) {
                let dead = bad.is_dead(position);
                // Without its first pass, the command itself comes back from the queue.
                let ended =
                    |number: u32| self.commands.records[number as usize].first_pass_left == 0;
                if let Some(begun) = place.take_if(|begun| dead && ended(begun.number)) {
                    returned.push(begun.number);
                }
            }
        }
        returned.into_iter().for_each(|number| self.return_command(flash, number));
    }

    /// Ends a command that its die has not programmed. Its units fail, and its data waits for
    /// another place.
    fn return_command(&mut self, flash: &mut Flash, number: u32) {
        let Command { first_unit, stores, .. } = self.commands.records[number as usize];
        let slots = self.shape.slots(self.shape.is_slc(first_unit)).len() as u32;
        let first = number as usize * self.commands.units_per_command;
        let stored = self.commands.stored[first..first + stores as usize].to_vec();
        let superblock = self.shape.superblock_of(first_unit);
        self.fail_units(flash, first_unit, slots);
        let moved = matches!(stored.first(), Some(Stored::Moved { .. }));
        for stored in stored.into_iter().rev() {
            match stored {
                Stored::Frame(frame) if self.map.is_in(self.buffer.page(frame), frame) => {
                    self.buffer.put_back(frame);
                }
                Stored::Frame(frame) => self.buffer.release(frame),
                Stored::Moved { page, from } => {
                    let old = self.shape.superblock_of(from);
                    if self.map.valid_owner(from) == Some(page) {
                        let into = self.moved_into(old).index();
                        self.collector.copied[into].push_front((page, from));
                        self.collector.unsent[into] += 1;
                    } else {
                        self.collector.stored(1);
                        self.left(flash, old);
                    }
                }
            }
        }
        if self.flushes.partial > 0 && stores > 0 && !moved {
            self.flushes.partial -= u32::from(stores < slots);
        }
        if let Some(passes) = &mut self.commands.passes {
            passes.ended(&self.shape, first_unit);
        }
        let record = &mut self.commands.records[number as usize];
        (record.left, record.first_pass_left, record.stores) = (0, 0, 0);
        self.commands.free.push(number);
        if self.has_stripes(superblock) {
            let at_hand = self.at_hand();
            for unit in first_unit.run(slots) {
                self.weigh(flash, self.shape.line_of(unit), &at_hand);
            }
        }
        self.land(superblock, flash.now());
    }

    /// Marks the units of a command that its die has not programmed as failed. Those that are
    /// valid, because the first of two passes has ended, are moved again: the controller has them.
    fn fail_units(&mut self, flash: &Flash, first_unit: UnitId, slots: u32) {
        let now = flash.now();
        let superblock = self.shape.superblock_of(first_unit);
        let command = self.shape.command_of(first_unit);
        let parity = self.is_parity(superblock, command);
        let failure = self.bad.as_ref().and_then(|bad| bad.failure_of(command % self.shape.dies));
        for unit in first_unit.run(slots) {
            let owner = self.map.valid_owner(unit);
            let Some(contents) = &mut self.contents else { return };
            contents.spoil(superblock, unit, failure.unwrap_or(Failure::Die));
            contents.integrity.ledger.parity_unreadable += u64::from(parity);
            if let Some(page) = owner {
                contents.integrity.ledger.unreadable += 1;
                contents.note_failed(superblock, now);
                let into = self.moved_into(superblock).index();
                self.collector.copied[into].push_back((page, unit));
                self.collector.unsent[into] += 1;
                self.collector.moving += 1;
                self.map.leaves(superblock, 1);
            }
        }
    }
}
