//! The patrol of scrubbing: the place that it has come to, and when the next page is due.
//!
//! The pages of the drive have their times one after another, superblock by superblock, spread
//! evenly over `policy.scrub.period`. Pages without data are skipped, and their time is left
//! empty. A patrol that is late reads at most twice as often, until it has caught up.
//!
//! Invariants: at most one page is being read or compared; no page is read before it is due;
//! superblocks have their turns in the order of their numbers.

use super::shape::Shape;
use crate::config::Config;
use crate::gc::scrub::{CATCHES_UP, ScrubProgress};
use crate::policy::scrub::{AnyScrub, Errors, Scrub as _, Verdict};
use crate::raid::stripe_check::UnequalStripes;
use fowler_units::{Bytes, DieId, Nanos, RuId, Span, StripeId, UnitId};
use std::collections::BTreeSet;
use std::ops::Range;

/// Number that takes the place of a die in the event of the next scrubbing step, and tells that
/// event from one of an idle host.
pub(super) const PATROL: DieId = DieId(1);

/// State of scrubbing: its progress, and the superblocks found to have many errors.
#[derive(Clone, Debug)]
pub(super) struct Patrol {
    policy: AnyScrub,
    period: Span,
    /// Number of superblocks, and of pages in each. On a drive with an SLC cache, a word line
    /// counts its page of SLC mode in addition to the others.
    superblocks: u32,
    pages: u32,
    /// Number of superblocks that scrubbing has dealt with so far, over all rounds of the drive;
    /// they follow each other in the order of their numbers.
    turns: u64,
    /// Page of the superblock being scrubbed at which scrub reads continue.
    pub page: u32,
    /// True if a page of the superblock being scrubbed has been read in this round; and true if the
    /// scrub policy has decided to move the superblock or that moving it gains nothing.
    begun: bool,
    decided: bool,
    /// Time without power so far, which counts for the schedule of scrubbing but not for the clock
    /// of the drive; and the time by which the schedule was put off because the power was off for
    /// longer than a scrub period.
    off: Span,
    put_off: Span,
    /// Time of the next step of scrubbing; `NEVER` if none is scheduled.
    pub at: Nanos,
    /// Time at which the last read of a page by scrubbing began; none before the first.
    read_at: Option<Nanos>,
    /// Page that scrubbing is reading, or whose stripe scrubbing is comparing with its parity;
    /// `None` if there is none.
    pub reading: Option<Reading>,
    /// Number of units read by scrubbing, in reads that have ended.
    pub units: u64,
    /// Superblocks that are due to be moved because of their errors.
    pub found: BTreeSet<RuId>,
    latest: Span,
    /// Stripes that did not match their parity; none if no stripe is compared.
    pub unequal: Option<UnequalStripes>,
}

/// A page that scrubbing is reading, or whose stripe it is comparing with the parity.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub superblock: RuId,
    /// Number of erases of the superblock when scrubbing began to read a page of it. If it has been
    /// erased since, the result of the read is void.
    pub erases: u32,
    /// Comparison of a stripe with its parity by scrubbing, which has read the parity page already
    /// and reads the other pages one after another.
    pub comparison: Option<Comparison>,
}

/// A stripe that is being compared with its parity.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub stripe: StripeId,
    /// Pages of the stripe that scrubbing has yet to read to compare the stripe with its parity.
    /// Each is named by its first unit; the last in the list is read next.
    pub rest: Vec<UnitId>,
    /// For each unit of a page, the exclusive-or of the silent errors (wrong minus right data) of
    /// the units at that place in the stripe's pages read so far: all zero if the stripe matches
    /// its parity.
    pub errors: Vec<u64>,
}

impl Patrol {
    /// Creates the state of scrubbing at time zero; `None` if the configuration has no scrubbing.
    pub fn new(config: &Config, shape: &Shape) -> Option<Patrol> {
        let policy = AnyScrub::new(&config.scrub, config.seed);
        let period = policy.period()?;
        let compares = config.compares_stripes() && shape.stripes() > 0;
        Some(Patrol {
            policy,
            period,
            superblocks: shape.superblocks,
            pages: shape.units / shape.units_per_page,
            turns: 0,
            page: 0,
            begun: false,
            decided: false,
            off: Span::ZERO,
            put_off: Span::ZERO,
            at: Nanos::NEVER,
            read_at: None,
            reading: None,
            units: 0,
            found: BTreeSet::new(),
            latest: Span::ZERO,
            unequal: compares.then(|| UnequalStripes::new(config.parity_pages())),
        })
    }

