//! The number of units, pages and commands of a superblock, and the place of each.
//!
//! A *command* programs one word line of one die over all its planes (of one plane, if planes work
//! independently), or one page of a word line where the program unit is a page. The commands of a
//! superblock go round the dies, word line by word line, or page by page. Units are numbered in the
//! order in which they are programmed: superblock by superblock, command by command, and within a
//! command page by page, so that neighbors share a page.
//!
//! On a drive with an SLC cache, a word line has one page more: the one that it holds in SLC mode,
//! whose type is the last. Of the units of a command, those of that page come last. A superblock
//! uses either these or the others, so a unit says by its number in which mode it was programmed.
//!
//! Invariants, which the tests below check for every unit of some drives: each unit has a place of
//! its own, in a page of its superblock; the pages of a command are one word line of every plane of
//! one die; the stripes of a superblock follow each other without a gap, and each ends with its
//! parity.

use crate::config::{Config, PlaneMode};
use fowler_units::{BlockId, DieId, Geometry, Ppn, RuId, UnitId};
use std::ops::Range;

/// Sizes of the superblocks of a drive and of their program commands and stripes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    geometry: Geometry,
    /// Number of dies as simulated: on a drive with independent planes, each plane counts as a die.
    pub dies: u32,
    /// Number of superblocks of the drive.
    pub superblocks: u32,
    /// Number of units in a flash page.
    pub units_per_page: u32,
    /// Number of pages that a program command takes on each plane: its pages in normal mode and, on
    /// a drive with an SLC cache, one more for SLC mode.
    rows: u32,
    /// Numbers of pages and of units that a program command stores in normal mode, not in SLC mode.
    pub pages_per_command: u32,
    pub units_per_command: u32,
    /// Pages and units of a command in SLC mode; zero on a drive without an SLC cache.
    pub slc_pages: u32,
    pub slc_units: u32,
    /// Number of units of the smallest program command that host data fills: a command in SLC mode
    /// on a drive with an SLC cache, else a normal one.
    pub least_units: u32,
    /// Number of unit numbers that a program command takes. On a drive with an SLC cache, each
    /// command has numbers for its units in normal mode, and then others for its units in SLC mode.
    numbers: u32,
    /// Number of commands of a superblock; and number of its unit numbers. A superblock uses either
    /// those of SLC mode or the others.
    pub commands: u32,
    pub units: u32,
    /// Commands of a stripe, parity included; 0 on a drive without parity. The last stripe of a
    /// superblock has fewer, or one more.
    parity: u32,
}

/// The units of one slot of all commands of a stripe, of which the last is the parity of the
/// others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line {
    /// Number of the first unit of the line (the units at the same place in all commands of a
    /// stripe): that in the first command of the stripe.
    pub first: UnitId,
    /// Number of units of the line, parity included: one in each command of the stripe.
    pub units: u32,
    /// Difference between the numbers of successive units of the line, which are the units at the
    /// same place in successive commands of a stripe.
    step: u32,
}

impl Line {
    /// Returns the number of the last unit of the line (the units at the same place in all commands
    /// of a stripe): the parity of the others.
    pub fn parity(self) -> UnitId {
        self.first.plus((self.units - 1) * self.step)
    }

    /// Returns the numbers of the units of the line (the units at the same place in all commands of
    /// a stripe), in the order of the commands.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = UnitId> {
        (0..self.units).map(move |at| self.first.plus(at * self.step))
    }
}

/// Returns the number by which a flash transaction identifies a flash page: transactions count in
/// pages, not in mapping units.
#[inline]
pub(super) fn in_txn(page: Ppn) -> UnitId {
    UnitId(page.0)
}

/// Returns the flash page of a transaction.
#[inline]
pub(super) fn page_of(txn_unit: UnitId) -> Ppn {
    Ppn(txn_unit.0)
}

impl Shape {
    /// Returns the flash array of `config` as simulated: independent planes are dies of one plane,
    /// and a word line has a page for SLC mode if the drive has an SLC cache.
    pub fn geometry_of(config: &Config) -> Geometry {
        let mut geometry = config.geometry;
        if config.plane_mode == PlaneMode::Independent {
            geometry.dies_per_chip *= geometry.planes_per_die;
            geometry.planes_per_die = 1;
        }
        if config.slc.is_on() {
            geometry.pages_per_block += geometry.pages_per_block / config.flash.word_line;
        }
        geometry
    }

