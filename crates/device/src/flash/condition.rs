//! What the pages and blocks of a drive have been through, and the level at which each must be read for it.

use crate::policy::sensing::{self, Advice, AnySensing, Input, Sensing, SensingKind};
use crate::reliability::Cells;
use crate::tag::Step;
use fowler_physics::ispp::EndOfLife;
use fowler_physics::thresholds::Read;
use fowler_units::{BlockId, IdVec, Nanos, Ppn, Span};

/// The grain of the moments at which pages were programmed, 2^26 ns or 67 ms: 32 bits hold nine years.
const GRAIN: u32 = 26;

/// What a block is and has been through.
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
    /// The step its pages are programmed at.
    pub step: Step,
}

/// What a read is begun with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The level of the first try.
    pub level: u8,
    /// The level that the page needs; as many as there are if none is enough.
    pub needed: u8,
}

/// The state of every page and block.
#[derive(Clone, Debug)]
pub struct Condition {
    cells: Cells,
    levels: u8,
    sensing: AnySensing,
    told: sensing::Params,
    end: EndOfLife,
    blocks: IdVec<BlockId, BlockCondition>,
    /// When each page was programmed, in grains since `epoch` before time zero.
    stamps: IdVec<Ppn, u32>,
    epoch: Span,
}

/// What the sensing rule may ask.
struct Advised {
    worst: u8,
    modelled: u8,
}

impl Advice for Advised {
    fn worst(&self) -> u8 {
        self.worst
    }

    fn modelled(&self) -> u8 {
        self.modelled
    }
}

impl Condition {
    /// What is not told is at its worst. Who does not know a block's strength does not know the step that
    /// makes up for it either: the block is taken for the weakest, programmed at the nominal step.
    fn modelled(&mut self, its: BlockCondition, age: Span) -> u8 {
        let Condition { cells, told, end, levels, .. } = self;
        let (growth, step) = if told.knows(Input::Strength) {
            (f64::from(its.believed), its.step)
        } else {
            (cells.weakest(), Step::NOMINAL)
        };
        let worn = told.knows(Input::Wear);
        let cycles = if worn { f64::from(its.cycles) } else { end.cycles };
        let read = Read {
            cycles: growth * cycles,
            age: if told.knows(Input::Age) { age } else { end.age },
            reads: if told.knows(Input::Reads) { its.reads } else { end.reads },
            scale: 0,
            step: usize::from(step.0),
        };
        cells.thresholds.level(&read).unwrap_or(*levels).min(*levels - 1)
    }

    /// Blocks as they are at time zero, and when their pages were programmed: `stamps`, from `epoch` before
    /// time zero on.
    pub fn new(
        cells: Cells,
        levels: u8,
        (sensing, told, end): (AnySensing, sensing::Params, EndOfLife),
        blocks: IdVec<BlockId, BlockCondition>,
        (stamps, epoch): (IdVec<Ppn, u32>, Span),
    ) -> Self {
        Self { cells, levels, sensing, told, end, blocks, stamps, epoch }
    }

    /// A moment before time zero as a stamp.
    pub fn stamp_before(epoch: Span, before: Span) -> u32 {
        ((epoch.0 - before.0) >> GRAIN) as u32
    }

    #[inline]
    fn stamp(&self, now: Nanos) -> u32 {
        ((now.0 + self.epoch.0) >> GRAIN) as u32
    }

    /// When a page was programmed, as a key that is smaller the younger it is.
    #[inline]
    pub fn youth(&self, page: Ppn) -> u32 {
        self.stamps.get(page).map_or(u32::MAX, |stamp| !stamp)
    }

    /// A page is about to be read.
    #[inline]
    pub fn foresee(&self, page: Ppn, block: BlockId) {
        self.stamps.prefetch(page);
        self.blocks.prefetch(block);
    }

    /// How long ago a page was programmed.
    #[inline]
    pub fn age(&self, page: Ppn, now: Nanos) -> Span {
        Span(u64::from(self.stamp(now) - self.stamps[page]) << GRAIN)
    }

    /// A read of a page begins: the level of the first try, and the one it needs. The read wears on the block's
    /// other pages.
    #[inline]
    pub fn read(&mut self, page: Ppn, block: BlockId, now: Nanos) -> Attempt {
        let age = self.age(page, now);
        let its = &mut self.blocks[block];
        its.reads = its.reads.saturating_add(1);
        let its = *its;
        let truth = Read {
            cycles: f64::from(its.growth) * f64::from(its.cycles),
            age,
            reads: its.reads,
            scale: 0,
            step: usize::from(its.step.0),
        };
        let needed = self.cells.thresholds.level(&truth).unwrap_or(self.levels);
        let asks = self.told.name == SensingKind::Model;
        let modelled = if asks { self.modelled(its, age) } else { 0 };
        let worst = self.cells.worst_level;
        let level = self.sensing.level(&Advised { worst, modelled });
        Attempt { level, needed }
    }

    /// A page has been programmed.
    #[inline]
    pub fn programmed(&mut self, page: Ppn, block: BlockId, step: Step, now: Nanos) {
        self.stamps[page] = self.stamp(now);
        self.blocks[block].step = step;
    }

    /// A block has been erased.
    pub fn erased(&mut self, block: BlockId) {
        let its = &mut self.blocks[block];
        its.cycles += 1;
        its.reads = 0;
    }

    /// A block.
    pub fn block(&self, block: BlockId) -> &BlockCondition {
        &self.blocks[block]
    }

    /// The controller has learnt more of a block's growth rate.
    pub fn believe(&mut self, block: BlockId, growth: f64) {
        self.blocks[block].believed = growth as f32;
    }

    /// The cells.
    pub fn cells_mut(&mut self) -> &mut Cells {
        &mut self.cells
    }
}
