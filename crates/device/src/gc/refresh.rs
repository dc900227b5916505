//! Recycling: a block is emptied and erased before its data is too old or has been read too often (UDL of DA-RAID-5,
//! section III-C). It becomes *ripe* somewhat before that, and is recycled when its die is idle; once it is *due* it is
//! recycled at once. A block that is ripe while it is still open is closed as it is: one that fills slowly would keep its
//! first pages for longer than their cells do. The pages that it has left are programmed again only after its erase.
//!
//! Looks at all blocks find what is ripe; the moment at which the oldest data is due is an event, so that a drive that is
//! never idle recycles in time, too: no data becomes older than the limit but by the job that moves it, and those of its
//! plane that are due with it.

use crate::blocks::block_table::BlockState;
use crate::config::Config;
use crate::event::Event;
use crate::flash::Flash;
use crate::flash::txn::{Op, Source, Txn};
use crate::ftl::Ftl;
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
struct Age {
    /// Reads since its erase: the read counter of the paper.
    reads: u32,
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
    blocks: IdVec<BlockId, Age>,
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
            look_every: Span((its.retention.0 / LOOKS).max(1)),
        }
    }

    /// How old the first page of a block is.
    fn age(&self, block: BlockId, now: Nanos) -> Span {
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

impl Ftl {
    /// Timestamps and counters of a drive that recycles, at time zero. What is there is as old as the order in which
    /// its blocks were filled says.
    pub(crate) fn begin_recycling(&mut self, flash: &mut Flash, config: &Config) {
        if !self.array.as_ref().is_some_and(|array| array.rules.recycles) {
            return;
        }
        let geometry = self.layout.geometry;
        let mut recycler = Refresher::new(config, &geometry);
        let (blocks, filled) = (&self.space.blocks, self.space.blocks.filled().max(1));
        for block in (0..geometry.blocks()).map(BlockId) {
            if blocks.written(block) > 0 {
                let order = blocks.fill_order(block).unwrap_or(filled);
                let since = u128::from(recycler.epoch.0) * u128::from(order) / u128::from(filled);
                recycler.blocks[block].since = Some(Span(since as u64));
            }
        }
        self.recycler = Some(Box::new(recycler));
        self.look_at_all(Nanos::ZERO);
        self.expect_deadline(flash);
    }

    /// The next deadline becomes an event, if there is one: data that is written later is due later.
    fn expect_deadline(&mut self, flash: &mut Flash) {
        let now = flash.now();
        let Some(recycler) = &mut self.recycler else { return };
        // What is due and cannot be recycled at the moment, because its block is open, is looked at again then.
        let open = |block: BlockId| self.space.blocks.state(block) == BlockState::Open;
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
    pub(crate) fn deadline_event(&mut self, flash: &mut Flash) {
        if self.recycler.as_ref().is_some_and(|its| its.deadline == flash.now()) {
            self.look_at_ages_now(flash);
            self.expect_deadline(flash);
        }
    }

    /// A transaction is done: a read wears on its block, and the first program stamps it.
    pub(crate) fn count_use(&mut self, flash: &mut Flash, id: TxnId, dropped: bool) {
        let Txn { op, ppn, first_level, level, .. } = *flash.txns.get(id);
        if !ppn.is_some() || dropped {
            return;
        }
        let block = self.locator.block_of(ppn);
        match op {
            // Each try of a read disturbs its block.
            Op::Read => self.count_reads(flash, block, u32::from(level - first_level) + 1),
            Op::Program if self.locator.offset_in_block(ppn) == 0 => {
                self.stamp(block, flash.now());
                if self.recycler.as_ref().is_some_and(|its| its.deadline == Nanos::NEVER) {
                    self.expect_deadline(flash);
                }
            }
            Op::Program | Op::Erase => {}
        }
    }

    /// A page of a block has been read, with so many tries.
    fn count_reads(&mut self, flash: &mut Flash, block: BlockId, tries: u32) {
        if let Some(recycler) = &mut self.recycler {
            let its = &mut recycler.blocks[block];
            let before = its.reads;
            its.reads = before.saturating_add(tries);
            let ripe = ripe_at(recycler.reads.into());
            let (now, limit) = (its.reads, recycler.reads);
            // One that could not be closed at once is tried again.
            let open = now > limit && self.space.blocks.state(block) == BlockState::Open;
            let reaches = |limit: u64| (u64::from(before) < limit) && u64::from(now) >= limit;
            if reaches(ripe) || reaches(limit.into()) || open {
                self.ripen(flash, block);
            }
        }
    }

    /// The first page of a block has been programmed.
    fn stamp(&mut self, block: BlockId, now: Nanos) {
        if let Some(recycler) = &mut self.recycler {
            let since = Span(now.0.saturating_add(recycler.epoch.0));
            recycler.blocks[block].since.get_or_insert(since);
        }
    }

    /// A block has been erased: the electrons that reads left on its cells are gone.
    #[inline]
    pub(crate) fn refreshed(&mut self, block: BlockId) {
        if let Some(recycler) = &mut self.recycler {
            let its = &mut recycler.blocks[block];
            (its.reads, its.since) = (0, None);
        }
    }

    /// Puts a block into the line that it is ripe for, if it can be recycled and stands in none as good.
    fn line_up(&mut self, block: BlockId, now: Nanos) -> Option<PlaneId> {
        let full = self.space.blocks.state(block) == BlockState::Full;
        let recycler = self.recycler.as_mut()?;
        let ripeness = recycler.ripeness(block, now);
        // One that stands among the ripe is found there when its die is idle, or becomes due by the next look.
        if !full
            || recycler.blocks[block].ripeness != Ripeness::Fresh
            || ripeness == Ripeness::Fresh
        {
            return None;
        }
        let plane = self.locator.plane_of_block(block);
        recycler.push(plane, block, ripeness);
        Some(plane)
    }

    fn ripen(&mut self, flash: &mut Flash, block: BlockId) {
        self.close_if_ripe(flash, block);
        let plane = self.locator.plane_of_block(block);
        let standing = self.recycler.as_ref().is_some_and(|its| its.has(plane, false));
        self.line_up(block, flash.now());
        if standing {
            self.requeue_overdue(plane, flash.now());
        }
        self.recycle_if_due(flash, plane);
        self.want_idle(flash, plane);
    }

    /// Of the ripe blocks of a plane those that have become due stand among the due.
    fn requeue_overdue(&mut self, plane: PlaneId, now: Nanos) {
        let Some(recycler) = &mut self.recycler else { return };
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

    pub(crate) fn want_idle(&mut self, flash: &mut Flash, plane: PlaneId) {
        if self.recycler.as_ref().is_some_and(|its| its.has(plane, false) || its.has(plane, true)) {
            let die = self.locator.die_of_plane(plane);
            self.collector.want(die);
            if flash.die(die).is_idle() {
                self.on_die_idle(flash, die);
            }
        }
    }

    /// When the ages of all blocks are looked at next.
    #[inline]
    pub(crate) fn next_look(&self) -> Option<Nanos> {
        self.recycler.as_ref().map(|its| its.looked + its.look_every)
    }

    /// A block has become full: it may have been ripe before.
    #[inline]
    pub(crate) fn filled(&mut self, flash: &mut Flash, block: BlockId) {
        if self.recycler.is_some() {
            self.line_up_full(flash, block);
        }
    }

    fn line_up_full(&mut self, flash: &mut Flash, block: BlockId) {
        if let Some(plane) = self.line_up(block, flash.now()) {
            self.recycle_if_due(flash, plane);
            self.want_idle(flash, plane);
        }
        self.look_at_ages(flash);
    }

    /// An open block that is ripe is closed, with those of its die that are programmed together with it: their pages
    /// are to lie at one offset. Not while one is being programmed, nor where collection counts on its room.
    fn close_if_ripe(&mut self, flash: &mut Flash, block: BlockId) {
        let now = flash.now();
        let ripe = |its: &Refresher| its.ripeness(block, now) != Ripeness::Fresh;
        if self.space.blocks.state(block) != BlockState::Open
            || !self.recycler.as_ref().is_some_and(|its| ripe(its))
            || !self.recycles()
        {
            return;
        }
        let home = self.locator.plane_of_block(block);
        let Some(opened) = self.space.frontiers.opened_as(home, block) else { return };
        let together = |plane: &PlaneId| *plane == home || opened.is_host();
        let die = self.locator.die_of_plane(home);
        let planes = || self.layout.geometry.planes_of_die(die).filter(together);
        let closable = |plane: PlaneId| {
            let open = self.space.frontiers.opened(plane, opened);
            let written = |txn: &Txn| {
                txn.op == Op::Program && txn.ppn.is_some() && self.locator.block_of(txn.ppn) == open
            };
            self.collector.job(plane).is_none()
                && self.space.blocks.free_in(plane) >= 2
                && !flash.txns.iter().any(|(_, txn)| written(txn))
        };
        if !planes().all(closable) {
            return;
        }
        let first = self.layout.geometry.planes_of_die(die);
        for plane in first.filter(together) {
            if let Some(closed) = self.space.close_early(plane, opened) {
                flash.counters.closed_early += 1;
                self.space.blocks.fill(closed, now);
                self.line_up(closed, now);
                self.maybe_start(flash, plane);
            }
        }
    }

    /// Looks at the age of all blocks, if that is due again; asked whenever a block becomes full and when a die idles.
    #[inline]
    pub(crate) fn look_at_ages(&mut self, flash: &mut Flash) {
        if self.next_look().is_some_and(|at| flash.now() >= at) {
            self.look_at_ages_now(flash);
        }
    }

    #[cold]
    fn look_at_ages_now(&mut self, flash: &mut Flash) {
        for block in (0..self.layout.geometry.blocks()).map(BlockId) {
            self.close_if_ripe(flash, block);
        }
        self.look_at_all(flash.now());
        for plane in (0..self.layout.geometry.planes()).map(PlaneId) {
            self.recycle_if_due(flash, plane);
            self.want_idle(flash, plane);
        }
    }

    fn look_at_all(&mut self, now: Nanos) {
        let Some(recycler) = &mut self.recycler else { return };
        recycler.looked = now;
        for plane in (0..self.layout.geometry.planes()).map(PlaneId) {
            self.requeue_overdue(plane, now);
        }
        for block in (0..self.layout.geometry.blocks()).map(BlockId) {
            self.line_up(block, now);
        }
    }

    /// Time has gone by without power: of what is due by now the oldest is recycled first. Returns how many blocks with
    /// data are older than they should be.
    pub(crate) fn age_without_power(&mut self, flash: &mut Flash, lasts: Span) -> u64 {
        let now = flash.now();
        let Some(recycler) = &mut self.recycler else { return 0 };
        recycler.epoch += lasts;
        let retention = recycler.retention;
        let recycles = self.recycles();
        for block in (0..self.layout.geometry.blocks()).map(BlockId) {
            self.close_if_ripe(flash, block);
        }
        self.look_at_all(now);
        let Some(recycler) = &mut self.recycler else { return 0 };
        let overdue = |&block: &BlockId| {
            self.space.blocks.valid(block) > 0 && recycler.age(block, now) >= retention
        };
        let overdue = (0..self.layout.geometry.blocks()).map(BlockId).filter(overdue).count();
        for plane in (0..self.layout.geometry.planes()).map(PlaneId) {
            recycler.oldest_first(plane);
        }
        for plane in (0..self.layout.geometry.planes()).map(PlaneId) {
            self.recycle_if_due(flash, plane);
            self.want_idle(flash, plane);
        }
        self.expect_deadline(flash);
        if recycles { overdue as u64 } else { 0 }
    }

    /// A block that is due is recycled at once, if its plane is free for that.
    pub(crate) fn recycle_if_due(&mut self, flash: &mut Flash, plane: PlaneId) {
        self.recycle(flash, plane, true);
    }

    /// When the die of a plane is idle. Returns whether there was a ripe block.
    #[inline]
    pub(crate) fn recycle_in_idle_time(&mut self, flash: &mut Flash, plane: PlaneId) -> bool {
        self.recycler.is_some()
            && (self.recycle(flash, plane, true) || self.recycle(flash, plane, false))
    }

    /// Whether blocks are recycled: by the rules, or because some stripes still lack the parity that is to take its place.
    fn recycles(&self) -> bool {
        self.array.as_ref().is_some_and(|array| array.rules.recycles || array.wanted_count > 0)
    }

    /// What is due waits for no idle time, nor does the job that it waits for.
    fn promote_if_due(&mut self, flash: &mut Flash, plane: PlaneId) {
        let Some(job) = self.collector.job(plane) else { return };
        let due = |its: &Refresher| {
            its.has(plane, true) || its.ripeness(job.victim, flash.now()) == Ripeness::Due
        };
        if self.recycler.as_ref().is_some_and(|its| due(its)) {
            self.promote(flash, plane);
        }
    }

    /// Closes the open blocks of a die that are due. Returns whether one is left that waits for a job of the die to end:
    /// with one job after another on its planes it would wait for ever.
    fn close_late(&mut self, flash: &mut Flash, plane: PlaneId) -> bool {
        if !self.recycler.as_ref().is_some_and(|its| its.late) {
            return false;
        }
        let (geometry, now, mut left) = (self.layout.geometry, flash.now(), false);
        let die = self.locator.die_of_plane(plane);
        let planes = || geometry.planes_of_die(die);
        let each = geometry.blocks_per_plane;
        for block in planes().flat_map(|it| it.0 * each..(it.0 + 1) * each).map(BlockId) {
            let due =
                self.recycler.as_ref().is_some_and(|its| its.ripeness(block, now) == Ripeness::Due);
            if due && self.space.blocks.state(block) == BlockState::Open {
                self.close_if_ripe(flash, block);
                left |= self.space.blocks.state(block) == BlockState::Open;
            }
        }
        left && planes().any(|it| self.collector.job(it).is_some())
    }

    /// A job of a plane has ended.
    pub(crate) fn recycle_after_job(&mut self, flash: &mut Flash, plane: PlaneId) {
        let Some(recycler) = &self.recycler else { return };
        if recycler.late {
            // What waits to be closed may lie on another plane.
            for plane in self.layout.geometry.planes_of_die(self.locator.die_of_plane(plane)) {
                self.recycle_if_due(flash, plane);
            }
        }
        self.recycle_if_due(flash, plane);
        self.want_idle(flash, plane);
    }

    #[cold]
    fn recycle(&mut self, flash: &mut Flash, plane: PlaneId, due: bool) -> bool {
        if !self.recycles() {
            return false;
        }
        if due {
            self.promote_if_due(flash, plane);
        }
        if self.close_late(flash, plane)
            || self.collector.job(plane).is_some()
            || self.space.blocks.free_in(plane) < 2
        {
            return false;
        }
        let now = flash.now();
        while let Some(recycler) = &mut self.recycler
            && let Some(block) = recycler.pop(plane, due)
        {
            let ripe = recycler.ripeness(block, now) != Ripeness::Fresh;
            if ripe && self.space.blocks.state(block) == BlockState::Full {
                flash.counters.recycled[usize::from(!due)] += 1;
                self.begin(flash, plane, block, Source::Refresh, due);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::reliability::{ModelKind, RateTable};
    use crate::config::Ack;
    use crate::config::tests::shaped;
    use crate::device::{Device, Pacing};
    use crate::observe::probe::Completion;
    use crate::policy::redundancy::RedundancyKind;
    use crate::policy::sensing::SensingKind;
    use fowler_units::{Bytes, HostIo, HostOp};

    /// Two planes to a die, data kept for a minute.
    fn config() -> Config {
        let mut config = shaped(Geometry {
            channels: 5,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 20,
            pages_per_block: 16,
            page_size: Bytes(4096),
        });
        (config.over_provisioning, config.precondition.fill) = (0.5, 0.9);
        (config.buffer.ack, config.buffer.size) = (Ack::OnProgram, Bytes(8 * 4096));
        (config.gc.foreground_below, config.gc.background_below) = (2, 3);
        let its = &mut config.redundancy;
        (its.name, its.stripe, its.integrity) = (RedundancyKind::DisturbLimiting, 4, true);
        (its.parity_cache, its.retention) = (Bytes(4 * 4096), Span::ms(60_000));
        config
    }

    /// The age of the oldest block that holds data, and the most that one was read.
    fn oldest(device: &Device) -> (Span, u32) {
        let ftl = &device.ftl;
        let recycler = ftl.recycler.as_ref().expect("it recycles");
        let holds = |block: &BlockId| ftl.space.blocks.valid(*block) > 0;
        let held = || (0..ftl.layout.geometry.blocks()).map(BlockId).filter(holds);
        let age = |block: BlockId| recycler.age(block, device.now());
        let reads = held().map(|block| recycler.blocks[block].reads).max();
        (held().map(age).max().expect("some hold data"), reads.unwrap_or(0))
    }

    fn io(op: HostOp, page: u64, at: Span) -> HostIo {
        HostIo { at: Nanos(at.0), offset: page * 4096, size: 4096, op }
    }

    /// A page a second fills a block of the drive in some minutes: the first of its pages are not kept for so long, nor
    /// are those of blocks that nothing more is written to.
    #[test]
    fn a_block_that_fills_slowly_keeps_no_page_for_too_long() {
        for writes in [0, 1] {
            let mut device = Device::new(&config()).unwrap();
            let (most, mut passed) = (Span::ms(61_000), 0);
            let ios = (0..240).map(|turn| {
                let op = if turn % 7 < writes { HostOp::Write } else { HostOp::Read };
                io(op, turn * 3 % 50, Span::ms(1000) * turn)
            });
            let mut completions: Vec<Completion> = Vec::new();
            device.run_watched(ios, Pacing::Open, &mut completions, |device| {
                let (age, _) = oldest(device);
                assert!(age <= most, "data of {age} at {}", device.now().0);
                passed += 1;
            });
            device.check().unwrap_or_else(|law| panic!("{}", law.0));
            device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
            let counters = device.counters();
            assert!(passed > 240, "{passed} events");
            assert!(counters.closed_early > 0, "{:?} recycled", counters.recycled);
        }
    }

    /// Nor where the host reads without a pause, so that no die is ever idle and no block is filled: of the blocks, whose
    /// data is one older than the other, each is moved when its time has come.
    #[test]
    fn a_drive_that_is_never_idle_recycles_in_time() {
        let limit = Span::ms(2000);
        // Sixteen pages, each read behind those that wait and programmed, and an erase: at most this on a drive that is
        // asked by sixteen at a time.
        let job = Span::ms(120);
        // Some jobs begin in idle time and are overtaken by the host; or none ever does.
        for idle_after in [config().gc.idle_after, Span::ms(10_000)] {
            let mut config = config();
            (config.redundancy.retention, config.reliability.oldest) = (limit, Span::ms(1700));
            config.gc.idle_after = idle_after;
            let mut device = Device::new(&config).unwrap();
            let (mut most, mut idle) = (Span::ZERO, Span::ZERO);
            let read = |turn: u64| io(HostOp::Read, turn * 7 % 600, Span::ZERO);
            let mut completions: Vec<Completion> = Vec::new();
            let reads = (0..300_000).map(read);
            device.run_watched(reads, Pacing::Closed { depth: 16 }, &mut completions, |device| {
                most = most.max(oldest(device).0);
                idle = device.counters().idle;
            });
            assert!(device.now() > Nanos(2 * limit.0), "{}", device.now().0);
            assert_eq!(idle, Span::ZERO, "the host reads without a pause");
            let [due, early] = device.counters().recycled;
            assert!(due + early > 100 && (due > 100 || idle_after < limit), "{due} {early}");
            assert!(most <= limit + job, "data of {most}, {due} and {early} recycled");
            device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
        }
    }

    /// Nor is a page read more often than it bears because its block is open.
    #[test]
    fn a_block_that_is_open_is_not_read_too_often() {
        let mut config = config();
        (config.redundancy.reads, config.redundancy.retention) = (200, Span::ms(1_000_000_000));
        let mut device = Device::new(&config).unwrap();
        // The buffer holds eight pages: not the first of these in the end.
        let ios = (7..27).map(|page| io(HostOp::Write, page, Span::ZERO));
        let reads = (1..3000).map(|turn| io(HostOp::Read, 7, Span::ms(1) * turn));
        let mut completions: Vec<Completion> = Vec::new();
        device.run(ios.chain(reads), Pacing::Open, &mut completions);
        let (_, reads) = oldest(&device);
        assert!(reads <= 200, "{reads} reads");
        assert!(device.counters().closed_early > 0);
    }

    /// Every try of a read disturbs its block.
    #[test]
    fn a_retry_is_a_read() {
        let mut config = config();
        config.redundancy.retention = Span::ms(1_000_000_000);
        config.redundancy.integrity = false;
        config.reliability.model = ModelKind::Table;
        config.reliability.levels = 3;
        config.reliability.table = RateTable {
            cycles: vec![0.0, 3000.0],
            ages: vec![Span::ZERO, Span::ms(2_000_000_000)],
            rates: vec![vec![1e-2; 2]; 2],
        };
        config.sensing.name = SensingKind::Retry;
        let mut device = Device::new(&config).unwrap();
        let reads = (0..50).map(|turn| io(HostOp::Read, 7, Span::ms(1) * turn));
        let mut completions: Vec<Completion> = Vec::new();
        device.run(reads, Pacing::Open, &mut completions);
        let retries: u64 = device.counters().retries_at.iter().sum();
        assert!(retries > 0, "the first try is enough");
        assert_eq!(u64::from(oldest(&device).1), 50 + retries);
    }
}
