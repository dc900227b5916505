//! Recycling: a block is emptied and erased before its data is too old or has been read too often (UDL of DA-RAID-5,
//! section III-C). It becomes *ripe* somewhat before that, and is recycled when its die is idle; once it is *due* it is
//! recycled at once. A block that is ripe while it is still open is closed as it is: one that fills slowly would keep its
//! first pages for longer than their cells do. The pages that it has left are programmed again only after its erase.
//!
//! Looks at all blocks find what is ripe; the moment at which the oldest data is due is an event, so that a drive that is
//! never idle recycles in time, too: no data becomes older than the limit but by the job that moves it, and those of its
//! plane that are due with it.

use super::Gc;
use crate::blocks::block_table::BlockState;
use crate::config::Config;
use crate::core::Core;
use crate::event::Event;
use crate::flash::Flash;
use crate::flash::txn::Txn;
use crate::observe::operation::{Op, Source};
use fowler_agenda::Phase;
use fowler_units::{BlockId, Geometry, Id, IdVec, Nanos, PlaneId, Span, TxnId};

/// A block is ripe from this share of a limit on. Assumed: the paper recycles what is "close to or longer than" it.
const RIPE_NUMERATOR: u64 = 9;
const RIPE_DENOMINATOR: u64 = 10;
/// How often in the longest time that data may be kept all blocks are looked at. Assumed: "periodically".
const LOOKS: u64 = 100;
/// A block is due by this share of the limit before its data is as old as that: so no more than a thousand times in that
/// time all blocks are looked at for one that is due. Assumed: no paper says how exact a controller's clock is.
const DUE_BEFORE: u64 = 1000;

/// How far a block is on its way to be recycled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ripeness {
    Fresh,
    Ripe,
    Due,
}

/// What is known of a block: 16 bytes in the loop of every read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Age {
    /// Reads since its erase: the read counter of the paper.
    pub reads: u32,
    ripeness: Ripeness,
    /// The next one of its plane that is as ripe.
    next: BlockId,
    /// When its first page was programmed, its timestamp; none while it is erased.
    since: Option<Span>,
}

/// The blocks of a plane that are ripe, and those that are due, in order.
#[derive(Clone, Copy, Debug)]
struct Line {
    head: BlockId,
    tail: BlockId,
}

const EMPTY: Line = Line { head: BlockId::NONE, tail: BlockId::NONE };

/// The timestamps and read counters.
#[derive(Clone, Debug)]
pub struct Refresher {
    pub(super) blocks: IdVec<BlockId, Age>,
    ripe: IdVec<PlaneId, Line>,
    due: IdVec<PlaneId, Line>,
    retention: Span,
    reads: u32,
    /// How long before time zero the oldest data was written: timestamps count from there.
    epoch: Span,
    looked: Nanos,
    look_every: Span,
    /// When the next event of a deadline is; never, if none is asked for.
    deadline: Nanos,
    /// Whether an open block is due that could not be closed.
    late: bool,
    /// Whether blocks are refreshed now: by the rules of the drive's stage of life, or because some stripes still lack the
    /// parity that is to take its place.
    pub active: bool,
}

/// Somewhat less than a limit.
fn ripe_at(limit: u64) -> u64 {
    (u128::from(limit) * u128::from(RIPE_NUMERATOR) / u128::from(RIPE_DENOMINATOR)) as u64
}

impl Refresher {
    /// The blocks of a drive at time zero, none of which has been read.
    pub fn new(config: &Config, geometry: &Geometry) -> Self {
        let its = &config.redundancy;
        let age = Age { reads: 0, ripeness: Ripeness::Fresh, next: BlockId::NONE, since: None };
        let planes = geometry.planes() as usize;
        Self {
            blocks: IdVec::filled(age, geometry.blocks() as usize),
            ripe: IdVec::filled(EMPTY, planes),
            due: IdVec::filled(EMPTY, planes),
            retention: its.retention,
            reads: its.reads,
            epoch: config.reliability.oldest,
            looked: Nanos::ZERO,
            deadline: Nanos::NEVER,
            late: false,
            active: true,
            look_every: Span((its.retention.0 / LOOKS).max(1)),
        }
    }

    /// How old the first page of a block is.
    pub(super) fn age(&self, block: BlockId, now: Nanos) -> Span {
        let now = Span(now.0.saturating_add(self.epoch.0));
        self.blocks[block].since.map_or(Span::ZERO, |since| now.saturating_sub(since))
    }

