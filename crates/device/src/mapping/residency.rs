//! Which entries of the mapping are at hand. The whole table is kept in memory by the simulator
//! whatever the drive holds; what is not at hand must be read from the flash before it may be used.

use super::Miss;
#[cfg(test)]
use super::forgetful::Forgetful;
use crate::flash::Flash;
use fowler_units::{Lpn, TxnId};

/// See the module.
#[derive(Clone, Debug)]
pub enum Residency {
    /// All of them: the drive holds its whole mapping. Nothing ever misses, and that costs nothing.
    Whole,
    /// Some, to see that everyone waits who must.
    #[cfg(test)]
    Forgetful(Forgetful),
}

impl Residency {
    /// Whether a lookup can miss at all. Where none can, this is known when it is compiled, and so
    /// is that nobody ever waited.
    #[inline(always)]
    pub fn may_miss(&self) -> bool {
        match self {
            Residency::Whole => false,
            #[cfg(test)]
            Residency::Forgetful(_) => true,
        }
    }

    /// Sees to it that the entry of a page is at hand.
    ///
    /// # Errors
    /// The flash transaction that brings it, on its way from now on or already.
    #[inline(always)]
    pub fn load(&mut self, flash: &mut Flash, page: Lpn) -> Result<(), Miss> {
        match self {
            Residency::Whole => {
                let _ = (flash, page);
                Ok(())
            }
            #[cfg(test)]
            Residency::Forgetful(its) => its.load(flash, page),
        }
    }

    /// A transaction has brought its entry.
    pub fn loaded(&mut self, id: TxnId) {
        match self {
            Residency::Whole => unreachable!("transaction {} brings nothing", id.0),
            #[cfg(test)]
            Residency::Forgetful(its) => its.loaded(id),
        }
    }
}
