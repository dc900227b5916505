//! The age and wear of pages and blocks, and the sensing level that each read needs because of
//! them.
//!
//! 1. A program stamps its page, and a read counts as a disturbance of its block.
//! 2. For a read, the levels that hold for all pages of the block are looked up
//!    ([`Condition::read`]).
//! 3. If none hold, the level that the page needs follows from its true condition, and the level
//!    tried first from what the controller knows ([`Condition::find_out`]). If the youngest and the
//!    oldest page of the block agree, the levels are kept for the block, until they age or are
//!    disturbed too much.
//!
//! Invariants: time stamps count from `epoch` before time zero, in steps of 67 ms; wear is counted
//! in whole tenths of a cycle, so that nothing is rounded; levels that are kept for a block are
//! those that each of its pages would get.

use crate::cells::program_mode::{Mode, Step, Voltage};
use crate::cells::reliability::{Cells, StrengthClass};
use crate::cells::unreadable_pages::FailedReads;
use crate::policy::sensing::{self, Advice, AnySensing, Input, Sensing};
use fowler_physics::ispp::EndOfLife;
use fowler_physics::thresholds::{Lasting, Read};
use fowler_units::{BlockId, Bytes, Geometry, IdVec, Nanos, Ppn, Span};

/// The resolution of program timestamps: 2^26 ns or 67 ms, so that 32 bits hold nine years.
const GRAIN: u32 = 26;

/// The strength and history of a block.
/// See docs/decisions/cells.md, "What does a controller assume of a block of unknown strength?".
#[derive(Clone, Copy, Debug)]
pub struct BlockCondition {
    /// True rate at which the block's bit errors grow with wear, relative to the mean of all
    /// blocks.
    pub growth: f32,
    /// The controller's estimate of `growth`, the rate at which the block's bit errors grow with
    /// wear.
    pub believed: f32,
    /// Wear of the block, in P/E cycles at nominal voltages.
    pub wear: Wear,
    /// Number of reads of the block since its last erase.
    pub reads: u32,
    /// ISPP step and voltages at which the pages of the block are programmed.
    pub mode: Mode,
    /// Program time of the first page of the block, in grains of 67 ms.
    pub first: u32,
    /// Program time of the last page of the block, in grains of 67 ms.
    pub last: u32,
    /// Sensing levels at which the pages of the block are read, as last determined.
    pub known: Known,
}

/// The wear of a block, in tenths of a P/E cycle at nominal voltages. A cycle wears in proportion
/// to the threshold voltages of its programs (HIRE, section 2.1), whose factors are whole tenths:
/// 12, 10 and 8. Whole numbers, so that nothing is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wear(u32);

/// Number of steps in which the wear of one P/E cycle is counted.
const TENTHS: f64 = 10.0;

impl Wear {
    /// Returns the wear of `cycles` P/E cycles at nominal voltages.
    pub fn after(cycles: u32) -> Self {
        Self(cycles * TENTHS as u32)
    }

    /// Returns the wear of a block, as the number of P/E cycles at nominal voltages that cause it.
    #[inline]
    pub fn cycles(self) -> f64 {
        f64::from(self.0) / TENTHS
    }

    /// Adds the wear of one P/E cycle at some voltages.
    fn cycle(&mut self, voltage: Voltage) {
        self.0 += libm::round(TENTHS * voltage.scale()) as u32;
    }
}

/// Sensing levels at which the pages of a block are read, cached for many reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// Sensing levels (first tried, and needed) of a read of any page of the block. They apply only
    /// before the time `until_grain`; after it, each page is examined.
    attempt: Attempt,
    /// Time, in grains of 67 ms, until which all pages of the block are known to be read at the
    /// same levels.
    until_grain: u32,
    /// Time, in grains of 67 ms, at which the block's sensing levels must be determined again: the
    /// end of their validity or, if the pages of the block need different levels, 1,000 grains
    /// after the last determination.
    again: u32,
    /// Number of reads of the block up to which the sensing levels hold.
    reads: u32,
}

impl Known {
    /// Marks the sensing levels of the block as to be determined again.
    #[inline]
    fn forget(&mut self) {
        (self.until_grain, self.again) = (0, 0);
    }
}

/// Time after which the sensing levels of a block are determined again if its pages need different
/// ones: 1,000 steps of 67 ms, or 67 s.
const MIXED: u32 = 1000;

/// Sensing levels of a read: the one tried first, and the one needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// Sensing level of the first try of a read.
    pub level: u8,
    /// Sensing level that the page needs; the number of levels if none suffices.
    pub needed: u8,
}

