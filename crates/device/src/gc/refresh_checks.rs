//! The checks of refresh: the search for blocks whose data is too old or was read too often.
//!
//! 1. The first program of a block stamps it, and each read is counted ([`Gc::count_use`]).
//! 2. A counter that reaches a limit reports its block at once.
//! 3. The ages of all blocks are checked about a hundred times per retention limit: when a block
//!    becomes full or a die becomes idle, and the last check was long enough ago.
//! 4. The time at which the oldest data reaches its limit is an event ([`Gc::deadline_event`]), so
//!    that a busy drive refreshes in time as well.
//! 5. The erase of a block resets its stamp and its counter ([`Gc::refreshed`]).
//!
//! An open block past its limit that cannot be closed yet is checked again at the next event, at
//! the latest after the time between two checks.

use super::Gc;
use super::refresh::{Refresher, Urgency, soft_limit};
use crate::blocks::block_table::BlockState;
use crate::config::Config;
use crate::core::Core;
use crate::event::Event;
use crate::flash::Flash;
use crate::flash::txn::Txn;
use crate::observe::operation::Op;
use fowler_agenda::Phase;
use fowler_units::{BlockId, Id, Nanos, Span, TxnId};

impl Gc {
    /// Initializes the timestamps and read counters of a drive with refresh, at time zero. Data age
    /// follows the order in which blocks were filled.
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

    /// Schedules an event for the time at which the oldest data reaches the age at which it must be
    /// refreshed at once, if there is such data. Data written later reaches that age later.
    pub(super) fn expect_deadline(&mut self, core: &mut Core, flash: &mut Flash) {
        let now = flash.now();
        let Some(refresher) = &mut self.refresh else { return };
        // An open block past the hard limit cannot be refreshed now. The next event, at the latest
        // after the time between two scans, checks it again.
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

    /// Handles the time at which some data has reached its maximum age, unless it was moved
    /// meanwhile.
    pub fn deadline_event(&mut self, core: &mut Core, flash: &mut Flash) {
        if self.refresh.as_ref().is_some_and(|refresher| refresher.deadline == flash.now()) {
            self.look_at_ages_now(core, flash);
            self.expect_deadline(core, flash);
        }
    }

    /// Updates the refresh state of a block (reads, and time of its first program) after a
    /// transaction on the block has ended: counts the sensings of a read, or records the time of
    /// the first program.
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
                if self.refresh.as_ref().is_some_and(|refresher| refresher.deadline == Nanos::NEVER)
                {
                    self.expect_deadline(core, flash);
                }
            }
            Op::Program | Op::Erase => {}
        }
    }

    /// Adds the number of times that a read sensed its page (`tries`), each of which disturbs the
    /// block, to the block's count of reads, and queues the block for refresh when the count
    /// reaches a limit.
    pub(super) fn count_reads(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        block: BlockId,
        tries: u32,
    ) {
        if let Some(refresher) = &mut self.refresh {
            let block_age = &mut refresher.blocks[block];
            let before = block_age.reads;
            block_age.reads = before.saturating_add(tries);
            let now = block_age.reads;
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

    /// Returns true if no page of a block has been programmed since its erase.
    fn is_unstamped(&self, block: BlockId) -> bool {
        self.refresh.as_ref().is_some_and(|refresher| refresher.blocks[block].since.is_none())
    }

    /// Resets the age and read counter of a block after its erase, which removes the charge that
    /// reads left on its cells.
    #[inline]
    pub fn refreshed(&mut self, block: BlockId) {
        if let Some(refresher) = &mut self.refresh {
            let block_age = &mut refresher.blocks[block];
            (block_age.reads, block_age.since) = (0, None);
            if let Some(longer) = &mut refresher.longer {
                longer[block] *= refresher.per_erase;
            }
        }
    }
}
