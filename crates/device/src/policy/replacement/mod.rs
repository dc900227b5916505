//! Slot: does a clean or a dirty page leave the buffer next?
//!
//! Contract. A rule names the clean or the dirty frame that was used longest ago; one that leaves
//! dirty is programmed, one that leaves clean is dropped. It sees when each of the two was used and
//! never changes the buffer.

use crate::policy::registry::slot;

slot! { $
    /// The replacement rule a device was configured with.
    pub enum AnyReplacement, named ReplacementKind, match by each_replacement {
        "clean_first" => clean_first::CleanFirst, "clean pages first, and room for writes is made ahead of them";
        "lru" => lru::Lru, "the page that was used longest ago, clean or dirty";
        "cflru" => cflru::Cflru, "as lru, but a clean page among the oldest goes before a dirty one";
    }
}

/// Parameters of every policy of this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The policy.
    pub name: ReplacementKind,
    /// `cflru` only: among how many of the pages used longest ago a clean one is looked for.
    pub window: u32,
}

/// Which page leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// The clean one that was used longest ago.
    Clean,
    /// The dirty one that was used longest ago.
    Dirty,
}

/// The old end of the buffer.
pub trait Tail {
    /// When the clean page was used that was used longest ago, in uses of the buffer; none without
    /// one.
    fn clean(&self) -> Option<u64>;
    /// The same of the dirty pages.
    fn dirty(&self) -> Option<u64>;
    /// How many dirty pages were used before `used`, counted up to `most`.
    fn dirty_before(&self, used: u64, most: u32) -> u32;
}

/// A rule that chooses the page to give up.
pub trait Replacement {
    /// What leaves next; nothing if the buffer is empty.
    fn leaves(&self, tail: &impl Tail) -> Option<Leaves>;

    /// Whether frames are kept free by dropping clean ones too. If not, a clean frame counts as
    /// room and is dropped when a page needs it.
    fn drops_ahead(&self) -> bool {
        true
    }
}

impl Replacement for AnyReplacement {
    fn leaves(&self, tail: &impl Tail) -> Option<Leaves> {
        each_replacement!(self, policy => policy.leaves(tail))
    }

    #[inline]
    fn drops_ahead(&self) -> bool {
        each_replacement!(self, policy => policy.drops_ahead())
    }
}
