//! The configuration of bad blocks.

/// The share of blocks that fail, the P/E cycles at which they fail, and the operation that reports
/// the failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Share of blocks that have failed when all blocks have reached `lifetime.cycles`; in [0,
    /// 0.5]. Zero: no block fails.
    pub share: f64,
    /// Shape of the Weibull distribution of the P/E cycle in which a block fails; in [0.1, 20].
    pub shape: f64,
    /// The share of failures that an erase reports; in [0, 1]. A program reports the others.
    pub erases: f64,
}

impl Default for Params {
    /// Returns the parameters of a drive on which no block fails. The Weibull shape, and the share
    /// of failures that an erase reports, are assumed values.
    fn default() -> Self {
        Self { share: 0.0, shape: 3.0, erases: 0.5 }
    }
}
