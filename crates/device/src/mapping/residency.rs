//! The set of mapping entries in the controller's memory.
//!
//! Invariants: the simulator always holds the whole table; an entry that is not in the simulated
//! memory must be read from the flash before use; [`Residency::Whole`] never misses, and costs
//! nothing.

use super::Miss;
#[cfg(test)]
use super::forgetful_map::ForgetfulMap;
use crate::flash::Flash;
use fowler_units::{Lpn, TxnId};

/// The set of mapping entries in the simulated controller's memory.
#[derive(Clone, Debug)]
pub enum Residency {
    /// All entries are in memory: the drive holds its whole mapping. A lookup never misses, at no
    /// cost.
    Whole,
    /// Some mapping entries are in memory and are evicted at random, to test that every user of the
    /// mapping waits when it must.
    #[cfg(test)]
    ForgetfulMap(ForgetfulMap),
}

impl Residency {
    /// Returns true if the lookup of a mapping entry can miss at all. If not, the compiler removes
    /// the code that waits for entries.
    #[inline(always)]
    pub fn may_miss(&self) -> bool {
        match self {
            Residency::Whole => false,
            #[cfg(test)]
            Residency::ForgetfulMap(_) => true,
        }
    }

    /// Ensures that the mapping entry of a logical page is in the controller's memory.
    ///
    /// # Errors
    /// The flash transaction that loads the entry, newly submitted or already in flight.
    #[inline(always)]
    pub fn load(&mut self, flash: &mut Flash, page: Lpn) -> Result<(), Miss> {
        match self {
            Residency::Whole => {
                let _ = (flash, page);
                Ok(())
            }
            #[cfg(test)]
            Residency::ForgetfulMap(forgetful) => forgetful.load(flash, page),
        }
    }

    /// Records that a transaction has loaded a mapping entry into the controller's memory.
    pub fn loaded(&mut self, id: TxnId) {
        match self {
            Residency::Whole => unreachable!("transaction {} loads no mapping entry", id.0),
            #[cfg(test)]
            Residency::ForgetfulMap(forgetful) => forgetful.loaded(id),
        }
    }
}
