//! Scrubbing: in each period every page that holds data or parity is read once, so that errors are
//! found while they can still be corrected, and losses before the host finds them. The rule is that
//! of `policy/scrub`, as on a page-mapped drive.
//!
//! 1. The superblocks have their turns one after another, and the pages of each their times
//!    ([`super::patrol`]). One page is read at a time, as a whole.
//! 2. The errors of the page are shown to the policy, which leaves its superblock, has it moved, or
//!    finds that moving gains nothing ([`Superblocks::judge`]).
//! 3. A superblock that has to move becomes due ([`super::renewals`]), and the rest of it is not
//!    read: the job that moves it does that.
//! 4. If the page holds parity, its stripe may be compared with it ([`super::stripe_comparisons`]).
//!
//! Exceptions:
//!
//! - Superblocks that are erased, being emptied or due to be moved are skipped.
//! - In an open superblock, parity and pages that are between two passes are not read, and the
//!   superblock is not moved: it waits for the next turn.
//! - If the superblock of a page has been emptied when its read ends, nothing is decided.

use super::Superblocks;
use super::patrol::{PATROL, Patrol, Reading};
use super::shape::{in_txn, page_of};
use super::submit_read;
use crate::blocks::block_table::BlockState;
use crate::event::Event;
use crate::event_loop::Device;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::gc::scrub::ScrubProgress;
use crate::observe::counters::Counters;
use crate::observe::operation::{Op, Source};
use crate::policy::scrub::{Errors, Verdict};
use fowler_agenda::Phase;
use fowler_units::{BlockId, Id, Nanos, Ppn, RuId, Span, TxnId, UnitId};

impl Device<Superblocks> {
    /// Returns the progress of scrubbing; `None` without it.
    pub fn scrub(&self) -> Option<ScrubProgress> {
        self.layer.patrol.as_ref().map(|patrol| patrol.progress())
    }
}

impl Superblocks {
    /// Begins to scrub, if the configuration says so.
    pub(super) fn begin_patrol(&mut self, flash: &mut Flash, patrol: Option<Patrol>) {
        self.patrol = patrol.map(Box::new);
        self.patrol_at(flash, flash.now());
    }

    /// Schedules the next step of scrubbing, instead of one that is scheduled already.
    fn patrol_at(&mut self, flash: &mut Flash, at: Nanos) {
        if let Some(patrol) = &mut self.patrol {
            patrol.at = at;
            flash.agenda.schedule(at, Phase::Decision, Event::Idle(PATROL));
        }
    }

    /// Handles a scheduled step of scrubbing, unless another one has been scheduled instead.
    pub(super) fn patrol_event(&mut self, flash: &mut Flash) {
        if self.patrol.as_ref().is_some_and(|patrol| patrol.at == flash.now()) {
            self.patrol(flash);
        }
    }

    /// Accounts for a span without power in the schedule of scrubbing.
    pub(super) fn patrol_without_power(&mut self, flash: &mut Flash, lasts: Span) {
        let now = flash.now();
        let Some(patrol) = &mut self.patrol else { return };
        patrol.grow_older(lasts, now);
        // A read in flight goes on, and so does the patrol when it ends.
        if patrol.reading.is_none() {
            self.patrol_at(flash, now);
        }
    }

    /// Reads the next page for scrubbing if it is due, or schedules the step at which it is.
    pub(super) fn patrol(&mut self, flash: &mut Flash) {
        let now = flash.now();
        loop {
            let next = self.next_of_patrol();
            let Some(patrol) = &mut self.patrol else { return };
            patrol.at = Nanos::NEVER;
            if next.is_none() {
                flash.counters.scrubbed.blocks += u64::from(patrol.pass_on(now));
            }
            let page = next.unwrap_or(0);
            let due = patrol.due_at(page);
            if due > now {
                return self.patrol_at(flash, due);
            }
            if next.is_some() {
                return self.read_of_patrol(flash, page);
            }
        }
    }

    /// Returns the next page to read in the superblock being scrubbed; `None` if no page is left,
    /// or the superblock is to be passed over.
    fn next_of_patrol(&self) -> Option<u32> {
        let patrol = self.patrol.as_ref()?;
        let superblock = patrol.superblock();
        let open = match self.map.state(superblock) {
            BlockState::Open => true,
            BlockState::Full if !self.renewals.has(superblock) => false,
            _ => return None,
        };
        if self.map.valid(superblock) == 0 {
            return None;
        }
        let slc = self.is_in_slc_mode(superblock);
        patrol.rest().find(|&page| {
            let unit = self.unit_of_page(superblock, page);
            let parity = !open
                && self.shape.is_slc(unit) == slc
                && self.is_parity(superblock, self.shape.command_of(unit));
            // Between two passes, the data is in the controller.
            let readable = !(open && self.is_between_passes(unit));
            if self.dies.any() && self.is_dead(self.shape.place(unit).0) {
                return false;
            }
            parity || readable && self.map.valid_among(unit, self.shape.units_per_page) != 0
        })
    }

