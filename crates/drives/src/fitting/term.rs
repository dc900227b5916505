//! A number of a measured row, with its measured and its simulated value.

use crate::protocol::Estimate;

/// A measured number that a drive is fitted to, with its simulated value.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Place of the measured row (file, drive, number), for messages.
    pub place: String,
    /// Identity of the measured row in a fitted drive file, independent of its place.
    pub identity: String,
    /// Key of the measured number in its row.
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

/// Residual of a number that the drive has no simulated value for, in units of the expected
/// deviation.
const MISSING: f64 = 30.0;

impl Term {
    /// Returns the name of the number in a fitted drive file: identity of its row and key.
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
