//! How a page is programmed: at which ISPP step, and at which threshold voltages.

pub use fowler_physics::voltage::Voltage;

/// An ISPP step, as its place on the ladder of [`crate::cells::reliability`]: zero is nominal, each
/// one above it coarser, faster and less exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step(pub u8);

impl Step {
    /// The step that the operating times are given for.
    pub const NOMINAL: Step = Step(0);
}

/// How the pages of a block are programmed, from its erase to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// The ISPP step.
    pub step: Step,
    /// The threshold voltages.
    pub voltage: Voltage,
}
