//! The jobs of collection: each empties one superblock.
//!
//! 1. A job begins to swap cold data ([`super::swaps`]), when too few superblocks are erased, and
//!    otherwise to fold or to refresh one ([`Superblocks::begin_job`]). Its valid units must fit
//!    where they are moved to.
//! 2. The valid units of one page after another are read, as far as the pace and the room for units
//!    on their way allow ([`Superblocks::read_on`]).
//! 3. Units that have been read wait for a command of their stream, and are stored a command at a
//!    time ([`super::programs`]).
//! 4. When all pages have been read and no unit is on its way out, each die erases its part of the
//!    superblock; after the last part it is free ([`Superblocks::erased_one`]).
//!
//! Exceptions:
//!
//! - A unit that the host writes or trims in the meantime is left out at step 3.
//! - A job of idle time stops when the host is back: units that have been read are still stored,
//!   and the superblock can be emptied again.
//! - A victim whose units do not fit yet stays chosen until they do.

use super::Superblocks;
use super::collection::{EmptyingJob, UNPACED, Why};
use super::commands::{SWAPPED, Stream};
use super::map::Emptied;
use super::shape::in_txn;
use crate::blocks::block_table::BlockState;
use crate::event::Event;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::observe::counters::Counters;
use crate::observe::operation::Op;
use crate::policy::placement::StreamId;
use fowler_agenda::Phase;
use fowler_units::{Id, Lpn, Nanos, RuId, TxnId, UnitId};

impl Superblocks {
    /// Continues garbage collection until a limit stops it: the number of units being moved at
    /// once, or the pace of the host's writes.
    pub(super) fn collect(&mut self, flash: &mut Flash) {
        if self.slc.is_some() {
            self.stop_if_host_is_back(flash);
        }
        if self.repair_pace.is_some() {
            self.let_repair_make_way(flash);
        }
        loop {
            let now = flash.now();
            if self.collector.job.is_none() && !self.begin_job(now, &mut flash.counters) {
                break;
            }
            if !self.read_on(flash) {
                break;
            }
        }
        self.store_copied(flash);
        if self.dies.any() {
            self.look_for_standstill(flash);
        }
    }

    /// Begins to empty a superblock: for its space if too few are erased, otherwise to fold or to
    /// refresh one. Returns true if a job has begun.
    pub(super) fn begin_job(&mut self, now: Nanos, counters: &mut Counters) -> bool {
        if self.is_read_only() {
            return !self.has_no_dies() && self.begin_refresh(counters);
        }
        if self.leveling.is_some() && self.begin_swap() {
            return true;
        }
        if self.map.free_count() + self.collector.leaving >= self.collector.below {
            return (self.slc.is_some() && self.begin_folding(counters))
                || self.begin_refresh(counters);
        }
        let Some(victim) = self.victim_for_space(now) else {
            return self.has_stopped_repair() && self.begin_refresh(counters);
        };
        let valid = self.map.valid(victim);
        let gain = |it: &Superblocks| it.units_after_erase(victim).saturating_sub(valid);
        if !self.begin_emptying(victim, valid, gain, Why::Space) {
            return false;
        }
        self.collector.chosen = None;
        self.collector.leaving += 1;
        counters.collections.foreground += 1;
        true
    }

    /// Chooses the superblock to empty for its space. `None` if there is none, or if its valid
    /// units do not fit where they are moved to.
    pub(super) fn victim_for_space(&mut self, now: Nanos) -> Option<RuId> {
        // Often not even the valid units of the emptiest superblock fit somewhere.
        if !self.map.emptiest().is_some_and(|(it, least)| self.fits(least, it)) {
            return None;
        }
        // A superblock that lends units to fill up a command is full again once they are stored.
        let lends = |it: &RuId| self.map.traffic(*it).emptied == Emptied::Lent;
        if self.collector.chosen.as_ref().is_some_and(lends) {
            return None;
        }
        let choice = self.collector.chosen.filter(|&it| self.map.state(it) == BlockState::Full);
        let victim = choice.or_else(|| self.map.victim_of(&mut self.victim, now))?;
        // A victim whose units do not fit yet stays chosen: drawing until one fits would favor
        // victims with few valid units.
        self.collector.chosen = Some(victim);
        self.fits(self.map.valid(victim), victim).then_some(victim)
    }

