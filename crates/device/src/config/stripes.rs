//! The effect of stripes on the capacity of a drive, and the rejection of stripes that cannot work.

use crate::config::Config;
use crate::config::layout::{Layout, Refusals};
use crate::policy::redundancy::{AboveNUpdate, RedundancyKind};
use fowler_units::Geometry;

/// The maximum number of data pages of a stripe: cached parity tracks the pages it covers as bits
/// of one word.
pub const DATA_MOST: u32 = 63;

/// Number of pages that the drive recovers by parity at the same time, for reads and for
/// rebuilding. Assumed: a controller has buffers for some stripes.
pub const AT_ONCE: usize = 16;

/// Returns the number of stripes of `data` pages and one parity page that fit into `pages`.
pub fn stripes_of(pages: u32, data: u32) -> u32 {
    pages / (data + 1)
}

/// Maximum number of reads in flight for one RAID stripe, for trims and for rebuilding parity, as a
/// multiple of the pages of a stripe.
pub(crate) const READS_MOST: u32 = 3;

impl Config {
    /// Returns two numbers of pages for flash that can hold `pages` pages: the host pages that fit
    /// with their parity, and the sum of these host pages and their parity pages.
    pub(crate) fn pages_beside_parity(&self, pages: u32) -> (u32, u32) {
        let redundancy = &self.redundancy;
        if !redundancy.has_stripes() {
            return (pages, pages);
        }
        let stripes = stripes_of(pages, redundancy.stripe);
        (stripes * redundancy.stripe, stripes * (redundancy.stripe + 1))
    }

    /// Returns the number of entries of the parity cache.
    pub(crate) fn parities(&self) -> u32 {
        let redundancy = &self.redundancy;
        let places = redundancy.parity_cache.0 / self.geometry.page_size.0.max(1);
        if redundancy.has_stripes() { places.min(u64::from(u32::MAX)) as u32 } else { 0 }
    }

    /// Returns the maximum number of parity transactions in flight: reads and programs for each
    /// entry of the parity cache, a read for each host write, and reads and programs of pages being
    /// recovered.
    pub(crate) fn parity_transactions(&self) -> usize {
        let redundancy = &self.redundancy;
        if !redundancy.has_stripes() {
            return 0;
        }
        let each = (READS_MOST + 2) * (redundancy.stripe + 1) + 2;
        let rescues = AT_ONCE as u32 * 2 * (redundancy.stripe + 1) + AT_ONCE as u32;
        (self.parities() * each + self.queue.max_writes + rescues) as usize
    }

    /// Checks the settings of stripes. See docs/decisions/raid.md, "How many chips does a drive
    /// with stripes need?".
    pub(crate) fn refuse_redundancy(&self, refusals: &mut Refusals) {
        let redundancy = &self.redundancy;
        if !redundancy.has_stripes() || self.ftl.has_superblocks() {
            return;
        }
        let (n, chips) = (redundancy.stripe, self.geometry.chips());
        let known = (1..=DATA_MOST).contains(&n);
        refusals.unless(known, &["policy.redundancy.stripe"], || {
            format!("stripes of {n} data pages; expected 1 to {DATA_MOST}")
        });
        if !known {
            return;
        }
        let keys = ["policy.redundancy.stripe", "geometry.channels", "geometry.chips_per_channel"];
        refusals.unless_hinted(
            n < chips,
            &keys,
            || format!("{n} data pages and a parity page per stripe do not fit on {chips} chips"),
            || {
                format!(
                    "each page of a stripe needs its own chip: use at most {} data pages",
                    chips - 1
                )
            },
        );
        refusals.unless_hinted(
            n >= chips || chips.is_multiple_of(n + 1),
            &keys,
            || format!("stripes of {} pages do not divide the drive's {chips} chips evenly", n + 1),
            || {
                let fit = |n: &u32| chips.is_multiple_of(n + 1);
                let fitting: Vec<String> =
                    (1..chips.min(DATA_MOST + 1)).filter(fit).map(|n| n.to_string()).collect();
                format!(
                    "for stripes that divide the chips evenly, set policy.redundancy.stripe to \
                     one of {}",
                    fitting.join(", ")
                )
            },
        );
        refusals.unless(
            redundancy.above_n_update == AboveNUpdate::Add || !redundancy.integrity,
            &["policy.redundancy.above_n_update", "policy.redundancy.integrity"],
            || {
                "`replace` leaves pages without parity, so the integrity check would find losses"
                    .into()
            },
        );
        let at_once = redundancy.rebuild_at_once;
        let most = AT_ONCE as u32;
        refusals.unless(
            (1..=most).contains(&at_once),
            &["policy.redundancy.rebuild_at_once"],
            || format!("{at_once} pages rebuilt at once; expected 1 to {most}"),
        );
        self.refuse_caches(refusals);
        self.refuse_wear_limits(refusals);
    }

