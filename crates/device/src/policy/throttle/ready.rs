//! Recovery-aware dynamic throttling (READY, Lee et al., FAST 2012). It enforces the actual
//! capacity of cells that had time to recover, in epochs as long as the cycle of the demand.

use super::epoch_regulator::EpochRegulator;
use super::{Life, Params, State, Throttle, Throttled};
use fowler_units::Nanos;
use serde::{Deserialize, Serialize};

/// READY, a lifetime throttle: delays writes, one epoch after another, so that the write capacity
/// of the drive lasts for the target lifetime. The capacity includes what cells gain by recovering
/// in idle time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ready(pub(super) EpochRegulator);

impl Ready {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self(EpochRegulator::new(params, true))
    }
}

impl Throttle for Ready {
    fn delay(&mut self, now: Nanos, pages: u32, life: &impl Life) -> Throttled {
        self.0.delay(now, pages, life)
    }

    fn state(&self) -> State {
        self.0.state()
    }
}
