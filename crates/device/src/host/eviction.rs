//! Eviction of frames from the write buffer.
//!
//! 1. [`Ftl::evict`] asks the buffer for the next frame to leave, as long as frames are short or a
//!    flush waits, and the write queue has room.
//! 2. If the replacement policy chooses a clean page, it is dropped. A dirty page is removed from
//!    its list and programmed ([`Ftl::take_out`], [`Ftl::send_out`]); its frame becomes free, or
//!    clean, when the program ends.
//! 3. The access class of the page is recorded when it leaves ([`Ftl::note_use`]), which decides
//!    the voltages of later programs (HIRE, sections 3.1 and 3.2).
//!
//! Exceptions:
//!
//! - A frame that is needed at once is taken from a clean page ([`Ftl::new_frame`]).
//! - A clean page that is read-hot and was programmed at other voltages is not dropped: it waits in
//!   the buffer, and is reprogrammed by a die that is idle ([`Ftl::rewrite`]).
//! - On a drive with stripes, redundancy evicts more frames of the same stripe with it
//!   (`raid/stripe_eviction.rs`).
//! - A page that was read from the flash may stay in the buffer ([`Ftl::keep_read`]).

use super::Ftl;
use super::redundancy_hooks::RedundancyHooks;
use crate::cache::buffer::{Due, Frame, Listed};
use crate::config::ReadHot;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::Owner;
use crate::mapping::page_map::Location;
use crate::observe::operation::{Op, Source};
use crate::policy::hotness::Used;
use crate::policy::stream_tag::{AccessClass, StreamTag};
use fowler_units::{DieId, FrameId, Id, Lpn, UnitId};

impl Ftl {
    /// Records a use of a buffer frame: moves it to the most recently used end of its list in the
    /// buffer.
    #[inline]
    pub fn use_frame<R: RedundancyHooks>(&mut self, frame_id: FrameId, raid: &mut R) {
        self.core.buffer.touch(frame_id);
        raid.frame_used(self, frame_id);
    }

    /// Evicts dirty buffer frames to the flash while frames are short or a flush waits.
    #[inline]
    pub fn evict<R: RedundancyHooks>(&mut self, flash: &mut Flash, raid: &mut R) {
        if self.core.buffer.has_dirty() || self.core.buffer.drops_ahead() {
            self.evict_due(flash, raid);
        }
    }

    pub(super) fn evict_due<R: RedundancyHooks>(&mut self, flash: &mut Flash, raid: &mut R) {
        while self.queues.writes < self.queues.writes_max {
            let flushing = !self.queues.flushes.is_empty() || self.queues.writing_out;
            let Some(due) = self.core.buffer.due(flushing) else { return };
            let (frame_id, room) = match due {
                Due::Drop(frame_id) => {
                    self.give_up(flash, frame_id);
                    continue;
                }
                Due::Program { frame_id, room } => (frame_id, room),
            };
            raid.evict(self, flash, frame_id, room);
        }
    }

    /// Removes a dirty frame from the write buffer's list; if `room` is true, the frame becomes
    /// free when the program of its data ends.
    pub fn take_out(&mut self, flash: &mut Flash, frame_id: FrameId, room: bool) {
        if room {
            self.note_use(flash, frame_id);
        }
        self.core.buffer.delist(frame_id);
        if room && !self.core.buffer.get(frame_id).leaving {
            self.core.buffer.leave(frame_id);
        }
    }

