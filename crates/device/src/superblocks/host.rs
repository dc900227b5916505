//! Requests: reads, writes and trims.
//!
//! 1. A request takes a slot. Writes and trims join their submission queue if the queues take
//!    turns; everything else is taken at once.
//! 2. A request that is taken begins, unless requests of its kind wait in line before it
//!    ([`crate::host::line`]).
//! 3. Each unit of a write takes a frame of the buffer, at the pace of the buffer
//!    ([`super::pace`]); each unit of a trim leaves the map. After the last unit the request is
//!    answered.
//! 4. The units of a read that lie beside each other in a page are read together; a unit in the
//!    buffer, or between two passes, is done at once. The last page that arrives answers the read.
//! 5. Full commands are submitted whenever frames have been filled ([`super::programs`]) or, if the
//!    buffer evicts lazily, when room is needed ([`super::residents`]). Such a buffer may keep what
//!    a read has brought.
//!
//! Exceptions:
//!
//! - Without a free frame, or before the pace lets the next unit in, a write waits in line. It
//!   resumes with the unit at which it stopped when frames become free.
//! - A unit that is written in part is completed from its old copy before it can be stored.
//! - A flush is answered at once if acknowledged writes survive a loss of power; otherwise when all
//!   of them have been programmed ([`super::flushes`]).

use super::shape::in_txn;
use super::{Superblocks, submit_read};
use crate::config::{PartialWrites, UnwrittenReads};
use crate::event_loop::Device;
use crate::event_loop::probe::Probe;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::host::request::Request;
use crate::mapping::page_map::Location;
use crate::observe::blame::{Blame, Part};
use crate::observe::operation::{Op, Source};
use fowler_units::{FrameId, HostIo, HostOp, Id, Lpn, Nanos, ReqId, Span, TxnId, UnitId};

impl Superblocks {
    /// Admits a request into the drive after its transfer over the host link.
    pub(super) fn admit_request(
        &mut self,
        flash: &mut Flash,
        io: HostIo,
        ready: Nanos,
        throttled: Span,
    ) {
        let id = self.front.requests.open(Request::new(io, ready + throttled, &self.units));
        if self.streams.count() > 1 && io.op == HostOp::Write {
            let request = self.front.requests.get_mut(id);
            request.tag = self.streams.tag_of_write(request.pages, io.placement);
        }
        if throttled > Span::ZERO {
            self.front.requests.get_mut(id).throttled = throttled;
        }
        if self.is_read_only() && self.refuses(flash, id) {
            return;
        }
        match io.op {
            HostOp::Flush if self.flushes.waits => {
                self.flushes.push(id, &self.buffer);
                self.drain(flash);
            }
            // Acknowledged writes survive a loss of power, so a flush waits for nothing.
            HostOp::Flush => self.answer_at_once(flash, id),
            HostOp::Read => {
                if !(self.front.line.lets_in_reads() && self.read_units(flash, id)) {
                    self.front.line.push_read(id);
                }
            }
            HostOp::Write | HostOp::Trim if self.front.line.arbitrates() => {
                self.front.line.queue(io.queue, id);
                self.take_writes(flash);
            }
            HostOp::Write | HostOp::Trim => self.take_write(flash, id),
        }
    }

    /// Takes writes from the submission queues into the line of requests that wait for the buffer,
    /// as many as that line has room for.
    fn take_writes(&mut self, flash: &mut Flash) {
        while let Some(id) = self.front.line.next_of_queues() {
            self.take_write(flash, id);
        }
    }

    /// Begins a write or trim, or queues it behind requests that wait for free frames of the write
    /// buffer.
    fn take_write(&mut self, flash: &mut Flash, id: ReqId) {
        if self.front.line.first().is_some() || !self.change_units(flash, id) {
            self.front.line.push_write(id);
        }
    }

