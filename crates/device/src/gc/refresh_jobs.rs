//! The jobs of refresh.
//!
//! 1. A full block that has reached a limit is put into its plane's list for that limit
//!    ([`Gc::schedule_job`]).
//! 2. A block past the hard limit is emptied as soon as its plane has no job and two erased blocks
//!    ([`Gc::refresh_if_urgent`]); a job in progress is promoted.
//! 3. A block past the soft limit is emptied when its die is idle ([`Gc::refresh_in_idle_time`]).
//! 4. After the job the next block of the plane follows ([`Gc::refresh_after_job`]).
//!
//! Exceptions:
//!
//! - An open block past a limit is closed early, together with those of the other planes that are
//!   programmed with it ([`Gc::close_open`]). That waits while one of them is being programmed, or
//!   GC relies on their room.
//! - A block past the soft limit that passes the hard one changes lists.
//! - After a loss of power, overdue blocks are refreshed in the order of their ages.

use super::Gc;
use super::refresh::{Refresher, Urgency};
use crate::blocks::block_table::BlockState;
use crate::core::Core;
use crate::flash::Flash;
use crate::flash::txn::Txn;
use crate::observe::operation::{Op, Source};
use fowler_units::{BlockId, Id, Nanos, PlaneId, Span};

impl Gc {
    /// Puts a block into the list of the refresh limit that it has reached, if it can be refreshed
    /// and is in no list yet. Returns the plane of the block if it was put there.
    pub(super) fn schedule_job(
        &mut self,
        core: &mut Core,
        block: BlockId,
        now: Nanos,
    ) -> Option<PlaneId> {
        let full = core.allocator.blocks.state(block) == BlockState::Full;
        let refresher = self.refresh.as_mut()?;
        // The state comes first: it is cheap, and rules out most blocks. A block past the soft
        // limit is processed when its die is idle, or the next scan finds it past the hard limit.
        if !full || refresher.blocks[block].urgency != Urgency::Fresh {
            return None;
        }
        let urgency = refresher.urgency(block, now);
        if urgency == Urgency::Fresh {
            return None;
        }
        let plane = core.locator.plane_of_block(block);
        refresher.push(plane, block, urgency);
        Some(plane)
    }

    pub(super) fn note_urgency(&mut self, core: &mut Core, flash: &mut Flash, block: BlockId) {
        self.close_if_urgent(core, flash, block);
        let plane = core.locator.plane_of_block(block);
        let standing = self.refresh.as_ref().is_some_and(|refresher| refresher.has(plane, false));
        self.schedule_job(core, block, flash.now());
        if standing {
            self.requeue_overdue(plane, flash.now());
        }
        self.refresh_if_urgent(core, flash, plane);
        self.want_idle(core, flash, plane);
    }

    /// Moves the blocks of a plane that have passed the hard limit of refresh from the list of the
    /// soft limit to that of the hard one.
    pub(super) fn requeue_overdue(&mut self, plane: PlaneId, now: Nanos) {
        let Some(refresher) = &mut self.refresh else { return };
        for _ in 0..refresher.past_soft[plane].len() {
            let Some(block) = refresher.pop(plane, false) else { return };
            let urgency = refresher.urgency(block, now);
            if urgency != Urgency::Fresh {
                refresher.push(plane, block, urgency);
            }
        }
    }

    pub fn want_idle(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        if self
            .refresh
            .as_ref()
            .is_some_and(|refresher| refresher.has(plane, false) || refresher.has(plane, true))
        {
            let die = core.locator.die_of_plane(plane);
            self.want(die);
            if flash.die(die).is_idle() {
                self.on_die_idle(core, flash, die);
            }
        }
    }

    /// Returns the time of the next age check of all blocks; `None` without refresh.
    #[inline]
    pub fn next_look(&self) -> Option<Nanos> {
        self.refresh.as_ref().map(|refresher| refresher.looked + refresher.look_every)
    }

    /// Handles a block that has become full: it may have reached a refresh limit while open.
    #[inline]
    pub fn filled(&mut self, core: &mut Core, flash: &mut Flash, block: BlockId) {
        if self.refresh.is_some() {
            self.schedule_full_job(core, flash, block);
        }
    }

