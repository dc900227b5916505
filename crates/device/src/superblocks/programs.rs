//! Program commands: filled by the host and by collection, and submitted.
//!
//! 1. Units of the host leave the buffer when those of a stream fill a command, as far as
//!    collection keeps up ([`Superblocks::drain`]). Units that collection has read leave in a
//!    command of their own ([`Superblocks::store_moved`]).
//! 2. The command takes the next place in the open superblock of the stream. Parity that is due
//!    before it is programmed first. A stream without an open superblock opens an erased one
//!    ([`Superblocks::open_for`]).
//! 3. The page programs of the command are opened. Only the first waits for the die, the others
//!    follow it ([`Superblocks::submit_pass`]).
//! 4. When the last of them has ended, the map points at the new units, their old copies become
//!    invalid, and the frames are free. Collection and the host continue
//!    ([`Superblocks::command_done`]).
//!
//! Exceptions:
//!
//! - A flush, and the end of a run, send commands that are not full. The rest of the last command
//!   of a job is padding, unless it is filled up ([`super::top_up`]).
//! - A unit that the host writes again or trims meanwhile is not mapped to its new place at step 4.
//! - A die with a failed block leaves commands out, and a program that fails is repeated by the
//!   next command ([`super::failed_blocks`]).
//! - On a drive that programs in two passes, step 3 submits the second pass of an earlier command
//!   ([`super::second_passes`]), and moved units leave their old place after the first pass.
//! - The host opens no superblock that collection needs for a stream of its own.

use super::Superblocks;
use super::commands::{Command, Open, SWAPPED, Stored, Stream};
use super::flushes::PARTIAL_MOST;
use super::shape::in_txn;
use crate::cells::program_mode::Mode;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::Owner;
use crate::observe::operation::{Op, Source};
use crate::policy::placement::{Opens, StreamId};
use crate::policy::stream_tag::StreamTag;
use fowler_units::{Id, Nanos, RuId, TxnId, UnitId};

impl Superblocks {
    /// Sends units that wait in the buffer to the flash, a whole command at a time, as far as there
    /// is room and garbage collection keeps up.
    pub(super) fn drain(&mut self, flash: &mut Flash) {
        while self.collector.lets_host_write() {
            self.evict(flash);
            let Some((queue, stream, units)) = self.next_to_program() else { break };
            let Some(open) = self.position(flash, stream) else {
                // Another stream may have an open superblock.
                if self.streams.count() == 1 {
                    break;
                }
                continue;
            };
            let number = self.begin_command(stream, open, units);
            let first = number as usize * self.commands.units_per_command;
            for at in first..first + units as usize {
                let frame = self.buffer.next(queue).expect("counted");
                self.commands.stored[at] = Stored::Frame(frame);
            }
            // A command takes its place whether it is full or not.
            let takes = if self.flushes.force() { self.units_of(stream) } else { units };
            self.flushes.partial += u32::from(units < takes);
            self.collector.host_wrote(takes);
            self.note_program(stream, open, number);
            self.submit_command(flash, (stream, open), number, Source::Host);
            self.advance(stream, open);
            if stream == Stream::Slc {
                self.look_for_idle_time(flash);
            }
            self.collect(flash);
        }
        if self.flushes.force() {
            self.answer_flushes(flash);
        }
        let least = if self.flushes.force() { 1 } else { self.shape.least_units };
        if self.streams.of_host().any(|queue| self.buffer.waiting(queue) >= least) {
            self.collect(flash);
        }
    }

    /// Returns the queue of the buffer that fills the next program command, the stream of that
    /// command, and its number of units; none if no queue fills a command, or if each that does
    /// lacks a superblock.
    pub(super) fn next_to_program(&mut self) -> Option<(StreamId, Stream, u32)> {
        let whole = self.next_whole();
        if whole.is_none() && self.flushes.force() {
            return self.next_of_flush();
        }
        whole
    }

