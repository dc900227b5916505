//! The open blocks of every plane: one for each stream of data, the erased block to open next, and
//! the ISPP step at which the pages of a block are programmed.
//!
//! Invariants: a plane has at most one open block for each stream of host data, for each stream
//! that GC moves, and for swapped data; an open block takes data of one stream, and is programmed
//! in one mode.

use crate::blocks::block_table::Blocks;
use crate::cells::program_mode::{Mode, Step, Voltage};
use crate::cells::reliability::{CLASSES, Coarsest, StrengthClass};
use crate::config::{Config, GcFrontier};
use crate::observe::operation::Source;
use crate::policy::placement::{
    AnyPlacement, Opens, Params, Placement, STREAMS_MAX, StreamId, StreamTable,
};
use crate::policy::step::{AnyStep, StepRule};
use crate::policy::stream_tag::{AccessClass, StreamTag};
use crate::policy::voltage::{AnyVoltage, VoltageRule};
use fowler_units::{BlockId, Bytes, Geometry, Id, IdVec, PlaneId};
use serde::{Deserialize, Serialize};

/// The open blocks of one plane, by the data that they take.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Frontier {
    host: [BlockId; STREAMS_MAX],
    collected: [BlockId; STREAMS_MAX],
    swapped: BlockId,
}

/// The use of an open block: the kind of data that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// The block takes host data of the stream with this number.
    Host(StreamId),
    /// The block takes data moved by GC, of the stream with this number.
    Collected(StreamId),
    /// The block takes data swapped by static wear leveling.
    Swapped,
}

impl Opened {
    /// Returns true if the block takes host data, which is programmed on all planes of a die at the
    /// same time.
    pub fn is_host(self) -> bool {
        matches!(self, Opened::Host(_))
    }
}

/// A snapshot of the open blocks, and of the stream tag that each block was opened for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenBlocksSnapshot {
    planes: IdVec<PlaneId, Frontier>,
    tags: IdVec<BlockId, StreamTag>,
}

/// The open blocks of all planes.
#[derive(Clone, Debug)]
pub struct OpenBlocks {
    planes: IdVec<PlaneId, Frontier>,
    collected_to: GcFrontier,
    placement: AnyPlacement,
    params: Params,
    /// Table from stream tags to the streams that they belong to.
    streams: StreamTable,
    step: AnyStep,
    voltage: AnyVoltage,
    /// For each block, the tag of the data that it was opened for, and the programming mode of its
    /// pages.
    tags: IdVec<BlockId, StreamTag>,
    /// For each block, the programming mode of its pages.
    modes: IdVec<BlockId, Mode>,
    /// For each block, the controller's estimate of its strength class.
    believed: IdVec<BlockId, StrengthClass>,
    coarsest: Coarsest,
}

impl OpenBlocks {
    /// Creates the table of open blocks for a drive that has none yet; all blocks are assumed
    /// equally strong and programmed only at the nominal ISPP step.
    pub fn new(config: &Config, geometry: &Geometry) -> Self {
        let none = Frontier {
            host: [BlockId::NONE; STREAMS_MAX],
            collected: [BlockId::NONE; STREAMS_MAX],
            swapped: BlockId::NONE,
        };
        let blocks = geometry.blocks() as usize;
        let voltage = AnyVoltage::new(&config.voltage, config.seed);
        let plain = Mode::new(Step::NOMINAL, voltage.voltage(StreamTag::PLAIN));
        // A custom placement acts from the first request on (`place_by`).
        let mut placement = AnyPlacement::new(&config.placement, config.seed);
        Self {
            planes: IdVec::filled(none, geometry.planes() as usize),
            collected_to: config.gc.frontier,
            streams: config.stream_limits().table_of(&mut placement),
            placement,
            params: config.placement,
            step: AnyStep::new(&config.step, config.seed),
            tags: IdVec::filled(StreamTag::PLAIN, blocks),
            modes: IdVec::filled(plain, blocks),
            voltage,
            believed: IdVec::filled(0, blocks),
            coarsest: [[Step::NOMINAL; CLASSES]; 3].into(),
        }
    }

    /// Returns the memory that the open blocks of a drive take on the simulating machine.
    pub fn bytes(geometry: &Geometry) -> Bytes {
        Bytes::of::<Frontier>(geometry.planes().into())
            + Bytes::of::<StreamTag>(geometry.blocks().into())
            + Bytes::of::<Mode>(geometry.blocks().into())
            + Bytes::of::<StrengthClass>(geometry.blocks().into())
    }

    /// Returns a snapshot of the open blocks, and of the tag that each block was opened for.
    pub fn snapshot(&self) -> OpenBlocksSnapshot {
        OpenBlocksSnapshot { planes: self.planes.clone(), tags: self.tags.clone() }
    }

    /// Restores the open blocks from a snapshot.
    pub fn resume(&mut self, snapshot: OpenBlocksSnapshot) {
        (self.planes, self.tags) = (snapshot.planes, snapshot.tags);
        for (mode, &tag) in self.modes.as_mut_slice().iter_mut().zip(self.tags.as_slice()) {
            mode.voltage = self.voltage.voltage(tag);
        }
    }