    /// Begins to empty `victim`, which holds `valid` valid units and whose erase gains the host
    /// `gain` units. Returns false, and does nothing, if the valid units do not fit somewhere.
    pub(super) fn begin_emptying(
        &mut self,
        victim: RuId,
        valid: u32,
        gain: impl FnOnce(&Superblocks) -> u32,
        why: Why,
    ) -> bool {
        let into = match why {
            Why::Wear => SWAPPED,
            _ => self.streams.of_survivors(victim),
        };
        if !self.fits_into(into, valid) {
            return false;
        }
        let gain = gain(self);
        self.map.empty(victim);
        let first = self.shape.first_unit(victim);
        self.collector.gained_little = why == Why::Space && gain < self.shape.units_per_command;
        let carried = if why == Why::Space { self.collector.carried } else { 0 };
        self.collector.job = Some(EmptyingJob {
            victim,
            why,
            next: first,
            end: first.plus(self.shape.units),
            valid: valid.into(),
            gain: gain.into(),
            moved: 0,
            written: carried,
            slack: match why {
                Why::Space | Why::CacheFull | Why::Wear => self.collector.slack,
                Why::Idle | Why::Refresh => UNPACED,
            },
            into,
        });
        true
    }

    /// Returns true if `units` more units fit into the open superblock and the erased ones
    /// available to the stream into which the data of `superblock` is moved.
    fn fits(&self, units: u32, superblock: RuId) -> bool {
        self.fits_into(self.streams.of_survivors(superblock), units)
    }

    /// Returns true if a stream of moved data has room for `units` more units, in its open
    /// superblock and in erased ones.
    fn fits_into(&self, stream: StreamId, units: u32) -> bool {
        self.collector.promised(stream) + i64::from(units) <= self.room_for_moved(stream)
    }

    /// Returns the number of moved units that a stream can take in its open superblock and in
    /// erased ones, without those that the host and other streams may need. With more, several
    /// superblocks could be half emptied, and none could be erased.
    pub(super) fn room_for_moved(&self, stream: StreamId) -> i64 {
        let data = i64::from(self.shape.data_units());
        let rest = |stream| {
            let open = self.commands.open_of(Stream::Moved(stream));
            let whole = open.map_or(0, |open| self.data_units_from(open.superblock, open.command));
            i64::from(whole + self.collector.left_of_command(stream))
        };
        let others = self.streams.moved().iter().filter(|&&other| other != stream);
        let beyond = |&other: &StreamId| (self.collector.promised(other) - rest(other)).max(0);
        if self.is_uneven() {
            // A stream leaves at most `data - 1` units unused, in the last superblock that it
            // takes. Setting these aside for each other stream covers every order of taking
            // superblocks.
            let used = |needed: i64| if needed > 0 { needed + data - 1 } else { 0 };
            let taken: i64 = others.map(|other| used(beyond(other))).sum();
            let erased = self.erased_units().min(self.units_kept());
            return rest(stream) + (erased - taken).max(0);
        }
        let taken: i64 = others.map(|other| (beyond(other) + data - 1) / data).sum();
        let erased = i64::from(self.map.free_count().min(self.streams.kept()));
        rest(stream) + (erased - taken).max(0) * data
    }

    /// Reads the valid units of the superblock being emptied, until too many units are being moved
    /// at once or GC would be ahead of the host's writes. Returns true if all have been read.
    fn read_on(&mut self, flash: &mut Flash) -> bool {
        let page = self.shape.units_per_page;
        // Most calls find no room, or a job that is ahead of the host: they copy nothing.
        let Some(job) = &self.collector.job else { return false };
        let goes_on = self.collector.has_room_for(page) && (job.keeps_step() || self.is_urgent());
        if job.next < job.end && !goes_on {
            return false;
        }
        let mut job = *job;
        let urgent = self.is_urgent();
        while job.next < job.end {
            let room = self.collector.has_room_for(page);
            if !room || !(urgent || job.keeps_step()) {
                self.collector.job = Some(job);
                return false;
            }
            if self.repair_pace.is_some() && !self.may_repair(flash, &job) {
                self.collector.job = Some(job);
                return false;
            }
            let read = self.read_valid(flash, job.victim, job.next, page);
            if self.repair_pace.is_some() {
                self.note_repair(flash.now(), &job, read);
            }
            job.moved += i64::from(read);
            job.next = job.next.plus(page);
        }
        self.collector.job = None;
        self.collector.carry(&job);
        self.map.set_emptied(job.victim, Emptied::Drained);
        self.end_if_empty(flash, job.victim);
        true
    }

