//! Garbage collection: which superblock is emptied, and how fast.
//!
//! When fewer than `gc.foreground_below` superblocks are erased, the one with the fewest valid
//! units is emptied. Host and collection keep in step: for each unit that emptying it frees, so
//! many are moved. Neither runs ahead of the other by more than [`Collector::slack`], so that the
//! host never stalls while a whole superblock is moved, and reads do not meet bursts of moves. Only
//! a host that waits for a superblock is no longer waited for.
//!
//! The SLC cache is emptied by the same steps ([`super::slc_cache`]): one superblock at a time is
//! read, of whichever kind, and garbage collection comes first. Beside it, units of one more may be
//! read to fill a command ([`super::top_up`]).

use super::Superblocks;
use super::commands::Stream;
use super::map::State;
use super::shape::Shape;
use crate::config::Config;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::observe::operation::Op;
use fowler_units::{Id, Lpn, TxnId, UnitId};
use std::collections::VecDeque;

/// Why a superblock is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Too few are erased.
    Space,
    /// The SLC cache is full.
    CacheFull,
    /// The host is idle, and the SLC cache holds data.
    Idle,
    /// Its data is old.
    Refresh,
}

/// A superblock that is being emptied.
#[derive(Clone, Copy, Debug)]
struct Job {
    victim: u32,
    why: Why,
    /// The next unit to look at, and the end.
    next: u32,
    end: u32,
    /// Its valid units when the job began, and the units that erasing it gains.
    valid: i64,
    gain: i64,
    /// Units that have been read from it, and units that the host has written since, with what it
    /// had written too much or too little before.
    moved: i64,
    written: i64,
    /// How far host and job may be ahead of each other.
    slack: i64,
}

/// The slack of a job in idle time, and of one that gains nothing: there is nobody to keep in step
/// with. Products of it with the units of a superblock fit.
const UNPACED: i64 = 1 << 32;

/// The state of garbage collection.
#[derive(Clone, Debug)]
pub(super) struct Collector {
    /// It begins when fewer superblocks are erased.
    below: u32,
    job: Option<Job>,
    /// Units read and not yet sent to their new place: the unit of the host, and where it was.
    copied: VecDeque<(u32, u32)>,
    /// Units between their read and the end of their program, and the most there may be.
    moving: u32,
    moving_most: u32,
    /// Those of them that no program command has taken yet.
    unsent: u32,
    /// Reads in flight.
    reading: u32,
    /// How far host and collection may be ahead of each other, in units: two word lines of all
    /// dies.
    slack: i64,
    /// What the host had written beyond what the last job gained.
    pub carried: i64,
    /// Whether the last job was for space and gained less than a command holds
    /// ([`super::top_up`]).
    pub gained_little: bool,
    /// Superblocks being emptied or erased, of those that are not set aside.
    pub leaving: u32,
}

impl Collector {
    pub fn new(config: &Config, shape: &Shape) -> Collector {
        // What two word lines of all dies hold is on its way: enough to keep every die at work.
        let moving_most = 2 * shape.dies * shape.units_per_command;
        Collector {
            below: config.gc.foreground_below,
            job: None,
            copied: VecDeque::with_capacity(moving_most as usize),
            moving: 0,
            moving_most,
            unsent: 0,
            reading: 0,
            slack: moving_most.into(),
            carried: 0,
            gained_little: false,
            leaving: 0,
        }
    }

    /// Returns whether the host may program another command.
    #[inline]
    pub fn lets_host_write(&self) -> bool {
        self.job.is_none_or(|job| {
            job.written * job.valid <= job.moved * job.gain + job.slack * job.valid
        })
    }

    /// The host has sent units to the flash. While nothing is emptied, that uses up what emptying
    /// is ahead; the host is not held back later for what nobody asked it to wait for.
    #[inline]
    pub fn host_wrote(&mut self, units: u32) {
        match &mut self.job {
            Some(job) => job.written += i64::from(units),
            None if self.carried < 0 => self.carried = (self.carried + i64::from(units)).min(0),
            None => {}
        }
    }

    /// Returns the units that superblocks being emptied may still send to their new place.
    pub fn promised(&self) -> i64 {
        let unread = self.job.map_or(0, |job| (job.valid - job.moved).max(0));
        unread + i64::from(self.unsent)
    }

    /// Returns the number of superblocks that it keeps erased.
    pub fn keeps(&self) -> u32 {
        self.below
    }

    /// Takes a unit that has been read, to be sent to its new place.
    pub fn next_copied(&mut self) -> (u32, u32) {
        self.unsent -= 1;
        self.copied.pop_front().expect("counted by the caller")
    }

