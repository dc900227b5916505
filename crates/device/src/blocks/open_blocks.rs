//! The open blocks of every plane: who writes to which, which erased block is opened next, and at
//! which step its pages are programmed.

use crate::blocks::block_table::Blocks;
use crate::cells::program_mode::{Mode, Step, Voltage};
use crate::cells::reliability::{CLASSES, Coarsest, StrengthClass};
use crate::config::{Config, GcFrontier};
use crate::observe::operation::Source;
use crate::policy::placement::{AnyPlacement, Opens, Placement};
use crate::policy::step::{AnyStep, StepRule};
use crate::policy::stream_tag::{AccessClass, StreamTag};
use crate::policy::voltage::{AnyVoltage, VoltageRule};
use fowler_units::{BlockId, Geometry, Id, IdVec, PlaneId};
use serde::{Deserialize, Serialize};

/// The open blocks of one plane.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Frontier {
    host: [BlockId; StreamTag::COUNT],
    collected: [BlockId; AccessClass::ALL.len()],
    swapped: BlockId,
}

/// What a block of a plane is open for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// A stream of the host's data.
    Host(u8),
    /// What is collected, of a class.
    Collected(u8),
    /// What static wear leveling swaps.
    Swapped,
}

impl Opened {
    /// Whether it takes data of the host, which is programmed on all planes of a die together.
    pub fn is_host(self) -> bool {
        matches!(self, Opened::Host(_))
    }
}

/// A snapshot of the open blocks, and of the data that each block was opened for.
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
    step: AnyStep,
    voltage: AnyVoltage,
    /// The data that each block was opened for, and how its pages are programmed.
    tags: IdVec<BlockId, StreamTag>,
    modes: IdVec<BlockId, Mode>,
    /// What each block is believed to be.
    believed: IdVec<BlockId, StrengthClass>,
    coarsest: Coarsest,
}

impl OpenBlocks {
    /// No block is open; every block is believed to be alike, and to bear the nominal step only.
    pub fn new(config: &Config, geometry: &Geometry) -> Self {
        let none = Frontier {
            host: [BlockId::NONE; StreamTag::COUNT],
            collected: [BlockId::NONE; AccessClass::ALL.len()],
            swapped: BlockId::NONE,
        };
        let blocks = geometry.blocks() as usize;
        let voltage = AnyVoltage::new(&config.voltage, config.seed);
        let plain = Mode { step: Step::NOMINAL, voltage: voltage.voltage(StreamTag::PLAIN) };
        Self {
            planes: IdVec::filled(none, geometry.planes() as usize),
            collected_to: config.gc.frontier,
            placement: AnyPlacement::new(&config.placement, config.seed),
            step: AnyStep::new(&config.step, config.seed),
            tags: IdVec::filled(StreamTag::PLAIN, blocks),
            modes: IdVec::filled(plain, blocks),
            voltage,
            believed: IdVec::filled(0, blocks),
            coarsest: [[Step::NOMINAL; CLASSES]; 3].into(),
        }
    }

    /// The open blocks, and the data that each block was opened for.
    pub fn snapshot(&self) -> OpenBlocksSnapshot {
        OpenBlocksSnapshot { planes: self.planes.clone(), tags: self.tags.clone() }
    }

    /// Resumes from a snapshot.
    pub fn resume(&mut self, snapshot: OpenBlocksSnapshot) {
        (self.planes, self.tags) = (snapshot.planes, snapshot.tags);
    }

    /// The same open blocks under the rules of `config`.
    pub fn ruled_by(&self, config: &Config) -> Self {
        let voltage = AnyVoltage::new(&config.voltage, config.seed);
        let plain = Mode { step: Step::NOMINAL, voltage: voltage.voltage(StreamTag::PLAIN) };
        Self {
            placement: AnyPlacement::new(&config.placement, config.seed),
            step: AnyStep::new(&config.step, config.seed),
            voltage,
            modes: IdVec::filled(plain, self.modes.len()),
            ..self.clone()
        }
    }

    /// From now on blocks are told apart: what each is believed to be, and what each class bears.
    pub fn believe(&mut self, classes: IdVec<BlockId, StrengthClass>, coarsest: Coarsest) {
        debug_assert_eq!(classes.len(), self.believed.len());
        (self.believed, self.coarsest) = (classes, coarsest);
    }

    /// A block has been measured.
    pub fn measured(&mut self, block: BlockId, class: StrengthClass) {
        self.believed[block] = class;
    }

    /// How the pages of a block are programmed.
    #[inline]
    pub fn mode_of(&self, block: BlockId) -> Mode {
        self.modes[block]
    }

    /// What the data of a block is when it is collected: as it was used, and no longer expected to
    /// be invalid soon.
    #[inline]
    pub fn tag_of_survivors(&self, block: BlockId) -> StreamTag {
        StreamTag::new(false, self.tags[block].class())
    }

