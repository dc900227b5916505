//! The raw bit error rate of a page.
//!
//! A reading is wrong if a threshold voltage is on the wrong side of a read reference. The four
//! states are equally likely and Gray-coded, so each of the six tails over the three references
//! costs one of two bits in a quarter of the cells:
//!
//! ```text
//! RBER = (sum of the six tails) / 8 + disturb(n) * reads
//! ```
//!
//! **Wear.** RHIO prints a *growth rate* of the RBER with P/E cycles, a Gaussian over blocks, and
//! says that the RBER of blocks is "log Gaussian-like". Both hold if the logarithm of the RBER
//! grows linearly: `RBER = rber_unworn * exp(s * n)` for just-written, never-read data at nominal
//! voltages and step. We read `s` as that exponent (assumed; neither paper prints the formula). At
//! each wear, bisection finds the noise variance of [`crate::vth`] that gives this rate. Wear has
//! no other effect on fresh data. Retention, scale, step and reads then act through the voltages.
//!
//! **Read disturb.** Each read adds a constant to the RBER of the block's other pages (Cai et al.,
//! DSN 2015). The slope grows as a power of cycles. It does not depend on the V_th scale or the
//! step, as there are no measurements of that.
//!
//! **Directions.** More cycles, age, reads or step, or less voltage, never reduce errors, up to a
//! rate of 0.09, six times the highest correctable one. Beyond that, states have crossed their
//! references, and a wider or lower state may correct a cell by chance.
//!
//! Limits: errors by more than one state count once, references do not follow the data's age, and
//! wear stops at a just-written RBER of 0.2, where every read fails anyway.

use crate::ldpc::Ldpc;
use crate::multibit::{Cells, References, WornCells};
use crate::normal::above;
use crate::parameters::Parameters;
use crate::root::Rising;
use crate::table::{Table, Tabled};
use crate::vth::{self, Setting, State, States};
use fowler_units::Span;

/// History of a page on which its bit error rate depends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Equivalent cycles of the page's block: P/E cycles times the rate at which cycles raise the
    /// block's bit error rate, over the mean of that rate; at least 0.
    pub cycles: f64,
    /// Number of reads of this page's block since the last erase of that block.
    pub age: Span,
    /// Number of reads of the block since its last erase.
    pub reads: u32,
    /// The voltages and the ISPP step at which the page was programmed.
    pub setting: Setting,
}

/// Source of a drive's raw bit error rates.
#[derive(Clone, Debug, PartialEq)]
pub enum Reliability {
    /// Raw bit error rates computed from the threshold voltages of 2-bit cells.
    Analytic(Analytic),
    /// Raw bit error rates looked up in tables of measurements.
    Tabled(Tabled),
    /// Threshold voltages of cells of any number of bits: the mean over the pages of a word line.
    WordLines(Cells, References),
}

impl Reliability {
    /// Returns the constants of the cell model. With tables, these are the constants for values
    /// that tables do not cover.
    pub fn parameters(&self) -> &Parameters {
        match self {
            Reliability::Analytic(model) => &model.parameters,
            Reliability::Tabled(tables) => tables.parameters(),
            Reliability::WordLines(cells, _) => cells.parameters(),
        }
    }

    /// Returns true if the model has bit error rates for pages programmed with these voltages and
    /// this ISPP step. Check this before building a drive.
    pub fn covers(&self, setting: Setting) -> bool {
        match self {
            Reliability::Analytic(_) | Reliability::WordLines(..) => true,
            Reliability::Tabled(tables) => tables.covers(setting),
        }
    }

    /// Returns a block whose wear equals `cycles` P/E cycles of an average block; it can be reused
    /// for many ages and numbers of reads.
    pub fn block(&self, cycles: f64) -> Block<'_> {
        match self {
            Reliability::Analytic(model) => Block::Analytic(model.worn(cycles)),
            Reliability::Tabled(tables) => Block::Tabled(tables, cycles),
            Reliability::WordLines(cells, references) => {
                Block::WordLines((cells, *references), cells.worn(cycles), cycles)
            }
        }
    }

    /// Returns the raw bit error rate of a page with this history, from 0 to 0.5.
    ///
    /// # Panics
    ///
    /// If rates come from tables and the setting has no table.
    pub fn rber(&self, condition: &Condition) -> f64 {
        let Condition { cycles, age, reads, setting } = *condition;
        self.block(cycles).rber(age, reads, setting)
    }

    /// Returns the sensing level that a read needs, as an index into the levels of `ldpc`; `None`
    /// if no level suffices.
    pub fn level(&self, condition: &Condition, ldpc: &Ldpc) -> Option<usize> {
        ldpc.needed(self.rber(condition))
    }
}

