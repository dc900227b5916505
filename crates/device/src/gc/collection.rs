//! The steps of a GC job, which empties one block of a plane. Each plane runs one job at a time,
//! and each job has at most one transaction in flight.
//!
//! 1. [`Gc::begin`] removes the victim from the candidates and computes the budget by which the
//!    host keeps pace with the job.
//! 2. [`Gc::step`] reads the next valid page.
//! 3. [`Gc::copied_out`] turns the same transaction into a program on the same die.
//! 4. [`Gc::bind_move`] gives the program the next page of the open block for the job's data.
//! 5. When the program ends (`Ftl::moved`), the mapping points at the new copy, and the job
//!    continues with step 2.
//! 6. Without a valid page left, the block is erased ([`Gc::erased`]). A failed block of the plane
//!    is emptied next; after GC the wear policy may swap cold data into the erased block; then the
//!    plane's stock of erased blocks is checked again ([`Gc::after_erase`]).
//!
//! Exceptions:
//!
//! - A page that the host writes or trims in the meantime is skipped at step 3, or its program is
//!   dropped at step 4.
//! - A background job that meets a waiting host transaction pauses before step 2.
//! - A page whose mapping entry is not in memory waits for the entry before step 3.
//! - A job whose die fails is abandoned: its next step closes the transaction.

use super::Gc;
use crate::blocks::block_table::BlockState;
use crate::blocks::gc_job::Job;
use crate::blocks::page_allocator::Taken;
use crate::core::Core;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::flash::{Bind, Flash};
use crate::mapping::Waiter;
use crate::observe::operation::{Op, Source};
use crate::policy::wear::Wear;
use fowler_units::{BlockId, DieId, Id, Lpn, PlaneId, TxnId, UnitId};

impl Gc {
    pub fn begin(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
        victim: BlockId,
        source: Source,
        foreground: bool,
    ) {
        core.allocator.blocks.collect(victim);
        self.empty(core, flash, plane, victim, source, foreground);
    }

    /// Begins a GC job for a block that is not among the candidates any more.
    pub(super) fn empty(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
        victim: BlockId,
        source: Source,
        foreground: bool,
    ) {
        debug_assert!(self.jobs[plane].is_none(), "two jobs on plane {}", plane.0);
        let tag = core.allocator.open_blocks.tag_of_survivors(victim);
        let job = Job {
            victim,
            source,
            tag,
            into: core.allocator.open_blocks.opened_for(source, tag),
            offset: 0,
            pages: 0,
            gain: 0,
            surplus: 0,
            written: 0,
            foreground,
            paused: false,
        };
        self.jobs[plane] = Some(self.competing(core, plane, job));
        let die = core.locator.die_of_plane(plane);
        self.step(core, flash, plane, die);
    }

    /// Returns a GC job that now begins to compete with the host, with the number of pages that the
    /// host may write while the job runs.
    pub(super) fn competing(&self, core: &mut Core, plane: PlaneId, job: Job) -> Job {
        let pages = core.allocator.blocks.valid(job.victim);
        let pages_per_block = core.layout.geometry.pages_per_block;
        let reserve = self.reserve() * pages_per_block;
        let room = core.allocator.room(plane).saturating_sub(reserve);
        if matches!(job.source, Source::Wear | Source::Refresh) {
            // Neither a swap nor refresh gains room: pages that the host writes meanwhile come out
            // of the reserve. The ratio of one host page to four moves is an assumption without a
            // source; with one to two, consecutive swaps used up the reserve and the host stalled
            // (`tests/all/pacing.rs`).
            return Job { pages, gain: pages / 4, surplus: room, written: 0, ..job };
        }
        let surplus = room.saturating_sub(pages);
        Job { pages, gain: pages_per_block - pages, surplus, written: 0, ..job }
    }

    /// Submits the read of a GC job's next page, or its erase. A background job gives way to the
    /// host.
    pub(super) fn step(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId, die: DieId) {
        self.step_after(core, flash, TxnId::NONE, (plane, die));
    }