    /// Those that are due stand in the order of their age.
    fn oldest_first(&mut self, plane: PlaneId) {
        let mut due: Vec<BlockId> = std::iter::from_fn(|| self.pop(plane, true)).collect();
        due.sort_by_key(|&block| self.blocks[block].since);
        due.into_iter().for_each(|block| self.push(plane, block, Ripeness::Due));
    }

    fn ripeness(&self, block: BlockId, now: Nanos) -> Ripeness {
        let its = &self.blocks[block];
        let age = self.age(block, now).0;
        if age >= self.due_at() || its.reads >= self.reads {
            Ripeness::Due
        } else if age >= ripe_at(self.retention.0)
            || u64::from(its.reads) >= ripe_at(self.reads.into())
        {
            Ripeness::Ripe
        } else {
            Ripeness::Fresh
        }
    }

    /// The age from which on data is due.
    fn due_at(&self) -> u64 {
        self.retention.0 - self.retention.0 / DUE_BEFORE
    }

    /// When the oldest data that is not due yet is as old as it may become.
    fn next_deadline(&self, now: Nanos) -> Option<Nanos> {
        let since = self.blocks.as_slice().iter().filter_map(|its| its.since);
        let young = since.filter(|since| {
            (now.0.saturating_add(self.epoch.0)).saturating_sub(since.0) < self.due_at()
        });
        let at = young.min()?.0.saturating_add(self.retention.0).saturating_sub(self.epoch.0);
        Some(Nanos(at))
    }

    fn push(&mut self, plane: PlaneId, block: BlockId, ripeness: Ripeness) {
        self.blocks[block].ripeness = ripeness;
        self.blocks[block].next = BlockId::NONE;
        let lines = if ripeness == Ripeness::Due { &mut self.due } else { &mut self.ripe };
        let line = &mut lines[plane];
        let tail = std::mem::replace(&mut line.tail, block);
        if line.head.is_some() {
            self.blocks[tail].next = block;
        } else {
            line.head = block;
        }
    }

    /// Takes the first block of a line.
    fn pop(&mut self, plane: PlaneId, due: bool) -> Option<BlockId> {
        let line = if due { &mut self.due[plane] } else { &mut self.ripe[plane] };
        let block = line.head;
        if !block.is_some() {
            return None;
        }
        line.head = self.blocks[block].next;
        self.blocks[block].ripeness = Ripeness::Fresh;
        Some(block)
    }

    fn has(&self, plane: PlaneId, due: bool) -> bool {
        let line = if due { &self.due[plane] } else { &self.ripe[plane] };
        line.head.is_some()
    }
}

impl Gc {
    /// Timestamps and counters of a drive that recycles, at time zero. What is there is as old as the order in which
    /// its blocks were filled says.
    pub fn begin_recycling(&mut self, core: &mut Core, flash: &mut Flash, config: &Config) {
        let geometry = core.layout.geometry;
        let mut recycler = Refresher::new(config, &geometry);
        let (blocks, filled) = (&core.space.blocks, core.space.blocks.filled().max(1));
        for block in (0..geometry.blocks()).map(BlockId) {
            if blocks.written(block) > 0 {
                let order = blocks.fill_order(block).unwrap_or(filled);
                let since = u128::from(recycler.epoch.0) * u128::from(order) / u128::from(filled);
                recycler.blocks[block].since = Some(Span(since as u64));
            }
        }
        self.refresh = Some(Box::new(recycler));
        self.look_at_all(core, Nanos::ZERO);
        self.expect_deadline(core, flash);
    }

    /// The next deadline becomes an event, if there is one: data that is written later is due later.
    pub(super) fn expect_deadline(&mut self, core: &mut Core, flash: &mut Flash) {
        let now = flash.now();
        let Some(recycler) = &mut self.refresh else { return };
        // What is due and cannot be recycled at the moment, because its block is open, is looked at again then.
        let open = |block: BlockId| core.space.blocks.state(block) == BlockState::Open;
        let late = |it: BlockId| open(it) && recycler.ripeness(it, now) == Ripeness::Due;
        let late = recycler.blocks.ids().any(late);
        recycler.late = late;
        let again = late.then(|| now + recycler.look_every);
        let at = recycler.next_deadline(now).into_iter().chain(again).min();
        recycler.deadline = at.unwrap_or(Nanos::NEVER);
        if let Some(at) = at {
            flash.agenda.schedule(at.max(now), Phase::Decision, Event::Deadline);
        }
    }

