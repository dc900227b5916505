//! Reduced threshold voltages for all data: LVC, a baseline of HIRE (section 4.1).

use super::{Params, VoltageRule};
use crate::cells::program_mode::Voltage;
use crate::policy::stream_tag::StreamTag;

/// Chooses reduced voltages for all data (LVC).
#[derive(Clone, Debug)]
pub struct Low;

impl Low {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl VoltageRule for Low {
    fn voltage(&self, _tag: StreamTag) -> Voltage {
        Voltage::Reduced
    }
}
