//! Completion of requests, and the breakdown of their latency into blame.
//!
//! 1. The last page of a request ends: a read (`reads.rs`), a program with the writes that joined
//!    it ([`Ftl::answer_writes`]), or a page that needed no flash.
//! 2. The blame of that page becomes the blame of the request: from the time at which the request
//!    was ready, the waits for mapping, buffer, queue, the other pages, parity and room, and then
//!    the parts that the flash accounts for.
//! 3. The request is sent back ([`FrontEnd::served`]): the data of a read takes its time on the
//!    link. Link and throttle complete the blame, whose parts now sum to the latency.
//! 4. At that time, or at once without a transfer, the request is put into `completed`, from which
//!    the loop reports it to the probe.
//!
//! A trim ends with work of the firmware on the mapping instead of a transfer
//! ([`FrontEnd::trimmed`]).

use super::redundancy_hooks::RedundancyHooks;
use super::request::Request;
use super::{FrontEnd, Ftl};
use crate::event::{Event, lane};
use crate::flash::Flash;
use crate::flash::txn::Txn;
use crate::observe::blame::Part;
use fowler_agenda::Phase;
use fowler_units::{Id, ReqId, TxnId};

impl FrontEnd {
    /// Completes a request whose last page has ended, and whose time since the drive received it
    /// has been divided among causes. The data of a read goes over the link.
    #[inline(always)]
    pub fn served(&mut self, flash: &mut Flash, id: ReqId) {
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

    /// Completes a trim that has taken effect, and whose time until now has been divided among
    /// causes. The firmware still has to change the mapping before it answers.
    pub fn trimmed(&mut self, flash: &mut Flash, id: ReqId) {
        let now = flash.now();
        let Request { io, ready, throttled, left, .. } = *self.requests.get(id);
        let done = self.link.trim(left, now);
        let blame = self.requests.blame_mut(id);
        blame[Part::HostLink] += (ready - io.at) - throttled;
        blame[Part::Throttled] = throttled;
        blame[Part::Mapping] += done - now;
        if done > now {
            // The event is scheduled behind the answers on the link, which would have to leave
            // their lane otherwise.
            flash.agenda.schedule(done, Phase::Completion, Event::Answered(id));
        } else {
            self.completed.push(id);
        }
    }
}

impl Ftl {
    /// Completes all page writes that waited for a program.
    #[inline(always)]
    pub(super) fn answer_writes<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        raid: &mut R,
    ) {
        self.answer_write(flash, id, id, raid);
        let joined = flash.txns.get(id).joined;
        if joined.is_some() {
            self.answer_joined(flash, id, joined, raid);
        }
        flash.txns.close(id);
    }

    /// Completes the page writes that joined a program.
    #[inline(never)]
    fn answer_joined<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        mut joined: TxnId,
        raid: &mut R,
    ) {
        while joined.is_some() {
            let next = flash.txns.get(joined).next;
            self.answer_write(flash, id, joined, raid);
            flash.txns.close(joined);
            joined = next;
        }
    }

    #[inline(always)]
    fn answer_write<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        waiter: TxnId,
        raid: &mut R,
    ) {
        self.queues.writes -= 1;
        let req = flash.txns.get(waiter).req;
        if !req.is_some() {
            return;
        }
        let overtook = flash.txns.get(id).overtook;
        let request = self.front.requests.get_mut(req);
        request.overtook |= overtook;
        request.left -= 1;
        if request.left == 0 {
            self.blame_write(flash, id, waiter, raid);
            self.front.served(flash, req);
        }
    }

    #[inline]
    fn blame_write<R: RedundancyHooks>(
        &mut self,
        flash: &Flash,
        id: TxnId,
        waiter: TxnId,
        raid: &mut R,
    ) {
        let Txn { req, buffer_wait, mapping_wait, created, submitted, .. } =
            *flash.txns.get(waiter);
        let ready = self.front.requests.get(req).ready;
        let mapping_wait = self.core.map.waited(mapping_wait);
        let blame = self.front.requests.blame_anew(req);
        blame[Part::BufferFull] = buffer_wait;
        blame[Part::Mapping] = mapping_wait;
        blame[Part::QueueFull] = (created - ready) - buffer_wait - mapping_wait;
        // A write that joined later waited for only part of the read of the old page, or for none
        // of it.
        let complete = flash.txns.get(id).merged_at.max(created);
        blame[Part::Merge] = complete - created;
        let for_parity = raid.wait_before_die(flash, id).min(submitted - complete);
        blame[Part::Parity] = for_parity;
        blame[Part::NoSpace] = (submitted - complete) - for_parity;
        raid.service_blame(flash, id, waiter, blame);
    }
}
