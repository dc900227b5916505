//! The sensing level of a read as a lookup, so that a running drive computes no logarithm,
//! exponential or error function.
//!
//! For every voltage and step that a drive uses, every bucket of wear and every bucket of reads,
//! the table has the age from which each level no longer suffices, found by bisection when it is
//! first used. Buckets are rounded to their worst corner: wear and reads up to the end of the
//! bucket, the age up to the next whole [`UNIT`] (1.07 s). A read is therefore never sensed at too
//! low a level. The width of the buckets bounds how far the level can be too high. With 64 buckets
//! of wear up to 3,000 cycles of the weakest block, each spans 81 equivalent cycles, or 3 % of a
//! just-written RBER. The upper bounds of the buckets of reads double. Pages beyond the table, by
//! wear or reads, are uncorrectable.
//!
//! Memory: 4 bytes for each combination of level, wear, reads, step and voltage; see
//! [`Thresholds::bytes`]. With the default buckets (64 of wear, 12 of reads) and 3 levels, that is
//! 9 KiB for each pair of a voltage and a step.

use crate::ldpc::Ldpc;
use crate::rber::Reliability;
use crate::voltage::Ages;
use crate::vth::Setting;
use fowler_units::Span;

/// Unit of retention ages: 2^30 ns, so that a shift converts an age. 2^32 units (146 years) count
/// as forever.
pub const UNIT: Span = Span(1 << 30);

/// Dimensions of the lookup table of sensing levels by voltage scale, ISPP step, wear and reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Factors on the nominal threshold voltages that the table of sensing levels covers; reads
    /// give an index into this list.
    pub scales: Vec<f64>,
    /// ISPP steps, in V at voltage scale 1, that the table of sensing levels covers; reads give an
    /// index into this list.
    pub steps: Vec<f64>,
    /// Wear up to which the table of sensing levels goes, in P/E cycles of an average block: that
    /// of the weakest block at its end of life. Pages in more worn blocks count as uncorrectable.
    pub cycles: f64,
    /// Number of intervals of equal width into which the table of sensing levels divides wear.
    pub wears: u32,
    /// Largest number of reads of a block in the first interval into which the table of sensing
    /// levels divides reads; a power of two.
    pub first_reads: u32,
    /// Number of intervals into which the table of sensing levels divides the reads of a block.
    /// Each is as wide as all before it together.
    pub reads: u32,
}

impl Grid {
    /// Returns the default dimensions of a table of sensing levels for blocks that wear by up to
    /// `cycles` P/E cycles of an average block: 64 intervals of wear, and 12 of reads that end at
    /// 512 to a million.
    pub fn new(scales: Vec<f64>, steps: Vec<f64>, cycles: f64) -> Grid {
        Grid { scales, steps, cycles, wears: 64, first_reads: 512, reads: 12 }
    }

    /// Returns the largest number of reads of a block in one of the intervals into which the table
    /// of sensing levels divides reads.
    fn most_reads(&self, bucket: u32) -> u32 {
        (u64::from(self.first_reads) << bucket).min(u64::from(u32::MAX)) as u32
    }
}

/// Condition of the page that is read, on which the sensing level depends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Read {
    /// Equivalent cycles of the block: P/E cycles times the rate at which cycles raise the block's
    /// bit error rate, over the mean of that rate. A drive stores this quotient, so computing the
    /// cycles takes one multiplication.
    pub cycles: f64,
    /// Time since the page was programmed.
    pub age: Span,
    /// Number of reads of the block since its last erase.
    pub reads: u32,
    /// Index of the factor of the nominal threshold voltages at which the page was programmed,
    /// among those of the table of sensing levels ([`Grid::scales`]).
    pub scale: usize,
    /// Index of the ISPP step at which the page was programmed, among the steps for which there is
    /// a table of sensing levels ([`Grid::steps`]).
    pub step: usize,
}

/// A sensing level, and the age and reads up to which it suffices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lasting {
    /// Index of the sensing level, from 0; `None` if the page cannot be corrected, or if its
    /// block's wear or reads are beyond the table of sensing levels.
    pub level: Option<u8>,
    /// Largest retention age up to which this sensing level suffices to read the page.
    pub age: Span,
    /// Largest number of reads of the block since its last erase up to which a read of the page
    /// needs this sensing level and no stronger one.
    pub reads: u32,
}

