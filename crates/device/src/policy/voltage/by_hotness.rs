//! Voltages by access class: read-hot data is programmed at boosted voltages, so that few sensing
//! levels suffice, write-hot data at reduced voltages, which cause less wear, and all other data at
//! nominal ones (HIRE, section 3.2).

use super::{Params, VoltageRule};
use crate::cells::program_mode::Voltage;
use crate::policy::stream_tag::{AccessClass, StreamTag};

/// Chooses voltages by the access class of data (HIRE).
#[derive(Clone, Debug)]
pub struct ByHotness;

impl ByHotness {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl VoltageRule for ByHotness {
    fn voltage(&self, tag: StreamTag) -> Voltage {
        match tag.class() {
            AccessClass::ReadHot => Voltage::Boosted,
            AccessClass::Mixed => Voltage::Nominal,
            AccessClass::WriteHot => Voltage::Reduced,
        }
    }
}
