//! Slot: static wear leveling. The rule decides when hot and cold data are swapped, so that blocks
//! wear evenly.
//!
//! Contract. The rule is called after every erase, with the block just erased. It may name a full
//! block of the same plane, whose data the device then moves into the erased one. On a drive with
//! superblocks, these are the blocks, and all of them are of one plane.

use crate::blocks::candidates::Candidates;
use crate::policy::registry::slot;
use fowler_units::BlockId;
use serde::{Deserialize, Serialize};

slot! { $
    /// The wear leveling rule a device was configured with.
    #[derive(Serialize, Deserialize)]
    pub enum AnyWear, named WearKind, match by each_wear {
        "off" => off::Off needs Nothing, "no static wear leveling";
        "hot_cold_swap" => hot_cold_swap::HotColdSwap needs Nothing, "cold data moves into blocks that are far more worn than others";
    }
}

/// Parameters of every policy of this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The selected policy.
    pub name: WearKind,
    /// The number of erases by which the worn block must exceed the least worn full block.
    pub threshold: u32,
}

/// A rule that decides when cold data moves into a worn block.
pub trait Wear {
    /// Returns the block whose data should move into `erased`, if any.
    fn swap(&mut self, candidates: &Candidates<'_>, erased: BlockId) -> Option<BlockId>;
}

impl Wear for AnyWear {
    #[inline]
    fn swap(&mut self, candidates: &Candidates<'_>, erased: BlockId) -> Option<BlockId> {
        each_wear!(self, policy => policy.swap(candidates, erased))
    }
}