    pub(super) fn schedule_full_job(&mut self, core: &mut Core, flash: &mut Flash, block: BlockId) {
        if let Some(plane) = self.schedule_job(core, block, flash.now()) {
            self.refresh_if_urgent(core, flash, plane);
            self.want_idle(core, flash, plane);
        }
        self.look_at_ages(core, flash);
    }

    /// Closes an open block that has reached a refresh limit.
    pub(super) fn close_if_urgent(&mut self, core: &mut Core, flash: &mut Flash, block: BlockId) {
        let now = flash.now();
        let soft = |refresher: &Refresher| refresher.urgency(block, now) != Urgency::Fresh;
        if core.allocator.blocks.state(block) == BlockState::Open
            && self.refresh.as_ref().is_some_and(|refresher| soft(refresher))
            && self.refreshes()
        {
            self.close_open(core, flash, block);
        }
    }

    /// Closes an open block whose data must be refreshed, and the open blocks on other planes of
    /// its die that the same commands program. Does nothing while one of them is being programmed,
    /// or if one of their planes runs GC or has fewer than two erased blocks.
    pub(super) fn close_open(&mut self, core: &mut Core, flash: &mut Flash, block: BlockId) {
        let now = flash.now();
        let home = core.locator.plane_of_block(block);
        let Some(opened) = core.allocator.open_blocks.opened_as(home, block) else { return };
        let together = |plane: &PlaneId| *plane == home || opened.is_host();
        let die = core.locator.die_of_plane(home);
        let planes = || core.layout.geometry.planes_of_die(die).filter(together);
        let closable = |plane: PlaneId| {
            let open = core.allocator.open_blocks.opened(plane, opened);
            let written = |txn: &Txn| {
                txn.op == Op::Program
                    && txn.unit.is_some()
                    && core.locator.block_of(txn.unit) == open
            };
            self.job(plane).is_none()
                && core.allocator.blocks.free_in(plane) >= 2
                && !flash.txns.iter().any(|(_, txn)| written(txn))
        };
        if !planes().all(closable) {
            return;
        }
        let first = core.layout.geometry.planes_of_die(die);
        for plane in first.filter(together) {
            if let Some(closed) = core.allocator.close_early(plane, opened) {
                flash.counters.closed_early += 1;
                core.allocator.blocks.fill(closed, now);
                self.schedule_job(core, closed, now);
                self.maybe_start(core, flash, plane);
            }
        }
    }

    /// Checks the age of all blocks, if a check is due. Called whenever a block becomes full and
    /// when a die becomes idle.
    #[inline]
    pub fn look_at_ages(&mut self, core: &mut Core, flash: &mut Flash) {
        if self.next_look().is_some_and(|at| flash.now() >= at) {
            self.look_at_ages_now(core, flash);
        }
    }

    #[cold]
    pub(super) fn look_at_ages_now(&mut self, core: &mut Core, flash: &mut Flash) {
        for block in (0..core.layout.geometry.blocks()).map(BlockId) {
            self.close_if_urgent(core, flash, block);
        }
        self.look_at_all(core, flash.now());
        for plane in (0..core.layout.geometry.planes()).map(PlaneId) {
            self.refresh_if_urgent(core, flash, plane);
            self.want_idle(core, flash, plane);
        }
    }

    pub(super) fn look_at_all(&mut self, core: &mut Core, now: Nanos) {
        let Some(refresher) = &mut self.refresh else { return };
        refresher.looked = now;
        for plane in (0..core.layout.geometry.planes()).map(PlaneId) {
            self.requeue_overdue(plane, now);
        }
        for block in (0..core.layout.geometry.blocks()).map(BlockId) {
            self.schedule_job(core, block, now);
        }
    }

    /// Ages all data by time without power; of the blocks past the hard limit, the oldest are
    /// refreshed first. Returns the number of blocks with data past its maximum age.
    pub fn age_without_power(&mut self, core: &mut Core, flash: &mut Flash, lasts: Span) -> u64 {
        let now = flash.now();
        let Some(refresher) = &mut self.refresh else { return 0 };
        refresher.epoch += lasts;
        let refreshes = self.refreshes();
        for block in (0..core.layout.geometry.blocks()).map(BlockId) {
            self.close_if_urgent(core, flash, block);
        }
        self.look_at_all(core, now);
        let Some(refresher) = &mut self.refresh else { return 0 };
        let overdue = |&block: &BlockId| {
            core.allocator.blocks.valid(block) > 0
                && refresher.age(block, now) >= refresher.retention_of(block)
        };
        let overdue = (0..core.layout.geometry.blocks()).map(BlockId).filter(overdue).count();
        for plane in (0..core.layout.geometry.planes()).map(PlaneId) {
            refresher.oldest_first(plane);
        }
        for plane in (0..core.layout.geometry.planes()).map(PlaneId) {
            self.refresh_if_urgent(core, flash, plane);
            self.want_idle(core, flash, plane);
        }
        self.expect_deadline(core, flash);
        if refreshes { overdue as u64 } else { 0 }
    }