/// Sensing levels by voltage, step, wear, reads and retention age. See docs/decisions/cells.md,
/// "What must a sensing level be able to correct?".
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// First retention age, in [`UNIT`]s of 1.07 s, at which a sensing level no longer suffices; 0
    /// for a level that never does. Levels for the same voltage, step, wear and reads are adjacent.
    ages: Vec<u32>,
    levels: usize,
    grid: Grid,
    /// Number of wear intervals in the table of sensing levels that one P/E cycle of an average
    /// block passes.
    per_cycle: f64,
    model: Reliability,
    ldpc: Ldpc,
}

/// Entries in the table of the largest retention ages up to which a sensing level suffices that are
/// not ages: it suffices at any age (`FOREVER`), or the age is not computed yet (`UNKNOWN`).
const FOREVER: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX - 1;

impl Thresholds {
    /// Creates the lookup table of the sensing levels that a drive's reads need. Each row is
    /// computed when it is first used, because the blocks of a drive fall into few buckets of wear.
    ///
    /// # Panics
    /// If a dimension of the grid is zero, or `first_reads` is not a power of two.
    pub fn new(model: Reliability, ldpc: Ldpc, grid: Grid) -> Thresholds {
        let pairs = grid.scales.len() * grid.steps.len();
        assert!(pairs > 0, "no voltage or no step");
        assert!(grid.wears > 0 && grid.reads > 0 && grid.cycles > 0.0, "no bucket");
        assert!(grid.first_reads.is_power_of_two(), "{} reads", grid.first_reads);
        let levels = ldpc.levels().len();
        let per_cycle = f64::from(grid.wears) / grid.cycles;
        let rows = pairs * grid.wears as usize * grid.reads as usize;
        Thresholds { ages: vec![UNKNOWN; rows * levels], levels, per_cycle, grid, model, ldpc }
    }

    /// Returns the index, from 0, of the sensing level that a read of a page needs; `None` if the
    /// page cannot be corrected, or if its block's wear or reads are beyond the table of sensing
    /// levels.
    ///
    /// # Panics
    /// If the index of the scale or the step is out of range, or `cycles` is negative or NaN.
    #[inline]
    pub fn level(&mut self, read: &Read) -> Option<u8> {
        self.lasting(read).level
    }

    /// Returns the sensing level that a read needs, and up to which age and number of reads it
    /// suffices.
    ///
    /// # Panics
    /// As [`Thresholds::level`].
    pub fn lasting(&mut self, read: &Read) -> Lasting {
        const EVER: Span = Span(u64::MAX);
        let Read { cycles, age, reads, scale, step } = *read;
        let grid = &self.grid;
        assert!(scale < grid.scales.len() && step < grid.steps.len(), "{scale}, {step}");
        assert!(cycles >= 0.0, "{cycles} equivalent cycles");
        let wear = (cycles * self.per_cycle) as u32;
        let bucket = self.reads_bucket(reads);
        if wear >= grid.wears || bucket >= grid.reads {
            return Lasting { level: None, age: EVER, reads: u32::MAX };
        }
        let most_reads = grid.most_reads(bucket);
        let pair = (scale * grid.steps.len() + step) as u32;
        let row = ((pair * grid.wears + wear) * grid.reads + bucket) as usize * self.levels;
        if self.ages[row] == UNKNOWN {
            self.find(row, (scale, step, wear, bucket));
        }
        let units = age.0.div_ceil(UNIT.0);
        let ages = &self.ages[row..row + self.levels];
        let level = ages.iter().position(|&end| end == FOREVER || units < u64::from(end));
        let age = match level.map(|level| ages[level]) {
            None | Some(FOREVER) => EVER,
            Some(end) => UNIT * u64::from(end - 1),
        };
        Lasting { level: level.map(|level| level as u8), age, reads: most_reads }
    }

