//! Open superblocks, and the program commands that fill them.
//!
//! What the host writes and what garbage collection moves fill a superblock each; what goes into
//! the SLC cache fills a third, whose commands hold one page of a word line instead of all. A
//! command takes the next word line of the next die: a whole one, even if there is less to store,
//! and every `superblocks.parity`-th of a superblock is parity over those before it.

use super::Superblocks;
use super::passes::Passes;
use super::shape::Shape;
use crate::config::FlashConfig;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::Owner;
use crate::observe::operation::{Op, Source};
use fowler_units::{Bytes, FrameId, Id, TxnId};

/// What fills a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Host,
    Moved,
    /// What the host writes, in SLC mode.
    Slc,
}

/// A superblock being filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub superblock: u32,
    /// The next command.
    pub command: u32,
}

/// One unit of a command.
#[derive(Clone, Copy, Debug)]
enum Stored {
    /// From the buffer.
    Frame(FrameId),
    /// A unit of the host, from another unit of the flash.
    Moved { page: u32, from: u32 },
}

/// A program command in flight.
#[derive(Clone, Copy, Debug)]
struct Command {
    first_unit: u32,
    /// The units that it stores; the others are padding or parity.
    stores: u32,
    /// Its page programs still in flight.
    left: u32,
    /// The second of its page programs, to which the others are chained.
    rest: TxnId,
    /// The same two of its first pass, if it has two.
    first_pass_left: u32,
    first_pass_rest: TxnId,
}

impl Command {
    fn new(first_unit: u32, stores: u32, pages: u32) -> Command {
        let (rest, first_pass_rest) = (TxnId::NONE, TxnId::NONE);
        Command { first_unit, stores, left: pages, rest, first_pass_left: pages, first_pass_rest }
    }
}

/// The commands in flight, and the open superblocks.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    open: [Option<Open>; 3],
    records: Vec<Command>,
    /// What each command stores, command by command.
    stored: Vec<Stored>,
    free: Vec<u32>,
    units_per_command: usize,
    /// Those between their passes, on a drive that programs in two.
    pub passes: Option<Box<Passes>>,
    /// While the drive is filled before its first request: the next unit of the command that each
    /// stream has begun, and its end.
    pub filling: [Option<(u32, u32)>; 2],
}

impl Commands {
    pub fn new(config: &FlashConfig, shape: &Shape, frames: u32) -> Commands {
        let count = Commands::most(config, shape, frames);
        let blank = Command::new(0, 0, 0);
        let units = shape.units_per_command as usize;
        Commands {
            open: [None; 3],
            records: vec![blank; count],
            stored: vec![Stored::Frame(FrameId(0)); count * units],
            free: (0..count as u32).rev().collect(),
            units_per_command: units,
            passes: Passes::new(config, shape),
            filling: [None; 2],
        }
    }

    /// Returns the most commands in flight: as many as the buffer fills, as many as are being moved
    /// ([`super::collection`]), and the parity between them. Of those that move data and program in
    /// two passes, three on each die may have ended the first and not the second.
    pub fn most(config: &FlashConfig, shape: &Shape, frames: u32) -> usize {
        let between = (config.program_passes - 1) * 3 * shape.dies;
        let data = frames / shape.least_units + 2 * shape.dies + between + 4;
        2 * data as usize
    }

    pub fn bytes(config: &FlashConfig, shape: &Shape, frames: u32) -> Bytes {
        let count = Commands::most(config, shape, frames) as u64;
        Bytes::of::<(Command, u32)>(count)
            + Bytes::of::<Stored>(count * u64::from(shape.units_per_command))
            + Passes::bytes(config, shape)
    }

    /// Goes on with the superblocks that other commands have opened.
    pub fn open_as(&mut self, other: &Commands) {
        self.open = other.open;
    }

    /// Returns the page programs of a command after the first.
    pub fn rest_of(&self, number: u32) -> TxnId {
        self.records[number as usize].rest
    }

    /// The same of the first of two passes.
    pub fn rest_of_first_pass(&self, number: u32) -> TxnId {
        self.records[number as usize].first_pass_rest
    }

    /// A page program of the first of two passes has ended. Returns whether it was the last.
    pub fn first_pass_page_done(&mut self, number: u32) -> bool {
        let record = &mut self.records[number as usize];
        record.first_pass_left -= 1;
        record.first_pass_left == 0
    }

    /// A page program has ended. Returns whether it was the last of its command.
    pub fn page_done(&mut self, number: u32) -> bool {
        let record = &mut self.records[number as usize];
        record.left -= 1;
        record.left == 0
    }

    /// Returns the superblock that a stream fills.
    pub fn open_of(&self, stream: Stream) -> Option<Open> {
        self.open[stream as usize]
    }

