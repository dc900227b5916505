//! The ISPP step and the threshold voltages at which a page is programmed.

pub use fowler_physics::voltage::Voltage;

/// An ISPP step, as its index in the ladder of [`crate::cells::reliability`]: zero is nominal; each
/// further step is coarser, faster and less exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step(pub u8);

impl Step {
    /// The nominal ISPP step, to which the nominal operating times apply.
    pub const NOMINAL: Step = Step(0);
}

/// The programming mode of the pages of a block, from its erase to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// ISPP step at which the block's pages are programmed.
    pub step: Step,
    /// Threshold voltages at which the block's pages are programmed.
    pub voltage: Voltage,
    /// True in SLC mode: a cell holds one bit, with so much margin that no modeled wear or age uses
    /// it up.
    pub one_bit: bool,
}

impl Mode {
    /// SLC mode, at the nominal step and voltages.
    pub const SLC: Mode = Mode { step: Step::NOMINAL, voltage: Voltage::Nominal, one_bit: true };

    /// Returns a mode in which cells hold as many bits as they can.
    pub fn new(step: Step, voltage: Voltage) -> Mode {
        Mode { step, voltage, one_bit: false }
    }
}
