//! The frames of the write buffer. A frame holds one unit from the moment its write is acknowledged
//! until a program command has stored it. In a buffer that evicts lazily it may also hold one that
//! a read has brought, until room is needed.
//!
//! Invariants: a frame is in `free` exactly while its state is `Free`; a `Ready` frame is in the
//! line of one stream, whose `wanted` counts those with valid data; `leaving` counts the frames
//! that commands in flight store. The earlier copy of a unit in the flash stays valid until the
//! program of its frame has ended.

use super::residents::Residents;
use super::shape::Shape;
use crate::config::Config;
use crate::policy::placement::{STREAMS_MAX, StreamId};
use crate::policy::stream_tag::{AccessClass, StreamTag};
use fowler_units::{Bytes, FrameId, Id, Lpn, UnitId};
use std::collections::VecDeque;

/// State of a frame of the write buffer; a frame has room for one unit (the data that one map entry
/// locates).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The frame of the write buffer is free.
    Free,
    /// The frame holds part of its unit, and the rest is being read from the flash.
    Merging,
    /// The frame holds its whole unit, which stays until room is needed ([`super::residents`]).
    Dirty,
    /// The frame holds a unit that is identical to its copy in the flash.
    Clean,
    /// The frame holds its whole unit and waits for a program command.
    Ready,
    /// A program command is storing the unit in this frame of the write buffer.
    Leaving,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    page: Lpn,
    /// Unit of the flash that holds earlier data of the frame's unit, and stays valid until the
    /// program of the frame's data has ended; none if there is no such copy.
    unit: UnitId,
    state: State,
    /// True until the data in this frame of the write buffer becomes invalid, by a trim or by a
    /// write of the same unit to another stream.
    wanted: bool,
    /// The stream of the data in the frame, and the tag that assigns the data to that stream.
    stream: StreamId,
    tag: StreamTag,
}

impl Frame {
    fn is_to_be_stored(&self) -> bool {
        self.wanted && !matches!(self.state, State::Free | State::Clean)
    }
}

/// The frames of the write buffer.
#[derive(Clone, Debug)]
pub(super) struct UnitBuffer {
    frames: Vec<Frame>,
    free: Vec<FrameId>,
    /// Frames that wait for a program command, by stream.
    ready: [Ready; STREAMS_MAX],
    /// The number of frames of the write buffer whose data a program command in flight stores.
    leaving: u32,
    /// Least-recently-used lists of buffer frames that keep their units until room is needed; none
    /// if units leave the write buffer as soon as they fill a program command.
    residents: Option<Box<Residents>>,
}

/// Frames of the write buffer that wait for a program command of one stream, in order, and the
/// number of them whose data is still valid.
#[derive(Clone, Debug)]
struct Ready {
    frames: VecDeque<FrameId>,
    wanted: u32,
}

impl UnitBuffer {
    pub fn new(config: &Config, shape: &Shape, frames: u32, streams: u8) -> UnitBuffer {
        let commands = shape.dies * shape.units_per_command;
        let blank = Frame {
            page: Lpn(0),
            unit: UnitId::NONE,
            state: State::Free,
            wanted: false,
            stream: StreamId(0),
            tag: StreamTag::PLAIN,
        };
        // Streams that the drive does not have hold nothing.
        let ready = |at: usize| Ready {
            frames: VecDeque::with_capacity(if at < streams.into() { frames as usize } else { 0 }),
            wanted: 0,
        };
        UnitBuffer {
            frames: vec![blank; frames as usize],
            free: (0..frames).rev().map(FrameId).collect(),
            ready: std::array::from_fn(ready),
            leaving: 0,
            residents: Residents::new(config, frames, commands).map(Box::new),
        }
    }

    pub fn bytes(config: &Config, frames: u32, streams: u8) -> Bytes {
        Residents::bytes(config, frames)
            + Bytes::of::<(Frame, FrameId)>(frames.into())
            + Bytes::of::<FrameId>(u64::from(frames) * u64::from(streams))
    }

    /// Frees all frames of the write buffer.
    pub fn clear(&mut self) {
        for ready in &mut self.ready {
            ready.frames.clear();
            ready.wanted = 0;
        }
        for id in (0..self.frames.len()).map(FrameId::new) {
            if self.frames[id.index()].state != State::Free {
                self.release(id);
            }
        }
        // As on a new drive, frames are taken from the first on.
        self.free.sort_unstable_by(|one, other| other.cmp(one));
    }

    /// Takes a free frame of the write buffer for the unit `page` of the host; `unit` is its older
    /// copy in the flash (null for none), and `stream` and `tag` say which stream the new data goes
    /// to. `None` if no frame is free.
    #[inline]
    pub fn take(
        &mut self,
        page: Lpn,
        unit: UnitId,
        (stream, tag): (StreamId, StreamTag),
    ) -> Option<FrameId> {
        let id = match self.free.pop() {
            Some(id) => id,
            None => self.take_unwanted()?,
        };
        let state = State::Merging;
        self.frames[id.index()] = Frame { page, unit, state, wanted: true, stream, tag };
        if let Some(residents) = &mut self.residents {
            residents.begin(id);
        }
        Some(id)
    }

