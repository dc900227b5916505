//! The write buffer by stripes (DA-RAID-5, sections III-D and III-E): pages leave it in the company of their stripe, so
//! that parity is computed once for all of them, and long writes pass it by.

use crate::cache::buffer::Listed;
use crate::config::Ack;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::host::request::{Hold, Request};
use crate::mapping::page_map::Location;
use crate::policy::redundancy::Leaving;
use crate::raid::parity_cache::{Progress, bit};
use crate::raid::stripes::DATA_MOST;
use fowler_units::{FrameId, Id, Lpn, ReqId, StripeId};

/// Frames of one stripe.
const MOST: usize = DATA_MOST as usize;

impl Ftl {
    #[inline]
    fn leaving(&self) -> Leaving {
        self.array.as_ref().map_or(Leaving::Alone, |array| array.rules.leaving)
    }

    /// Whether pages leave the buffer with their stripe.
    #[inline]
    pub(crate) fn leaves_with_stripe(&self) -> bool {
        self.leaving() != Leaving::Alone
    }

    /// Whether a write is too long for the caches.
    #[inline]
    pub(crate) fn passes_caches(&self, id: ReqId) -> bool {
        let Some(array) = &self.array else { return false };
        self.ack == Ack::OnInsert
            && array.rules.cut_off.is_some_and(|most| self.requests.get(id).pages > most)
    }

    /// The frame of `page`, if it holds data that is to be programmed and not on its way.
    fn dirty_frame(&self, page: Lpn) -> Option<FrameId> {
        match self.map.place(page) {
            Location::Buffer(slot) if self.buffer.get(slot).listed == Listed::Dirty => Some(slot),
            _ => None,
        }
    }

    /// A frame was used.
    #[inline]
    pub(crate) fn use_frame(&mut self, slot: FrameId) {
        self.buffer.touch(slot);
        self.use_frame_of_stripe(slot);
    }

    /// Where stripes leave one after another, the whole stripe of a frame was used with it.
    #[inline]
    pub(crate) fn use_frame_of_stripe(&mut self, slot: FrameId) {
        if self.leaving() == Leaving::StripeByStripe
            && self.buffer.get(slot).listed == Listed::Dirty
        {
            self.use_stripe(slot);
        }
    }

    #[cold]
    fn use_stripe(&mut self, slot: FrameId) {
        let (stripes, stripe) = self.stripe_of_frame(slot);
        for (_, page) in stripes.data_pages(stripe) {
            if let Some(other) = self.dirty_frame(page).filter(|&other| other != slot) {
                self.buffer.touch(other);
            }
        }
        self.buffer.touch(slot);
    }

    fn stripe_of_frame(&self, slot: FrameId) -> (crate::raid::stripes::Stripes, StripeId) {
        let stripes = self.array.as_ref().expect("it has stripes").stripes;
        (stripes, stripes.of(self.buffer.get(slot).lpn))
    }

    /// The dirty pages of a frame's stripe go to the flash together, as many as may be on their way.
    pub(crate) fn evict_stripe(&mut self, flash: &mut Flash, slot: FrameId, room: bool) {
        let (stripes, stripe) = self.stripe_of_frame(slot);
        let most = (self.writes_max - self.writes) as usize;
        let mut frames = [FrameId::NONE; MOST];
        let (mut count, mut together) = (0, 0);
        for (position, page) in stripes.data_pages(stripe) {
            let Some(frame) = self.dirty_frame(page) else { continue };
            if count < most {
                frames[count] = frame;
                count += 1;
                together |= bit(position);
                self.take_out(flash, frame, room);
            }
        }
        for &frame in &frames[..count] {
            self.array.as_mut().expect("it has stripes").together = together;
            self.send_out(flash, frame);
        }
        self.array.as_mut().expect("it has stripes").together = 0;
    }

    /// A write that is too long for the caches goes to the flash stripe by stripe: the pages of the stripe of `page`, the
    /// next of the request, all at once, and their parity with them. For that it waits until there are frames for all:
    /// one after another, each would have parity computed and written anew.
    #[cold]
    pub(crate) fn write_part(
        &mut self,
        flash: &mut Flash,
        id: ReqId,
        page: Lpn,
    ) -> Result<(), Hold> {
        let Request { next, end, .. } = *self.requests.get(id);
        let stripes = self.array.as_ref().expect("it has stripes").stripes;
        let stripe = stripes.of(page);
        let pages = (next..end)
            .map(|host| stripes.stored(Lpn(host)))
            .take_while(|&page| stripes.of(page) == stripe)
            .take(self.writes_max as usize);
        let (mut count, mut lacking, mut together) = (0, 0, 0);
        for page in pages {
            count += 1;
            together |= bit(stripes.position(page));
            let has = matches!(self.map.place(page), Location::Buffer(slot)
                if self.buffer.get(slot).listed != Listed::Clean);
            lacking += u32::from(!has);
        }
        if self.writes + count > self.writes_max {
            return Err(Hold::Queue);
        }
        if !self.buffer.has_room(lacking) {
            self.evict(flash);
            if !self.buffer.has_room(lacking) {
                return Err(Hold::Buffer);
            }
        }
        let mut written = Ok(());
        for host in (next..next + count).map(Lpn) {
            self.array.as_mut().expect("it has stripes").together = together;
            written = self.write_page(flash, id, stripes.stored(host));
            if written.is_err() {
                break;
            }
        }
        let array = self.array.as_mut().expect("it has stripes");
        array.together = 0;
        if let Some(entry) = array.cache.find(stripe) {
            let its = array.cache.get_mut(entry);
            its.hurried |= its.progress == Progress::Open && its.pinned > 0;
        }
        written
    }

    /// A page of a write that is too long for the caches goes to the flash at once.
    #[cold]
    pub(crate) fn write_past(&mut self, flash: &mut Flash, id: ReqId, slot: FrameId) {
        if self.buffer.get(slot).listed != Listed::Dirty {
            self.buffer.get_mut(slot).epoch = self.buffer.born();
        }
        self.buffer.delist(slot);
        if !self.buffer.get(slot).leaving {
            self.buffer.leave(slot);
        }
        let program = self.open_program(flash, slot);
        let txn = flash.txns.get_mut(program);
        (txn.req, txn.hurried) = (id, true);
        txn.buffer_wait = self.requests.get(id).buffer_wait;
        txn.epoch = self.buffer.get(slot).epoch;
        self.send(flash, slot, program);
    }
}
