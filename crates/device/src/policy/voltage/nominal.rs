//! Nominal threshold voltages for all data: the baseline of HIRE (section 4.1).

use super::{Params, VoltageRule};
use crate::cells::program_mode::Voltage;
use crate::policy::stream_tag::StreamTag;

/// Chooses nominal voltages for all data.
#[derive(Clone, Debug)]
pub struct Nominal;

impl Nominal {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl VoltageRule for Nominal {
    fn voltage(&self, _tag: StreamTag) -> Voltage {
        Voltage::Nominal
    }
}
