//! A buffer that evicts lazily (`buffer.eviction = "lazy"`): units stay in their frames until room
//! is needed, so that later reads and writes find them there.
//!
//! A frame is *dirty* while its unit waits to be evicted, and *clean* while it holds a unit that a
//! read has brought from the flash. Once too few frames are free or leaving,
//! `policy.replacement` chooses which goes: a clean frame is dropped, and a dirty one joins the
//! frames of its stream that wait for a program command. Its stream is chosen then, because only
//! then is it known how often the unit was read and written (HIRE, section 3.1).
//!
//! Invariants: every dirty or clean frame is in the list of its kind, which begins with the least
//! recently used one; no other frame is in a list.

use super::buffer::{State, UnitBuffer};
use crate::config::Config;
use crate::policy::hotness::Used;
use crate::policy::replacement::{AnyReplacement, Leaves, Replacement, Tail};
use fowler_units::{Bytes, FrameId, Id, Link, Linked, List, Nanos};
use std::ops::{Index, IndexMut};

/// Reads and writes of the unit in a frame of the write buffer, and the frame's place in the list
/// of dirty or of clean frames.
#[derive(Clone, Copy, Debug)]
struct Record {
    link: Link<FrameId>,
    /// Time of the last read or write of the unit in this frame, counted in reads and writes of the
    /// whole buffer.
    used: u64,
    /// Reads and writes of the unit since it entered the buffer, that which brought it included
    /// (C_r and C_w of HIRE, section 3.1).
    reads: u16,
    writes: u16,
}

impl Linked<FrameId> for Record {
    fn link(&self) -> &Link<FrameId> {
        &self.link
    }
    fn link_mut(&mut self) -> &mut Link<FrameId> {
        &mut self.link
    }
}

/// Use of each frame of the write buffer, by frame.
#[derive(Clone, Debug)]
struct Records(Vec<Record>);

impl Index<FrameId> for Records {
    type Output = Record;
    fn index(&self, id: FrameId) -> &Record {
        &self.0[id.index()]
    }
}

impl IndexMut<FrameId> for Records {
    fn index_mut(&mut self, id: FrameId) -> &mut Record {
        &mut self.0[id.index()]
    }
}

/// Frames of a lazily evicting write buffer whose units stay there until room is needed, in two
/// least-recently-used lists: dirty ones, and clean ones with data from flash reads.
#[derive(Clone, Debug)]
pub(super) struct Residents {
    records: Records,
    dirty: List<FrameId>,
    clean: List<FrameId>,
    replacement: AnyReplacement,
    /// Number of reads and writes of units in the write buffer so far; the clock of the
    /// least-recently-used lists.
    uses: u64,
    /// Number of frames of the write buffer that are kept free or in the process of being
    /// programmed: enough for a program command on each die, but at most half of the buffer;
    /// `buffer.evict_ahead` if that is more. With fewer, most dies would idle while one programs.
    ahead: u32,
    /// True if units stay in the buffer after a read.
    pub(super) keeps_reads: bool,
}

impl Tail for Residents {
    fn clean(&self) -> Option<u64> {
        self.clean.front().map(|oldest| self.records[oldest].used)
    }

    fn dirty(&self) -> Option<u64> {
        self.dirty.front().map(|oldest| self.records[oldest].used)
    }

    fn dirty_before(&self, used: u64, most: u32) -> u32 {
        let oldest = self.dirty.iter(&self.records).take(most as usize);
        oldest.take_while(|&at| self.records[at].used < used).count() as u32
    }
}

impl Residents {
    /// Returns the lists of units that stay in a buffer of `frames` frames until room is needed;
    /// `None` if the buffer does not evict lazily. `commands` is the number of units of one command
    /// for each die.
    pub fn new(config: &Config, frames: u32, commands: u32) -> Option<Residents> {
        let blank = Record { link: Link::NONE, used: 0, reads: 0, writes: 0 };
        config.evicts_lazily().then(|| Residents {
            records: Records(vec![blank; frames as usize]),
            dirty: List::EMPTY,
            clean: List::EMPTY,
            replacement: AnyReplacement::new(&config.replacement, config.seed),
            uses: 0,
            ahead: config.buffer.evict_ahead.max(commands.min(frames / 2)).min(frames),
            keeps_reads: config.buffer.cache_reads,
        })
    }

