//! Host requests on their way in and out: into pages, through the buffer, to the flash, and back.

use crate::cache::buffer::{Due, Frame, Listed};
use crate::config::{Ack, PartialWrites, UnwrittenReads};
use crate::event::{Event, lane};
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Op, Owner, Source, Txn};
use crate::ftl::Ftl;
use crate::host::request::{Hold, Request};
use crate::mapping::page_map::Location;
use crate::observe::blame::Part;
use crate::policy::custom::Used;
use fowler_agenda::Phase;
use fowler_units::{DieId, FrameId, HostIo, HostOp, Id, Lpn, Nanos, Ppn, ReqId, Span, TxnId};

/// Whether held writes are going on, and whether they could go further than they did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resuming {
    /// They are not.
    No,
    /// They are.
    Once,
    /// They are, and something has become free meanwhile.
    Again,
}

impl Ftl {
    /// A request has come over the link, has been held for so long and no longer, and has a place.
    #[inline]
    pub fn admit(&mut self, flash: &mut Flash, io: HostIo, ready: Nanos, throttled: Span) {
        let fits = io
            .offset
            .checked_add(u64::from(io.size))
            .is_some_and(|end| end <= self.layout.logical.0);
        assert!(fits, "a request beyond the drive: {io:?} on {} bytes", self.layout.logical.0);
        let empty = io.size == 0 && matches!(io.op, HostOp::Read | HostOp::Write);
        assert!(!empty, "a request of no length: {io:?}");
        let mut request = Request::new(io, ready + throttled, &self.locator);
        request.throttled = throttled;
        if io.op == HostOp::Write {
            request.tag = self.hotness.tag_of_write(request.pages);
        }
        let id = self.requests.open(request);
        match io.op {
            HostOp::Read => {
                if !self.held_reads.is_empty() || !self.read_pages(flash, id) {
                    self.held_reads.push_back(id);
                }
            }
            // A trim keeps its place among the writes: it must not overtake one that waits.
            HostOp::Write | HostOp::Trim => {
                if let Some(&head) = self.held_writes.front() {
                    // Whoever stands in line waits for what its head waits for.
                    let held = self.requests.get(head).held;
                    self.requests.get_mut(id).held = held.map(|(hold, _)| (hold, flash.now()));
                    self.held_writes.push_back(id);
                } else if !self.write_or_trim(flash, id) {
                    self.held_writes.push_back(id);
                }
            }
            HostOp::Flush => self.flush(flash, id),
        }
    }

    // --- Reads --------------------------------------------------------------------------------------

    /// Sends a request's reads on their way as far as the queue has room. Returns whether all are.
    #[inline]
    fn read_pages(&mut self, flash: &mut Flash, id: ReqId) -> bool {
        loop {
            let request = self.requests.get_mut(id);
            if request.next == request.end {
                return true;
            }
            if self.reads == self.reads_max {
                return false;
            }
            let page = Lpn(request.next);
            request.next += 1;
            self.read_page(flash, id, self.stored_page(page));
        }
    }

    #[inline]
    fn read_page(&mut self, flash: &mut Flash, id: ReqId, page: Lpn) {
        flash.counters.pages_read += 1;
        match self.map.place(page) {
            Location::Flash(ppn) => {
                self.read_flash(flash, id, page, ppn, self.locator.die_of(ppn));
            }
            Location::Buffer(slot) => self.read_buffered(flash, id, page, slot),
            Location::Nowhere => self.read_unwritten(flash, id, page),
        }
    }

    fn read_buffered(&mut self, flash: &mut Flash, id: ReqId, page: Lpn, slot: FrameId) {
        let within =
            self.requests.get(id).within(self.host_page_of(page), self.locator.page_size());
        let wanted = self.buffer.touched(within);
        let frame = self.buffer.get(slot);
        let ppn = frame.ppn;
        // What neither buffer nor flash holds was never written, and reads as zeroes.
        if wanted & !frame.present == 0 || !ppn.is_some() {
            flash.counters.buffer_read_hits += 1;
            self.buffer.count(slot, false);
            self.use_frame(slot);
            self.read_without_flash(flash, id);
        } else {
            self.read_flash(flash, id, page, ppn, self.locator.die_of(ppn));
        }
    }

