//! The transactions of scrubbing, and the rejection of periods that are too short.

use crate::config::layout::Refusals;
use crate::config::{Config, PlaneMode};
use crate::policy::scrub::ScrubKind;
use fowler_units::Span;

/// The maximum share of a die's time that reading all its pages may take, as a divisor: a die that
/// is behind schedule reads twice as often.
const SHARE_OF_DIE: u64 = 4;

impl Config {
    /// Returns true if the drive reads its data in the background (scrubbing).
    pub(crate) fn scrubs(&self) -> bool {
        self.scrub.name != ScrubKind::Off
    }

    /// Returns true if scrubbing compares stripes with their parity, by the versions of their
    /// pages.
    pub fn compares_stripes(&self) -> bool {
        let redundancy = &self.redundancy;
        self.scrubs() && self.scrub.stripes && redundancy.has_stripes() && redundancy.integrity
    }

    pub(crate) fn refuse_scrub(&self, refusals: &mut Refusals) {
        let scrub = &self.scrub;
        if !self.scrubs() {
            return;
        }
        let g = &self.geometry;
        let planes = match self.plane_mode {
            PlaneMode::Lockstep => g.planes_per_die,
            PlaneMode::Independent => 1,
        };
        let pages = [planes, g.blocks_per_plane, g.pages_per_block].map(u128::from);
        let pages: u128 = pages.into_iter().product();
        let sense = self.timing.read.values().iter().copied().max().unwrap_or_default();
        let read = u128::from(sense.0) + u128::from(self.read_timing().bus_transfer.0);
        let least = u128::from(SHARE_OF_DIE).saturating_mul(pages).saturating_mul(read);
        let least = Span(u64::try_from(least).unwrap_or(u64::MAX));
        refusals.unless_hinted(
            scrub.period >= least,
            &["policy.scrub.period"],
            || {
                format!(
                    "a die cannot read its {pages} pages within {} besides serving the host",
                    scrub.period
                )
            },
            || format!("allow four times what the reads take: at least {least}"),
        );
        let margin = scrub.margin > 0.0 && scrub.margin <= 1.0;
        refusals.unless(margin, &["policy.scrub.margin"], || {
            format!("a margin of {}; expected above 0 and at most 1", scrub.margin)
        });
    }
}
