//! The state of refresh: a block is emptied and erased before its data is too old or has been read
//! too often (UDL of DA-RAID-5, section III-C). `refresh_checks.rs` finds such blocks,
//! `refresh_jobs.rs` moves them.
//!
//! At the *hard limit* a block is refreshed at once; at a *soft limit* somewhat earlier, when its
//! die is idle. A block that reaches a limit while still open is closed early, because a block that
//! fills slowly would keep its first pages for too long. The remaining pages of such a block are
//! not programmed until after its erase. Data exceeds the hard limit at most by the duration of the
//! job that moves it, and of jobs for other blocks of its plane that reach the limit at the same
//! time.
//!
//! Invariants: a block is in at most one list, that of its plane for the limit that it has reached,
//! and in none exactly while its urgency is `Fresh`; an erase clears the timestamp and the reads of
//! the block.

use crate::config::Config;
use fowler_units::{BlockId, Bytes, Geometry, IdVec, Link, Linked, List, Nanos, PlaneId, Span};

/// Numerator of the soft limit of refresh, at which blocks are refreshed in idle time, as a share
/// of the hard one, in tenths. Assumed: DA-RAID-5 refreshes data that is "close to or longer than"
/// the hard limit.
const SOFT_LIMIT_NUMERATOR: u64 = 9;
const SOFT_LIMIT_DENOMINATOR: u64 = 10;
/// Number of age checks of all blocks during the retention limit. Assumed: "periodically".
const LOOKS: u64 = 100;
/// Divisor of a block's retention limit: the block is refreshed at the latest 1/1000 of the limit
/// before the limit is reached. So at most a thousand scans of all blocks per retention limit are
/// caused by data that becomes due. Assumed: no paper gives the precision of a controller's clock.
pub(crate) const DUE_BEFORE: u64 = 1000;

/// The urgency with which a block must be refreshed: when idle or at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Urgency {
    Fresh,
    SoftLimit,
    HardLimit,
}

/// The refresh state of a block, which every counted read changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Age {
    /// Number of reads of the block since its erase: the read counter of DA-RAID-5.
    pub reads: u32,
    pub(super) urgency: Urgency,
    /// Neighbours of the block in its plane's list of blocks to refresh.
    link: Link<BlockId>,
    /// Timestamp of the block: when its first page was programmed; `None` while erased.
    pub(super) since: Option<Span>,
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
    /// For each plane, the blocks past the soft limit of refresh, in the order in which they
    /// reached it.
    pub(super) past_soft: IdVec<PlaneId, List<BlockId>>,
    /// For each plane, the blocks past the hard limit of refresh, in the order in which they are
    /// refreshed.
    past_hard: IdVec<PlaneId, List<BlockId>>,
    retention: Span,
    reads: u32,
    /// For each block, the factor of its refresh limits if these depend on wear; `None` otherwise.
    pub(super) longer: Option<IdVec<BlockId, f64>>,
    /// Factor by which each erase changes the refresh limits of a block, if these depend on wear.
    pub(super) per_erase: f64,
    /// Age of the oldest data at time zero: timestamps count from there.
    pub(super) epoch: Span,
    pub(super) looked: Nanos,
    pub(super) look_every: Span,
    /// Time of the next event at which some data reaches the age at which it must be refreshed at
    /// once; `NEVER` if none is scheduled.
    pub(super) deadline: Nanos,
    /// True if an open block is past the hard limit of refresh and could not be closed.
    pub(super) overdue_open: bool,
    /// True if old or often-read blocks are refreshed at present: because the redundancy scheme
    /// (such as DA-RAID-5, where parity replaces refresh as the drive wears) requires it at this
    /// wear, or because some stripes still lack the parity that replaces refresh.
    pub active: bool,
}

