//! Refresh: a block is emptied and erased before its data is too old or has been read too often
//! (UDL of DA-RAID-5, section III-C). At the *hard limit* it is refreshed at once; at a *soft
//! limit* somewhat earlier, when its die is idle. A block that reaches a limit while still open is
//! closed early, because a block that fills slowly would keep its first pages for too long. Its
//! remaining pages are not programmed until after its erase.
//!
//! Scans of all blocks find those that have reached a limit. The time at which the oldest data will
//! reach the hard limit is an event, so that a drive that is never idle also refreshes in time:
//! data exceeds the limit at most by the duration of the job that moves it, and of jobs for other
//! blocks of its plane that reach the limit at the same time.

use super::Gc;
use crate::blocks::block_table::BlockState;
use crate::config::Config;
use crate::core::Core;
use crate::event::Event;
use crate::flash::Flash;
use crate::flash::txn::Txn;
use crate::observe::operation::Op;
use fowler_agenda::Phase;
use fowler_units::{
    BlockId, Bytes, Geometry, Id, IdVec, Link, Linked, List, Nanos, PlaneId, Span, TxnId,
};

/// The soft limit as a share of the hard one. Assumed: the paper refreshes data that is "close to
/// or longer than" it.
const SOFT_LIMIT_NUMERATOR: u64 = 9;
const SOFT_LIMIT_DENOMINATOR: u64 = 10;
/// The number of scans of all blocks during the retention limit. Assumed: "periodically".
const LOOKS: u64 = 100;
/// The margin, as a fraction of the retention limit, by which a block is refreshed early. It limits
/// the scans caused by deadlines to a thousand per retention period. Assumed: no paper gives the
/// precision of a controller's clock.
const DUE_BEFORE: u64 = 1000;

/// How urgently a block must be refreshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Urgency {
    Fresh,
    SoftLimit,
    HardLimit,
}

/// The refresh state of a block; changes with every counted read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Age {
    /// Reads since its erase: the read counter of the paper.
    pub reads: u32,
    pub(super) urgency: Urgency,
    /// Its neighbors in the plane's list for its urgency.
    link: Link<BlockId>,
    /// Its timestamp: when its first page was programmed; none while erased.
    since: Option<Span>,
}

impl Linked<BlockId> for Age {
    fn link(&self) -> &Link<BlockId> {
        &self.link
    }
    fn link_mut(&mut self) -> &mut Link<BlockId> {
        &mut self.link
    }
}

/// The timestamps and read counters of all blocks.
#[derive(Clone, Debug)]
pub struct Refresher {
    pub(super) blocks: IdVec<BlockId, Age>,
    /// Per plane, the blocks that have reached a limit, in order.
    pub(super) past_soft: IdVec<PlaneId, List<BlockId>>,
    past_hard: IdVec<PlaneId, List<BlockId>>,
    retention: Span,
    reads: u32,
    /// If these limits depend on wear: the factor for each block, and that for each erase.
    longer: Option<IdVec<BlockId, f64>>,
    per_erase: f64,
    /// The age of the oldest data at time zero: timestamps count from there.
    pub(super) epoch: Span,
    pub(super) looked: Nanos,
    pub(super) look_every: Span,
    /// The time of the next deadline event; `NEVER` if none is scheduled.
    deadline: Nanos,
    /// Whether an open block is past the hard limit and could not be closed.
    pub(super) overdue_open: bool,
    /// Whether blocks are refreshed now: under the rules of the current stage of life, or because
    /// some stripes still lack the parity that replaces refresh.
    pub active: bool,
}

/// Returns the soft limit for a hard one.
fn soft_limit(limit: u64) -> u64 {
    (u128::from(limit) * u128::from(SOFT_LIMIT_NUMERATOR) / u128::from(SOFT_LIMIT_DENOMINATOR))
        as u64
}

/// The age at which data reaches the hard limit.
fn hard_limit(retention: Span) -> Span {
    retention - Span(retention.0 / DUE_BEFORE)
}

impl Refresher {
    /// Creates the state of a drive at time zero, with no block read.
    pub fn new(config: &Config, geometry: &Geometry) -> Self {
        let its = &config.redundancy;
        let age = Age { reads: 0, urgency: Urgency::Fresh, link: Link::NONE, since: None };
        let planes = geometry.planes() as usize;
        Self {
            blocks: IdVec::filled(age, geometry.blocks() as usize),
            past_soft: IdVec::filled(List::EMPTY, planes),
            past_hard: IdVec::filled(List::EMPTY, planes),
            retention: its.retention,
            reads: its.reads,
            longer: None,
            per_erase: its.limits_at(1.0) / its.limits_at(0.0),
            epoch: config.reliability.oldest,
            looked: Nanos::ZERO,
            deadline: Nanos::NEVER,
            overdue_open: false,
            active: true,
            look_every: Span((its.retention.0 / LOOKS).max(1)),
        }
    }

