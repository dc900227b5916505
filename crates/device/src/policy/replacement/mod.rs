//! Slot: the choice between a clean and a dirty page to leave the buffer next.
//!
//! Contract. A rule chooses between the least recently used clean frame and the least recently used
//! dirty one. A dirty frame is programmed when it leaves; a clean one is dropped. The rule sees
//! when each of the two was last used, and never changes the buffer.

use crate::policy::registry::slot;

slot! { $
    /// The replacement policy of a drive's write buffer.
    pub enum AnyReplacement, named ReplacementKind, match by each_replacement {
        "clean_first" => clean_first::CleanFirst needs Nothing, "clean pages first, and only when a page needs the room";
        "lru" => lru::Lru needs Nothing, "the least recently used page, clean or dirty";
        "cflru" => cflru::Cflru needs Nothing, "as lru, but a clean page among the oldest is evicted before a dirty one";
    }
}

/// Configuration of the replacement policy, which chooses the page that leaves the write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Name of the selected replacement policy.
    pub name: ReplacementKind,
    /// Number of least recently used pages among which a clean one is looked for (`cflru` only).
    pub window: u32,
}

/// The page that leaves the buffer next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// The least recently used clean page leaves the write buffer.
    Clean,
    /// The least recently used dirty page leaves the write buffer.
    Dirty,
}

/// The least recently used end of the buffer, as a replacement policy sees it.
pub trait Tail {
    /// Returns the time at which the least recently used clean page was last used, counted in uses
    /// of the buffer; `None` if there is no clean page.
    fn clean(&self) -> Option<u64>;
    /// Returns the time at which the least recently used dirty page was last used, counted in uses
    /// of the buffer; `None` if there is no dirty page.
    fn dirty(&self) -> Option<u64>;
    /// Returns the number of dirty pages last used before `used`, counted up to `most`.
    fn dirty_before(&self, used: u64, most: u32) -> u32;
}

/// A policy that chooses the page to leave the buffer.
pub trait Replacement {
    /// Returns the page that leaves the buffer next; `None` if the buffer is empty.
    fn leaves(&self, tail: &impl Tail) -> Option<Leaves>;

    /// Returns true if frames are kept free by dropping clean ones too. If false, a clean frame
    /// counts as free and is dropped when a page needs it.
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
