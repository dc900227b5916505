//! Host reads: from the mapping, from the buffer, or from the flash.

use super::Ftl;
use super::redundancy_hooks::RedundancyHooks;
use crate::config::UnwrittenReads;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::mapping::page_map::Location;
use crate::observe::blame::Part;
use crate::observe::operation::{Op, Source};
use fowler_units::{DieId, FrameId, Id, Lpn, Ppn, ReqId, TxnId};

impl Ftl {
    /// Sends a request's reads on their way as far as the queue has room. Returns whether all are.
    #[inline(always)]
    pub(super) fn read_pages<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        raid: &mut R,
    ) -> bool {
        loop {
            let request = self.front.requests.get_mut(id);
            if request.next == request.end {
                return true;
            }
            if self.queues.reads == self.queues.reads_max {
                return false;
            }
            let page = Lpn(request.next);
            request.next += 1;
            self.read_page(flash, id, raid.stored_page(page), raid);
        }
    }

    #[inline(always)]
    pub(super) fn read_page<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        page: Lpn,
        raid: &mut R,
    ) {
        flash.counters.pages_read += 1;
        match self.core.map.place(page) {
            Location::Flash(ppn) => {
                self.read_flash(flash, id, page, ppn, self.core.locator.die_of(ppn));
            }
            Location::Buffer(frame_id) => self.read_buffered(flash, id, page, frame_id, raid),
            Location::Nowhere => self.read_unwritten(flash, id, page, raid),
        }
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
        let ppn = frame.ppn;
        // What neither buffer nor flash holds was never written, and reads as zeroes.
        if wanted & !frame.present == 0 || !ppn.is_some() {
            flash.counters.buffer_read_hits += 1;
            self.core.buffer.count(frame_id, false);
            self.use_frame(frame_id, raid);
            self.read_without_flash(flash, id);
        } else {
            self.read_flash(flash, id, page, ppn, self.core.locator.die_of(ppn));
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
                self.read_flash(flash, id, page, Ppn::NONE, die);
            }
            // `Error` is raised by whoever reads the counters: time goes on undisturbed meanwhile.
            UnwrittenReads::Zero | UnwrittenReads::Error => self.read_without_flash(flash, id),
        }
    }

    #[inline(always)]
    pub(super) fn read_flash(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        page: Lpn,
        ppn: Ppn,
        die: DieId,
    ) {
        self.queues.reads += 1;
        let (read, txn) =
            flash.open(Op::Read, Source::Host, TxnClass::HostRead, Owner::Request, die);
        txn.ppn = ppn;
        txn.lpn = page;
        txn.req = id;
        txn.asked = self.front.requests.get(id).ready;
        if let Some(marks) = &self.core.classes.marks {
            txn.read_as = Some(marks[page]);
        }
        flash.submit(read);
    }

    pub(super) fn read_without_flash(&mut self, flash: &mut Flash, id: ReqId) {
        let waited = flash.now() - self.front.requests.get(id).ready;
        if self.front.requests.page_done(id) {
            self.front.requests.blame_anew(id)[Part::QueueFull] = waited;
            self.served(flash, id);
        }
    }

    /// A page has been read for a host request.
    #[inline(always)]
    pub fn page_read<R: RedundancyHooks>(&mut self, flash: &mut Flash, id: TxnId, raid: &mut R) {
        let txn = flash.txns.get(id);
        let Txn { req, created, lpn, ppn, .. } = *txn;
        if txn.overtook {
            self.front.requests.get_mut(req).overtook = true;
        }
        self.queues.reads -= 1;
        if self.front.requests.page_done(req) {
            let waited = created - self.front.requests.get(req).ready;
            let blame = self.front.requests.blame_anew(req);
            blame[Part::QueueFull] = waited;
            raid.service_blame(flash, id, id, blame);
            self.served(flash, req);
        }
        flash.txns.close(id);
        if self.core.classes.keeps_reads {
            self.keep_read(flash, lpn, ppn, raid);
        }
        while let Some(&held) = self.queues.waiting_reads.front() {
            if !self.read_pages(flash, held, raid) {
                break;
            }
            self.queues.waiting_reads.pop_front();
        }
    }
}
