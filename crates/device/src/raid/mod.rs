//! Redundancy over the chips of a drive: stripes and their parity, degraded reads, rebuilding,
//! losses.
//!
//! 1. A page that is written is covered by its stripe's entry in the parity cache as soon as a
//!    flash page is assigned to it (`parity_update.rs`). Until the entry is flushed, the page that
//!    it replaced is retained.
//! 2. The entry is flushed at once, or when its place is needed (`parity_flush_trigger.rs`), by the
//!    equation that requires fewer reads; the parity is then programmed like a page of the host
//!    (`parity_flush.rs`).
//! 3. A page that cannot be read is recovered from its stripe: for the read that failed, and once
//!    more to program it anew (`rebuild.rs`).
//! 4. A fault makes many pages unreadable at once. Those that no equation recovers are lost, and
//!    the parity of their stripes is repaired (`faults.rs`, `losses.rs`).
//!
//! Exceptions:
//!
//! - The stage of life decides which stripes have parity, and if blocks are refreshed instead
//!   (`stages.rs`).
//! - A covered page that is replaced must be removed from the cached parity, which needs its old
//!   contents (`parity_delta.rs`); some policies read the old page before the new one is programmed
//!   (`early_reads.rs`).
//! - Moves of GC, and the end of a run, flush entries early (`moved_pages.rs`). A loss of power
//!   loses unprotected entries (`power_loss.rs`).
//! - Programs and completions may wait for parity (`deferred_answers.rs`); frames of a stripe may
//!   leave the buffer together (`stripe_eviction.rs`).
//! - Readable pages may be wrong (`tag.rs`, `silent_corruption.rs`, `silent_faults.rs`); a scrub
//!   compares them with their parity (`stripe_check.rs`, `stripe_comparisons.rs`).
//! - A drive without stripes only records its losses (`lost_pages.rs`).
//!
//! **Owns** the parity cache (`parity_cache.rs`), the stage of life, the set of stripes that lack
//! parity, the pages being recovered, and the versions of pages if integrity is checked
//! (`integrity.rs`). **May touch** the translation, which it receives as an argument, and the
//! flash. **Called through** [`crate::host::redundancy_hooks`] (`hooks.rs`), and on faults and
//! losses of power. `stripes.rs`: the pages that form a stripe. `exposed_stripes.rs`, `census.rs`:
//! stripes that lack protection; all unrecoverable pages. `laws.rs`: the invariants.

pub mod census;
mod deferred_answers;
mod early_reads;
mod exposed_stripes;
pub mod fault_kinds;
pub mod faults;
mod hooks;
pub mod integrity;
pub mod laws;
pub mod losses;
pub mod lost_pages;
mod moved_pages;
pub mod parity_cache;
mod parity_delta;
mod parity_flush;
mod parity_flush_trigger;
mod parity_update;
pub mod power_loss;
#[cfg(test)]
mod printed_algorithms_tests;
pub mod rebuild;
pub mod silent_corruption;
mod silent_faults;
mod stages;
pub(crate) mod stripe_check;
mod stripe_comparisons;
mod stripe_eviction;
pub mod stripes;
pub(crate) mod tag;

use crate::config::Config;
use crate::config::layout::Layout;
use crate::gc::Gc;
use crate::observe::blame::Blame;
use crate::policy::redundancy::{
    AboveNUpdate, Age, AnyRedundancy, Protects, Redundancy, Rules, Stage, UpdateOrder,
};
use crate::raid::integrity::Integrity;
use crate::raid::parity_cache::ParityCache;
use crate::raid::rebuild::DegradedReads;
use crate::raid::stripes::Stripes;
use fault_kinds::Bugs;
use fowler_units::{BlockId, Bytes, Id, IdVec, Nanos, ParityId, Span, StripeId, TxnId, UnitId};
use std::collections::VecDeque;
use stripe_check::StripeChecks;

/// Parity notes on a transaction, valid only for the transaction with the same submission number,
/// because slots of the arena are reused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    order: u64,
    /// For programs of host data, true if an entry of the parity cache waits for the program.
    pub pinned: bool,
    /// For programs of host data, true if the program bypasses the cache.
    pub expedited: bool,
    /// True if the transaction has ended and its completion waits for parity.
    pub awaiting_parity: bool,
    /// True if the blame of the transaction was recorded, because it, or the program it joined, had
    /// ended and begun to wait for parity.
    blamed: bool,
    /// For reads for parity, the program that is sent to its die when the read has ended.
    pub program: TxnId,
    /// Time for which the transaction waited for parity before it was sent to a die.
    wait: Span,
}

/// Notes on a transaction that parity does not concern.
pub(super) const NOTHING: Note = Note {
    order: 0,
    pinned: false,
    expedited: false,
    awaiting_parity: false,
    blamed: false,
    program: TxnId::NONE,
    wait: Span::ZERO,
};

