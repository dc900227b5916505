//! Stripes in the write buffer (DA-RAID-5, sections III-D and III-E): pages leave the buffer
//! together with their stripe, so that parity is computed once for all of them, and long writes
//! bypass the buffer.
//!
//! 1. A use of one dirty page makes all dirty pages of its stripe the most recently used ones
//!    ([`Raid::use_stripe`]).
//! 2. When one of them is evicted, the others leave with it, as far as the write queue has room
//!    ([`Raid::evict_stripe`]).
//! 3. While they are sent out, `together` has their positions: the parity update reads and covers
//!    by it (`early_reads.rs`, `parity_update.rs`).
//!
//! A write that is long enough to bypass the buffer is sent out stripe by stripe, at once
//! ([`Raid::write_part`]). It waits until the buffer has frames for all of its pages in a stripe:
//! written one after another, each page would cause a parity update.

use super::Raid;
use super::parity_cache::{Progress, bit};
use super::stripes::Stripes;
use crate::cache::buffer::Listed;
use crate::config::stripes::DATA_MOST;
use crate::core::Core;
use crate::flash::Flash;
use crate::host::Ftl;
use crate::host::request::{Request, Stall};
use crate::mapping::page_map::Location;
use fowler_units::{FrameId, Id, Lpn, ReqId, StripeId};

/// Largest number of frames of the write buffer that hold pages of one stripe.
const MOST: usize = DATA_MOST as usize;

impl Raid {
    /// Returns the frame of `page` if the frame is dirty and no program for it is queued.
    fn dirty_frame(&self, core: &Core, page: Lpn) -> Option<FrameId> {
        match core.map.place(page) {
            Location::Buffer(frame_id) if core.buffer.get(frame_id).listed == Listed::Dirty => {
                Some(frame_id)
            }
            _ => None,
        }
    }

    /// Marks the dirty pages of a stripe in the write buffer as just used; `frame_id` is the buffer
    /// frame of the page of that stripe that was used.
    #[cold]
    pub(super) fn use_stripe(&mut self, ftl: &mut Ftl, frame_id: FrameId) {
        let (stripes, stripe) = self.stripe_of_frame(&ftl.core, frame_id);
        for (_, page) in stripes.data_pages(stripe) {
            if let Some(other) =
                self.dirty_frame(&ftl.core, page).filter(|&other| other != frame_id)
            {
                ftl.core.buffer.touch(other);
            }
        }
        ftl.core.buffer.touch(frame_id);
    }

    fn stripe_of_frame(&self, core: &Core, frame_id: FrameId) -> (Stripes, StripeId) {
        let stripes = self.stripes;
        (stripes, stripes.of(core.buffer.get(frame_id).lpn))
    }

    /// Sends all dirty pages of a stripe from the write buffer to the flash together, as far as the
    /// limit on page writes in flight allows; `frame_id` is the buffer frame of one of them.
    pub(crate) fn evict_stripe(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        frame_id: FrameId,
        room: bool,
    ) {
        let (stripes, stripe) = self.stripe_of_frame(&ftl.core, frame_id);
        let most = (ftl.queues.writes_max - ftl.queues.writes) as usize;
        let mut frames = [FrameId::NONE; MOST];
        let (mut count, mut together) = (0, 0);
        for (position, page) in stripes.data_pages(stripe) {
            let Some(frame) = self.dirty_frame(&ftl.core, page) else { continue };
            if count < most {
                frames[count] = frame;
                count += 1;
                together |= bit(position);
                ftl.take_out(flash, frame, room);
            }
        }
        for &frame in &frames[..count] {
            self.together = together;
            ftl.send_out(flash, frame, self);
        }
        self.together = 0;
    }

    /// Sends part of a write that is long enough to bypass the write buffer to the flash: all of
    /// its pages in the stripe of `page`, with their parity. Waits until the buffer has frames for
    /// all of them: written one after another, each page would cause a parity update.
    #[cold]
    pub(crate) fn write_part(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: ReqId,
        page: Lpn,
    ) -> Result<(), Stall> {
        let Request { next, end, .. } = *ftl.front.requests.get(id);
        let stripes = self.stripes;
        let stripe = stripes.of(page);
        let pages = (next..end)
            .map(|host| stripes.stored(Lpn(host)))
            .take_while(|&page| stripes.of(page) == stripe)
            .take(ftl.queues.writes_max as usize);
        let (mut count, mut lacking, mut together) = (0, 0, 0);
        for page in pages {
            count += 1;
            together |= bit(stripes.position(page));
            let has = matches!(ftl.core.map.place(page), Location::Buffer(frame_id)
                if ftl.core.buffer.get(frame_id).listed != Listed::Clean);
            lacking += u32::from(!has);
        }
        if ftl.queues.writes + count > ftl.queues.writes_max {
            return Err(Stall::Queue);
        }
        if !ftl.core.buffer.has_room(lacking) {
            ftl.evict(flash, self);
            if !ftl.core.buffer.has_room(lacking) {
                return Err(Stall::Buffer);
            }
        }
        let mut written = Ok(());
        for host in (next..next + count).map(Lpn) {
            self.together = together;
            written = ftl.write_page(flash, id, stripes.stored(host), true, self);
            if written.is_err() {
                break;
            }
        }
        self.together = 0;
        if let Some(entry) = self.cache.find(stripe) {
            let cached = self.cache.get_mut(entry);
            cached.expedited |= cached.progress == Progress::Open && cached.pinned > 0;
        }
        written
    }

    /// Sends a page of a write that is long enough to bypass the write buffer to the flash
    /// immediately.
    #[cold]
    pub(super) fn write_page_past(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: ReqId,
        frame_id: FrameId,
    ) {
        if ftl.core.buffer.get(frame_id).listed != Listed::Dirty {
            ftl.core.buffer.get_mut(frame_id).epoch = ftl.core.buffer.born();
        }
        ftl.core.buffer.delist(frame_id);
        if !ftl.core.buffer.get(frame_id).leaving {
            ftl.core.buffer.leave(frame_id);
        }
        let program = ftl.open_program(flash, frame_id);
        let txn = flash.txns.get_mut(program);
        txn.req = id;
        let request = ftl.front.requests.get(id);
        (txn.buffer_wait, txn.mapping_wait) = (request.buffer_wait, request.mapping_wait);
        txn.epoch = ftl.core.buffer.get(frame_id).epoch;
        self.note_mut(flash, program).expedited = true;
        ftl.send(flash, frame_id, program, self);
    }
}