    /// Returns the memory that the lists of units that stay in a buffer of `frames` frames take on
    /// the simulating machine.
    pub fn bytes(config: &Config, frames: u32) -> Bytes {
        Bytes::of::<Record>(if config.evicts_lazily() { frames.into() } else { 0 })
    }

    /// Records that a frame of the write buffer takes a new unit, with no reads or writes counted
    /// yet.
    pub fn begin(&mut self, id: FrameId) {
        (self.records[id].reads, self.records[id].writes) = (0, 0);
    }

    /// Appends a frame of the write buffer to the list of dirty or of clean frames, as the most
    /// recently used one; it is in neither list so far.
    pub fn enlist(&mut self, id: FrameId, state: State) {
        self.records[id].used = self.uses;
        self.uses += 1;
        let Residents { records, dirty, clean, .. } = self;
        let list = if state == State::Dirty { dirty } else { clean };
        list.push_back(records, id);
    }

    /// Removes a frame in state `state` from the least-recently-used list for that state, dirty or
    /// clean. Does nothing with a frame in any other state.
    pub fn delist(&mut self, id: FrameId, state: State) {
        let Residents { records, dirty, clean, .. } = self;
        match state {
            State::Dirty => dirty.remove(records, id),
            State::Clean => clean.remove(records, id),
            State::Free | State::Merging | State::Ready | State::Leaving => {}
        }
    }

    /// Counts a read or a write of the unit in a frame of the write buffer. If the frame is dirty
    /// or clean, it becomes the most recently used one in the list of such frames.
    pub fn use_frame(&mut self, id: FrameId, state: State, wrote: bool) {
        let record = &mut self.records[id];
        let hits = if wrote { &mut record.writes } else { &mut record.reads };
        *hits += 1;
        if *hits == u16::MAX {
            // Only the ratio matters.
            (record.reads, record.writes) = (record.reads / 2, record.writes / 2);
        }
        if matches!(state, State::Dirty | State::Clean) {
            self.delist(id, state);
            self.enlist(id, state);
        }
    }

    /// Returns the least recently used clean frame of the write buffer; `None` if there is none.
    pub fn oldest_clean(&self) -> Option<FrameId> {
        self.clean.front()
    }

    /// Returns the least recently used dirty frame of the write buffer; `None` if there is none.
    pub fn oldest_dirty(&self) -> Option<FrameId> {
        self.dirty.front()
    }

    /// Returns the number of dirty frames and the number of clean frames that stay in the write
    /// buffer until room is needed.
    pub fn counts(&self) -> (u32, u32) {
        (self.dirty.len(), self.clean.len())
    }

    /// Returns the next frame to evict if `room` frames are free or leaving, and whether it is
    /// clean.
    pub fn due(&self, room: u32) -> Option<(FrameId, Leaves)> {
        let drops = self.replacement.drops_ahead();
        // A rule that drops no clean frame ahead counts each as free.
        let room = if drops { room } else { room + self.clean.len() };
        if room >= self.ahead {
            return None;
        }
        let leaves = if drops { self.replacement.leaves(self)? } else { Leaves::Dirty };
        let list = if leaves == Leaves::Clean { &self.clean } else { &self.dirty };
        Some((list.front()?, leaves))
    }
}

impl UnitBuffer {
    /// Returns the unit of the host in a frame of the write buffer, with the numbers of reads and
    /// writes of that unit since it entered the buffer.
    pub fn use_of(&self, id: FrameId, now: Nanos) -> Used {
        let record = self.residents().map(|residents| residents.records[id]);
        let (reads, writes) = record.map_or((0, 0), |record| (record.reads, record.writes));
        Used { lpn: self.page(id), reads, writes, now }
    }
}