    fn read_unwritten(&mut self, flash: &mut Flash, id: ReqId, page: Lpn) {
        if self.note_failed_read(page) {
            return self.read_without_flash(flash, id);
        }
        flash.counters.unwritten_reads += 1;
        match self.unwritten {
            UnwrittenReads::Preconditioned => {
                let die = self.space.die_of_address(page);
                self.read_flash(flash, id, page, Ppn::NONE, die);
            }
            // `Error` is raised by whoever reads the counters: time goes on undisturbed meanwhile.
            UnwrittenReads::Zero | UnwrittenReads::Error => self.read_without_flash(flash, id),
        }
    }

    #[inline]
    fn read_flash(&mut self, flash: &mut Flash, id: ReqId, page: Lpn, ppn: Ppn, die: DieId) {
        self.reads += 1;
        let (read, txn) =
            flash.open(Op::Read, Source::Host, TxnClass::HostRead, Owner::Request, die);
        txn.ppn = ppn;
        txn.lpn = page;
        txn.req = id;
        txn.asked = self.requests.get(id).ready;
        if let Some(marks) = &self.marks {
            txn.read_as = Some(marks[page]);
        }
        flash.submit(read);
    }

    fn read_without_flash(&mut self, flash: &mut Flash, id: ReqId) {
        let waited = flash.now() - self.requests.get(id).ready;
        if self.requests.page_done(id) {
            self.requests.blame_anew(id)[Part::QueueFull] = waited;
            self.served(flash, id);
        }
    }

    /// A page has been read for a host request.
    #[inline(always)]
    pub(crate) fn page_read(&mut self, flash: &mut Flash, id: TxnId) {
        let txn = flash.txns.get(id);
        let Txn { req, created, lpn, ppn, .. } = *txn;
        if txn.overtook {
            self.requests.get_mut(req).overtook = true;
        }
        self.reads -= 1;
        if self.requests.page_done(req) {
            let waited = created - self.requests.get(req).ready;
            let blame = self.requests.blame_anew(req);
            blame[Part::QueueFull] = waited;
            flash.service_blame(id, id, blame);
            self.served(flash, req);
        }
        flash.txns.close(id);
        if self.cache_reads {
            self.keep_read(flash, lpn, ppn);
        }
        while let Some(&held) = self.held_reads.front() {
            if !self.read_pages(flash, held) {
                break;
            }
            self.held_reads.pop_front();
        }
    }

    // --- Writes -------------------------------------------------------------------------------------

    /// Sends a request's writes on their way as far as there is room. Returns whether all are.
    fn write_pages(&mut self, flash: &mut Flash, id: ReqId) -> bool {
        loop {
            let request = self.requests.get(id);
            if request.next == request.end {
                return true;
            }
            let page = self.stored_page(Lpn(request.next));
            let written = match self.passes_caches(id) {
                true => self.write_part(flash, id, page),
                false => self.write_page(flash, id, page),
            };
            if let Err(hold) = written {
                self.hold(flash, id, hold);
                return false;
            }
        }
    }

    fn hold(&mut self, flash: &Flash, id: ReqId, hold: Hold) {
        let now = flash.now();
        let request = self.requests.get_mut(id);
        if let Some((Hold::Buffer, since)) = request.held {
            request.buffer_wait += now - since;
        }
        request.held = Some((hold, now));
    }

    fn release_hold(&mut self, flash: &Flash, id: ReqId) {
        let request = self.requests.get_mut(id);
        if request.held.is_none() {
            return; // As most are: there is nothing to write.
        }
        if let Some((Hold::Buffer, since)) = request.held.take() {
            request.buffer_wait += flash.now() - since;
        }
    }

