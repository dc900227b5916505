//! What a drive without stripes loses: nothing brings back a page that a fault has struck, unless
//! the buffer still holds it. Only drives that are to notice losses keep this; the host's code
//! calls it where it would call redundancy.

use super::fault_kinds::Fault;
use super::faults::give_up_copy;
use super::losses::{Failure, Loss, LossLedger, Reason};
use crate::config::Config;
use crate::config::layout::Layout;
use crate::flash::Flash;
use crate::host::Ftl;
use crate::host::redundancy_hooks::RedundancyHooks;
use fowler_units::{Bytes, IdVec, Lpn, UnitId};

/// The lost pages of a drive without stripes.
#[derive(Clone, Debug)]
pub(crate) struct LostPages {
    /// What took each page, if it is lost.
    lost: IdVec<Lpn, Option<Loss>>,
    /// The fate of pages that could not be read.
    pub ledger: LossLedger,
}

impl LostPages {
    /// Creates the state of a fresh drive, if it is to notice what it loses.
    pub fn new(config: &Config, layout: &Layout) -> Option<Box<LostPages>> {
        config.redundancy.notes_lost_pages().then(|| {
            let lost = IdVec::filled(None, layout.mapped_pages as usize);
            Box::new(LostPages { lost, ledger: LossLedger::default() })
        })
    }

    /// Returns the memory that this takes.
    pub fn bytes(config: &Config, layout: &Layout) -> Bytes {
        match config.redundancy.notes_lost_pages() {
            true => Bytes::of::<Option<Loss>>(layout.mapped_pages.into()),
            false => Bytes(0),
        }
    }

    /// Returns what took a page, if it is lost.
    pub fn lost(&self, page: Lpn) -> Option<Loss> {
        self.lost[page]
    }

    /// Makes units of the flash fail. All that they hold is lost.
    pub fn strike(&mut self, ftl: &mut Ftl, flash: &mut Flash, fault: Fault) {
        let pages = fault.stored_pages(&ftl.core, flash, None);
        self.strike_pages(ftl, flash, pages, fault.failure());
    }

    /// Makes physical pages fail that hold data.
    pub fn strike_pages(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        pages: Vec<UnitId>,
        failure: Failure,
    ) {
        for unit in pages {
            let page = ftl.core.map.owner(unit);
            if ftl.core.flash_copy(page) != unit {
                continue;
            }
            let kept = give_up_copy(ftl, flash, page, unit);
            self.ledger.unreadable += 1;
            if kept {
                self.ledger.rewritten += 1;
            } else {
                self.lost[page] = Some(Loss::unprotected(failure));
                self.ledger.lost[Reason::Unprotected] += 1;
            }
        }
        ftl.evict(flash, self);
    }
}

impl RedundancyHooks for LostPages {
    fn written(&mut self, page: Lpn) {
        self.lost[page] = None;
    }

    fn reads_lost(&mut self, page: Lpn) -> bool {
        let lost = self.lost[page].is_some();
        self.ledger.failed_reads += u64::from(lost);
        lost
    }

    fn trimmed_nothing(&mut self, page: Lpn) {
        self.lost[page] = None;
    }

    fn frame_lost(&mut self, _page: Lpn, _unit: UnitId) {
        self.ledger.lost[Reason::Power] += 1;
        self.ledger.lost_writes += 1;
    }
}
