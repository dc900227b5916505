//! Recovery of unreadable pages from the other pages of their stripe: on demand for reads, and in
//! the background to reprogram them. These reads occupy their dies and channels.
//!
//! 1. A read that fails takes one of [`AT_ONCE`] slots, or waits for one ([`Raid::read_degraded`]).
//!    Rebuilding takes slots of its own accord, as many and as often as configured
//!    ([`Raid::rebuild`]).
//! 2. An equation without another unreadable page is looked up: that of the cached parity, of the
//!    computed one, or of the parity in the flash ([`Raid::equation_for`]). Its pages are read.
//! 3. When all are read, the read that failed resumes with the data; a rebuilt page is programmed
//!    and mapped.
//! 4. The slot goes to the next read that waits, or to the next page to rebuild.
//!
//! Exceptions:
//!
//! - If a read of the equation fails, another equation is read. One exists, or the page is lost and
//!   nobody waits for it ([`crate::raid::faults`]).
//! - A page that was written or moved in the meantime needs no rebuilding: its program is dropped,
//!   or the new copy is invalidated.

use super::Raid;
use super::losses::Failure;
use super::parity_cache::{Progress, bit};
use super::tag::Tag;
use crate::config::Config;
use crate::config::stripes::{AT_ONCE, DATA_MOST};
use crate::core::Core;
use crate::event::Event;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::host::Ftl;
use crate::observe::operation::{Op, Source};
use fowler_agenda::Phase;
use fowler_units::{DieId, Id, Lpn, Nanos, Span, StripeId, TxnId, UnitId};
use std::collections::VecDeque;

/// Limits on the rate at which pages are rebuilt, and the time of the next one.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Largest number of pages rebuilt at once; the other slots of [`AT_ONCE`] are for host reads.
    at_once: u32,
    /// Shortest time from the start of one rebuilt page to the next.
    every: Span,
    /// Earliest time at which the rebuilding of the next page may begin.
    next: Nanos,
    /// Time of the event that begins to rebuild the next page; `NEVER` without one.
    looks: Nanos,
}

impl Pace {
    fn new(config: &Config) -> Pace {
        let redundancy = &config.redundancy;
        let every = redundancy.rebuild_rate.time(config.geometry.page_size.0);
        let (next, looks) = (Nanos::ZERO, Nanos::NEVER);
        Pace { at_once: redundancy.rebuild_at_once, every, next, looks }
    }
}

/// The recovery of an unreadable page from its stripe, in progress.
#[derive(Clone, Copy, Debug)]
struct DegradedRead {
    /// The read that found the page unreadable; none if the page is to be rebuilt.
    read: TxnId,
    page: Lpn,
    from: UnitId,
    /// Version of the recovered data. It is saved here because the block of the unreadable page may
    /// have been erased and rewritten since the page failed.
    version: u64,
    /// Number of flash reads in flight for the recovery of this page.
    left: u32,
    /// True if one of the flash reads for the recovery of this page has failed, so that the page
    /// must be recovered from another set of pages of its stripe.
    again: bool,
}

const NO_READ: DegradedRead = DegradedRead {
    read: TxnId::NONE,
    page: Lpn::NONE,
    from: UnitId::NONE,
    version: 0,
    left: 0,
    again: false,
};

/// An equation of a stripe that recovers an unreadable page: the other pages to read, and the
/// version of the recovered data.
struct Equation {
    members: Vec<UnitId>,
    tag: Tag,
}

/// The recoveries of unreadable pages in progress.
#[derive(Clone, Debug)]
pub struct DegradedReads {
    all: [DegradedRead; AT_ONCE],
    free: Vec<u32>,
    /// Failed reads that wait for one of the [`AT_ONCE`] places for recoveries in progress, in
    /// order.
    waiting: VecDeque<TxnId>,
    rebuilding: u32,
    pace: Pace,
}

impl DegradedReads {
    /// Creates the list of unreadable pages being recovered from parity, without entries; at most
    /// `reads` failed reads may wait for a place in it.
    pub fn new(config: &Config, reads: usize) -> Self {
        Self {
            all: [NO_READ; AT_ONCE],
            free: (0..AT_ONCE as u32).rev().collect(),
            waiting: VecDeque::with_capacity(reads),
            rebuilding: 0,
            pace: Pace::new(config),
        }
    }

