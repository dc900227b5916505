//! Threshold voltages of cells of one to four bits, and the bit error rate of each type of page at
//! any read references.
//!
//! [`crate::vth`] and [`crate::rber`] have the four states of a 2-bit cell at references that suit
//! just-written data. Here a cell of n bits has 2^n states, and references move: a controller that
//! cannot correct a page reads it again at references for data that has lost more charge (*read
//! retry*). Everything else is as there: each state is a Gaussian, ISPP leaves a programmed state
//! uniform over one step, one noise variance gives the growth law of the RBER, and retention lowers
//! and widens a state in proportion to its height above the erased one.
//!
//! **Pages.** States are Gray-coded: each reference determines one bit, which belongs to one page
//! of the word line. The RBER of a page is the sum of the tails over its references, each of which
//! holds the cells of one state, a share of 1 / 2^n:
//!
//! ```text
//! RBER(page) = (sum of both tails over each of its references) / 2^n
//! ```
//!
//! For two bits, the mean over both pages is the six tails over eight of [`crate::rber`].
//!
//! **References.** Those of [`WornCells::reference`] lie where both neighbors are the same number
//! of standard deviations away. A retry table lowers those for just-written data by steps: the
//! references of a *shift* lie as much lower as a loss that takes the highest state down by the
//! shift takes the states beside them down. See docs/decisions/superblocks.md, "Which voltages do
//! the states have?".

use crate::normal::above;
use crate::parameters::Parameters;
use crate::rber::{ModelError, WORN_OUT, sound};
use crate::root::Rising;
use crate::vth::{Setting, State};
use fowler_units::Span;

/// The maximum number of bits of a cell, and the number of states of such a cell.
pub const BITS_MOST: u32 = 4;
const STATES_MOST: usize = 1 << BITS_MOST;

/// The assignment of the bits of a cell to its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrayCode {
    /// Balanced code: the pages need about as many references each: 1-2 for two bits, 2-3-2 for
    /// three, 4-4-4-3 for four. The last is the balanced Gray code of 4 bits, whose cycle is cut in
    /// the top page.
    Balanced,
    /// Reflected code: each page needs twice as many references as the one before: 1-2-4, 1-2-4-8.
    Reflected,
}

impl GrayCode {
    /// Returns the page of a multi-bit cell that is read with the reference voltage between the
    /// states `boundary` and `boundary + 1`; `bits` is the number of bits per cell.
    pub fn page(self, bits: u32, boundary: usize) -> usize {
        match (self, bits) {
            (GrayCode::Balanced, 3) => [2, 1, 0, 1, 2, 1, 0][boundary],
            (GrayCode::Balanced, 4) => [0, 1, 3, 2, 3, 1, 0, 1, 2, 3, 2, 1, 0, 2, 0][boundary],
            _ => bits as usize - 1 - (boundary + 1).trailing_zeros() as usize,
        }
    }
}

/// Age of the data for which a controller has chosen its read reference voltages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum References {
    /// Read reference voltages for just-written data, whatever the age of the data read.
    Fixed,
    /// Read reference voltages for the age of the data read: the controller tracks the fall of the
    /// threshold voltages.
    Tracked,
}

/// The positions of the states of a cell, in V, when just written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Bits of a cell: 1 to [`BITS_MOST`].
    pub bits: u32,
    /// The assignment of the cell's bits to its threshold-voltage states: a Gray code.
    pub code: GrayCode,
    /// The mean threshold voltages in V of the states of the multi-bit cell, the erased one first.
    /// Only the first 2^`bits` entries are used.
    means: [f64; STATES_MOST],
    /// The standard deviation of the erased state in V, when just written and unworn.
    erased_sd: f64,
    /// ISPP step in V.
    step: f64,
}

