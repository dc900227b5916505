//! Versions: the data of units follows them wherever they are programmed, moved and dropped.
//!
//! 1. The host gives a unit a version when it enters the buffer ([`super::contents::Contents`]).
//! 2. A command that is sent to its die takes its data with it: the version of each frame, those of
//!    the units that it moves, or the running parity of its stripe
//!    ([`Superblocks::note_program`]).
//! 3. When it has ended, the old copies become invalid. Those that could not be read have been
//!    rebuilt, or rewritten by the host ([`Superblocks::note_settled`]).

use super::Superblocks;
use super::commands::{Open, Stored, Stream};
use super::contents::Contents;
use crate::blocks::block_table::BlockState;
use crate::config::PartialWrites;
use crate::mapping::page_map::Location;
use fowler_units::{FrameId, Id, Lpn, Nanos, ReqId, RuId, UnitId};

impl Superblocks {
    /// Assigns versions to the data of the drive before its first request, if it notices losses.
    pub(super) fn begin_contents(&mut self) {
        let Some(mut contents) = self.contents.take() else { return };
        let shape = &self.shape;
        let parity = |&(superblock, command): &(RuId, u32)| self.is_parity(superblock, command);
        let all = self
            .map
            .superblocks()
            .flat_map(|number| (0..self.commands_taken(number)).map(move |it| (number, it)));
        let lines = all.filter(parity).flat_map(|(superblock, command)| {
            shape.units_of_command(superblock, command, false).map(|unit| shape.line_of(unit))
        });
        let open =
            Stream::all().filter_map(|stream| Some((stream, self.commands.open_of(stream)?)));
        let covered = open.filter(|(_, open)| self.has_stripes(open.superblock));
        let units = covered.flat_map(|(stream, open)| {
            let commands = shape.stripe_of(open.command).start..open.command;
            commands.flat_map(move |command| {
                let units = shape.units_of_command(open.superblock, command, false);
                units.map(move |unit| (stream, shape.slot_of(unit), unit))
            })
        });
        contents.begin(&self.map, lines, units);
        self.contents = Some(contents);
    }

    /// Returns true if a superblock, which is open or full, has parity.
    pub(super) fn has_stripes(&self, superblock: RuId) -> bool {
        self.shape.stripes() > 0 && !self.is_bare(superblock)
    }

    /// Returns the number of commands of a superblock that have been sent or skipped since its
    /// erase.
    pub(super) fn commands_taken(&self, superblock: RuId) -> u32 {
        match self.map.state(superblock) {
            BlockState::Free => 0,
            _ => self.map.taken(superblock) / self.shape.numbers_per_command(),
        }
    }

    /// Records the data versions that a program command will store in its units, when it is sent to
    /// its die.
    #[inline]
    pub(super) fn note_program(&mut self, stream: Stream, open: Open, number: u32) {
        if self.contents.is_some() {
            self.program_contents(stream, open, number);
        }
    }

    #[cold]
    fn program_contents(&mut self, stream: Stream, open: Open, number: u32) {
        let parity = self.is_parity(open.superblock, open.command);
        let begins = self.shape.stripes() > 0 && !self.has_begun_stripe(open);
        if let Some(contents) = &mut self.contents {
            if begins {
                contents.begin_stripe(stream);
            }
            let record = self.commands.records[number as usize];
            let first = number as usize * self.commands.units_per_command;
            let stored = &self.commands.stored[first..first + record.stores as usize];
            let slot = self.shape.slot_of(record.first_unit);
            if parity {
                let slots = self.shape.slots(stream == Stream::Slc).len() as u32;
                for at in 0..slots {
                    let tag = contents.running(stream, slot + at);
                    contents.integrity.set(record.first_unit.plus(at), tag);
                }
                return;
            }
            for (at, stored) in (0..).zip(stored) {
                let tag = match *stored {
                    Stored::Frame(frame) => contents.tag_of_frame(self.buffer.page(frame), frame),
                    Stored::Moved { from, .. } => contents.integrity.tag_at(from),
                };
                contents.program(stream, slot + at, (record.first_unit.plus(at), tag));
            }
        }
    }

    /// Updates data versions just before the units that a program command has stored replace their
    /// old copies.
    #[inline]
    pub(super) fn note_settled(&mut self, number: u32, now: Nanos) {
        if self.contents.is_some() {
            self.settle_contents(number, now);
        }
    }