    /// Starts to refresh a block of a plane past the hard limit, if the plane has no other job.
    pub fn refresh_if_urgent(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        self.start_refresh(core, flash, plane, true);
    }

    /// Starts to refresh a block of a plane whose die is idle. Returns true if there was one.
    #[inline]
    pub fn refresh_in_idle_time(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
    ) -> bool {
        self.refresh.is_some()
            && (self.start_refresh(core, flash, plane, true)
                || self.start_refresh(core, flash, plane, false))
    }

    /// Returns true if old or often-read blocks are refreshed at present.
    pub(super) fn refreshes(&self) -> bool {
        self.refresh.as_ref().is_some_and(|refresher| refresher.active)
    }

    /// Makes the job of a plane compete with the host if a block past the hard limit of refresh, an
    /// age or a number of reads, waits for the end of the job.
    pub(super) fn promote_if_urgent(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        let Some(job) = self.job(plane) else { return };
        let urgent = |refresher: &Refresher| {
            refresher.has(plane, true)
                || refresher.urgency(job.victim, flash.now()) == Urgency::HardLimit
        };
        if self.refresh.as_ref().is_some_and(|refresher| urgent(refresher)) {
            self.promote(core, flash, plane);
        }
    }

    /// Closes the open blocks of a die that are past the hard limit of refresh. Returns true if one
    /// of them is still open because of a running job of the die. The die must then start no
    /// further job until the block is closed, or the block would wait forever.
    pub(super) fn close_overdue(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
    ) -> bool {
        if !self.refresh.as_ref().is_some_and(|refresher| refresher.overdue_open) {
            return false;
        }
        let (geometry, now, mut left) = (core.layout.geometry, flash.now(), false);
        let die = core.locator.die_of_plane(plane);
        let planes = || geometry.planes_of_die(die);
        let each = geometry.blocks_per_plane;
        for block in planes().flat_map(|it| it.0 * each..(it.0 + 1) * each).map(BlockId) {
            if core.allocator.blocks.state(block) != BlockState::Open {
                continue;
            }
            let urgent = self
                .refresh
                .as_ref()
                .is_some_and(|refresher| refresher.urgency(block, now) == Urgency::HardLimit);
            if urgent {
                self.close_if_urgent(core, flash, block);
                left |= core.allocator.blocks.state(block) == BlockState::Open;
            }
        }
        left && planes().any(|it| self.job(it).is_some())
    }

    /// Starts the next refresh on a plane after a job of the plane has ended.
    pub fn refresh_after_job(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        let Some(refresher) = &self.refresh else { return };
        if refresher.overdue_open {
            // A block that waits to be closed may be on another plane.
            for plane in core.layout.geometry.planes_of_die(core.locator.die_of_plane(plane)) {
                self.refresh_if_urgent(core, flash, plane);
            }
        }
        self.refresh_if_urgent(core, flash, plane);
        self.want_idle(core, flash, plane);
    }

    #[cold]
    pub(super) fn start_refresh(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
        hard: bool,
    ) -> bool {
        if !self.refreshes() {
            return false;
        }
        if hard {
            self.promote_if_urgent(core, flash, plane);
        }
        if self.close_overdue(core, flash, plane)
            || self.job(plane).is_some()
            || core.allocator.blocks.free_in(plane) < 2
        {
            return false;
        }
        let now = flash.now();
        while let Some(refresher) = &mut self.refresh
            && let Some(block) = refresher.pop(plane, hard)
        {
            let soft = refresher.urgency(block, now) != Urgency::Fresh;
            if soft && core.allocator.blocks.state(block) == BlockState::Full {
                let all = &mut flash.counters.refreshed;
                *if hard { &mut all.at_hard_limit } else { &mut all.when_idle } += 1;
                self.begin(core, flash, plane, block, Source::Refresh, hard);
                return true;
            }
        }
        false
    }
}
