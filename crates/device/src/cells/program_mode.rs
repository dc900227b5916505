//! How a page is programmed: at which ISPP step, and at which threshold voltages.

/// An ISPP step, as its place on the ladder of [`crate::cells::reliability`]: zero is nominal, each
/// one above it coarser, faster and less exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step(pub u8);

impl Step {
    /// The step that the operating times are given for.
    pub const NOMINAL: Step = Step(0);
}

/// A set of threshold voltages (HIRE, Table 1), in the order of
/// [`fowler_physics::voltage::SCALES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Voltage {
    /// 1.2 times the nominal: states further apart, cells worn faster.
    Boosted,
    /// Nominal.
    #[default]
    Nominal,
    /// 0.8 times the nominal: states closer together, cells worn more slowly.
    Reduced,
}

impl Voltage {
    /// Every set.
    pub const ALL: [Voltage; 3] = [Voltage::Boosted, Voltage::Nominal, Voltage::Reduced];
}

/// How the pages of a block are programmed, from its erase to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// The ISPP step.
    pub step: Step,
    /// The threshold voltages.
    pub voltage: Voltage,
}
