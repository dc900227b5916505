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

/// A result of a dilated life, with bounds between which that of the undilated life lies. Dilation
/// is the number of real repetitions of the workload that one simulated repetition stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dilated {
    /// Lower bound of the result in the undilated life.
    pub low: f64,
    /// Result of the undilated life by extrapolation.
    pub extrapolated: f64,
    /// Upper bound of the result in the undilated life.
    pub high: f64,
}

/// Returns the bounds of a result, given its values at the dilations K and 2 K. No result is below
/// zero, so the bounds are not, either.
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
    /// Returns the bounds that the undilated life has for a number of the lifetime's table; `None`
    /// if they are not known, or mean nothing. A life that is not dilated has no error of dilation.
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

    /// Returns the relative error that dilation may cause in the drive's years of life; `None` if
    /// unknown.
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