    /// Resumes the queued requests, oldest first, after frames of the write buffer have become
    /// free.
    pub(super) fn resume(&mut self, flash: &mut Flash) {
        while let Some(id) = self.front.line.first() {
            let sent = match self.front.requests.get(id).io.op {
                HostOp::Read => self.read_units(flash, id),
                _ => self.change_units(flash, id),
            };
            if !sent {
                break;
            }
            self.front.line.leave(id);
            if self.front.line.arbitrates() {
                self.take_writes(flash);
            }
        }
        self.resume_reads(flash);
    }

    fn resume_reads(&mut self, flash: &mut Flash) {
        while let Some(id) = self.front.line.first_read() {
            if !self.read_units(flash, id) {
                break;
            }
            self.front.line.leave(id);
        }
    }

    /// Resumes queued requests after a flash read has ended, because the limit on reads in flight
    /// had stopped them.
    fn resume_after_read(&mut self, flash: &mut Flash) {
        match self.front.line.is_in_order() {
            true => self.resume(flash),
            false => self.resume_reads(flash),
        }
    }

    /// Reads the units of a request from the buffer or the flash, while the drive can accept more
    /// reads. Returns true if all reads have begun or are served.
    fn read_units(&mut self, flash: &mut Flash, id: ReqId) -> bool {
        loop {
            let Request { next, end, .. } = *self.front.requests.get(id);
            if next == end {
                return true;
            }
            match self.map.place(Lpn(next)) {
                Location::Flash(unit) if self.is_between_passes(unit) => {
                    self.front.requests.get_mut(id).next += 1;
                    flash.counters.pages_read += 1;
                    flash.counters.buffer_read_hits += 1;
                    if let Some(contents) = &mut self.contents {
                        contents.read_between_passes(unit);
                    }
                    self.read_without_flash(flash, id);
                }
                Location::Flash(unit) => {
                    if self.front.reads.are_full() {
                        return false;
                    }
                    let parts = self.neighbors(Lpn(next), end - next, unit);
                    self.front.requests.get_mut(id).next += parts;
                    flash.counters.pages_read += u64::from(parts);
                    self.read_flash(flash, id, (Lpn(next), unit), parts);
                }
                place => {
                    let unwritten = self.rules.unwritten;
                    let senses =
                        place == Location::Nowhere && unwritten == UnwrittenReads::Preconditioned;
                    if senses && self.front.reads.are_full() {
                        return false;
                    }
                    self.front.requests.get_mut(id).next += 1;
                    flash.counters.pages_read += 1;
                    match place {
                        Location::Buffer(frame) => {
                            self.buffer.use_frame(frame, false);
                            flash.counters.buffer_read_hits += 1;
                            if let Some(contents) = &mut self.contents {
                                contents.frame_read(frame);
                            }
                        }
                        _ => flash.counters.unwritten_reads += 1,
                    }
                    if senses {
                        // A unit that counts as written before the run lies where its address
                        // points.
                        let units = self.shape.all_units() as u32;
                        let unit = self.shape.nth(next % units);
                        self.read_flash(flash, id, (Lpn(next), unit), 1);
                    } else {
                        if let Some(contents) = &mut self.contents {
                            contents.unit_read(Lpn(next));
                        }
                        self.read_without_flash(flash, id);
                    }
                }
            }
        }
    }

    /// Returns how many units of the host from `next` on, at most `most`, lie beside each other in
    /// the page of `unit`.
    fn neighbors(&self, next: Lpn, most: u32, unit: UnitId) -> u32 {
        let beside = |parts: &u32| {
            self.map.is_at(next.plus(*parts), unit.plus(*parts))
                && self.shape.same_page(unit.plus(*parts), unit)
        };
        1 + (1..most).take_while(beside).count() as u32
    }

    /// Reads `parts` units of one flash page for a request: the host's units from `page` on, which
    /// are the units from `unit` on in the flash.
    fn read_flash(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        (page, unit): (Lpn, UnitId),
        parts: u32,
    ) {
        self.front.reads.begin();
        let (die, place) = self.shape.place(unit);
        let class = TxnClass::HostRead;
        let (read, txn) = flash.open(Op::Read, Source::Host, class, Owner::Request, die);
        (txn.unit, txn.req) = (in_txn(place), id);
        // The units may stay in the buffer.
        (txn.from, txn.lpn) = (unit, page);
        let request = self.front.requests.get(id);
        (txn.asked, txn.deadline) = (request.ready, request.deadline);
        submit_read(flash, read, parts);
    }

