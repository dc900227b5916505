//! The result of a simulated life: capacity, wear, response times.

use super::record::Record;
use fowler_device::endurance::Totals;
use fowler_device::policy::throttle::{Predicted, State};
use fowler_device::{BadBlockCounts, Counters};
use fowler_units::Span;
use serde::{Deserialize, Serialize};

/// State of a drive at the end of its simulated life.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndOfLife {
    /// Dilation of the life: number of real repetitions of the workload that a simulated one stood
    /// for.
    pub dilation: u32,
    /// Number of repetitions of the workload that the life started.
    pub repetitions: u64,
    /// The capacity and wear of the drive at the end of its target lifetime.
    pub totals: Totals,
    /// Counters of the drive's operations, such as programs and erases, over its simulated life.
    pub counters: Counters,
    /// Wear of the blocks, in P/E cycles of the whole lifetime.
    pub wear: Cycles,
    /// State of the write throttle at the end of the life.
    pub throttle: State,
    /// Simulated time for which a write of the host had been waiting when the lifetime ended.
    pub blocked_at_end: Span,
    /// Erases of a block before the life began, on average over the drive.
    pub erases_before: f64,
    /// Blocks that failed or were retired; `None` if no block fails on this drive.
    pub bad_blocks: Option<BadBlockCounts>,
    /// Response times, throttle delays and time series of the life.
    pub record: Record,
}

/// Largest ratio of the P/E cycles of the most worn block to those of the mean block at which the
/// life of the mean block still describes the drive.
const UNEVEN: f64 = 2.0;

/// The P/E cycles of the blocks of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cycles {
    /// P/E cycles of the least worn block.
    pub least: f64,
    /// P/E cycles of a block, on average over the drive.
    pub mean: f64,
    /// P/E cycles of the most worn block.
    pub most: f64,
}

impl EndOfLife {
    /// Returns the life that the drive's rate of wear allows, as a multiple of the target lifetime:
    /// capacity for writes (with recovery of cells) divided by the wear of all programs so far.
    /// `None` before the first page.
    pub fn lives(&self) -> Option<f64> {
        let Totals { worn, achievable, .. } = self.totals;
        (worn > 0.0).then(|| achievable / worn)
    }

    /// Returns the mean wear of a program, 1 at nominal voltages; `None` where all are nominal.
    pub fn wearing_weight(&self) -> Option<f64> {
        let Totals { programmed, worn, .. } = self.totals;
        (worn != programmed).then(|| worn / programmed)
    }

    /// Returns true if the most worn block has more than twice the P/E cycles of the mean block.
    pub fn is_worn_unevenly(&self) -> bool {
        self.wear.mean > 0.0 && self.wear.most > UNEVEN * self.wear.mean
    }

    /// Returns the pages programmed per host page over the life.
    pub fn waf(&self) -> Option<f64> {
        self.counters.waf()
    }

    /// Returns the share of epochs for which the write throttle predicted the write demand
    /// correctly, from 0 to 1.
    pub fn accuracy(&self) -> Option<f64> {
        let Predicted { epochs, right } = self.throttle.predicted;
        (epochs > 0).then(|| right as f64 / epochs as f64)
    }
}
