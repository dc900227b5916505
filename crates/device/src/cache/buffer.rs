//! The write buffer. Page frames are found through the mapping, so that a lookup costs nothing
//! extra. Dirty frames leave in LRU order; clean ones stay for reads until room is needed.
//!
//! Invariants: a frame is free or holds one logical page, which the mapping finds there unless it
//! was trimmed (`orphan`); it is in at most one list, the one that `listed` names; a free frame is
//! in no list and has no program; `leaving` counts the frames that become free when their program
//! ends; the epochs of data that has not settled are listed oldest first, none with a count of zero
//! in front.

use crate::config::BufferConfig;
use crate::policy::replacement::{self, AnyReplacement, Leaves, Replacement, Tail};
use crate::policy::stream_tag::StreamTag;
use fowler_units::{Bytes, FrameId, Id, Link, Linked, List, Lpn, Table, TxnId, UnitId};
use std::collections::VecDeque;

/// The list of the buffer that a frame is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// The buffer frame is in none of the buffer's lists: it is free, or its data is being
    /// programmed.
    No,
    /// The buffer frame holds data that is neither in the flash nor being programmed.
    Dirty,
    /// The buffer frame holds data that is also in the flash.
    Clean,
    /// The buffer frame holds data that is also in the flash and will be reprogrammed in idle time.
    Rewrite,
}

/// A page frame of the write buffer.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The logical page that this buffer frame holds.
    pub lpn: Lpn,
    /// Location in the flash of the last programmed copy of this frame's page, or of the flash page
    /// that a program of this frame's data is writing.
    pub unit: UnitId,
    /// The parts of the page that this buffer frame holds, one bit per 64th of a page (or per
    /// sector, if that is larger).
    pub present: u64,
    /// The program of this buffer frame's data that has not begun; `NONE` if there is none.
    pub queued: TxnId,
    /// Number of programs of this buffer frame's data in progress.
    pub programs: u16,
    /// True if this buffer frame becomes free when the program of its data ends.
    pub leaving: bool,
    /// True if the data of this buffer frame was trimmed, so that the mapping no longer points
    /// here.
    pub orphan: bool,
    /// True if part of this frame's data came from a flash page that held wrong data, which nobody
    /// noticed.
    pub wrong: bool,
    /// List of the buffer that this frame is in.
    pub listed: Listed,
    /// Stream tag of this frame's data: access class, hotness and placement handle.
    pub tag: StreamTag,
    /// Size in pages of the request that last wrote the data.
    pub group: u16,
    /// Number of reads of the page while in the buffer, the first one included (C_r of HIRE,
    /// section 3.1).
    pub reads: u16,
    /// Number of writes of the page while in the buffer, the first one included (C_w of HIRE,
    /// section 3.1).
    pub writes: u16,
    /// Time of the last use of the frame, counted in uses of the buffer.
    used: u64,
    /// Flush epoch of the dirty data in the frame: the number of flushes begun before the data was
    /// written.
    pub epoch: u32,
    link: Link<FrameId>,
}

impl Frame {
    /// Resets this buffer frame for a page of which it holds no part yet.
    #[inline]
    fn begin(&mut self, lpn: Lpn, unit: UnitId) {
        self.lpn = lpn;
        self.unit = unit;
        self.present = 0;
        self.wrong = false;
        (self.reads, self.writes) = (0, 0);
        (self.tag, self.group) = (StreamTag::PLAIN, 0);
    }
}

impl Linked<FrameId> for Frame {
    #[inline]
    fn link(&self) -> &Link<FrameId> {
        &self.link
    }
    #[inline]
    fn link_mut(&mut self) -> &mut Link<FrameId> {
        &mut self.link
    }
}

/// The next frame to leave the buffer, and the way in which it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// A clean page leaves the write buffer: it is dropped.
    Drop(FrameId),
    /// A dirty page leaves the write buffer: it is programmed.
    Program {
        /// Buffer frame of the page that leaves the write buffer.
        frame_id: FrameId,
        /// True if the buffer frame is to become free when the program of its page ends.
        room: bool,
    },
}

