//! Flushes on a drive whose buffer does not survive a loss of power: each waits until everything
//! that was in the buffer when it came has been programmed. Meanwhile, units leave in commands that
//! are not full. The end of a run may write the buffer out in the same way.
//!
//! Invariants: flushes end in the order in which they came; a flush waits for a unit of the host,
//! in whichever frame the newest data of that unit is; at most [`PARTIAL_MOST`] commands in flight
//! are not full.

use super::buffer::UnitBuffer;
use crate::config::Config;
use fowler_units::{FrameId, Lpn, ReqId};
use std::collections::VecDeque;

/// The parts of the controller that survive a loss of power.
#[derive(Clone, Copy, Debug)]
pub(super) struct Survives {
    /// Number of units in the buffer and in commands in flight whose data survives a loss of power;
    /// [`usize::MAX`] if all does.
    pub saved: usize,
    /// True if a loss of power cuts off program commands in flight.
    pub tears: bool,
}

impl Survives {
    pub fn new(config: &Config) -> Survives {
        let redundancy = &config.redundancy;
        Survives { saved: redundancy.pages_saved(), tears: redundancy.tears_programs() }
    }

    /// Returns true if all data in the controller survives a loss of power.
    pub fn all(self) -> bool {
        self.saved == usize::MAX
    }
}

/// A flush, and the frames that it waits for, each with its unit of the host.
#[derive(Clone, Debug)]
struct Flush {
    id: ReqId,
    frames: Vec<(FrameId, Lpn)>,
}

/// Flush requests that wait for data of the write buffer to be programmed.
#[derive(Clone, Debug)]
pub(super) struct Flushes {
    waiting: VecDeque<Flush>,
    /// True if a flush request waits until the write buffer's data is in the flash, because the
    /// buffer does not survive a loss of power; false if it is acknowledged at once.
    pub waits: bool,
    /// True while the buffer is written out at the end of a run.
    pub writes_out: bool,
    /// Number of program commands of host data in flight that are not full, because a flush request
    /// sent them early; at most [`PARTIAL_MOST`].
    pub partial: u32,
}

/// Largest number of partly filled program commands in flight because of a flush.
pub(super) const PARTIAL_MOST: u32 = 2;

impl Flushes {
    /// Creates the queue of flush requests, empty. If `waits`, a flush waits until the write
    /// buffer's data is in the flash; if not, it is acknowledged at once, as that data survives a
    /// loss of power.
    pub fn new(waits: bool) -> Flushes {
        Flushes { waiting: VecDeque::new(), waits, writes_out: false, partial: 0 }
    }

    /// Returns true if program commands are sent although they are not full, because of a flush or
    /// the end of a run.
    #[inline]
    pub fn force(&self) -> bool {
        self.writes_out || !self.waiting.is_empty()
    }

    /// Adds a flush request, which waits for the data in the write buffer at this moment.
    pub fn push(&mut self, id: ReqId, buffer: &UnitBuffer) {
        self.waiting.push_back(Flush { id, frames: buffer.to_be_stored().collect() });
    }

    /// Records that newer data of a host unit has come into another frame of the write buffer;
    /// `frames` are the old frame and the new one. Flush requests that waited for the old frame
    /// wait for the new one, because programming the old data no longer stores the unit.
    #[inline]
    pub fn replaced(&mut self, page: Lpn, frames: [FrameId; 2]) {
        if !self.waiting.is_empty() {
            self.replace(page, frames);
        }
    }

    #[cold]
    fn replace(&mut self, page: Lpn, [old, new]: [FrameId; 2]) {
        let all = self.waiting.iter_mut().flat_map(|flush| &mut flush.frames);
        all.filter(|it| **it == (old, page)).for_each(|it| it.0 = new);
    }

    /// Takes the first flush that waits, whatever it waits for.
    pub fn take_waiting(&mut self) -> Option<ReqId> {
        self.waiting.pop_front().map(|flush| flush.id)
    }

    /// Takes the next flush whose data has been programmed. Flushes end in the order in which they
    /// came.
    pub fn next_done(&mut self, buffer: &UnitBuffer) -> Option<ReqId> {
        let first = self.waiting.front_mut()?;
        first.frames.retain(|&(frame, page)| buffer.holds(frame, page));
        let done = first.frames.is_empty();
        done.then(|| self.waiting.pop_front().map(|flush| flush.id))?
    }
}