    /// Returns the memory, in bytes of the simulating machine, that the state of scrubbing takes.
    pub fn bytes(config: &Config, shape: &Shape) -> Bytes {
        let Some(patrol) = Patrol::new(config, shape) else { return Bytes(0) };
        let stripes = UnequalStripes::bytes(config.parity_pages());
        Bytes::of::<Patrol>(1) + patrol.unequal.map_or(Bytes(0), |_| stripes)
    }

    /// Returns the progress of scrubbing.
    pub fn progress(&self) -> ScrubProgress {
        let rounds = self.turns / u64::from(self.superblocks);
        ScrubProgress { rounds: rounds.min(u32::MAX.into()) as u32, latest: self.latest }
    }

    /// Returns the superblock that is being scrubbed.
    pub fn superblock(&self) -> RuId {
        RuId((self.turns % u64::from(self.superblocks)) as u32)
    }

    /// Returns the numbers of the pages that scrubbing has yet to read in the superblock at which
    /// it is now.
    pub fn rest(&self) -> Range<u32> {
        self.page..self.pages
    }

    /// Returns the time between the scheduled reads of two neighboring pages by scrubbing.
    fn gap(&self) -> Span {
        Span(self.period.0 / u64::from(self.superblocks) / u64::from(self.pages))
    }

    /// Returns the time at which a page of the superblock being scrubbed is to be read, on a clock
    /// that includes time without power.
    fn time_of(&self, page: u32) -> Nanos {
        let place = u128::from(self.turns) * u128::from(self.pages) + u128::from(page);
        let all = u128::from(self.superblocks) * u128::from(self.pages);
        let at = place * u128::from(self.period.0) / all;
        Nanos(u64::try_from(at).unwrap_or(u64::MAX).saturating_add(self.put_off.0))
    }

    /// Returns the time at which a page of the superblock being scrubbed may be read, on the clock
    /// of the drive: as scheduled, but not before half the interval between two pages has passed
    /// since the last read.
    pub fn due_at(&self, page: u32) -> Nanos {
        let time = Nanos(self.time_of(page).0.saturating_sub(self.off.0));
        let rested = self.read_at.map(|read| read + Span(self.gap().0 / CATCHES_UP));
        time.max(rested.unwrap_or(Nanos::ZERO))
    }

    /// Returns true if scrubbing is behind its schedule when it reads a page: the next page should
    /// be read by now.
    pub fn is_late(&self, page: u32, now: Nanos) -> bool {
        now + self.off >= self.time_of(page + 1)
    }

    /// Records that scrubbing begins to read a page.
    pub fn begins(&mut self, page: u32, reading: Reading, now: Nanos) {
        debug_assert!(self.reading.is_none(), "two reads by scrubbing");
        debug_assert!(now >= self.due_at(page), "page {page} is read before its time");
        (self.page, self.begun) = (page + 1, true);
        (self.reading, self.read_at) = (Some(reading), Some(now));
    }

    /// Passes scrubbing on to the next superblock. Returns true if a page of the last one was read
    /// in this round.
    pub fn pass_on(&mut self, now: Nanos) -> bool {
        let begun = std::mem::take(&mut self.begun);
        if begun {
            self.latest = self.latest.max(now + self.off - self.time_of(0));
        }
        (self.turns, self.page, self.decided) = (self.turns + 1, 0, false);
        begun
    }

    /// Returns true if the scrub policy has decided, in this round, to move the superblock being
    /// scrubbed or that moving it gains nothing.
    pub fn is_decided(&self) -> bool {
        self.decided
    }

    /// Returns the verdict of the scrub policy on the superblock being scrubbed, by the bit errors
    /// of a page that was read: if it stays, moves, or would gain nothing by moving.
    pub fn judge(&mut self, errors: Errors) -> Verdict {
        let verdict = self.policy.judge(errors);
        self.decided = verdict != Verdict::Stays;
        verdict
    }

    /// Lets the schedule of scrubbing go on for a time without power. If scrubbing is then late by
    /// more than a period, it is late by one period instead, so that every page is read once.
    pub fn grow_older(&mut self, by: Span, now: Nanos) {
        self.off = Span(self.off.0.saturating_add(by.0));
        let clock = now.0.saturating_add(self.off.0);
        let late = clock.saturating_sub(self.time_of(self.page).0);
        self.put_off = Span(self.put_off.0.saturating_add(late.saturating_sub(self.period.0)));
    }
}