/// The write buffer: page frames and their lists.
#[derive(Clone, Debug)]
pub struct Buffer {
    frames: Table<FrameId, Frame>,
    free: Vec<FrameId>,
    /// Dirty frames, from least to most recently used.
    dirty: List<FrameId>,
    /// Clean frames, from least to most recently used.
    clean: List<FrameId>,
    rewrite: List<FrameId>,
    rewrites_most: u32,
    replacement: AnyReplacement,
    uses: u64,
    leaving: u32,
    /// True if frames of the write buffer keep their data after it is written to the flash.
    retains: bool,
    evict_ahead: u32,
    /// Number of buffer frames needed by a waiting write that takes several at once.
    wanted: u32,
    sector: u64,
    full: u64,
    /// Size of a page in bytes, rounded up to whole sectors of the bitmap [`Frame::present`].
    page_end: u64,
    epoch: u32,
    /// Number of writes of pages in the present flush epoch whose data is not yet in the flash.
    newest: u32,
    /// Flush epochs that have ended, oldest first, each with the number of page writes whose data
    /// is not yet in the flash.
    older: VecDeque<(u32, u32)>,
}

impl Buffer {
    /// Creates an empty write buffer of `frames` frames for pages of `page_size` bytes, which
    /// evicts pages until `ahead` frames are free or about to be. `flushes` is the maximum number
    /// of flushes at once.
    pub fn new(
        config: &BufferConfig,
        replacement: &replacement::Params,
        (frames, ahead): (u32, u32),
        page_size: u64,
        flushes: usize,
    ) -> Self {
        let blank = Frame {
            lpn: Lpn::NONE,
            unit: UnitId::NONE,
            present: 0,
            queued: TxnId::NONE,
            programs: 0,
            leaving: false,
            orphan: false,
            wrong: false,
            listed: Listed::No,
            tag: StreamTag::PLAIN,
            group: 0,
            reads: 0,
            writes: 0,
            used: 0,
            epoch: 0,
            link: Link::NONE,
        };
        let sector = (page_size / 64).max(512);
        let sectors = page_size.div_ceil(sector);
        // SAFETY: frame IDs are created only here, in `free`, all below `frames`. The mapping
        // stores them while a frame holds a page. No mapping from elsewhere contains any: a saved
        // one that does is rejected (`untimed/checkpoint.rs`), and preconditioning uses no frames.
        #[allow(unsafe_code, reason = "see `Table`")]
        let places = unsafe { Table::new(vec![blank; frames as usize]) };
        Self {
            frames: places,
            free: (0..frames as usize).rev().map(FrameId::new).collect(),
            dirty: List::EMPTY,
            clean: List::EMPTY,
            rewrite: List::EMPTY,
            rewrites_most: ((f64::from(frames) * config.rewrite_share) as u32).max(1),
            replacement: AnyReplacement::new(replacement, 0),
            uses: 0,
            leaving: 0,
            retains: config.size.0 >= page_size,
            evict_ahead: ahead.min(frames),
            wanted: 0,
            sector,
            page_end: sectors * sector,
            full: if sectors == 64 { u64::MAX } else { (1 << sectors) - 1 },
            epoch: 0,
            newest: 0,
            older: VecDeque::with_capacity(flushes + 2),
        }
    }

    /// Returns the memory that `frames` frames take on the simulating machine.
    pub fn bytes(frames: u32) -> Bytes {
        Bytes::of::<Frame>(frames.into()) + Bytes::of::<FrameId>(frames.into())
    }

    /// Returns a frame of the write buffer.
    #[inline]
    pub fn get(&self, frame_id: FrameId) -> &Frame {
        &self.frames[frame_id]
    }

    /// Returns a frame of the write buffer for modification.
    #[inline]
    pub fn get_mut(&mut self, frame_id: FrameId) -> &mut Frame {
        &mut self.frames[frame_id]
    }

    /// Iterates over the frames of the write buffer that hold a page.
    pub fn used(&self) -> impl Iterator<Item = (FrameId, &Frame)> {
        self.frames
            .ids()
            .map(|id| (id, &self.frames[id]))
            .filter(|(_, frame_id)| frame_id.lpn.is_some())
    }

    /// Returns the number of empty frames in the write buffer.
    pub fn free_count(&self) -> usize {
        self.free.len()
    }

