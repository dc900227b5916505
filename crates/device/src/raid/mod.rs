//! Redundancy over the chips of a drive: stripes and their parity, degraded reads, rebuilding,
//! losses.
//!
//! A page that is written is covered by its stripe's entry in the parity cache from the moment it
//! gets its place in the flash; the entry goes to the flash at once or when its place is needed, by
//! whichever equation reads less; and what a covered page replaced stays until then.
//!
//! **Owns** the parity cache, the stage of life, which stripes lack parity, the pages that are
//! being brought back, and the versions of pages where integrity is checked. **May touch** the
//! translation, which it is handed, and the flash. **Is asked** through
//! [`crate::host::redundancy_hooks`], by faults, and by power.
//!
//! - `stripes.rs`: which pages make a stripe. `stages.rs`: what protects it, by age.
//! - `parity_cache.rs`, `parity_update.rs`, `parity_delta.rs`: what is cached of a stripe; a write
//!   is taken in; what a replaced page leaves.
//! - `parity_flush_trigger.rs`, `parity_flush.rs`: when parity goes to the flash; its way there.
//! - `deferred_answers.rs`: programs and answers that wait for parity. `stripe_eviction.rs`: the
//!   buffer by stripes.
//! - `faults.rs`, `integrity.rs`, `rebuild.rs`: what fails and what that loses; versions of pages;
//!   degraded reads and rebuilding.
//! - `hooks.rs`: the answers to what the host asks. `laws.rs`: what must hold of all this.

mod deferred_answers;
pub mod faults;
mod hooks;
pub mod integrity;
pub mod laws;
pub mod parity_cache;
mod parity_delta;
mod parity_flush;
mod parity_flush_trigger;
mod parity_update;
pub mod power_loss;
#[cfg(test)]
mod printed_algorithms_tests;
pub mod rebuild;
mod stages;
mod stripe_eviction;
pub mod stripes;

use crate::config::Config;
use crate::config::layout::Layout;
use crate::gc::Gc;
use crate::observe::blame::Blame;
use crate::policy::redundancy::{Age, AnyRedundancy, Protects, Redundancy, Rules, Stage};
use crate::raid::integrity::Integrity;
use crate::raid::parity_cache::ParityCache;
use crate::raid::rebuild::DegradedReads;
use crate::raid::stripes::Stripes;
use deferred_answers::{NOTHING, Note};
use faults::Bugs;
use fowler_units::{BlockId, Id, IdVec, Nanos, ParityId, Span, StripeId, TxnId, UnitId};
use std::collections::VecDeque;

/// A change of stage: when, and how old the drive was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageChange {
    /// The stage that began.
    pub to: Stage,
    /// When.
    pub at: Nanos,
    /// Why: the most worn block and the stripes with a page in a worn one.
    pub age: Age,
}

/// How the data of a drive is protected at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// Stripes of the drive.
    pub stripes: u32,
    /// The stage of life that it is in.
    pub stage: Stage,
    /// The changes that led there.
    pub changes: Vec<StageChange>,
    /// Its age.
    pub age: Age,
    /// Stripes that are to have parity and have none yet: their blocks are refreshed until they do.
    pub bare: u32,
    /// Stripes whose parity is not in the flash as it should be: what a loss of power exposes if
    /// the cache is volatile.
    pub exposed: u32,
    /// The most that there were.
    pub exposed_most: u32,
}