    fn write_or_trim(&mut self, flash: &mut Flash, id: ReqId) -> bool {
        if self.requests.get(id).io.op == HostOp::Write {
            self.write_pages(flash, id)
        } else {
            self.trim(flash, id)
        }
    }

    /// Lets held writes and trims go on as far as there is room.
    #[inline]
    pub(crate) fn resume_writes(&mut self, flash: &mut Flash) {
        if !self.held_writes.is_empty() {
            self.resume_held(flash);
        }
    }

    /// One that goes on can end the parity of a stripe, which lets those behind it go on: they do when it is done.
    fn resume_held(&mut self, flash: &mut Flash) {
        if self.resuming != Resuming::No {
            self.resuming = Resuming::Again;
            return;
        }
        while let Some(&id) = self.held_writes.front() {
            self.resuming = Resuming::Once;
            if self.write_or_trim(flash, id) {
                self.held_writes.pop_front();
            } else if self.resuming == Resuming::Once {
                break;
            }
        }
        self.resuming = Resuming::No;
    }

    #[inline(always)]
    pub(crate) fn write_page(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        page: Lpn,
    ) -> Result<(), Hold> {
        let past = self.passes_caches(id);
        if (self.ack == Ack::OnProgram || past) && self.writes == self.writes_max {
            return Err(Hold::Queue);
        }
        let slot = self.frame_for(flash, page).ok_or(Hold::Buffer)?;
        // Any wait until now is over, for this page too.
        self.release_hold(flash, id);
        flash.counters.pages_written += 1;
        self.note_write(page);
        let host = self.host_page_of(page);
        let request = self.requests.get_mut(id);
        request.next += 1;
        let covered = self.buffer.covered(request.within(host, self.locator.page_size()));
        let frame = self.buffer.get_mut(slot);
        frame.present |= covered;
        if self.hotness.tells_uses() {
            self.buffer.count(slot, true);
        }
        let frame = self.buffer.get_mut(slot);
        frame.tag = request.tag;
        frame.group = request.pages.min(u32::from(u16::MAX)) as u16;
        if self.partial == PartialWrites::Overwrite {
            self.buffer.make_whole(slot);
        }
        match self.ack {
            Ack::OnProgram => self.write_through(flash, id, slot),
            Ack::OnInsert if past && !self.buffer.get(slot).queued.is_some() => {
                self.write_past(flash, id, slot);
            }
            Ack::OnInsert => self.write_back(flash, id, slot),
        }
        Ok(())
    }

    /// The frame of a logical page, one that holds it already if there is one.
    fn frame_for(&mut self, flash: &mut Flash, page: Lpn) -> Option<FrameId> {
        let location = match self.map.place(page) {
            Location::Buffer(slot) => return Some(slot),
            Location::Flash(ppn) => ppn,
            Location::Nowhere => Ppn::NONE,
        };
        let slot = match self.buffer.take(page, location) {
            Some(slot) => slot,
            None => {
                let clean = self.buffer.to_empty()?;
                self.drop_clean(flash, clean);
                self.buffer.take(page, location).expect("a frame was just emptied")
            }
        };
        self.map.set_buffered(page, slot);
        Some(slot)
    }

    /// The request is done when the data is in the flash.
    fn write_through(&mut self, flash: &mut Flash, id: ReqId, slot: FrameId) {
        let Frame { queued, submitted, .. } = *self.buffer.get(slot);
        let program = self.open_program(flash, slot);
        let txn = flash.txns.get_mut(program);
        let request = self.requests.get(id);
        txn.req = id;
        (txn.asked, txn.buffer_wait) = (request.ready, request.buffer_wait);
        if queued.is_some() {
            flash.counters.buffer_write_hits += 1;
            self.join(flash, queued, program, submitted);
        } else {
            // One that the flash has lost and the buffer had waits to be programmed already.
            let waits = self.buffer.get(slot).listed == Listed::Dirty;
            txn.epoch = if waits { self.buffer.get(slot).epoch } else { self.buffer.born() };
            self.buffer.delist(slot);
            self.send(flash, slot, program);
        }
    }

