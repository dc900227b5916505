//! Bit error rates as a lookup, for callers that need hundreds of thousands of rates. A grid of
//! wear and age holds the logarithms of the rates, which are interpolated linearly. Rates are
//! within two percent of the model (`tests/all/properties.rs`). Each row is computed when it is
//! first used.

use crate::rber::Reliability;
use crate::vth::Setting;
use fowler_units::Span;

/// Dimensions of the table of bit error rates: number of wear intervals, unit of the retention ages
/// in seconds, and number of retention ages. Age `k` is 60 s times `2^(k/2) - 1`.
const WEARS: usize = 256;
const FIRST_AGE: f64 = 60.0;
const AGES: usize = 48;

/// Raw bit error rates of pages programmed with one setting of voltages and step, as a lookup table
/// by wear and retention age.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    setting: Setting,
    /// Wear up to which the table of bit error rates goes, in P/E cycles of an average block.
    cycles: f64,
    rows: Vec<Option<Row>>,
}

/// The place of a retention age between two columns of the table of bit error rates. It depends on
/// the age alone, so that many rates of one age share it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgeColumn {
    below: usize,
    /// Share of the way to the next column, 0 to 1.
    share: f64,
}

/// Raw bit error rates of a block at one wear, a row of the table of rates by wear and retention
/// age.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    /// Logarithms of the raw bit error rate without read disturb, by retention age.
    logarithms: [f64; AGES],
    /// Raw bit error rate that one read of the block adds.
    disturb: f64,
}

impl Rates {
    /// Creates a table of raw bit error rates by wear and retention age, for wear up to `cycles`
    /// P/E cycles of an average block. A row is computed when it is first used.
    pub fn new(setting: Setting, cycles: f64) -> Rates {
        Rates { setting, cycles, rows: vec![None; WEARS + 1] }
    }

    /// Returns the raw bit error rate of a page according to `model`, which must not change between
    /// calls. `age` is the place of the page's retention age in the table.
    pub fn rber(&mut self, model: &Reliability, cycles: f64, age: AgeColumn, reads: u32) -> f64 {
        let at = (cycles / self.cycles * WEARS as f64).clamp(0.0, WEARS as f64);
        let below = (at as usize).min(WEARS - 1);
        self.compute(model, below);
        self.compute(model, below + 1);
        let [Some(low), Some(high)] = [&self.rows[below], &self.rows[below + 1]] else {
            unreachable!("both rows have been computed")
        };
        let share = at - below as f64;
        let between = |low: f64, high: f64| low + share * (high - low);
        let rate = libm::exp(between(low.at(age), high.at(age)));
        (rate + f64::from(reads) * between(low.disturb, high.disturb)).min(0.5)
    }

    /// Computes a row of the table, unless it has been computed before.
    fn compute(&mut self, model: &Reliability, index: usize) {
        let (setting, cycles) = (self.setting, self.cycles / WEARS as f64 * index as f64);
        self.rows[index].get_or_insert_with(|| {
            let block = model.block(cycles);
            const READS: u32 = 1000;
            let unread = block.rber(Span::ZERO, 0, setting);
            let read = block.rber(Span::ZERO, READS, setting);
            Row {
                logarithms: std::array::from_fn(|at| {
                    libm::log(block.rber(seconds(age_at(at)), 0, setting))
                }),
                disturb: (read - unread) / f64::from(READS),
            }
        });
    }
}

impl AgeColumn {
    /// Returns the place of a retention age in every table of rates.
    pub fn of(age: Span) -> AgeColumn {
        let halves = 2.0 * libm::log2(age.as_s() / FIRST_AGE + 1.0);
        let below = (halves as usize).min(AGES - 2);
        AgeColumn { below, share: (halves - below as f64).min(1.0) }
    }
}

impl Row {
    #[inline]
    fn at(&self, age: AgeColumn) -> f64 {
        let (low, high) = (self.logarithms[age.below], self.logarithms[age.below + 1]);
        low + age.share * (high - low)
    }
}

/// Returns the retention age, in seconds, of a column of the table of raw bit error rates by wear
/// and retention age.
fn age_at(column: usize) -> f64 {
    FIRST_AGE * (libm::exp2(column as f64 / 2.0) - 1.0)
}

fn seconds(age: f64) -> Span {
    Span((age * 1e9) as u64)
}
