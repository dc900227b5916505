//! Open superblocks, and the program commands that fill them.
//!
//! Each stream of host writes and of units that garbage collection moves fills a superblock
//! ([`super::streams`]); writes to the SLC cache fill another, whose commands hold one page of a
//! word line instead of all. A command takes the next word line of the next die: a whole one, even
//! if there is less to store, and every `superblocks.parity`-th command of a superblock is parity
//! over those before it.
//!
//! Invariants: a stream has at most one open superblock, and takes the commands of that in order;
//! the record of a command is in `free`, or the command is in flight; no more commands are in
//! flight than [`Commands::most`]. `programs.rs` has the steps of a command.

use super::collection::Collector;
use super::passes::Passes;
use super::shape::Shape;
use crate::config::FlashConfig;
use crate::policy::placement::{STREAMS_MAX, StreamId};
use fowler_units::{Bytes, FrameId, Id, Lpn, RuId, TxnId, UnitId};

/// A stream: host writes or moved data that are programmed together, apart from those of other
/// streams. Each stream fills one open superblock at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// A stream of host writes, numbered below [`STREAMS_MAX`].
    Host(StreamId),
    /// A stream of units that are moved, numbered below [`MOVED_MAX`].
    Moved(StreamId),
    /// Host writes to the SLC cache, one bit to a cell.
    Slc,
}

/// The number of the stream of moved units that static wear leveling swaps into worn superblocks.
pub(super) const SWAPPED: StreamId = StreamId(STREAMS_MAX as u8);

/// Maximum number of streams of moved units: those of garbage collection, and one for data that
/// static wear leveling swaps.
pub(super) const MOVED_MAX: usize = STREAMS_MAX + 1;

impl Stream {
    /// Largest number of streams of a drive, each of which fills one open superblock: those of host
    /// writes, of moved data, of static wear leveling and of the SLC cache.
    pub const COUNT: usize = 2 * STREAMS_MAX + 2;

    /// Returns every stream that a drive may have, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Stream> {
        let streams = (0..STREAMS_MAX as u8).map(StreamId);
        let moved = streams.clone().map(Stream::Moved);
        streams.map(Stream::Host).chain(moved).chain([Stream::Slc, Stream::Moved(SWAPPED)])
    }

    /// Returns the number of the stream, below [`Stream::COUNT`].
    #[inline]
    pub fn index(self) -> usize {
        match self {
            Stream::Host(stream) => stream.index(),
            Stream::Moved(SWAPPED) => 2 * STREAMS_MAX + 1,
            Stream::Moved(stream) => STREAMS_MAX + stream.index(),
            Stream::Slc => 2 * STREAMS_MAX,
        }
    }

    /// Returns true if the data of the stream comes from the host.
    pub fn is_of_host(self) -> bool {
        !matches!(self, Stream::Moved(_))
    }
}

/// An open superblock, which one stream is filling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub superblock: RuId,
    /// The next command to program, by its number within the superblock.
    pub command: u32,
}

/// Source of the data of one unit that a program command stores: a frame of the write buffer, or
/// another unit of the flash.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stored {
    /// A host unit in a frame of the write buffer.
    Frame(FrameId),
    /// A host unit that garbage collection, refresh or wear leveling moves: the program command
    /// stores it at a new place, a copy of the unit `from` of the flash.
    Moved { page: Lpn, from: UnitId },
}

/// A program command in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    pub(super) first_unit: UnitId,
    /// Number of units of this program command that hold data; its other units are padding or
    /// parity.
    pub(super) stores: u32,
    /// Page programs that have not ended; of the second pass, if the command has two.
    pub(super) left: u32,
    /// The second page program of the program command, to which its third and later page programs
    /// are chained; none if the command has one page.
    pub(super) rest: TxnId,
    /// Used if the flash programs each word line in two passes: number of page programs in the
    /// command's first pass that have not ended; and the second of these programs, to which the
    /// later ones are chained.
    pub(super) first_pass_left: u32,
    pub(super) first_pass_rest: TxnId,
}

impl Command {
    pub(super) fn new(first_unit: UnitId, stores: u32, pages: u32) -> Command {
        let (rest, first_pass_rest) = (TxnId::NONE, TxnId::NONE);
        Command { first_unit, stores, left: pages, rest, first_pass_left: pages, first_pass_rest }
    }
}

