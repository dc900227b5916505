//! Effects in a 2^n factorial design (Box, Hunter and Hunter, "Statistics for Experimenters",
//! chapter 5): every subset of n factors was run, and each effect is a mean over all pairs of runs
//! that differ in nothing else.

/// The scale on which two values of a metric are compared in an ablation study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Values of a metric are compared as ratios in the effects of an ablation study: -0.2 is a
    /// reduction by 20 %. The values must be positive.
    Ratio,
    /// Two values of a metric are compared by their difference, in the metric's unit; the values
    /// may be zero.
    Difference,
}

impl Scale {
    fn up(self, value: f64) -> Option<f64> {
        match self {
            Scale::Ratio => (value > 0.0).then(|| libm::log(value)),
            Scale::Difference => Some(value),
        }
    }

    /// Converts an effect (the relative change of a metric on a ratio scale, else its difference)
    /// to a number that can be summed: on a ratio scale, the logarithm of the ratio, and `None` for
    /// a ratio of zero.
    pub fn addend(self, effect: f64) -> Option<f64> {
        match self {
            Scale::Ratio => (effect > -1.0).then(|| libm::log1p(effect)),
            Scale::Difference => Some(effect),
        }
    }

    /// Converts a sum or mean of effects back to an effect as a share or difference; the summands
    /// come from [`Scale::addend`] (on a ratio scale, logarithms).
    pub fn down(self, effect: f64) -> f64 {
        match self {
            Scale::Ratio => libm::expm1(effect),
            Scale::Difference => effect,
        }
    }
}

/// Returns the effect of the systems (factors) in `which`, one bit each, on `values`, which has one
/// value per subset of systems, in the order of the subsets' bits. For one factor, the effect is
/// the mean over all combinations of the other factors; for two, it is the amount by which the
/// effect of one factor is larger with the other than without it. On [`Scale::Ratio`], means are
/// geometric. Returns `None` if a value is missing or cannot be compared.
pub fn effect(values: &[Option<f64>], which: usize, scale: Scale) -> Option<f64> {
    let mut sum = 0.0;
    for (subset, value) in values.iter().enumerate() {
        let without = (which & !subset).count_ones();
        let sign = if without.is_multiple_of(2) { 1.0 } else { -1.0 };
        sum += sign * scale.up((*value)?)?;
    }
    // Half of the runs have a given factor, a quarter have two; both are compared equally often.
    let pairs = values.len() as f64 / f64::from(1_u32 << which.count_ones());
    Some(scale.down(sum / pairs))
}

/// Returns two effects of a system (factor): on a drive without any other system, and on a drive
/// with all other systems.
pub fn first_and_last(values: &[Option<f64>], factor: usize, scale: Scale) -> [Option<f64>; 2] {
    let all = values.len() - 1;
    [between(values, [0, factor], scale), between(values, [all & !factor, all], scale)]
}

/// Returns the change of a metric that the systems in `subset` (a bit per studied system) cause
/// together, against a drive with none of them. `values` has the metric for each subset.
pub fn against_none(values: &[Option<f64>], subset: usize, scale: Scale) -> Option<f64> {
    between(values, [0, subset], scale)
}

/// Returns the effect on a metric of going from one subset of an ablation study's systems (`from`,
/// an index in `values`) to another (`to`); `None` if a value is unknown.
fn between(values: &[Option<f64>], [from, to]: [usize; 2], scale: Scale) -> Option<f64> {
    change([from, to].map(|subset| values.get(subset).copied().flatten()), scale)
}

/// Returns the effect on a metric of going from one value to another; `None` if one is unknown or
/// cannot be compared.
pub fn change([from, to]: [Option<f64>; 2], scale: Scale) -> Option<f64> {
    Some(scale.down(scale.up(to?)? - scale.up(from?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns made-up values of a metric, one for each subset of three systems.
    fn values(of: impl Fn(bool, bool, bool) -> f64) -> Vec<Option<f64>> {
        (0..8).map(|it| Some(of(it & 1 != 0, it & 2 != 0, it & 4 != 0))).collect()
    }

    fn near(one: Option<f64>, other: f64) {
        assert!(one.is_some_and(|one| (one - other).abs() < 1e-12), "{one:?} {other}");
    }

    #[test]
    fn factors_that_do_not_meet_have_no_interaction() {
        let product =
            values(|a, b, _| 100.0 * if a { 0.5 } else { 1.0 } * if b { 1.2 } else { 1.0 });
        near(effect(&product, 1, Scale::Ratio), -0.5);
        near(effect(&product, 2, Scale::Ratio), 0.2);
        near(effect(&product, 4, Scale::Ratio), 0.0);
        near(effect(&product, 3, Scale::Ratio), 0.0);
        let sum = values(|a, b, c| f64::from(u8::from(a)) * 3.0 - f64::from(u8::from(b && c)));
        near(effect(&sum, 1, Scale::Difference), 3.0);
        near(effect(&sum, 2, Scale::Difference), -0.5);
        near(effect(&sum, 6, Scale::Difference), -1.0);
        near(effect(&sum, 3, Scale::Difference), 0.0);
    }

    #[test]
    fn what_cancels_shows_in_the_interaction() {
        // Either factor halves the value; both together do no more.
        let either = values(|a, b, _| if a || b { 50.0 } else { 100.0 });
        near(effect(&either, 1, Scale::Ratio), libm::sqrt(0.5) - 1.0);
        near(effect(&either, 3, Scale::Ratio), 1.0);
        let [first, last] = first_and_last(&either, 1, Scale::Ratio);
        near(first, -0.5);
        near(last, 0.0);
        near(against_none(&either, 7, Scale::Ratio), -0.5);
    }

    #[test]
    fn a_half_and_a_double_cancel() {
        let effects = [-0.5, 1.0].map(|effect| Scale::Ratio.addend(effect).unwrap());
        assert!(Scale::Ratio.down(effects.iter().sum::<f64>() / 2.0).abs() < 1e-12);
        assert_eq!(Scale::Ratio.addend(-1.0), None);
        assert_eq!(Scale::Difference.addend(-1.0), Some(-1.0));
    }

    #[test]
    fn what_is_not_known_has_no_effect() {
        let mut some = values(|a, _, _| if a { 0.0 } else { 1.0 });
        assert_eq!(effect(&some, 1, Scale::Ratio), None);
        near(effect(&some, 1, Scale::Difference), -1.0);
        some[5] = None;
        assert_eq!(effect(&some, 2, Scale::Difference), None);
    }
}