    #[inline(always)]
    fn next_whole(&mut self) -> Option<(StreamId, Stream, u32)> {
        if self.streams.count() > 1 {
            return self.next_of_streams(self.shape.units_per_command);
        }
        if self.buffer.waiting(StreamId(0)) < self.shape.least_units {
            return None;
        }
        let stream = self.stream_of_host()?;
        let units = self.units_of(stream);
        (self.buffer.waiting(StreamId(0)) >= units).then_some((StreamId(0), stream, units))
    }

    /// Returns the next program command that a waiting flush needs, not filled completely: the
    /// queue of the write buffer, its stream and the number of units there. `None` if no unit
    /// waits, or too many such commands are in flight.
    #[cold]
    fn next_of_flush(&mut self) -> Option<(StreamId, Stream, u32)> {
        if self.flushes.partial == PARTIAL_MOST {
            return None;
        }
        let (queue, stream) = match self.streams.count() {
            1 => (StreamId(0), self.stream_of_host()?),
            _ => {
                let (queue, stream, _) = self.next_of_streams(1)?;
                (queue, stream)
            }
        };
        let units = self.buffer.waiting(queue).min(self.units_of(stream));
        (units > 0).then_some((queue, stream, units))
    }

    /// Returns the next program command on a drive with several streams, which take turns: the
    /// queue of the buffer, its stream, and the units of a command. Queues with fewer than `least`
    /// units, or without a superblock, are passed over.
    fn next_of_streams(&mut self, least: u32) -> Option<(StreamId, Stream, u32)> {
        let units = self.shape.units_per_command;
        let may_open = self.host_may_open();
        let due = |&queue: &StreamId| {
            let open = self.commands.open_of(Stream::Host(queue)).is_some();
            (open || may_open) && self.buffer.waiting(queue) >= least
        };
        let queue = self.streams.in_turn().find(due)?;
        self.streams.note_program(queue);
        Some((queue, Stream::Host(queue), units))
    }

    /// Returns true if the host may open a superblock. Garbage collection must always find one for
    /// each of its streams, or nothing could ever be freed.
    fn host_may_open(&self) -> bool {
        self.map.free_count() > self.streams.kept() && !self.leaves_too_little()
    }

    /// Returns the number of units in a program command of a stream.
    pub(super) fn units_of(&self, stream: Stream) -> u32 {
        match stream {
            Stream::Host(_) | Stream::Moved(_) => self.shape.units_per_command,
            Stream::Slc => self.shape.slc_units,
        }
    }

    /// Sends units that garbage collection has read to their new place; the rest of the command is
    /// padding. Returns true if there was a place.
    pub(super) fn store_moved(&mut self, flash: &mut Flash, into: StreamId, units: u32) -> bool {
        let stream = Stream::Moved(into);
        let Some(open) = self.position(flash, stream) else { return false };
        let number = self.begin_command(stream, open, units);
        let first = number as usize * self.shape.units_per_command as usize;
        let mut source = Source::Gc;
        for at in first..first + units as usize {
            let (page, from) = self.collector.next_copied(into);
            if at == first {
                source = self.source_of(self.shape.superblock_of(from));
            }
            self.commands.stored[at] = Stored::Moved { page, from };
        }
        self.note_program(stream, open, number);
        self.submit_command(flash, (stream, open), number, source);
        self.advance(stream, open);
        true
    }

    /// Returns true if the host can program nothing until a superblock has been emptied.
    #[inline]
    pub(super) fn host_lacks_superblock(&self) -> bool {
        match self.stream_of_host() {
            Some(Stream::Slc) => false,
            Some(_) => self.a_stream_is_closed() && !self.host_may_open(),
            None => true,
        }
    }