    /// Submits the read of a GC job's next page, or its erase. The operation reuses the slot of
    /// `ended`, a transaction of the job that has ended, if there was one.
    #[inline(never)]
    pub fn step_after(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        ended: TxnId,
        (plane, die): (PlaneId, DieId),
    ) {
        // Each step is progress that the host may be waiting for.
        flash.unblock(die);
        let Some(job) = self.jobs[plane].as_mut() else { return gave_up(flash, ended) };
        let queue = &flash.die(die).queue;
        let waits = |class| queue.head(class).is_some();
        if !job.foreground && (waits(TxnClass::HostRead) || waits(TxnClass::HostProgram)) {
            job.paused = true;
            self.wanting[die] = true;
            if ended.is_some() {
                flash.txns.close(ended);
            }
            return;
        }
        let victim = job.victim;
        let next = core.allocator.blocks.next_valid(victim, job.offset);
        let Some(place) = next.filter(|_| ended.is_some()) else {
            return self.step_otherwise(core, flash, next, ended, (plane, die));
        };
        // The common case: one page follows another.
        job.offset = place + 1;
        let page = core.locator.unit(victim, place);
        core.map.prefetch_owner(page);
        let now = flash.now();
        let txn = flash.txns.follow(ended, Op::Read, TxnClass::BackgroundRead, now);
        (txn.unit, txn.lpn, txn.from) = (page, Lpn::NONE, UnitId::NONE);
        flash.submit_alone(ended, die, TxnClass::BackgroundRead);
    }

    /// Submits the first page read of a GC job, whose offset in the victim is `next`, or (`None`)
    /// the erase of the victim. Called by [`Gc::step_after`], which handles all later page reads
    /// itself.
    #[inline(never)]
    fn step_otherwise(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        next: Option<u32>,
        ended: TxnId,
        (plane, die): (PlaneId, DieId),
    ) {
        let job = self.jobs[plane].as_mut().expect("a step belongs to a job");
        let (victim, source) = (job.victim, job.source);
        let (op, class, unit) = match next {
            Some(place) => {
                job.offset = place + 1;
                let page = core.locator.unit(victim, place);
                core.map.prefetch_owner(page);
                (Op::Read, TxnClass::BackgroundRead, page)
            }
            None => {
                debug_assert_eq!(core.allocator.blocks.valid(victim), 0, "a valid page is left");
                (Op::Erase, TxnClass::Erase, core.locator.unit(victim, 0))
            }
        };
        let (id, txn) = if ended.is_some() {
            let now = flash.now();
            (ended, flash.txns.follow(ended, op, class, now))
        } else {
            flash.open(op, source, class, Owner::Job, die)
        };
        (txn.unit, txn.lpn, txn.from) = (unit, Lpn::NONE, UnitId::NONE);
        flash.submit(id);
    }

    /// Handles the end of the read of a victim's page: submits its program elsewhere, unless the
    /// host has written the page meanwhile.
    #[inline(always)]
    pub fn copied_out(&mut self, core: &mut Core, flash: &mut Flash, id: TxnId) {
        let Txn { unit: from, die, .. } = *flash.txns.get(id);
        if !core.allocator.blocks.is_valid(from) {
            let plane = core.locator.plane_of(from);
            return self.step_after(core, flash, id, (plane, die));
        }
        // The program will change the mapping entry of the page.
        let page = core.map.owner(from);
        if let Err(miss) = core.map.bring(flash, page) {
            return core.map.wait(miss, Waiter::Move(id));
        }
        let now = flash.now();
        let txn = flash.txns.follow(id, Op::Program, TxnClass::BackgroundProgram, now);
        (txn.from, txn.lpn, txn.unit) = (from, page, UnitId::NONE);
        core.map.prefetch(page);
        flash.submit_alone(id, die, TxnClass::BackgroundProgram);
    }

