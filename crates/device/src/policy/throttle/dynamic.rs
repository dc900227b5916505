//! Dynamic throttling without recovery: DT of the READY paper (section 4.1). Like [`super::ready`],
//! but with the capacity of the rated cycles.

use super::epoch_regulator::EpochRegulator;
use super::{Life, Params, State, Throttle, Throttled};
use fowler_units::Nanos;
use serde::{Deserialize, Serialize};

/// Throttles writes by the rated capacity, in epochs (DT of READY).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dynamic(pub(super) EpochRegulator);

impl Dynamic {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self(EpochRegulator::new(params, false))
    }
}

impl Throttle for Dynamic {
    fn delay(&mut self, now: Nanos, pages: u32, life: &impl Life) -> Throttled {
        self.0.delay(now, pages, life)
    }

    fn state(&self) -> State {
        self.0.state()
    }
}