    /// Returns the first unit of a page of a superblock.
    fn unit_of_page(&self, superblock: RuId, page: u32) -> UnitId {
        self.shape.first_unit(superblock).plus(page * self.shape.units_per_page)
    }

    fn read_of_patrol(&mut self, flash: &mut Flash, page: u32) {
        let now = flash.now();
        let Some(patrol) = &mut self.patrol else { return };
        let superblock = patrol.superblock();
        let erases = self.map.erases()[superblock.index()];
        let late = patrol.is_late(page, now);
        patrol.begins(page, Reading { superblock, erases, comparison: None }, now);
        let first = self.unit_of_page(superblock, page);
        let (die, _) = self.shape.place(first);
        let busy = !flash.die(die).is_idle();
        flash.counters.scrubbed.under_load += u64::from(late && busy);
        self.read_to_scrub(flash, first, Owner::Scrub);
    }

    /// Reads all units of the page that begins with the unit `first`.
    pub(super) fn read_to_scrub(&mut self, flash: &mut Flash, first: UnitId, owner: Owner) {
        let (die, place) = self.shape.place(first);
        let class = TxnClass::BackgroundRead;
        let (id, txn) = flash.open(Op::Read, Source::Refresh, class, owner, die);
        let units = self.shape.units_per_page;
        (txn.unit, txn.from, txn.epoch) = (in_txn(place), first, u32::MAX >> (32 - units));
        submit_read(flash, id, units);
    }

    /// Handles the end of a page read by scrubbing.
    pub(super) fn scrubbed(&mut self, flash: &mut Flash, id: TxnId) {
        let Txn { unit: page, from: first, needed, level, .. } = *flash.txns.get(id);
        flash.txns.close(id);
        let failed = needed > level;
        flash.counters.scrubbed.pages += 1;
        flash.counters.scrubbed.unreadable += u64::from(failed);
        if let Some(patrol) = &mut self.patrol {
            patrol.units += u64::from(self.shape.units_per_page);
        }
        if self.is_as_when_read() {
            self.judge(flash, page_of(page), failed);
            if !failed && self.begin_comparison(flash, first) {
                return;
            }
        }
        self.patrol_after_read(flash);
    }

    /// Ends the scrubbing of the page that was read last, with which nothing is left to do, and
    /// continues with the next page.
    pub(super) fn patrol_after_read(&mut self, flash: &mut Flash) {
        if let Some(patrol) = &mut self.patrol {
            patrol.reading = None;
        }
        self.patrol(flash);
        if !self.renewals.due.is_empty() {
            self.collect(flash);
        }
    }

    /// Returns true if the superblock of the page being read still holds what it did when the read
    /// began, and is not being emptied.
    pub(super) fn is_as_when_read(&self) -> bool {
        let reading = self.patrol.as_ref().and_then(|patrol| patrol.reading.as_ref());
        reading.is_some_and(|reading| {
            let superblock = reading.superblock;
            let stays = matches!(self.map.state(superblock), BlockState::Open | BlockState::Full);
            stays && self.map.erases()[superblock.index()] == reading.erases
        })
    }

    /// Decides if the superblock of a page that was read moves: once in its turn at most, whatever
    /// errors are found. One in SLC mode stays, because it is folded anyway.
    fn judge(&mut self, flash: &mut Flash, page: Ppn, failed: bool) {
        let now = flash.now();
        let Some(patrol) = &mut self.patrol else { return };
        let superblock = patrol.superblock();
        let slc = self.slc.as_ref().is_some_and(|cache| cache.is_used_by(superblock));
        if patrol.is_decided() || slc || self.map.valid(superblock) == 0 {
            return;
        }
        let shares = if let Some(condition) = flash.condition_mut() {
            let block = BlockId(page.0 / self.layout.geometry.pages_per_block);
            condition.errors(page, block, now)
        } else if let Some(aging) = &mut self.aging {
            aging.errors(&self.map, page, now)
        } else {
            return;
        };
        let counts = &mut flash.counters.scrubbed;
        match patrol.judge(Errors::found(shares, failed)) {
            Verdict::Stays => {}
            Verdict::GainsNothing => counts.left += 1,
            Verdict::Moves if self.map.state(superblock) == BlockState::Open => {
                counts.postponed += 1;
            }
            Verdict::Moves => {
                patrol.found.insert(superblock);
                self.renewals.add(superblock);
            }
        }
    }

    /// Counts a superblock that begins to be moved for a refresh, if scrubbing had found that it
    /// has too many errors.
    #[inline]
    pub(super) fn count_found(&mut self, counters: &mut Counters, superblock: RuId) {
        if let Some(patrol) = &mut self.patrol {
            counters.scrubbed.moved += u64::from(patrol.found.remove(&superblock));
        }
    }

    /// Forgets superblocks that were found to have many errors and are no longer due.
    #[inline]
    pub(super) fn forget_found(&mut self) {
        if let Some(patrol) = &mut self.patrol {
            patrol.found.retain(|&superblock| self.renewals.has(superblock));
        }
    }
}