    /// Returns the number of pages being rebuilt.
    pub fn rebuilding(&self) -> u32 {
        self.rebuilding
    }
}

impl Raid {
    /// Returns true if a physical page can be read; always true on a drive that does not track data
    /// versions.
    #[inline]
    pub(crate) fn reads_well(&self, unit: UnitId) -> bool {
        self.integrity.as_deref().is_none_or(|integrity| integrity.reads(unit))
    }

    /// Returns true if a read has failed. The page becomes unreadable if the read has more errors
    /// than any level corrects, or if a check finds the data to be wrong.
    #[inline]
    pub(crate) fn failed(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) -> bool {
        self.integrity.is_some() && self.has_failed(ftl, flash, id)
    }

    #[cold]
    fn has_failed(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) -> bool {
        let Txn { unit, needed, level, owner, .. } = *flash.txns.get(id);
        if !unit.is_some() {
            return false;
        }
        let failure = if needed > level {
            Some(Failure::Cells)
        } else {
            let found =
                self.integrity.as_ref().is_some_and(|integrity| integrity.silent.is_found(unit));
            found.then_some(Failure::Wrong)
        };
        if let Some(failure) = failure
            && self.reads_well(unit)
            && ftl.core.allocator.blocks.is_valid(unit)
        {
            if let Some(integrity) =
                self.integrity.as_deref_mut().filter(|_| failure == Failure::Wrong)
            {
                integrity.silent.found(unit);
            }
            let page = ftl.core.map.owner(unit);
            self.spoil(ftl, flash, &[unit], failure);
            if owner == Owner::Request && !ftl.core.allocator.blocks.is_valid(unit) {
                self.note_failed_read(page);
            }
        }
        !self.reads_well(unit) && ftl.core.allocator.blocks.is_valid(unit)
    }

    /// Starts the recovery of the page of a failed read; the read waits.
    pub(crate) fn read_degraded(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) {
        let Txn { owner, .. } = *flash.txns.get(id);
        if owner == Owner::Request {
            self.defer(flash, id);
        }
        if self.degraded_reads.free.is_empty() {
            self.degraded_reads.waiting.push_back(id);
            return;
        }
        let unit = flash.txns.get(id).unit;
        let page = ftl.core.map.owner(unit);
        self.begin_degraded_read(ftl, flash, id, page, unit);
    }

    fn begin_degraded_read(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        read: TxnId,
        page: Lpn,
        from: UnitId,
    ) {
        let number = self.degraded_reads.free.pop().expect("a slot is free");
        self.degraded_reads.all[number as usize] = DegradedRead { read, page, from, ..NO_READ };
        self.read_equation(ftl, flash, number);
    }

    /// Reads the other pages of an equation that recovers a page, and stores the version that
    /// results.
    fn read_equation(&mut self, ftl: &mut Ftl, flash: &mut Flash, number: u32) {
        let DegradedRead { page, from, .. } = self.degraded_reads.all[number as usize];
        let Equation { members, tag } = self.equation_for(&ftl.core, page, from);
        self.integrity.as_mut().expect("integrity is checked").bring_back(from, tag);
        let degraded_read = &mut self.degraded_reads.all[number as usize];
        (degraded_read.version, degraded_read.again) = (tag.version, false);
        for unit in members {
            debug_assert!(self.reads_well(unit), "an equation with two unknown pages");
            let die = ftl.core.locator.die_of(unit);
            let (class, owner) = (TxnClass::BackgroundRead, Owner::DegradedRead(number));
            let (id, txn) = flash.open(Op::Read, Source::Parity, class, owner, die);
            txn.unit = unit;
            self.degraded_reads.all[number as usize].left += 1;
            flash.submit(id);
        }
        self.finish_if_read(ftl, flash, number);
    }

