//! The data in the units of the flash, on a drive that notices losses
//! (`policy.redundancy.integrity`): the version of each, and those that cannot be read.
//!
//! The version of parity is the exclusive-or of those of the other units of its line
//! ([`super::shape::Line`]). While a stripe is being filled, this *running parity* is in the
//! controller.
//!
//! Invariants: the versions of a line whose parity is in the flash add up to zero. A valid unit
//! that cannot be read is the only such unit of its line, or its data is in the controller: all
//! others were given up when they failed.

use super::commands::Stream;
use super::map::Map;
use super::recoveries::Recoveries;
use super::shape::{Line, Shape};
use crate::config::Config;
use crate::config::layout::Layout;
use crate::mapping::page_map::Location;
use crate::raid::integrity::Integrity;
use crate::raid::losses::Failure;
use crate::raid::tag::Tag;
use fowler_units::{Bytes, FrameId, Geometry, IdVec, Lpn, Nanos, RuId, UnitId};
use std::collections::BTreeSet;

/// Record of data versions, failures and losses for every unit of the flash, and of the unreadable
/// units being recovered from parity.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    /// Data versions, failed units and lost units. This structure is shared with drives without
    /// superblocks: its logical pages are units of the host here, and its physical pages units of
    /// the flash.
    pub integrity: Integrity,
    /// True for each superblock in which any mapping unit (of host data or parity, valid or not)
    /// has failed since its last erase.
    spoilt: IdVec<RuId, bool>,
    /// Number of valid but unreadable units in each superblock; and their total over all
    /// superblocks.
    unreadable: IdVec<RuId, u32>,
    unreadable_in_all: u32,
    /// Parity in the controller, of the stripe that each stream is filling
    /// ([`super::commands::Stream::index`]): for each unit of a command, the tag (version and
    /// error) of the parity of the units at that place so far.
    running: Vec<Vec<Tag>>,
    /// Frames that hold wrong data, which nobody has noticed; and frames that the host has written
    /// whole while their rest was being read.
    wrong: BTreeSet<FrameId>,
    whole: BTreeSet<FrameId>,
    pub recoveries: Recoveries,
    /// Geometry of the flash array as configured: a die has all its planes, even if independent
    /// planes are simulated as dies of their own.
    pub geometry: Geometry,
}

/// Location of the parity of a line; a line is the units at one place in all commands of a stripe.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parity {
    /// Running parity in the controller of the stripe that a stream is filling; identified by the
    /// stream and the position of the unit within a command, from 0.
    Running(Stream, u32),
    /// Parity unit of the flash whose program has been sent to a die.
    Programmed(UnitId),
}

impl Config {
    /// Returns true if a drive with superblocks tracks what its units hold: if asked to, or if
    /// random errors strike units, which are unreadable from then on.
    pub(super) fn keeps_contents(&self) -> bool {
        self.redundancy.integrity || self.reliability.uber > 0.0
    }
}

impl Contents {
    /// Creates the record of data versions, failures and losses of a drive that holds nothing;
    /// `None` unless the drive is configured to track data versions.
    pub fn new(config: &Config, shape: &Shape) -> Option<Contents> {
        config.keeps_contents().then(|| Contents {
            integrity: Integrity::of(config, Contents::sizes(config, shape), 0),
            spoilt: IdVec::filled(false, shape.superblocks as usize),
            unreadable: IdVec::filled(0, shape.superblocks as usize),
            unreadable_in_all: 0,
            running: vec![vec![Tag::ZERO; shape.numbers_per_command() as usize]; Stream::COUNT],
            wrong: BTreeSet::new(),
            whole: BTreeSet::new(),
            recoveries: Recoveries::new(config),
            geometry: config.geometry,
        })
    }

    fn sizes(config: &Config, shape: &Shape) -> (u64, u64) {
        (config.superblock_sizes().logical_pages.into(), shape.all_numbers())
    }

    /// Returns the memory of the simulating machine that the data versions of all units take; zero
    /// if versions are not tracked.
    pub fn bytes(config: &Config, shape: &Shape, layout: &Layout) -> Bytes {
        match config.keeps_contents() {
            true => Integrity::bytes((layout.logical_pages.into(), shape.all_numbers()), 0),
            false => Bytes(0),
        }
    }