/// What protects the data of a drive.
#[derive(Clone, Debug)]
pub struct Raid {
    pub(crate) stripes: Stripes,
    pub(crate) rules: Rules,
    policy: AnyRedundancy,
    stage: Stage,
    pub(crate) changes: Vec<StageChange>,
    pub(crate) cache: ParityCache,
    /// Data pages of each stripe in worn blocks: the PEA counter.
    pub(crate) worn: IdVec<StripeId, u8>,
    pub(crate) worn_stripes: u32,
    worn_above: u32,
    /// P/E cycles of each block before the run, and the most that any has by now.
    pub(crate) cycles: IdVec<BlockId, u32>,
    most_cycles: u32,
    /// Stripes that are to get parity, a bit each, how many, and where to look for the next.
    wanted: Vec<u64>,
    pub(crate) wanted_count: u32,
    cursor: usize,
    /// The place of one of those that are getting it.
    pub(crate) building: ParityId,
    /// Programs that wait for a place in the parity cache.
    pub(crate) waiting_programs: VecDeque<TxnId>,
    /// Covered pages that were replaced while the cached parity of their stripe had reads on their
    /// way.
    pub(crate) deltas: Vec<(ParityId, UnitId)>,
    /// A trim waits for one, or for the parity of its stripe.
    pub(crate) trims_wait: bool,
    /// The pages that leave the buffer together, a bit each; none where a page leaves alone.
    pub(crate) together: u64,
    pub(crate) degraded_reads: DegradedReads,
    pub(crate) integrity: Option<Box<Integrity>>,
    /// What is known of programs and reads that parity concerns.
    pub(crate) notes: IdVec<TxnId, Note>,
    /// Where the answer of a transaction waits for parity: what it is blamed on so far.
    blames: IdVec<TxnId, Blame>,
    worn_erase_pulse: Option<Span>,
    /// Bugs that were injected.
    pub(crate) bugs: Bugs,
}

impl Raid {
    /// The redundancy of a fresh drive, if its stripes have anything to protect them.
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
                config.queue.max_reads as usize + layout.transactions,
            ),
            integrity: params.integrity.then(|| Box::new(Integrity::new(layout))),
            notes: IdVec::filled(NOTHING, layout.transactions),
            blames: IdVec::filled(Blame::default(), layout.transactions),
            worn_erase_pulse: (params.worn_erase_pulse != Span::ZERO)
                .then_some(params.worn_erase_pulse),
            bugs: Bugs::default(),
            stripes,
        }))
    }

    /// Whether a stripe is to have parity.
    #[inline]
    pub(crate) fn protects(&self, stripe: StripeId) -> bool {
        match self.rules.protects {
            Protects::All => true,
            Protects::Worn => self.worn[stripe] > 0,
            Protects::Nothing => false,
        }
    }

    /// A stripe is to get parity; until all have theirs, blocks are refreshed.
    pub(crate) fn want(&mut self, gc: &mut Gc, stripe: StripeId) {
        let word = &mut self.wanted[stripe.index() / 64];
        let mask = 1 << (stripe.index() % 64);
        self.wanted_count += u32::from(*word & mask == 0);
        *word |= mask;
        self.tell_refresh(gc);
    }

    /// Refresh learns whether it is still wanted.
    pub(crate) fn tell_refresh(&self, gc: &mut Gc) {
        if let Some(refresh) = &mut gc.refresh {
            refresh.active = self.rules.refreshes || self.wanted_count > 0;
        }
    }

    pub(crate) fn is_wanted(&self, stripe: StripeId) -> bool {
        self.wanted[stripe.index() / 64] & (1 << (stripe.index() % 64)) != 0
    }

    /// The next stripe that is to get parity; it no longer is.
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
        self.tell_refresh(gc);
        Some(StripeId::new(self.cursor * 64 + at as usize))
    }

    /// Whether a stripe without parity may take a place of the parity cache: one at a time may
    /// whatever the host writes, or it would never have its turn on a drive without a pause; for
    /// more the host's writes go first.
    pub(crate) fn may_build(&self) -> bool {
        let free = self.cache.free_count();
        free > 0 && !self.building.is_some() || self.waiting_programs.is_empty() && free > 1
    }

    /// The age of the drive, as far as its policy looks at it.
    pub(crate) fn age(&self) -> Age {
        Age { cycles: self.most_cycles, worn_stripes: self.worn_stripes }
    }

    /// How the data is protected now.
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
