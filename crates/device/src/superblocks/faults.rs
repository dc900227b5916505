//! Faults of a drive with superblocks, and the fate of every unit that cannot be read: it is
//! rebuilt from its line, rewritten by the host before that, or lost.
//!
//! 1. A fault makes units unreadable: valid and stale ones, and parity
//!    ([`Superblocks::strike`]). Data that is in the controller, because it is being programmed or
//!    has been read to be moved, is not lost.
//! 2. Of a line with parity one unit can be recovered. If more have failed, or there is no parity,
//!    those that are valid are lost at once ([`Superblocks::weigh`]), unless the buffer holds all
//!    of the newest data, which is stored again.
//! 3. A superblock with parity of which a unit has failed is moved before any other that is due
//!    ([`super::renewals`]). Its reads find what has failed, and wait until the other units of the
//!    line have been read ([`super::degraded_reads`]); so do reads of the host meanwhile.
//!
//! A block or plane that fails loses its contents and is empty from then on, as if a spare one took
//! its place. So does a die while there are spare ones; then it stays failed
//! ([`super::die_failures`]). See docs/decisions/superblocks.md, "What does a fault do?".

use super::Superblocks;
use super::commands::Stored;
use super::contents::Contents;
use super::map::Emptied;
use super::shape::Line;
use crate::blocks::block_table::BlockState;
use crate::event_loop::fault_schedule::FaultSchedule;
use crate::event_loop::power_offs::PowerOffs;
use crate::event_loop::{Device, Faulty};
use crate::flash::Flash;
use crate::mapping::page_map::Location;
use crate::raid::fault_kinds::Fault;
use crate::raid::losses::{Failure, Loss, LossLedger, Reason};
use fowler_units::{Geometry, Id, Lpn, Nanos, Rng, RuId, Span, UnitId};
use std::ops::Range;

impl Superblocks {
    /// Returns true if a superblock is in SLC mode.
    pub(super) fn is_in_slc_mode(&self, superblock: RuId) -> bool {
        self.slc.as_ref().is_some_and(|cache| cache.is_used_by(superblock))
    }

    /// Returns the units of commands in flight, in order: their data is in the controller.
    fn being_programmed(&self) -> Vec<UnitId> {
        let all = self.commands.in_flight().flat_map(|(first, _)| {
            let slots = self.shape.slots(self.shape.is_slc(first)).len() as u32;
            first.run(slots)
        });
        let mut all: Vec<UnitId> = all.collect();
        all.sort_unstable();
        all
    }

    /// Returns, in ascending order, the units of the flash whose data the controller still holds:
    /// units being programmed, and units that GC, refresh or wear leveling has read and not yet
    /// programmed elsewhere.
    pub(super) fn at_hand(&self) -> Vec<UnitId> {
        let mut all = self.being_programmed();
        for (_, stored) in self.commands.in_flight() {
            all.extend(stored.iter().filter_map(|stored| match *stored {
                Stored::Moved { from, .. } => Some(from),
                Stored::Frame(_) => None,
            }));
        }
        all.extend(self.collector.copied.iter().flatten().map(|&(_, from)| from));
        all.sort_unstable();
        all
    }

    /// Returns the number of unreadable units among a unit and those that share one parity with it.
    pub(super) fn failed_of_line(&self, contents: &Contents, unit: UnitId) -> u32 {
        let line = self.shape.line_of(unit);
        line.iter().filter(|&unit| !contents.reads(unit)).count() as u32
    }

    /// Returns the units that hold data of any kind and that a fault strikes, in order.
    fn struck(&self, fault: Fault, geometry: &Geometry) -> Vec<UnitId> {
        match fault {
            Fault::Page(page) | Fault::Miscorrected(page) | Fault::Misdirected(page) => {
                let copy = match self.map.place(page) {
                    Location::Flash(unit) => unit,
                    Location::Buffer(frame) => self.buffer.unit(frame),
                    Location::Nowhere => UnitId::NONE,
                };
                if copy.is_some() { vec![copy] } else { Vec::new() }
            }
            Fault::Parity(stripe) => {
                let (superblock, last, slot) = self.shape.parity_page(stripe.0);
                let Some(command) = self.parity_of_stripe(superblock, last) else {
                    return Vec::new();
                };
                let programmed = command < self.commands_taken(superblock);
                if !programmed || self.is_bare(superblock) || self.is_in_slc_mode(superblock) {
                    return Vec::new();
                }
                let first = self.shape.unit_of_command(superblock, command).plus(slot);
                first.run(self.shape.units_per_page).collect()
            }
            _ => fault.blocks(geometry).map_or_else(Vec::new, |blocks| self.units_in(&blocks)),
        }
    }

