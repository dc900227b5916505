//! Slot: the choice of the open block for a page, by its tag.
//!
//! Contract. A placement divides the tags into streams. Each stream fills its own block in every
//! plane, and the placement decides which of a plane's erased blocks it opens next. It never
//! changes the drive's state.

use crate::policy::custom::Custom;
use crate::policy::registry::slot;
use crate::policy::stream_tag::StreamTag;
use dyn_clone::clone_trait_object;
use std::ops::{Index, IndexMut};

slot! { $
    /// The placement policy of a drive.
    pub enum AnyPlacement, named PlacementKind, match by each_placement, or Custom(CustomPlacement) {
        "single_stream" => single_stream::SingleStream needs Nothing, "one open block per plane, for all data";
        "streams" => streams::Streams needs Nothing, "one open block per plane for each tag";
        "handles" => handles::Handles needs Nothing, "one open block per plane for each placement handle of the host (FDP)";
    }
}

/// Configuration of the placement policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Name of the selected placement policy.
    pub name: PlacementKind,
    /// The rule that assigns host pages to dies.
    pub dies: Dies,
    /// Number of neighbouring pages that go to one die before the next die takes any. See
    /// docs/decisions/blocks.md, "How much of a request lies on one die?".
    pub stripe_unit: u32,
    /// True if hot data opens the strongest erased block of a plane, and other data the weakest
    /// (only used by the placement policy `streams`).
    pub hot_to_strong: bool,
    /// Number of placement handles of the host, 2 to [`StreamTag::HANDLES`] (only used by the
    /// placement policy `handles`).
    pub handles: u32,
    /// Isolation of data with different placement handles of the host when garbage collection moves
    /// it (only used by the placement policy `handles`).
    pub isolation: Isolation,
}

/// The isolation of data of different placement handles (NVMe TP4146, reclaim unit handle types).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Data is isolated until it is moved: moved data of all handles shares open blocks.
    Initial,
    /// Data is always isolated: moved data of each handle has an open block of its own. Data that
    /// static wear leveling swaps belongs to handle 0 from then on.
    Persistent,
}

/// The rule that assigns host pages to dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dies {
    /// Pages rotate over the dies, a stripe unit each, regardless of the address.
    Rotate,
    /// The address determines the die: neighbouring stripe units lie on neighbouring dies in
    /// striping order. If a die has no room, the page goes to the next die in rotation.
    ByAddress,
}

/// The choice of the erased block of a plane to open next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opens {
    /// The stream opens the block that was erased longest ago.
    Oldest,
    /// The stream opens the block believed to accumulate errors most slowly.
    Strongest,
    /// The stream opens the block believed to accumulate errors fastest.
    Weakest,
}

/// Maximum number of streams of host data, and of data that garbage collection moves.
pub const STREAMS_MAX: usize = StreamTag::HANDLES as usize;

/// Number of a stream: data that shares open blocks. Streams of host data and of data that garbage
/// collection moves are numbered alike, each from 0 and below [`STREAMS_MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct StreamId(pub u8);

impl StreamId {
    /// Returns the number of this write stream, as an index into arrays with one element per
    /// stream.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Stream of each tag, at the index [`StreamTag::index`] of the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamTable([StreamId; StreamTag::COUNT]);

impl Default for StreamTable {
    fn default() -> StreamTable {
        StreamTable([StreamId(0); StreamTag::COUNT])
    }
}

impl Index<usize> for StreamTable {
    type Output = StreamId;

    #[inline]
    fn index(&self, tag: usize) -> &StreamId {
        // A power of two, so the compiler needs no check.
        &self.0[tag % StreamTag::COUNT]
    }
}

impl IndexMut<usize> for StreamTable {
    fn index_mut(&mut self, tag: usize) -> &mut StreamId {
        &mut self.0[tag % StreamTag::COUNT]
    }
}

const _: () = assert!(StreamTag::COUNT.is_power_of_two());

/// Limits on the streams into which a placement policy divides data on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Number of streams that the drive can keep apart: streams are numbered below this.
    pub streams: u8,
    /// Exclusive bound of the placement handles in stream tags: 1 if the placement ignores handles.
    pub handles: u8,
    /// True if data of different access classes must be in different streams: the classes differ in
    /// their voltages, and all pages of a block have the same ones.
    pub classes_apart: bool,
}