    pub fn set_open(&mut self, stream: Stream, open: Option<Open>) {
        self.open[stream as usize] = open;
    }

    /// Returns the frames in flight.
    pub fn frames(&self) -> impl Iterator<Item = FrameId> {
        let flying = self.records.iter().enumerate().filter(|(_, record)| record.left > 0);
        let stored = flying.flat_map(|(at, record)| {
            let first = at * self.units_per_command;
            &self.stored[first..first + record.stores as usize]
        });
        stored.filter_map(|stored| match stored {
            Stored::Frame(frame) => Some(*frame),
            Stored::Moved { .. } => None,
        })
    }
}

impl Superblocks {
    /// Sends what waits in the buffer to the flash, a whole command at a time, as far as there is
    /// room and garbage collection keeps up.
    pub(super) fn drain(&mut self, flash: &mut Flash) {
        while self.buffer.waiting() >= self.shape.least_units && self.collector.lets_host_write() {
            let Some(stream) = self.stream_of_host() else { break };
            let units = self.units_of(stream);
            if self.buffer.waiting() < units {
                break;
            }
            let Some(open) = self.position(flash, stream) else { break };
            let number = self.begin_command(stream, open, units);
            let first = number as usize * self.commands.units_per_command;
            for at in first..first + units as usize {
                let frame = self.buffer.next().expect("counted");
                self.commands.stored[at] = Stored::Frame(frame);
            }
            self.collector.host_wrote(units);
            self.submit_command(flash, (stream, open), number, Source::Host);
            self.advance(stream, open);
            if stream == Stream::Slc {
                self.look_for_idle_time(flash);
            }
            self.collect(flash);
        }
        if self.buffer.waiting() >= self.shape.least_units {
            self.collect(flash);
        }
    }

    /// Returns the units of a command of a stream.
    fn units_of(&self, stream: Stream) -> u32 {
        match stream {
            Stream::Host | Stream::Moved => self.shape.units_per_command,
            Stream::Slc => self.shape.slc_units,
        }
    }

    /// Sends units that garbage collection has read to their new place; the rest of the command is
    /// padding. Returns whether there was a place.
    pub(super) fn store_moved(&mut self, flash: &mut Flash, units: u32) -> bool {
        let Some(open) = self.position(flash, Stream::Moved) else { return false };
        let number = self.begin_command(Stream::Moved, open, units);
        let first = number as usize * self.shape.units_per_command as usize;
        let mut source = Source::Gc;
        for at in first..first + units as usize {
            let (page, from) = self.collector.next_copied();
            if at == first {
                source = self.source_of(self.shape.superblock_of(from));
            }
            self.commands.stored[at] = Stored::Moved { page, from };
        }
        self.submit_command(flash, (Stream::Moved, open), number, source);
        self.advance(Stream::Moved, open);
        true
    }

    /// Returns whether the host can program nothing until a superblock has been emptied.
    pub(super) fn host_lacks_superblock(&self) -> bool {
        match self.stream_of_host() {
            Some(Stream::Slc) => false,
            Some(_) => self.commands.open_of(Stream::Host).is_none() && self.map.free_count() < 2,
            None => true,
        }
    }

    /// Returns where the next command of a stream that stores data goes, after the parity that is
    /// due before it. None if that needs a superblock, and there is none to take.
    fn position(&mut self, flash: &mut Flash, stream: Stream) -> Option<Open> {
        loop {
            let Some(open) = self.commands.open_of(stream) else {
                let superblock = match stream {
                    // Garbage collection must always find one, or nothing could ever be freed.
                    Stream::Host if self.map.free_count() < 2 => return None,
                    Stream::Host | Stream::Moved => self.map.open()?,
                    Stream::Slc => self.open_slc()?,
                };
                self.commands.set_open(stream, Some(Open { superblock, command: 0 }));
                self.age_anew(superblock, flash.now());
                continue;
            };
            if !self.shape.is_parity(open.command) {
                return Some(open);
            }
            let number = self.begin_command(stream, open, 0);
            self.submit_command(flash, (stream, open), number, Source::Parity);
            self.advance(stream, open);
        }
    }

    /// Moves a stream on to its next command. A superblock that is full is closed.
    pub(super) fn advance(&mut self, stream: Stream, open: Open) {
        let next = Open { command: open.command + 1, ..open };
        let full = next.command == self.shape.commands;
        if full {
            self.map.close(open.superblock);
        }
        self.commands.set_open(stream, (!full).then_some(next));
    }