    /// Returns true if some host data cannot be programmed without opening a superblock: no stream
    /// of the host has one open, or a stream without one has enough data for a program command.
    fn a_stream_is_closed(&self) -> bool {
        let units = if self.flushes.force() { 1 } else { self.shape.units_per_command };
        let mut open = false;
        for queue in self.streams.of_host() {
            if self.commands.open_of(Stream::Host(queue)).is_some() {
                open = true;
            } else if self.buffer.waiting(queue) >= units {
                return true;
            }
        }
        !open
    }

    /// Returns where the next command of a stream that stores data goes, after the parity that is
    /// due before it. None if that needs a superblock, and there is none to take.
    fn position(&mut self, flash: &mut Flash, stream: Stream) -> Option<Open> {
        loop {
            let Some(open) = self.commands.open_of(stream) else {
                self.open_for(stream, Superblocks::tag_to_open, flash.now())?;
                continue;
            };
            if !self.is_parity(open.superblock, open.command) {
                if self.program_fails(stream, open, flash.now()) {
                    self.pass_over(stream, open, flash.now());
                    if self.commands.passes.is_some() {
                        self.end_passes_before_gap(flash, stream);
                    }
                    continue;
                }
                return Some(open);
            }
            let number = self.begin_command(stream, open, 0);
            self.note_program(stream, open, number);
            self.submit_command(flash, (stream, open), number, Source::Parity);
            self.advance(stream, open);
        }
    }

    /// Opens a superblock for a stream and gives it the tag (hotness and placement handle) of the
    /// first unit that the stream stores there. `None` if there is no superblock to take.
    pub(super) fn open_for(
        &mut self,
        stream: Stream,
        tag_of_first: impl FnOnce(&Superblocks, Stream) -> StreamTag,
        now: Nanos,
    ) -> Option<()> {
        let swapped = stream == Stream::Moved(SWAPPED);
        let tag = if swapped { StreamTag::PLAIN } else { tag_of_first(self, stream) };
        let superblock = match stream {
            Stream::Moved(SWAPPED) => self.map.open_most_worn()?,
            Stream::Host(_) if !self.host_may_open() => return None,
            Stream::Host(_) | Stream::Moved(_) => self.open_erased(tag)?,
            Stream::Slc => self.open_slc()?,
        };
        self.streams.note_open(superblock, tag);
        if let Some(modes) = &mut self.modes {
            modes.opened(superblock, tag);
        }
        let command = self.skip_gaps(superblock, 0);
        self.commands.set_open(stream, Some(Open { superblock, command }));
        self.cover(superblock, stream, now);
        self.age_anew(superblock, now);
        Some(())
    }

    /// Returns the tag (hotness and placement handle) of the first unit that a stream will store in
    /// the superblock that it opens next.
    pub(super) fn tag_to_open(&self, stream: Stream) -> StreamTag {
        if self.streams.count() == 1 {
            return StreamTag::PLAIN;
        }
        match stream {
            Stream::Host(queue) => self.buffer.first_tag(queue),
            Stream::Moved(into) => {
                let (_, from) = self.collector.first_copied(into);
                self.streams.tag_of_survivors(self.shape.superblock_of(from))
            }
            Stream::Slc => StreamTag::PLAIN,
        }
    }

    /// Opens an erased superblock for data with a tag (hotness and placement handle), which decides
    /// between strong and weak blocks; `None` if no superblock is erased.
    fn open_erased(&mut self, tag: StreamTag) -> Option<RuId> {
        let Some(modes) = &self.modes else { return self.map.open() };
        match self.streams.opens(tag) {
            Opens::Oldest => self.map.open(),
            Opens::Strongest => self.map.open_least(|superblock| modes.weakest(superblock)),
            Opens::Weakest => self.map.open_least(|superblock| u8::MAX - modes.weakest(superblock)),
        }
    }