    /// Returns an equation that recovers an unreadable page: that of the cached parity, if it
    /// covers the page; otherwise that of the computed parity minus the cached one; or that of the
    /// parity in the flash. An equation with no other unreadable page exists unless the page is
    /// lost ([`crate::raid::faults`]).
    fn equation_for(&self, core: &Core, page: Lpn, from: UnitId) -> Equation {
        let stripe = self.stripes.of(page);
        let entry = self.cache.find(stripe);
        let cached_parity = entry.map(|id| self.cache.get(id));
        let covered = cached_parity.map_or(0, |parity| parity.covered);
        let current = core.flash_copy(page) == from && !self.stripes.is_parity(page);
        let cached = current && covered & bit(self.stripes.position(page)) != 0;
        if let Some(parity) = cached_parity {
            let computed = parity.progress == Progress::Writing && !parity.again;
            let deltas = entry.map_or_else(Vec::new, |id| self.deltas(id).collect());
            let known = match (current, cached) {
                (true, true) => Some((covered, &deltas[..], self.known_sum(parity.value, &deltas))),
                (true, false) if computed => Some((!covered, &[][..], parity.whole ^ parity.value)),
                _ => None,
            };
            if let Some((which, more, sum)) = known {
                let equation = self.others_of(core, stripe, which, more, from, sum);
                if equation.members.iter().all(|&unit| self.reads_well(unit)) {
                    return equation;
                }
            }
        }
        let mut before = [UnitId::NONE; DATA_MOST as usize + 2];
        let kept = entry.map_or(&[][..], |id| self.cache.all_replaced(id));
        before[..kept.len()].copy_from_slice(kept);
        before[kept.len()] = core.flash_copy(self.stripes.parity(stripe));
        self.others_of(core, stripe, !covered, &before, from, Tag::ZERO)
    }

    /// Returns the equation that recovers the page `but` of a stripe: the other pages to read, and
    /// the data that results. Its pages are the current flash copies of the data pages `which` (one
    /// bit each) and the copies `more`; `sum` is the exclusive-or of all of them, `but` included.
    fn others_of(
        &self,
        core: &Core,
        stripe: StripeId,
        which: u64,
        more: &[UnitId],
        but: UnitId,
        sum: Tag,
    ) -> Equation {
        let integrity = self.integrity.as_ref().expect("integrity is checked");
        let data = self.stripes.data_pages(stripe).filter(|&(at, _)| which & bit(at) != 0);
        let data = data.map(|(_, page)| core.flash_copy(page));
        let all = data.chain(more.iter().copied());
        let members: Vec<UnitId> = all.filter(|&unit| unit.is_some() && unit != but).collect();
        let tag = members.iter().fold(sum, |sum, &unit| sum ^ integrity.tag_at(unit));
        Equation { members, tag }
    }

    /// Handles the end of a read for a recovery, which may itself have failed.
    pub(crate) fn degraded_read_done(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        number: u32,
    ) {
        let failed = self.failed(ftl, flash, id);
        let degraded_read = &mut self.degraded_reads.all[number as usize];
        if flash.is_watched() && degraded_read.read.is_some() {
            let done = *flash.txns.get(id);
            flash.note_awaited(&done, degraded_read.read);
        }
        flash.txns.close(id);
        degraded_read.left -= 1;
        degraded_read.again |= failed;
        self.finish_if_read(ftl, flash, number);
    }

    fn finish_if_read(&mut self, ftl: &mut Ftl, flash: &mut Flash, number: u32) {
        let DegradedRead { read, page, from, left, again, .. } =
            self.degraded_reads.all[number as usize];
        if left > 0 {
            return;
        }
        if again && self.wants_rebuilt(&ftl.core, number) {
            return self.read_equation(ftl, flash, number); // Another equation gives the page.
        }
        if !read.is_some() {
            return self.program_rebuilt(ftl, flash, number, page, from);
        }
        self.degraded_reads.free.push(number);
        self.resume_reader(ftl, flash, read);
        self.start_waiting_reads(ftl, flash);
    }

    /// Resumes a read whose data has been recovered.
    fn resume_reader(&mut self, ftl: &mut Ftl, flash: &mut Flash, read: TxnId) {
        match flash.txns.get(read).owner {
            Owner::Request => {
                let page = flash.txns.get(read).lpn;
                if !self.note_failed_read(page) {
                    let integrity = self.integrity.as_deref_mut().expect("integrity is checked");
                    integrity.ledger.degraded_reads += 1;
                    self.note_wrong_read(ftl, flash, read);
                }
                ftl.page_read(flash, read, self);
            }
            Owner::Merge(frame_id) => {
                self.note_wrong_read(ftl, flash, read);
                ftl.merged(flash, read, frame_id, self);
            }
            Owner::Job => ftl.gc.copied_out(&mut ftl.core, flash, read),
            owner => unreachable!("{owner:?} does not wait for recovery"),
        }
    }