    #[cold]
    fn settle_contents(&mut self, number: u32, now: Nanos) {
        let Some(contents) = &mut self.contents else { return };
        let stores = self.commands.records[number as usize].stores as usize;
        let first = number as usize * self.commands.units_per_command;
        for stored in &self.commands.stored[first..first + stores] {
            match *stored {
                Stored::Frame(frame) => {
                    let (page, old) = (self.buffer.page(frame), self.buffer.unit(frame));
                    if self.map.is_in(page, frame) && old.is_some() {
                        contents.rewritten(self.shape.superblock_of(old), old, now);
                    }
                }
                Stored::Moved { from, .. } => {
                    if self.map.valid_owner(from).is_some() {
                        contents.moved(self.shape.superblock_of(from), from, now);
                    }
                }
            }
        }
    }

    /// Updates data versions after a request has written a unit into the frame that held it.
    #[inline]
    pub(super) fn note_overwrite(&mut self, id: ReqId, page: Lpn, frame: FrameId) {
        if self.contents.is_some() {
            let whole = self.writes_whole(id, page);
            if let Some(contents) = &mut self.contents {
                contents.overwritten(page, frame, whole);
            }
        }
    }

    /// A request has written a unit, or all of it, into a frame that was free. The unit was at
    /// `place` before.
    #[inline]
    pub(super) fn note_write(
        &mut self,
        page: Lpn,
        frame: FrameId,
        (place, whole): (Location, bool),
    ) {
        if self.contents.is_some() {
            self.note_new_frame(page, frame, place, whole);
        }
    }

    #[cold]
    fn note_new_frame(&mut self, page: Lpn, frame: FrameId, place: Location, whole: bool) {
        let merges = self.rules.partial == PartialWrites::ReadModifyWrite;
        let Some(contents) = &self.contents else { return };
        let wrong = !whole
            && merges
            && match place {
                Location::Buffer(old) => contents.holds_wrong(old),
                // The rest comes from the controller, or will be read.
                Location::Flash(unit) => self.is_between_passes(unit) && contents.reads_wrong(unit),
                Location::Nowhere => false,
            };
        if let Some(contents) = &mut self.contents {
            contents.written(page, frame, wrong);
        }
    }

    /// The host trims a unit, whose copy in the flash is none or valid.
    #[inline]
    pub(super) fn note_trim(&mut self, page: Lpn, copy: UnitId, now: Nanos) {
        if let Some(contents) = &mut self.contents {
            contents.trimmed(page);
            if copy.is_some() {
                contents.rewritten(self.shape.superblock_of(copy), copy, now);
            }
        }
    }

    /// Checks the versions and the failures of all units, if the drive notices losses.
    pub(super) fn check_contents(&self) -> Result<(), String> {
        match &self.contents {
            Some(contents) => self.check_versions(contents),
            None => Ok(()),
        }
    }

    /// Checks that the newest copy of each host unit has the newest version, that the versions of
    /// each line (the units at the same place in all commands of a stripe) with programmed parity
    /// add up to zero, and that unreadable valid units are recoverable and agree with the counts of
    /// losses.
    fn check_versions(&self, contents: &Contents) -> Result<(), String> {
        let integrity = &contents.integrity;
        for page in self.map.pages() {
            if let Location::Flash(unit) = self.map.place(page) {
                let (here, newest) = (integrity.version_at(unit), integrity.version(page));
                if here != newest {
                    return Err(format!("page {page} has version {here:x} and not {newest:x}"));
                }
            }
        }
        let at_hand = self.at_hand();
        let mut unreadable = 0;
        for superblock in self.map.superblocks() {
            let (mut here, slc) = (0, self.is_in_slc_mode(superblock));
            for command in 0..self.commands_taken(superblock) {
                let parity = self.is_parity(superblock, command);
                for unit in self.shape.units_of_command(superblock, command, slc) {
                    let fails = !contents.reads(unit) && self.map.valid_owner(unit).is_some();
                    here += u32::from(fails);
                    if fails && at_hand.binary_search(&unit).is_err() {
                        let failed = self.failed_of_line(contents, unit);
                        if failed != 1 || !self.has_stripes(superblock) {
                            return Err(format!("unit {unit} cannot be read or recovered"));
                        }
                    }
                    if parity && contents.sum(self.shape.line_of(unit).iter()).version != 0 {
                        return Err(format!(
                            "parity unit {unit} is not the exclusive-or of the units that it \
                             covers, at the same place in the other commands of its stripe"
                        ));
                    }
                }
            }
            let counted = contents.unreadable_in(superblock);
            if here != counted {
                return Err(format!("{here} unreadable in {}, {counted} counted", superblock.0));
            }
            unreadable += here;
        }
        let ledger = &integrity.ledger;
        let lost = ledger.lost_in_all() - ledger.lost_writes;
        let ended = ledger.rebuilt + ledger.rewritten + lost + u64::from(unreadable);
        if ledger.unreadable != ended || ledger.wrong > 0 {
            return Err(format!("{ledger:?}, of which {unreadable} wait"));
        }
        Ok(())
    }
}
