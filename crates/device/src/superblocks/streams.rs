//! Streams: the assignment of units of the host to open superblocks, and of the data of a
//! superblock to the stream that garbage collection moves it to. Data of one stream shares
//! superblocks.
//!
//! Invariants: data of one tag goes to one stream; a superblock has the tag of the data that it was
//! opened for, and is moved into the stream of that; the host leaves one superblock erased for each
//! stream of moved data, because a stream that finds none could never free one.

use super::commands::{SWAPPED, Stream};
use super::map::Map;
use crate::blocks::block_table::BlockState;
use crate::config::Config;
use crate::policy::hotness::{Hotness, Used};
use crate::policy::placement::{AnyPlacement, Opens, Params, Placement, StreamId, StreamTable};
use crate::policy::stream_tag::{AccessClass, StreamTag};
use fowler_units::{Bytes, Id, IdVec, PlacementHandle, RuId};

/// The streams of a drive.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    hotness: Hotness,
    params: Params,
    placement: AnyPlacement,
    /// Stream of the data with each tag (hotness and placement handle).
    table: StreamTable,
    /// The number of streams that the host's data is divided into.
    count: u8,
    /// Streams of moved data.
    moved: Vec<StreamId>,
    /// Tag (hotness and placement handle) of the data that each superblock was opened for; empty if
    /// there is one stream.
    tags: IdVec<RuId, StreamTag>,
    /// Number of the host stream that sent the latest program command.
    last: StreamId,
}

impl Streams {
    /// Creates the streams of a drive with `superblocks` superblocks. About the data in them
    /// nothing is known: neither hotness, access class nor placement handle.
    pub fn new(config: &Config, superblocks: u32) -> Streams {
        let custom = config.policies.placement.as_ref();
        let mut placement = AnyPlacement::custom_or_new(custom, &config.placement, config.seed);
        let limits = config.stream_limits();
        let table = limits.table_of(&mut placement);
        let mut moved: Vec<StreamId> = Streams::tags_of(config)
            .map(|tag| table[config.placement.survivors(tag).index()])
            .collect();
        moved.sort_unstable();
        moved.dedup();
        if config.levels_wear() {
            moved.push(SWAPPED);
        }
        let several = limits.streams > 1;
        Streams {
            hotness: Hotness::new(&config.hotness, config.unit())
                .or_custom(config.policies.hotness.as_ref()),
            params: config.placement,
            placement,
            table,
            count: limits.streams,
            moved,
            tags: IdVec::filled(StreamTag::PLAIN, if several { superblocks as usize } else { 0 }),
            last: StreamId(0),
        }
    }

    /// Returns the stream tags that data of this drive may have: the combinations of placement
    /// handle, access class (read-hot, write-hot or mixed) and hotness that the drive
    /// distinguishes.
    fn tags_of(config: &Config) -> impl Iterator<Item = StreamTag> {
        let sizes = config.hotness.tags() > config.hotness.classes();
        let handles = config.placement.tagged_handles().max(1);
        (0..handles).flat_map(move |handle| {
            let tag = StreamTag::PLAIN.with_handle(handle);
            let classes = &AccessClass::ALL[..config.hotness.classes()];
            classes.iter().flat_map(move |&class| {
                let tag = tag.with_class(class);
                [Some(tag), sizes.then(|| tag.as_hot())].into_iter().flatten()
            })
        })
    }

    /// Returns the memory that the streams of a drive with `superblocks` superblocks take on the
    /// simulating machine.
    pub fn bytes(config: &Config, superblocks: u32) -> Bytes {
        let several = config.stream_limits().streams > 1;
        Bytes::of::<StreamTag>(if several { superblocks.into() } else { 0 })
    }

    /// Returns the number of streams of the host's data.
    #[inline]
    pub fn count(&self) -> u8 {
        self.count
    }

    /// Returns the streams of data that is moved, the one of swaps last.
    pub fn moved(&self) -> &[StreamId] {
        &self.moved
    }

    /// Returns the number of superblocks that the host leaves erased for data that is moved: one
    /// for each of its streams. With fewer, a stream might find none, and nothing could ever be
    /// freed.
    #[inline]
    pub fn kept(&self) -> u32 {
        self.moved.len() as u32
    }

    /// Returns the streams that preconditioning fills: host data without a tag; such data after GC
    /// has moved it; and, after these two, the SLC cache.
    pub fn of_filling(&self) -> [Stream; 3] {
        let survivors = self.params.survivors(StreamTag::PLAIN);
        let host = Stream::Host(self.of(StreamTag::PLAIN));
        [host, Stream::Moved(self.of(survivors)), Stream::Slc]
    }

    /// Returns the stream tag (hotness and placement handle) of data written by a request of
    /// `units` units with a placement handle.
    pub fn tag_of_write(&mut self, units: u32, handle: PlacementHandle) -> StreamTag {
        self.hotness.tag_of_write(units).with_host_handle(handle, self.params.tagged_handles())
    }