    /// Returns, in ascending order, the programmed units in a range of block numbers.
    fn units_in(&self, blocks: &Range<u32>) -> Vec<UnitId> {
        let Geometry { planes_per_die, blocks_per_plane, pages_per_block, .. } =
            self.layout.geometry;
        let die_blocks = planes_per_die * blocks_per_plane;
        let superblocks = match blocks.len() {
            1 => blocks.start % blocks_per_plane..blocks.start % blocks_per_plane + 1,
            _ => 0..self.shape.superblocks,
        };
        let mut all = Vec::new();
        for superblock in superblocks.map(RuId) {
            if matches!(self.map.traffic(superblock).emptied, Emptied::Erased(_)) {
                continue;
            }
            let slc = self.is_in_slc_mode(superblock);
            let used = |&command: &u32| self.uses(superblock, command);
            for command in (0..self.commands_taken(superblock)).filter(used) {
                let first = self.shape.unit_of_command(superblock, command);
                let (die, _) = self.shape.place(first);
                let (from, to) = (die.0 * die_blocks, (die.0 + 1) * die_blocks);
                if to <= blocks.start || blocks.end <= from {
                    continue;
                }
                let fails = |unit: &UnitId| {
                    let (_, page) = self.shape.place(*unit);
                    blocks.contains(&(page.0 / pages_per_block))
                };
                all.extend(self.shape.units_of_command(superblock, command, slc).filter(fails));
            }
        }
        all
    }

    /// Makes programmed mapping units unreadable with a kind of failure, gives up data that parity
    /// can no longer recover, and makes the superblocks concerned due to be moved.
    pub(super) fn strike(&mut self, flash: &mut Flash, mut units: Vec<UnitId>, failure: Failure) {
        let now = flash.now();
        let at_hand = self.at_hand();
        let Some(contents) = &self.contents else { return };
        let programmed = self.being_programmed();
        units.retain(|unit| contents.reads(*unit) && programmed.binary_search(unit).is_err());
        let mut lines: Vec<Line> = Vec::with_capacity(units.len());
        for &unit in &units {
            let superblock = self.shape.superblock_of(unit);
            let parity = self.is_parity(superblock, self.shape.command_of(unit));
            let owner = self.map.valid_owner(unit);
            let Some(contents) = &mut self.contents else { return };
            contents.spoil(superblock, unit, failure);
            contents.integrity.ledger.parity_unreadable += u64::from(parity);
            if owner.is_some() {
                contents.integrity.ledger.unreadable += 1;
                contents.note_failed(superblock, now);
            }
            if self.has_stripes(superblock) {
                lines.push(self.shape.line_of(unit));
            } else if owner.is_some() && at_hand.binary_search(&unit).is_err() {
                self.lose(flash, unit, Loss::unprotected(failure));
            }
        }
        lines.sort_unstable();
        lines.dedup();
        lines.into_iter().for_each(|line| self.weigh(flash, line, &at_hand));
        let mut superblocks: Vec<RuId> =
            units.iter().map(|&unit| self.shape.superblock_of(unit)).collect();
        superblocks.dedup();
        superblocks.into_iter().for_each(|superblock| self.renew_if_spoilt(superblock));
        self.collect(flash);
        self.drain(flash);
        self.resume(flash);
    }

    /// Gives up the copy of a unit of the host in the flash if the buffer holds the newest data of
    /// all of it, and has it stored again. Returns true if so.
    fn keep_from_buffer(&mut self, page: Lpn, unit: UnitId, now: Nanos) -> bool {
        let Location::Buffer(frame) = self.map.place(page) else { return false };
        if self.buffer.is_incomplete(frame) {
            return false;
        }
        self.buffer.make_dirty(frame);
        self.map.drop_copy(unit);
        self.buffer.set_unit(frame, UnitId::NONE);
        if let Some(contents) = &mut self.contents {
            contents.rewritten(self.shape.superblock_of(unit), unit, now);
        }
        true
    }

    /// Gives up the unreadable units of a line (the units at the same place in all commands of a
    /// stripe) if more than one is unreadable, so that parity recovers none. `at_hand` are the
    /// units whose data the controller holds; these stay.
    pub(super) fn weigh(&mut self, flash: &Flash, line: Line, at_hand: &[UnitId]) {
        let Some(contents) = &self.contents else { return };
        let failed: Vec<UnitId> = line.iter().filter(|&unit| !contents.reads(unit)).collect();
        if failed.len() <= 1 {
            return;
        }
        let count = failed.len().min(u8::MAX.into()) as u8;
        for unit in failed {
            let known = at_hand.binary_search(&unit).is_ok();
            if let Some(contents) = &self.contents
                && let Some(failure) = contents.integrity.failure(unit)
                && self.map.valid_owner(unit).is_some()
                && !known
            {
                let reason = Reason::BeyondParity;
                self.lose(flash, unit, Loss { reason, failure, failed: count, given_back: 1 });
            }
        }
    }

    /// Gives up a valid unit that cannot be read, and with it the unit of the host that it holds,
    /// unless the buffer holds that.
    pub(super) fn lose(&mut self, flash: &Flash, unit: UnitId, loss: Loss) {
        let page = self.map.valid_owner(unit).expect("a valid unit");
        if self.keep_from_buffer(page, unit, flash.now()) {
            return;
        }
        if let Location::Buffer(frame) = self.map.place(page) {
            // The frame holds part of the unit, and the rest was to be read from here.
            self.buffer.give_up(frame);
        }
        self.map.leave(page, unit);
        let superblock = self.shape.superblock_of(unit);
        let Some(contents) = &mut self.contents else { return };
        contents.note_settled(superblock, flash.now());
        contents.integrity.lose(page, loss);
        contents.integrity.ledger.lost[loss.reason] += 1;
    }

