//! What the pages and blocks of a drive have been through, and the level at which each must be read
//! for it.

use crate::cells::program_mode::{Mode, Step, Voltage};
use crate::cells::reliability::Cells;
use crate::policy::sensing::{self, Advice, AnySensing, Input, Sensing};
use fowler_physics::ispp::EndOfLife;
use fowler_physics::thresholds::{Lasting, Read};
use fowler_units::{BlockId, IdVec, Nanos, Ppn, Span};

/// The grain of the moments at which pages were programmed, 2^26 ns or 67 ms: 32 bits hold nine
/// years.
const GRAIN: u32 = 26;

/// What a block is and has been through.
/// See docs/decisions/cells.md, "What does a controller assume of a block of unknown strength?".
#[derive(Clone, Copy, Debug)]
pub struct BlockCondition {
    /// Its growth rate over the mean one.
    pub growth: f32,
    /// What the controller believes it to be.
    pub believed: f32,
    /// P/E cycles.
    pub cycles: u32,
    /// Reads since it was erased.
    pub reads: u32,
    /// How its pages are programmed.
    pub mode: Mode,
    /// When its oldest and its youngest page were programmed.
    pub first: u32,
    pub last: u32,
    /// How its pages are read.
    pub known: Known,
}

/// How the pages of a block are read, found out once for many reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// How all of them are read; means nothing from `until_grain` on.
    attempt: Attempt,
    /// From which grain on they are not known to be read alike.
    until_grain: u32,
    /// From which grain on it must be found out anew: the same, unless they are not read alike.
    again: u32,
    /// Up to how many reads it holds.
    reads: u32,
}

impl Known {
    /// It must be found out anew.
    #[inline]
    fn forget(&mut self) {
        (self.until_grain, self.again) = (0, 0);
    }
}

/// For how long a block whose pages are not read alike is not asked again whether they are: 67 s.
const MIXED: u32 = 1000;

/// What a read is begun with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// The level of the first try.
    pub level: u8,
    /// The level that the page needs; as many as there are if none is enough.
    pub needed: u8,
}

/// The state of every page and block.
#[derive(Clone, Debug)]
pub struct Condition {
    curves: Curves,
    levels: u8,
    sensing: AnySensing,
    blocks: IdVec<BlockId, BlockCondition>,
    /// When each page was programmed, in grains since `epoch` before time zero.
    stamps: IdVec<Ppn, u32>,
    epoch: Span,
    /// Whether the order of the dies asks for the age of every page that is read.
    by_age: bool,
}

/// What pages need, by the truth and by what a controller knows.
#[derive(Clone, Debug)]
pub struct Curves {
    /// The cells.
    pub cells: Cells,
    /// What the controller knows of a page.
    pub known: sensing::Params,
    /// What it takes for the rest.
    pub end: EndOfLife,
    /// The lowest voltages at which anything is programmed.
    pub lowest: Voltage,
}

/// A page that the sensing rule may ask about.
struct Asked<'a> {
    curves: &'a mut Curves,
    its: &'a BlockCondition,
    age: Span,
}

impl Advice for Asked<'_> {
    fn worst(&self) -> u8 {
        self.curves.cells.worst_level
    }

    fn modelled(&mut self) -> Lasting {
        self.curves.modelled(self.its, self.age)
    }
}

impl Curves {
    /// What a page of a block needs at `age`, by the truth.
    fn needed(&mut self, its: &BlockCondition, age: Span) -> Lasting {
        self.cells.lasting(&Read {
            cycles: f64::from(its.growth) * f64::from(its.cycles),
            age,
            reads: its.reads,
            scale: its.mode.voltage as usize,
            step: usize::from(its.mode.step.0),
        })
    }

