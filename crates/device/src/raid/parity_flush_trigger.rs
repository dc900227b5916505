//! The trigger of a parity flush. The redundancy policy decides (`Rules::parity_flush`):
//!
//! 1. At once when nothing is in flight for an entry, under a policy that flushes with the data, or
//!    for an expedited write ([`Raid::maybe_flush`]).
//! 2. When entries of the parity cache are needed: for each program or trim that waits, and some
//!    ahead of demand ([`Raid::make_room`]).
//! 3. When a stripe gets its first parity: while a page is written to it, or as soon as an entry is
//!    free ([`Raid::begin_parity`], [`Raid::build_wanted`]).
//!
//! An entry whose pages were all trimmed is closed without a flush; one whose stripe has two
//! unreadable pages is not flushed.

use super::Raid;
use super::parity_cache::Progress;
use crate::flash::Flash;
use crate::host::Ftl;
use crate::policy::redundancy::ParityFlush;
use fowler_units::{Id, Lpn, ParityId, StripeId, UnitId};

impl Raid {
    /// Flushes a parity cache entry (writes the parity of its stripe to the flash) once no reads or
    /// programs for it are in flight, if the parity cache is not to hold it any longer. See
    /// docs/decisions/raid.md, "When is parity submitted?".
    pub(crate) fn maybe_flush(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        let cached = self.cache.get(entry);
        let quiet = cached.progress == Progress::Open && cached.pinned == 0 && cached.reads == 0;
        let due = cached.expedited || self.rules.parity_flush == ParityFlush::AtOnce;
        let nothing = cached.covered | cached.uncovered == 0 && cached.based;
        if quiet && nothing {
            // All pages to be covered were trimmed before they were programmed.
            self.finish(ftl, flash, entry);
        } else if quiet && due && !cached.frail {
            self.flush(ftl, flash, entry);
        }
    }

    /// Starts to write the first parity of a stripe; the page `written` has just been written, and
    /// is still in the controller.
    pub(crate) fn begin_parity(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        stripe: StripeId,
        written: Option<(Lpn, UnitId)>,
    ) {
        let entry = if self.may_build() { self.cache.open(stripe, false) } else { None };
        let Some(entry) = entry else {
            self.want(&mut ftl.gc, stripe);
            return self.make_room(ftl, flash);
        };
        if !self.building.is_some() {
            self.building = entry;
        }
        if let Some((page, new)) = written {
            self.take_in(ftl, flash, entry, page, UnitId::NONE, new);
        }
        self.flush(ftl, flash, entry);
    }

    /// Starts to write the parity of stripes that need it, while parity cache entries are free.
    pub(crate) fn build_wanted(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        while self.wanted_count > 0 && self.may_build() {
            let Some(stripe) = self.next_wanted(&mut ftl.gc) else { return };
            let taken = self.cache.find(stripe).is_some();
            // An entry without parity in the flash will be computed from all pages anyway.
            if !taken && self.needs_parity(&ftl.core, stripe) {
                self.begin_parity(ftl, flash, stripe, None);
            }
        }
        self.all_have_parity(ftl);
    }

    /// Ends refresh (moving old data to new blocks) once all stripes have parity, on a drive that
    /// refreshes only until then: "the RAID-5 is applied to all the stripes" (section III-B of
    /// DA-RAID-5, a RAID-5 inside the drive). Such a drive never returns to the stage before.
    fn all_have_parity(&mut self, ftl: &mut Ftl) {
        if !self.rules.refreshes && self.wanted_count == 0 {
            ftl.gc.refresh = None;
        }
    }

    /// Flushes as many entries as needed for enough of the parity cache to become free: one for
    /// each waiting program or trim, at least one ahead of demand, and one for a stripe that needs
    /// its first parity, so that such stripes get parity however full the cache is.
    pub(crate) fn make_room(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        loop {
            let kept = self.rules.parity_flush == ParityFlush::WhenEvicted;
            let ahead = if kept { self.ahead } else { 0 };
            let wanted =
                (self.waiting_programs.len() as u32 + u32::from(self.trims_wait)).max(ahead);
            let wanted = wanted + u32::from(kept && self.wanted_count > 0);
            if self.cache.free_count() + self.cache.flushing() >= wanted {
                return;
            }
            let Some(oldest) = self.cache.evictable() else { return };
            self.flush(ftl, flash, oldest);
        }
    }
}
