//! Slot: which open block takes a page with this tag?
//!
//! Contract. A placement divides the tags into streams. Each stream fills its own block in every
//! plane, and the placement decides which of a plane's erased blocks it opens next. It never
//! changes the device's state.

use crate::policy::custom::Custom;
use crate::policy::registry::slot;
use crate::policy::stream_tag::StreamTag;
use dyn_clone::clone_trait_object;

slot! { $
    /// The placement a device was configured with.
    pub enum AnyPlacement, named PlacementKind, match by each_placement, or Custom(CustomPlacement) {
        "single_stream" => single_stream::SingleStream needs Nothing, "one open block per plane, for all data";
        "streams" => streams::Streams needs Streams, "one open block per plane for each tag";
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

/// The stream of each tag, by [`StreamTag::index`].
pub type StreamTable = [u8; StreamTag::COUNT];

/// What the streams of a drive must comply with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// The streams are numbered below this.
    pub streams: u8,
    /// Whether data of different access classes must be in different streams: their voltages
    /// differ, and those of a block are all the same.
    pub classes_apart: bool,
}

/// A rule that assigns tagged data to blocks.
pub trait Placement {
    /// Returns the stream of each tag. Asked once, when the drive is made.
    fn streams(&mut self, limits: StreamLimits) -> StreamTable;
    /// Returns which erased block the tag's stream opens next.
    fn opens(&mut self, tag: StreamTag) -> Opens;
}

impl Placement for AnyPlacement {
    fn streams(&mut self, limits: StreamLimits) -> StreamTable {
        each_placement!(self, policy => policy.streams(limits))
    }

    fn opens(&mut self, tag: StreamTag) -> Opens {
        each_placement!(self, policy => policy.opens(tag))
    }
}

/// A policy supplied by the code that builds the drive. It acts from the first request on:
/// preconditioning writes plain data only.
pub trait CustomPlacement: Custom {
    /// Returns the stream of each tag, within the limits. Asked once, when the drive is made.
    fn streams(&mut self, limits: StreamLimits) -> StreamTable;
    /// Returns which erased block the tag's stream opens next.
    fn opens(&mut self, tag: StreamTag) -> Opens;
}
clone_trait_object!(CustomPlacement);

impl Params {
    /// Returns what streams must comply with. `classes_apart` as in [`StreamLimits`].
    pub fn limits(&self, classes_apart: bool) -> StreamLimits {
        let streams = match self.name {
            PlacementKind::SingleStream => 1,
            PlacementKind::Streams => StreamTag::COUNT as u8,
        };
        StreamLimits { streams, classes_apart }
    }

    /// Returns the number of streams if there are `tags` tags.
    pub fn streams(&self, tags: usize) -> usize {
        match self.name {
            PlacementKind::SingleStream => 1,
            PlacementKind::Streams => tags,
        }
    }
}
