//! The frames of the write buffer. A frame holds one unit from the moment its write is acknowledged
//! until a program command has stored it.

use fowler_units::{Bytes, FrameId, Id};
use std::collections::VecDeque;

/// What becomes of a frame next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Free,
    /// It holds part of its unit, and the rest is being read from the flash.
    Merging,
    /// It waits for a program command.
    Ready,
    /// It is being programmed.
    Leaving,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    page: u32,
    state: State,
    /// Whether its data is still wanted; a trim takes that from it.
    wanted: bool,
}

/// The frames.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    frames: Vec<Frame>,
    free: Vec<FrameId>,
    /// The frames that wait for a command, in order, and how many of them are still wanted.
    ready: VecDeque<FrameId>,
    wanted: u32,
}

impl Buffer {
    pub fn new(frames: u32) -> Buffer {
        let blank = Frame { page: 0, state: State::Free, wanted: false };
        Buffer {
            frames: vec![blank; frames as usize],
            free: (0..frames).rev().map(FrameId).collect(),
            ready: VecDeque::with_capacity(frames as usize),
            wanted: 0,
        }
    }

    pub fn bytes(frames: u32) -> Bytes {
        Bytes::of::<(Frame, FrameId, FrameId)>(frames.into())
    }

    /// Takes a free frame for a unit of the host.
    #[inline]
    pub fn take(&mut self, page: u32) -> Option<FrameId> {
        let id = match self.free.pop() {
            Some(id) => id,
            None => self.take_unwanted()?,
        };
        self.frames[id.index()] = Frame { page, state: State::Merging, wanted: true };
        Some(id)
    }

    /// Frees the frames that wait for a command that would not store them, and takes one.
    #[cold]
    fn take_unwanted(&mut self) -> Option<FrameId> {
        if self.ready.len() == self.wanted as usize {
            return None;
        }
        let (frames, free) = (&mut self.frames, &mut self.free);
        self.ready.retain(|&id| {
            let frame = &mut frames[id.index()];
            if !frame.wanted {
                frame.state = State::Free;
                free.push(id);
            }
            frame.wanted
        });
        self.free.pop()
    }

    /// Returns the number of frames.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns the number of free frames.
    pub fn free_count(&self) -> usize {
        self.free.len()
    }

    /// Returns whether a write of the same unit may overwrite what the frame holds.
    #[inline]
    pub fn takes_overwrite(&self, id: FrameId) -> bool {
        matches!(self.frames[id.index()].state, State::Merging | State::Ready)
    }

    /// The frame holds its whole unit: it waits for a command.
    #[inline]
    pub fn complete(&mut self, id: FrameId) {
        let frame = &mut self.frames[id.index()];
        debug_assert_eq!(frame.state, State::Merging);
        if frame.wanted {
            frame.state = State::Ready;
            self.wanted += 1;
            self.ready.push_back(id);
        } else {
            self.release(id);
        }
    }

    /// Nobody wants the data of the frame any more.
    pub fn give_up(&mut self, id: FrameId) {
        let frame = &mut self.frames[id.index()];
        self.wanted -= u32::from(frame.state == State::Ready && frame.wanted);
        frame.wanted = false;
    }

    /// Returns the number of frames that wait for a command.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.wanted
    }

    /// Takes the next frame for a command, and frees those before it that nobody wants.
    #[inline]
    pub fn next(&mut self) -> Option<FrameId> {
        loop {
            let id = self.ready.pop_front()?;
            if self.frames[id.index()].wanted {
                self.frames[id.index()].state = State::Leaving;
                self.wanted -= 1;
                return Some(id);
            }
            self.release(id);
        }
    }

    #[inline]
    pub fn page(&self, id: FrameId) -> u32 {
        self.frames[id.index()].page
    }

    #[inline]
    pub fn release(&mut self, id: FrameId) {
        debug_assert_ne!(self.frames[id.index()].state, State::Free);
        self.frames[id.index()].state = State::Free;
        self.free.push(id);
    }

    /// Returns what the frames hold: each that is not free, its unit of the host, and its state.
    pub fn held(&self) -> impl Iterator<Item = (FrameId, u32, State)> {
        let all = self.frames.iter().enumerate();
        let held = all.filter(|(_, frame)| frame.state != State::Free);
        held.map(|(at, frame)| (FrameId::new(at), frame.page, frame.state))
    }
}