    /// Takes an empty frame of the write buffer for a page; `None` if there is none.
    #[inline]
    pub fn take(&mut self, lpn: Lpn, unit: UnitId) -> Option<FrameId> {
        let id = self.free.pop()?;
        debug_assert!(self.is_free(id), "a frame in use was in the list of free frames");
        self.frames[id].begin(lpn, unit);
        Some(id)
    }

    /// Returns true if a frame of the write buffer holds no page and no program of its data is
    /// pending.
    fn is_free(&self, id: FrameId) -> bool {
        let Frame { lpn, listed, programs, queued, leaving, orphan, .. } = self.frames[id];
        let holds = lpn.is_some() || leaving || orphan;
        !holds && listed == Listed::No && programs == 0 && !queued.is_some()
    }

    /// Reuses the frame of a clean page for another page. Returns the page that left, and its copy
    /// in the flash.
    #[inline]
    pub fn take_clean(&mut self, id: FrameId, lpn: Lpn, unit: UnitId) -> (Lpn, UnitId) {
        let frame = &mut self.frames[id];
        debug_assert!(frame.listed == Listed::Clean && !frame.orphan && !frame.queued.is_some());
        frame.listed = Listed::No;
        let left = (frame.lpn, frame.unit);
        if std::mem::take(&mut frame.leaving) {
            self.leaving -= 1;
        }
        frame.begin(lpn, unit);
        self.clean.remove(&mut self.frames, id);
        left
    }

    /// Empties a frame of the write buffer that is in no list and whose data is not being
    /// programmed.
    #[inline]
    pub fn release(&mut self, id: FrameId) {
        let frame_id = &mut self.frames[id];
        debug_assert!(
            frame_id.listed == Listed::No && frame_id.programs == 0 && !frame_id.queued.is_some()
        );
        if frame_id.leaving {
            self.leaving -= 1;
        }
        frame_id.leaving = false;
        frame_id.orphan = false;
        frame_id.lpn = Lpn::NONE;
        frame_id.unit = UnitId::NONE;
        debug_assert!(self.is_free(id));
        self.free.push(id);
    }

    /// Returns the frame of a clean page to reuse when a write needs a buffer frame immediately;
    /// `None` if the page that the replacement policy evicts next is not clean.
    #[inline(always)]
    pub fn to_empty(&self) -> Option<FrameId> {
        if !self.rewrite.is_empty() {
            return self.rewrite.front();
        }
        if !self.drops_ahead() {
            return self.clean.front(); // Clean frames count as free.
        }
        if self.replacement.leaves(self) == Some(Leaves::Clean) { self.clean.front() } else { None }
    }

    /// Iterates over the buffer frames whose pages wait to be reprogrammed, the longest-waiting
    /// first.
    pub fn to_rewrite(&self) -> impl Iterator<Item = FrameId> {
        self.rewrite.iter(&self.frames)
    }

    /// Returns the maximum number of buffer frames whose pages may wait to be reprogrammed.
    pub fn rewrites_most(&self) -> u32 {
        self.rewrites_most
    }

    /// Returns the number of buffer frames whose pages wait to be reprogrammed in idle time.
    pub fn rewrites(&self) -> u32 {
        self.rewrite.len()
    }

    /// Returns true if the buffer drops clean pages before a write needs their frames.
    #[inline]
    pub fn drops_ahead(&self) -> bool {
        self.replacement.drops_ahead()
    }

    /// Counts a read or a write of the page in a buffer frame.
    #[inline]
    pub fn count(&mut self, id: FrameId, wrote: bool) {
        let frame_id = &mut self.frames[id];
        let hits = if wrote { &mut frame_id.writes } else { &mut frame_id.reads };
        *hits += 1;
        if *hits == u16::MAX {
            // Only the ratio matters.
            (frame_id.reads, frame_id.writes) = (frame_id.reads / 2, frame_id.writes / 2);
        }
    }

    /// Returns true if any frame of the write buffer holds data that is not in the flash.
    #[inline]
    pub fn has_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Returns the next frame to leave the buffer, if too few frames are free or a flush waits;
    /// `None` otherwise.
    pub fn due(&self, flushing: bool) -> Option<Due> {
        let room = self.free.len() as u32 + self.leaving;
        let ahead = self.evict_ahead + self.wanted;
        let oldest = self.dirty.front();
        if !self.drops_ahead() {
            let short = room + self.clean.len() < ahead;
            let due = oldest.filter(|_| short || flushing);
            return due.map(|frame_id| Due::Program { frame_id, room: short });
        }
        let short = room < ahead;
        if let Some(frame_id) = oldest.filter(|_| flushing) {
            return Some(Due::Program { frame_id, room: short });
        }
        match self.replacement.leaves(self).filter(|_| short)? {
            Leaves::Clean => self.clean.front().map(Due::Drop),
            Leaves::Dirty => oldest.map(|frame_id| Due::Program { frame_id, room: true }),
        }
    }