    /// Returns a copy of the present open blocks under the policies of `config` for data placement,
    /// ISPP steps and program voltages.
    pub fn ruled_by(&self, config: &Config) -> Self {
        let voltage = AnyVoltage::new(&config.voltage, config.seed);
        let plain = Mode::new(Step::NOMINAL, voltage.voltage(StreamTag::PLAIN));
        let mut ruled = Self {
            step: AnyStep::new(&config.step, config.seed),
            voltage,
            modes: IdVec::filled(plain, self.modes.len()),
            ..self.clone()
        };
        ruled.place_by(config);
        ruled
    }

    /// Switches data placement to the policy of `config`, which may be a custom one. All data so
    /// far has the plain stream tag (nothing is known about it); the open blocks for such data
    /// continue in the stream to which the new policy assigns it.
    pub fn place_by(&mut self, config: &Config) {
        let custom = config.policies.placement.as_ref();
        self.placement = AnyPlacement::custom_or_new(custom, &config.placement, config.seed);
        let streams = config.stream_limits().table_of(&mut self.placement);
        let plain = StreamTag::PLAIN.index();
        let [was, is] = [self.streams, streams].map(|table| table[plain].index());
        for frontier in self.planes.as_mut_slice() {
            frontier.host.swap(was, is);
            frontier.collected.swap(was, is);
        }
        (self.streams, self.params) = (streams, config.placement);
    }

    /// Sets the estimated strength class of each block, and the coarsest ISPP step of each class.
    pub fn believe(&mut self, classes: IdVec<BlockId, StrengthClass>, coarsest: Coarsest) {
        debug_assert_eq!(classes.len(), self.believed.len());
        (self.believed, self.coarsest) = (classes, coarsest);
    }

    /// Records the measured strength class of a block.
    pub fn measured(&mut self, block: BlockId, class: StrengthClass) {
        self.believed[block] = class;
    }

    /// Returns the mode in which the pages of a block are programmed.
    #[inline]
    pub fn mode_of(&self, block: BlockId) -> Mode {
        self.modes[block]
    }

    /// Sets the access class (read-hot, write-hot or mixed) of a block's data from before the run,
    /// and with it the voltages at which the data was programmed.
    pub fn used_as(&mut self, block: BlockId, class: AccessClass) {
        let tag = StreamTag::new(false, class);
        self.tags[block] = tag;
        self.modes[block].voltage = self.voltage.voltage(tag);
    }

    /// Returns the stream tag (access class, hotness and placement handle) that a block's data gets
    /// when GC moves it.
    #[inline]
    pub fn tag_of_survivors(&self, block: BlockId) -> StreamTag {
        self.params.survivors(self.tags[block])
    }

    /// Returns the placement stream that data with a tag belongs to.
    #[inline]
    pub fn stream(&self, tag: StreamTag) -> StreamId {
        self.streams[tag.index()]
    }

    /// Returns the stream tag (access class, hotness and placement handle) of the data that a block
    /// was opened for. See docs/decisions/blocks.md, "Where is a page's access class stored?".
    pub fn tag_of(&self, block: BlockId) -> StreamTag {
        self.tags[block]
    }

    /// Returns true if the placement policy puts data of the two stream tags into the same blocks.
    pub fn mingle(&self, one: StreamTag, other: StreamTag) -> bool {
        self.stream(one) == self.stream(other)
    }

    /// Returns the voltages at which data with a stream tag (access class, hotness, placement
    /// handle) is programmed.
    pub fn voltage_of(&self, tag: StreamTag) -> Voltage {
        self.voltage.voltage(tag)
    }

    /// Returns the kind of open block that takes data written by `source` (host, GC or wear
    /// leveling) with the stream tag `tag`.
    #[inline]
    pub fn opened_for(&self, source: Source, tag: StreamTag) -> Opened {
        let stream = self.streams[tag.index()];
        // Refresh writes data into the same blocks as GC.
        match (source, self.collected_to) {
            (Source::Wear, _) => Opened::Swapped,
            (Source::Gc | Source::Refresh, GcFrontier::Own) => Opened::Collected(stream),
            (Source::Host | Source::Parity, _)
            | (Source::Gc | Source::Refresh, GcFrontier::Shared) => Opened::Host(stream),
        }
    }

    /// Returns the open block of a plane for data written by `source` (host, GC or wear leveling)
    /// with the stream tag `tag`; `NONE` if there is none.
    #[inline]
    pub fn open_block(&self, plane: PlaneId, source: Source, tag: StreamTag) -> BlockId {
        self.opened(plane, self.opened_for(source, tag))
    }

    #[inline]
    fn set(&mut self, plane: PlaneId, source: Source, tag: StreamTag, block: BlockId) {
        let opened = self.opened_for(source, tag);
        let place = self.place_of(plane, opened);
        debug_assert!(place.is_some() || block.is_some(), "no block is open for {opened:?}");
        *place = block;
    }

