//! Trims and flushes.
//!
//! A trim ([`Ftl::trim`]) takes its pages one after another:
//!
//! 1. The mapping entry of the page is looked up. If it is not in memory, the trim waits for it.
//! 2. The stripe of the page is asked if its parity permits the trim; if not, the trim waits.
//! 3. The page is unmapped; the copies in buffer and flash become invalid. A program of the data
//!    that has not begun is dropped when its turn comes.
//! 4. When all pages are unmapped, the request completes.
//!
//! A flush ([`Ftl::flush`]) ends the present epoch of the buffer, evicts all dirty data, and
//! completes when all data of that epoch and of earlier ones is in the flash or trimmed
//! ([`Ftl::flushed`]).
//!
//! A trim that waits is in line among the writes, which it must not overtake, and continues with
//! the page at which it stopped.

use super::Ftl;
use super::redundancy_hooks::RedundancyHooks;
use super::request::{Request, Stall};
use crate::cache::buffer::Listed;
use crate::flash::Flash;
use crate::mapping::Waiter;
use crate::mapping::page_map::Location;
use crate::observe::blame::Part;
use fowler_units::{FrameId, HostOp, Id, Lpn, ReqId, UnitId};

impl Ftl {
    /// Trims the pages of a request. Returns true if all are trimmed; otherwise a page waits for
    /// its mapping entry or for the parity of its stripe. See docs/decisions/host.md, "When does a
    /// trim take effect?".
    pub(super) fn trim<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        raid: &mut R,
    ) -> bool {
        let Request { next, end, .. } = *self.front.requests.get(id);
        for host in (next..end).map(Lpn) {
            let page = raid.stored_page(host);
            if let Err(miss) = self.core.map.lookup(flash, page) {
                self.core.map.wait(miss, Waiter::Writes);
                self.front.requests.get_mut(id).next = host.0;
                self.stall(flash, id, Stall::Mapping);
                return false;
            }
            if !raid.may_trim(self, flash, page) {
                self.front.requests.get_mut(id).next = host.0;
                self.stall(flash, id, Stall::Queue);
                return false;
            }
            let old = match self.core.map.place(page) {
                Location::Nowhere => {
                    // A lost page is lost no longer once it is trimmed.
                    raid.trimmed_nothing(page);
                    self.front.requests.get_mut(id).left -= 1;
                    continue;
                }
                Location::Flash(unit) => unit,
                Location::Buffer(frame_id) => self.forget(frame_id),
            };
            flash.counters.pages_trimmed += 1;
            self.core.map.set_flash(page, UnitId::NONE);
            raid.trimmed(self, flash, page, old);
        }
        self.flushed(flash);
        self.place_waiting(flash);
        self.blame_wait(flash, id);
        self.front.trimmed(flash, id);
        true
    }

    /// Trims a buffered page. Programs that have begun continue without effect; one that has not
    /// begun is dropped when its turn comes, and the requests waiting for it complete then.
    pub(super) fn forget(&mut self, frame_id: FrameId) -> UnitId {
        let frame = *self.core.buffer.get(frame_id);
        if frame.listed == Listed::Dirty {
            self.core.buffer.settled(frame.epoch);
        }
        self.core.buffer.delist(frame_id);
        let buffered = self.core.buffer.get_mut(frame_id);
        buffered.orphan = true;
        buffered.unit = UnitId::NONE;
        self.retire(frame_id);
        frame.unit
    }

    /// Handles a flush: completes it, or lets it wait until all data written before it is in the
    /// flash. See docs/decisions/host.md, "What does a flush wait for?".
    pub(super) fn flush<R: RedundancyHooks>(&mut self, flash: &mut Flash, id: ReqId, raid: &mut R) {
        let epoch = self.core.buffer.end_epoch();
        self.queues.flushes.push_back((epoch, id));
        self.flushed(flash);
        self.evict(flash, raid);
    }

    /// Completes the flushes for which all data is in the flash.
    pub fn flushed(&mut self, flash: &mut Flash) {
        while let Some(&(epoch, id)) = self.queues.flushes.front() {
            if !self.core.buffer.is_settled(epoch) {
                return;
            }
            self.queues.flushes.pop_front();
            self.answer_at_once(flash, id);
        }
    }

    /// Completes a request without pages of its own: a flush, or one that is refused.
    pub(super) fn answer_at_once(&mut self, flash: &mut Flash, id: ReqId) {
        self.blame_wait(flash, id);
        self.front.served(flash, id);
    }

    /// Divides the wait of a trim, a flush or a refused request among the causes of its latency: a
    /// flush has waited for programs; a trim or refused request, for the writes before it and for
    /// the mapping.
    fn blame_wait(&mut self, flash: &mut Flash, id: ReqId) {
        self.release_stall(flash, id);
        let Request { io, buffer_wait, mapping_wait, ready, .. } = *self.front.requests.get(id);
        let waited = flash.now() - ready;
        let blame = self.front.requests.blame_anew(id);
        if io.op == HostOp::Flush {
            blame[Part::Program] = waited;
        } else {
            blame[Part::BufferFull] = buffer_wait;
            blame[Part::Mapping] = mapping_wait;
            blame[Part::QueueFull] = waited - buffer_wait - mapping_wait;
        }
    }
}