    /// Handles the erase of a victim. Returns the GC job, which has ended.
    pub fn erased(&mut self, core: &mut Core, flash: &mut Flash, id: TxnId) -> Job {
        let block = core.locator.block_of(flash.txns.get(id).unit);
        flash.txns.close(id);
        let plane = core.locator.plane_of_block(block);
        let job = self.jobs[plane].take().expect("an erase ends a job");
        debug_assert_eq!(job.victim, block);
        core.allocator.erased(block, flash.now());
        flash.unblock(core.locator.die_of_plane(plane));
        self.refreshed(block);
        job
    }

    /// Starts the work that follows an erase on its plane. Called once all components know of the
    /// erase.
    pub fn after_erase(&mut self, core: &mut Core, flash: &mut Flash, job: Job) {
        let plane = core.locator.plane_of_block(job.victim);
        let busy = self.empty_failed(core, flash, plane);
        if !busy && job.source == Source::Gc && self.swap(core, flash, plane, job.victim) {
            return;
        }
        self.maybe_start(core, flash, plane);
        self.refresh_after_job(core, flash, plane);
        if job.source == Source::Refresh {
            self.patrol_after_move(core, flash, job.victim);
        }
    }

    /// Handles the end of the program of a page: if the page was the last of its block, the block
    /// becomes a GC candidate.
    #[inline(always)]
    pub fn page_programmed(&mut self, core: &mut Core, flash: &mut Flash, unit: UnitId) {
        if core.locator.is_last_of_block(unit) {
            self.block_programmed(core, flash, unit);
        }
    }

    /// Handles the end of the program of a block's last page, for [`Gc::page_programmed`].
    #[cold]
    fn block_programmed(&mut self, core: &mut Core, flash: &mut Flash, unit: UnitId) {
        let block = core.locator.block_of(unit);
        core.allocator.blocks.fill(block, flash.now());
        self.filled(core, flash, block);
        self.maybe_start(core, flash, core.locator.plane_of(unit));
    }

    /// Starts a swap of cold data into the block just erased, if the wear policy wants one.
    pub(super) fn swap(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
        erased: BlockId,
    ) -> bool {
        let Some(cold) = self.coldest_for(core, plane, erased) else { return false };
        debug_assert_eq!(core.allocator.blocks.state(cold), BlockState::Full);
        if !core.allocator.open_for_swap(erased) {
            return false;
        }
        self.begin(core, flash, plane, cold, Source::Wear, true);
        true
    }

    /// Returns the block whose cold data should move into the erased block `erased`; `None` if
    /// there is none.
    pub fn coldest_for(
        &mut self,
        core: &mut Core,
        plane: PlaneId,
        erased: BlockId,
    ) -> Option<BlockId> {
        let candidates = core.allocator.blocks.candidates(plane);
        self.wear.swap(&candidates, erased)
    }

    /// Allocates the destination of a moved page, unless the host has written the page meanwhile.
    #[inline(always)]
    pub fn bind_move(&mut self, core: &mut Core, flash: &mut Flash, id: TxnId) -> Bind {
        let Txn { from, lpn, .. } = *flash.txns.get(id);
        if !core.allocator.blocks.is_valid(from) {
            return Bind::Dropped;
        }
        let plane = core.locator.plane_of(from);
        let job = self.jobs[plane].as_ref().expect("a move belongs to a job");
        let Taken { unit, block, .. } = core.allocator.write_moved(plane, job);
        core.map.set_owner(unit, lpn);
        if core.allocator.blocks_fail() {
            self.note_failed_programs(core, flash, id);
        }
        let txn = flash.txns.get_mut(id);
        (txn.unit, txn.mode) = (unit, core.allocator.open_blocks.mode_of(block));
        Bind::Bound
    }
}

/// Ends the transaction of a GC job that was abandoned because its die has failed.
#[cold]
fn gave_up(flash: &mut Flash, ended: TxnId) {
    if ended.is_some() {
        flash.txns.close(ended);
    }
}