impl Window {
    /// Returns cells whose programmed states are evenly spaced from 0 to `width` V (a single one at
    /// `width`), with the erased state at -`below` V. The ISPP step is `share` times the spacing;
    /// the standard deviation of the erased state is `erased_sd` times `below`.
    ///
    /// # Panics
    /// If there are no bits, or more than [`BITS_MOST`].
    pub fn even(
        bits: u32,
        code: GrayCode,
        (width, below): (f64, f64),
        (share, erased_sd): (f64, f64),
    ) -> Window {
        assert!((1..=BITS_MOST).contains(&bits), "cells of {bits} bits");
        let gaps = f64::from((1 << bits) - 2);
        let gap = if bits == 1 { width } else { width / gaps };
        let lowest = if bits == 1 { width } else { 0.0 };
        let means = std::array::from_fn(|state| match state {
            0 => -below,
            _ => lowest + gap * (state - 1) as f64,
        });
        Window { bits, code, means, erased_sd: erased_sd * below, step: share * gap }
    }

    /// Returns the states of the 2-bit cells of `parameters` at nominal voltages and step.
    pub fn of_two_bits(parameters: &Parameters) -> Window {
        let p = parameters;
        let written = |verify: f64| verify + p.step / 2.0;
        let mut means = [p.erased; STATES_MOST];
        means[1..4].copy_from_slice(&[p.programmed_1, p.programmed_2, p.programmed_3].map(written));
        let (code, erased_sd) = (GrayCode::Reflected, p.erased_sd * p.erased);
        Window { bits: 2, code, means, erased_sd, step: p.step }
    }

    /// Returns the number of threshold voltage states of a cell, 2^bits.
    pub fn states(&self) -> usize {
        1 << self.bits
    }

    /// Returns the distance in V from the mean voltage of the erased state to that of the highest
    /// state.
    pub fn height(&self) -> f64 {
        self.means[self.states() - 1] - self.means[0]
    }

    /// Returns the ISPP step, in V.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Returns the state voltages of cells programmed with `setting`, if `self` has those at
    /// nominal voltages. The setting's scale multiplies the verify voltages and the erased state;
    /// programmed states lie half an ISPP step above their verify voltages.
    pub fn at(&self, setting: Setting) -> Window {
        let Setting { scale, .. } = setting;
        let step = setting.step * scale;
        let means = std::array::from_fn(|state| match state {
            0 => self.means[0] * scale,
            _ => (self.means[state] - self.step / 2.0) * scale + step / 2.0,
        });
        Window { means, erased_sd: self.erased_sd * scale, step, ..*self }
    }

    fn variance(&self, state: usize, noise: f64) -> f64 {
        let own =
            if state == 0 { self.erased_sd * self.erased_sd } else { self.step * self.step / 12.0 };
        own + noise
    }

    /// Returns the mean RBER over the pages of just-written data.
    fn fresh(&self, noise: f64) -> f64 {
        let sd = |state| libm::sqrt(self.variance(state, noise));
        let tails = (0..self.states() - 1)
            .map(|at| 2.0 * above((self.means[at + 1] - self.means[at]) / (sd(at) + sd(at + 1))));
        tails.sum::<f64>() / self.states() as f64 / f64::from(self.bits)
    }
}

/// Cells of one to four bits: the positions of their states, and their wear and loss of charge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cells {
    window: Window,
    parameters: Parameters,
}

impl Cells {
    /// Creates the model of cells with the state voltages `window`. `parameters` give the growth of
    /// the raw bit error rate with P/E cycles, and retention.
    ///
    /// # Errors
    /// The first reason why the constants do not describe cells.
    pub fn new(window: Window, parameters: Parameters) -> Result<Cells, ModelError> {
        sound(&parameters)?;
        let Parameters { rber_unworn, .. } = parameters;
        if !window.means[..window.states()].is_sorted_by(|low, high| low < high) {
            return Err(ModelError::NotAscending);
        }
        let least = window.fresh(0.0);
        if rber_unworn < least {
            return Err(ModelError::TooGood { asked: rber_unworn, least });
        }
        if rber_unworn > WORN_OUT {
            return Err(ModelError::TooBad { asked: rber_unworn });
        }
        Ok(Cells { window, parameters: Parameters { step: window.step, ..parameters } })
    }

    /// Returns the threshold voltages of the cells' states, in V, when just written.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the constants of this model of cells, including the cells' own ISPP step.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns the mean RBER of just-written data after `cycles` P/E cycles. The RBER grows
    /// exponentially with P/E cycles, up to 0.2.
    pub fn just_written(&self, cycles: f64) -> f64 {
        let Parameters { rber_unworn, growth_mean, .. } = self.parameters;
        (rber_unworn * libm::exp(growth_mean * cycles)).min(WORN_OUT)
    }

