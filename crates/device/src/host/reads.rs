//! Host reads.
//!
//! 1. [`Ftl::read_pages`] looks up one page of the request after another, as long as the read queue
//!    has room.
//! 2. A page in the flash becomes a flash read ([`Ftl::read_flash`]). A page in the buffer, or one
//!    that was never written, ends without the flash.
//! 3. [`Ftl::page_read`] handles the end of a flash read. The last page completes its request, and
//!    the room goes to the requests that wait.
//!
//! Exceptions:
//!
//! - A full read queue: the request waits in line, and continues with the page at which it stopped.
//! - A mapping entry that is not in memory: the request waits for the read of the entry
//!   ([`Ftl::mapping_loaded`]).
//! - A frame that lacks a part that the request wants: the copy in the flash is read instead.
//! - A page that was never written is read from the die of its address, or not at all
//!   (`ftl.unwritten_reads`).
//! - Writes in line may delay reads (`queue.admission`).

use super::Ftl;
use super::redundancy_hooks::RedundancyHooks;
pub(super) use super::request::{Sent, Stall};
use crate::config::UnwrittenReads;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::mapping::Waiter;
use crate::mapping::page_map::Location;
use crate::observe::blame::Part;
use crate::observe::operation::{Op, Source};
use fowler_units::{DieId, FrameId, Id, Lpn, ReqId, TxnId, UnitId};

impl Ftl {
    /// Issues a request's flash reads as far as the read queue has room and the mapping entries are
    /// available.
    #[inline(always)]
    pub(super) fn read_pages<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        raid: &mut R,
    ) -> Sent {
        loop {
            let request = self.front.requests.get(id);
            if request.next == request.end {
                return Sent::All;
            }
            if self.front.reads.are_full() {
                return Sent::NoRoom;
            }
            let page = raid.stored_page(Lpn(request.next));
            match self.core.map.lookup(flash, page) {
                Ok(location) => {
                    self.front.requests.get_mut(id).next += 1;
                    self.read_page(flash, id, (page, location), raid);
                }
                Err(miss) => {
                    self.stall(flash, id, Stall::Mapping);
                    self.core.map.wait(miss, Waiter::Read(id));
                    return Sent::MissesMapping;
                }
            }
        }
    }

    #[inline(always)]
    fn read_page<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        (page, location): (Lpn, Location),
        raid: &mut R,
    ) {
        flash.counters.pages_read += 1;
        match location {
            Location::Flash(unit) => {
                self.read_flash(flash, id, page, unit, self.core.locator.die_of(unit));
            }
            Location::Buffer(frame_id) => self.read_buffered(flash, id, page, frame_id, raid),
            Location::Nowhere => self.read_unwritten(flash, id, page, raid),
        }
    }

    /// Resumes the requests and moves that wait for a mapping entry which has been read from the
    /// flash.
    #[cold]
    pub fn mapping_loaded<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        raid: &mut R,
    ) {
        self.core.map.loaded(id);
        while let Some(waiter) = self.core.map.next_waiter(id) {
            match waiter {
                Waiter::Read(request) => {
                    self.release_stall(flash, request);
                    if self.read_pages(flash, request, raid) == Sent::NoRoom {
                        self.front.line.push_returned(request);
                    }
                }
                Waiter::Writes => self.resume_writes(flash, raid),
                Waiter::Move(read) => self.gc.copied_out(&mut self.core, flash, read),
            }
        }
        flash.txns.close(id);
    }

    pub(super) fn read_buffered<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        page: Lpn,
        frame_id: FrameId,
        raid: &mut R,
    ) {
        let within = self
            .front
            .requests
            .get(id)
            .within(raid.host_page_of(page), self.core.locator.page_size());
        let wanted = self.core.buffer.touched(within);
        let frame = self.core.buffer.get(frame_id);
        let unit = frame.unit;
        // A page in neither buffer nor flash was never written and reads as zeroes.
        if wanted & !frame.present == 0 || !unit.is_some() {
            flash.counters.buffer_read_hits += 1;
            self.core.buffer.count(frame_id, false);
            self.use_frame(frame_id, raid);
            raid.frame_read(self, frame_id);
            self.read_without_flash(flash, id);
        } else {
            self.read_flash(flash, id, page, unit, self.core.locator.die_of(unit));
        }
    }

    pub(super) fn read_unwritten<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        page: Lpn,
        raid: &mut R,
    ) {
        if raid.reads_lost(page) {
            return self.read_without_flash(flash, id);
        }
        flash.counters.unwritten_reads += 1;
        match self.rules.unwritten {
            UnwrittenReads::Preconditioned => {
                let die = self.core.allocator.die_of_address(page);
                self.read_flash(flash, id, page, UnitId::NONE, die);
            }
            // The caller raises the `Error` from the counters; simulation continues meanwhile.
            UnwrittenReads::Zero | UnwrittenReads::Error => self.read_without_flash(flash, id),
        }
    }

    #[inline(always)]
    pub(super) fn read_flash(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        page: Lpn,
        unit: UnitId,
        die: DieId,
    ) {
        self.front.reads.begin();
        let (read, txn) =
            flash.open(Op::Read, Source::Host, TxnClass::HostRead, Owner::Request, die);
        txn.unit = unit;
        txn.lpn = page;
        txn.req = id;
        let request = self.front.requests.get(id);
        (txn.asked, txn.deadline) = (request.ready, request.deadline);
        txn.mapping_wait = self.core.map.waited(request.mapping_wait);
        if let Some(marks) = &self.core.classes.marks {
            txn.read_as = Some(marks[page]);
        }
        flash.submit(read);
    }

    pub(super) fn read_without_flash(&mut self, flash: &mut Flash, id: ReqId) {
        let waited = flash.now() - self.front.requests.get(id).ready;
        if self.front.requests.page_done(id) {
            let for_mapping = self.core.map.waited(self.front.requests.get(id).mapping_wait);
            let blame = self.front.requests.blame_anew(id);
            blame[Part::Mapping] = for_mapping;
            blame[Part::QueueFull] = waited - for_mapping;
            self.front.served(flash, id);
        }
    }

    /// Completes a request whose last page has been read. Not inlined: few pages are the last.
    #[inline(never)]
    fn answer_read<R: RedundancyHooks>(&mut self, flash: &mut Flash, id: TxnId, raid: &mut R) {
        let Txn { req, created, mapping_wait, .. } = *flash.txns.get(id);
        let waited = created - self.front.requests.get(req).ready;
        let for_mapping = self.core.map.waited(mapping_wait);
        let blame = self.front.requests.blame_anew(req);
        blame[Part::Mapping] = for_mapping;
        blame[Part::QueueFull] = waited - for_mapping;
        raid.service_blame(flash, id, id, blame);
        self.front.served(flash, req);
    }

    /// Handles the end of a page read for a host request.
    #[inline(always)]
    pub fn page_read<R: RedundancyHooks>(&mut self, flash: &mut Flash, id: TxnId, raid: &mut R) {
        let txn = flash.txns.get(id);
        let Txn { req, lpn, unit, .. } = *txn;
        if txn.overtook {
            self.front.requests.get_mut(req).overtook = true;
        }
        self.front.reads.end();
        if self.front.requests.page_done(req) {
            self.answer_read(flash, id, raid);
        }
        flash.txns.close(id);
        if self.core.classes.keeps_reads {
            self.keep_read(flash, lpn, unit, raid);
        }
        if self.front.line.waits_for_reads() {
            self.resume_after_read(flash, raid);
        }
    }
}