    /// Returns true if GC may move data faster than the pace set by host writes: the host waits for
    /// an erased superblock, the SLC cache is emptied because the host is idle, a superblock is due
    /// for refresh, or one being refreshed needs units of the superblock being emptied now to fill
    /// its last program command.
    pub(super) fn is_urgent(&self) -> bool {
        self.host_lacks_superblock()
            || self.folds_in_idle_time()
            || self.renewals.wait()
            || self.renewals.moving.is_some_and(|superblock| self.waits_for_others(superblock))
    }

    /// Returns true if all valid units left in a superblock have been read, and wait only to share
    /// a partly filled program command with units of the superblock being emptied now.
    #[cold]
    fn waits_for_others(&self, superblock: RuId) -> bool {
        let traffic = self.map.traffic(superblock);
        let copied = &self.collector.copied[self.moved_into(superblock).index()];
        let of = |(_, from): &&(Lpn, UnitId)| self.shape.superblock_of(*from) == superblock;
        traffic.emptied == Emptied::Drained
            && traffic.leaving > 0
            && copied.iter().filter(of).count() as u32 == traffic.leaving
    }

    /// Reads the valid units of the page that begins with the unit `first`, to move them, but no
    /// more than `most`. Returns how many.
    pub(super) fn read_valid(
        &mut self,
        flash: &mut Flash,
        superblock: RuId,
        first: UnitId,
        most: u32,
    ) -> u32 {
        let mut which = self.map.valid_among(first, self.shape.units_per_page);
        if which == 0 {
            return 0;
        }
        while which.count_ones() > most {
            which ^= 1 << which.ilog2();
        }
        let parts = which.count_ones();
        self.count_emptied(&mut flash.counters, superblock, parts);
        let (die, place) = self.shape.place(first);
        let class = TxnClass::BackgroundRead;
        let source = self.source_of(superblock);
        let (id, txn) = flash.open(Op::Read, source, class, Owner::Superblock(superblock), die);
        // The read carries the units of the page that are wanted, one bit each, in `epoch`.
        (txn.unit, txn.from, txn.epoch) = (in_txn(place), first, which);
        self.collector.moving += parts;
        self.collector.unsent[self.moved_into(superblock).index()] += parts;
        self.collector.reading += 1;
        self.map.leaves(superblock, parts);
        super::submit_read(flash, id, parts);
        parts
    }

    /// Handles the end of a flash read of units to be moved.
    pub(super) fn copied_out(&mut self, flash: &mut Flash, id: TxnId, superblock: RuId) {
        let Txn { from, epoch: which, .. } = *flash.txns.get(id);
        flash.txns.close(id);
        self.collector.reading -= 1;
        let into = self.moved_into(superblock).index();
        for at in (0..self.shape.units_per_page).filter(|at| which & (1 << at) != 0) {
            let unit = from.plus(at);
            match self.map.valid_owner(unit) {
                Some(page) => self.collector.copied[into].push_back((page, unit)),
                // The host has written or trimmed the unit since the read was submitted.
                None => {
                    self.collector.moving -= 1;
                    self.collector.unsent[into] -= 1;
                    self.map.has_left(superblock);
                }
            }
        }
        self.end_if_empty(flash, superblock);
        self.collect(flash);
        self.drain(flash);
    }

    /// Records that a unit read to be moved out of a superblock has been programmed elsewhere or
    /// need not be moved any more; erases the superblock after the last one.
    pub(super) fn left(&mut self, flash: &mut Flash, superblock: RuId) {
        self.map.has_left(superblock);
        self.end_if_empty(flash, superblock);
    }

