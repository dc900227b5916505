//! The implementation, for drives with stripes, of the hooks that the host side calls
//! ([`RedundancyHooks`] says when). Each hook tests if the stripe is concerned, and passes the call
//! on:
//!
//! 1. A page is written, or leaves the buffer: `parity_update.rs`, `stripe_eviction.rs`.
//! 2. A program is bound to a page: the parity covers it; or it begins anew if it is too late.
//! 3. A transaction ends: parity, recovery and scrub handle their own (`parity_flush.rs`,
//!    `rebuild.rs`, `stripe_comparisons.rs`); a failed read is recovered; a completion may be
//!    deferred (`deferred_answers.rs`).
//! 4. A page moves, or a block is erased: `stages.rs`.

use super::Raid;
use super::losses::Reason;
use crate::blocks::page_allocator::Taken;
use crate::cache::buffer::{Frame, Listed};
use crate::flash::txn::{Owner, Txn};
use crate::flash::{Bind, Flash};
use crate::host::Ftl;
use crate::host::redundancy_hooks::RedundancyHooks;
use crate::host::request::Stall;
use crate::observe::blame::Blame;
use crate::observe::operation::Op;
use crate::policy::redundancy::Eviction;
use fowler_units::{BlockId, FrameId, Lpn, ReqId, Span, TxnId, UnitId};

impl Raid {
    /// Handles the end of a transaction for parity or for the recovery of a page and, on a drive
    /// that tracks data versions or refreshes blocks, of any transaction. Returns true if the
    /// caller has nothing more to do for it.
    #[inline(never)]
    fn own_done(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId, dropped: bool) -> bool {
        if ftl.gc.refresh.is_some() {
            ftl.gc.count_use(&mut ftl.core, flash, id, dropped);
        }
        let Txn { owner, op, .. } = *flash.txns.get(id);
        match (owner, op) {
            (Owner::Parity(entry), Op::Read) => self.parity_read(ftl, flash, id, entry),
            (Owner::Parity(entry), _) => self.parity_stored(ftl, flash, id, entry, dropped),
            (Owner::DegradedRead(number), Op::Read) => {
                self.degraded_read_done(ftl, flash, id, number)
            }
            (Owner::DegradedRead(number), _) => self.rebuilt(ftl, flash, id, number, dropped),
            (Owner::Request | Owner::Merge(_) | Owner::Job, Op::Read)
                if self.failed(ftl, flash, id) =>
            {
                self.read_degraded(ftl, flash, id);
            }
            (Owner::Scrub, Op::Read) => {
                let known = !self.reads_well(flash.txns.get(id).unit);
                let failed = self.failed(ftl, flash, id);
                if failed || !self.begin_comparison(ftl, flash, id) {
                    ftl.gc.scrubbed(&mut ftl.core, flash, id, known);
                }
            }
            (Owner::StripeCheck(die), Op::Read) => self.page_compared(ftl, flash, id, die),
            (Owner::Request | Owner::Merge(_), Op::Read) => {
                self.note_wrong_read(ftl, flash, id);
                return false;
            }
            _ => return false,
        }
        true
    }

    /// Records that a successful read for the host returned wrong data, if it did.
    pub(crate) fn note_wrong_read(&mut self, ftl: &mut Ftl, flash: &Flash, id: TxnId) {
        if let Some(integrity) = &mut self.integrity {
            integrity.silent.note_read(ftl, flash, id);
        }
    }
}

impl RedundancyHooks for Raid {
    #[inline]
    fn stored_page(&self, host: Lpn) -> Lpn {
        self.stripes.stored(host)
    }

    #[inline]
    fn host_page_of(&self, page: Lpn) -> Lpn {
        self.stripes.host(page)
    }

    /// Returns false: on a drive with parity, a page lies on the die of its address, so that the
    /// pages of a stripe are on different dies.
    #[inline]
    fn lies_anywhere(&self) -> bool {
        false
    }

    fn write(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: ReqId,
        page: Lpn,
    ) -> Result<(), Stall> {
        let pages = ftl.front.requests.get(id).pages;
        if ftl.answers_on_insert() && self.rules.cut_off.is_some_and(|most| pages > most) {
            return self.write_part(ftl, flash, id, page);
        }
        ftl.write_page(flash, id, page, false, self)
    }

    fn write_past(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: ReqId, frame_id: FrameId) {
        self.write_page_past(ftl, flash, id, frame_id);
    }

    fn written(&mut self, page: Lpn, frame: &mut Frame, whole: bool) {
        self.note_write(page);
        if whole {
            frame.wrong = false;
        }
    }

    fn frame_read(&mut self, ftl: &Ftl, frame_id: FrameId) {
        if ftl.core.buffer.get(frame_id).wrong
            && let Some(integrity) = &mut self.integrity
        {
            integrity.silent.ledger.returned += 1;
        }
    }

    fn reads_wrong(&self, unit: UnitId) -> bool {
        self.integrity.as_ref().is_some_and(|integrity| integrity.silent.reads_wrong(unit))
    }