    /// Assigns versions to the data of a drive before its first request. `parities` are the lines
    /// (units at the same place in all commands of a stripe) with parity in the flash; `open` are
    /// the units that the running parity of each stream covers.
    pub fn begin(
        &mut self,
        map: &Map,
        parities: impl Iterator<Item = Line>,
        open: impl Iterator<Item = (Stream, u32, UnitId)>,
    ) {
        for page in map.pages() {
            if let Location::Flash(unit) = map.place(page) {
                self.integrity.renew(page, true);
                let version = self.integrity.version(page);
                self.integrity.set(unit, Tag::right(version));
            }
        }
        for line in parities {
            let tag = self.sum(line.iter().take(line.units as usize - 1));
            self.integrity.set(line.parity(), tag);
        }
        for (stream, slot, unit) in open {
            self.running[stream.index()][slot as usize] ^= self.integrity.tag_at(unit);
        }
    }

    /// Returns the exclusive-or of the tags of these units. A tag is the version of the data in a
    /// unit combined with any error in it; the exclusive-or stands for the parity of the units.
    pub fn sum(&self, units: impl Iterator<Item = UnitId>) -> Tag {
        units.fold(Tag::ZERO, |sum, unit| sum ^ self.integrity.tag_at(unit))
    }

    /// Returns true if a unit of the flash can be read.
    #[inline]
    pub fn reads(&self, unit: UnitId) -> bool {
        self.integrity.reads(unit)
    }

    /// Returns the number of valid units of a superblock that cannot be read.
    pub fn unreadable_in(&self, superblock: RuId) -> u32 {
        self.unreadable[superblock]
    }

    /// Returns the number of valid units of the drive that cannot be read.
    pub fn unreadable(&self) -> u32 {
        self.unreadable_in_all
    }

    /// Returns true if any mapping unit of a superblock (of host data or parity, valid or not) has
    /// failed since the superblock's last erase.
    pub fn is_spoilt(&self, superblock: RuId) -> bool {
        self.spoilt[superblock]
    }

    /// Returns the number of superblocks of which a unit has failed since their erase.
    pub fn spoilt(&self) -> u32 {
        self.spoilt.as_slice().iter().filter(|&&spoilt| spoilt).count() as u32
    }

    /// Marks a unit of a superblock as failed.
    pub fn spoil(&mut self, superblock: RuId, unit: UnitId, failure: Failure) {
        self.integrity.spoil(unit, failure);
        self.spoilt[superblock] = true;
    }

    /// Records that a valid unit of a superblock has become unreadable.
    pub fn note_failed(&mut self, superblock: RuId, now: Nanos) {
        self.unreadable[superblock] += 1;
        self.unreadable_in_all += 1;
        self.integrity.ledger.since.get_or_insert(now);
    }

    /// A unit of a superblock that has failed is no longer valid.
    pub fn note_settled(&mut self, superblock: RuId, now: Nanos) {
        self.unreadable[superblock] -= 1;
        self.unreadable_in_all -= 1;
        let ledger = &mut self.integrity.ledger;
        if self.unreadable_in_all == 0
            && let Some(since) = ledger.since.take()
        {
            ledger.at_risk += now - since;
        }
    }

    /// The valid copy of a unit of the host in the flash becomes invalid, because the host has
    /// rewritten or trimmed the unit.
    pub fn rewritten(&mut self, superblock: RuId, unit: UnitId, now: Nanos) {
        if !self.reads(unit) {
            self.integrity.ledger.rewritten += 1;
            self.note_settled(superblock, now);
        }
    }

    /// Records that the valid copy of a host unit has been stored elsewhere.
    pub fn moved(&mut self, superblock: RuId, unit: UnitId, now: Nanos) {
        if let Some(failure) = self.integrity.failure(unit) {
            self.integrity.ledger.rebuilt += 1;
            self.integrity.silent.ledger.corrected += u64::from(failure == Failure::Wrong);
            self.note_settled(superblock, now);
        }
    }

    /// The host writes a unit into a frame that holds it already; `whole` is true if it writes all
    /// of the unit.
    pub fn overwritten(&mut self, page: Lpn, frame: FrameId, whole: bool) {
        self.integrity.renew(page, true);
        if whole {
            self.wrong.remove(&frame);
            self.whole.insert(frame);
        }
    }

    /// The host writes a unit into a frame that was free; `wrong` is true if the part that it does
    /// not write is wrong.
    pub fn written(&mut self, page: Lpn, frame: FrameId, wrong: bool) {
        self.integrity.renew(page, true);
        self.take(frame, wrong);
    }

    /// Records that a free frame of the write buffer takes a unit; `wrong` is true if its data is
    /// silently wrong: it differs from the data written, and nobody has noticed.
    pub fn take(&mut self, frame: FrameId, wrong: bool) {
        self.whole.remove(&frame);
        if wrong {
            self.wrong.insert(frame);
        } else {
            self.wrong.remove(&frame);
        }
    }

