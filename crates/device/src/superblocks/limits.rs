//! The limits of age and of reads at which a superblock is refreshed before its data fades or is
//! disturbed (`udl`, and the first stages of `da_raid5`; DA-RAID-5, section III-C).
//!
//! Ages are those of the first data of a superblock, reads those of each of its blocks since their
//! erase. A superblock that reaches a limit while it is open becomes due when it is full.
//!
//! Invariants: an erased superblock has no age (`NEVER`), and its blocks no reads; a check of all
//! superblocks is scheduled for the time at which the oldest data reaches its limit, but checks are
//! at least 1/1000 of the retention limit apart.

use super::map::Map;
use super::shape::Shape;
use crate::config::Config;
use crate::gc::refresh::{DUE_BEFORE, hard_limit};
use crate::policy::redundancy::{Params, RedundancyKind};
use fowler_units::{Bytes, Geometry, IdVec, Nanos, Ppn, RuId, Span};
use serde::{Deserialize, Serialize};

/// The age and the reads of all superblocks, to be saved in the middle of a life.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SavedLimits {
    since: Vec<Nanos>,
    reads: Vec<u32>,
    check_at: Nanos,
}

/// The age and the reads of all superblocks, and their limits.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    params: Params,
    /// Age of the oldest data when the simulation begins (time zero). The clock of data ages begins
    /// that long before time zero.
    epoch: Span,
    geometry: Geometry,
    /// Time at which each superblock was opened, on a clock that begins when the oldest data of the
    /// drive was written, `epoch` before the simulation; `NEVER` for an erased superblock.
    since: IdVec<RuId, Nanos>,
    /// Number of page reads of each block since its erase.
    reads: Vec<u32>,
    /// Number of page reads that a block of each superblock may serve before a refresh, which
    /// depends on its wear.
    reads_most: IdVec<RuId, u32>,
    /// Time of the next check of all superblocks for data that has reached the age at which it must
    /// be refreshed; `NEVER` if no check is scheduled.
    pub(super) check_at: Nanos,
}

impl Limits {
    /// Returns the limits of age and of reads at which superblocks are refreshed, on a drive that
    /// holds nothing; `None` if its redundancy policy never refreshes.
    pub fn new(config: &Config, shape: &Shape) -> Option<Limits> {
        use RedundancyKind::{ByStage, DisturbLimiting, WearAware};
        if !matches!(config.redundancy.name, ByStage | DisturbLimiting | WearAware) {
            return None;
        }
        let geometry = Shape::geometry_of(config);
        Some(Limits {
            params: config.redundancy,
            epoch: config.reliability.oldest,
            geometry,
            since: IdVec::filled(Nanos::NEVER, shape.superblocks as usize),
            reads: vec![0; geometry.blocks() as usize],
            reads_most: IdVec::filled(config.redundancy.reads, shape.superblocks as usize),
            check_at: Nanos::NEVER,
        })
    }

    /// Returns the memory that the ages, reads and refresh limits of superblocks take on the
    /// simulating machine.
    pub fn bytes(config: &Config, shape: &Shape) -> Bytes {
        if Limits::new(config, shape).is_none() {
            return Bytes(0);
        }
        Bytes::of::<(Nanos, u32)>(shape.superblocks.into())
            + Bytes::of::<u32>(Shape::geometry_of(config).blocks().into())
    }

    /// Returns the data ages and read counts of all superblocks, to be saved.
    pub(super) fn save(&self) -> SavedLimits {
        let Limits { since, reads, check_at, .. } = self;
        SavedLimits { since: since.as_slice().to_vec(), reads: reads.clone(), check_at: *check_at }
    }

    /// Takes over the saved data ages and read counts of all superblocks. `cycles_of` returns the
    /// P/E cycles of the most worn block of a superblock, which limit its reads. Returns false if
    /// the saved state is that of a drive of another size.
    pub(super) fn resume(&mut self, saved: SavedLimits, cycles_of: impl Fn(RuId) -> u32) -> bool {
        let SavedLimits { since, reads, check_at } = saved;
        if since.len() != self.since.len() || reads.len() != self.reads.len() {
            return false;
        }
        for superblock in self.since.ids() {
            self.opened(superblock, Nanos::ZERO, cycles_of(superblock));
        }
        (self.since, self.reads, self.check_at) = (since.into_iter().collect(), reads, check_at);
        true
    }