    /// Returns true if the write buffer has frames for `pages` pages. If not, that number of frames
    /// is freed before any other page gets one.
    pub fn has_room(&mut self, pages: u32) -> bool {
        let clean = if self.drops_ahead() { 0 } else { self.clean.len() };
        let has = self.free.len() as u32 + clean >= pages;
        self.wanted = if has { 0 } else { pages };
        has
    }

    /// Marks a frame of the buffer to become free when its program ends.
    pub fn leave(&mut self, id: FrameId) {
        debug_assert!(!self.frames[id].leaving);
        self.frames[id].leaving = true;
        self.leaving += 1;
    }

    /// Keeps the page in a buffer frame that was to become free when its program ends, because the
    /// page was written again.
    pub fn stay(&mut self, id: FrameId) {
        if self.frames[id].leaving {
            self.frames[id].leaving = false;
            self.leaving -= 1;
        }
    }

    /// Marks a buffer frame as clean if its data stays in the buffer and no program of the data is
    /// pending. Returns true if the frame is clean now.
    #[inline]
    pub fn stays_clean(&mut self, id: FrameId) -> bool {
        let frame = &mut self.frames[id];
        let rests = frame.programs == 0 && !frame.queued.is_some() && !frame.orphan;
        let stays = self.retains && rests && !frame.leaving && frame.listed != Listed::Dirty;
        if stays {
            debug_assert_eq!(frame.listed, Listed::No);
            frame.listed = Listed::Clean;
            frame.used = self.uses;
            self.uses += 1;
            self.clean.push_back(&mut self.frames, id);
        }
        stays
    }

    /// Adds a buffer frame to a list of the buffer (dirty, clean or to be reprogrammed), as the
    /// most recently used one.
    #[inline]
    pub fn enlist(&mut self, id: FrameId, listed: Listed) {
        debug_assert_eq!(self.frames[id].listed, Listed::No);
        self.frames[id].listed = listed;
        self.frames[id].used = self.uses;
        self.uses += 1;
        let (list, frames) = self.list(listed);
        list.push_back(frames, id);
    }

    /// Removes a buffer frame from its list (dirty, clean or to be reprogrammed), if it is in one.
    /// Forced inline: a call costs a sequential write 0.6 % more instructions.
    #[inline(always)]
    pub fn delist(&mut self, id: FrameId) {
        let listed = self.frames[id].listed;
        if listed == Listed::No {
            return;
        }
        self.frames[id].listed = Listed::No;
        let (list, frames) = self.list(listed);
        list.remove(frames, id);
    }

    /// Moves a used buffer frame to the most recently used end of its list, or from the list of
    /// pages to be reprogrammed to the clean one. A dirty frame that a flush waits for keeps its
    /// place, so that it leaves however often it is used.
    pub fn touch(&mut self, id: FrameId) {
        let Frame { listed, epoch, .. } = self.frames[id];
        let awaited = listed == Listed::Dirty && epoch < self.epoch;
        if listed != Listed::No && !awaited {
            self.delist(id);
            // A page that is read again is no longer about to leave.
            self.enlist(id, if listed == Listed::Rewrite { Listed::Clean } else { listed });
        }
    }

    /// Returns one of the lists of buffer frames (dirty, clean or to be reprogrammed), and the
    /// table of all frames.
    fn list(&mut self, listed: Listed) -> (&mut List<FrameId>, &mut Table<FrameId, Frame>) {
        let list = match listed {
            Listed::Dirty => &mut self.dirty,
            Listed::Clean => &mut self.clean,
            Listed::Rewrite => &mut self.rewrite,
            Listed::No => unreachable!("no list"),
        };
        (list, &mut self.frames)
    }

