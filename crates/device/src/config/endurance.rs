//! The configuration of endurance and of the target life.

use fowler_physics::recovery::{
    CYCLES, Endurance, ROOM_TEMPERATURE, Reading, RecoveryTable, acceleration,
};
use fowler_units::Span;

/// Parameters of a drive's lifetime: the target, and the endurance of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Target lifetime of the drive.
    pub target: Span,
    /// P/E cycles that the cells endure if they get no idle time in which to recover.
    pub cycles: f64,
    /// Model of the endurance that cells regain in idle time.
    pub recovery: Recovery,
    /// For [`Recovery::Model`]: temperature of the cells at rest in degrees Celsius.
    pub temperature: f64,
    /// For [`Recovery::Table`]: idle times between two P/E cycles, ascending, and the P/E cycles
    /// that cells endure with each.
    pub table: (Vec<Span>, Vec<f64>),
    /// Number of real repetitions of the workload for which a simulated one stands; wear and
    /// lifetime are accelerated by this factor.
    pub dilation: u32,
}

/// Target lifetime of a drive: five years of 365 days (READY, a lifetime throttle, section 3.1).
const FIVE_YEARS: Span = Span(5 * 365 * 86_400_000_000_000);

impl Default for Params {
    fn default() -> Self {
        Self {
            target: FIVE_YEARS,
            cycles: CYCLES,
            recovery: Recovery::Model(Reading::Spread),
            temperature: ROOM_TEMPERATURE,
            table: (Vec::new(), Vec::new()),
            dilation: 1,
        }
    }
}

/// The model of the endurance that cells regain in idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The model of the wear that cells heal in idle time, of READY, a lifetime throttle (equation
    /// 2), under an interpretation of the time `t` that the paper leaves open.
    Model(Reading),
    /// A table of the P/E cycles that cells endure, by idle time.
    Table,
}

impl Params {
    /// Returns the endurance model of the cells.
    ///
    /// # Errors
    /// All problems of the table of endurance.
    pub fn endurance(&self) -> Result<Endurance, Vec<String>> {
        match self.recovery {
            Recovery::Model(reading) => {
                Ok(Endurance::Model { reading, acceleration: acceleration(self.temperature) })
            }
            Recovery::Table => RecoveryTable::new(&self.table.0, &self.table.1)
                .map(Endurance::Table)
                .map_err(|wrong| wrong.iter().map(ToString::to_string).collect()),
        }
    }
}
