//! When parity goes to the flash: at once or when its write hurries, when its place in the parity
//! cache is needed, and where a stripe gets parity for the first time. The redundancy policy says
//! which (`Rules::parity_flush`).

use super::Raid;
use super::parity_cache::Progress;
use crate::flash::Flash;
use crate::host::Ftl;
use crate::policy::redundancy::ParityFlush;
use fowler_units::{Id, Lpn, ParityId, StripeId, UnitId};

impl Raid {
    /// An entry that is not to be kept goes to the flash once nothing is on its way to it.
    /// See docs/decisions/raid.md, "When is parity submitted?".
    pub(crate) fn maybe_flush(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        let its = self.cache.get(entry);
        let quiet = its.progress == Progress::Open && its.pinned == 0 && its.reads == 0;
        let due = its.expedited || self.rules.parity_flush == ParityFlush::AtOnce;
        let nothing = its.covered == 0 && its.based;
        if quiet && nothing {
            // Whatever was to be covered was trimmed on its way.
            self.finish(ftl, flash, entry);
        } else if quiet && due && !its.frail {
            self.flush(ftl, flash, entry);
        }
    }

    /// A stripe gets parity of its own accord; `page` has just been written, and is at hand.
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

    /// Stripes that are to have parity get it while places are left.
    pub(crate) fn build_wanted(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        while self.wanted_count > 0 && self.may_build() {
            let Some(stripe) = self.next_wanted(&mut ftl.gc) else { return };
            let taken = self.cache.find(stripe).is_some();
            // Whoever has a place without parity in the flash will write it from all pages.
            if !taken && self.needs_parity(&ftl.core, stripe) {
                self.begin_parity(ftl, flash, stripe, None);
            }
        }
        self.all_have_parity(ftl);
    }

    /// Where blocks are refreshed no more, they are as long as a stripe lacks its parity (section
    /// III-B: "the RAID-5 is applied to all the stripes"). A drive never goes back.
    fn all_have_parity(&mut self, ftl: &mut Ftl) {
        if !self.rules.refreshes && self.wanted_count == 0 {
            ftl.gc.refresh = None;
        }
    }

    /// Sees to it that a place becomes free for everyone who waits for one, and for one more; and
    /// where stripes are to get parity, for one of them at a time, so that they get it however full
    /// the cache is kept.
    pub(crate) fn make_room(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        loop {
            let kept = self.rules.parity_flush == ParityFlush::WhenEvicted;
            let ahead = u32::from(kept);
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
