//! Slot: which open block takes a page with this tag?
//!
//! Contract. A placement divides the tags into streams. Each stream fills its own block in every
//! plane, and the placement decides which of a plane's erased blocks it opens next. It never
//! changes the device's state.

use crate::policy::registry::slot;
use crate::policy::stream_tag::StreamTag;

slot! { $
    /// The placement a device was configured with.
    pub enum AnyPlacement, named PlacementKind, match by each_placement {
        "single_stream" => single_stream::SingleStream, "one open block per plane, for all data";
        "streams" => streams::Streams, "one open block per plane for each tag";
    }
}

/// Parameters of every policy of this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The policy.
    pub name: PlacementKind,
    /// How host pages are assigned to dies.
    pub dies: Dies,
    /// Neighboring pages that go to one die before the next die takes any. See
    /// docs/decisions/blocks.md, "How much of a request lies on one die?".
    pub stripe_unit: u32,
    /// `streams` only: hot data opens the strongest erased block of a plane, other data the
    /// weakest.
    pub hot_to_strong: bool,
}

/// How host pages are assigned to dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dies {
    /// In rotation over the dies, a stripe unit each, regardless of the address.
    Rotate,
    /// By address: neighboring stripe units lie on neighboring dies in striping order. If a die has
    /// no room, the page goes to the next die in rotation.
    ByAddress,
}

/// Which erased block of a plane to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opens {
    /// The one that was erased longest ago.
    Oldest,
    /// The one believed to accumulate errors most slowly.
    Strongest,
    /// The one believed to accumulate errors fastest.
    Weakest,
}

/// A rule that assigns tagged data to blocks.
pub trait Placement {
    /// Returns the stream of a tag, below [`Params::streams`].
    fn stream(&self, tag: StreamTag) -> usize;
    /// Returns which erased block the tag's stream opens next.
    fn opens(&self, tag: StreamTag) -> Opens;
}

impl Placement for AnyPlacement {
    #[inline]
    fn stream(&self, tag: StreamTag) -> usize {
        each_placement!(self, policy => policy.stream(tag))
    }

    fn opens(&self, tag: StreamTag) -> Opens {
        each_placement!(self, policy => policy.opens(tag))
    }
}

impl Params {
    /// Returns the number of streams if there are `tags` tags.
    pub fn streams(&self, tags: usize) -> usize {
        match self.name {
            PlacementKind::SingleStream => 1,
            PlacementKind::Streams => tags,
        }
    }
}
