//! Drives that fit the measured rows about as well as the fitted one.
//!
//! 1. The covariance of the parameters, which a fit has written into the drive file, is factored.
//! 2. Parameters are drawn from the normal distribution around the fitted values.
//! 3. A draw beyond a bound, or of a drive that cannot work, is drawn again, at most [`TRIES`]
//!    times for each drive asked for; with fewer drives than asked for, the draws fail.

use super::calibrate_table::{CalibrateTable, with};
use fowler_experiment::device_spec::{FITTING, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_units::Rng;

impl CalibrateTable {
    /// Returns `count` variants of the fitted drive, whose parameters are drawn from the normal
    /// distribution around the fitted values; a variant with a value beyond a bound, or that the
    /// configuration check rejects, is drawn again.
    ///
    /// # Errors
    /// If the drive file does not have the covariance of the parameters, or if hardly any draw
    /// makes a drive that works.
    pub(crate) fn drawn(
        &self,
        drive: &Resolved,
        count: usize,
        seed: u64,
    ) -> Result<Vec<Resolved>, Diagnostics> {
        if self.spread.is_empty() {
            let what =
                format!("the drive file has no covariance of parameters (`{FITTING}.spread`)");
            let hint = "fit the drive with `fowler calibrate`, which writes it".to_string();
            return Err(Diagnostic::new(&drive.device, what).hint(hint).into());
        }
        let fitted = self.start(drive)?;
        let root = root(&self.spread);
        let mut rng = Rng::stream(seed, "fitting/draws");
        let mut draw = || {
            let normal: Vec<f64> = fitted.iter().map(|_| rng.normal()).collect();
            let off = |row: &Vec<f64>| row.iter().zip(&normal).map(|(a, b)| a * b).sum::<f64>();
            let at: Vec<f64> = fitted.iter().zip(&root).map(|(at, row)| at + off(row)).collect();
            let inside = at.iter().all(|at| (0.0..=1.0).contains(at));
            let set = self.parameters.iter().zip(at).map(|(parameter, at)| parameter.setting(at));
            inside.then(|| with(drive, set.collect()).ok()).flatten()
        };
        let tries = count * TRIES;
        let drawn: Vec<Resolved> = (0..tries).filter_map(|_| draw()).take(count).collect();
        if drawn.len() == count {
            return Ok(drawn);
        }
        let what = format!(
            "only {} of {tries} draws of the fitted parameters lie within their bounds and make a \
             drive that works",
            drawn.len()
        );
        let hint = "fit the drive again, with bounds farther from the fitted values".to_string();
        Err(Diagnostic::new(&drive.device, what).hint(hint).into())
    }
}

/// Largest number of random draws of the fitted parameters for each variant of a fitted drive that
/// is to be returned.
const TRIES: usize = 1_000;

/// Returns the lower triangular matrix `L` for which `L L^T` equals the covariance of the fitted
/// parameters (Cholesky). An element on the diagonal whose square is zero, or below zero by
/// rounding, becomes zero, and so does the column below it.
fn root(covariance: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = covariance.len();
    let mut root = vec![vec![0.0; n]; n];
    for row in 0..n {
        for column in 0..=row {
            let known: f64 = (0..column).map(|it| root[row][it] * root[column][it]).sum();
            let left = covariance[row][column] - known;
            root[row][column] = match row == column {
                true => libm::sqrt(left.max(0.0)),
                false if root[column][column] > 0.0 => left / root[column][column],
                false => 0.0,
            };
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_covariance_gives_it_back() {
        let covariance = vec![vec![0.04, 0.01, 0.0], vec![0.01, 0.0025, 0.0], vec![0.0, 0.0, 0.09]];
        let root = root(&covariance);
        for row in 0..3 {
            for column in 0..3 {
                let product: f64 = (0..3).map(|it| root[row][it] * root[column][it]).sum();
                assert!(
                    (product - covariance[row][column]).abs() < 1e-12,
                    "{row} {column}: {product}"
                );
            }
        }
    }
}