    pub fn new(config: &Config) -> Shape {
        let geometry = Shape::geometry_of(config);
        let each = config.pages_of_program();
        let units_per_page = (geometry.page_size.0 / config.unit().0) as u32;
        let pages_per_command = geometry.planes_per_die * each;
        let commands = config.geometry.pages_per_block / each * geometry.dies();
        let units_per_command = pages_per_command * units_per_page;
        let slc_pages = if config.slc.is_on() { geometry.planes_per_die } else { 0 };
        let slc_units = slc_pages * units_per_page;
        let numbers = units_per_command + slc_units;
        Shape {
            geometry,
            dies: geometry.dies(),
            superblocks: geometry.blocks_per_plane,
            units_per_page,
            rows: each + u32::from(config.slc.is_on()),
            pages_per_command,
            units_per_command,
            slc_pages,
            slc_units,
            least_units: if slc_units > 0 { slc_units } else { units_per_command },
            numbers,
            commands,
            units: commands * numbers,
            parity: config.stripe_commands(),
        }
    }

    /// Returns the units of a superblock with parity that hold data.
    pub fn data_units(&self) -> u32 {
        self.data_units_from(0, false)
    }

    /// Returns the number of units of a superblock that hold data; `bare` is true if it has no
    /// parity.
    pub fn data_units_of(&self, bare: bool) -> u32 {
        self.data_units_from(0, bare)
    }

    /// Returns the units that hold data in a command of a superblock and in the commands after it.
    pub fn data_units_from(&self, command: u32, bare: bool) -> u32 {
        let parities = if bare { self.parities_from(command) } else { 0 };
        (self.data_commands_from(command) + parities) * self.units_per_command
    }

    /// Returns the units of a superblock that hold data in SLC mode.
    pub fn slc_data_units(&self) -> u32 {
        self.data_commands_from(0) * self.slc_units
    }

    fn data_commands_from(&self, command: u32) -> u32 {
        self.commands - command - self.parities_from(command)
    }

    /// Returns the number of parity commands of a superblock, from the given command to the last.
    fn parities_from(&self, command: u32) -> u32 {
        self.parities_before(self.commands) - self.parities_before(command)
    }

    /// Returns the number of parity commands of a superblock before the given command.
    fn parities_before(&self, command: u32) -> u32 {
        let Some(whole) = command.checked_div(self.parity) else { return 0 };
        match self.commands % self.parity {
            0 => whole,
            1 => whole - u32::from(command + 1 == self.commands),
            _ => whole + u32::from(command == self.commands),
        }
    }

    /// Returns the number of units of the drive, if no superblock is in SLC mode.
    pub fn all_units(&self) -> u64 {
        u64::from(self.superblocks) * u64::from(self.commands) * u64::from(self.units_per_command)
    }

    /// Returns the number of unit numbers of the drive; units of SLC mode have numbers of their
    /// own.
    pub fn all_numbers(&self) -> u64 {
        u64::from(self.superblocks) * u64::from(self.units)
    }

    /// Returns the number of the unit at `place`, from 0, in the sequence of all units in normal
    /// mode, which leaves out the numbers of units in SLC mode.
    pub fn nth(&self, place: u32) -> UnitId {
        UnitId(match self.slc_units {
            0 => place,
            others => place + place / self.units_per_command * others,
        })
    }

    /// Returns true if a command of a superblock programs parity: the last of each stripe.
    #[inline]
    pub fn is_parity(&self, command: u32) -> bool {
        self.parity > 0 && command + 1 == self.stripe_of(command).end
    }

    /// Returns the commands of the stripe of a command. Stripes end with their superblock: the last
    /// one is shorter than the others or, where one command would be left, longer.
    #[inline]
    pub fn stripe_of(&self, command: u32) -> Range<u32> {
        debug_assert!(self.parity > 0, "a drive without stripes");
        let mut first = command - command % self.parity;
        if first > 0 && first + 1 == self.commands {
            first -= self.parity;
        }
        let end = first + self.parity;
        if end + 1 >= self.commands { first..self.commands } else { first..end }
    }

    /// Returns the number of the stripe of a command within its superblock.
    pub fn stripe_before(&self, command: u32) -> u32 {
        self.parities_before(command)
    }

    /// Returns the number of stripes of a superblock; 0 on a drive without parity.
    pub fn stripes(&self) -> u32 {
        self.parities_before(self.commands)
    }

    /// Returns the superblock of a unit.
    #[inline]
    pub fn superblock_of(&self, unit: UnitId) -> RuId {
        RuId(unit.0 / self.units)
    }

    /// Returns the first unit of a superblock.
    #[inline]
    pub fn first_unit(&self, superblock: RuId) -> UnitId {
        UnitId(superblock.0 * self.units)
    }

    /// Returns the first unit of a command of a superblock.
    #[inline]
    pub fn unit_of_command(&self, superblock: RuId, command: u32) -> UnitId {
        UnitId(superblock.0 * self.units + command * self.numbers)
    }