    /// Returns true if units that leave the write buffer are divided into access classes (read-hot,
    /// write-hot or mixed) by their reads and writes there.
    pub fn tells_classes(&self) -> bool {
        self.hotness.tells_classes()
    }

    /// Returns the access class of a unit that leaves the write buffer: read-hot, write-hot or
    /// mixed, by its reads and writes there.
    pub fn class(&mut self, unit: Used) -> AccessClass {
        self.hotness.class(unit)
    }

    /// Assigns the data of all full superblocks to one access class (read-hot, write-hot or mixed),
    /// on a drive that divides data into such classes.
    pub fn class_filled(&mut self, map: &Map, class: AccessClass) {
        if self.hotness.tells_classes() {
            let full = |&number: &RuId| map.state(number) == BlockState::Full;
            for superblock in map.superblocks().filter(full) {
                self.note_open(superblock, StreamTag::PLAIN.with_class(class));
            }
        }
    }

    /// Returns the streams of the host's data, in order.
    pub fn of_host(&self) -> impl Iterator<Item = StreamId> + use<> {
        (0..self.count).map(StreamId)
    }

    /// Returns the streams of the host's data, beginning with the one whose turn it is.
    pub fn in_turn(&self) -> impl Iterator<Item = StreamId> + use<> {
        let (next, count) = (self.last.0 + 1, self.count);
        (next..count).chain(0..next).map(StreamId)
    }

    /// Records that a host stream sends a program command.
    pub fn note_program(&mut self, stream: StreamId) {
        self.last = stream;
    }

    /// Returns the stream of data with a tag (hotness and placement handle).
    #[inline]
    pub fn of(&self, tag: StreamTag) -> StreamId {
        self.table[tag.index()]
    }

    /// Returns the stream into which the data of a superblock is moved.
    #[inline]
    pub fn of_survivors(&self, superblock: RuId) -> StreamId {
        match self.tags.get(superblock) {
            Some(&tag) => self.of(self.params.survivors(tag)),
            None => StreamId(0),
        }
    }

    /// Returns the tag (hotness and placement handle) of the data of each superblock, and the
    /// stream of host data that programmed last.
    pub fn snapshot(&self) -> (&[StreamTag], StreamId) {
        (self.tags.as_slice(), self.last)
    }

    /// Takes over the tags of all superblocks, and the stream that programmed last. Returns false
    /// if the drive has other streams.
    pub fn resume(&mut self, tags: &[StreamTag], last: StreamId) -> bool {
        let same = tags.len() == self.tags.len()
            && last.0 < self.count
            && tags.iter().all(|&tag| self.knows(tag));
        if same {
            self.tags.as_mut_slice().copy_from_slice(tags);
            self.last = last;
        }
        same
    }

    /// Returns the sizes of requests that the detector of hotness has seen, each with its number.
    pub fn sizes_seen(&self) -> Vec<(u32, u64)> {
        self.hotness.sizes_seen()
    }

    /// Restores, from a saved state, the sizes of write requests that the detector of hot data has
    /// seen. Returns false if this drive cannot have seen them.
    pub fn resume_sizes(&mut self, seen: &[(u32, u64)]) -> bool {
        self.hotness.resume_sizes(seen)
    }

    /// Returns true if data of this drive may have the tag (hotness and placement handle): there is
    /// a stream for it when the host writes it, and one when garbage collection moves it.
    pub fn knows(&self, tag: StreamTag) -> bool {
        StreamTag::all().any(|known| known == tag)
            && self.of(tag).0 < self.count
            && self.moved.contains(&self.of(self.params.survivors(tag)))
    }

    /// Returns the kind of erased superblock that is opened next for data with a tag (hotness and
    /// placement handle): the one erased longest ago, the strongest, or the weakest.
    pub fn opens(&mut self, tag: StreamTag) -> Opens {
        self.placement.opens(tag)
    }

    /// Records that a superblock is opened for data with a tag (hotness and placement handle).
    #[inline]
    pub fn note_open(&mut self, superblock: RuId, tag: StreamTag) {
        if let Some(place) = self.tags.as_mut_slice().get_mut(superblock.index()) {
            *place = tag;
        }
    }

    /// Returns the tag (hotness and placement handle) of the data that a superblock was opened for.
    pub fn tag_of(&self, superblock: RuId) -> StreamTag {
        self.tags.get(superblock).copied().unwrap_or_default()
    }

    /// Returns the tag that data gets when it is moved from a superblock: it counts as cold from
    /// then on, and loses its placement handle if garbage collection mixes handles.
    pub fn tag_of_survivors(&self, superblock: RuId) -> StreamTag {
        self.params.survivors(self.tag_of(superblock))
    }
}