    #[inline]
    fn place_of(&mut self, plane: PlaneId, opened: Opened) -> &mut BlockId {
        let frontier = &mut self.planes[plane];
        match opened {
            Opened::Host(stream) => &mut frontier.host[stream.index()],
            Opened::Collected(stream) => &mut frontier.collected[stream.index()],
            Opened::Swapped => &mut frontier.swapped,
        }
    }

    /// Returns the open block of a plane for data written by `source` (host, GC or wear leveling)
    /// with the stream tag `tag`, opening an erased block if necessary.
    ///
    /// # Panics
    /// If there is no erased block to open; admission and the reserve ensure that there is.
    #[inline]
    pub fn block_for(
        &mut self,
        blocks: &mut Blocks,
        plane: PlaneId,
        source: Source,
        tag: StreamTag,
    ) -> BlockId {
        let open = self.open_block(plane, source, tag);
        if open.is_some() { open } else { self.open(blocks, plane, source, tag) }
    }

    /// Opens an erased block of a plane for data written by `source` (host, GC or wear leveling)
    /// with the stream tag `tag`.
    ///
    /// # Panics
    /// If there is no erased block.
    #[cold]
    pub fn open(
        &mut self,
        blocks: &mut Blocks,
        plane: PlaneId,
        source: Source,
        tag: StreamTag,
    ) -> BlockId {
        let block = match self.placement.opens(tag) {
            Opens::Oldest => blocks.open(plane),
            Opens::Strongest => blocks.open_least(plane, |block| self.believed[block]),
            Opens::Weakest => blocks.open_least(plane, |block| u8::MAX - self.believed[block]),
        }
        .expect("the reserve keeps an erased block");
        let voltage = self.voltage.voltage(tag);
        let bears = self.coarsest[voltage][usize::from(self.believed[block])];
        self.tags[block] = tag;
        self.modes[block] = Mode::new(self.step.step(tag, bears), voltage);
        self.set(plane, source, tag, block);
        block
    }

    /// Closes the open block of a plane for data written by `source` (host, GC or wear leveling)
    /// with the stream tag `tag`, because that block is full.
    #[cold]
    pub fn close(&mut self, plane: PlaneId, source: Source, tag: StreamTag) {
        self.set(plane, source, tag, BlockId::NONE);
    }

    /// Opens the given erased block for swapped data, unless another block is open for it.
    pub fn open_for_swap(&mut self, blocks: &mut Blocks, plane: PlaneId, erased: BlockId) {
        if !self.planes[plane].swapped.is_some() {
            blocks.open_this(erased);
            self.tags[erased] = StreamTag::PLAIN;
            self.modes[erased] = Mode::new(Step::NOMINAL, self.voltage.voltage(StreamTag::PLAIN));
            self.planes[plane].swapped = erased;
        }
    }

    /// Returns the use that a block of a plane is open for; `None` if the block takes no more data.
    pub fn opened_as(&self, plane: PlaneId, block: BlockId) -> Option<Opened> {
        let frontier = &self.planes[plane];
        let place =
            |of: &[BlockId]| of.iter().position(|&open| open == block).map(|at| StreamId(at as u8));
        let host = place(&frontier.host).map(Opened::Host);
        let collected = || place(&frontier.collected).map(Opened::Collected);
        host.or_else(collected).or((frontier.swapped == block).then_some(Opened::Swapped))
    }

    /// Returns the open block of a plane for one kind of data (host data or GC data of a stream, or
    /// swapped data); `NONE` if there is none.
    #[inline]
    pub fn opened(&self, plane: PlaneId, opened: Opened) -> BlockId {
        let frontier = &self.planes[plane];
        match opened {
            Opened::Host(stream) => frontier.host[stream.index()],
            Opened::Collected(stream) => frontier.collected[stream.index()],
            Opened::Swapped => frontier.swapped,
        }
    }

    /// Records that a block is open for one kind of data, on a drive whose saved state is restored.
    pub(super) fn reopen(&mut self, plane: PlaneId, opened: Opened, block: BlockId) {
        *self.place_of(plane, opened) = block;
    }

    /// Closes the open block of a plane for one kind of data (host data or GC data of a stream, or
    /// swapped data), and returns that block; `NONE` if there is none.
    pub fn take(&mut self, plane: PlaneId, opened: Opened) -> BlockId {
        std::mem::replace(self.place_of(plane, opened), BlockId::NONE)
    }

    /// Closes all open blocks of a plane whose die has failed.
    pub fn abandon(&mut self, plane: PlaneId) {
        let frontier = &mut self.planes[plane];
        frontier.host.fill(BlockId::NONE);
        frontier.collected.fill(BlockId::NONE);
        frontier.swapped = BlockId::NONE;
    }

    /// Iterates over the open blocks for host and GC data.
    pub fn of_plane(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> {
        let frontier = self.planes[plane];
        frontier.host.into_iter().chain(frontier.collected).filter(|block| block.is_some())
    }
}