/// A block after a certain number of equivalent cycles, whose bit error rates come from voltages or
/// from tables.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "one at a time, on the stack")]
pub enum Block<'a> {
    /// Raw bit error rates computed from the threshold voltages of the block's 2-bit cells.
    Analytic(Worn<'a>),
    /// Raw bit error rates looked up in tables of measurements, at a wear in P/E cycles of an
    /// average block.
    Tabled(&'a Tabled, f64),
    /// Raw bit error rates computed from the threshold voltages of word lines, at a wear in P/E
    /// cycles of an average block.
    WordLines((&'a Cells, References), WornCells, f64),
}

impl Block<'_> {
    /// Returns the raw bit error rate of a page of the block, from 0 to 0.5; see
    /// [`Reliability::rber`].
    pub fn rber(&self, age: Span, reads: u32, setting: Setting) -> f64 {
        self.page(reads, setting).rber(age)
    }

    /// Returns a page of the block, read `reads` times since the erase and programmed at `setting`.
    /// From it, bit error rates at many retention ages are computed faster.
    ///
    /// # Panics
    ///
    /// If rates come from tables and the setting has no table.
    pub fn page(&self, reads: u32, setting: Setting) -> Page<'_> {
        match self {
            Block::Analytic(worn) => worn.page(reads, setting),
            Block::Tabled(tables, cycles) => {
                let disturbed = disturbed(tables.parameters(), *cycles, reads);
                Page { data: Data::Tabled(tables.table(setting), *cycles), disturbed }
            }
            Block::WordLines((cells, references), worn, cycles) => {
                let disturbed = disturbed(cells.parameters(), *cycles, reads);
                Page { data: Data::WordLines(worn.at(setting), *references), disturbed }
            }
        }
    }
}

/// A page of a block, after a number of reads of the block that disturb it.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    data: Data<'a>,
    /// Bit error rate that read disturb adds to the page.
    disturbed: f64,
}

#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "one at a time, on the stack")]
enum Data<'a> {
    /// Threshold voltages of the four states of the page's cells, and the three reference voltages
    /// at which the page is read, in V.
    Analytic(States, [f64; 3]),
    /// Table of measured bit error rates, and the wear at which it is read: the P/E cycles after
    /// which an average block is as worn as the page's block.
    Tabled(&'a Table, f64),
    /// The cells of a word line, and the age of data for which the controller chose the read
    /// references.
    WordLines(WornCells, References),
}

impl Page<'_> {
    /// Returns true if the page's bit error rate is known to rise with age everywhere. The rate of
    /// a table need not.
    pub(crate) fn is_smooth(&self) -> bool {
        !matches!(self.data, Data::Tabled(..))
    }

    /// Returns the raw bit error rate of the page if its data has this age, from 0 to 0.5.
    pub fn rber(&self, age: Span) -> f64 {
        let rate = match &self.data {
            Data::Analytic(states, references) => tails(&states.at(age), references),
            Data::Tabled(table, cycles) => table.rber(*cycles, age),
            Data::WordLines(worn, references) => worn.mean_rber(*references, age),
        };
        (rate + self.disturbed).min(0.5)
    }
}