    fn begin_command(&mut self, stream: Stream, open: Open, stores: u32) -> u32 {
        let number = self.commands.free.pop().expect("more commands than can be in flight");
        let (first_unit, left) = if stream == Stream::Slc {
            (self.shape.slc_unit_of_command(open.superblock, open.command), self.shape.slc_pages)
        } else {
            let first = self.shape.unit_of_command(open.superblock, open.command);
            (first, self.shape.pages_per_command)
        };
        self.commands.records[number as usize] = Command::new(first_unit, stores, left);
        self.map.superblocks[open.superblock as usize].flying += 1;
        number
    }

    /// Sends a command to its die: in one pass, or in two.
    fn submit_command(
        &mut self,
        flash: &mut Flash,
        (stream, open): (Stream, Open),
        number: u32,
        source: Source,
    ) {
        if self.commands.passes.is_some() && stream != Stream::Slc {
            return self.submit_in_passes(flash, (stream, open), number, source);
        }
        self.submit_pass(flash, stream, number, source, Owner::Command(number));
    }

    /// Opens the page programs of a command, or of one of its passes. Only the first waits for the
    /// die; the others follow it ([`crate::flash::Translation::rest_of`]).
    pub(super) fn submit_pass(
        &mut self,
        flash: &mut Flash,
        stream: Stream,
        number: u32,
        source: Source,
        owner: Owner,
    ) {
        let class = match stream {
            Stream::Host | Stream::Slc => TxnClass::HostProgram,
            Stream::Moved => TxnClass::BackgroundProgram,
        };
        let Command { first_unit, left: pages, .. } = self.commands.records[number as usize];
        let parts = self.shape.units_per_page;
        let (mut first, mut last) = (TxnId::NONE, TxnId::NONE);
        for page in 0..pages {
            let (die, place) = self.shape.place(first_unit + page * parts);
            let (id, txn) = flash.open(Op::Program, source, class, owner, die);
            (txn.unit, txn.parts) = (place, parts as u8);
            match page {
                0 => first = id,
                1 => match owner {
                    Owner::FirstPass(_) => {
                        self.commands.records[number as usize].first_pass_rest = id;
                    }
                    _ => self.commands.records[number as usize].rest = id,
                },
                _ => flash.txns.get_mut(last).next = id,
            }
            last = id;
        }
        flash.submit(first);
        flash.offer_program(flash.txns.get(first).die);
    }

    /// The first of two passes has ended. What was moved leaves its old place: until the second
    /// has ended, it is read from the controller.
    pub(super) fn first_pass_done(&mut self, flash: &mut Flash, number: u32) {
        let stores = self.commands.records[number as usize].stores;
        let first = number as usize * self.shape.units_per_command as usize;
        if stores > 0 && matches!(self.commands.stored[first], Stored::Moved { .. }) {
            self.settle_command(flash, number);
            self.commands.records[number as usize].stores = 0;
            self.collector.stored(stores);
            self.collect(flash);
            self.drain(flash);
        }
    }

    /// A command has ended.
    pub(super) fn command_done(&mut self, flash: &mut Flash, number: u32) {
        let Command { first_unit, stores, first_pass_left, .. } =
            self.commands.records[number as usize];
        let superblock = self.shape.superblock_of(first_unit);
        if self.slc.is_some() && self.shape.is_slc(first_unit) {
            flash.counters.slc.cached += u64::from(stores);
        }
        let moved = self.settle_command(flash, number);
        if let Some(passes) = &mut self.commands.passes {
            let in_order = first_pass_left == 0 || self.shape.is_slc(first_unit);
            assert!(in_order, "the order of a die put a second pass before the first");
            passes.ended(&self.shape, first_unit);
        }
        self.commands.free.push(number);
        self.map.superblocks[superblock as usize].flying -= 1;
        if moved {
            self.collector.stored(stores);
        }
        self.collect(flash);
        self.drain(flash);
        if stores > 0 && !moved {
            self.resume(flash);
        }
    }

    /// The map points at what a command has stored, unless the host has written that again
    /// meanwhile. Returns whether that was moved.
    fn settle_command(&mut self, flash: &mut Flash, number: u32) -> bool {
        let Command { first_unit, stores, .. } = self.commands.records[number as usize];
        let first = number as usize * self.shape.units_per_command as usize;
        let mut moved = false;
        for at in 0..stores {
            let unit = first_unit + at;
            match self.commands.stored[first + at as usize] {
                Stored::Frame(frame) => {
                    let page = self.buffer.page(frame);
                    if self.map.is_in(page, frame) {
                        self.map.settle(page, unit);
                    }
                    self.buffer.release(frame);
                }
                Stored::Moved { page, from } => {
                    if self.map.is_at(page, from) {
                        self.map.settle(page, unit);
                    }
                    moved = true;
                    self.left(flash, from);
                }
            }
        }
        moved
    }
}
