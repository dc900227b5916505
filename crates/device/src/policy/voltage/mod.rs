//! Slot: the threshold voltages at which data is programmed.
//!
//! Contract. All pages of a block are programmed at the same voltages: the rule is called when a
//! block is opened, with the tag of the data that opens it.

use crate::cells::program_mode::Voltage;
use crate::policy::registry::slot;
use crate::policy::stream_tag::{AccessClass, StreamTag};

slot! { $
    /// The voltage policy of a drive.
    pub enum AnyVoltage, named VoltageKind, match by each_voltage {
        "nominal" => nominal::Nominal needs Nothing, "nominal threshold voltages for all data";
        "high" => high::High needs Nothing, "boosted for all data (HVC): fewest errors, most wear";
        "low" => low::Low needs Nothing, "reduced for all data (LVC): least wear, most errors";
        "by_hotness" => by_hotness::ByHotness needs Nothing, "boosted for read-hot data, reduced for write-hot data (HIRE)";
    }
}

/// Configuration of the policy that chooses the threshold voltages of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Name of the selected voltage policy.
    pub name: VoltageKind,
}

/// A policy that chooses the threshold voltages of programs.
pub trait VoltageRule {
    /// Returns the threshold voltages at which data with the stream tag `tag` is programmed.
    fn voltage(&self, tag: StreamTag) -> Voltage;
}

impl VoltageRule for AnyVoltage {
    fn voltage(&self, tag: StreamTag) -> Voltage {
        each_voltage!(self, policy => policy.voltage(tag))
    }
}

/// Returns the lowest voltages that the voltage policy ever chooses.
pub fn lowest(params: &Params, seed: u64) -> Voltage {
    let rule = AnyVoltage::new(params, seed);
    let voltages = AccessClass::ALL.map(|class| rule.voltage(StreamTag::new(false, class)));
    voltages.into_iter().max().expect("at least one class")
}
