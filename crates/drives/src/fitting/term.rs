//! A number of a row, as measured and as simulated.

use crate::protocol::Estimate;

/// A fitted number.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Place of the row, for people.
    pub place: String,
    /// Identity of the row in a fitted drive file.
    pub identity: String,
    /// The key of the number.
    pub metric: String,
    /// Value as measured.
    pub measured: f64,
    /// Value as simulated; `None` if the drive cannot do it.
    pub simulated: Option<Estimate>,
    /// The relative deviation that is expected of a good model.
    pub expected: f64,
}

/// The deviation that stands for a number which the drive does not have, in expected ones.
const MISSING: f64 = 30.0;

impl Term {
    /// Returns the identity of the number in a fitted drive file.
    pub fn name(&self) -> String {
        format!("{}: {}", self.identity, self.metric)
    }

    /// Returns the logarithm of simulated over measured, in units of what is expected.
    pub fn residual(&self) -> f64 {
        let ratio = self.simulated.map(|it| it.value / self.measured);
        let off = ratio.filter(|ratio| *ratio > 0.0 && ratio.is_finite());
        off.map_or(MISSING, |ratio| libm::log(ratio) / self.expected).clamp(-MISSING, MISSING)
    }
}