    /// Sends the data of an evicted frame to the flash.
    pub fn send_out<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        frame_id: FrameId,
        raid: &mut R,
    ) {
        let program = self.open_program(flash, frame_id);
        flash.txns.get_mut(program).epoch = self.core.buffer.get(frame_id).epoch;
        self.send(flash, frame_id, program, raid);
    }

    /// Keeps a page read from the flash in the buffer, if a frame is available immediately.
    pub fn keep_read<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        page: Lpn,
        from: UnitId,
        raid: &mut R,
    ) {
        match self.core.map.place(page) {
            Location::Flash(now) if now == from => {
                let Some(frame_id) = self.new_frame(flash, page, from) else { return };
                self.core.map.set_buffered(page, frame_id);
                self.core.buffer.make_whole(frame_id);
                self.core.buffer.get_mut(frame_id).wrong = raid.reads_wrong(from);
                self.core.buffer.count(frame_id, false);
                self.core.buffer.enlist(frame_id, Listed::Clean);
                self.evict(flash, raid);
            }
            // Another request has read the page at the same time.
            Location::Buffer(frame_id) => {
                self.core.buffer.count(frame_id, false);
                self.core.buffer.touch(frame_id);
            }
            Location::Flash(_) | Location::Nowhere => {}
        }
    }

    /// Returns a frame for a page that is not in the buffer: an empty frame, or the frame of a
    /// clean page, which is dropped. `None` if there is neither.
    #[inline(always)]
    pub(super) fn new_frame(
        &mut self,
        flash: &mut Flash,
        page: Lpn,
        unit: UnitId,
    ) -> Option<FrameId> {
        let empty = self.core.buffer.take(page, unit);
        if empty.is_some() {
            return empty;
        }
        let clean = self.core.buffer.to_empty()?;
        if self.core.buffer.get(clean).listed != Listed::Clean {
            self.drop_clean(flash, clean);
            return self.core.buffer.take(page, unit);
        }
        self.note_use(flash, clean);
        let (left, copy) = self.core.buffer.take_clean(clean, page, unit);
        self.core.map.set_flash(left, copy);
        Some(clean)
    }

    /// Records the access class of a page that leaves the buffer.
    #[inline]
    pub fn note_use(&mut self, flash: &mut Flash, frame_id: FrameId) -> AccessClass {
        if self.core.classes.asks() {
            return self.classify(flash, frame_id);
        }
        flash.counters.left[AccessClass::Mixed] += 1;
        AccessClass::Mixed
    }

    /// Returns the access class of a page that leaves the buffer, for [`Ftl::note_use`] when access
    /// classes are in use.
    #[inline(never)]
    fn classify(&mut self, flash: &mut Flash, frame_id: FrameId) -> AccessClass {
        let Frame { lpn, reads, writes, .. } = *self.core.buffer.get(frame_id);
        let class = self.core.classes.hotness.class(Used { lpn, reads, writes, now: flash.now() });
        flash.counters.left[class] += 1;
        if let Some(marks) = &mut self.core.classes.marks {
            marks[lpn] = self.core.allocator.open_blocks.voltage_of(StreamTag::new(false, class));
        }
        class
    }

    /// Drops a clean page, or lets it wait to be reprogrammed.
    /// See docs/decisions/cache.md, "What happens to a clean page that was read hot?".
    pub fn give_up(&mut self, flash: &mut Flash, frame_id: FrameId) {
        let class = self.note_use(flash, frame_id);
        if self.core.classes.read_hot == ReadHot::RewriteOnIdle
            && class == AccessClass::ReadHot
            && self.gains(frame_id)
        {
            self.let_wait(flash, frame_id);
        } else {
            self.empty(frame_id);
        }
    }

    /// Drops a clean page immediately, because its frame is needed.
    #[cold]
    pub fn drop_clean(&mut self, flash: &mut Flash, frame_id: FrameId) {
        if self.core.buffer.get(frame_id).listed == Listed::Rewrite {
            flash.counters.rewritten.given_up += 1;
        } else {
            self.note_use(flash, frame_id);
        }
        self.empty(frame_id);
    }

    pub(super) fn empty(&mut self, frame_id: FrameId) {
        let Frame { lpn, unit, .. } = *self.core.buffer.get(frame_id);
        self.core.map.set_flash(lpn, unit);
        self.core.buffer.delist(frame_id);
        self.core.buffer.release(frame_id);
    }

    /// Returns true if a read-hot page is programmed at other voltages than its class requires, so
    /// that reprogramming it gains something.
    pub(super) fn gains(&self, frame_id: FrameId) -> bool {
        let unit = self.core.buffer.get(frame_id).unit;
        let block = self.core.locator.block_of(unit);
        let wanted =
            self.core.allocator.open_blocks.voltage_of(StreamTag::new(false, AccessClass::ReadHot));
        unit.is_some() && self.core.allocator.open_blocks.mode_of(block).voltage != wanted
    }

    /// Queues a read-hot page for reprogramming.
    /// See docs/decisions/cache.md, "Where is a read-hot page reprogrammed?".
    pub(super) fn let_wait(&mut self, flash: &mut Flash, frame_id: FrameId) {
        self.core.buffer.delist(frame_id);
        self.core.buffer.enlist(frame_id, Listed::Rewrite);
        if self.core.buffer.rewrites() > self.core.buffer.rewrites_most() {
            let oldest = self.core.buffer.to_rewrite().next();
            self.drop_clean(flash, oldest.expect("the list is over its limit"));
        }
        let turn = DieId((self.core.classes.rewriter.0 + 1) % self.core.layout.geometry.dies());
        self.core.classes.rewriter =
            self.core.allocator.home(self.core.buffer.get(frame_id).lpn).unwrap_or(turn);
        if flash.die(self.core.classes.rewriter).is_idle() {
            let rewriter = self.core.classes.rewriter;
            self.gc.on_die_idle(&mut self.core, flash, rewriter);
        }
    }

    /// Reprograms the longest-waiting page that may lie on the die `die`, which has been idle for
    /// long enough. Returns true if there was one.
    pub fn rewrite<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        die: DieId,
        raid: &mut R,
    ) -> bool {
        if self.queues.writes == self.queues.writes_max {
            return false;
        }
        let lpn = |frame_id: FrameId| self.core.buffer.get(frame_id).lpn;
        let may_lie = |frame_id: &FrameId| {
            self.core.allocator.home(lpn(*frame_id)).is_none_or(|home| home == die)
        };
        let Some(frame_id) = self.core.buffer.to_rewrite().find(may_lie) else { return false };
        // Pages of stripes are tied to a die.
        let anywhere = raid.lies_anywhere();
        if anywhere && !self.core.allocator.takes_in(die) {
            return false;
        }
        self.core.buffer.delist(frame_id);
        self.core.buffer.leave(frame_id);
        let owner = Owner::Frame(frame_id);
        let class = TxnClass::HostProgram;
        let chosen_die = if anywhere { die } else { DieId::NONE };
        let (id, txn) = flash.open(Op::Program, Source::Refresh, class, owner, chosen_die);
        let frame = self.core.buffer.get_mut(frame_id);
        (txn.lpn, txn.from) = (frame.lpn, frame.unit);
        txn.tag = frame.tag.with_class(AccessClass::ReadHot);
        // No request waits for this program, so it ranks after every write with a waiting request.
        txn.group = u16::MAX;
        frame.queued = id;
        txn.epoch = self.core.buffer.born();
        self.queues.writes += 1;
        flash.counters.rewritten.anew += 1;
        if anywhere {
            flash.submit(id);
        } else {
            raid.proceed(self, flash, id);
        }
        true
    }
}
