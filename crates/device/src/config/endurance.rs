//! The configuration of endurance and of the target life.

use fowler_physics::recovery::{CYCLES, Endurance, Reading, RecoveryTable};
use fowler_units::Span;

/// The parameters of a lifetime.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// The target lifetime.
    pub target: Span,
    /// P/E cycles that cells endure without recovery.
    pub cycles: f64,
    /// The effect of idle time on endurance.
    pub recovery: Recovery,
    /// [`Recovery::Table`]: idle times between two P/E cycles, ascending, and the cycles that cells
    /// endure with each.
    pub table: (Vec<Span>, Vec<f64>),
    /// The number of real repetitions that a simulated one stands for; wear and lifetime are
    /// accelerated by this factor.
    pub dilation: u32,
}

/// Five years of 365 days (READY, section 3.1).
const FIVE_YEARS: Span = Span(5 * 365 * 86_400_000_000_000);

impl Default for Params {
    fn default() -> Self {
        Self {
            target: FIVE_YEARS,
            cycles: CYCLES,
            recovery: Recovery::Model(Reading::Spread),
            table: (Vec::new(), Vec::new()),
            dilation: 1,
        }
    }
}

/// The model by which idle time restores the endurance of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// READY's model, under a given reading of the paper.
    Model(Reading),
    /// A table of idle times and endurance.
    Table,
}

impl Params {
    /// Returns the endurance model of the cells.
    ///
    /// # Errors
    /// The problems of the table.
    pub fn endurance(&self) -> Result<Endurance, Vec<String>> {
        match self.recovery {
            Recovery::Model(reading) => Ok(Endurance::Model(reading)),
            Recovery::Table => RecoveryTable::new(&self.table.0, &self.table.1)
                .map(Endurance::Table)
                .map_err(|wrong| wrong.iter().map(ToString::to_string).collect()),
        }
    }
}
