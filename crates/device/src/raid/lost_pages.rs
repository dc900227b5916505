//! Losses of a drive without stripes. Only drives that are to notice losses have this state; the
//! host side calls it where it would call redundancy.
//!
//! 1. A fault strikes pages of the flash ([`LostPages::strike`]), or a check of a read finds a
//!    wrong page.
//! 2. A page whose newest data the buffer holds is programmed anew from there.
//! 3. Any other page is lost, and reads of it fail, until the host writes or trims it.
//!
//! Invariant: a page is lost exactly while `lost` has its cause.

use super::fault_kinds::{Fault, sorted_at_hand};
use super::faults::give_up_copy;
use super::losses::{Failure, Loss, LossLedger, Reason};
use super::silent_corruption::{SilentErrors, Struck, draw_page, is_stored};
use crate::cache::buffer::Frame;
use crate::config::Config;
use crate::config::layout::Layout;
use crate::flash::Flash;
use crate::flash::txn::{Owner, Txn};
use crate::host::Ftl;
use crate::host::redundancy_hooks::RedundancyHooks;
use crate::observe::blame::Blame;
use crate::observe::operation::Op;
use fowler_units::{BlockId, Bytes, FrameId, Id, IdVec, Lpn, TxnId, UnitId};

/// The lost pages of a drive without stripes.
#[derive(Clone, Debug)]
pub(crate) struct LostPages {
    /// Loss of each logical page; `None` unless the page is lost.
    lost: IdVec<Lpn, Option<Loss>>,
    /// Pages that can be read but hold wrong data.
    pub silent: SilentErrors,
    /// Counts of unreadable and lost pages.
    pub ledger: LossLedger,
}

impl LostPages {
    /// Creates the record of lost pages of a drive without stripes, with no page lost; `None`
    /// unless the drive is configured to track data versions, by which losses are noticed.
    pub fn new(config: &Config, layout: &Layout) -> Option<Box<LostPages>> {
        config.redundancy.notes_lost_pages().then(|| {
            let lost = IdVec::filled(None, layout.mapped_pages as usize);
            let silent = SilentErrors::new(config);
            Box::new(LostPages { lost, silent, ledger: LossLedger::default() })
        })
    }

    /// Returns the memory that the record of lost pages (an optional cause of loss for each logical
    /// page) takes on the simulating machine; 0 on a drive that does not track losses.
    pub fn bytes(config: &Config, layout: &Layout) -> Bytes {
        match config.redundancy.notes_lost_pages() {
            true => Bytes::of::<Option<Loss>>(layout.mapped_pages.into()),
            false => Bytes(0),
        }
    }

    /// Returns the loss that took a logical page; `None` if the page is not lost.
    pub fn lost(&self, page: Lpn) -> Option<Loss> {
        self.lost[page]
    }

    /// Makes the stored pages of a failing part of the flash unreadable: of the page, block, plane,
    /// die, chip or channel that `fault` names. Their data is lost, unless the buffer holds it.
    pub fn strike(&mut self, ftl: &mut Ftl, flash: &mut Flash, fault: Fault) {
        let pages = fault.stored_pages(&ftl.core, flash, None);
        self.strike_pages(ftl, flash, pages, fault.failure());
    }

    /// Makes physical pages that hold data unreadable.
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

    /// Corrupts the pages that a fault strikes so that no read notices it.
    pub fn corrupt(&mut self, ftl: &Ftl, flash: &Flash, fault: Fault) {
        let core = &ftl.core;
        let units = fault.stored_pages(core, flash, None);
        let at_hand = sorted_at_hand(flash);
        let failed = flash.failed_reads();
        let reads = |unit| failed.is_none_or(|all| !all.has(core.locator.page_of(unit)));
        let drive = Struck {
            open: &|unit| is_stored(core, &at_hand, unit) && reads(unit),
            stored: &|_| 0,
            current: &|unit| core.flash_copy(core.map.owner(unit)) == unit,
            another: &|unit, rng| draw_page(core, unit, rng),
        };
        units.into_iter().for_each(|unit| self.silent.strike((fault, unit), &drive));
    }

    /// Handles the end of a transaction on a drive with wrong pages, for [`RedundancyHooks::done`].
    /// A page that a check finds to be wrong is lost, whoever reads it.
    #[cold]
    fn read_with_errors(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) {
        let Txn { unit, needed, level, owner, .. } = *flash.txns.get(id);
        if !unit.is_some() || needed > level {
            return;
        }
        if !self.silent.is_found(unit) {
            return self.silent.note_read(ftl, flash, id);
        }
        if ftl.core.allocator.blocks.is_valid(unit) {
            self.silent.found(unit);
            let page = ftl.core.map.owner(unit);
            self.strike_pages(ftl, flash, vec![unit], Failure::Wrong);
            if owner == Owner::Request {
                self.reads_lost(page);
            }
        }
    }
}

impl RedundancyHooks for LostPages {
    fn written(&mut self, page: Lpn, frame: &mut Frame, whole: bool) {
        self.lost[page] = None;
        if whole {
            frame.wrong = false;
        }
    }

    fn frame_read(&mut self, ftl: &Ftl, frame_id: FrameId) {
        self.silent.ledger.returned += u64::from(ftl.core.buffer.get(frame_id).wrong);
    }

    fn reads_wrong(&self, unit: UnitId) -> bool {
        self.silent.reads_wrong(unit)
    }

    fn bound(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        _page: Lpn,
        (old, new): (UnitId, UnitId),
    ) {
        let wrong = match flash.txns.get(id).owner {
            Owner::Frame(frame_id) => ftl.core.buffer.get(frame_id).wrong,
            _ => false,
        };
        let error = if wrong { self.silent.fresh() } else { 0 };
        self.silent.store(new, error);
        ftl.invalidate(flash, old);
    }

    fn relocated(
        &mut self,
        ftl: &mut Ftl,
        _flash: &mut Flash,
        page: Lpn,
        (from, to): (UnitId, UnitId),
    ) {
        self.silent.store(to, self.silent.error_read(from));
        ftl.core.relocate(page, to);
    }

    fn erased(&mut self, ftl: &mut Ftl, _flash: &mut Flash, block: BlockId) {
        self.silent.erase(ftl.core.locator.units_of(block));
    }

    #[inline]
    fn done(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId, _dropped: bool) -> bool {
        if self.silent.any() && flash.txns.get(id).op == Op::Read {
            self.read_with_errors(ftl, flash, id);
        }
        let Txn { owner, lpn, die, .. } = *flash.txns.get(id);
        // A failed die has not answered.
        if owner == Owner::Request && flash.has_failed(die) {
            self.reads_lost(lpn);
        }
        false
    }

    fn reads_lost(&mut self, page: Lpn) -> bool {
        let lost = self.lost[page].is_some();
        self.ledger.failed_reads += u64::from(lost);
        lost
    }

    fn service_blame(&self, flash: &Flash, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        flash.blame_if_served(id, waiter, blame);
    }

    fn trimmed_nothing(&mut self, page: Lpn) {
        self.lost[page] = None;
    }

    fn frame_lost(&mut self, _page: Lpn, _unit: UnitId) {
        self.ledger.lost[Reason::Power] += 1;
        self.ledger.lost_writes += 1;
    }
}
