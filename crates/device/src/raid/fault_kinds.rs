//! The kinds of faults, and the pages that a fault of each kind strikes. A fault strikes only pages
//! that are stored: data that the controller has in hand, because it is being programmed or moved,
//! is not affected.

use super::losses::Failure;
use super::stripes::Stripes;
use crate::config::Config;
use crate::config::layout::Layout;
use crate::core::Core;
use crate::flash::Flash;
use crate::flash::txn::Owner;
use crate::observe::operation::Op;
use fowler_units::{BlockId, DieId, Geometry, Id, Lpn, PlaneId, StripeId, UnitId};
use std::ops::Range;

/// A fault: a failing unit of the flash, corrupted data, a loss of power or a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The copy in the flash of a host page becomes unreadable.
    Page(Lpn),
    /// The copy in the flash of a host page is silently corrupted: from now on the code accepts
    /// data that is not the data written.
    Miscorrected(Lpn),
    /// The write of a host page's copy in the flash was silently misdirected: the data landed on
    /// another page of the same plane, whose data it replaced, and the proper page holds nothing.
    Misdirected(Lpn),
    /// The parity page of a stripe becomes unreadable.
    Parity(StripeId),
    /// A block fails, and all its pages become unreadable.
    Block(BlockId),
    /// A plane fails, and all its blocks with it.
    Plane(PlaneId),
    /// A die fails for good; dies are numbered channel by channel and chip by chip.
    Die(DieId),
    /// A chip fails, and all its dies with it; chips are numbered channel by channel.
    Chip(u32),
    /// A channel fails, and all its chips with it.
    Channel(u32),
    /// Power is lost for a moment. Programs that a die has begun are completed. The contents of
    /// unprotected caches and programs waiting for a die are lost.
    Power,
    /// The controller has a bug, to test that it is noticed.
    Bug(Bug),
}

impl Fault {
    /// Returns the number of the failing unit, from zero, and the number of such units in the
    /// drive. `None` for a fault that is not of a unit.
    pub fn unit(self, config: &Config, layout: &Layout) -> Option<(u32, u32)> {
        let superblocks = config.ftl.has_superblocks();
        // Independent planes are simulated as dies; there, a die that fails has all its planes.
        let geometry = if superblocks { &config.geometry } else { &layout.geometry };
        let stripes = || if superblocks { config.parity_pages() } else { config.stripes() };
        Some(match self {
            Fault::Page(page) | Fault::Miscorrected(page) | Fault::Misdirected(page) => {
                (page.0, layout.logical_pages)
            }
            Fault::Parity(stripe) => (stripe.0, stripes()),
            Fault::Block(block) => (block.0, geometry.blocks()),
            Fault::Plane(plane) => (plane.0, geometry.planes()),
            Fault::Die(die) => (die.0, geometry.dies()),
            Fault::Chip(chip) => (chip, geometry.chips()),
            Fault::Channel(channel) => (channel, geometry.channels),
            Fault::Power | Fault::Bug(_) => return None,
        })
    }

    /// Returns the physical pages that hold data and that the fault strikes, in order. Data that is
    /// in the controller is not affected.
    pub(crate) fn stored_pages(
        self,
        core: &Core,
        flash: &Flash,
        stripes: Option<Stripes>,
    ) -> Vec<UnitId> {
        let at_hand = sorted_at_hand(flash);
        let struck = self.range(core, stripes).map(UnitId);
        struck
            .filter(|&unit| core.allocator.blocks.is_valid(unit))
            .filter(|unit| at_hand.binary_search(unit).is_err())
            .collect()
    }

    /// Returns the physical pages of the page, block, die or larger unit that fails.
    fn range(self, core: &Core, stripes: Option<Stripes>) -> Range<u32> {
        if let Some(blocks) = self.blocks(&core.layout.geometry) {
            let first = |block: u32| core.locator.units_of(BlockId(block)).start;
            return first(blocks.start)..first(blocks.end);
        }
        let copy = |page: Lpn| {
            let unit = core.flash_copy(page);
            if unit.is_some() { unit.0..unit.0 + 1 } else { 0..0 }
        };
        match self {
            Fault::Page(page) | Fault::Miscorrected(page) | Fault::Misdirected(page) => {
                copy(stripes.map_or(page, |striping| striping.stored(page)))
            }
            Fault::Parity(stripe) => copy(stripes.expect("a drive with stripes").parity(stripe)),
            _ => unreachable!("handled by the controller"),
        }
    }