    /// Frees the buffer frames that wait for a program command but whose data is invalid, and takes
    /// one of them for a new unit; `None` if there are none.
    #[cold]
    fn take_unwanted(&mut self) -> Option<FrameId> {
        let (frames, free) = (&mut self.frames, &mut self.free);
        for ready in &mut self.ready {
            if ready.frames.len() == ready.wanted as usize {
                continue;
            }
            ready.frames.retain(|&id| {
                let frame = &mut frames[id.index()];
                if !frame.wanted {
                    frame.state = State::Free;
                    free.push(id);
                }
                frame.wanted
            });
        }
        self.free.pop()
    }

    /// Returns the number of frames of the write buffer, free ones included.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns the number of free frames of the write buffer.
    pub fn free_count(&self) -> usize {
        self.free.len()
    }

    /// Overwrites the unit in a frame of the write buffer with a newer write of that unit, which
    /// belongs to the given stream and tag. Returns false, and does nothing, if the frame waits for
    /// a command of another stream or its program has begun.
    #[inline]
    pub fn overwrite(&mut self, id: FrameId, (stream, tag): (StreamId, StreamTag)) -> bool {
        let frame = &mut self.frames[id.index()];
        match frame.state {
            // The access class was chosen when the frame was evicted.
            State::Ready if self.residents.is_some() => {
                frame.tag.with_class(AccessClass::Mixed) == tag
            }
            State::Ready => frame.stream == stream,
            State::Merging | State::Dirty => {
                (frame.stream, frame.tag) = (stream, tag);
                true
            }
            State::Clean => {
                (frame.stream, frame.tag) = (stream, tag);
                self.make_dirty(id);
                true
            }
            State::Free | State::Leaving => false,
        }
    }

    /// The frame holds its whole unit: it waits for a command, or until room is needed.
    #[inline(always)]
    pub fn complete(&mut self, id: FrameId) {
        let frame = &mut self.frames[id.index()];
        debug_assert_eq!(frame.state, State::Merging);
        if !frame.wanted {
            self.release(id);
        } else if self.residents.is_some() {
            self.stays(id);
        } else {
            frame.state = State::Ready;
            let ready = &mut self.ready[frame.stream.index()];
            ready.wanted += 1;
            ready.frames.push_back(id);
        }
    }

    /// The frame holds its whole unit, which stays until room is needed.
    #[inline(never)]
    fn stays(&mut self, id: FrameId) {
        self.frames[id.index()].state = State::Dirty;
        if let Some(residents) = &mut self.residents {
            residents.enlist(id, State::Dirty);
        }
    }

    /// Returns true if a frame of the write buffer holds newer data of the unit `page` of the host
    /// than the flash.
    pub fn holds(&self, id: FrameId, page: Lpn) -> bool {
        let frame = &self.frames[id.index()];
        frame.page == page && frame.is_to_be_stored()
    }

    /// Returns the frames of the write buffer that hold newer data than the flash, each with the
    /// unit of the host in it.
    pub fn to_be_stored(&self) -> impl Iterator<Item = (FrameId, Lpn)> {
        let all = self.frames.iter().enumerate();
        let held = all.filter(|(_, frame)| frame.is_to_be_stored());
        held.map(|(at, frame)| (FrameId::new(at), frame.page))
    }

    /// Marks a clean frame as dirty, because it now holds the only copy of its unit.
    pub fn make_dirty(&mut self, id: FrameId) {
        let frame = &mut self.frames[id.index()];
        if frame.state == State::Clean {
            frame.state = State::Dirty;
            if let Some(residents) = &mut self.residents {
                residents.delist(id, State::Clean);
                residents.enlist(id, State::Dirty);
            }
        }
    }

    /// Returns true if a frame of the write buffer holds only the part of its unit that the host
    /// has written, and the other part is being read from the flash.
    pub fn is_incomplete(&self, id: FrameId) -> bool {
        self.frames[id.index()].state == State::Merging
    }

    /// Marks the data in a frame of the write buffer as invalid, because the host has trimmed it or
    /// written newer data to another frame.
    pub fn give_up(&mut self, id: FrameId) {
        let frame = &mut self.frames[id.index()];
        let ready = &mut self.ready[frame.stream.index()];
        ready.wanted -= u32::from(frame.state == State::Ready && frame.wanted);
        frame.wanted = false;
        if matches!(frame.state, State::Dirty | State::Clean) {
            self.release(id);
        }
    }

    /// Returns the number of frames of a stream that wait for a command.
    #[inline]
    pub fn waiting(&self, stream: StreamId) -> u32 {
        self.ready[stream.index()].wanted
    }

    /// Returns the tag (hotness and placement handle) of the first frame of a stream that waits for
    /// a program command.
    pub fn first_tag(&self, stream: StreamId) -> StreamTag {
        let frames = self.ready[stream.index()].frames.iter();
        let mut tags = frames.map(|id| &self.frames[id.index()]).filter(|frame| frame.wanted);
        tags.next().map_or(StreamTag::PLAIN, |frame| frame.tag)
    }

