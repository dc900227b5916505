//! A drive of a fleet, and how often drives are replaced.

use serde::{Deserialize, Serialize};

/// Largest number of drives, one replacing the other, that may be used up in one slot of a fleet
/// within the target lifetime.
pub(super) const REPLACED_MOST: u32 = 1000;

/// The reason why a drive of a fleet is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The drive failed early (infant mortality).
    Early,
    /// Too many blocks of the drive are worn out.
    Worn,
    /// Blocks of the drive have failed, and its spare does not cover them.
    Spare,
}

impl Cause {
    /// Returns the word for this cause of a drive's replacement in the CSV file of a fleet's
    /// drives: `early`, `worn` or `spare`.
    pub fn word(self) -> &'static str {
        match self {
            Cause::Early => "early",
            Cause::Worn => "worn",
            Cause::Spare => "spare",
        }
    }
}

/// The first drive in a slot of the fleet; later drives in the slot replace failed ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drive {
    /// Load of the drive relative to the workload's.
    pub load: f64,
    /// Endurance of the block whose failure ends the drive, relative to `lifetime.cycles`.
    pub strength: f64,
    /// Years after which the drive fails early, or would if it did not wear out before.
    pub early_years: f64,
    /// Years after which too many blocks of the drive are worn out, or would be if it did not fail
    /// before; infinite if its spare is used up earlier.
    pub worn_years: f64,
    /// Years after which failed blocks have used up the spare of the drive, or would have if it did
    /// not fail before; infinite if too many blocks are worn out earlier, or no block fails.
    pub spare_years: f64,
    /// Share of the spare that the drive has lost to failed blocks when it is worn out or another
    /// block fails that the spare does not cover, 0 to 1.
    pub spare_lost: f64,
}

impl Drive {
    /// Returns the years after which the drive is replaced.
    pub fn years(&self) -> f64 {
        self.early_years.min(self.worn_years).min(self.spare_years)
    }

    /// Returns the cause for which the drive is replaced.
    pub fn cause(&self) -> Cause {
        let Drive { early_years, worn_years, spare_years, .. } = *self;
        match early_years < worn_years.min(spare_years) {
            true => Cause::Early,
            false if spare_years < worn_years => Cause::Spare,
            false => Cause::Worn,
        }
    }
}

/// Counts of the drives of a fleet that were replaced in a year, or in all years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// Number of drives of the fleet that were replaced, early or worn out, in one year or in all
    /// years.
    pub count: u64,
    /// Sum, over the slots of the fleet (each holds one drive at a time), of the squared number of
    /// drives replaced there.
    pub squares: u64,
}

impl Replaced {
    pub(super) fn add(&mut self, count: u32) {
        self.count += u64::from(count);
        self.squares += u64::from(count).pow(2);
    }

    pub(super) fn join(&mut self, other: Replaced) {
        self.count += other.count;
        self.squares += other.squares;
    }
}