/// Reason for which constants do not describe flash cells.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A constant of the cell model is negative, too large, not a number, or zero where zero is not
    /// allowed.
    #[error("`{name}` is {value}; expected a number {} and below 1e12", least(.name))]
    NoAmount {
        /// Name of the constant of the cell model that is negative, too large, not a number, or
        /// zero where zero is not allowed.
        name: &'static str,
        /// Value of the constant of the cell model that is not above (or, for some, at least) 0 and
        /// below 1e12.
        value: f64,
    },
    /// The threshold voltage of a state is not above that of the state below.
    #[error("the threshold voltages must be ascending from state to state")]
    NotAscending,
    /// The growth rate's bounds include rates of zero or less, with which blocks would improve.
    #[error(
        "bounds at {bound} standard deviations are too wide: some blocks would improve with every \
         cycle"
    )]
    Healing {
        /// Bounds, on both sides of the mean, of the random rates at which blocks' bit error rates
        /// grow per P/E cycle, in standard deviations of that rate.
        bound: f64,
    },
    /// The threshold-voltage distributions of the cells' states are so wide that an unworn block
    /// has more bit errors than the constant `rber_unworn` of the cell model allows.
    #[error("`rber_unworn` is {asked:e}; the step and the erased state alone cause {least:e}")]
    TooGood {
        /// Raw bit error rate of an unworn block that was asked for: the constant `rber_unworn` of
        /// the cell model.
        asked: f64,
        /// Lowest raw bit error rate that an unworn block can have, given the widths of its states.
        least: f64,
    },
    /// The number of bits per cell is not 1 to 4.
    #[error("cells of {asked} bits; expected 1 to 4")]
    Bits {
        /// Number of bits per cell that was given.
        asked: u32,
    },
    /// The raw bit error rate of an unworn block is so high that reads would fail.
    #[error("`rber_unworn` is {asked}; expected at most 0.2")]
    TooBad {
        /// Raw bit error rate of an unworn block that was asked for: the constant `rber_unworn` of
        /// the cell model.
        asked: f64,
    },
}

/// Names of the constants of the cell model that may be zero; all others must be above zero.
const MAY_BE_ZERO: [&str; 6] = [
    "retention_charge",
    "retention_shift",
    "retention_spread",
    "disturb_slope",
    "end_age",
    "end_reads",
];

/// Highest raw bit error rate of just-written data: further P/E cycles do not raise it.
pub(crate) const WORN_OUT: f64 = 0.2;

/// Returns the lower bound of the cell-model constant `name` in words, for messages.
fn least(name: &str) -> &'static str {
    if MAY_BE_ZERO.contains(&name) { "of at least 0" } else { "above 0" }
}

/// Checks that all constants are in range and that the bit error rate of every block rises with P/E
/// cycles.
///
/// # Errors
/// The first problem.
pub fn sound(parameters: &Parameters) -> Result<(), ModelError> {
    for (name, value) in parameters.values() {
        let least = if MAY_BE_ZERO.contains(&name) { 0.0 } else { f64::MIN_POSITIVE };
        if !(least..1e12).contains(&value) {
            return Err(ModelError::NoAmount { name, value });
        }
    }
    let Parameters { growth_mean, growth_sd, growth_bound, .. } = *parameters;
    if growth_mean <= growth_bound * growth_sd {
        return Err(ModelError::Healing { bound: growth_bound });
    }
    Ok(())
}

/// Model that computes raw bit error rates from threshold voltages.
#[derive(Clone, Debug, PartialEq)]
pub struct Analytic {
    parameters: Parameters,
}

impl Analytic {
    /// Creates a model of 2-bit cells with these constants.
    ///
    /// # Errors
    /// The first reason why the constants do not describe cells.
    pub fn new(parameters: Parameters) -> Result<Analytic, ModelError> {
        sound(&parameters)?;
        let Parameters { rber_unworn, .. } = parameters;
        let p = &parameters;
        if ![p.erased, p.programmed_1, p.programmed_2, p.programmed_3].is_sorted_by(|a, b| a < b) {
            return Err(ModelError::NotAscending);
        }
        let model = Analytic { parameters };
        let least = model.fresh(0.0);
        if rber_unworn < least {
            return Err(ModelError::TooGood { asked: rber_unworn, least });
        }
        if rber_unworn > WORN_OUT {
            return Err(ModelError::TooBad { asked: rber_unworn });
        }
        Ok(model)
    }

    /// Returns the constants of the cell model.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns the nominal voltages and ISPP step of the cell model.
    pub fn nominal(&self) -> Setting {
        Setting { scale: 1.0, step: self.parameters.step }
    }