    /// Units have been stored in their new place.
    pub fn stored(&mut self, units: u32) {
        self.moving -= units;
    }

    /// Returns the units that have been read and wait to be sent.
    pub fn waiting(&self) -> u32 {
        self.copied.len() as u32
    }

    /// Returns whether nothing more is read until the next job begins.
    pub fn rests(&self) -> bool {
        self.job.is_none() && self.reading == 0
    }

    /// Returns whether so many more units may be moved at once.
    pub fn has_room_for(&self, units: u32) -> bool {
        self.moving + units <= self.moving_most
    }

    /// Returns the units between their read and the end of their program, and the reads in flight.
    pub fn in_flight(&self) -> (u32, u32) {
        (self.moving, self.reading)
    }

    /// Returns the superblock that is being read, and why.
    pub fn victim(&self) -> Option<(u32, Why)> {
        self.job.map(|job| (job.victim, job.why))
    }
}

impl Job {
    /// Returns whether another unit may be moved, if the host is not to be overtaken.
    fn keeps_step(&self) -> bool {
        self.moved * self.gain <= (self.written + self.slack) * self.valid
    }
}

impl Superblocks {
    /// Goes on with garbage collection as far as it may.
    pub(super) fn collect(&mut self, flash: &mut Flash) {
        if self.slc.is_some() {
            self.stop_if_host_is_back(flash);
        }
        loop {
            if self.collector.job.is_none() && !self.begin_job(flash) {
                break;
            }
            if !self.read_on(flash) {
                break;
            }
        }
        self.store_copied(flash);
    }

    /// Begins to empty a superblock, if too few are erased and one has something to gain. Returns
    /// whether it has begun.
    fn begin_job(&mut self, flash: &mut Flash) -> bool {
        if self.map.free_count() + self.collector.leaving >= self.collector.below {
            return (self.slc.is_some() && self.begin_folding(flash)) || self.begin_refresh(flash);
        }
        let Some((victim, valid)) = self.map.emptiest() else { return false };
        let data = self.shape.data_units();
        if valid >= data || !self.begin_emptying(victim, valid, data - valid, Why::Space) {
            return false;
        }
        self.collector.leaving += 1;
        flash.counters.collections.foreground += 1;
        true
    }

    /// Begins to empty a superblock, by which the host gains so many units. Returns whether what it
    /// holds fits somewhere.
    pub(super) fn begin_emptying(&mut self, victim: u32, valid: u32, gain: u32, why: Why) -> bool {
        if self.collector.promised() + i64::from(valid) > self.room_for_moved() {
            return false;
        }
        let first = self.shape.first_unit(victim);
        self.collector.gained_little = why == Why::Space && gain < self.shape.units_per_command;
        let carried = if why == Why::Space { self.collector.carried } else { 0 };
        self.collector.job = Some(Job {
            victim,
            why,
            next: first,
            end: first + self.shape.units,
            valid: valid.into(),
            gain: gain.into(),
            moved: 0,
            written: carried,
            slack: match why {
                Why::Space | Why::CacheFull => self.collector.slack,
                Why::Idle | Why::Refresh => UNPACED,
            },
        });
        true
    }

    /// Returns how many units fit where moved ones go, without the superblocks that the host may
    /// take: it never takes the last one. No more are promised: of superblocks that are emptied
    /// beyond that, each would keep units that have no place to go to, and none could be erased.
    pub(super) fn room_for_moved(&self) -> i64 {
        let open = self.commands.open_of(Stream::Moved);
        let rest = open.map_or(0, |open| self.shape.data_units_from(open.command));
        let last = if self.map.free_count() > 0 { self.shape.data_units() } else { 0 };
        i64::from(rest) + i64::from(last)
    }

    /// Reads valid units of the superblock being emptied, as far as it may. Returns whether it has
    /// come to its end.
    fn read_on(&mut self, flash: &mut Flash) -> bool {
        let Some(mut job) = self.collector.job else { return false };
        let page = self.shape.units_per_page;
        let urgent = self.host_lacks_superblock() || self.folds_in_idle_time();
        while job.next < job.end {
            let room = self.collector.has_room_for(page);
            if !room || !(urgent || job.keeps_step()) {
                self.collector.job = Some(job);
                return false;
            }
            job.moved += i64::from(self.read_valid(flash, job.victim, job.next, page));
            job.next += page;
        }
        self.collector.job = None;
        if job.why == Why::Space {
            self.collector.carried = job.written - job.gain;
        }
        let record = &mut self.map.superblocks[job.victim as usize];
        record.state = State::Draining;
        if record.leaving == 0 {
            self.erase(flash, job.victim);
        }
        true
    }