    /// The same as far as the sensing rule knows. What it does not know is at its worst. Who does
    /// not know a block's strength does not know the step that makes up for it either: the block is
    /// taken for the weakest, programmed at the nominal step.
    fn modelled(&mut self, its: &BlockCondition, age: Span) -> Lasting {
        let Curves { cells, known, end, lowest } = self;
        let knows = |input| known.knows(input);
        let (growth, step) = if knows(Input::Strength) {
            (f64::from(its.believed), its.mode.step)
        } else {
            (cells.weakest(), Step::NOMINAL)
        };
        let cycles = if knows(Input::Wear) { f64::from(its.cycles) } else { end.cycles };
        let voltage = if knows(Input::Voltage) { its.mode.voltage } else { *lowest };
        let found = cells.lasting(&Read {
            cycles: growth * cycles,
            age: if knows(Input::Age) { age } else { end.age },
            reads: if knows(Input::Reads) { its.reads } else { end.reads },
            scale: voltage as usize,
            step: usize::from(step.0),
        });
        Lasting {
            level: found.level,
            age: if knows(Input::Age) { found.age } else { Span(u64::MAX) },
            reads: if knows(Input::Reads) { found.reads } else { u32::MAX },
        }
    }
}

impl Condition {
    /// How a page of a block is read at `age`, and for how long that is so.
    fn attempt(&mut self, its: &BlockCondition, age: Span) -> (Attempt, Lasting) {
        let Condition { curves, sensing, levels, .. } = self;
        let truth = curves.needed(its, age);
        let chosen = sensing.level(&mut Asked { curves, its, age });
        let attempt = Attempt {
            level: chosen.level.map_or(*levels - 1, |level| level.min(*levels - 1)),
            needed: truth.level.unwrap_or(*levels),
        };
        let lasting = Lasting {
            level: None,
            age: truth.age.min(chosen.age),
            reads: truth.reads.min(chosen.reads),
        };
        (attempt, lasting)
    }

    /// Finds out how the pages of a block are read, if all are read alike, and until when that
    /// holds.
    #[cold]
    fn know(&mut self, block: BlockId, grain: u32) {
        let its = self.blocks[block];
        let age = |stamp: u32| Span(u64::from(grain - stamp) << GRAIN);
        let (youngest, mut lasts) = self.attempt(&its, age(its.last.min(grain)));
        let most = age(its.first.min(grain));
        let mut alike = true;
        // What lasts beyond the age of the oldest page is what that is read at too.
        if lasts.age < most {
            let oldest;
            (oldest, lasts) = self.attempt(&its, most);
            alike = oldest == youngest;
        }
        let grains = u64::from(its.first) + (lasts.age.0 >> GRAIN) + 1;
        let lasting = u32::try_from(grains).unwrap_or(u32::MAX);
        // Where pages differ, each is looked at; they may come to be alike by and by.
        let (until_grain, again) = if alike { (lasting, lasting) } else { (0, grain + MIXED) };
        self.blocks[block].known =
            Known { attempt: youngest, until_grain, again, reads: lasts.reads };
    }

    /// Blocks as they are at time zero, and when their pages were programmed: `stamps`, from
    /// `epoch` before time zero on.
    pub fn new(
        curves: Curves,
        (sensing, levels): (AnySensing, u8),
        blocks: IdVec<BlockId, BlockCondition>,
        (stamps, epoch): (IdVec<Ppn, u32>, Span),
        by_age: bool,
    ) -> Self {
        Self { curves, levels, sensing, blocks, stamps, epoch, by_age }
    }

    /// A moment before time zero as a stamp.
    pub fn stamp_before(epoch: Span, before: Span) -> u32 {
        ((epoch.0 - before.0) >> GRAIN) as u32
    }

    /// Time goes by that the clock does not count.
    pub fn grow_older(&mut self, by: Span) {
        self.epoch += by;
    }

    #[inline]
    fn stamp(&self, now: Nanos) -> u32 {
        u32::try_from((now.0.saturating_add(self.epoch.0)) >> GRAIN).unwrap_or(u32::MAX)
    }

    /// When a page was programmed, as a key that is smaller the younger it is.
    #[inline]
    pub fn youth(&self, page: Ppn) -> u32 {
        self.stamps.get(page).map_or(u32::MAX, |stamp| !stamp)
    }