    /// Makes a full superblock due to be moved if a program of it has failed or, on one with
    /// parity, a unit cannot be read: the units that share parity with that one are unprotected
    /// from then on, even if its own data is no longer needed.
    #[inline]
    pub(super) fn renew_if_spoilt(&mut self, superblock: RuId) {
        let spoilt = |it: &Contents| it.is_spoilt(superblock) && self.has_stripes(superblock);
        let fails =
            self.contents.as_deref().is_some_and(spoilt) || self.has_failed_program(superblock);
        if fails && self.map.state(superblock) == BlockState::Full {
            self.renewals.add_first(superblock);
        }
    }

    /// Applies a silent-corruption fault: the data of the units it strikes changes without any read
    /// error.
    fn corrupt(&mut self, fault: Fault) {
        let at_hand = self.at_hand();
        let Some(mut contents) = self.contents.take() else { return };
        let geometry = contents.geometry;
        for unit in self.struck(fault, &geometry) {
            let open =
                |unit: UnitId| self.is_programmed(unit) && at_hand.binary_search(&unit).is_err();
            let current = |unit: UnitId| self.map.valid_owner(unit).is_some();
            let another = |unit: UnitId, rng: &mut Rng| self.draw_beside(unit, rng);
            contents.integrity.corrupt((fault, unit), &open, &current, &another);
        }
        self.contents = Some(contents);
    }

    /// Returns a random unit in the plane of `unit`, for a misdirected write to land on; `None` if
    /// the random unit has not been programmed.
    fn draw_beside(&self, unit: UnitId, rng: &mut Rng) -> Option<UnitId> {
        let Geometry { pages_per_block, blocks_per_plane, .. } = self.layout.geometry;
        let plane = |unit: UnitId| self.shape.place(unit).1.0 / pages_per_block / blocks_per_plane;
        let drawn = UnitId(rng.below(self.shape.all_numbers()) as u32);
        // The drawn unit moves to the die and the place within a word line of `unit`.
        let dies = self.shape.dies;
        let (at, of) = (self.shape.command_of(drawn), self.shape.command_of(unit));
        let command = at - at % dies + of % dies;
        if command >= self.shape.commands {
            return None;
        }
        let superblock = self.shape.superblock_of(drawn);
        let slot = self.shape.slot_of(unit);
        let other = self.shape.unit_of_command(superblock, command).plus(slot);
        debug_assert_eq!(plane(other), plane(unit));
        self.is_programmed(other).then_some(other)
    }
}

impl Device<Superblocks> {
    /// Returns the cause of the loss of a host unit; `None` unless it is lost.
    pub fn lost(&self, page: Lpn) -> Option<Loss> {
        self.layer.contents.as_ref()?.integrity.lost(page)
    }

    /// Returns the number of valid units of the flash that cannot be read and wait to be rebuilt.
    pub fn to_rebuild(&self) -> u32 {
        self.layer.contents.as_ref().map_or(0, |contents| contents.unreadable())
    }

    /// Returns the number of superblocks of which a unit of any kind has failed since their erase.
    pub fn spoilt_superblocks(&self) -> u32 {
        self.layer.contents.as_ref().map_or(0, |contents| contents.spoilt())
    }
}

impl Faulty for Superblocks {
    fn faults(&self) -> Option<&FaultSchedule> {
        self.faults.as_deref()
    }

    fn faults_mut(&mut self) -> &mut Option<Box<FaultSchedule>> {
        &mut self.faults
    }

    fn ledger(&self) -> Option<LossLedger> {
        let integrity = &self.contents.as_ref()?.integrity;
        Some(LossLedger { silent: integrity.silent.ledger, ..integrity.ledger })
    }

    fn inject(&mut self, flash: &mut Flash, fault: Fault) {
        let contents = self.contents.as_mut().expect("faults need policy.redundancy.integrity");
        let geometry = contents.geometry;
        contents.integrity.ledger.faults += 1;
        match fault {
            Fault::Bug(_) => panic!("no bug of such a drive can be injected"),
            Fault::Power => {
                self.lose_power(flash);
            }
            Fault::Miscorrected(_) | Fault::Misdirected(_) => self.corrupt(fault),
            _ => {
                let erased = self.fail_dies(flash, fault, &geometry);
                let units = self.struck(fault, &geometry);
                self.strike(flash, units, fault.failure());
                erased.into_iter().for_each(|superblock| self.erased_one(flash, superblock));
            }
        }
    }

    fn power_off(&mut self, flash: &mut Flash, lasts: Span) {
        self.lose_power_for(flash, lasts);
    }

    fn power_offs(&self) -> &PowerOffs {
        &self.power_offs
    }
}
