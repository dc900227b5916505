//! The criterion of steady state: the last five rounds no longer differ.
//!
//! SNIA's Solid State Storage Performance Test Specification (PTS) calls a drive steady when, over
//! a window of five rounds, the tracking variable stays within 20 % of its mean from lowest to
//! highest, and the least-squares line through it rises or falls by at most 10 % of the mean. Both
//! bounds are inclusive, as in two open implementations of the specification.

/// Number of rounds in a measurement window.
pub const WINDOW: usize = 5;
/// Most rounds of a test. Later ones do not count.
pub const ROUNDS_MOST: usize = 25;
/// Largest distance between the highest and the lowest value in a steady window, as a share of the
/// mean.
pub const DATA_SHARE: f64 = 0.20;
/// Largest rise or fall of the line through a steady window, as a share of the mean.
pub const SLOPE_SHARE: f64 = 0.10;

/// Factor on the bounds of the steady-state criterion that tolerates rounding: a decimal number
/// exactly on a bound is inexact in binary.
const ROUNDING: f64 = 1.0 + 1e-12;

/// A window of five consecutive rounds, with the quantities that decide if it is steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Number of the first of the five rounds that the test of steady state examines, counted from
    /// 1.
    pub first: usize,
    /// Number of the last of the five rounds of a test whose values are examined for a steady
    /// state, counted from 1.
    pub last: usize,
    /// Mean of the tracking variable over the window.
    pub average: f64,
    /// Highest value of the tracking variable in the window less the lowest.
    pub data_excursion: f64,
    /// Slope of the least-squares line through the tracking variable (such as IOPS) in the window's
    /// five rounds: the rise from one round to the next.
    pub slope: f64,
    /// Value at round 0 of the least-squares line through the tracking variable in the window's
    /// five rounds, `slope * round + intercept`.
    pub intercept: f64,
}

impl Window {
    /// Returns the window of five rounds that ends with round `last`, counted from 1; `None` if it
    /// is not complete.
    pub fn ending(values: &[f64], last: usize) -> Option<Window> {
        let first = last.checked_sub(WINDOW)?;
        let values: &[f64; WINDOW] = values.get(first..last)?.try_into().ok()?;
        let average = values.iter().sum::<f64>() / WINDOW as f64;
        let highest = values.iter().copied().fold(f64::MIN, f64::max);
        let lowest = values.iter().copied().fold(f64::MAX, f64::min);
        // The rounds of a window are -2 to 2 around its middle, and the sum of their squares is 10.
        let [a, b, _, d, e] = *values;
        let slope = (2.0 * (e - a) + (d - b)) / 10.0;
        let middle = last as f64 - 2.0;
        Some(Window {
            first: first + 1,
            last,
            average,
            data_excursion: highest - lowest,
            slope,
            intercept: average - slope * middle,
        })
    }

    /// Returns the rise or fall, as a positive number, of the least-squares line through the
    /// tracking variable (such as IOPS) from the window's first round to the last.
    pub fn slope_excursion(&self) -> f64 {
        (WINDOW - 1) as f64 * self.slope.abs()
    }

    /// Returns the greatest data excursion (highest value less lowest) of a steady window with this
    /// mean.
    pub fn data_allowed(&self) -> f64 {
        DATA_SHARE * self.average
    }

    /// Returns the greatest slope excursion (rise or fall of the line) of a steady window with this
    /// mean.
    pub fn slope_allowed(&self) -> f64 {
        SLOPE_SHARE * self.average
    }

    /// Returns true if the drive is steady in this window. A window without requests is not steady:
    /// a mean of zero allows any number of rounds without a request.
    pub fn is_steady(&self) -> bool {
        self.average > 0.0
            && self.average.is_finite()
            && self.data_excursion <= self.data_allowed() * ROUNDING
            && self.slope_excursion() <= self.slope_allowed() * ROUNDING
    }

    /// Returns the value at a round of the least-squares line through the tracking variable (such
    /// as IOPS) in the window's five rounds.
    pub fn line(&self, round: usize) -> f64 {
        self.slope * round as f64 + self.intercept
    }
}

/// Returns the first steady window among the first [`ROUNDS_MOST`] rounds of a tracking variable.
pub fn first_steady(values: &[f64]) -> Option<Window> {
    let last = values.len().min(ROUNDS_MOST);
    (WINDOW..=last).filter_map(|last| Window::ending(values, last)).find(Window::is_steady)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_the_mean_the_spread_and_the_line() {
        let window = Window::ending(&[7.0, 1.0, 2.0, 3.0, 4.0, 5.0], 6).unwrap();
        assert_eq!((window.first, window.last, window.average), (2, 6, 3.0));
        assert_eq!(
            (window.data_excursion, window.slope, window.slope_excursion()),
            (4.0, 1.0, 4.0)
        );
        // The window begins with round 2.
        assert_eq!((window.line(2), window.line(6)), (1.0, 5.0));
        assert_eq!(Window::ending(&[1.0; 4], 4), None);
        assert_eq!(Window::ending(&[1.0; 5], 6), None);
        assert_eq!(Window::ending(&[1.0; 5], 0), None);
    }

    #[test]
    fn both_bounds_are_inclusive_and_only_25_rounds_count() {
        let steady = |values: &[f64]| first_steady(values).map(|window| window.last);
        // Mean 100: from 90 to 110 is 20 %, and the line is level.
        assert_eq!(steady(&[100.0, 110.0, 100.0, 90.0, 100.0, 100.0]), Some(5));
        assert_eq!(steady(&[100.0, 110.1, 99.9, 90.0, 100.0]), None);
        // Mean 100: the line rises by 10 in a window.
        assert_eq!(steady(&[95.0, 97.5, 100.0, 102.5, 105.0]), Some(5));
        assert_eq!(steady(&[94.9, 97.5, 100.0, 102.5, 105.1]), None);
        // Small decimals, on the bound.
        assert_eq!(steady(&[0.1, 0.11, 0.1, 0.09, 0.1]), Some(5));
        assert_eq!(steady(&[0.0; 30]), None);
        let mut late: Vec<f64> = (0..30).map(|round| 2.0_f64.powi(round)).collect();
        late[20..].fill(1e9);
        assert_eq!(steady(&late), Some(25));
        late[20] = 1.0;
        assert_eq!(steady(&late), None);
        assert_eq!(steady(&[1e308; 5]), None, "the mean is beyond all numbers");
    }
}