    /// Reads the valid units of the page that begins with the unit `first`, to move them, but no
    /// more than `most`. Returns how many.
    pub(super) fn read_valid(
        &mut self,
        flash: &mut Flash,
        superblock: u32,
        first: u32,
        most: u32,
    ) -> u32 {
        let (mut parts, mut which) = (0, 0u32);
        for at in 0..self.shape.units_per_page {
            if parts < most && self.map.valid_owner(first + at).is_some() {
                parts += 1;
                which |= 1 << at;
            }
        }
        if parts == 0 {
            return 0;
        }
        self.count_emptied(flash, superblock, parts);
        let (die, place) = self.shape.place(first);
        let class = TxnClass::BackgroundRead;
        let source = self.source_of(superblock);
        let (id, txn) = flash.open(Op::Read, source, class, Owner::Superblock(superblock), die);
        // Which of the units of the page are wanted travels with the read.
        (txn.unit, txn.from, txn.epoch) = (place, UnitId(first), which);
        self.collector.moving += parts;
        self.collector.unsent += parts;
        self.collector.reading += 1;
        self.map.superblocks[superblock as usize].leaving += parts;
        super::submit_read(flash, id, parts);
        parts
    }

    /// A page has been read, to move its units.
    pub(super) fn copied_out(&mut self, flash: &mut Flash, id: TxnId, superblock: u32) {
        let Txn { from, epoch: which, .. } = *flash.txns.get(id);
        flash.txns.close(id);
        self.collector.reading -= 1;
        for at in (0..self.shape.units_per_page).filter(|at| which & (1 << at) != 0) {
            let unit = from.0 + at;
            match self.map.valid_owner(unit) {
                Some(page) => self.collector.copied.push_back((page, unit)),
                // The host has written it again since.
                None => {
                    self.collector.moving -= 1;
                    self.collector.unsent -= 1;
                    self.map.superblocks[superblock as usize].leaving -= 1;
                }
            }
        }
        self.erase_if_empty(flash, superblock);
        self.collect(flash);
        self.drain(flash);
    }

    /// A unit has left its superblock.
    pub(super) fn left(&mut self, flash: &mut Flash, unit: u32) {
        let superblock = self.shape.superblock_of(unit);
        self.map.superblocks[superblock as usize].leaving -= 1;
        self.erase_if_empty(flash, superblock);
    }

    fn erase_if_empty(&mut self, flash: &mut Flash, superblock: u32) {
        let record = &self.map.superblocks[superblock as usize];
        if record.leaving == 0 {
            match record.state {
                State::Draining => self.erase(flash, superblock),
                State::Paused => self.paused(superblock),
                _ => {}
            }
        }
    }

    /// Stops to empty a superblock in idle time. What has been read from it is still stored.
    pub(super) fn stop_job_in_idle_time(&mut self, flash: &mut Flash) {
        let Some(job) = self.collector.job.filter(|job| job.why == Why::Idle) else { return };
        self.collector.job = None;
        if !self.map.is_aside(job.victim) {
            self.collector.leaving -= 1;
        }
        self.map.superblocks[job.victim as usize].state = State::Paused;
        self.erase_if_empty(flash, job.victim);
    }

    /// Erases a superblock: one command on each die.
    fn erase(&mut self, flash: &mut Flash, superblock: u32) {
        self.map.superblocks[superblock as usize].state = State::Erasing(self.shape.dies);
        let source = self.source_of(superblock);
        for at in 0..self.shape.dies {
            let die = self.shape.die_at(at);
            let owner = Owner::Superblock(superblock);
            let (id, txn) = flash.open(Op::Erase, source, TxnClass::Erase, owner, die);
            txn.unit = self.shape.first_page_on(superblock, die);
            txn.lpn = Lpn::NONE;
            flash.submit(id);
        }
    }

    /// A die has erased its part of a superblock.
    pub(super) fn erased_one(&mut self, flash: &mut Flash, superblock: u32) {
        let record = &mut self.map.superblocks[superblock as usize];
        let State::Erasing(dies) = record.state else { unreachable!("it is not being erased") };
        record.state = State::Erasing(dies - 1);
        if dies == 1 {
            if self.slc.is_some() {
                self.erased_in_cache(flash, superblock);
            }
            if !self.map.is_aside(superblock) {
                self.collector.leaving -= 1;
            }
            self.erased_of_age(superblock);
            self.map.erased(superblock);
            self.collect(flash);
            self.drain(flash);
        }
    }
}