/// Returns the soft limit of refresh, an age or number of reads at which a block is refreshed in
/// idle time, for the hard limit, at which it is refreshed at once.
pub(super) fn soft_limit(limit: u64) -> u64 {
    (u128::from(limit) * u128::from(SOFT_LIMIT_NUMERATOR) / u128::from(SOFT_LIMIT_DENOMINATOR))
        as u64
}

/// Returns the age of a block's data at which refresh moves the data at once (the hard limit), for
/// the retention limit `retention`.
pub(crate) fn hard_limit(retention: Span) -> Span {
    retention - Span(retention.0 / DUE_BEFORE)
}

impl Refresher {
    /// Creates the refresh state of a drive at time zero, with no block read.
    pub fn new(config: &Config, geometry: &Geometry) -> Self {
        let redundancy = &config.redundancy;
        let age = Age { reads: 0, urgency: Urgency::Fresh, link: Link::NONE, since: None };
        let planes = geometry.planes() as usize;
        Self {
            blocks: IdVec::filled(age, geometry.blocks() as usize),
            past_soft: IdVec::filled(List::EMPTY, planes),
            past_hard: IdVec::filled(List::EMPTY, planes),
            retention: redundancy.retention,
            reads: redundancy.reads,
            longer: None,
            per_erase: redundancy.limits_at(1.0) / redundancy.limits_at(0.0),
            epoch: config.reliability.oldest,
            looked: Nanos::ZERO,
            deadline: Nanos::NEVER,
            overdue_open: false,
            active: true,
            look_every: Span((redundancy.retention.0 / LOOKS).max(1)),
        }
    }

    /// Returns the memory that the ages of all blocks take on the simulating machine.
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

    /// Sorts a plane's list of blocks past the hard limit of refresh by age, oldest first.
    pub(super) fn oldest_first(&mut self, plane: PlaneId) {
        let mut past: Vec<BlockId> = std::iter::from_fn(|| self.pop(plane, true)).collect();
        past.sort_by_key(|&block| self.blocks[block].since);
        past.into_iter().for_each(|block| self.push(plane, block, Urgency::HardLimit));
    }

    /// Returns the retention limit of a block's data: the age before which the block must be
    /// refreshed.
    pub(super) fn retention_of(&self, block: BlockId) -> Span {
        let longer =
            |all: &IdVec<BlockId, f64>| Span((self.retention.0 as f64 * all[block]) as u64);
        self.longer.as_ref().map_or(self.retention, longer)
    }

    /// Returns the number of reads since its erase at which a block must be refreshed at once.
    pub(super) fn reads_of(&self, block: BlockId) -> u32 {
        let longer = |all: &IdVec<BlockId, f64>| (f64::from(self.reads) * all[block]) as u32;
        self.longer.as_ref().map_or(self.reads, longer)
    }

    pub(super) fn urgency(&self, block: BlockId, now: Nanos) -> Urgency {
        let block_age = &self.blocks[block];
        let age = self.age(block, now);
        let (retention, reads) = (self.retention_of(block), self.reads_of(block));
        if age >= hard_limit(retention) || block_age.reads >= reads {
            Urgency::HardLimit
        } else if age.0 >= soft_limit(retention.0)
            || u64::from(block_age.reads) >= soft_limit(reads.into())
        {
            Urgency::SoftLimit
        } else {
            Urgency::Fresh
        }
    }

    /// Returns the time at which the oldest data younger than the hard limit, the age at which a
    /// block is refreshed at once, reaches it; `None` if there is no such data.
    pub(super) fn next_deadline(&self, now: Nanos) -> Option<Nanos> {
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
        debug_assert!(urgency != Urgency::Fresh && self.blocks[block].urgency == Urgency::Fresh);
        self.blocks[block].urgency = urgency;
        let lines =
            if urgency == Urgency::HardLimit { &mut self.past_hard } else { &mut self.past_soft };
        lines[plane].push_back(&mut self.blocks, block);
    }

    /// Removes the first block from a plane's list of blocks past the hard (or, with `hard` false,
    /// the soft) limit of refresh, and returns it.
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
