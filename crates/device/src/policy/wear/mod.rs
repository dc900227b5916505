//! Slot: static wear leveling. The rule decides when hot and cold data are swapped, so that blocks
//! wear evenly.
//!
//! Contract. The rule is called after every erase, with the block just erased. It may name a full
//! block of the same plane, whose data the drive then moves into the erased one. On a drive with
//! superblocks, these are the blocks, and all of them are of one plane.

use crate::blocks::candidates::Candidates;
use crate::policy::registry::slot;
use fowler_units::BlockId;
use serde::{Deserialize, Serialize};

slot! { $
    /// The static wear leveling policy of a drive.
    #[derive(Serialize, Deserialize)]
    pub enum AnyWear, named WearKind, match by each_wear {
        "off" => off::Off needs Nothing, "no static wear leveling";
        "hot_cold_swap" => hot_cold_swap::HotColdSwap needs Nothing, "cold data moves into blocks that are far more worn than others";
    }
}

/// Configuration of static wear leveling, which moves cold data into worn blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Name of the selected wear leveling policy.
    pub name: WearKind,
    /// Number of erases by which the worn block must exceed the least worn full block before data
    /// is swapped.
    pub threshold: u32,
}

/// A policy that decides when cold data moves into a worn block.
pub trait Wear {
    /// Returns the block whose data should move into the erased block `erased`; `None` for no swap.
    fn swap(&mut self, candidates: &Candidates<'_>, erased: BlockId) -> Option<BlockId>;
}

impl Wear for AnyWear {
    #[inline]
    fn swap(&mut self, candidates: &Candidates<'_>, erased: BlockId) -> Option<BlockId> {
        each_wear!(self, policy => policy.swap(candidates, erased))
    }
}
