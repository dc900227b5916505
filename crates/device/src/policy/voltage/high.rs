//! Boosted threshold voltages for all data: HVC, a baseline of HIRE (section 4.1).

use super::{Params, VoltageRule};
use crate::cells::program_mode::Voltage;
use crate::policy::stream_tag::StreamTag;

/// Chooses boosted voltages for all data (HVC).
#[derive(Clone, Debug)]
pub struct High;

impl High {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl VoltageRule for High {
    fn voltage(&self, _tag: StreamTag) -> Voltage {
        Voltage::Boosted
    }
}