    /// Returns the RBER of just-written data at nominal voltages and step, in a block whose wear
    /// equals `cycles` P/E cycles of an average block. The RBER grows exponentially with wear, up
    /// to 0.2.
    pub fn just_written(&self, cycles: f64) -> f64 {
        let Parameters { rber_unworn, growth_mean, .. } = self.parameters;
        (rber_unworn * libm::exp(growth_mean * cycles)).min(WORN_OUT)
    }

    /// Returns the RBER of just-written data in an unworn block with the variance `noise`.
    /// See docs/decisions/cells.md, "What widens the states with wear?".
    fn fresh(&self, noise: f64) -> f64 {
        let states = States::new(&self.parameters, self.nominal(), (0.0, noise)).at(Span::ZERO);
        tails(&states, &vth::references(&states))
    }

    /// Returns a block whose wear equals `cycles` P/E cycles of an average block.
    pub fn worn(&self, cycles: f64) -> Worn<'_> {
        let target = self.just_written(cycles);
        let highest = self.parameters.programmed_3;
        // Noise as wide as the whole voltage window causes an RBER above WORN_OUT.
        let step = self.parameters.step;
        let value = |noise| self.fresh(noise);
        let fresh = Rising { value, target, bend: step * step / 12.0, smooth: true };
        let noise = fresh.last(0.0, highest * highest);
        Worn { model: self, cycles, noise: noise.unwrap_or(0.0) }
    }
}

fn tails(states: &[State; 4], references: &[f64; 3]) -> f64 {
    let sum: f64 = (0..3)
        .map(|boundary| {
            let (low, high, at) = (states[boundary], states[boundary + 1], references[boundary]);
            above((at - low.mean) / low.sd) + above((high.mean - at) / high.sd)
        })
        .sum();
    sum / 8.0
}

/// A block of 2-bit cells at one wear, measured in P/E cycles of an average block.
#[derive(Clone, Copy, Debug)]
pub struct Worn<'a> {
    model: &'a Analytic,
    cycles: f64,
    noise: f64,
}

impl Worn<'_> {
    /// Returns the standard deviation of the noise that wear has caused, in V.
    pub fn noise_sd(&self) -> f64 {
        libm::sqrt(self.noise)
    }

    /// Returns the four states of the block's data at an age, the erased one first.
    pub fn states(&self, age: Span, setting: Setting) -> [State; 4] {
        self.all(setting).at(age)
    }

    fn all(&self, setting: Setting) -> States {
        States::new(&self.model.parameters, setting, (self.cycles, self.noise))
    }

    /// Returns the three read references of the block, in V.
    pub fn references(&self, setting: Setting) -> [f64; 3] {
        vth::references(&self.states(Span::ZERO, setting))
    }

    /// Returns the raw bit error rate of a page of the block, from 0 to 0.5.
    pub fn rber(&self, age: Span, reads: u32, setting: Setting) -> f64 {
        self.page(reads, setting).rber(age)
    }

    fn page<'a>(&self, reads: u32, setting: Setting) -> Page<'a> {
        let states = self.all(setting);
        let references = vth::references(&states.at(Span::ZERO));
        let disturbed = disturbed(&self.model.parameters, self.cycles, reads);
        Page { data: Data::Analytic(states, references), disturbed }
    }
}

/// Returns the raw bit error rate that `reads` reads of a block add to a page in it.
pub(crate) fn disturbed(parameters: &Parameters, cycles: f64, reads: u32) -> f64 {
    let Parameters { disturb_slope, disturb_cycles, disturb_power, .. } = *parameters;
    let wear = if cycles > 0.0 { libm::pow(cycles / disturb_cycles, disturb_power) } else { 0.0 };
    disturb_slope * wear * f64::from(reads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    #[test]
    fn noise_is_what_halving_finds() {
        for parameters in [Parameters::default(), Parameters::rhio()] {
            let model = Analytic::new(parameters).unwrap();
            let highest = parameters.programmed_3;
            for case in 0..200 {
                let cycles = 100.0 * f64::from(case);
                let target = model.just_written(cycles);
                let expected =
                    root::last(0.0, highest * highest, |noise| model.fresh(noise) <= target);
                assert_eq!(model.worn(cycles).noise, expected.unwrap(), "{cycles}");
            }
        }
    }
}