    /// Returns the blocks of the block, plane, die, chip or channel that fails; `None` if the fault
    /// strikes single pages.
    ///
    /// # Panics
    /// If the drive has no such chip or channel.
    pub(crate) fn blocks(self, geometry: &Geometry) -> Option<Range<u32>> {
        let of = |unit: u32, each: u32| unit * each..(unit + 1) * each;
        let plane = geometry.blocks_per_plane;
        let die = plane * geometry.planes_per_die;
        Some(match self {
            Fault::Block(block) => of(block.0, 1),
            Fault::Plane(number) => of(number.0, plane),
            Fault::Die(number) => of(number.0, die),
            Fault::Chip(chip) => {
                assert!(chip < geometry.chips(), "chip {chip} of {}", geometry.chips());
                of(chip, die * geometry.dies_per_chip)
            }
            Fault::Channel(channel) => {
                assert!(channel < geometry.channels, "channel {channel} of {}", geometry.channels);
                of(channel, die * geometry.dies_per_channel())
            }
            Fault::Page(_)
            | Fault::Miscorrected(_)
            | Fault::Misdirected(_)
            | Fault::Parity(_)
            | Fault::Power
            | Fault::Bug(_) => return None,
        })
    }

    /// Returns the dies that fail as a whole because of the fault.
    pub(crate) fn dies(self, geometry: &Geometry) -> Range<u32> {
        let of = |unit: u32, each: u32| unit * each..(unit + 1) * each;
        match self {
            Fault::Die(die) => of(die.0, 1),
            Fault::Chip(chip) => of(chip, geometry.dies_per_chip),
            Fault::Channel(channel) => of(channel, geometry.dies_per_channel()),
            Fault::Page(_)
            | Fault::Miscorrected(_)
            | Fault::Misdirected(_)
            | Fault::Parity(_)
            | Fault::Block(_)
            | Fault::Plane(_)
            | Fault::Power
            | Fault::Bug(_) => 0..0,
        }
    }

    /// Returns the kind of failure of the pages that the fault strikes.
    pub(crate) fn failure(self) -> Failure {
        match self {
            Fault::Page(_) | Fault::Parity(_) => Failure::Page,
            Fault::Block(_) => Failure::Block,
            Fault::Plane(_) => Failure::Plane,
            Fault::Die(_) => Failure::Die,
            Fault::Chip(_) => Failure::Chip,
            Fault::Channel(_) => Failure::Channel,
            Fault::Miscorrected(_) | Fault::Misdirected(_) => unreachable!("it reads well"),
            Fault::Power | Fault::Bug(_) => unreachable!("handled by the controller"),
        }
    }
}

/// A bug in the handling of parity, injected to test that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// The controller follows Algorithms 1 and 2 of DA-RAID-5 as printed: each of the two loses
    /// data.
    AsPrinted,
    /// The controller leaves out this many of the page reads that computing parity requires, the
    /// next ones from the moment at which the bug is injected.
    SkippedReads(u32),
}

/// The active bugs of the controller: none, unless injected.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bugs {
    pub as_printed: bool,
    pub skipped_reads: u32,
}

impl Bugs {
    pub fn add(&mut self, bug: Bug) {
        match bug {
            Bug::AsPrinted => self.as_printed = true,
            Bug::SkippedReads(reads) => self.skipped_reads = reads,
        }
    }
}

/// Returns true if the controller holds a physical page's data: it is being programmed or moved.
pub(crate) fn is_at_hand(flash: &Flash, unit: UnitId) -> bool {
    units_at_hand(flash).any(|at_hand| at_hand == unit)
}

/// Returns all physical pages whose data the controller holds, sorted.
pub(crate) fn sorted_at_hand(flash: &Flash) -> Vec<UnitId> {
    let mut at_hand: Vec<UnitId> = units_at_hand(flash).collect();
    at_hand.sort_unstable();
    at_hand
}

/// Returns all physical pages whose data the controller holds, in no particular order.
pub(crate) fn units_at_hand(flash: &Flash) -> impl Iterator<Item = UnitId> {
    let programs = flash.txns.iter().map(|(_, txn)| txn).filter(|txn| txn.op == Op::Program);
    let units = programs.flat_map(|txn| {
        let of_flash =
            matches!(txn.owner, Owner::Job | Owner::DegradedRead(_) | Owner::Displaced(_));
        [txn.unit, if of_flash { txn.from } else { UnitId::NONE }]
    });
    units.filter(|unit| unit.is_some())
}