    /// Some data is as old as it may become, unless it was moved meanwhile.
    pub fn deadline_event(&mut self, core: &mut Core, flash: &mut Flash) {
        if self.refresh.as_ref().is_some_and(|its| its.deadline == flash.now()) {
            self.look_at_ages_now(core, flash);
            self.expect_deadline(core, flash);
        }
    }

    /// A transaction is done: a read wears on its block, and the first program stamps it.
    pub fn count_use(&mut self, core: &mut Core, flash: &mut Flash, id: TxnId, dropped: bool) {
        let Txn { op, ppn, first_level, level, .. } = *flash.txns.get(id);
        if !ppn.is_some() || dropped {
            return;
        }
        let block = core.locator.block_of(ppn);
        match op {
            // Each try of a read disturbs its block.
            Op::Read => self.count_reads(core, flash, block, u32::from(level - first_level) + 1),
            Op::Program if core.locator.offset_in_block(ppn) == 0 => {
                self.stamp(block, flash.now());
                if self.refresh.as_ref().is_some_and(|its| its.deadline == Nanos::NEVER) {
                    self.expect_deadline(core, flash);
                }
            }
            Op::Program | Op::Erase => {}
        }
    }

    /// A page of a block has been read, with so many tries.
    pub(super) fn count_reads(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        block: BlockId,
        tries: u32,
    ) {
        if let Some(recycler) = &mut self.refresh {
            let its = &mut recycler.blocks[block];
            let before = its.reads;
            its.reads = before.saturating_add(tries);
            let ripe = ripe_at(recycler.reads.into());
            let (now, limit) = (its.reads, recycler.reads);
            // One that could not be closed at once is tried again.
            let open = now > limit && core.space.blocks.state(block) == BlockState::Open;
            let reaches = |limit: u64| (u64::from(before) < limit) && u64::from(now) >= limit;
            if reaches(ripe) || reaches(limit.into()) || open {
                self.ripen(core, flash, block);
            }
        }
    }

    /// The first page of a block has been programmed.
    pub(super) fn stamp(&mut self, block: BlockId, now: Nanos) {
        if let Some(recycler) = &mut self.refresh {
            let since = Span(now.0.saturating_add(recycler.epoch.0));
            recycler.blocks[block].since.get_or_insert(since);
        }
    }

    /// A block has been erased: the electrons that reads left on its cells are gone.
    #[inline]
    pub fn refreshed(&mut self, block: BlockId) {
        if let Some(recycler) = &mut self.refresh {
            let its = &mut recycler.blocks[block];
            (its.reads, its.since) = (0, None);
        }
    }

    /// Puts a block into the line that it is ripe for, if it can be recycled and stands in none as good.
    pub(super) fn line_up(
        &mut self,
        core: &mut Core,
        block: BlockId,
        now: Nanos,
    ) -> Option<PlaneId> {
        let full = core.space.blocks.state(block) == BlockState::Full;
        let recycler = self.refresh.as_mut()?;
        let ripeness = recycler.ripeness(block, now);
        // One that stands among the ripe is found there when its die is idle, or becomes due by the next look.
        if !full
            || recycler.blocks[block].ripeness != Ripeness::Fresh
            || ripeness == Ripeness::Fresh
        {
            return None;
        }
        let plane = core.locator.plane_of_block(block);
        recycler.push(plane, block, ripeness);
        Some(plane)
    }

    pub(super) fn ripen(&mut self, core: &mut Core, flash: &mut Flash, block: BlockId) {
        self.close_if_ripe(core, flash, block);
        let plane = core.locator.plane_of_block(block);
        let standing = self.refresh.as_ref().is_some_and(|its| its.has(plane, false));
        self.line_up(core, block, flash.now());
        if standing {
            self.requeue_overdue(plane, flash.now());
        }
        self.recycle_if_due(core, flash, plane);
        self.want_idle(core, flash, plane);
    }

    /// Of the ripe blocks of a plane those that have become due stand among the due.
    pub(super) fn requeue_overdue(&mut self, plane: PlaneId, now: Nanos) {
        let Some(recycler) = &mut self.refresh else { return };
        let mut at = std::mem::replace(&mut recycler.ripe[plane], EMPTY).head;
        while at.is_some() {
            let next = recycler.blocks[at].next;
            let ripeness = recycler.ripeness(at, now);
            recycler.blocks[at].ripeness = Ripeness::Fresh;
            if ripeness != Ripeness::Fresh {
                recycler.push(plane, at, ripeness);
            }
            at = next;
        }
    }