    /// Returns the cells after `cycles` P/E cycles.
    pub fn worn(&self, cycles: f64) -> WornCells {
        let window = self.window;
        let (height, step) = (window.height(), window.step);
        let target = self.just_written(cycles);
        let value = |noise| window.fresh(noise);
        let rising = Rising { value, target, bend: step * step / 12.0, smooth: true };
        // Noise as wide as the whole window causes an RBER above WORN_OUT.
        let noise = rising.last(0.0, height * height).unwrap_or(0.0);
        let p = &self.parameters;
        let power = |exponent| if cycles > 0.0 { libm::pow(cycles, exponent) } else { 0.0 };
        WornCells {
            window,
            noise,
            loss: p.retention_charge * p.retention_shift * power(p.retention_shift_power),
            spread: p.retention_charge * p.retention_spread * power(p.retention_spread_power),
            onset: p.retention_onset,
        }
    }
}

/// Cells with several bits whose blocks have had a number of P/E cycles, and the effects of that
/// wear on their threshold voltages.
#[derive(Clone, Copy, Debug)]
pub struct WornCells {
    window: Window,
    /// The variance that wear adds to the threshold voltage of every state, in V^2.
    noise: f64,
    /// Share of the height above the erased state that a state loses per unit of retention, `ln(1 +
    /// age / onset)`. `spread` is the variance added per volt of height and unit, in V.
    loss: f64,
    spread: f64,
    onset: f64,
}

impl WornCells {
    /// Returns cells as worn as these, but programmed at `setting`, a factor of the nominal
    /// threshold voltages and an ISPP step.
    pub fn at(&self, setting: Setting) -> WornCells {
        WornCells { window: self.window.at(setting), ..*self }
    }

    /// Returns the mean raw bit error rate of the pages of a word line whose data was programmed
    /// `age` ago, read at references for just-written data or at those that suit the age.
    pub fn mean_rber(&self, references: References, age: Span) -> f64 {
        let at_age = match references {
            References::Fixed => Span::ZERO,
            References::Tracked => age,
        };
        let boundaries = 0..self.window.states() - 1;
        let tails = boundaries.map(|at| self.tails(at, self.reference(at, at_age), age));
        tails.sum::<f64>() / self.window.states() as f64 / f64::from(self.window.bits)
    }

    /// Returns the distribution of threshold voltages of state `number` (0 is the erased one) in
    /// data of the age `age`.
    pub fn state(&self, number: usize, age: Span) -> State {
        let Window { means, .. } = self.window;
        let height = means[number] - means[0];
        let lost = height * libm::log1p(age.as_s() / self.onset);
        let variance = self.window.variance(number, self.noise) + self.spread * lost;
        State { mean: means[number] - self.loss * lost, sd: libm::sqrt(variance) }
    }

    /// Returns the voltage by which the highest state of data of this age has come down.
    pub fn shift(&self, age: Span) -> f64 {
        self.loss * self.window.height() * libm::log1p(age.as_s() / self.onset)
    }

    /// Returns the reference above a state that is the same number of standard deviations from both
    /// neighboring states in data of this age.
    pub fn reference(&self, boundary: usize, age: Span) -> f64 {
        between(self.state(boundary, age), self.state(boundary + 1, age))
    }

    /// Returns the read reference above state `boundary`, in V, if the entry of a retry table
    /// lowers the reference for the highest state's voltages by `shift` volts.
    pub fn shifted(&self, boundary: usize, shift: f64) -> f64 {
        let usual = self.reference(boundary, Span::ZERO);
        usual - shift * (usual - self.window.means[0]) / self.window.height()
    }

    /// Returns the RBER of a page of data of this age, at the references of a retry table's entry
    /// that expects the highest state to have come down by `shift` volts.
    pub fn rber(&self, page: usize, shift: f64, age: Span) -> f64 {
        self.page(page, age, |boundary| self.shifted(boundary, shift))
    }

