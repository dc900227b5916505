//! Aging of the data on a drive with superblocks, and the controller's response to it.

use fowler_physics::parameters::WordLine;
use fowler_units::Span;

/// The aging of cells, whose threshold voltages fall with time, and the controller's read retries
/// at lower references. See docs/decisions/superblocks.md, "How does a read age?".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgingConfig {
    /// Gray code that assigns bits to the states of a cell; off for data that never ages.
    pub coding: Coding,
    /// Distance from the lowest to the highest programmed state, in V.
    pub voltage_window: f64,
    /// Distance from the erased state to the lowest programmed one, in V.
    pub erased_below: f64,
    /// ISPP step size as a share of the distance between two programmed states.
    pub step_share: f64,
    /// Highest raw bit error rate (RBER) that the code corrects.
    pub correctable: f64,
    /// Number of entries of the retry table, besides the usual references: 1 to 31.
    pub retry_entries: u32,
    /// Downward shift of the highest state's read reference from one entry of the retry table to
    /// the next, in V. The references of lower states shift in proportion to their height.
    pub retry_shift: f64,
    /// Time that a read retry takes beyond sensing and transfer.
    pub retry_overhead: Span,
    /// Entry of the retry table at which a read begins.
    pub tracking: Tracking,
    /// A superblock is refreshed (its data moved) when one of its pages was read at an entry of the
    /// retry table beyond this one; 0 for never.
    pub refresh_above: u32,
}

/// The assignment of the bits of a cell to its states ([`fowler_physics::multibit::GrayCode`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Cells make no bit errors, whatever their age.
    Off,
    /// Each page type needs about as many references as the others: 2-3-2, 4-4-4-3.
    Balanced,
    /// Each page type needs twice as many references as the one before: 1-2-4, 1-2-4-8.
    Reflected,
}

/// The entry of the retry table at which a read begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// A read begins with the unshifted read references.
    Off,
    /// A read begins with the shift of the read references (entry of the retry table) with which
    /// the last retry in the same superblock succeeded.
    Superblock,
}

impl Default for AgingConfig {
    fn default() -> Self {
        let WordLine {
            voltage_window,
            erased_below,
            step_share,
            correctable,
            retry_entries,
            retry_shift,
            retry_overhead,
        } = WordLine::default();
        Self {
            coding: Coding::Off,
            voltage_window,
            erased_below,
            step_share,
            correctable,
            retry_entries: retry_entries as u32,
            retry_shift,
            retry_overhead: Span((retry_overhead * 1e3) as u64),
            tracking: Tracking::Off,
            refresh_above: 0,
        }
    }
}

impl AgingConfig {
    /// Returns true if the data of the drive ages.
    pub fn is_on(&self) -> bool {
        self.coding != Coding::Off
    }
}