    /// Returns the parts of a page, as bits of [`Frame::present`], that lie wholly within the bytes
    /// `from..to`.
    #[inline]
    pub fn covered(&self, (from, to): (u64, u64)) -> u64 {
        if from == 0 && to == self.page_end {
            return self.full;
        }
        self.covered_in_part((from, to))
    }

    #[inline(never)]
    fn covered_in_part(&self, (from, to): (u64, u64)) -> u64 {
        let first = from.div_ceil(self.sector);
        // The page's end may cut its last sector short.
        let last =
            if to == self.page_end { self.full.count_ones().into() } else { to / self.sector };
        if first >= last {
            return 0;
        }
        let below = |bits: u64| if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        below(last) & !below(first)
    }

    /// Returns the parts of a page, as bits of [`Frame::present`], that the bytes `from..to` touch.
    pub fn touched(&self, (from, to): (u64, u64)) -> u64 {
        self.covered((from / self.sector * self.sector, (to.div_ceil(self.sector) * self.sector)))
    }

    /// Returns true if a buffer frame holds all parts of its page.
    pub fn is_whole(&self, id: FrameId) -> bool {
        self.frames[id].present == self.full
    }

    /// Returns true if the newest data of a page in the buffer can be had without its copy in the
    /// flash: the buffer frame holds data yet to be programmed, or all parts of the page.
    pub fn holds_newest(&self, id: FrameId) -> bool {
        !self.is_clean(id) || self.is_whole(id)
    }

    /// Returns true if all data of a buffer frame is also in the flash.
    pub fn is_clean(&self, id: FrameId) -> bool {
        let Frame { queued, listed, programs, .. } = self.frames[id];
        !queued.is_some() && listed != Listed::Dirty && programs == 0
    }

    /// Returns a mask with the bits of all parts of a page, as [`Frame::present`] has them.
    #[inline]
    pub fn whole(&self) -> u64 {
        self.full
    }

    /// Marks a buffer frame as holding all parts of its page.
    pub fn make_whole(&mut self, id: FrameId) {
        self.frames[id].present = self.full;
    }

    // --- Flush epochs ---

    /// Counts a page write whose data is not in the flash yet. Returns its flush epoch.
    #[inline]
    pub fn born(&mut self) -> u32 {
        self.newest += 1;
        self.epoch
    }

    /// Records that the data of a page write of this flush epoch is in the flash, or no longer
    /// wanted.
    #[inline]
    pub fn settled(&mut self, epoch: u32) {
        if epoch == self.epoch {
            self.newest -= 1;
        } else {
            self.settled_later(epoch);
        }
    }

    /// Records that the data of a page write of an ended flush epoch is in the flash, or no longer
    /// wanted, and drops the oldest epochs that wait for no data.
    #[cold]
    fn settled_later(&mut self, epoch: u32) {
        let older = self.older.iter_mut().find(|(older_epoch, _)| *older_epoch == epoch);
        older.expect("an epoch with unsettled data is listed").1 -= 1;
        while self.older.front().is_some_and(|&(_, count)| count == 0) {
            self.older.pop_front();
        }
    }

    /// Ends the present flush epoch and returns it. A flush waits for all data of that epoch and
    /// earlier ones.
    pub fn end_epoch(&mut self) -> u32 {
        if self.newest > 0 {
            debug_assert!(self.older.back().is_none_or(|&(latest, _)| latest < self.epoch));
            self.older.push_back((self.epoch, std::mem::take(&mut self.newest)));
        }
        self.epoch += 1;
        self.epoch - 1
    }

    /// Returns true if all data written up to the end of the flush epoch `epoch`, the time between
    /// two flush requests, is in the flash or no longer wanted.
    pub fn is_settled(&self, epoch: u32) -> bool {
        debug_assert!(epoch < self.epoch);
        self.older.front().is_none_or(|&(oldest, _)| oldest > epoch)
    }
}

impl Tail for Buffer {
    fn clean(&self) -> Option<u64> {
        self.clean.front().map(|oldest| self.frames[oldest].used)
    }

    fn dirty(&self) -> Option<u64> {
        self.dirty.front().map(|oldest| self.frames[oldest].used)
    }

    fn dirty_before(&self, used: u64, most: u32) -> u32 {
        let oldest = self.dirty.iter(&self.frames).take(most as usize);
        oldest.take_while(|&at| self.frames[at].used < used).count() as u32
    }
}