/// The age of every page and the condition of every block.
#[derive(Clone, Debug)]
pub struct Condition {
    curves: Curves,
    levels: u8,
    sensing: AnySensing,
    blocks: IdVec<BlockId, BlockCondition>,
    /// Program time of each page, in steps of 67 ms ([`GRAIN`]) since the moment `epoch` before
    /// time zero.
    stamps: IdVec<Ppn, u32>,
    epoch: Span,
    /// True if the policy for the order of transactions on a die needs the age of every page that
    /// is read.
    by_age: bool,
}

/// Model of the sensing level that a page needs: according to its true condition, and according to
/// what the controller knows.
#[derive(Clone, Debug)]
pub struct Curves {
    /// Cell model of the drive.
    pub cells: Cells,
    /// Facts about a page (age, wear and others) that the controller knows.
    pub known: sensing::Params,
    /// The worst case that the controller assumes for properties of a page that it does not know,
    /// such as age and wear.
    pub end: EndOfLife,
    /// The lowest programming voltages that the drive uses.
    pub lowest: Voltage,
}

/// A page to be read, as presented to the sensing policy, which chooses the first sensing level.
struct Asked<'a> {
    curves: &'a mut Curves,
    condition: &'a BlockCondition,
    age: Span,
}

impl Advice for Asked<'_> {
    fn worst(&self) -> u8 {
        self.curves.cells.worst_level
    }

    fn modeled(&mut self) -> Lasting {
        self.curves.modeled(self.condition, self.age)
    }
}

impl Curves {
    /// Returns the sensing level that a page of a block actually needs at `age`.
    fn needed(&mut self, condition: &BlockCondition, age: Span) -> Lasting {
        self.cells.lasting(&Read {
            cycles: f64::from(condition.growth) * condition.wear.cycles(),
            age,
            reads: condition.reads,
            scale: condition.mode.voltage as usize,
            step: usize::from(condition.mode.step.0),
        })
    }