    /// A page write joins a program that has not begun.
    fn join(&mut self, flash: &mut Flash, program: TxnId, id: TxnId, waits: bool) {
        let head = flash.txns.get_mut(program);
        let (die, next) = (head.die, std::mem::replace(&mut head.joined, id));
        let txn = flash.txns.get_mut(id);
        txn.die = die;
        txn.next = next;
        self.writes += 1;
        if waits {
            if !flash.txns.get(program).waited {
                // One that is programmed anew in idle time: nobody has asked what it waits for until now.
                flash.join_at(program, die);
            }
            flash.join_at(id, die);
        }
    }

    /// Opens the program of a frame's data.
    #[inline]
    pub(crate) fn open_program(&mut self, flash: &mut Flash, slot: FrameId) -> TxnId {
        let Frame { lpn, mut tag, group, reads, writes, .. } = *self.buffer.get(slot);
        if self.hotness.tells_uses() {
            let page = Used { lpn, reads, writes, now: flash.now() };
            tag = tag.with(self.hotness.class(page));
        }
        let class = TxnClass::HostProgram;
        let nowhere = DieId::NONE;
        let (id, txn) = flash.open(Op::Program, Source::Host, class, Owner::Frame(slot), nowhere);
        (txn.lpn, txn.tag, txn.group) = (lpn, tag, group);
        id
    }

    /// The request is done when the data is in the buffer.
    fn write_back(&mut self, flash: &mut Flash, id: ReqId, slot: FrameId) {
        let frame = *self.buffer.get(slot);
        if frame.queued.is_some() || frame.listed == Listed::Dirty {
            flash.counters.buffer_write_hits += 1;
            self.use_frame(slot);
        } else {
            self.buffer.delist(slot);
            self.buffer.get_mut(slot).epoch = self.buffer.born();
            self.buffer.enlist(slot, Listed::Dirty);
            self.use_frame_of_stripe(slot);
            self.evict(flash);
        }
        if self.requests.page_done(id) {
            let Request { buffer_wait, ready, .. } = *self.requests.get(id);
            let blame = self.requests.blame_anew(id);
            blame[Part::BufferFull] = buffer_wait;
            blame[Part::QueueFull] = (flash.now() - ready) - buffer_wait;
            self.served(flash, id);
        }
    }

    /// Sends dirty frames to the flash while frames run short or a flush waits.
    #[inline]
    pub(crate) fn evict(&mut self, flash: &mut Flash) {
        if self.buffer.has_dirty() || self.buffer.drops_ahead() {
            self.evict_due(flash);
        }
    }

    fn evict_due(&mut self, flash: &mut Flash) {
        while self.writes < self.writes_max {
            let Some(due) = self.buffer.due(!self.flushes.is_empty()) else { return };
            let (slot, room) = match due {
                Due::Drop(slot) => {
                    self.give_up(flash, slot);
                    continue;
                }
                Due::Program { slot, room } => (slot, room),
            };
            if self.leaves_with_stripe() {
                self.evict_stripe(flash, slot, room);
                continue;
            }
            self.take_out(flash, slot, room);
            self.send_out(flash, slot);
        }
    }

    /// A dirty frame leaves the lists; with `room` it becomes free when its program ends.
    pub(crate) fn take_out(&mut self, flash: &mut Flash, slot: FrameId, room: bool) {
        if room {
            self.note_use(flash, slot);
        }
        self.buffer.delist(slot);
        if room && !self.buffer.get(slot).leaving {
            self.buffer.leave(slot);
        }
    }

