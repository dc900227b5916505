//! Bit error rates as a look-up, for whoever asks by the hundred thousand: on a grid of wear and
//! age, straight lines between logarithms. Within two per cent of the model
//! (`tests/properties.rs`); found row by row when asked for first.

use crate::rber::Reliability;
use crate::vth::Setting;
use fowler_units::Span;

/// Intervals of wear; ages grow by a factor of the square root of two, from a minute on.
const WEARS: usize = 256;
const FIRST_AGE: f64 = 60.0;
const AGES: usize = 48;

/// Rates of pages that are programmed alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    setting: Setting,
    /// Equivalent cycles up to which there are rows.
    cycles: f64,
    rows: Vec<Option<Row>>,
}

/// At one wear.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    /// Logarithms of the rate without reads, by age.
    logarithms: [f64; AGES],
    /// What one read adds.
    disturb: f64,
}

impl Rates {
    /// A grid up to `cycles` equivalent cycles, of which nothing is known yet.
    pub fn new(setting: Setting, cycles: f64) -> Rates {
        Rates { setting, cycles, rows: vec![None; WEARS + 1] }
    }

    /// The rate by `model`, which must be the same every time.
    pub fn rber(&mut self, model: &Reliability, cycles: f64, age: Span, reads: u32) -> f64 {
        let at = (cycles / self.cycles * WEARS as f64).clamp(0.0, WEARS as f64);
        let below = (at as usize).min(WEARS - 1);
        let (low, high) = (self.row(model, below), self.row(model, below + 1));
        let share = at - below as f64;
        let between = |low: f64, high: f64| low + share * (high - low);
        let rate = libm::exp(between(low.at(age), high.at(age)));
        (rate + f64::from(reads) * between(low.disturb, high.disturb)).min(0.5)
    }

    fn row(&mut self, model: &Reliability, index: usize) -> Row {
        let (setting, cycles) = (self.setting, self.cycles / WEARS as f64 * index as f64);
        *self.rows[index].get_or_insert_with(|| {
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
        })
    }
}

impl Row {
    fn at(&self, age: Span) -> f64 {
        let halves = 2.0 * libm::log2(age.as_s() / FIRST_AGE + 1.0);
        let below = (halves as usize).min(AGES - 2);
        let (low, high) = (self.logarithms[below], self.logarithms[below + 1]);
        low + (halves - below as f64).min(1.0) * (high - low)
    }
}

/// The age of a column, in seconds.
fn age_at(column: usize) -> f64 {
    FIRST_AGE * (libm::exp2(column as f64 / 2.0) - 1.0)
}

fn seconds(age: f64) -> Span {
    Span((age * 1e9) as u64)
}
