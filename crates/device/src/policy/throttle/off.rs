//! No throttle: NT of the READY paper, and every other drive.

use super::{Life, Params, Throttle, Throttled};
use fowler_units::Nanos;
use serde::{Deserialize, Serialize};

/// Delays no write: a drive without a throttle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Off;

impl Off {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Throttle for Off {
    #[inline]
    fn delay(&mut self, _now: Nanos, _pages: u32, _life: &impl Life) -> Throttled {
        Throttled::default()
    }
}