    /// Refuses refresh limits at which every read of a block at the end of life
    /// (`reliability.cells.end_cycles` P/E cycles) would have the block's data moved, and a wear
    /// limit `worn_above` that no block reaches before that end.
    pub(crate) fn refuse_wear_limits(&self, refusals: &mut Refusals) {
        let redundancy = &self.redundancy;
        if !redundancy.has_stripes() {
            return;
        }
        let end = self.reliability.cells.end_cycles as u32;
        // Fewer reads than this would have every block refreshed all the time.
        let reads = f64::from(redundancy.reads) * redundancy.limits_at(f64::from(end));
        let keys = ["policy.redundancy.limit_growth", "policy.redundancy.reads"];
        refusals.unless(redundancy.limit_growth == 0.0 || reads >= 2.0, &keys, || {
            format!(
                "a refresh limit below 2 reads: at {end} P/E cycles, every read of a block would \
                 refresh it"
            )
        });
        let by_wear =
            matches!(redundancy.name, RedundancyKind::WearAware | RedundancyKind::ByStage);
        refusals.unless_hinted(
            !by_wear || redundancy.worn_above < end,
            &["policy.redundancy.worn_above", "reliability.cells.end_cycles"],
            || {
                format!(
                    "blocks count as worn above {} P/E cycles, but live for only {end}",
                    redundancy.worn_above
                )
            },
            || {
                format!(
                    "set policy.redundancy.worn_above = {}, half of a block's life in P/E cycles",
                    end / 2
                )
            },
        );
    }

    fn refuse_caches(&self, refusals: &mut Refusals) {
        let redundancy = &self.redundancy;
        let page = self.geometry.page_size;
        let stripe = u64::from(redundancy.stripe) * page.0;
        let places = self.parities();
        refusals.unless(places >= 2, &["policy.redundancy.parity_cache"], || {
            format!(
                "a parity cache of {} holds {places} pages of {page}; expected at least 2",
                redundancy.parity_cache
            )
        });
        let ahead = redundancy.parity_ahead;
        refusals.unless(
            (1..=(places / 2).max(1)).contains(&ahead),
            &["policy.redundancy.parity_ahead", "policy.redundancy.parity_cache"],
            || format!("{ahead} of {places} entries of the parity cache kept free; half at most"),
        );
        let by_stripe = matches!(
            redundancy.name,
            RedundancyKind::WearAware | RedundancyKind::HybridCaching | RedundancyKind::ByStage
        );
        refusals.unless(
            !by_stripe || self.buffer.size.0 >= stripe,
            &["buffer.size", "policy.redundancy.stripe"],
            || {
                format!(
                    "a buffer of {} is smaller than a stripe of {} pages of {page}",
                    self.buffer.size, redundancy.stripe
                )
            },
        );
    }

    /// Checks that every die can hold its pages, and also the pages that wait in the parity cache
    /// until it is flushed.
    pub(crate) fn refuse_dies(&self, layout: &Layout, refusals: &mut Refusals) {
        if !self.redundancy.has_stripes() {
            return;
        }
        let Geometry { planes_per_die, .. } = layout.geometry;
        let dies = layout.geometry.dies();
        let room = planes_per_die * layout.plane_limit();
        let pages = layout.mapped_pages.div_ceil(dies);
        let needed = u64::from(pages) + u64::from(layout.parities) + 1;
        refusals.unless_hinted(
            needed <= u64::from(room),
            &["policy.redundancy.parity_cache", "geometry.over_provisioning"],
            || {
                format!(
                    "each die would have to hold {pages} pages, parity included, and {} more that the parity cache \
                     retains until it is flushed; it has room for {room}",
                    layout.parities
                )
            },
            || "use more over-provisioning or a smaller parity cache".into(),
        );
    }
}
