//! Flushes of cached parity before its entry is needed.
//!
//! 1. A page of the stripe was moved ([`Raid::flush_moved_stripe`]), or a run ends
//!    ([`Raid::flush_all`]).
//! 2. The entry counts as expedited from then on, and is flushed as soon as no reads or programs
//!    for it are in flight (`parity_flush_trigger.rs`).
//!
//! Exceptions: an entry that is being flushed already is left alone. A move causes no flush if it
//! moves the parity itself, or under a policy that flushes parity with the data.

use super::Raid;
use super::parity_cache::Progress;
use crate::flash::Flash;
use crate::host::Ftl;
use crate::policy::redundancy::ParityFlush;
use fowler_units::{Lpn, ParityId, StripeId};

impl Raid {
    /// Flushes the cached parity of the stripe of a moved page: "or the logic pages of the parity
    /// are garbage-recycled" (DA-RAID-5, section II-B).
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

    /// Flushes every entry of the parity cache.
    pub(crate) fn flush_all(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        let cached: Vec<(ParityId, StripeId)> =
            self.cache.iter().map(|(id, entry)| (id, entry.stripe)).collect();
        for (id, stripe) in cached {
            // Flushing one entry may have closed another.
            if self.cache.find(stripe) == Some(id) {
                self.flush_soon(ftl, flash, id);
            }
        }
    }

    /// Flushes an entry of the parity cache as soon as no reads or programs for it are in flight.
    fn flush_soon(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        if self.cache.get(entry).progress == Progress::Open {
            self.cache.get_mut(entry).expedited = true;
            self.maybe_flush(ftl, flash, entry);
        }
    }
}
