//! A drive of a fleet, and how often drives are replaced.

use serde::{Deserialize, Serialize};

/// The most drives that a place may use up within the target life.
pub(super) const REPLACED_MOST: u32 = 1000;

/// Why a drive is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It failed early.
    Early,
    /// Too many of its blocks are worn out.
    Worn,
}

impl Cause {
    /// Returns the word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Cause::Early => "early",
            Cause::Worn => "worn",
        }
    }
}

/// The first drive in a place of the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drive {
    /// Its load over that of the workload.
    pub load: f64,
    /// The cycles that the block endures with which it ends, over `lifetime.cycles`.
    pub strength: f64,
    /// After how many years it fails early, or would.
    pub early_years: f64,
    /// After how many years too many of its blocks are worn out, or would be.
    pub worn_years: f64,
}

impl Drive {
    /// Returns when it is replaced.
    pub fn years(&self) -> f64 {
        self.early_years.min(self.worn_years)
    }

    /// Returns why.
    pub fn cause(&self) -> Cause {
        if self.early_years < self.worn_years { Cause::Early } else { Cause::Worn }
    }
}

/// How often drives are replaced in a year, or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// How many drives.
    pub count: u64,
    /// The sum of the squares of the counts of all places.
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