    /// Takes the next frame of a stream for a command, and frees those before it whose data is
    /// invalid.
    #[inline]
    pub fn next(&mut self, stream: StreamId) -> Option<FrameId> {
        loop {
            let ready = &mut self.ready[stream.index()];
            let id = ready.frames.pop_front()?;
            if self.frames[id.index()].wanted {
                self.frames[id.index()].state = State::Leaving;
                ready.wanted -= 1;
                self.leaving += 1;
                return Some(id);
            }
            self.release(id);
        }
    }

    /// Puts a frame whose command was not programmed back before all others of its stream that wait
    /// for a command.
    pub fn put_back(&mut self, id: FrameId) {
        let frame = &mut self.frames[id.index()];
        debug_assert!(frame.state == State::Leaving && frame.wanted);
        frame.state = State::Ready;
        let ready = &mut self.ready[frame.stream.index()];
        ready.wanted += 1;
        ready.frames.push_front(id);
        self.leaving -= 1;
    }

    /// Returns the units of a stream that wait for a command, in order, each with its tag.
    pub fn waiting_units(&self, stream: StreamId) -> impl Iterator<Item = (Lpn, StreamTag)> {
        let frames = self.ready[stream.index()].frames.iter();
        let wanted = frames.map(|id| &self.frames[id.index()]).filter(|frame| frame.wanted);
        wanted.map(|frame| (frame.page, frame.tag))
    }

    /// Returns the location in the flash of the last copy programmed of the unit in a frame of the
    /// write buffer; `UnitId::NONE` if there is none.
    #[inline]
    pub fn unit(&self, id: FrameId) -> UnitId {
        self.frames[id.index()].unit
    }

    /// Records the new flash location of the unit in a frame, after its flash copy has been moved.
    pub fn set_unit(&mut self, id: FrameId, unit: UnitId) {
        self.frames[id.index()].unit = unit;
    }

    #[inline]
    pub fn page(&self, id: FrameId) -> Lpn {
        self.frames[id.index()].page
    }

    #[inline]
    pub fn release(&mut self, id: FrameId) {
        let state = std::mem::replace(&mut self.frames[id.index()].state, State::Free);
        debug_assert_ne!(state, State::Free);
        self.leaving -= u32::from(state == State::Leaving);
        if let Some(residents) = &mut self.residents {
            residents.delist(id, state);
        }
        self.free.push(id);
    }

    /// Returns the least-recently-used lists of buffer frames that keep their units until room is
    /// needed; `None` if units leave the write buffer as soon as they fill a program command.
    #[inline]
    pub fn residents(&self) -> Option<&Residents> {
        self.residents.as_deref()
    }

    /// Returns the number of frames whose units commands in flight store.
    pub fn leaving(&self) -> u32 {
        self.leaving
    }

    /// Returns the number of frames of the write buffer that are free, are being programmed, or
    /// wait for a program command (of `units` units) that they fill.
    pub fn room(&self, units: u32) -> u32 {
        let whole = self.ready.iter().map(|ready| ready.wanted / units * units);
        self.free.len() as u32 + self.leaving + whole.sum::<u32>()
    }

    /// Returns the tag of the data in a frame: its hotness and placement handle, which select a
    /// stream.
    pub fn tag(&self, id: FrameId) -> StreamTag {
        self.frames[id.index()].tag
    }

    /// Evicts a dirty frame of the write buffer: from now on it waits for a program command of the
    /// given stream to store its unit.
    pub fn evict(&mut self, id: FrameId, (stream, tag): (StreamId, StreamTag)) {
        let frame = &mut self.frames[id.index()];
        debug_assert_eq!(frame.state, State::Dirty);
        (frame.state, frame.stream, frame.tag) = (State::Ready, stream, tag);
        if let Some(residents) = &mut self.residents {
            residents.delist(id, State::Dirty);
        }
        let ready = &mut self.ready[stream.index()];
        ready.wanted += 1;
        ready.frames.push_back(id);
    }

    /// Takes a free frame for a unit that a read has brought from this place in the flash.
    pub fn keep(&mut self, page: Lpn, unit: UnitId) -> Option<FrameId> {
        let id = self.take(page, unit, (StreamId(0), StreamTag::PLAIN))?;
        self.frames[id.index()].state = State::Clean;
        if let Some(residents) = &mut self.residents {
            residents.enlist(id, State::Clean);
        }
        Some(id)
    }

    /// Records that the host has read or (`wrote`) written the unit in a frame of the write buffer,
    /// for the order of eviction.
    #[inline]
    pub fn use_frame(&mut self, id: FrameId, wrote: bool) {
        if let Some(residents) = &mut self.residents {
            residents.use_frame(id, self.frames[id.index()].state, wrote);
        }
    }

    /// Returns what the frames hold: each that is not free, its unit of the host, and its state.
    pub fn held(&self) -> impl Iterator<Item = (FrameId, Lpn, State)> {
        let all = self.frames.iter().enumerate();
        let held = all.filter(|(_, frame)| frame.state != State::Free);
        held.map(|(at, frame)| (FrameId::new(at), frame.page, frame.state))
    }
}
