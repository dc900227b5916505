//! Host writes: into page frames, and to the flash immediately or later.
//!
//! 1. [`Ftl::write_pages`] processes one page of the request after another.
//! 2. The page gets a frame: the one that holds the page already, an empty one, or that of a clean
//!    page ([`Ftl::frame_for`]). The mapping points at the frame from then on.
//! 3. If a write is acknowledged when it is programmed (`buffer.ack = "on_program"`), the program
//!    is opened now; a page that waits for a program already joins it ([`Ftl::join`]).
//! 4. If a write is acknowledged when it is in the buffer (`"on_insert"`), the page ends now, and
//!    its frame becomes dirty ([`Ftl::write_back`]).
//!
//! A page stops its request if the write queue is full, no frame is available, or its mapping entry
//! is not in memory. The request waits in line with all later writes and trims, and resumes there
//! ([`Ftl::resume_writes`]). A resumed write may unblock others of its stripe while the line is
//! being worked off: such a nested call only asks for another round.

use super::reads::Sent;
use super::redundancy_hooks::RedundancyHooks;
use super::request::{Request, Stall};
use super::{Ftl, Resuming};
use crate::cache::buffer::{Frame, Listed};
use crate::config::Ack;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::Owner;
use crate::mapping::Waiter;
use crate::observe::blame::Part;
use crate::observe::operation::{Op, Source};
use crate::policy::hotness::Used;
use fowler_units::{DieId, FrameId, HostOp, Id, Lpn, ReqId, TxnId};

