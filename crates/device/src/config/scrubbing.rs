//! The transactions of scrubbing, and the rejection of periods that are too short.

use crate::config::layout::Refusals;
use crate::config::{Config, PlaneMode};
use crate::policy::scrub::ScrubKind;
use fowler_units::Span;

/// Divisor of time: scrubbing on schedule may spend at most 1/4 of a die's time (with superblocks,
/// of the drive's time) on reads, because scrubbing that is behind schedule reads twice as often.
const READS_SHARE: u64 = 4;

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
        let (g, unit) = (&self.geometry, self.unit().0);
        if self.ftl.has_superblocks() && (unit == 0 || unit > g.page_size.0) {
            // The unit is refused.
            return;
        }
        // A page-mapped drive scrubs all dies at once, and one with superblocks a page at a time.
        let (reader, transfers, planes) = match (self.ftl.has_superblocks(), self.plane_mode) {
            (true, _) => ("drive", g.page_size.0 / unit, g.planes()),
            (false, PlaneMode::Lockstep) => ("die", 1, g.planes_per_die),
            (false, PlaneMode::Independent) => ("die", 1, 1),
        };
        let pages = [planes, g.blocks_per_plane, g.pages_per_block].map(u128::from);
        let pages: u128 = pages.into_iter().product();
        let transfer = self.read_timing().bus_transfer * transfers + self.flash.read_command;
        let sense = self.timing.read.values().iter().copied().max().unwrap_or_default();
        let read = u128::from(sense.0) + u128::from(transfer.0);
        let least = u128::from(READS_SHARE).saturating_mul(pages).saturating_mul(read);
        let least = Span(u64::try_from(least).unwrap_or(u64::MAX));
        refusals.unless_hinted(
            scrub.period >= least,
            &["policy.scrub.period"],
            || {
                format!(
                    "scrubbing that reads all {pages} pages of a {reader} once in {} takes more \
                     than 1/{READS_SHARE} of the time of the {reader}",
                    scrub.period
                )
            },
            || {
                format!(
                    "set policy.scrub.period to {least} or more: {READS_SHARE} times the time that \
                     reading all pages of the {reader} takes"
                )
            },
        );
        let margin = scrub.margin > 0.0 && scrub.margin <= 1.0;
        refusals.unless(margin, &["policy.scrub.margin"], || {
            format!(
                "a scrubbing margin of {}; expected a share of the correctable bit errors, \
                 above 0 and at most 1",
                scrub.margin
            )
        });
    }
}