    /// Returns the first unit of a command of a superblock in SLC mode.
    pub fn slc_unit_of_command(&self, superblock: RuId, command: u32) -> UnitId {
        self.unit_of_command(superblock, command).plus(self.units_per_command)
    }

    /// Returns the units that a command of a superblock programs, in SLC mode or not, in order.
    #[inline]
    pub fn units_of_command(
        &self,
        superblock: RuId,
        command: u32,
        slc: bool,
    ) -> impl Iterator<Item = UnitId> + use<> {
        let slots = self.slots(slc);
        self.unit_of_command(superblock, command).plus(slots.start).run(slots.len() as u32)
    }

    /// Returns the command of a unit within its superblock.
    pub fn command_of(&self, unit: UnitId) -> u32 {
        unit.0 % self.units / self.numbers
    }

    /// Returns the place of a unit within its command, counted from 0; units of SLC mode come last.
    pub fn slot_of(&self, unit: UnitId) -> u32 {
        unit.0 % self.units % self.numbers
    }

    /// Returns the positions of units within a program command: those in SLC mode if `slc`, else
    /// those in normal mode.
    pub fn slots(&self, slc: bool) -> Range<u32> {
        if slc { self.units_per_command..self.numbers } else { 0..self.units_per_command }
    }

    /// Returns the number of unit numbers of a command; units of SLC mode have numbers of their
    /// own.
    pub fn numbers_per_command(&self) -> u32 {
        self.numbers
    }

    /// Returns the units that share one parity in a superblock with parity: a given unit, and those
    /// at its place in the other commands of the stripe.
    pub fn line_of(&self, unit: UnitId) -> Line {
        let stripe = self.stripe_of(self.command_of(unit));
        let first = self.unit_of_command(self.superblock_of(unit), stripe.start);
        Line {
            first: first.plus(self.slot_of(unit)),
            units: stripe.len() as u32,
            step: self.numbers,
        }
    }

    /// Returns the superblock and the command of a parity page, and its first slot, by the number
    /// of its stripe. A stripe has a page of each of its commands.
    pub fn parity_page(&self, stripe: u32) -> (RuId, u32, u32) {
        let (stripe, page) = (stripe / self.pages_per_command, stripe % self.pages_per_command);
        let (superblock, number) = (stripe / self.stripes(), stripe % self.stripes());
        let command = if number + 1 == self.stripes() {
            self.commands - 1
        } else {
            (number + 1) * self.parity - 1
        };
        (RuId(superblock), command, page * self.units_per_page)
    }

    /// Returns true if a unit is programmed in SLC mode.
    pub fn is_slc(&self, unit: UnitId) -> bool {
        unit.0 % self.numbers >= self.units_per_command
    }

    /// Returns true if two units share a flash page.
    #[inline]
    pub fn same_page(&self, one: UnitId, other: UnitId) -> bool {
        one.0 / self.units_per_page == other.0 / self.units_per_page
    }

    /// Returns the die of a unit, and the flash page that holds it.
    #[inline]
    pub fn place(&self, unit: UnitId) -> (DieId, Ppn) {
        let (superblock, within) = (unit.0 / self.units, unit.0 % self.units);
        let (command, slot) = (within / self.numbers, within % self.numbers);
        let die = self.geometry.die_at_stripe(command % self.dies);
        let first_row = command / self.dies * self.rows;
        // Neighboring pages lie on different planes, so that a run of pages uses all of them.
        let page = slot / self.units_per_page;
        let planes = self.geometry.planes_per_die;
        let (plane, row) = (page % planes, page / planes);
        let block = (die.0 * planes + plane) * self.geometry.blocks_per_plane + superblock;
        (die, Ppn(block * self.geometry.pages_per_block + first_row + row))
    }

    /// Returns the blocks that a superblock has on a die: one of each plane.
    pub fn blocks_on(&self, superblock: RuId, die: DieId) -> impl Iterator<Item = BlockId> + use<> {
        let Geometry { planes_per_die, blocks_per_plane, .. } = self.geometry;
        let first = die.0 * planes_per_die;
        (first..first + planes_per_die)
            .map(move |plane| BlockId(plane * blocks_per_plane + superblock.0))
    }

    /// Returns the first flash page of a superblock on a die.
    pub fn first_page_on(&self, superblock: RuId, die: DieId) -> Ppn {
        let block =
            die.0 * self.geometry.planes_per_die * self.geometry.blocks_per_plane + superblock.0;
        Ppn(block * self.geometry.pages_per_block)
    }