    fn reads_lost(&mut self, page: Lpn) -> bool {
        self.note_failed_read(page)
    }

    /// Marks all dirty pages of a stripe in the write buffer as just used when one of them is used,
    /// if the buffer evicts whole stripes.
    fn frame_used(&mut self, ftl: &mut Ftl, frame_id: FrameId) {
        let dirty = ftl.core.buffer.get(frame_id).listed == Listed::Dirty;
        if dirty && self.rules.eviction == Eviction::StripeByStripe {
            self.use_stripe(ftl, frame_id);
        }
    }

    fn evict(&mut self, ftl: &mut Ftl, flash: &mut Flash, frame_id: FrameId, room: bool) {
        if self.rules.eviction != Eviction::Alone {
            return self.evict_stripe(ftl, flash, frame_id, room);
        }
        ftl.take_out(flash, frame_id, room);
        ftl.send_out(flash, frame_id, self);
    }

    fn proceed(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) {
        self.cover_program(ftl, flash, id);
    }

    fn comes_too_late(&self, ftl: &Ftl, flash: &Flash, id: TxnId, page: Lpn) -> bool {
        self.is_late(&ftl.core, flash, id, page)
    }

    fn bound(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        page: Lpn,
        (old, new): (UnitId, UnitId),
    ) {
        self.page_bound(ftl, flash, id, page, old, new);
    }

    fn given_up(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId, page: Lpn) {
        self.uncover(ftl, flash, id, page);
    }

    fn defers_answer(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        frame_id: FrameId,
    ) -> bool {
        self.waits_for_parity(ftl, flash, id, frame_id)
    }

    fn wait_before_die(&self, flash: &Flash, id: TxnId) -> Span {
        self.wait_of(flash, id)
    }

    fn service_blame(&self, flash: &Flash, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        self.blame_of(flash, id, waiter, blame);
    }

    fn may_trim(&mut self, ftl: &mut Ftl, flash: &mut Flash, page: Lpn) -> bool {
        self.takes_trim(ftl, flash, page)
    }

    fn trimmed(&mut self, ftl: &mut Ftl, flash: &mut Flash, page: Lpn, old: UnitId) {
        self.page_trimmed(ftl, flash, page, old);
    }

    fn trimmed_nothing(&mut self, page: Lpn) {
        self.note_trim(page);
    }

    fn relocated(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        page: Lpn,
        (from, to): (UnitId, UnitId),
    ) {
        self.page_moved(ftl, flash, page, from, to);
    }

    fn erased(&mut self, ftl: &mut Ftl, flash: &mut Flash, block: BlockId) {
        self.block_erased(ftl, flash, block);
    }

    /// Handles the end of a transaction if it concerns parity, the recovery of a page, tracked data
    /// versions or refresh. Returns true if the caller has nothing more to do for it.
    #[inline]
    fn done(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId, dropped: bool) -> bool {
        let own = matches!(flash.txns.get(id).owner, Owner::Parity(_) | Owner::DegradedRead(_));
        let concerns = own || self.integrity.is_some() || ftl.gc.refresh.is_some();
        concerns && self.own_done(ftl, flash, id, dropped)
    }

    fn bind(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) -> Bind {
        if !self.wants(ftl, flash, id) {
            return Bind::Dropped;
        }
        let Some(page) = ftl.host_page(flash, id) else { return Bind::Blocked };
        self.take_page(ftl, flash, id, page);
        Bind::Bound
    }

    fn wants(&self, ftl: &Ftl, flash: &Flash, id: TxnId) -> bool {
        match flash.txns.get(id).owner {
            Owner::Parity(entry) => !self.is_superseded(entry),
            Owner::DegradedRead(number) => self.wants_rebuilt(&ftl.core, number),
            owner => unreachable!("{owner:?} does not belong to redundancy"),
        }
    }

    fn take_page(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId, page: Taken) {
        match flash.txns.get(id).owner {
            Owner::Parity(entry) => self.take_parity_page(ftl, flash, id, entry, page),
            _ => ftl.occupy(flash, id, page),
        }
    }

    /// Returns true if the flash copy of a page at `unit` has the version that was last written to
    /// the page, or if the drive does not record versions.
    fn same_as_flash(&self, page: Lpn, unit: UnitId) -> bool {
        self.integrity
            .as_ref()
            .is_none_or(|integrity| integrity.version(page) == integrity.version_at(unit))
    }

    fn frame_lost(&mut self, page: Lpn, unit: UnitId) {
        if let Some(integrity) = &mut self.integrity {
            integrity.ledger.lost[Reason::Power] += 1;
            integrity.ledger.lost_writes += 1;
            integrity.revert(page, unit);
        }
    }

    fn erase_pulse(&self, ftl: &Ftl, block: BlockId) -> Option<Span> {
        self.worn_erase_pulse.filter(|_| self.is_worn(&ftl.core, block))
    }
}
