//! A number of a measured row, with its measured and its simulated value.
//!
//! Invariant: a residual lies within [`MISSING`] expected deviations, whatever was simulated, so
//! that one row cannot decide a fit.

use crate::protocol::Estimate;

/// A measured number that a drive is fitted to, with its simulated value.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Place of the measured row (file, drive, number), for messages.
    pub place: String,
    /// Name of the measured row in a fitted drive file: kind of measurement, drive and conditions,
    /// independent of the row's place in the file of measurements.
    pub identity: String,
    /// Key, in the measured row, of the measured number to which the drive is fitted, such as
    /// `read_us.p99`.
    pub metric: String,
    /// Measured value of the number that is fitted.
    pub measured: f64,
    /// Simulated value of a number that was measured and is fitted; `None` if the drive cannot run
    /// the protocol of the measurement.
    pub simulated: Option<Estimate>,
    /// Relative deviation of the simulated from the measured value that is expected of a good
    /// model.
    pub expected: f64,
}

/// Residual of a measured number that the drive cannot simulate, in units of the expected deviation
/// between simulation and measurement.
const MISSING: f64 = 30.0;

impl Term {
    /// Returns the name of a measured number in a fitted drive file: the name of its measured row,
    /// and the number's key in the row.
    pub fn name(&self) -> String {
        format!("{}: {}", self.identity, self.metric)
    }

    /// Returns the logarithm of simulated over measured value, in units of the expected deviation.
    pub fn residual(&self) -> f64 {
        let ratio = self.simulated.map(|it| it.value / self.measured);
        let off = ratio.filter(|ratio| *ratio > 0.0 && ratio.is_finite());
        off.map_or(MISSING, |ratio| libm::log(ratio) / self.expected).clamp(-MISSING, MISSING)
    }
}