/// A change of a drive's stage of life: the time, and the wear of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageChange {
    /// Stage of the drive's life that began with the change.
    pub to: Stage,
    /// Time at which the stage of life changed.
    pub at: Nanos,
    /// Reason for the change: the most worn block, and the number of stripes with a page in a worn
    /// one.
    pub age: Age,
}

/// The present protection of a drive's data by parity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// Number of stripes on the drive.
    pub stripes: u32,
    /// Present stage of the drive's life.
    pub stage: Stage,
    /// Changes of the stage of life so far, in order.
    pub changes: Vec<StageChange>,
    /// Wear of the drive, as the redundancy policy sees it.
    pub age: Age,
    /// Number of stripes that need parity and have none yet: their blocks are refreshed until they
    /// have it.
    pub bare: u32,
    /// Number of stripes whose parity in the flash is not up to date, and which are therefore
    /// exposed to a loss of power if the cache is volatile.
    pub exposed: u32,
    /// Largest number of exposed stripes so far.
    pub exposed_most: u32,
}

/// State of the redundancy on a drive with stripes.
#[derive(Clone, Debug)]
pub struct Raid {
    pub(crate) stripes: Stripes,
    pub(crate) rules: Rules,
    /// True if a replaced page is read before the new page is programmed.
    read_first: bool,
    above_n_update: AboveNUpdate,
    /// True if cached parity goes to the flash once a data page of its stripe has been moved.
    flush_moved: bool,
    /// Number of parity cache entries kept free ahead of demand, where parity is cached.
    ahead: u32,
    policy: AnyRedundancy,
    stage: Stage,
    pub(crate) changes: Vec<StageChange>,
    pub(crate) cache: ParityCache,
    /// For each stripe, the number of its data pages in worn blocks: the PEA counter of DA-RAID-5.
    pub(crate) worn: IdVec<StripeId, u8>,
    pub(crate) worn_stripes: u32,
    worn_above: u32,
    /// P/E cycles that each block had before the run.
    pub(crate) cycles: IdVec<BlockId, u32>,
    /// Largest number of P/E cycles of any block at present.
    most_cycles: u32,
    /// Stripes that need parity and do not have it yet, one bit each.
    wanted: Vec<u64>,
    /// Number of stripes in `wanted`.
    pub(crate) wanted_count: u32,
    /// Index of the word of `wanted` from which the next stripe is searched.
    cursor: usize,
    /// Entry of the stripe that is getting its first parity without waiting for the host; `NONE`
    /// without any.
    pub(crate) building: ParityId,
    /// Programs that wait for an entry of the parity cache, in order.
    pub(crate) waiting_programs: VecDeque<TxnId>,
    /// Covered pages that were replaced while the cached parity of their stripe had reads in
    /// flight, each with its entry.
    pub(crate) deltas: Vec<(ParityId, UnitId)>,
    /// True if a trim waits for an entry, or for the parity of its stripe.
    pub(crate) trims_wait: bool,
    /// Data pages of a stripe that leave the buffer together, one bit each; zero if a page leaves
    /// alone.
    pub(crate) together: u64,
    pub(crate) degraded_reads: DegradedReads,
    pub(crate) integrity: Option<Box<Integrity>>,
    /// Stripes being compared with their parity; `None` unless scrubbing compares stripes.
    pub(crate) stripe_checks: Option<Box<StripeChecks>>,
    /// Parity notes on transactions, by transaction.
    pub(crate) notes: IdVec<TxnId, Note>,
    /// Blame so far of transactions whose completion waits for parity.
    blames: IdVec<TxnId, Blame>,
    worn_erase_pulse: Option<Span>,
    /// Bugs of the controller that were injected for a test.
    pub(crate) bugs: Bugs,
}

impl Raid {
    /// Creates the redundancy of a fresh drive; `None` if the configuration has none.
    pub fn new(config: &Config, layout: &Layout) -> Option<Box<Raid>> {
        let params = &config.redundancy;
        if !params.has_stripes() {
            return None;
        }
        let geometry = &layout.geometry;
        let stripes = Stripes::new(params.stripe, geometry.dies(), layout.mapped_pages);
        let policy = AnyRedundancy::new(params, config.seed);
        let count = stripes.count() as usize;
        Some(Box::new(Raid {
            rules: policy.rules(Stage::First),
            read_first: params.update_order == UpdateOrder::ReadFirst,
            above_n_update: params.above_n_update,
            flush_moved: params.flush_moved,
            ahead: params.parity_ahead,
            policy,
            stage: Stage::First,
            changes: Vec::with_capacity(2),
            cache: ParityCache::new(layout.parities, stripes.count(), stripes.width()),
            worn: IdVec::filled(0, count),
            worn_stripes: 0,
            worn_above: params.worn_above,
            cycles: config.initial_cycles(geometry.blocks()),
            most_cycles: 0,
            wanted: vec![0; count.div_ceil(64)],
            wanted_count: 0,
            cursor: 0,
            building: ParityId::NONE,
            waiting_programs: VecDeque::with_capacity(config.queue.max_writes as usize + 1),
            deltas: Vec::with_capacity(layout.transactions),
            trims_wait: false,
            together: 0,
            degraded_reads: DegradedReads::new(
                config,
                config.queue.max_reads as usize + layout.transactions,
            ),
            integrity: params
                .integrity
                .then(|| Box::new(Integrity::new(config, layout, stripes.count()))),
            stripe_checks: StripeChecks::new(config, geometry.dies(), stripes.count()),
            notes: IdVec::filled(NOTHING, layout.transactions),
            blames: IdVec::filled(Blame::default(), layout.transactions),
            worn_erase_pulse: (params.worn_erase_pulse != Span::ZERO)
                .then_some(params.worn_erase_pulse),
            bugs: Bugs::default(),
            stripes,
        }))
    }