    /// The drive is filled: ages are spread evenly over the full superblocks in the order in which
    /// they became full, from that of the oldest data. Other data counts as just written.
    pub(super) fn filled(&mut self, map: &Map, cycles_of: impl Fn(RuId) -> u32) {
        let mut full: Vec<(u64, RuId)> = map
            .superblocks()
            .filter_map(|superblock| Some((map.fill_order(superblock)?, superblock)))
            .collect();
        full.sort_unstable();
        let (epoch, count) = (self.epoch.0, full.len() as u128);
        for superblock in map.superblocks() {
            if map.taken(superblock) > 0 {
                self.opened(superblock, Nanos::ZERO, cycles_of(superblock));
            }
        }
        for (order, (_, superblock)) in full.into_iter().enumerate() {
            let since = u128::from(epoch) * order as u128 / count;
            self.since[superblock] = Nanos(since as u64);
        }
    }

    /// Adds a span without power to the age of all data.
    pub(super) fn grow_older(&mut self, by: Span) {
        self.epoch = Span(self.epoch.0.saturating_add(by.0));
    }

    /// Records that a superblock is opened whose most worn block has `cycles` P/E cycles.
    pub(super) fn opened(&mut self, superblock: RuId, now: Nanos, cycles: u32) {
        self.since[superblock] = Nanos(now.0.saturating_add(self.epoch.0));
        let reads = f64::from(self.params.reads) * self.params.limits_at(cycles.into());
        self.reads_most[superblock] = reads as u32;
    }

    /// Records the erase of a superblock, which resets the data age and the read counts of its
    /// blocks.
    pub(super) fn erased(&mut self, superblock: RuId) {
        self.since[superblock] = Nanos::NEVER;
        let Geometry { blocks_per_plane, .. } = self.geometry;
        for plane in 0..self.geometry.planes() {
            self.reads[(plane * blocks_per_plane + superblock.0) as usize] = 0;
        }
    }

    /// Counts a read of a flash page. Returns its superblock if its block has reached its limit of
    /// reads.
    #[inline]
    pub(super) fn read(&mut self, page: Ppn) -> Option<RuId> {
        let block = (page.0 / self.geometry.pages_per_block) as usize;
        self.reads[block] = self.reads[block].saturating_add(1);
        let superblock = RuId(block as u32 % self.geometry.blocks_per_plane);
        (self.reads[block] >= self.reads_most[superblock]).then_some(superblock)
    }

    /// Returns true if a superblock must be refreshed: one of its blocks has served as many reads
    /// as it may, or its data is as old as it may be on blocks of `cycles` P/E cycles, those of its
    /// most worn block.
    pub(super) fn is_over(&self, superblock: RuId, now: Nanos, cycles: u32) -> bool {
        let Geometry { blocks_per_plane, .. } = self.geometry;
        let read = |plane: u32| {
            self.reads[(plane * blocks_per_plane + superblock.0) as usize]
                >= self.reads_most[superblock]
        };
        let age = Span(now.0.saturating_add(self.epoch.0).saturating_sub(self.since[superblock].0));
        age >= hard_limit(self.retention(cycles)) || (0..self.geometry.planes()).any(read)
    }

    /// Returns the age at which data must be moved from a superblock whose most worn block has so
    /// many P/E cycles.
    fn retention(&self, cycles: u32) -> Span {
        Span((self.params.retention.0 as f64 * self.params.limits_at(cycles.into())) as u64)
    }

    /// Returns the time of the next check of data ages: when the oldest data, or data written from
    /// now on, reaches the age limit for refresh, but at least a fraction of the retention time
    /// from now. `cycles_of` gives the P/E cycles of a superblock's most worn block.
    pub(super) fn next_check(&self, now: Nanos, cycles_of: impl Fn(RuId) -> u32) -> Nanos {
        let clock = Nanos(now.0.saturating_add(self.epoch.0));
        let reaches = |superblock: RuId| {
            let since = self.since[superblock].min(clock);
            since.0.saturating_add(hard_limit(self.retention(cycles_of(superblock))).0)
        };
        let first = self.since.ids().map(reaches).min().unwrap_or(u64::MAX);
        let soonest = now.0.saturating_add((self.params.retention.0 / DUE_BEFORE).max(1));
        Nanos(first.saturating_sub(self.epoch.0).max(soonest))
    }
}
