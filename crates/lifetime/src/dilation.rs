//! The error of dilation: by how much the results at a dilation of K may differ from those of the
//! undilated life, from the changes between K and 2 K.
//!
//! The effect of dilation is of first order in K: the capacity that may be borrowed, the pages that
//! the last write moves, the steps in which wear advances, and the weight of the first hours all
//! grow in proportion (docs/ready.md, "Dilation"). So the undilated life has about `Q(K) - (Q(2K) -
//! Q(K))`, by Richardson's extrapolation, and `Q(K)` is off by `|Q(2K) - Q(K)|`. Two runs do not
//! show whether K is small enough for that order. Roache's grid convergence index (J. Fluids Eng.
//! 116, 1994) multiplies by 3 for this reason where there are two, and so do we.

use super::Lifetime;
use super::report::{ROWS, Row};

/// Roache's safety factor for the error of a result that is known at two resolutions.
const SAFETY: f64 = 3.0;

/// Bounds of a number (such as years or WAF) in a life of which every repetition of the workload is
/// simulated, from lives in which one simulated repetition stands for K and 2 K real ones
/// (dilation).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dilated {
    /// Lower bound of a result (such as years or WAF) in a life with every repetition of the
    /// workload simulated.
    pub low: f64,
    /// Value of a result (such as years or WAF) in a life with every repetition of the workload
    /// simulated, extrapolated from lives in which one repetition stands for K and for 2 K.
    pub extrapolated: f64,
    /// Upper bound of a result (such as years or WAF) in a life with every repetition of the
    /// workload simulated.
    pub high: f64,
}

/// Returns bounds of a lifetime result without dilation, from `at_k` (each simulated repetition of
/// the workload stands for K real ones) and `at_2k` (for 2 K). If `at_k` is not negative, neither
/// are the bounds.
pub fn dilated(at_k: f64, at_2k: f64) -> Dilated {
    let change = at_2k - at_k;
    let half = SAFETY * change.abs();
    let at_least_zero = |value: f64| if at_k < 0.0 { value } else { value.max(0.0) };
    Dilated {
        low: at_least_zero(at_k - half),
        extrapolated: at_least_zero(at_k - change),
        high: at_k + half,
    }
}

impl Lifetime {
    /// Returns the bounds of a lifetime result (such as years or WAF) had every repetition of the
    /// workload been simulated, from the results at the dilations K and 2 K. At K = 1 both are the
    /// result. `None` without a run at 2 K, or for a number about the simulation itself.
    pub(super) fn dilated(&self, row: &Row) -> Option<Dilated> {
        let first = self.lived.first()?;
        let at_k = (row.value)(self, first)?;
        if first.dilation == 1 {
            return Some(dilated(at_k, at_k));
        }
        let at_2k = (row.value)(self, self.lived.get(1)?)?;
        // The repetitions and the blocked time at the end describe the simulation, and not the
        // life.
        let of_the_life = !["repetitions", "blocked_at_end_s"].contains(&row.key);
        of_the_life.then(|| dilated(at_k, at_2k))
    }

    /// Returns the relative error of the drive's years of life that may come from dilation, that
    /// is, from letting one simulated repetition of the workload stand for many; `None` if unknown.
    pub fn dilation_error(&self) -> Option<f64> {
        let years = ROWS.iter().find(|row| row.key == "effective_lifetime_years")?;
        let at_k = (years.value)(self, self.lived.first()?)?;
        let bounds = self.dilated(years)?;
        Some((bounds.high - at_k) / at_k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_first_order_is_found_and_one_of_another_is_within_the_bounds() {
        for k in [2.0, 10.0, 400.0] {
            let of_order = |order: f64| move |k: f64| 5.0 + 1e-3 * libm::pow(k, order);
            let first = dilated(of_order(1.0)(k), of_order(1.0)(2.0 * k));
            assert!((first.extrapolated - 5.0).abs() < 1e-12, "{first:?}");
            for order in [0.5, 1.0, 2.0, 3.0] {
                let value = of_order(order);
                let bounds = dilated(value(k), value(2.0 * k));
                assert!(bounds.low <= 5.0 && 5.0 <= bounds.high, "{order}: {bounds:?}");
            }
        }
        assert_eq!(dilated(1.0, 3.0).low, 0.0);
    }
}
