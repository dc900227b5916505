//! Eviction from a buffer that evicts lazily ([`super::residents`]), and units that stay there
//! after a read.
//!
//! 1. Before the host programs, frames are evicted as long as too few are free, leaving, or waiting
//!    for a command that they fill ([`Superblocks::evict`]). A flush evicts all dirty ones.
//! 2. `policy.replacement` names the kind of frame. A clean one is freed
//!    ([`Superblocks::drop_clean`]).
//! 3. A dirty one gets its access class, if the drive tells classes apart, and waits for a command
//!    of the stream of its data.
//! 4. Units that a read has brought stay, as long as frames are free or hold clean data
//!    ([`Superblocks::keep_read`]).

use super::Superblocks;
use super::residents::Residents;
use crate::flash::Flash;
use crate::mapping::page_map::Location;
use crate::policy::replacement::Leaves;
use fowler_units::{FrameId, Lpn, UnitId};

impl Superblocks {
    /// Evicts frames of the write buffer while too few are free, being programmed, or waiting for a
    /// program command that they fill.
    #[inline]
    pub(super) fn evict(&mut self, flash: &mut Flash) {
        if self.buffer.residents().is_some() {
            self.evict_due(flash);
        }
    }

    #[inline(never)]
    fn evict_due(&mut self, flash: &mut Flash) {
        loop {
            let Some(residents) = self.buffer.residents() else { return };
            let units = self.stream_of_host().map_or(1, |stream| self.units_of(stream));
            let room = self.buffer.room(units);
            let due = residents.due(room).or_else(|| {
                // A flush waits for everything dirty.
                let dirty = residents.oldest_dirty().filter(|_| self.flushes.force())?;
                Some((dirty, Leaves::Dirty))
            });
            let Some((frame, leaves)) = due else { return };
            if leaves == Leaves::Clean {
                self.drop_clean(flash, frame);
                continue;
            }
            let tag = self.buffer.tag(frame);
            let tag = match self.streams.tells_classes() {
                true => tag.with_class(self.streams.class(self.buffer.use_of(frame, flash.now()))),
                false => tag,
            };
            flash.counters.left[tag.class()] += 1;
            self.buffer.evict(frame, (self.streams.of(tag), tag));
        }
    }

    /// Frees a clean frame of the write buffer, whose unit is in the flash, too.
    pub(super) fn drop_clean(&mut self, flash: &mut Flash, frame: FrameId) {
        let class = self.streams.class(self.buffer.use_of(frame, flash.now()));
        flash.counters.left[class] += 1;
        self.map.leave_frame(self.buffer.page(frame), self.buffer.unit(frame));
        self.buffer.release(frame);
    }

    /// Takes a frame for a unit of the host by dropping a clean one, if there is none that is free.
    #[inline]
    pub(super) fn make_free(&mut self, flash: &mut Flash) {
        if self.buffer.free_count() == 0
            && let Some(clean) = self.buffer.residents().and_then(Residents::oldest_clean)
        {
            self.drop_clean(flash, clean);
        }
    }

    /// Keeps consecutive units that a read has brought from the flash in frames of the write
    /// buffer, so that the buffer serves later reads, as long as frames are free or hold clean
    /// data. `page` is the first unit as the host numbers it, `unit` its location in the flash.
    pub(super) fn keep_read(&mut self, flash: &mut Flash, page: Lpn, unit: UnitId, parts: u32) {
        for at in 0..parts {
            let (page, unit) = (page.plus(at), unit.plus(at));
            match self.map.place(page) {
                Location::Flash(now) if now == unit => {
                    self.make_free(flash);
                    let Some(frame) = self.buffer.keep(page, unit) else { return };
                    self.map.buffer(page, frame);
                    self.buffer.use_frame(frame, false);
                    if let Some(contents) = &mut self.contents {
                        let wrong = contents.reads_wrong(unit);
                        contents.take(frame, wrong);
                    }
                }
                // Another request has read the unit at the same time.
                Location::Buffer(frame) => self.buffer.use_frame(frame, false),
                Location::Flash(_) | Location::Nowhere => {}
            }
        }
        self.drain(flash);
    }
}
