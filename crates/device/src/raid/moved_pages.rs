//! Cached parity that goes to the flash before its place is needed: because a page of its stripe was
//! moved, or because a run ends.

use super::Raid;
use super::parity_cache::Progress;
use crate::flash::Flash;
use crate::host::Ftl;
use crate::policy::redundancy::ParityFlush;
use fowler_units::{Lpn, ParityId, StripeId};

impl Raid {
    /// A page has been moved. Partial parity goes to the flash when "the logic pages of the parity
    /// are garbage-recycled" (DA-RAID-5, section II-B), if the drive is asked to follow that.
    #[cold]
    pub(super) fn flush_moved_stripe(&mut self, ftl: &mut Ftl, flash: &mut Flash, page: Lpn) {
        let stripe = self.stripes.of(page);
        let kept = self.rules.parity_flush == ParityFlush::WhenEvicted;
        if !kept || page == self.stripes.parity(stripe) {
            return;
        }
        if let Some(entry) = self.cache.find(stripe) {
            self.flush_soon(ftl, flash, entry);
        }
    }

    /// Everything that is cached goes to the flash.
    pub(crate) fn flush_all(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        let cached: Vec<(ParityId, StripeId)> =
            self.cache.iter().map(|(id, entry)| (id, entry.stripe)).collect();
        for (id, stripe) in cached {
            // The end of one may have been that of another.
            if self.cache.find(stripe) == Some(id) {
                self.flush_soon(ftl, flash, id);
            }
        }
    }

    /// An entry goes to the flash as soon as nothing is on its way to it.
    fn flush_soon(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        if self.cache.get(entry).progress == Progress::Open {
            self.cache.get_mut(entry).expedited = true;
            self.maybe_flush(ftl, flash, entry);
        }
    }
}