    /// Returns the memory that the redundancy of a drive takes on the simulating machine.
    pub(crate) fn bytes(config: &Config, layout: &Layout) -> Bytes {
        let params = &config.redundancy;
        if !params.has_stripes() {
            return Bytes(0);
        }
        let dies = layout.geometry.dies();
        let stripes = Stripes::new(params.stripe, dies, layout.mapped_pages);
        let count = u64::from(stripes.count());
        let sizes = (layout.mapped_pages.into(), layout.geometry.pages().into());
        let integrity =
            if params.integrity { Integrity::bytes(sizes, stripes.count()) } else { Bytes(0) };
        ParityCache::bytes(layout.parities, stripes.count(), stripes.width())
            + Bytes::of::<u8>(count)
            + Bytes::of::<u64>(count.div_ceil(64))
            + Bytes::of::<u32>(layout.geometry.blocks().into())
            + Bytes::of::<Note>(layout.transactions as u64)
            + Bytes::of::<Blame>(layout.transactions as u64)
            + Bytes::of::<(ParityId, UnitId)>(layout.transactions as u64)
            + integrity
            + StripeChecks::bytes(config, dies, stripes.count())
    }

    /// Returns true if a stripe must have parity.
    #[inline]
    pub(crate) fn protects(&self, stripe: StripeId) -> bool {
        match self.rules.protects {
            Protects::All => true,
            Protects::Worn => self.worn[stripe] > 0,
            Protects::Nothing => false,
        }
    }

    /// Records that a stripe needs parity; until all such stripes have it, blocks are refreshed.
    pub(crate) fn want(&mut self, gc: &mut Gc, stripe: StripeId) {
        let word = &mut self.wanted[stripe.index() / 64];
        let mask = 1 << (stripe.index() % 64);
        self.wanted_count += u32::from(*word & mask == 0);
        *word |= mask;
        self.update_refresh(gc);
    }

    /// Activates refresh if the rules require it or stripes still lack parity, and ends it
    /// otherwise.
    pub(crate) fn update_refresh(&self, gc: &mut Gc) {
        if let Some(refresh) = &mut gc.refresh {
            refresh.active = self.rules.refreshes || self.wanted_count > 0;
        }
    }

    pub(crate) fn is_wanted(&self, stripe: StripeId) -> bool {
        self.wanted[stripe.index() / 64] & (1 << (stripe.index() % 64)) != 0
    }

    /// Removes and returns the next stripe that needs parity.
    pub(crate) fn next_wanted(&mut self, gc: &mut Gc) -> Option<StripeId> {
        if self.wanted_count == 0 {
            return None;
        }
        while self.wanted[self.cursor] == 0 {
            self.cursor = (self.cursor + 1) % self.wanted.len();
        }
        let at = self.wanted[self.cursor].trailing_zeros();
        self.wanted[self.cursor] &= self.wanted[self.cursor] - 1;
        self.wanted_count -= 1;
        self.update_refresh(gc);
        Some(StripeId::new(self.cursor * 64 + at as usize))
    }

    /// Returns true if a stripe without parity may take an entry of the parity cache. One stripe at
    /// a time may do so regardless of the host's writes, or none would get its turn on a drive
    /// without pauses; beyond that, the host's writes go first.
    pub(crate) fn may_build(&self) -> bool {
        let free = self.cache.free_count();
        free > 0 && !self.building.is_some() || self.waiting_programs.is_empty() && free > 1
    }

    /// Returns the wear of the drive, as its redundancy policy sees it.
    pub(crate) fn age(&self) -> Age {
        Age { cycles: self.most_cycles, worn_stripes: self.worn_stripes }
    }

    /// Returns the present protection of the drive's data by parity.
    pub(crate) fn report(&self) -> Protection {
        let (exposed, exposed_most) = self.cache.used();
        Protection {
            stripes: self.stripes.count(),
            stage: self.stage,
            changes: self.changes.clone(),
            age: self.age(),
            bare: self.wanted_count,
            exposed,
            exposed_most,
        }
    }
}
