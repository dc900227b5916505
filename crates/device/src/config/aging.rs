//! Aging of the data on a drive with superblocks, and the controller's response to it.

use fowler_units::Span;

/// Cells whose states come down with age, and a controller that reads again at lower references.
/// See docs/decisions/superblocks.md, "How does a read age?".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgingConfig {
    /// The assignment of the bits of a cell to its states; off for data that never ages.
    pub coding: Coding,
    /// The distance of the highest programmed state from the lowest, in V.
    pub voltage_window: f64,
    /// The distance of the erased state below the lowest programmed one, in V.
    pub erased_below: f64,
    /// The ISPP step as a share of the distance of two programmed states.
    pub step_share: f64,
    /// The highest RBER that the code corrects.
    pub correctable: f64,
    /// The entries of the retry table after the usual references: 1 to 31.
    pub retry_entries: u32,
    /// The shift of the highest state's reference from one entry of the retry table to the next, in
    /// V, downward. The references of lower states come down in proportion to their height.
    pub retry_shift: f64,
    /// The time of a retry beyond sensing and transfer.
    pub retry_overhead: Span,
    /// The entry of the retry table at which a read begins.
    pub tracking: Tracking,
    /// A superblock is moved when one of its pages was read at an entry beyond this one; 0 for
    /// never.
    pub refresh_above: u32,
}

/// The assignment of the bits of a cell to its states ([`fowler_physics::multibit::GrayCode`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// The cells make no errors.
    Off,
    /// Each page type needs about as many references as the others: 2-3-2, 4-4-4-3.
    Balanced,
    /// Each page type needs twice as many references as the one before: 1-2-4, 1-2-4-8.
    Reflected,
}

/// The entry of the retry table at which a read begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// The usual references.
    Off,
    /// The entry at which the last retry of the superblock succeeded.
    Superblock,
}

impl Default for AgingConfig {
    fn default() -> Self {
        Self {
            coding: Coding::Off,
            voltage_window: 4.8,
            erased_below: 2.4,
            step_share: 0.15,
            correctable: 4e-3,
            retry_entries: 15,
            retry_shift: 0.08,
            retry_overhead: Span::us(1),
            tracking: Tracking::Off,
            refresh_above: 0,
        }
    }
}

impl AgingConfig {
    /// Returns true if data ages.
    pub fn is_on(&self) -> bool {
        self.coding != Coding::Off
    }
}