    /// Returns the sensing level that the controller's model predicts for a page of a block.
    /// Properties of the page that the controller does not know are assumed at their worst: a block
    /// of unknown strength is the weakest one, programmed at the nominal ISPP step.
    fn modeled(&mut self, condition: &BlockCondition, age: Span) -> Lasting {
        let Curves { cells, known, end, lowest } = self;
        let knows = |input| known.knows(input);
        let (growth, step) = if knows(Input::Strength) {
            (f64::from(condition.believed), condition.mode.step)
        } else {
            (cells.weakest(), Step::NOMINAL)
        };
        let cycles = if knows(Input::Wear) { condition.wear.cycles() } else { end.cycles };
        let voltage = if knows(Input::Voltage) { condition.mode.voltage } else { *lowest };
        let found = cells.lasting(&Read {
            cycles: growth * cycles,
            age: if knows(Input::Age) { age } else { end.age },
            reads: if knows(Input::Reads) { condition.reads } else { end.reads },
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
    /// Returns the sensing levels at which a page of a block is read at `age`, and for how long
    /// they hold.
    fn attempt(&mut self, condition: &BlockCondition, age: Span) -> (Attempt, Lasting) {
        let Condition { curves, sensing, levels, .. } = self;
        if condition.mode.one_bit {
            let lasting = Lasting { level: None, age: Span(u64::MAX), reads: u32::MAX };
            return (Attempt::default(), lasting);
        }
        let truth = curves.needed(condition, age);
        let chosen = sensing.level(&mut Asked { curves, condition, age });
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

    /// Determines the sensing levels at which the pages of a block are read. If the youngest and
    /// the oldest page need the same levels, stores these for the whole block, with the time and
    /// the number of reads up to which they are valid.
    #[cold]
    fn know(&mut self, block: BlockId, grain: u32) {
        let condition = self.blocks[block];
        let age = |stamp: u32| Span(u64::from(grain - stamp) << GRAIN);
        // A block that holds nothing has no oldest page (`first` is above all others), and is read
        // as if it had just been written.
        let last = condition.last.max(condition.first).min(grain);
        let (youngest, mut lasts) = self.attempt(&condition, age(last));
        let most = age(condition.first.min(grain));
        let mut alike = true;
        // If the result holds beyond the age of the oldest page, it applies to that page too.
        if lasts.age < most {
            let oldest;
            (oldest, lasts) = self.attempt(&condition, most);
            alike = oldest == youngest;
        }
        let grains = u64::from(condition.first) + (lasts.age.0 >> GRAIN) + 1;
        let lasting = u32::try_from(grains).unwrap_or(u32::MAX);
        // If pages differ, each is checked individually; all pages may become alike later.
        let (until_grain, again) = if alike { (lasting, lasting) } else { (0, grain + MIXED) };
        self.blocks[block].known =
            Known { attempt: youngest, until_grain, again, reads: lasts.reads };
    }

    /// Creates the age of every page and the wear of every block at time zero. `stamps` are the
    /// program times of the pages, in grains of 67 ms, counted from the moment `epoch` before time
    /// zero.
    pub fn new(
        curves: Curves,
        (sensing, levels): (AnySensing, u8),
        blocks: IdVec<BlockId, BlockCondition>,
        (stamps, epoch): (IdVec<Ppn, u32>, Span),
        by_age: bool,
    ) -> Self {
        Self { curves, levels, sensing, blocks, stamps, epoch, by_age }
    }

    /// Returns the memory that the condition of all pages and blocks takes on the simulating
    /// machine.
    pub fn bytes(geometry: &Geometry) -> Bytes {
        Bytes::of::<BlockCondition>(geometry.blocks().into())
            + Bytes::of::<u32>(geometry.pages().into())
            + FailedReads::bytes(geometry)
    }

    /// Returns the timestamp, in grains of 67 ms, of the moment that lies the time `before` earlier
    /// than time zero. Timestamps are zero at the moment that lies `epoch` earlier than time zero.
    pub fn stamp_before(epoch: Span, before: Span) -> u32 {
        ((epoch.0 - before.0) >> GRAIN) as u32
    }

    /// Ages all data by a span that the simulated clock does not count, such as time without power.
    pub fn grow_older(&mut self, by: Span) {
        self.epoch += by;
    }

    #[inline]
    fn stamp(&self, now: Nanos) -> u32 {
        u32::try_from((now.0.saturating_add(self.epoch.0)) >> GRAIN).unwrap_or(u32::MAX)
    }

    /// Returns the program time of a page as a key that is smaller for younger pages.
    #[inline]
    pub fn youth(&self, page: Ppn) -> u32 {
        self.stamps.get(page).map_or(u32::MAX, |stamp| !stamp)
    }

    /// Prefetches, into the processor's cache, the program time of a page and the wear of its
    /// block, which a read of the page needs.
    #[inline]
    pub fn prefetch(&self, page: Ppn, block: BlockId) {
        if self.by_age {
            self.stamps.prefetch(page);
        }
        self.blocks.prefetch(block);
    }

    /// Returns the age of a page: the time since it was programmed.
    #[inline]
    pub fn age(&self, page: Ppn, now: Nanos) -> Span {
        Span(u64::from(self.stamp(now).saturating_sub(self.stamps[page])) << GRAIN)
    }

    /// Begins a read of a page. Returns the sensing levels of the first try and needed, if these
    /// are known for all pages of the block; otherwise call [`Condition::find_out`]. Counts the
    /// read as a disturbance of the block. With `read_as`, the page is read as if it had been
    /// programmed at those voltages.
    #[inline]
    pub fn read(
        &mut self,
        page: Ppn,
        block: BlockId,
        read_as: Option<Voltage>,
        now: Nanos,
    ) -> Option<Attempt> {
        let condition = &mut self.blocks[block];
        // Equivalent to `stamp(now) < until_grain`.
        let until = u64::from(condition.known.until_grain) << GRAIN;
        if let Some(until) = until.checked_sub(self.epoch.0)
            && now.0 < until
            && condition.reads < condition.known.reads
            && read_as.is_none()
        {
            condition.reads += 1;
            let attempt = condition.known.attempt;
            debug_assert_eq!(self.look_at(page, block, None, now), attempt);
            return Some(attempt);
        }
        None
    }

    /// Determines the sensing levels of a read, tried first and needed, when those stored for the
    /// block do not hold for it.
    #[cold]
    pub fn find_out(
        &mut self,
        page: Ppn,
        block: BlockId,
        read_as: Option<Voltage>,
        now: Nanos,
    ) -> Attempt {
        let grain = self.stamp(now);
        let condition = &mut self.blocks[block];
        condition.reads = condition.reads.saturating_add(1);
        if grain >= condition.known.again || condition.reads > condition.known.reads {
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
        let mut condition = self.blocks[block];
        condition.mode.voltage = read_as.unwrap_or(condition.mode.voltage);
        let age = self.age_read(page, block, now);
        self.attempt(&condition, age).0
    }

    /// Returns the age of a page as a read finds it. A page read while it is being programmed comes
    /// from the controller's memory: its age is at most that of its block.
    pub(super) fn age_read(&self, page: Ppn, block: BlockId, now: Nanos) -> Span {
        let grain = self.stamp(now);
        let stamp = self.stamps[page].max(self.blocks[block].first.min(grain));
        Span(u64::from(grain.saturating_sub(stamp)) << GRAIN)
    }

    /// Returns the ages of the youngest and of the oldest page of a block.
    pub(super) fn ages(&self, block: BlockId, now: Nanos) -> (Span, Span) {
        let grain = self.stamp(now);
        let age = |stamp: u32| Span(u64::from(grain - stamp.min(grain)) << GRAIN);
        let condition = &self.blocks[block];
        (age(condition.last), age(condition.first))
    }

    /// Returns true if no sensing level would read a page of a block at `age`, with the next read
    /// counted.
    pub(super) fn would_fail(
        &self,
        curves: &mut Curves,
        block: BlockId,
        age: Span,
        read_as: Option<Voltage>,
    ) -> bool {
        let mut condition = self.blocks[block];
        condition.mode.voltage = read_as.unwrap_or(condition.mode.voltage);
        condition.reads = condition.reads.saturating_add(1);
        curves.needed(&condition, age).level.is_none()
    }

    /// Returns the wear, reads, strength and program mode of every block.
    pub(super) fn blocks(&self) -> &IdVec<BlockId, BlockCondition> {
        &self.blocks
    }

    /// Returns the model of the sensing levels that pages need.
    pub(super) fn curves(&self) -> &Curves {
        &self.curves
    }

    /// Counts one more sensing of a page of the block, which disturbs it.
    pub fn disturb(&mut self, block: BlockId) {
        let condition = &mut self.blocks[block];
        condition.reads = condition.reads.saturating_add(1);
    }

    /// Records that a page has been programmed in a mode (ISPP step, threshold voltages, bits per
    /// cell).
    #[inline]
    pub fn programmed(&mut self, page: Ppn, block: BlockId, mode: Mode, now: Nanos) {
        let stamp = self.stamp(now);
        self.stamps[page] = stamp;
        let condition = &mut self.blocks[block];
        condition.mode = mode;
        condition.first = condition.first.min(stamp);
        condition.last = stamp;
        condition.known.forget();
    }

    /// Records that a block has been erased.
    pub fn erased(&mut self, block: BlockId) {
        let condition = &mut self.blocks[block];
        condition.wear.cycle(condition.mode.voltage);
        condition.reads = 0;
        condition.first = u32::MAX;
        condition.known.forget();
    }

    /// Returns the bit errors of a page at present, and as if its block had just been programmed,
    /// each as a share of the errors that the error-correcting code corrects at its highest sensing
    /// level.
    pub fn errors(&mut self, page: Ppn, block: BlockId, now: Nanos) -> (f64, f64) {
        let (condition, age) = (self.blocks[block], self.age_read(page, block, now));
        let cycles = f64::from(condition.growth) * condition.wear.cycles();
        let mut share = |age, reads| self.curves.cells.errors(cycles, age, reads, condition.mode);
        (share(age, condition.reads), share(Span::ZERO, 0))
    }

    /// Returns the wear, reads, strength and program mode of a block.
    pub fn block(&self, block: BlockId) -> &BlockCondition {
        &self.blocks[block]
    }

    /// Sets the controller's estimate of the rate at which a block's bit errors grow with wear,
    /// relative to the mean of all blocks.
    pub fn believe(&mut self, block: BlockId, growth: f64) {
        let condition = &mut self.blocks[block];
        condition.believed = growth as f32;
        condition.known.forget();
    }

    /// Returns the true strength class of a block. For checks only: a controller has an estimate.
    pub fn class_of(&self, block: BlockId) -> StrengthClass {
        self.curves.cells.class_of(self.blocks[block].growth.into())
    }

    /// Returns the cell model for modification.
    pub fn cells_mut(&mut self) -> &mut Cells {
        &mut self.curves.cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A P/E cycle wears a block in proportion to its voltages; one at nominal voltages counts as
    /// exactly one.
    #[test]
    fn a_cycle_wears_by_its_voltages() {
        let mut wear = Wear::after(3000);
        assert_eq!(wear.cycles(), 3000.0);
        for voltage in Voltage::ALL {
            wear.cycle(voltage);
        }
        assert_eq!(wear.cycles(), 3003.0);
        (0..1000).for_each(|_| wear.cycle(Voltage::Reduced));
        assert_eq!(wear.cycles(), 3803.0);
    }
}
