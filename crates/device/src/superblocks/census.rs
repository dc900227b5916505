//! The census of a drive with superblocks: every unit of the host is judged as
//! [`crate::raid::census`] judges pages, by the retry table or the sensing levels, and by the other
//! units of its line. It works on copies of the tables of ages and errors, and changes nothing.

use super::Superblocks;
use super::aging::Aging;
use crate::cells::unreadable_pages::Judge;
use crate::event_loop::Device;
use crate::flash::Tries;
use crate::mapping::page_map::Location;
use crate::raid::census::Census;
use crate::raid::losses::{Failure, Loss, Reason};
use fowler_units::{DieId, Id, IdVec, Lpn, RuId, UnitId};

/// A census in progress: a count of the units of a drive that cannot be read. It works on copies of
/// the tables of ages and errors, because looking a page up fills them.
struct Taking<'a> {
    device: &'a Device<Superblocks>,
    aging: Option<Box<Aging>>,
    cells: Option<Judge<'a>>,
    /// True for a superblock if every page of all its blocks can be read, as far as cells decide;
    /// `None` if that is not determined yet.
    readable: IdVec<RuId, Option<bool>>,
    at_hand: Vec<UnitId>,
}

impl Device<Superblocks> {
    /// Counts every unit of host data that could be recovered at this moment neither by read
    /// retries nor by the parity of its stripe. Nothing is read, timed or changed. Fields of
    /// [`Census`] that count pages count units here.
    ///
    /// On a drive without bit errors, aging data and recorded data versions, all units
    /// count as readable.
    pub fn census(&self) -> Census {
        let layer = &self.layer;
        let mut taking = Taking {
            device: self,
            aging: layer.aging.clone(),
            cells: self.flash.condition().map(|cells| Judge::new(cells, self.now())),
            readable: IdVec::filled(None, layer.map.count() as usize),
            at_hand: layer.at_hand(),
        };
        let mut census = Census::default();
        for page in layer.map.pages() {
            taking.look(page, &mut census);
        }
        for superblock in layer.map.superblocks() {
            for command in 0..layer.commands_taken(superblock) {
                if layer.is_parity(superblock, command) {
                    taking.look_at_parity(superblock, command, &mut census);
                }
            }
        }
        census
    }
}

impl Taking<'_> {
    /// Returns true if a unit in the flash cannot be read, at any entry of the retry table or
    /// sensing level.
    fn fails(&mut self, unit: UnitId) -> bool {
        let layer = &self.device.layer;
        if layer.contents.as_ref().is_some_and(|contents| !contents.reads(unit)) {
            return true;
        }
        if self.is_readable(layer.shape.superblock_of(unit)) {
            return false;
        }
        // Data that is being programmed or moved is in the controller, however old it is.
        if self.at_hand.binary_search(&unit).is_ok() {
            return false;
        }
        let (_, page) = layer.shape.place(unit);
        if let Some(aging) = &mut self.aging {
            let Tries { more, .. } = aging.tries(&layer.map, page, self.device.now());
            return more >= aging.entries();
        }
        let geometry = &layer.layout.geometry;
        let block = fowler_units::BlockId(page.0 / geometry.pages_per_block);
        self.cells.as_mut().is_some_and(|cells| cells.fails(page, block, None))
    }

    /// Returns true if the cells of every block of a superblock can be read, whatever the page, so
    /// that the place of a unit need not be looked up. Judges cells only, not known failures; false
    /// on a drive whose reads age by the retry table.
    fn is_readable(&mut self, superblock: RuId) -> bool {
        if let Some(known) = self.readable[superblock] {
            return known;
        }
        let shape = &self.device.layer.shape;
        let mut blocks = (0..shape.dies).flat_map(|die| shape.blocks_on(superblock, DieId(die)));
        let cells = &mut self.cells;
        let readable = self.aging.is_none()
            && cells.as_mut().is_none_or(|cells| blocks.all(|block| cells.reads_all(block)));
        self.readable[superblock] = Some(readable);
        readable
    }

    /// Returns the number of units that cannot be read among a unit and those that share one parity
    /// with it.
    fn failed_of_line(&mut self, unit: UnitId) -> u32 {
        let layer = &self.device.layer;
        let taken = layer.commands_taken(layer.shape.superblock_of(unit));
        let superblock = layer.shape.superblock_of(unit);
        let programmed = |&unit: &UnitId| {
            let command = layer.shape.command_of(unit);
            command < taken && layer.uses(superblock, command)
        };
        let units = layer.shape.line_of(unit).iter().filter(programmed);
        units.filter(|&unit| self.fails(unit)).count() as u32
    }

    /// Adds a unit of the host to the counts of the census: as readable, wrong, recoverable or
    /// lost.
    fn look(&mut self, page: Lpn, census: &mut Census) {
        let layer = &self.device.layer;
        let contents = layer.contents.as_deref();
        if let Some(loss) = contents.and_then(|contents| contents.integrity.lost(page)) {
            return census.known_lost(loss);
        }
        let (unit, newest) = match layer.map.place(page) {
            Location::Nowhere => return,
            Location::Flash(unit) => (unit, false),
            Location::Buffer(frame) => {
                (layer.buffer.unit(frame), !layer.buffer.is_incomplete(frame))
            }
        };
        census.pages += 1;
        if !unit.is_some() || !self.fails(unit) {
            let frame = match layer.map.place(page) {
                Location::Buffer(frame) => Some(frame),
                _ => None,
            };
            let wrong = contents.is_some_and(|it| it.is_wrong(unit, frame.map(|id| (id, newest))));
            census.wrong += u64::from(wrong);
            return;
        }
        census.unreadable += 1;
        if newest {
            census.buffered += 1;
            return;
        }
        let protected = layer.has_stripes(layer.shape.superblock_of(unit));
        let failed = if protected { self.failed_of_line(unit) } else { 1 };
        let known = self.at_hand.binary_search(&unit).is_ok();
        if known || protected && failed == 1 {
            census.recoverable += 1;
            return;
        }
        let failure = contents.and_then(|contents| contents.integrity.failure(unit));
        let failure = failure.unwrap_or(Failure::Cells);
        let loss = if protected {
            let failed = failed.min(u8::MAX.into()) as u8;
            Loss { reason: Reason::BeyondParity, failure, failed, given_back: 1 }
        } else {
            Loss::unprotected(failure)
        };
        census.lose(loss, false);
    }

    /// Adds the parity units in a command of a superblock to the census: all, and those that are
    /// unreadable, lost or silently wrong.
    fn look_at_parity(&mut self, superblock: RuId, command: u32, census: &mut Census) {
        let layer = &self.device.layer;
        let slc = layer.is_in_slc_mode(superblock);
        for unit in layer.shape.units_of_command(superblock, command, slc) {
            census.parity_pages += 1;
            let fails = self.fails(unit);
            census.parity_unreadable += u64::from(fails);
            census.parity_lost += u64::from(fails && self.failed_of_line(unit) > 1);
            let contents = layer.contents.as_ref();
            let error = contents.map_or(0, |it| it.integrity.silent.error(unit));
            census.parity_wrong += u64::from(!fails && error != 0);
        }
    }
}