    /// Moves a stream on to its next command. A superblock that is full is closed.
    pub(super) fn advance(&mut self, stream: Stream, open: Open) {
        self.map.take_command(open.superblock);
        let command = self.skip_gaps(open.superblock, open.command + 1);
        let next = Open { command, ..open };
        self.commands.set_open(stream, (command < self.shape.commands).then_some(next));
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
        self.map.departed(open.superblock);
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
        let class = match stream.is_of_host() {
            true => TxnClass::HostProgram,
            false => TxnClass::BackgroundProgram,
        };
        let Command { first_unit, left: pages, .. } = self.commands.records[number as usize];
        let parts = self.shape.units_per_page;
        let mode = self.mode_of(first_unit, stream);
        let failed = match (&mut self.bad, owner) {
            (Some(bad), Owner::Command(_)) if source != Source::Parity => {
                bad.take_failed_programs()
            }
            _ => 0,
        };
        let (mut first, mut last) = (TxnId::NONE, TxnId::NONE);
        for page in 0..pages {
            let (die, place) = self.shape.place(first_unit.plus(page * parts));
            let (id, txn) = flash.open(Op::Program, source, class, owner, die);
            (txn.unit, txn.parts, txn.mode, txn.failed) =
                (in_txn(place), parts as u8, mode, failed);
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

    /// Returns the mode in which a command of a stream that begins with a unit is programmed.
    fn mode_of(&self, first_unit: UnitId, stream: Stream) -> Mode {
        if stream == Stream::Slc {
            return Mode::SLC;
        }
        let Some(modes) = &self.modes else { return Mode::default() };
        modes.of(self.shape.superblock_of(first_unit), self.shape.place(first_unit).0)
    }

    /// Handles the end of the first of a command's two program passes. Moved units then leave their
    /// old place; until the second pass has ended, they are read from the controller.
    pub(super) fn first_pass_done(&mut self, flash: &mut Flash, number: u32) {
        let stores = self.commands.records[number as usize].stores;
        let first = number as usize * self.shape.units_per_command as usize;
        if stores > 0 && matches!(self.commands.stored[first], Stored::Moved { .. }) {
            self.settle_command(flash, number);
            self.commands.records[number as usize].stores = 0;
            self.collector.stored(stores);
            self.collect(flash);
            self.drain(flash);
        } else if self.dies.any() {
            self.look_for_standstill(flash);
        }
    }

    /// Handles the end of the last page program of a program command: all of its data is in the
    /// flash.
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
        if self.flushes.partial > 0 && stores > 0 && !moved {
            let whole = self.shape.slots(self.shape.is_slc(first_unit)).len();
            self.flushes.partial -= u32::from((stores as usize) < whole);
        }
        self.commands.free.push(number);
        self.land(superblock, flash.now());
        if moved {
            self.collector.stored(stores);
        }
        self.collect(flash);
        self.drain(flash);
        if stores > 0 && !moved {
            self.resume(flash);
        }
    }

    /// Maps each host unit that a program command has stored to its new place, except units that
    /// the host has written again or trimmed meanwhile. Returns true if GC, refresh or wear
    /// leveling moved them.
    fn settle_command(&mut self, flash: &mut Flash, number: u32) -> bool {
        let Command { first_unit, stores, .. } = self.commands.records[number as usize];
        let first = number as usize * self.shape.units_per_command as usize;
        let superblock = self.shape.superblock_of(first_unit);
        self.note_settled(number, flash.now());
        let mut moved = false;
        for at in 0..stores {
            let unit = first_unit.plus(at);
            match self.commands.stored[first + at as usize] {
                Stored::Frame(frame) => {
                    let page = self.buffer.page(frame);
                    if self.map.is_in(page, frame) {
                        self.map.settle(page, self.buffer.unit(frame), (unit, superblock));
                    }
                    self.buffer.release(frame);
                }
                Stored::Moved { page, from } => {
                    let old = self.shape.superblock_of(from);
                    let places = [(from, old), (unit, superblock)];
                    if let Some(frame) = self.map.relocate(page, places) {
                        self.buffer.set_unit(frame, unit);
                    }
                    moved = true;
                    self.left(flash, old);
                }
            }
        }
        moved
    }
}