    fn read_without_flash(&mut self, flash: &mut Flash, id: ReqId) {
        if self.front.requests.page_done(id) {
            let waited = flash.now() - self.front.requests.get(id).ready;
            self.front.requests.blame_anew(id)[Part::QueueFull] = waited;
            self.front.served(flash, id);
        }
    }

    /// Handles the end of a flash read for a host request.
    #[inline]
    pub(super) fn host_read_done(&mut self, flash: &mut Flash, id: TxnId) {
        self.answer_read(flash, id, None);
    }

    /// Handles the end of a page read for a request. `recovery` is set if units had to be computed
    /// from their stripe: the latency by cause before that, and the time at which it began. Inlined
    /// by force, so that a read without a recovery carries no code for it.
    #[inline(always)]
    pub(super) fn answer_read(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        recovery: Option<(Blame, Nanos)>,
    ) {
        let Txn { req, created, parts, overtook, from, lpn, .. } = *flash.txns.get(id);
        self.front.reads.end();
        self.front.requests.get_mut(req).overtook |= overtook;
        let last = (0..parts).fold(false, |_, _| self.front.requests.page_done(req));
        if last {
            let waited = created - self.front.requests.get(req).ready;
            let blame = self.front.requests.blame_anew(req);
            blame[Part::QueueFull] = waited;
            match recovery {
                None => flash.packed_service_blame(id, id, blame),
                Some((before, since)) => {
                    *blame += &before;
                    blame[Part::Degraded] += flash.now() - since;
                }
            }
            self.front.served(flash, req);
        }
        flash.txns.close(id);
        if self.buffer.residents().is_some_and(|residents| residents.keeps_reads) {
            self.keep_read(flash, lpn, from, parts.into());
        }
        if self.front.line.waits_for_reads() {
            self.resume_after_read(flash);
        }
    }

    /// Writes the units of a request into the write buffer while frames are free, or trims them,
    /// and completes the request after the last. Returns true if the request has been completed.
    fn change_units(&mut self, flash: &mut Flash, id: ReqId) -> bool {
        loop {
            let Request { next, end, io, ready, .. } = *self.front.requests.get(id);
            if next == end {
                let waited = flash.now() - ready;
                self.front.requests.blame_anew(id)[Part::BufferFull] = waited;
                match io.op {
                    HostOp::Trim => self.front.trimmed(flash, id),
                    _ => self.front.served(flash, id),
                }
                self.drain(flash);
                return true;
            }
            let changed = match io.op {
                HostOp::Trim => self.trim_unit(flash, id, Lpn(next)),
                _ => self.write_unit(flash, id, Lpn(next)),
            };
            if !changed {
                // The units in the buffer may fill a command.
                self.drain(flash);
                return false;
            }
            self.front.requests.get_mut(id).next += 1;
        }
    }

    fn trim_unit(&mut self, flash: &mut Flash, id: ReqId, page: Lpn) -> bool {
        let copy = match self.map.place(page) {
            Location::Nowhere => {
                self.front.requests.get_mut(id).left -= 1;
                return true;
            }
            Location::Buffer(frame) => {
                let copy = self.buffer.unit(frame);
                self.buffer.give_up(frame);
                copy
            }
            Location::Flash(unit) => unit,
        };
        self.note_trim(page, copy, flash.now());
        self.map.leave(page, copy);
        flash.counters.pages_trimmed += 1;
        true
    }