    /// Returns the memory that the ages of all blocks take.
    pub(super) fn bytes(geometry: &Geometry) -> Bytes {
        Bytes::of::<Age>(geometry.blocks().into())
            + Bytes::of::<f64>(geometry.blocks().into())
            + Bytes::of::<[List<BlockId>; 2]>(geometry.planes().into())
    }

    /// Returns the age of the first page of a block.
    pub(super) fn age(&self, block: BlockId, now: Nanos) -> Span {
        let now = Span(now.0.saturating_add(self.epoch.0));
        self.blocks[block].since.map_or(Span::ZERO, |since| now.saturating_sub(since))
    }

    /// Sorts the blocks past the hard limit by age.
    pub(super) fn oldest_first(&mut self, plane: PlaneId) {
        let mut past: Vec<BlockId> = std::iter::from_fn(|| self.pop(plane, true)).collect();
        past.sort_by_key(|&block| self.blocks[block].since);
        past.into_iter().for_each(|block| self.push(plane, block, Urgency::HardLimit));
    }

    /// Returns the age at which the data of a block is overdue.
    pub(super) fn retention_of(&self, block: BlockId) -> Span {
        let longer =
            |all: &IdVec<BlockId, f64>| Span((self.retention.0 as f64 * all[block]) as u64);
        self.longer.as_ref().map_or(self.retention, longer)
    }

    /// Returns how often a block may be read.
    fn reads_of(&self, block: BlockId) -> u32 {
        let longer = |all: &IdVec<BlockId, f64>| (f64::from(self.reads) * all[block]) as u32;
        self.longer.as_ref().map_or(self.reads, longer)
    }

    pub(super) fn urgency(&self, block: BlockId, now: Nanos) -> Urgency {
        let its = &self.blocks[block];
        let age = self.age(block, now);
        let (retention, reads) = (self.retention_of(block), self.reads_of(block));
        if age >= hard_limit(retention) || its.reads >= reads {
            Urgency::HardLimit
        } else if age.0 >= soft_limit(retention.0)
            || u64::from(its.reads) >= soft_limit(reads.into())
        {
            Urgency::SoftLimit
        } else {
            Urgency::Fresh
        }
    }

    /// Returns when the oldest data not yet past the hard limit reaches its maximum age.
    fn next_deadline(&self, now: Nanos) -> Option<Nanos> {
        let now = now.0.saturating_add(self.epoch.0);
        let reaches = |block: BlockId| {
            let (since, retention) = (self.blocks[block].since?, self.retention_of(block));
            let young = now.saturating_sub(since.0) < hard_limit(retention).0;
            young.then(|| since.0.saturating_add(retention.0))
        };
        let first = self.blocks.ids().filter_map(reaches).min()?;
        Some(Nanos(first.saturating_sub(self.epoch.0)))
    }

    pub(super) fn push(&mut self, plane: PlaneId, block: BlockId, urgency: Urgency) {
        self.blocks[block].urgency = urgency;
        let lines =
            if urgency == Urgency::HardLimit { &mut self.past_hard } else { &mut self.past_soft };
        lines[plane].push_back(&mut self.blocks, block);
    }

    /// Removes the first block of a list.
    pub(super) fn pop(&mut self, plane: PlaneId, hard: bool) -> Option<BlockId> {
        let line = if hard { &mut self.past_hard[plane] } else { &mut self.past_soft[plane] };
        let block = line.pop_front(&mut self.blocks)?;
        self.blocks[block].urgency = Urgency::Fresh;
        Some(block)
    }

    pub(super) fn has(&self, plane: PlaneId, hard: bool) -> bool {
        let line = if hard { &self.past_hard[plane] } else { &self.past_soft[plane] };
        !line.is_empty()
    }
}

impl Gc {
    /// Initializes timestamps and counters of a drive with refresh, at time zero. Data age follows
    /// the order in which blocks were filled.
    pub fn begin_refresh(&mut self, core: &mut Core, flash: &mut Flash, config: &Config) {
        let geometry = core.layout.geometry;
        let mut refresher = Refresher::new(config, &geometry);
        if config.redundancy.limit_growth != 0.0 {
            let before = config.initial_cycles(geometry.blocks());
            let erases = core.allocator.blocks.erase_counts();
            let cycles = before.as_slice().iter().zip(erases).map(|(&before, &now)| before + now);
            refresher.longer =
                Some(cycles.map(|cycles| config.redundancy.limits_at(f64::from(cycles))).collect());
        }
        let (blocks, filled) = (&core.allocator.blocks, core.allocator.blocks.filled().max(1));
        for block in (0..geometry.blocks()).map(BlockId) {
            if blocks.written(block) > 0 {
                let order = blocks.fill_order(block).unwrap_or(filled);
                let since = u128::from(refresher.epoch.0) * u128::from(order) / u128::from(filled);
                refresher.blocks[block].since = Some(Span(since as u64));
            }
        }
        self.refresh = Some(Box::new(refresher));
        self.look_at_all(core, Nanos::ZERO);
        self.expect_deadline(core, flash);
    }