/// The program commands in flight, and the open superblock of each stream with the next command
/// there.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    open: [Option<Open>; Stream::COUNT],
    pub(super) records: Vec<Command>,
    /// Units stored by the commands in flight, `units_per_command` elements for each command;
    /// element `n * units_per_command` is the first of command `records[n]`.
    pub(super) stored: Vec<Stored>,
    pub(super) free: Vec<u32>,
    pub(super) units_per_command: usize,
    /// Commands between the first and the second program pass of their word lines; `None` on a
    /// drive that programs word lines in one pass.
    pub passes: Option<Box<Passes>>,
    /// Used while preconditioning fills the drive, before its first request: the next free unit and
    /// the end of the partly filled program command, first for host data and second for moved data.
    pub filling: [Option<(UnitId, UnitId)>; 2],
}

impl Commands {
    pub fn new(config: &FlashConfig, shape: &Shape, frames: u32, moved: u32) -> Commands {
        let count = Commands::most(config, shape, frames, moved);
        let blank = Command::new(UnitId(0), 0, 0);
        let units = shape.units_per_command as usize;
        Commands {
            open: [None; Stream::COUNT],
            records: vec![blank; count],
            stored: vec![Stored::Frame(FrameId(0)); count * units],
            free: (0..count as u32).rev().collect(),
            units_per_command: units,
            passes: Passes::new(config, shape),
            filling: [None; 2],
        }
    }

    /// Returns the maximum number of program commands in flight. Commands with data are those that
    /// the write buffer fills, those of moved data and, if word lines are programmed in two passes,
    /// those between their passes (three on each die for each stream of moved data); there are at
    /// most as many commands of parity.
    pub fn most(config: &FlashConfig, shape: &Shape, frames: u32, moved: u32) -> usize {
        let between = (config.program_passes - 1) * 3 * shape.dies * moved;
        let moving = Collector::commands_moving(shape, moved);
        let data = frames / shape.least_units + moving + between + 4;
        2 * data as usize
    }

    pub fn bytes(config: &FlashConfig, shape: &Shape, frames: u32, moved: u32) -> Bytes {
        let count = Commands::most(config, shape, frames, moved) as u64;
        Bytes::of::<(Command, u32)>(count)
            + Bytes::of::<Stored>(count * u64::from(shape.units_per_command))
            + Passes::bytes(config, shape)
    }

    /// Returns the second page program of a command, to which the later ones are chained; none if
    /// the command has one page.
    pub fn rest_of(&self, number: u32) -> TxnId {
        self.records[number as usize].rest
    }

    /// Returns the second page program of the first of two passes of a command, to which the later
    /// ones are chained.
    pub fn rest_of_first_pass(&self, number: u32) -> TxnId {
        self.records[number as usize].first_pass_rest
    }

    /// Records the end of a page program in the first of the two passes of a command. Returns true
    /// if all page programs of that pass have ended.
    pub fn first_pass_page_done(&mut self, number: u32) -> bool {
        let record = &mut self.records[number as usize];
        record.first_pass_left -= 1;
        record.first_pass_left == 0
    }

    /// Records the end of a page program. Returns true if it was the last of its program command.
    pub fn page_done(&mut self, number: u32) -> bool {
        let record = &mut self.records[number as usize];
        record.left -= 1;
        record.left == 0
    }

    /// Returns the number of commands whose first pass has ended and whose second has not been
    /// sent.
    pub fn between_passes(&self) -> usize {
        let begun = self.passes.iter().flat_map(|passes| passes.begun.iter().flatten().flatten());
        begun.filter(|it| self.records[it.number as usize].first_pass_left == 0).count()
    }

    /// Returns the open superblock that a stream fills; `None` if it has none.
    pub fn open_of(&self, stream: Stream) -> Option<Open> {
        self.open[stream.index()]
    }

    pub fn set_open(&mut self, stream: Stream, open: Option<Open>) {
        self.open[stream.index()] = open;
    }

    /// Returns the commands in flight, whose data the controller holds: the first unit of each, and
    /// the units that it stores.
    pub fn in_flight(&self) -> impl Iterator<Item = (UnitId, &[Stored])> {
        let flying = self.records.iter().enumerate().filter(|(_, record)| record.left > 0);
        flying.map(|(at, record)| {
            let first = at * self.units_per_command;
            (record.first_unit, &self.stored[first..first + record.stores as usize])
        })
    }

    /// Returns the frames of the write buffer that program commands in flight store.
    pub fn frames(&self) -> impl Iterator<Item = FrameId> {
        let stored = self.in_flight().flat_map(|(_, stored)| stored);
        stored.filter_map(|stored| match stored {
            Stored::Frame(frame) => Some(*frame),
            Stored::Moved { .. } => None,
        })
    }
}
