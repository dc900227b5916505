//! The census of lost pages on a drive: see [`crate::raid::census`].

use super::Device;
use super::controller::Hooks;
use crate::cells::unreadable_pages::{FailedReads, Judge};
use crate::raid::census::{Census, Taking, Verdict};
use crate::raid::fault_kinds::sorted_at_hand;
use fowler_units::{BlockId, Id, Lpn, Ppn, UnitId};

impl Device {
    /// Counts the drive's pages by readability at this moment: pages that no sensing level reads,
    /// and of these, lost pages, which neither the buffer nor the page's stripe recovers. Nothing
    /// is read, timed or changed. The count takes some nanoseconds for each logical page; a drive
    /// on which it is not called spends no time on it.
    ///
    /// Without a model of bit errors and without tracked data versions, every page is readable. See
    /// docs/decisions/raid.md, "Which pages does a census count as lost?".
    pub fn census(&self) -> Census {
        let core = &self.layer.ftl.core;
        let (mut judge, silent) = (self.judge(), self.layer.silent());
        let all_read = self.reads_all();
        let judge = |page, unit| if all_read { Verdict::Reads } else { judge(page, unit) };
        let mut taking = Taking { core, judge, silent, census: Census::default() };
        match &self.layer.hooks {
            Hooks::Raid(raid) => taking.stripes(raid),
            Hooks::LostPages(lost_pages) => taking.plain(|page| lost_pages.lost(page)),
            Hooks::Nothing => taking.plain(|_| None),
        }
        taking.census
    }

    /// Returns true if a host page is readable but does not hold the data written to it: silent
    /// corruption.
    pub fn is_wrong(&self, page: Lpn) -> bool {
        let (core, judge, silent) = (&self.layer.ftl.core, self.judge(), self.layer.silent());
        let mut taking = Taking { core, judge, silent, census: Census::default() };
        taking.look(self.stored_page(page));
        taking.census.wrong > 0
    }

    /// Returns the physical pages that the drive needs and that no sensing level reads at this
    /// moment.
    pub fn unreadable_now(&self) -> Vec<Ppn> {
        let core = &self.layer.ftl.core;
        let mut judge = self.judge();
        let units = (0..core.layout.geometry.pages()).map(UnitId);
        let needed = units.filter(|&unit| core.allocator.blocks.is_valid(unit));
        let fails = needed.filter(|&unit| {
            let page = core.map.owner(unit);
            let current = core.flash_copy(page) == unit && !self.is_parity(page);
            judge(if current { page } else { Lpn::NONE }, unit) != Verdict::Reads
        });
        fails.map(|unit| core.locator.page_of(unit)).collect()
    }

    /// Returns true if every page of the drive is known to be readable. Most drives have no
    /// unreadable page, and their blocks tell that without a look at their pages, which lie in
    /// random order.
    fn reads_all(&self) -> bool {
        let core = &self.layer.ftl.core;
        let known = self.flash.failed_reads().is_some_and(FailedReads::any);
        if known || self.integrity().is_some() || core.classes.marks.is_some() {
            return false;
        }
        let Some(cells) = self.flash.condition() else { return true };
        let mut judge = Judge::new(cells, self.now());
        let with_data = |&block: &BlockId| core.allocator.blocks.valid(block) > 0;
        let mut blocks = (0..core.layout.geometry.blocks()).map(BlockId).filter(with_data);
        blocks.all(|block| judge.reads_all(block))
    }

    /// Returns a function that judges whether a page is readable at this moment, for the census of
    /// lost pages.
    fn judge(&self) -> impl FnMut(Lpn, UnitId) -> Verdict {
        let (core, integrity) = (&self.layer.ftl.core, self.integrity());
        let mut cells = self.flash.condition().map(|cells| Judge::new(cells, self.now()));
        let failed = self.flash.failed_reads();
        let marks = core.classes.marks.as_ref();
        // Data that has been read to be moved comes back with the move, however old it is by then.
        let moving = sorted_at_hand(&self.flash);
        move |page: Lpn, unit: UnitId| {
            let at = core.locator.page_of(unit);
            if failed.is_some_and(|failed_reads| failed_reads.has(at)) {
                return Verdict::HasFailed;
            }
            let read_as = marks.filter(|_| page.is_some()).map(|marks| marks[page]);
            let struck = integrity.is_some_and(|it| !it.reads(unit));
            let mut fails = || {
                let block = core.locator.block_of(unit);
                cells.as_mut().is_some_and(|judge| judge.fails(at, block, read_as))
            };
            if struck || (fails() && moving.binary_search(&unit).is_err()) {
                Verdict::WouldFail
            } else {
                Verdict::Reads
            }
        }
    }

    fn is_parity(&self, page: Lpn) -> bool {
        self.layer.raid().is_some_and(|raid| raid.stripes.is_parity(page))
    }
}