impl Ftl {
    /// Issues a request's page writes as far as there is room. Returns true if all were issued.
    pub(super) fn write_pages<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        raid: &mut R,
    ) -> bool {
        loop {
            let request = self.front.requests.get(id);
            if request.next == request.end {
                return true;
            }
            let page = raid.stored_page(Lpn(request.next));
            let written = raid.write(self, flash, id, page);
            if let Err(stall) = written {
                self.stall(flash, id, stall);
                return false;
            }
        }
    }

    /// Records the reason for which the next page of a request waits from now on.
    pub(super) fn stall(&mut self, flash: &Flash, id: ReqId, stall: Stall) {
        let now = flash.now();
        let request = self.front.requests.get_mut(id);
        request.end_stall(now);
        request.stalled = Some((stall, now));
    }

    /// Records that the next page of a request no longer waits.
    pub(super) fn release_stall(&mut self, flash: &Flash, id: ReqId) {
        self.front.requests.get_mut(id).end_stall(flash.now());
    }

    /// Issues the pages of a write or trim, as far as there is room. Returns true if all were
    /// issued. Not inlined, so that the path of reads stays short.
    #[inline(never)]
    pub(super) fn send_pages<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        raid: &mut R,
    ) -> bool {
        match self.front.requests.get(id).io.op {
            HostOp::Write => self.write_pages(flash, id, raid),
            // A read that misses the mapping is resumed when the entry is loaded.
            HostOp::Read => self.read_pages(flash, id, raid) != Sent::NoRoom,
            HostOp::Trim | HostOp::Flush => self.trim(flash, id, raid),
        }
    }

    /// Starts a write or trim, or puts it in the line of requests that wait for room in the drive.
    #[inline]
    pub(super) fn take_write<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        raid: &mut R,
    ) {
        if let Some(head) = self.front.line.first() {
            // A request in line waits for the same resource as the head of the line.
            let stalled = self.front.requests.get(head).stalled;
            self.front.requests.get_mut(id).stalled =
                stalled.map(|(stall, _)| (stall, flash.now()));
            self.front.line.push_write(id);
        } else if !self.send_pages(flash, id, raid) {
            self.front.line.push_write(id);
        }
    }

    /// Takes writes and trims from the submission queues, until the maximum number of them waits
    /// for room in the drive.
    #[inline(never)]
    pub(super) fn take_writes<R: RedundancyHooks>(&mut self, flash: &mut Flash, raid: &mut R) {
        while let Some(id) = self.front.line.next_of_queues() {
            self.take_write(flash, id, raid);
        }
    }

    /// Resumes requests that wait for room in the write queue or the buffer, as far as there is
    /// room.
    #[inline]
    pub fn resume_writes<R: RedundancyHooks>(&mut self, flash: &mut Flash, raid: &mut R) {
        if !self.front.line.is_empty() {
            self.resume_stalled(flash, raid);
        }
    }

    /// Resumes requests that wait for room in the write queue or the buffer. A write that resumes
    /// can complete the parity of a stripe, which in turn unblocks writes behind it; a nested call
    /// only requests another attempt.
    pub(super) fn resume_stalled<R: RedundancyHooks>(&mut self, flash: &mut Flash, raid: &mut R) {
        if self.queues.resuming != Resuming::No {
            self.queues.resuming = Resuming::Again;
            return;
        }
        while let Some(id) = self.front.line.first() {
            self.queues.resuming = Resuming::Once;
            if self.send_pages(flash, id, raid) {
                self.front.line.leave(id);
                if self.front.line.arbitrates() {
                    self.take_writes(flash, raid);
                }
            } else if self.queues.resuming == Resuming::Once {
                break;
            }
        }
        self.queues.resuming = Resuming::No;
        self.resume_reads(flash, raid);
    }

    /// Resumes the reads that wait for room in the read queue, or behind writes, as far as it is
    /// their turn.
    fn resume_reads<R: RedundancyHooks>(&mut self, flash: &mut Flash, raid: &mut R) {
        while let Some(id) = self.front.line.first_read() {
            if self.read_pages(flash, id, raid) == Sent::NoRoom {
                break;
            }
            self.front.line.leave(id);
        }
    }

    /// Resumes the requests that waited for the end of another request's flash read.
    #[inline(never)]
    pub(super) fn resume_after_read<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        raid: &mut R,
    ) {
        match self.front.line.is_in_order() {
            true => self.resume_stalled(flash, raid),
            false => self.resume_reads(flash, raid),
        }
    }

    #[inline(always)]
    pub fn write_page<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        page: Lpn,
        past: bool,
        raid: &mut R,
    ) -> Result<(), Stall> {
        if (self.rules.ack == Ack::OnProgram || past)
            && self.queues.writes == self.queues.writes_max
        {
            return Err(Stall::Queue);
        }
        let frame_id = self.frame_for(flash, page)?;
        let host = raid.host_page_of(page);
        flash.counters.pages_written += 1;
        let request = self.front.requests.get_mut(id);
        // Any wait ends now, for this page too.
        request.end_stall(flash.agenda.now());
        request.next += 1;
        let covered = match request.covered {
            0 => self.core.buffer.covered(request.within(host, self.core.locator.page_size())),
            same => same,
        };
        let (tag, group) = (request.tag, request.group);
        let (ready, deadline) = (request.ready, request.deadline);
        let (buffer_wait, mapping_wait) = (request.buffer_wait, request.mapping_wait);
        let whole = self.core.buffer.whole();
        let frame = self.core.buffer.get_mut(frame_id);
        frame.present |= covered;
        raid.written(page, frame, covered == whole);
        (frame.tag, frame.group) = (tag, group);
        // Most writes that wait for the flash find no older write of their page, and continue
        // immediately.
        if self.rules.ack == Ack::OnProgram
            && !frame.queued.is_some()
            && frame.listed == Listed::No
            && !self.core.classes.hotness.tells_classes()
            && (frame.present == whole || !frame.unit.is_some())
        {
            let (class, owner) = (TxnClass::HostProgram, Owner::Frame(frame_id));
            let (program, txn) = flash.open(Op::Program, Source::Host, class, owner, DieId::NONE);
            frame.queued = program;
            (txn.lpn, txn.tag, txn.group) = (page, tag, group);
            (txn.req, txn.asked, txn.deadline) = (id, ready, deadline);
            (txn.buffer_wait, txn.mapping_wait) = (buffer_wait, self.core.map.waited(mapping_wait));
            txn.epoch = self.core.buffer.born();
            self.queues.writes += 1;
            raid.proceed(self, flash, program);
        } else {
            self.write_otherwise(flash, id, frame_id, past, raid);
        }
        Ok(())
    }

    /// Sends a page, whose data is in its frame, to the flash: now if it bypasses the buffer
    /// (`past`), or later.
    fn write_otherwise<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        frame_id: FrameId,
        past: bool,
        raid: &mut R,
    ) {
        if self.core.classes.hotness.tells_classes() {
            self.core.buffer.count(frame_id, true);
        }
        match self.rules.ack {
            Ack::OnProgram => self.write_through(flash, id, frame_id, raid),
            Ack::OnInsert if past && !self.core.buffer.get(frame_id).queued.is_some() => {
                raid.write_past(self, flash, id, frame_id);
            }
            Ack::OnInsert => self.write_back(flash, id, frame_id, raid),
        }
    }

    /// Returns the buffer frame for writing a logical page: the one that holds it, or a new one. An
    /// error is the reason why the write must wait.
    #[inline(always)]
    fn frame_for(&mut self, flash: &mut Flash, page: Lpn) -> Result<FrameId, Stall> {
        let old = match self.core.map.unit_or_frame(page) {
            Ok(unit) => unit,
            Err(frame_id) => return Ok(frame_id),
        };
        if let Err(miss) = self.core.map.bring(flash, page) {
            self.core.map.wait(miss, Waiter::Writes);
            return Err(Stall::Mapping);
        }
        let frame_id = self.new_frame(flash, page, old).ok_or(Stall::Buffer)?;
        self.core.map.set_buffered(page, frame_id);
        Ok(frame_id)
    }

    /// Writes a page through: its part of the request ends when the data is in the flash.
    pub(super) fn write_through<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        frame_id: FrameId,
        raid: &mut R,
    ) {
        let queued = self.core.buffer.get(frame_id).queued;
        let Request { ready, deadline, buffer_wait, mapping_wait, .. } =
            *self.front.requests.get(id);
        let program = self.open_program(flash, frame_id);
        let txn = flash.txns.get_mut(program);
        (txn.req, txn.asked, txn.deadline) = (id, ready, deadline);
        (txn.buffer_wait, txn.mapping_wait) = (buffer_wait, self.core.map.waited(mapping_wait));
        if queued.is_some() {
            flash.counters.buffer_write_hits += 1;
            self.join(flash, queued, program);
        } else {
            // A page that the flash has lost and the buffer still held is already queued for
            // programming.
            let waits = self.core.buffer.get(frame_id).listed == Listed::Dirty;
            txn.epoch =
                if waits { self.core.buffer.get(frame_id).epoch } else { self.core.buffer.born() };
            self.core.buffer.delist(frame_id);
            self.send(flash, frame_id, program, raid);
        }
    }

    /// Joins a page write to a program that has not begun.
    pub(super) fn join(&mut self, flash: &mut Flash, program: TxnId, id: TxnId) {
        let head = flash.txns.get_mut(program);
        let (die, next) = (head.die, std::mem::replace(&mut head.joined, id));
        let txn = flash.txns.get_mut(id);
        txn.die = die;
        txn.next = next;
        self.queues.writes += 1;
        // If the program has a die, the write waits for it too.
        if die.is_some() {
            flash.join_at(id, die);
            flash.expedite(program, id);
        }
    }

    /// Opens a program transaction for the data of a buffer frame, without a die so far.
    #[inline(always)]
    pub fn open_program(&mut self, flash: &mut Flash, frame_id: FrameId) -> TxnId {
        let Frame { lpn, mut tag, group, reads, writes, .. } = *self.core.buffer.get(frame_id);
        if self.core.classes.hotness.tells_classes() {
            let page = Used { lpn, reads, writes, now: flash.now() };
            tag = self.core.classes.classified(tag, page);
        }
        let class = TxnClass::HostProgram;
        let nowhere = DieId::NONE;
        let (id, txn) =
            flash.open(Op::Program, Source::Host, class, Owner::Frame(frame_id), nowhere);
        (txn.lpn, txn.tag, txn.group) = (lpn, tag, group);
        id
    }

    /// Writes a page back: its part of the request ends when the data is in the buffer.
    pub fn write_back<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        frame_id: FrameId,
        raid: &mut R,
    ) {
        let frame = *self.core.buffer.get(frame_id);
        if frame.queued.is_some() || frame.listed == Listed::Dirty {
            flash.counters.buffer_write_hits += 1;
            self.use_frame(frame_id, raid);
        } else {
            self.core.buffer.delist(frame_id);
            self.core.buffer.get_mut(frame_id).epoch = self.core.buffer.born();
            self.core.buffer.enlist(frame_id, Listed::Dirty);
            raid.frame_used(self, frame_id);
            self.evict(flash, raid);
        }
        if self.front.requests.page_done(id) {
            let Request { buffer_wait, mapping_wait, ready, .. } = *self.front.requests.get(id);
            let mapping_wait = self.core.map.waited(mapping_wait);
            let blame = self.front.requests.blame_anew(id);
            blame[Part::BufferFull] = buffer_wait;
            blame[Part::Mapping] = mapping_wait;
            blame[Part::QueueFull] = (flash.now() - ready) - buffer_wait - mapping_wait;
            self.front.served(flash, id);
        }
    }
}