impl StreamLimits {
    /// Returns all stream tags (hotness, access class, placement handle) that data on the drive may
    /// have.
    pub fn tags(self) -> impl Iterator<Item = StreamTag> {
        StreamTag::all().filter(move |tag| tag.handle() < self.handles)
    }

    /// Asks a placement policy for the stream of each stream tag. Stream numbers beyond those that
    /// the drive can keep apart, which only a custom policy can return, are replaced by the first.
    pub fn table_of(self, placement: &mut AnyPlacement) -> StreamTable {
        let mut streams = placement.streams(self);
        for stream in &mut streams.0 {
            *stream = if stream.0 < self.streams { *stream } else { StreamId(0) };
        }
        streams
    }
}

/// A policy that assigns tagged data to blocks.
pub trait Placement {
    /// Returns the stream of each stream tag. Called once, when the drive is made.
    fn streams(&mut self, limits: StreamLimits) -> StreamTable;
    /// Returns the choice of the erased block that the stream of data with a stream tag opens next.
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

/// A custom policy that divides data into streams by stream tag. It acts from the first request on:
/// preconditioning writes only data about which nothing is known (neither hotness, access class nor
/// placement handle).
pub trait CustomPlacement: Custom {
    /// Returns the stream of each stream tag, one that the drive can keep apart (`limits`). Called
    /// once, when the drive is made.
    fn streams(&mut self, limits: StreamLimits) -> StreamTable;
    /// Returns the choice of the erased block that the stream of data with a stream tag opens next.
    fn opens(&mut self, tag: StreamTag) -> Opens;
}
clone_trait_object!(CustomPlacement);

impl Params {
    /// Returns the limits on the streams into which data is divided. `classes_apart` is true if
    /// data of different access classes must be in different blocks, because the voltages differ.
    pub fn limits(&self, classes_apart: bool) -> StreamLimits {
        let streams = match self.name {
            PlacementKind::SingleStream => 1,
            PlacementKind::Streams => StreamTag::PLAIN_COUNT as u8,
            PlacementKind::Handles => self.tagged_handles(),
        };
        StreamLimits { streams, handles: self.tagged_handles().max(1), classes_apart }
    }

    /// Returns the number of streams of host data, if the detectors of hotness and access classes
    /// distinguish `tags` stream tags.
    pub fn host_streams(&self, tags: usize) -> usize {
        self.streams(tags, self.handles as usize)
    }

    /// Returns the number of streams of data that garbage collection has moved, if `classes` access
    /// classes (read-hot, write-hot and so on) of that data are distinguished.
    pub fn moved_streams(&self, classes: usize) -> usize {
        let handles = match self.isolation {
            Isolation::Initial => 1,
            Isolation::Persistent => self.handles as usize,
        };
        self.streams(classes, handles)
    }

    /// Returns the stream tag (hotness, access class, placement handle) that data with the stream
    /// tag `tag` gets once garbage collection has moved it.
    #[inline]
    pub fn survivors(&self, tag: StreamTag) -> StreamTag {
        match (self.name, self.isolation) {
            (PlacementKind::Handles, Isolation::Initial) => tag.as_cold().with_handle(0),
            _ => tag.as_cold(),
        }
    }

    fn streams(&self, tags: usize, handles: usize) -> usize {
        match self.name {
            PlacementKind::SingleStream => 1,
            PlacementKind::Streams => tags,
            PlacementKind::Handles => handles,
        }
    }

    /// Returns the number of placement handles that stream tags carry; 0 if the placement policy
    /// ignores handles.
    pub fn tagged_handles(&self) -> u8 {
        if self.name == PlacementKind::Handles { self.handles as u8 } else { 0 }
    }
}
