//! Slot: which open block takes a page of this tag.
//!
//! Contract. A placement divides the tags into streams, each of which fills a block of its own in
//! every plane, and says which of a plane's erased blocks a stream opens next. It never changes the
//! device's state.

use crate::policy::registry::slot;
use crate::policy::stream_tag::StreamTag;

slot! { $
    /// The placement a device was configured with.
    pub enum AnyPlacement, named PlacementKind, match by each_placement {
        "single_stream" => single_stream::SingleStream, "one open block in each plane, whatever the data";
        "streams" => streams::Streams, "one open block in each plane for each tag";
    }
}

/// Parameters of every policy of this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The policy.
    pub name: PlacementKind,
    /// How host pages come to dies.
    pub dies: Dies,
    /// `streams` only: hot data opens the strongest erased block of a plane, other data the
    /// weakest.
    pub hot_to_strong: bool,
}

/// How host pages come to dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dies {
    /// The dies take turns, page by page, whatever the address.
    Rotate,
    /// The address says which: neighbours lie on neighbouring dies in striping order. A die without
    /// room passes its page on to the next whose turn it is.
    ByAddress,
}

/// Which erased block of a plane to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opens {
    /// The one that has waited longest.
    Oldest,
    /// The one that is believed to accumulate errors most slowly.
    Strongest,
    /// The one that is believed to accumulate them fastest.
    Weakest,
}

/// A rule that gives data of a tag its block.
pub trait Placement {
    /// The stream of a tag, below [`Params::streams`].
    fn stream(&self, tag: StreamTag) -> usize;
    /// Which erased block its stream opens next.
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
    /// How many streams there are where so many tags are told apart.
    pub fn streams(&self, tags: usize) -> usize {
        match self.name {
            PlacementKind::SingleStream => 1,
            PlacementKind::Streams => tags,
        }
    }
}