    /// Ends the emptying of a superblock unless units read from it still have to be programmed
    /// elsewhere.
    #[inline]
    pub(super) fn end_if_empty(&mut self, flash: &mut Flash, superblock: RuId) {
        if self.map.traffic(superblock).leaving == 0 {
            self.end_emptying(flash, superblock);
        }
    }

    /// Takes the next step for a superblock once every unit read from it has been programmed
    /// elsewhere: it is erased, or stays if its emptying was paused or it only lent units to
    /// another superblock's last command.
    fn end_emptying(&mut self, flash: &mut Flash, superblock: RuId) {
        match self.map.traffic(superblock).emptied {
            Emptied::Drained => self.erase(flash, superblock),
            Emptied::Paused => self.paused(superblock),
            Emptied::Lent => {
                self.map.give_back(superblock);
                self.renew_if_spoilt(superblock);
            }
            Emptied::No | Emptied::Read | Emptied::Erased(_) => {}
        }
    }

    /// Stops emptying a superblock in idle time. Units that have been read from it are still
    /// stored.
    pub(super) fn stop_job_in_idle_time(&mut self, flash: &mut Flash) {
        let Some(job) = self.collector.job.filter(|job| job.why == Why::Idle) else { return };
        self.collector.job = None;
        if !self.map.is_aside(job.victim) {
            self.collector.leaving -= 1;
        }
        self.map.set_emptied(job.victim, Emptied::Paused);
        self.end_if_empty(flash, job.victim);
    }

    /// Erases a superblock: one command on each die that is in service there.
    fn erase(&mut self, flash: &mut Flash, superblock: RuId) {
        let dies = self.dies_of(superblock);
        self.map.set_emptied(superblock, Emptied::Erased(dies));
        if dies == 0 {
            // All of them have failed for good. The end of a command may be being handled.
            self.dies.without_dies.push(superblock);
            flash.agenda.schedule(flash.now(), Phase::Decision, Event::Paced);
        }
        let source = self.source_of(superblock);
        for at in 0..self.shape.dies {
            if !self.erases_of(superblock, at) {
                continue;
            }
            let die = self.shape.die_at(at);
            let owner = Owner::Superblock(superblock);
            let (id, txn) = flash.open(Op::Erase, source, TxnClass::Erase, owner, die);
            txn.unit = in_txn(self.shape.first_page_on(superblock, die));
            txn.lpn = Lpn::NONE;
            flash.submit(id);
        }
    }

    /// Handles the end of the erase of a superblock's blocks on one die.
    pub(super) fn erased_one(&mut self, flash: &mut Flash, superblock: RuId) {
        let Emptied::Erased(dies) = self.map.traffic(superblock).emptied else {
            unreachable!("it is not being erased")
        };
        self.map.set_emptied(superblock, Emptied::Erased(dies - 1));
        if dies == 1 {
            self.end_erase_of_all(flash, superblock);
        }
    }

    /// Handles the end of the erase of a superblock on all of its dies.
    pub(super) fn end_erase_of_all(&mut self, flash: &mut Flash, superblock: RuId) {
        if self.slc.is_some() {
            self.erased_in_cache(&mut flash.counters, superblock);
        }
        if !self.map.is_aside(superblock) {
            self.collector.leaving -= 1;
        }
        let refreshed = self.is_refreshed(superblock);
        self.renewals.erased(superblock);
        if self.repair_pace.is_some() {
            self.forget_stopped_repair(superblock);
        }
        if self.patrol.is_some() {
            self.forget_found();
            self.forget_comparisons(superblock);
        }
        let retired = self.end_erase(superblock, flash.now());
        if let Some(contents) = &mut self.contents {
            let first = self.shape.first_unit(superblock);
            contents.erased(superblock, first.0..first.0 + self.shape.units);
        }
        self.erased_of_coverage(superblock, flash.now());
        self.erased_by_wear(superblock, refreshed || retired);
        self.collect(flash);
        self.drain(flash);
    }
}