    /// Returns the die at a position in the striping order, in which successive commands of a
    /// superblock go to the dies.
    pub fn die_at(&self, position: u32) -> DieId {
        self.geometry.die_at_stripe(position)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::tiny;
    use super::*;
    use crate::policy::redundancy::RedundancyKind;
    use fowler_units::Locator;
    use std::collections::BTreeMap;

    /// Every unit has a place of its own, in a page of its superblock; a page has all its units,
    /// and the pages of a command are one word line of every plane of one die.
    #[test]
    fn units_fill_the_flash() {
        use PlaneMode::{Independent, Lockstep};
        for (plane_mode, fixed) in
            [(Lockstep, 0), (Independent, 0), (Lockstep, 2), (Independent, 2)]
        {
            let mut config = tiny();
            config.plane_mode = plane_mode;
            config.slc.fixed = fixed;
            let shape = Shape::new(&config);
            let locator = Locator::new(&shape.geometry);
            let mut pages: BTreeMap<u32, Vec<UnitId>> = BTreeMap::new();
            for unit in UnitId(0).run(shape.all_numbers() as u32) {
                let (die, page) = shape.place(unit);
                assert_eq!(locator.die_of(page), die);
                let block = locator.block_of(page);
                assert_eq!(block.0 % config.geometry.blocks_per_plane, shape.superblock_of(unit).0);
                pages.entry(page.0).or_default().push(unit);
            }
            assert_eq!(pages.len() as u32, shape.geometry.pages());
            for units in pages.values() {
                assert_eq!(units.len() as u32, shape.units_per_page);
                assert!(units.iter().all(|&unit| shape.same_page(unit, units[0])));
            }
            let of_command = shape.unit_of_command(RuId(1), 5).run(shape.numbers);
            let places: Vec<_> = of_command.map(|unit| shape.place(unit)).collect();
            assert!(places.iter().all(|(die, _)| *die == places[0].0));
            let line = |page: Ppn| locator.offset_in_block(page) / shape.rows;
            assert!(places.iter().all(|&(_, page)| line(page) == line(places[0].1)));
        }
    }

    /// The stripes of a superblock follow each other without a gap, each ends with its parity, and
    /// all have as many commands as `superblocks.parity` says, except the last, which has at least
    /// two.
    #[test]
    fn stripes_end_with_their_superblock() {
        let mut config = tiny();
        config.redundancy.name = RedundancyKind::Raid5;
        for parity in 2..=16 {
            config.superblocks.parity = parity;
            let shape = Shape::new(&config);
            assert_eq!(shape.commands, 16);
            let (mut next, mut stripes) = (0, 0);
            while next < shape.commands {
                let stripe = shape.stripe_of(next);
                assert_eq!(stripe.start, next, "{parity}");
                let last = stripe.end == shape.commands;
                let sound = if last { stripe.len() >= 2 } else { stripe.len() == parity as usize };
                assert!(sound, "{parity}: {stripe:?}");
                for command in stripe.clone() {
                    assert_eq!(shape.stripe_of(command), stripe);
                    assert_eq!(shape.is_parity(command), command + 1 == stripe.end);
                    let data = (command..16).filter(|&it| !shape.is_parity(it)).count() as u32;
                    let units = shape.units_per_command;
                    assert_eq!(shape.data_units_from(command, false), data * units);
                    assert_eq!(shape.data_units_from(command, true), (16 - command) * units);
                }
                (next, stripes) = (stripe.end, stripes + 1);
            }
            assert_eq!(shape.stripes(), stripes);
        }
    }

    /// Of the pages of a word line, the last is that of SLC mode, on each plane; its units are the
    /// last of their command.
    #[test]
    fn slc_mode_has_the_last_page_of_a_word_line() {
        let mut config = tiny();
        config.slc.dynamic = 1;
        let shape = Shape::new(&config);
        let locator = Locator::new(&shape.geometry);
        assert_eq!((shape.slc_units, shape.slc_data_units() * 3), (8, shape.data_units()));
        for unit in UnitId(0).run(shape.all_numbers() as u32) {
            let of_word_line = locator.offset_in_block(shape.place(unit).1) % 4;
            assert_eq!(shape.is_slc(unit), of_word_line == 3, "unit {unit}");
        }
        let (command, slc) =
            (shape.unit_of_command(RuId(3), 7), shape.slc_unit_of_command(RuId(3), 7));
        assert_eq!((shape.command_of(command), shape.command_of(slc.plus(7))), (7, 7));
        assert_eq!(shape.place(command).0, shape.place(slc).0);
        let others: Vec<UnitId> = (0..shape.all_units() as u32).map(|at| shape.nth(at)).collect();
        let all = UnitId(0).run(shape.all_numbers() as u32);
        assert_eq!(others, all.filter(|&unit| !shape.is_slc(unit)).collect::<Vec<_>>());
    }
}