    #[cold]
    fn find(&mut self, row: usize, (scale, step, wear, bucket): (usize, usize, u32, u32)) {
        let (scale, step) = (self.grid.scales[scale], self.grid.steps[step]);
        let reads = self.grid.most_reads(bucket);
        // Slightly beyond the end of the bucket, in case a product is rounded up.
        let cycles = f64::from(wear + 1) / self.per_cycle * (1.0 + 1e-12);
        let block = self.model.block(cycles);
        let page = block.page(reads, Setting { scale, step });
        let ages = Ages::of(&page);
        let places = &mut self.ages[row..row + self.levels];
        for (place, level) in places.iter_mut().zip(self.ldpc.levels()) {
            *place = match ages.last(level.correctable).map(|age| (age.0 / UNIT.0) as u32) {
                None => 0,
                Some(FOREVER) => FOREVER,
                Some(units) => (units + 1).min(UNKNOWN - 1),
            };
        }
    }

    /// Returns the index of the bucket that holds a number of reads: 0 for the first bucket, then
    /// one more for each doubling.
    fn reads_bucket(&self, reads: u32) -> u32 {
        let beyond = reads.saturating_sub(1) / self.grid.first_reads;
        u32::BITS - beyond.leading_zeros()
    }

    /// Returns the dimensions of the table of sensing levels.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the memory that the table of sensing levels takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.ages.len() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Parameters;
    use crate::rber::Analytic;
    use crate::voltage::last_age;

    fn thresholds(wears: u32) -> Thresholds {
        let parameters = Parameters::default();
        let model = Reliability::Analytic(Analytic::new(parameters).unwrap());
        let ldpc = Ldpc::hire(&parameters).unwrap();
        let grid = Grid::new(vec![1.0], vec![0.25], 4000.0);
        Thresholds::new(model, ldpc, Grid { wears, ..grid })
    }

    #[test]
    #[should_panic(expected = "NaN equivalent cycles")]
    fn wear_is_a_number() {
        let read = Read { cycles: f64::NAN, age: Span::ZERO, reads: 0, scale: 0, step: 0 };
        thresholds(1).level(&read);
    }

    #[test]
    fn buckets_of_reads_double() {
        let table = thresholds(1);
        for (reads, bucket) in
            [(0, 0), (1, 0), (512, 0), (513, 1), (1024, 1), (1025, 2), (2048, 2), (u32::MAX, 23)]
        {
            assert_eq!(table.reads_bucket(reads), bucket, "{reads}");
            assert!(reads <= table.grid.most_reads(bucket), "{reads}");
            assert!(bucket == 0 || reads > table.grid.most_reads(bucket - 1), "{reads}");
        }
        assert_eq!(table.grid.most_reads(11), 1 << 20);
    }

    #[test]
    fn beyond_the_table_nothing_can_be_read() {
        let mut table = thresholds(4);
        let young = Read { cycles: 0.0, age: Span::ZERO, reads: 0, scale: 0, step: 0 };
        assert_eq!(table.level(&young), Some(0));
        assert_eq!(table.level(&Read { cycles: 3999.0, ..young }), Some(0));
        assert_eq!(table.level(&Read { cycles: 4000.0, ..young }), None);
        assert_eq!(table.level(&Read { reads: (1 << 20) + 1, ..young }), None);
        assert_eq!(table.level(&Read { age: Span(u64::MAX), ..young }), None);
    }

    #[test]
    fn a_level_ends_with_the_unit_in_which_it_no_longer_suffices() {
        let parameters = Parameters::default();
        let model = Reliability::Analytic(Analytic::new(parameters).unwrap());
        let ldpc = Ldpc::hire(&parameters).unwrap();
        let mut table = thresholds(4);
        // The worst corner of the third bucket of wear and of the second of reads.
        let (block, setting) = (model.block(3000.0), Setting { scale: 1.0, step: 0.25 });
        let read = Read { cycles: 2500.0, age: Span::ZERO, reads: 600, scale: 0, step: 0 };
        for level in 0..3 {
            let last = last_age(&block, 1024, setting, ldpc.levels()[level].correctable).unwrap();
            assert!(last > Span::ZERO);
            assert_eq!(table.level(&Read { age: last, ..read }), Some(level as u8));
            let after = table.level(&Read { age: last + Span(1), ..read });
            assert_eq!(after, (level < 2).then_some(level as u8 + 1));
        }
    }

    #[test]
    fn it_is_as_large_as_it_says() {
        assert_eq!(thresholds(64).bytes(), 64 * 12 * 3 * 4);
    }
}
