//! Threshold voltages of the four states of a 2-bit cell, and the read references.
//!
//! Each state is a Gaussian. ISPP leaves a programmed state uniform between its verify voltage and
//! one step above it (variance step^2 / 12). Everything else that widens states (interference of
//! neighbors, random telegraph noise, trapped charge) is one *noise* variance that grows with wear
//! (see [`crate::rber`]). Retention lowers and widens programmed states (Dong, Pan, Xie, Varanasi,
//! Zhang, TVLSI 2012):
//!
//! ```text
//! shift    = K_s (x - x_0) K_d n^0.5 ln(1 + t / t_0)
//! variance = K_s (x - x_0) K_m n^0.6 ln(1 + t / t_0)
//! ```
//!
//! Here x - x_0 is the distance to the erased state, n the equivalent cycles and t the age. The
//! erased state does not move. The V_th scale multiplies the voltages, the step (HIRE, Table 1) and
//! the width of the erased state. It does not multiply the noise, which is why boosting helps.
//!
//! A reference lies where both neighboring states of just-written data are the same number of
//! standard deviations away, for the wear, scale and step of the block, which a drive knows.
//! References do not follow the data's age (that would be another scheme, ROR).

use crate::parameters::Parameters;
use fowler_units::Span;

/// Factor of the threshold voltages and ISPP step with which a page was programmed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Factor of the threshold voltages: 1 is nominal, HIRE has 1.2, 1.0 and 0.8.
    pub scale: f64,
    /// ISPP step in V at nominal threshold voltages. The step on the cells is this step times the
    /// factor `scale` of the voltages, so program time does not depend on that factor.
    pub step: f64,
}

/// Distribution of the threshold voltages of cells in one state: a Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Mean threshold voltage of the cells in the state, in V.
    pub mean: f64,
    /// Standard deviation of the threshold voltage, in V.
    pub sd: f64,
}

/// Threshold voltages of a block's states, independent of the age of its data.
#[derive(Clone, Copy, Debug)]
pub struct States {
    erased: State,
    /// Mean threshold voltages of the programmed states when just written, in V.
    written: [f64; 3],
    /// Variance of the threshold voltage of programmed states when just written, in V^2.
    variance: f64,
    /// Retention loss of a state per volt above the erased state, and the variance added by the
    /// loss, both per unit of `ln(1 + age / onset)`.
    shift: f64,
    spread: f64,
    onset: f64,
}

impl States {
    /// Creates the voltage states of cells whose wear equals `cycles` P/E cycles of an average
    /// block. `noise` is the variance of each state, in V^2, that wear has added.
    pub fn new(parameters: &Parameters, setting: Setting, (cycles, noise): (f64, f64)) -> States {
        let p = parameters;
        let erased = p.erased * setting.scale;
        let width = p.erased_sd * erased;
        let step = on_cells(setting);
        let written = |verify: f64| verify * setting.scale + step / 2.0;
        States {
            erased: State { mean: erased, sd: libm::sqrt(width * width + noise) },
            written: [p.programmed_1, p.programmed_2, p.programmed_3].map(written),
            variance: step * step / 12.0 + noise,
            shift: p.retention_charge * p.retention_shift * power(cycles, p.retention_shift_power),
            spread: p.retention_charge
                * p.retention_spread
                * power(cycles, p.retention_spread_power),
            onset: p.retention_onset,
        }
    }

    /// Returns the threshold-voltage distributions of the cells' four states when the block's data
    /// was programmed `age` ago, the erased state first.
    pub fn at(&self, age: Span) -> [State; 4] {
        let logarithm = if age == Span::ZERO { 0.0 } else { libm::log1p(age.as_s() / self.onset) };
        let [first, second, third] = self.written.map(|mean| {
            let lost = (mean - self.erased.mean) * logarithm;
            let variance = self.variance + self.spread * lost;
            State { mean: mean - self.shift * lost, sd: libm::sqrt(variance) }
        });
        [self.erased, first, second, third]
    }
}

/// Returns the programming step on the cells, in V: the nominal ISPP step times the factor of the
/// threshold voltages.
fn on_cells(setting: Setting) -> f64 {
    setting.step * setting.scale
}