    /// Schedules an event for the next deadline, if there is one. Data written later reaches its
    /// deadline later.
    pub(super) fn expect_deadline(&mut self, core: &mut Core, flash: &mut Flash) {
        let now = flash.now();
        let Some(refresher) = &mut self.refresh else { return };
        // Data past the hard limit that cannot be refreshed now, because its block is open, is
        // checked again then.
        let open = |block: BlockId| core.allocator.blocks.state(block) == BlockState::Open;
        let overdue_open =
            |it: BlockId| open(it) && refresher.urgency(it, now) == Urgency::HardLimit;
        let overdue_open = refresher.blocks.ids().any(overdue_open);
        refresher.overdue_open = overdue_open;
        let again = overdue_open.then(|| now + refresher.look_every);
        let at = refresher.next_deadline(now).into_iter().chain(again).min();
        refresher.deadline = at.unwrap_or(Nanos::NEVER);
        if let Some(at) = at {
            flash.agenda.schedule(at.max(now), Phase::Decision, Event::Deadline);
        }
    }

    /// Handles a deadline: some data has reached its maximum age, unless it was moved meanwhile.
    pub fn deadline_event(&mut self, core: &mut Core, flash: &mut Flash) {
        if self.refresh.as_ref().is_some_and(|its| its.deadline == flash.now()) {
            self.look_at_ages_now(core, flash);
            self.expect_deadline(core, flash);
        }
    }

    /// Handles the end of a transaction: counts a read of its block, or records the first program.
    pub fn count_use(&mut self, core: &mut Core, flash: &mut Flash, id: TxnId, dropped: bool) {
        let Txn { op, unit, first_level, level, .. } = *flash.txns.get(id);
        if !unit.is_some() || dropped {
            return;
        }
        let block = core.locator.block_of(unit);
        match op {
            // Each sensing of a read disturbs the block.
            Op::Read => self.count_reads(core, flash, block, u32::from(level - first_level) + 1),
            // A block opened in place of a failed one is not programmed from its first page on.
            Op::Program if core.locator.place_in_block(unit) == 0 || self.is_unstamped(block) => {
                self.stamp(block, flash.now());
                if self.refresh.as_ref().is_some_and(|its| its.deadline == Nanos::NEVER) {
                    self.expect_deadline(core, flash);
                }
            }
            Op::Program | Op::Erase => {}
        }
    }

    /// Counts a read of a page of a block, with the number of tries.
    pub(super) fn count_reads(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        block: BlockId,
        tries: u32,
    ) {
        if let Some(refresher) = &mut self.refresh {
            let its = &mut refresher.blocks[block];
            let before = its.reads;
            its.reads = before.saturating_add(tries);
            let now = its.reads;
            let limit = refresher.reads_of(block);
            let soft = soft_limit(limit.into());
            // A block that could not be closed is tried again.
            let open = now > limit && core.allocator.blocks.state(block) == BlockState::Open;
            let reaches = |limit: u64| (u64::from(before) < limit) && u64::from(now) >= limit;
            if reaches(soft) || reaches(limit.into()) || open {
                self.note_urgency(core, flash, block);
            }
        }
    }

    /// Records when the first page of a block was programmed.
    pub(super) fn stamp(&mut self, block: BlockId, now: Nanos) {
        if let Some(refresher) = &mut self.refresh {
            let since = Span(now.0.saturating_add(refresher.epoch.0));
            refresher.blocks[block].since.get_or_insert(since);
        }
    }

    /// Returns whether no page of a block has been programmed since its erase.
    fn is_unstamped(&self, block: BlockId) -> bool {
        self.refresh.as_ref().is_some_and(|its| its.blocks[block].since.is_none())
    }

    /// Resets a block after its erase, which removes the charge that reads left on its cells.
    #[inline]
    pub fn refreshed(&mut self, block: BlockId) {
        if let Some(refresher) = &mut self.refresh {
            let its = &mut refresher.blocks[block];
            (its.reads, its.since) = (0, None);
            if let Some(longer) = &mut refresher.longer {
                longer[block] *= refresher.per_erase;
            }
        }
    }
}
