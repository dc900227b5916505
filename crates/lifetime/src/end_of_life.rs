//! The result of a simulated life: capacity, wear, response times.

use super::record::Record;
use fowler_device::endurance::Totals;
use fowler_device::policy::throttle::{Predicted, State};
use fowler_device::{BadBlockCounts, Counters};
use fowler_units::Span;
use serde::{Deserialize, Serialize};

/// A drive at the end of its lifetime.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndOfLife {
    /// Number of real repetitions that a simulated one stood for.
    pub dilation: u32,
    /// Number of repetitions started.
    pub repetitions: u64,
    /// The capacity and wear of the drive at the end of its target lifetime.
    pub totals: Totals,
    /// The counters of the device.
    pub counters: Counters,
    /// Wear of the blocks, in P/E cycles of the whole lifetime.
    pub wear: Cycles,
    /// The final state of the throttle.
    pub throttle: State,
    /// Simulated time for which a write of the host had been waiting when the lifetime ended.
    pub blocked_at_end: Span,
    /// Blocks that failed or were retired; `None` if no block fails on this drive.
    pub bad_blocks: Option<BadBlockCounts>,
    /// Response times, throttling delays and time series.
    pub record: Record,
}

/// The number of times the cycles of the mean block that those of the most worn block are before
/// the life of the mean block says too little about the drive.
const UNEVEN: f64 = 2.0;

/// The P/E cycles of the blocks of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cycles {
    /// Cycles of the least worn block.
    pub least: f64,
    /// Mean cycles of a block.
    pub mean: f64,
    /// Cycles of the most worn block.
    pub most: f64,
}

impl EndOfLife {
    /// Returns the lifetime at this rate of wear, in units of the target lifetime: `C'_ssd /
    /// wear of W_work`. `None` before the first page.
    pub fn lives(&self) -> Option<f64> {
        let Totals { worn, achievable, .. } = self.totals;
        (worn > 0.0).then(|| achievable / worn)
    }

    /// Returns the mean wear of a program, 1 at nominal voltages; `None` where all are nominal.
    pub fn wearing_weight(&self) -> Option<f64> {
        let Totals { programmed, worn, .. } = self.totals;
        (worn != programmed).then(|| worn / programmed)
    }

    /// Returns true if the most worn block has far more cycles than the mean block.
    pub fn is_worn_unevenly(&self) -> bool {
        self.wear.mean > 0.0 && self.wear.most > UNEVEN * self.wear.mean
    }

    /// Returns the pages programmed per host page.
    pub fn waf(&self) -> Option<f64> {
        self.counters.waf()
    }

    /// Returns the share of epochs whose write demand was predicted correctly.
    pub fn accuracy(&self) -> Option<f64> {
        let Predicted { epochs, right } = self.throttle.predicted;
        (epochs > 0).then(|| right as f64 / epochs as f64)
    }
}