    /// Returns true if a frame of the write buffer holds wrong data that nobody has noticed.
    pub fn holds_wrong(&self, frame: FrameId) -> bool {
        self.wrong.contains(&frame)
    }

    /// Returns true if a unit of the flash reads well but is wrong.
    pub fn reads_wrong(&self, unit: UnitId) -> bool {
        self.integrity.silent.reads_wrong(unit)
    }

    /// Records that the host trims a unit.
    pub fn trimmed(&mut self, page: Lpn) {
        self.integrity.renew(page, false);
    }

    /// Records that the part of a unit which the host did not write has been read from the unit
    /// `unit` of the flash into a frame of the write buffer. Silently wrong data of that unit makes
    /// the frame wrong.
    pub fn merged(&mut self, frame: FrameId, unit: UnitId) {
        if self.reads_wrong(unit) && !self.whole.contains(&frame) {
            self.wrong.insert(frame);
        }
    }

    /// Counts a host read of a unit from a frame of the write buffer, if its data is silently
    /// wrong.
    pub fn frame_read(&mut self, frame: FrameId) {
        self.integrity.silent.ledger.returned += u64::from(self.wrong.contains(&frame));
    }

    /// Returns true if a host unit does not hold the data written to it: in its frame of the write
    /// buffer, or in its flash copy `unit` (`UnitId::NONE` without one). The flag with the frame is
    /// true if the frame holds the whole unit, so that the flash copy does not count.
    pub fn is_wrong(&self, unit: UnitId, frame: Option<(FrameId, bool)>) -> bool {
        let in_frame = frame.is_some_and(|(frame, _)| self.wrong.contains(&frame));
        let whole = frame.is_some_and(|(_, whole)| whole);
        in_frame || !whole && self.integrity.silent.error(unit) != 0
    }

    /// Removes an unreadable unit without valid data from the parity of its line (the units at the
    /// same place in all commands of a stripe): from the running parity of a stream, or from the
    /// parity unit being programmed. The unit then counts as empty and readable.
    pub fn leave_parity(&mut self, unit: UnitId, from: Parity) {
        let tag = self.integrity.tag_at(unit);
        match from {
            Parity::Running(stream, slot) => self.running[stream.index()][slot as usize] ^= tag,
            Parity::Programmed(parity) => {
                let left = self.integrity.tag_at(parity) ^ tag;
                self.integrity.set(parity, left);
            }
        }
        self.integrity.set(unit, Tag::ZERO);
    }

    /// The host reads a unit from the controller, while its word line is between two passes.
    pub fn read_between_passes(&mut self, unit: UnitId) {
        let wrong = self.reads_wrong(unit);
        self.integrity.silent.ledger.returned += u64::from(wrong);
    }

    /// The host reads a unit that is nowhere: it may be lost.
    pub fn unit_read(&mut self, page: Lpn) {
        let lost = self.integrity.lost(page).is_some();
        self.integrity.ledger.failed_reads += u64::from(lost);
    }

    /// Returns the version of the data that a frame holds of a unit of the host, and an error if
    /// that data is wrong.
    pub fn tag_of_frame(&mut self, page: Lpn, frame: FrameId) -> Tag {
        let error = if self.wrong.contains(&frame) { self.integrity.silent.fresh() } else { 0 };
        Tag { version: self.integrity.version(page), error }
    }

    /// Resets the running parity in the controller at the start of each new stripe that a stream
    /// fills.
    pub fn begin_stripe(&mut self, stream: Stream) {
        self.running[stream.index()].fill(Tag::ZERO);
    }

    /// Adds a unit's data to the running parity of a stream and records that the unit is
    /// programmed; `slot` is the position of the unit within its program command, from 0.
    pub fn program(&mut self, stream: Stream, slot: u32, (unit, tag): (UnitId, Tag)) {
        self.running[stream.index()][slot as usize] ^= tag;
        self.integrity.set(unit, tag);
    }

    /// Returns the running parity of the stripe that a stream is filling, for the units at position
    /// `slot` of each program command.
    pub fn running(&self, stream: Stream, slot: u32) -> Tag {
        self.running[stream.index()][slot as usize]
    }

    /// Records that a superblock with the unit numbers `units` has been erased: its units hold no
    /// version and no failure.
    pub fn erased(&mut self, superblock: RuId, units: std::ops::Range<u32>) {
        debug_assert_eq!(self.unreadable[superblock], 0, "valid units were erased");
        self.integrity.erase(units);
        self.spoilt[superblock] = false;
    }
}