    pub fn want_idle(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        if self.refresh.as_ref().is_some_and(|its| its.has(plane, false) || its.has(plane, true)) {
            let die = core.locator.die_of_plane(plane);
            self.want(die);
            if flash.die(die).is_idle() {
                self.on_die_idle(core, flash, die);
            }
        }
    }

    /// When the ages of all blocks are looked at next.
    #[inline]
    pub fn next_look(&self) -> Option<Nanos> {
        self.refresh.as_ref().map(|its| its.looked + its.look_every)
    }

    /// A block has become full: it may have been ripe before.
    #[inline]
    pub fn filled(&mut self, core: &mut Core, flash: &mut Flash, block: BlockId) {
        if self.refresh.is_some() {
            self.line_up_full(core, flash, block);
        }
    }

    pub(super) fn line_up_full(&mut self, core: &mut Core, flash: &mut Flash, block: BlockId) {
        if let Some(plane) = self.line_up(core, block, flash.now()) {
            self.recycle_if_due(core, flash, plane);
            self.want_idle(core, flash, plane);
        }
        self.look_at_ages(core, flash);
    }

    /// An open block that is ripe is closed, with those of its die that are programmed together with it: their pages
    /// are to lie at one offset. Not while one is being programmed, nor where collection counts on its room.
    pub(super) fn close_if_ripe(&mut self, core: &mut Core, flash: &mut Flash, block: BlockId) {
        let now = flash.now();
        let ripe = |its: &Refresher| its.ripeness(block, now) != Ripeness::Fresh;
        if core.space.blocks.state(block) != BlockState::Open
            || !self.refresh.as_ref().is_some_and(|its| ripe(its))
            || !self.recycles()
        {
            return;
        }
        let home = core.locator.plane_of_block(block);
        let Some(opened) = core.space.frontiers.opened_as(home, block) else { return };
        let together = |plane: &PlaneId| *plane == home || opened.is_host();
        let die = core.locator.die_of_plane(home);
        let planes = || core.layout.geometry.planes_of_die(die).filter(together);
        let closable = |plane: PlaneId| {
            let open = core.space.frontiers.opened(plane, opened);
            let written = |txn: &Txn| {
                txn.op == Op::Program && txn.ppn.is_some() && core.locator.block_of(txn.ppn) == open
            };
            self.job(plane).is_none()
                && core.space.blocks.free_in(plane) >= 2
                && !flash.txns.iter().any(|(_, txn)| written(txn))
        };
        if !planes().all(closable) {
            return;
        }
        let first = core.layout.geometry.planes_of_die(die);
        for plane in first.filter(together) {
            if let Some(closed) = core.space.close_early(plane, opened) {
                flash.counters.closed_early += 1;
                core.space.blocks.fill(closed, now);
                self.line_up(core, closed, now);
                self.maybe_start(core, flash, plane);
            }
        }
    }

    /// Looks at the age of all blocks, if that is due again; asked whenever a block becomes full and when a die idles.
    #[inline]
    pub fn look_at_ages(&mut self, core: &mut Core, flash: &mut Flash) {
        if self.next_look().is_some_and(|at| flash.now() >= at) {
            self.look_at_ages_now(core, flash);
        }
    }

    #[cold]
    pub(super) fn look_at_ages_now(&mut self, core: &mut Core, flash: &mut Flash) {
        for block in (0..core.layout.geometry.blocks()).map(BlockId) {
            self.close_if_ripe(core, flash, block);
        }
        self.look_at_all(core, flash.now());
        for plane in (0..core.layout.geometry.planes()).map(PlaneId) {
            self.recycle_if_due(core, flash, plane);
            self.want_idle(core, flash, plane);
        }
    }

    pub(super) fn look_at_all(&mut self, core: &mut Core, now: Nanos) {
        let Some(recycler) = &mut self.refresh else { return };
        recycler.looked = now;
        for plane in (0..core.layout.geometry.planes()).map(PlaneId) {
            self.requeue_overdue(plane, now);
        }
        for block in (0..core.layout.geometry.blocks()).map(BlockId) {
            self.line_up(core, block, now);
        }
    }

