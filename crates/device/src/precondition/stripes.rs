//! Preconditioning of a drive whose pages are striped.

use super::Preconditioning;
use crate::config::Config;
use crate::config::layout::Layout;
use crate::policy::redundancy::{AnyRedundancy, Protects, Redundancy, Stage};
use crate::raid::stripes::Stripes;
use fowler_units::Lpn;

/// Stripes of a drive while it is preconditioned.
#[derive(Clone, Copy, Debug)]
pub(super) struct StripedFill {
    pub stripes: Stripes,
    /// True if stripes have parity from the start.
    with_parity: bool,
}

impl StripedFill {
    /// Returns the stripes that preconditioning fills on a drive of this configuration; `None` if
    /// the drive has no stripes.
    pub fn new(config: &Config, layout: &Layout) -> Option<StripedFill> {
        let params = &config.redundancy;
        let rules = AnyRedundancy::new(params, config.seed).rules(Stage::First);
        params.has_stripes().then(|| StripedFill {
            stripes: Stripes::new(params.stripe, layout.geometry.dies(), layout.mapped_pages),
            with_parity: rules.protects == Protects::All,
        })
    }
}

impl Preconditioning<'_> {
    /// Returns true if a page holds data before the run; a parity page only if stripes have parity
    /// from the start.
    pub(super) fn holds_from_the_start(&self, page: Lpn) -> bool {
        let is_parity = self.stripes.is_some_and(|fill| fill.stripes.is_parity(page));
        self.parity_from_the_start() || !is_parity
    }

    /// Overwrites a page before the run, and the parity of its stripe. Returns true if the page is
    /// a data page.
    pub(super) fn overwrite(&mut self, page: Lpn, kept: u32) -> bool {
        let Some(StripedFill { stripes, .. }) = self.stripes else {
            self.gc.store(self.core, page, kept);
            return true;
        };
        if stripes.is_parity(page) {
            return false;
        }
        self.gc.store(self.core, page, kept);
        if self.parity_from_the_start() {
            self.gc.store(self.core, stripes.parity(stripes.of(page)), kept);
        }
        true
    }

    /// Returns true if preconditioning gives stripes their parity.
    /// See docs/decisions/precondition.md, "In what state do stripes start?".
    pub(super) fn parity_from_the_start(&self) -> bool {
        self.stripes.is_some_and(|fill| fill.with_parity)
    }
}