    /// A page is about to be read.
    #[inline]
    pub fn prefetch(&self, page: Ppn, block: BlockId) {
        if self.by_age {
            self.stamps.prefetch(page);
        }
        self.blocks.prefetch(block);
    }

    /// How long ago a page was programmed.
    #[inline]
    pub fn age(&self, page: Ppn, now: Nanos) -> Span {
        Span(u64::from(self.stamp(now).saturating_sub(self.stamps[page])) << GRAIN)
    }

    /// A read of a page begins: the level of the first try, and the one it needs, if that is known
    /// of all pages of its block; else [`Condition::find_out`] must be asked. The read wears on the
    /// block's other pages. With `read_as` the page is taken to have been programmed at those
    /// voltages.
    #[inline]
    pub fn read(
        &mut self,
        page: Ppn,
        block: BlockId,
        read_as: Option<Voltage>,
        now: Nanos,
    ) -> Option<Attempt> {
        let its = &mut self.blocks[block];
        // The grain of now, as `stamp` has it, is before `until_grain`.
        let until = u64::from(its.known.until_grain) << GRAIN;
        if let Some(until) = until.checked_sub(self.epoch.0)
            && now.0 < until
            && its.reads < its.known.reads
            && read_as.is_none()
        {
            its.reads += 1;
            let attempt = its.known.attempt;
            debug_assert_eq!(self.look_at(page, block, None, now), attempt);
            return Some(attempt);
        }
        None
    }

    /// As [`Condition::read`], where it did not know.
    #[cold]
    pub fn find_out(
        &mut self,
        page: Ppn,
        block: BlockId,
        read_as: Option<Voltage>,
        now: Nanos,
    ) -> Attempt {
        let grain = self.stamp(now);
        let its = &mut self.blocks[block];
        its.reads = its.reads.saturating_add(1);
        if grain >= its.known.again || its.reads > its.known.reads {
            self.know(block, grain);
        }
        let known = &self.blocks[block].known;
        if grain < known.until_grain && read_as.is_none() {
            return known.attempt;
        }
        self.look_at(page, block, read_as, now)
    }

    fn look_at(
        &mut self,
        page: Ppn,
        block: BlockId,
        read_as: Option<Voltage>,
        now: Nanos,
    ) -> Attempt {
        let mut its = self.blocks[block];
        its.mode.voltage = read_as.unwrap_or(its.mode.voltage);
        // What is read while it is being programmed comes from the controller: it is no older than
        // its block.
        let grain = self.stamp(now);
        let stamp = self.stamps[page].max(its.first.min(grain));
        let age = Span(u64::from(grain.saturating_sub(stamp)) << GRAIN);
        self.attempt(&its, age).0
    }

    /// A page has been sensed once more.
    pub fn disturb(&mut self, block: BlockId) {
        let its = &mut self.blocks[block];
        its.reads = its.reads.saturating_add(1);
    }

    /// A page has been programmed.
    #[inline]
    pub fn programmed(&mut self, page: Ppn, block: BlockId, mode: Mode, now: Nanos) {
        let stamp = self.stamp(now);
        self.stamps[page] = stamp;
        let its = &mut self.blocks[block];
        its.mode = mode;
        its.first = its.first.min(stamp);
        its.last = stamp;
        its.known.forget();
    }

    /// A block has been erased.
    pub fn erased(&mut self, block: BlockId) {
        let its = &mut self.blocks[block];
        its.cycles += 1;
        its.reads = 0;
        its.first = u32::MAX;
        its.known.forget();
    }

    /// A block.
    pub fn block(&self, block: BlockId) -> &BlockCondition {
        &self.blocks[block]
    }

    /// The controller has learnt more of a block's growth rate.
    pub fn believe(&mut self, block: BlockId, growth: f64) {
        let its = &mut self.blocks[block];
        its.believed = growth as f32;
        its.known.forget();
    }

    /// The cells.
    pub fn cells_mut(&mut self) -> &mut Cells {
        &mut self.curves.cells
    }
}