    /// Time has gone by without power: of what is due by now the oldest is recycled first. Returns how many blocks with
    /// data are older than they should be.
    pub fn age_without_power(&mut self, core: &mut Core, flash: &mut Flash, lasts: Span) -> u64 {
        let now = flash.now();
        let Some(recycler) = &mut self.refresh else { return 0 };
        recycler.epoch += lasts;
        let retention = recycler.retention;
        let recycles = self.recycles();
        for block in (0..core.layout.geometry.blocks()).map(BlockId) {
            self.close_if_ripe(core, flash, block);
        }
        self.look_at_all(core, now);
        let Some(recycler) = &mut self.refresh else { return 0 };
        let overdue = |&block: &BlockId| {
            core.space.blocks.valid(block) > 0 && recycler.age(block, now) >= retention
        };
        let overdue = (0..core.layout.geometry.blocks()).map(BlockId).filter(overdue).count();
        for plane in (0..core.layout.geometry.planes()).map(PlaneId) {
            recycler.oldest_first(plane);
        }
        for plane in (0..core.layout.geometry.planes()).map(PlaneId) {
            self.recycle_if_due(core, flash, plane);
            self.want_idle(core, flash, plane);
        }
        self.expect_deadline(core, flash);
        if recycles { overdue as u64 } else { 0 }
    }

    /// A block that is due is recycled at once, if its plane is free for that.
    pub fn recycle_if_due(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        self.recycle(core, flash, plane, true);
    }

    /// When the die of a plane is idle. Returns whether there was a ripe block.
    #[inline]
    pub fn recycle_in_idle_time(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
    ) -> bool {
        self.refresh.is_some()
            && (self.recycle(core, flash, plane, true) || self.recycle(core, flash, plane, false))
    }

    /// Whether blocks are refreshed now.
    pub(super) fn recycles(&self) -> bool {
        self.refresh.as_ref().is_some_and(|its| its.active)
    }

    /// What is due waits for no idle time, nor does the job that it waits for.
    pub(super) fn promote_if_due(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        let Some(job) = self.job(plane) else { return };
        let due = |its: &Refresher| {
            its.has(plane, true) || its.ripeness(job.victim, flash.now()) == Ripeness::Due
        };
        if self.refresh.as_ref().is_some_and(|its| due(its)) {
            self.promote(core, flash, plane);
        }
    }

    /// Closes the open blocks of a die that are due. Returns whether one is left that waits for a job of the die to end:
    /// with one job after another on its planes it would wait for ever.
    pub(super) fn close_late(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
    ) -> bool {
        if !self.refresh.as_ref().is_some_and(|its| its.late) {
            return false;
        }
        let (geometry, now, mut left) = (core.layout.geometry, flash.now(), false);
        let die = core.locator.die_of_plane(plane);
        let planes = || geometry.planes_of_die(die);
        let each = geometry.blocks_per_plane;
        for block in planes().flat_map(|it| it.0 * each..(it.0 + 1) * each).map(BlockId) {
            let due =
                self.refresh.as_ref().is_some_and(|its| its.ripeness(block, now) == Ripeness::Due);
            if due && core.space.blocks.state(block) == BlockState::Open {
                self.close_if_ripe(core, flash, block);
                left |= core.space.blocks.state(block) == BlockState::Open;
            }
        }
        left && planes().any(|it| self.job(it).is_some())
    }

    /// A job of a plane has ended.
    pub fn recycle_after_job(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        let Some(recycler) = &self.refresh else { return };
        if recycler.late {
            // What waits to be closed may lie on another plane.
            for plane in core.layout.geometry.planes_of_die(core.locator.die_of_plane(plane)) {
                self.recycle_if_due(core, flash, plane);
            }
        }
        self.recycle_if_due(core, flash, plane);
        self.want_idle(core, flash, plane);
    }

    #[cold]
    pub(super) fn recycle(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
        due: bool,
    ) -> bool {
        if !self.recycles() {
            return false;
        }
        if due {
            self.promote_if_due(core, flash, plane);
        }
        if self.close_late(core, flash, plane)
            || self.job(plane).is_some()
            || core.space.blocks.free_in(plane) < 2
        {
            return false;
        }
        let now = flash.now();
        while let Some(recycler) = &mut self.refresh
            && let Some(block) = recycler.pop(plane, due)
        {
            let ripe = recycler.ripeness(block, now) != Ripeness::Fresh;
            if ripe && core.space.blocks.state(block) == BlockState::Full {
                flash.counters.recycled[usize::from(!due)] += 1;
                self.begin(core, flash, plane, block, Source::Refresh, due);
                return true;
            }
        }
        false
    }
}