    /// The stream of a tag.
    #[inline]
    pub fn stream(&self, tag: StreamTag) -> usize {
        self.placement.stream(tag)
    }

    /// The data that a block was opened for.
    /// See docs/decisions/blocks.md, "Where is a page's access class stored?".
    pub fn tag_of(&self, block: BlockId) -> StreamTag {
        self.tags[block]
    }

    /// Whether data of these tags shares blocks.
    pub fn mingle(&self, one: StreamTag, other: StreamTag) -> bool {
        self.placement.stream(one) == self.placement.stream(other)
    }

    /// At what voltages data of a tag is programmed.
    pub fn voltage_of(&self, tag: StreamTag) -> Voltage {
        self.voltage.voltage(tag)
    }

    /// What a block is open for that takes data of `source` and `tag`.
    #[inline]
    pub fn opened_for(&self, source: Source, tag: StreamTag) -> Opened {
        let stream = self.placement.stream(tag) as u8;
        // What is refreshed survives as what GC moves does.
        match (source, self.collected_to) {
            (Source::Wear, _) => Opened::Swapped,
            (Source::Gc | Source::Refresh, GcFrontier::Own) => Opened::Collected(stream / 2),
            (Source::Host | Source::Parity, _)
            | (Source::Gc | Source::Refresh, GcFrontier::Shared) => Opened::Host(stream),
        }
    }

    /// The open block that takes data of `source` and `tag`, or none.
    #[inline]
    pub fn open_block(&self, plane: PlaneId, source: Source, tag: StreamTag) -> BlockId {
        self.opened(plane, self.opened_for(source, tag))
    }

    #[inline]
    fn set(&mut self, plane: PlaneId, source: Source, tag: StreamTag, block: BlockId) {
        let opened = self.opened_for(source, tag);
        *self.place_of(plane, opened) = block;
    }

    #[inline]
    fn place_of(&mut self, plane: PlaneId, opened: Opened) -> &mut BlockId {
        let its = &mut self.planes[plane];
        match opened {
            Opened::Host(stream) => &mut its.host[usize::from(stream)],
            Opened::Collected(class) => &mut its.collected[usize::from(class)],
            Opened::Swapped => &mut its.swapped,
        }
    }

    /// The open block that takes data of `source` and `tag`; an erased one is opened if need be.
    ///
    /// # Panics
    /// If there is no erased block: admission and the reserve make sure there is.
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

    /// Opens an erased block for data of `source` and `tag`.
    ///
    /// # Panics
    /// If there is none.
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
        self.modes[block] = Mode { step: self.step.step(tag, bears), voltage };
        self.set(plane, source, tag, block);
        block
    }

    /// The open block that takes data of `source` and `tag` is full.
    #[cold]
    pub fn close(&mut self, plane: PlaneId, source: Source, tag: StreamTag) {
        self.set(plane, source, tag, BlockId::NONE);
    }

    /// Opens a certain erased block for data that is swapped into it, unless one is open still.
    pub fn open_for_swap(&mut self, blocks: &mut Blocks, plane: PlaneId, erased: BlockId) {
        if !self.planes[plane].swapped.is_some() {
            blocks.open_this(erased);
            self.tags[erased] = StreamTag::PLAIN;
            self.modes[erased] =
                Mode { step: Step::NOMINAL, voltage: self.voltage.voltage(StreamTag::PLAIN) };
            self.planes[plane].swapped = erased;
        }
    }

    /// What a block of a plane is open for, if anything is still to be written to it.
    pub fn opened_as(&self, plane: PlaneId, block: BlockId) -> Option<Opened> {
        let its = &self.planes[plane];
        let place = |of: &[BlockId]| of.iter().position(|&open| open == block).map(|at| at as u8);
        let host = place(&its.host).map(Opened::Host);
        let collected = || place(&its.collected).map(Opened::Collected);
        host.or_else(collected).or((its.swapped == block).then_some(Opened::Swapped))
    }

    /// The block that is open for something, or none.
    #[inline]
    pub fn opened(&self, plane: PlaneId, opened: Opened) -> BlockId {
        let its = &self.planes[plane];
        match opened {
            Opened::Host(stream) => its.host[usize::from(stream)],
            Opened::Collected(class) => its.collected[usize::from(class)],
            Opened::Swapped => its.swapped,
        }
    }

    /// Nothing more is written to the block that is open for something: it is returned, if there is
    /// one.
    pub fn take(&mut self, plane: PlaneId, opened: Opened) -> BlockId {
        std::mem::replace(self.place_of(plane, opened), BlockId::NONE)
    }

    /// The open blocks for data of host and GC.
    pub fn of_plane(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> {
        let its = self.planes[plane];
        its.host.into_iter().chain(its.collected).filter(|block| block.is_some())
    }
}