    fn start_waiting_reads(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        while !self.degraded_reads.free.is_empty()
            && let Some(id) = self.degraded_reads.waiting.pop_front()
        {
            let unit = flash.txns.get(id).unit;
            let page = ftl.core.map.owner(unit);
            if ftl.core.allocator.blocks.is_valid(unit) {
                self.begin_degraded_read(ftl, flash, id, page, unit);
            } else {
                self.resume_reader(ftl, flash, id);
            }
        }
        self.rebuild(ftl, flash);
    }

    // --- Rebuilding ---

    /// Starts to rebuild unreadable pages, as many at a time as configured.
    pub(crate) fn rebuild(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        while self.degraded_reads.rebuilding < self.degraded_reads.pace.at_once
            && !self.degraded_reads.free.is_empty()
            && ftl.has_room_to_rebuild()
            && self.may_rebuild_now(flash)
        {
            let Some(integrity) = &mut self.integrity else { return };
            let Some(unit) = integrity.next_to_rebuild() else { break };
            if !ftl.core.allocator.blocks.is_valid(unit) || self.reads_well(unit) {
                continue;
            }
            self.degraded_reads.rebuilding += 1;
            let pace = &mut self.degraded_reads.pace;
            pace.next = flash.now() + pace.every;
            let page = ftl.core.map.owner(unit);
            self.begin_degraded_read(ftl, flash, TxnId::NONE, page, unit);
        }
        let now = flash.now();
        let Some(integrity) = &mut self.integrity else { return };
        let at_risk = integrity.to_rebuild() + self.degraded_reads.rebuilding > 0;
        let ledger = &mut integrity.ledger;
        match (ledger.since, at_risk) {
            (None, true) => ledger.since = Some(now),
            (Some(since), false) => {
                ledger.at_risk += now - since;
                ledger.since = None;
            }
            _ => {}
        }
    }

    /// Returns true if the rate limit lets the next page be rebuilt now; otherwise schedules an
    /// event.
    fn may_rebuild_now(&mut self, flash: &mut Flash) -> bool {
        let now = flash.now();
        let waits = self.integrity.as_ref().is_some_and(|integrity| integrity.to_rebuild() > 0);
        let pace = &mut self.degraded_reads.pace;
        if pace.next <= now || !waits {
            return pace.next <= now;
        }
        if pace.looks != pace.next {
            pace.looks = pace.next;
            flash.agenda.schedule(pace.next, Phase::Decision, Event::Paced);
        }
        false
    }

    fn program_rebuilt(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        number: u32,
        page: Lpn,
        from: UnitId,
    ) {
        let (class, owner) = (TxnClass::HostProgram, Owner::DegradedRead(number));
        let (id, txn) = flash.open(Op::Program, Source::Parity, class, owner, DieId::NONE);
        (txn.lpn, txn.from, txn.group) = (page, from, 1);
        ftl.try_to_place(flash, id);
    }

    /// Returns true if a recovered page still lacks a readable copy.
    pub(crate) fn wants_rebuilt(&self, core: &Core, number: u32) -> bool {
        let DegradedRead { page, from, version, .. } = self.degraded_reads.all[number as usize];
        let same =
            self.integrity.as_ref().is_some_and(|integrity| integrity.version_at(from) == version);
        core.allocator.blocks.is_valid(from)
            && !self.reads_well(from)
            && core.map.owner(from) == page
            && same
    }

    /// Handles the end of a rebuilt page's program; `dropped` is true if it wrote no page.
    pub(crate) fn rebuilt(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: TxnId,
        number: u32,
        dropped: bool,
    ) {
        let Txn { from, unit, lpn, die, .. } = *flash.txns.get(id);
        flash.txns.close(id);
        if dropped {
            ftl.core.allocator.arrived(die);
        } else {
            if self.wants_rebuilt(&ftl.core, number) {
                ftl.core.allocator.blocks.invalidate(from);
                self.page_moved(ftl, flash, lpn, from, unit);
            } else {
                ftl.core.allocator.blocks.invalidate(unit);
            }
            ftl.page_programmed(flash, unit);
        }
        self.degraded_reads.rebuilding -= 1;
        self.degraded_reads.free.push(number);
        self.start_waiting_reads(ftl, flash);
        ftl.place_waiting(flash);
    }
}