    /// Returns the RBER of a page of data of this age, at the references that suit that age.
    pub fn rber_at_best(&self, page: usize, age: Span) -> f64 {
        self.page(page, age, |boundary| self.reference(boundary, age))
    }

    /// Returns the probability that a reference misreads one of its two neighboring states, summed
    /// over both.
    fn tails(&self, boundary: usize, reference: f64, age: Span) -> f64 {
        tails(self.state(boundary, age), self.state(boundary + 1, age), reference)
    }

    fn page(&self, page: usize, age: Span, reference: impl Fn(usize) -> f64) -> f64 {
        let Window { bits, code, .. } = self.window;
        let boundaries = (0..self.window.states() - 1).filter(|&at| code.page(bits, at) == page);
        let tails = boundaries.map(|at| self.tails(at, reference(at), age));
        (tails.sum::<f64>() / self.window.states() as f64).min(0.5)
    }
}

/// Returns the reference that is the same number of standard deviations from two neighboring
/// states.
pub fn between(low: State, high: State) -> f64 {
    low.mean + (high.mean - low.mean) * low.sd / (low.sd + high.sd)
}

/// Returns the probability that a reference misreads one of two neighboring states, summed over
/// both.
pub fn tails(low: State, high: State, reference: f64) -> f64 {
    above((reference - low.mean) / low.sd) + above((high.mean - reference) / high.sd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rber::{Analytic, Condition, Reliability};
    use crate::voltage::SCALES;
    use std::collections::BTreeSet;

    const DAY: u64 = 86_400_000_000_000;

    fn days(count: u64) -> Span {
        Span(count * DAY)
    }

    fn cells(bits: u32, code: GrayCode) -> Cells {
        let window = Window::even(bits, code, (4.8, 2.4), (0.15, 0.05));
        Cells::new(window, Parameters::default()).expect("cells")
    }

    /// Every state has a distinct word, neighbors differ in one bit, and each page has the number
    /// of references that the code prescribes.
    #[test]
    fn codes_are_gray_codes() {
        use GrayCode::{Balanced, Reflected};
        for (code, counts) in [
            (Balanced, &[1][..]),
            (Balanced, &[1, 2]),
            (Balanced, &[2, 3, 2]),
            (Balanced, &[4, 4, 4, 3]),
            (Reflected, &[1, 2]),
            (Reflected, &[1, 2, 4]),
            (Reflected, &[1, 2, 4, 8]),
        ] {
            let bits = counts.len() as u32;
            let pages: Vec<usize> = (0..(1 << bits) - 1).map(|at| code.page(bits, at)).collect();
            let mut word = 0;
            let mut words = BTreeSet::from([word]);
            for page in &pages {
                word ^= 1 << page;
                assert!(words.insert(word), "{code:?} of {bits} bits: {word:b} twice");
            }
            let found: Vec<usize> = (0..counts.len())
                .map(|page| pages.iter().filter(|&&it| it == page).count())
                .collect();
            assert_eq!(found, counts, "{code:?}");
        }
    }

    /// With two bits, the mean rate over the pages equals that of HIRE's cell model, at any voltage
    /// and step.
    #[test]
    fn two_bits_at_any_setting_are_the_four_states() {
        let parameters = Parameters::default();
        let four = Reliability::Analytic(Analytic::new(parameters).expect("parameters"));
        let cells = Cells::new(Window::of_two_bits(&parameters), parameters).expect("cells");
        let cells = Reliability::WordLines(cells, References::Fixed);
        for scale in SCALES {
            for step in [1.0, 1.25, 2.0].map(|ratio| ratio * parameters.step) {
                let setting = Setting { scale, step };
                for cycles in [0.0, 300.0, 3000.0, 12_000.0] {
                    for (age, reads) in [(Span::ZERO, 0), (days(3), 40_000), (days(365), 1000)] {
                        let condition = Condition { cycles, age, reads, setting };
                        let (found, expected) = (cells.rber(&condition), four.rber(&condition));
                        assert!((found / expected - 1.0).abs() < 1e-9, "{condition:?}: {found}");
                    }
                }
            }
        }
    }

    /// Higher voltages never cause more errors, and coarser steps never fewer. Exception: in 1-bit
    /// cells a coarser step may help, because it raises the only programmed state more than it
    /// widens it.
    #[test]
    fn voltage_helps_and_coarse_steps_do_not() {
        // Beyond this rate, a wider or lower state may correct a cell by chance (`rber.rs`).
        const READABLE: f64 = 0.09;
        for bits in 2..=BITS_MOST {
            let cells = cells(bits, GrayCode::Balanced);
            let nominal = cells.window().step();
            let model = Reliability::WordLines(cells, References::Fixed);
            for (cycles, age) in [(0.0, Span::ZERO), (1000.0, days(30)), (3000.0, days(365))] {
                let rate = |scale, ratio: f64| {
                    let setting = Setting { scale, step: ratio * nominal };
                    model.rber(&Condition { cycles, age, reads: 0, setting })
                };
                let (scales, ratios) = ([1.2, 1.0, 0.8], [1.0, 1.5, 2.0]);
                for ratio in ratios {
                    let rates = scales.map(|scale| rate(scale, ratio));
                    let readable = rates.into_iter().take_while(|&rate| rate < READABLE);
                    assert!(readable.is_sorted(), "{bits} {cycles} {ratio}: {rates:?}");
                }
                for scale in scales {
                    let rates = ratios.map(|ratio| rate(scale, ratio));
                    let readable = rates.into_iter().take_while(|&rate| rate < READABLE);
                    assert!(readable.is_sorted(), "{bits} {cycles} {scale}: {rates:?}");
                }
            }
        }
    }

    /// With two bits, states, references and rates equal those of HIRE's cell model.
    #[test]
    fn two_bits_are_those_of_the_four_states() {
        let parameters = Parameters::default();
        let four = Analytic::new(parameters).expect("parameters");
        let cells = Cells::new(Window::of_two_bits(&parameters), parameters).expect("cells");
        let nominal = Setting { scale: 1.0, step: parameters.step };
        let near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other.abs();
        for cycles in [0.0, 10.0, 1000.0, 3000.0, 10_000.0] {
            let (four_worn, worn) = (four.worn(cycles), cells.worn(cycles));
            for age in [Span::ZERO, days(1), days(30), days(365)] {
                for (number, state) in four_worn.states(age, nominal).into_iter().enumerate() {
                    let ours = worn.state(number, age);
                    assert!(near(ours.mean, state.mean) && near(ours.sd, state.sd), "{cycles}");
                }
                let mean = (worn.rber(0, 0.0, age) + worn.rber(1, 0.0, age)) / 2.0;
                let expected = four_worn.rber(age, 0, nominal);
                assert!(near(mean, expected), "{cycles}, {age}: {mean} {expected}");
            }
            for (boundary, at) in four_worn.references(nominal).into_iter().enumerate() {
                assert!(near(worn.reference(boundary, Span::ZERO), at), "{cycles}");
            }
        }
    }

    /// Just-written states all have the standard deviation s and lie g apart, and the erased state
    /// makes no errors: a page with k references, all between programmed states, has 2 k tails of
    /// Q(g / 2 s), of which each holds an eighth or a sixteenth of the cells.
    #[test]
    fn just_written_pages_are_the_closed_form() {
        for (bits, code, counts) in [
            // The reference above the erased state is of the upper page, or of the lower of four.
            (3, GrayCode::Balanced, &[2.0, 3.0, 1.0][..]),
            (3, GrayCode::Reflected, &[1.0, 2.0, 3.0]),
            (4, GrayCode::Balanced, &[3.0, 4.0, 4.0, 3.0]),
            (4, GrayCode::Reflected, &[1.0, 2.0, 4.0, 7.0]),
        ] {
            let states = f64::from(1 << bits);
            let gap = 4.8 / (states - 2.0);
            for cycles in [0.0, 1000.0, 3000.0] {
                let cells = cells(bits, code);
                let worn = cells.worn(cycles);
                let sd = worn.state(2, Span::ZERO).sd;
                let tail = above(gap / 2.0 / sd);
                for (page, &count) in counts.iter().enumerate() {
                    let (found, expected) =
                        (worn.rber(page, 0.0, Span::ZERO), count * 2.0 * tail / states);
                    assert!((found / expected - 1.0).abs() < 1e-3, "{code:?} {page}: {found}");
                }
                // Wear follows the published growth, as the mean over the pages.
                let sum: f64 = (0..counts.len()).map(|it| worn.rber(it, 0.0, Span::ZERO)).sum();
                let law = 1e-4 * (3.7e-4 * cycles).exp();
                let mean = sum / f64::from(bits);
                assert!((mean / law - 1.0).abs() < 1e-9, "{mean} {law}");
            }
        }
    }

    /// The highest of eight states lies 7.2 V above the erased one.
    #[test]
    fn retention_is_the_published_formula() {
        let cells = cells(3, GrayCode::Balanced);
        let worn = cells.worn(2500.0);
        let logarithm = 25f64.ln();
        let (fresh, aged) = (worn.state(7, Span::ZERO), worn.state(7, days(1)));
        let lost = 0.38 * 4e-4 * 50.0 * 7.2 * logarithm;
        assert!((fresh.mean - aged.mean - lost).abs() < 1e-12);
        assert!((worn.shift(days(1)) - lost).abs() < 1e-12);
        let spread = 0.38 * 4e-6 * 2500f64.powf(0.6) * 7.2 * logarithm;
        assert!((aged.sd.powi(2) - fresh.sd.powi(2) - spread).abs() < 1e-12);
        // A state of half the height loses half as much, and the erased one nothing.
        let half = worn.state(2, Span::ZERO).mean - worn.state(2, days(1)).mean;
        assert!((half / lost - (2.4 + 0.8) / 7.2).abs() < 1e-12);
        assert_eq!(worn.state(0, days(1)).mean, -2.4);
    }

    /// References tracked to the data's age are nearly as good as optimal ones. References for
    /// just-written data have rates many times as high, which rise with age and cycles.
    #[test]
    fn references_that_follow_the_data_read_it() {
        for bits in [2, 3, 4] {
            let cells = cells(bits, GrayCode::Balanced);
            for page in 0..bits as usize {
                let mut last = 0.0;
                for (cycles, age) in
                    [(0.0, days(365)), (500.0, days(30)), (1000.0, days(90)), (3000.0, days(365))]
                {
                    let worn = cells.worn(cycles);
                    let rate = worn.rber(page, 0.0, age);
                    assert!(rate > last, "{bits} {page} {cycles}: {rate} {last}");
                    last = rate;
                    let best = worn.rber_at_best(page, age);
                    let following = worn.rber(page, worn.shift(age), age);
                    // States widen the more the higher they are, so the best references lie a
                    // little lower still.
                    assert!(following < 1.15 * best, "{bits} {page} {cycles}: {following} {best}");
                    assert!(cycles == 0.0 || rate > 1.2 * best, "{bits} {page}: {rate} {best}");
                }
            }
        }
    }

    /// The mean rates of data 30 days old after 1,000 cycles, at references that stay and at those
    /// that follow: the numbers of docs/decisions/superblocks.md, "How do cells err by sensing
    /// level on a drive with superblocks?", at the constants of `[aging]` and `[reliability]`.
    #[test]
    fn tracking_leaves_little_of_what_fixed_references_misread() {
        let widths = (0.15, Parameters::default().erased_sd);
        let window = Window::even(3, GrayCode::Balanced, (4.8, 2.4), widths);
        let worn = Cells::new(window, Parameters::default()).expect("cells").worn(1000.0);
        for (references, expected) in [(References::Fixed, 1.1e-2), (References::Tracked, 6.1e-4)] {
            let rate = worn.mean_rber(references, days(30));
            assert!((rate / expected - 1.0).abs() < 0.05, "{references:?}: {rate}");
        }
    }

    #[test]
    fn impossible_cells_are_refused() {
        let coarse = Window::even(4, GrayCode::Balanced, (4.8, 2.4), (0.9, 0.15));
        let refused = Cells::new(coarse, Parameters::default());
        assert!(matches!(refused, Err(ModelError::TooGood { .. })), "{refused:?}");
        let reversed = Window::even(3, GrayCode::Balanced, (-4.8, 2.4), (0.3, 0.15));
        let refused = Cells::new(reversed, Parameters::default());
        assert_eq!(refused, Err(ModelError::NotAscending));
    }
}