/// Returns `cycles` to the power of `exponent`, or 0 for an unworn block.
fn power(cycles: f64, exponent: f64) -> f64 {
    if cycles > 0.0 { libm::pow(cycles, exponent) } else { 0.0 }
}

/// Returns the read references between just-written states, in V, each the same number of standard
/// deviations from both neighbors. See docs/decisions/cells.md, "Do read references follow
/// retention?".
pub fn references(fresh: &[State; 4]) -> [f64; 3] {
    std::array::from_fn(|boundary| {
        let (low, high) = (fresh[boundary], fresh[boundary + 1]);
        low.mean + (high.mean - low.mean) * low.sd / (low.sd + high.sd)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOMINAL: Setting = Setting { scale: 1.0, step: 0.25 };
    const DAY: Span = Span(86_400_000_000_000);

    fn states(
        parameters: &Parameters,
        setting: Setting,
        worn: (f64, f64),
        age: Span,
    ) -> [State; 4] {
        States::new(parameters, setting, worn).at(age)
    }

    #[test]
    fn an_unworn_block_has_the_voltages_of_the_table() {
        let fresh = states(&Parameters::default(), NOMINAL, (0.0, 0.0), Span::ZERO);
        let means = fresh.map(|state| state.mean);
        for (mean, expected) in means.into_iter().zip([1.17, 2.495, 3.085, 3.665]) {
            assert!((mean - expected).abs() < 1e-12, "{mean} {expected}");
        }
        assert!((fresh[3].sd - 0.25 / 12f64.sqrt()).abs() < 1e-15);
        // A block without wear has no retention loss, however old the data.
        assert_eq!(states(&Parameters::default(), NOMINAL, (0.0, 0.0), DAY), fresh);
    }

    #[test]
    fn noise_widens_every_state() {
        let fresh = states(&Parameters::default(), NOMINAL, (0.0, 0.01), Span::ZERO);
        let erased = (0.25f64 * 1.17).powi(2) + 0.01;
        assert!((fresh[0].sd.powi(2) - erased).abs() < 1e-12);
        let programmed = 0.25f64.powi(2) / 12.0 + 0.01;
        assert!(fresh[1..].iter().all(|state| (state.sd.powi(2) - programmed).abs() < 1e-12));
    }

    #[test]
    fn retention_is_the_published_formula() {
        let aged = states(&Parameters::default(), NOMINAL, (2500.0, 0.0), DAY);
        let above = 3.665 - 1.17;
        let logarithm = 25f64.ln();
        assert!((aged[3].mean - (3.665 - 0.38 * above * 4e-4 * 50.0 * logarithm)).abs() < 1e-12);
        let spread = 0.38 * above * 4e-6 * 2500f64.powf(0.6) * logarithm;
        assert!((aged[3].sd.powi(2) - (0.25f64.powi(2) / 12.0 + spread)).abs() < 1e-12);
        assert_eq!(aged[0].mean, 1.17);
        // Higher states lose more.
        let fresh = states(&Parameters::default(), NOMINAL, (2500.0, 0.0), Span::ZERO);
        let lost: Vec<f64> = fresh.iter().zip(&aged).map(|(a, b)| a.mean - b.mean).collect();
        assert!(lost.is_sorted(), "{lost:?}");
    }

    #[test]
    fn references_are_as_far_from_both_neighbours() {
        let fresh = states(&Parameters::default(), NOMINAL, (1000.0, 0.01), Span::ZERO);
        for (boundary, at) in references(&fresh).into_iter().enumerate() {
            let (low, high) = (fresh[boundary], fresh[boundary + 1]);
            assert!(low.mean < at && at < high.mean);
            assert!(((at - low.mean) / low.sd - (high.mean - at) / high.sd).abs() < 1e-12);
        }
    }

    #[test]
    fn everything_but_noise_scales() {
        let parameters = Parameters::default();
        let base = states(&parameters, NOMINAL, (0.0, 0.0), Span::ZERO);
        let boosted = Setting { scale: 1.2, ..NOMINAL };
        let boosted = states(&parameters, boosted, (0.0, 0.0), Span::ZERO);
        for (base, boosted) in base.iter().zip(&boosted) {
            assert!((boosted.mean / base.mean - 1.2).abs() < 1e-12);
            assert!((boosted.sd / base.sd - 1.2).abs() < 1e-12);
        }
    }
}