    /// Its data goes to the flash.
    pub(crate) fn send_out(&mut self, flash: &mut Flash, slot: FrameId) {
        let program = self.open_program(flash, slot);
        flash.txns.get_mut(program).epoch = self.buffer.get(slot).epoch;
        self.send(flash, slot, program);
    }

    // --- Trim and flush -----------------------------------------------------------------------------

    /// Forgets the pages of a request. Returns whether all are: a stripe may have to wait for its parity.
    fn trim(&mut self, flash: &mut Flash, id: ReqId) -> bool {
        let Request { next, end, .. } = *self.requests.get(id);
        for host in (next..end).map(Lpn) {
            let page = self.stored_page(host);
            if !self.may_forget(flash, page) {
                self.requests.get_mut(id).next = host.0;
                self.hold(flash, id, Hold::Queue);
                return false;
            }
            let old = match self.map.place(page) {
                Location::Nowhere => {
                    // One that is lost is forgotten.
                    self.note_trim(page);
                    continue;
                }
                Location::Flash(ppn) => ppn,
                Location::Buffer(slot) => self.forget(slot),
            };
            flash.counters.pages_trimmed += 1;
            self.map.set_flash(page, Ppn::NONE);
            self.forgotten(flash, page, old);
        }
        self.flushed(flash);
        self.place_waiting(flash);
        self.answer_at_once(flash, id);
        true
    }

    /// A buffered page is trimmed. Programs that have begun run on for nothing; one that has not is
    /// dropped when its turn comes, and whoever waits for it is answered then.
    fn forget(&mut self, slot: FrameId) -> Ppn {
        let frame = *self.buffer.get(slot);
        if frame.listed == Listed::Dirty {
            self.buffer.settled(frame.epoch);
        }
        self.buffer.delist(slot);
        let its = self.buffer.get_mut(slot);
        its.orphan = true;
        its.ppn = Ppn::NONE;
        self.retire(slot);
        frame.ppn
    }

    fn flush(&mut self, flash: &mut Flash, id: ReqId) {
        let epoch = self.buffer.end_epoch();
        self.flushes.push_back((epoch, id));
        self.flushed(flash);
        self.evict(flash);
    }

    /// Answers the flushes whose data is all in the flash.
    pub(crate) fn flushed(&mut self, flash: &mut Flash) {
        while let Some(&(epoch, id)) = self.flushes.front() {
            if !self.buffer.is_settled(epoch) {
                return;
            }
            self.flushes.pop_front();
            self.answer_at_once(flash, id);
        }
    }

    /// A request without pages of its own is done. A flush waited for programs, a trim for the writes
    /// before it.
    fn answer_at_once(&mut self, flash: &mut Flash, id: ReqId) {
        self.release_hold(flash, id);
        let Request { io, buffer_wait, ready, .. } = *self.requests.get(id);
        let waited = flash.now() - ready;
        let blame = self.requests.blame_anew(id);
        if io.op == HostOp::Flush {
            blame[Part::Program] = waited;
        } else {
            blame[Part::BufferFull] = buffer_wait;
            blame[Part::QueueFull] = waited - buffer_wait;
        }
        self.served(flash, id);
    }

    // --- Answers ------------------------------------------------------------------------------------

    /// The last page of a request is done, and blamed for since the request was ready: what it read goes
    /// over the link.
    #[inline]
    pub(crate) fn served(&mut self, flash: &mut Flash, id: ReqId) {
        let now = flash.now();
        let Request { io, ready, throttled, .. } = *self.requests.get(id);
        let sent = self.link.send(&io, now);
        let blame = self.requests.blame_mut(id);
        blame[Part::HostLink] += (ready - io.at) + (sent - now) - throttled;
        blame[Part::Throttled] = throttled;
        if sent > now {
            let event = Event::Answered(id);
            flash.agenda.schedule_in(lane::LINK, sent, Phase::Completion, event);
        } else {
            self.completed.push(id);
        }
    }
}