    /// Writes a unit of a request into a frame of the write buffer: the frame that holds the unit
    /// already, or a free one. Returns false if there is none, or if the limit on the rate at which
    /// units enter the buffer delays the write.
    fn write_unit(&mut self, flash: &mut Flash, id: ReqId, page: Lpn) -> bool {
        let place = self.map.place(page);
        let tag = self.front.requests.get(id).tag;
        let stream = self.streams.of(tag);
        if let Location::Buffer(frame) = place
            && self.buffer.overwrite(frame, (stream, tag))
        {
            self.buffer.use_frame(frame, true);
            self.note_overwrite(id, page, frame);
            flash.counters.pages_written += 1;
            flash.counters.buffer_write_hits += 1;
            return true;
        }
        if !self.pace.lets_in(flash) {
            return false;
        }
        self.make_free(flash);
        let copy = match place {
            Location::Nowhere => UnitId::NONE,
            Location::Flash(unit) => unit,
            Location::Buffer(old) => self.buffer.unit(old),
        };
        let Some(frame) = self.buffer.take(page, copy, (stream, tag)) else { return false };
        self.pace.entered(self.buffer.len() - self.buffer.free_count(), flash.now());
        flash.counters.pages_written += 1;
        if let Location::Buffer(old) = place {
            self.buffer.give_up(old);
            self.flushes.replaced(page, [old, frame]);
        }
        self.map.buffer(page, frame);
        self.buffer.use_frame(frame, true);
        let whole = self.writes_whole(id, page);
        self.note_write(page, frame, (place, whole));
        match place {
            Location::Flash(unit)
                if !whole
                    && self.rules.partial == PartialWrites::ReadModifyWrite
                    && !self.is_between_passes(unit) =>
            {
                self.read_rest(flash, unit, frame);
            }
            _ => self.buffer.complete(frame),
        }
        true
    }

    /// Returns true if a request writes all of a unit.
    #[inline]
    pub(super) fn writes_whole(&self, id: ReqId, page: Lpn) -> bool {
        let size = self.units.page_size();
        self.front.requests.get(id).within(page, size) == (0, size)
    }

    /// Reads the old unit for a frame that holds only part of the new one.
    fn read_rest(&mut self, flash: &mut Flash, unit: UnitId, frame: FrameId) {
        flash.counters.merge_reads += 1;
        let (die, place) = self.shape.place(unit);
        let class = TxnClass::BackgroundRead;
        let (id, txn) = flash.open(Op::Read, Source::Host, class, Owner::Merge(frame), die);
        (txn.unit, txn.from) = (in_txn(place), unit);
        submit_read(flash, id, 1);
    }

    /// Handles the end of the read of the part of a unit that the host did not write: a frame of
    /// the write buffer now holds the whole unit.
    pub(super) fn merged(&mut self, flash: &mut Flash, id: TxnId, frame: FrameId) {
        flash.txns.close(id);
        let before = self.buffer.free_count();
        self.buffer.complete(frame);
        self.drain(flash);
        if self.buffer.free_count() > before {
            self.resume(flash);
        }
    }

    /// Completes the flush requests whose data has been programmed.
    #[cold]
    pub(super) fn answer_flushes(&mut self, flash: &mut Flash) {
        while let Some(id) = self.flushes.next_done(&self.buffer) {
            let waited = flash.now() - self.front.requests.get(id).ready;
            self.front.requests.blame_anew(id)[Part::Program] = waited;
            self.front.served(flash, id);
        }
    }

    pub(super) fn answer_at_once(&mut self, flash: &mut Flash, id: ReqId) {
        let waited = flash.now() - self.front.requests.get(id).ready;
        self.front.requests.blame_anew(id)[Part::QueueFull] = waited;
        self.front.served(flash, id);
    }
}

impl Device<Superblocks> {
    /// Writes the data of the buffer to the flash, in commands that need not be full, and advances
    /// time until it is there.
    ///
    /// # Panics
    /// If a request is in the drive.
    pub fn write_out<P: Probe<Superblocks>>(&mut self, probe: &mut P) {
        self.layer.flushes.writes_out = true;
        self.layer.drain(&mut self.flash);
        self.rest_while(probe, Device::has_unwritten);
        self.layer.flushes.writes_out = false;
    }

    /// Returns true if the write buffer holds units whose newest data is not in the flash yet.
    pub fn has_unwritten(&self) -> bool {
        self.layer.buffer.to_be_stored().next().is_some()
    }
}
