//! Garbage collection and wear leveling: a job empties one block of a plane, page by page, and
//! erases it. One job at a time for each plane.

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

    /// The job as it stands when it begins to compete with the host.
    pub(super) fn competing(&self, core: &mut Core, plane: PlaneId, job: Job) -> Job {
        let pages = core.allocator.blocks.valid(job.victim);
        let pages_per_block = core.layout.geometry.pages_per_block;
        let reserve = self.reserve() * pages_per_block;
        let room = core.allocator.room(plane).saturating_sub(reserve);
        if matches!(job.source, Source::Wear | Source::Refresh) {
            // A swap gains no room, nor does refresh: what the host writes beside it comes out of
            // the reserve. One page for every four moves is assumed, from no source: with one for
            // two, swaps that follow each other used the reserve up and the host stood still
            // (`tests/pacing.rs`).
            return Job { pages, gain: pages / 4, surplus: room, written: 0, ..job };
        }
        let surplus = room.saturating_sub(pages);
        Job { pages, gain: pages_per_block - pages, surplus, written: 0, ..job }
    }

    /// The next page of a job, or its erase; a job of idle time gives way to the host.
    pub(super) fn step(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId, die: DieId) {
        self.step_after(core, flash, TxnId::NONE, (plane, die));
    }

    /// As [`Gc::step`], when a transaction of the job has ended, if one has: what comes next takes
    /// its place.
    #[inline(never)]
    pub fn step_after(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        ended: TxnId,
        (plane, die): (PlaneId, DieId),
    ) {
        // Every step is progress for which the host may have waited.
        flash.unblock(die);
        let job = self.jobs[plane].as_mut().expect("a step belongs to a job");
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
        // Nearly always one page follows another.
        job.offset = place + 1;
        let page = core.locator.unit(victim, place);
        core.map.prefetch_owner(page);
        let now = flash.now();
        let txn = flash.txns.follow(ended, Op::Read, TxnClass::BackgroundRead, now);
        (txn.unit, txn.lpn, txn.from) = (page, Lpn::NONE, UnitId::NONE);
        flash.submit_alone(ended, die, TxnClass::BackgroundRead);
    }

    /// As [`Gc::step_after`], for the first page of a job, `next`, or its erase.
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
            None => (Op::Erase, TxnClass::Erase, core.locator.unit(victim, 0)),
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

    /// A page of a victim lies in the controller: it goes to its new place, unless the host has
    /// written it meanwhile.
    #[inline(always)]
    pub fn copied_out(&mut self, core: &mut Core, flash: &mut Flash, id: TxnId) {
        let Txn { unit: from, die, .. } = *flash.txns.get(id);
        if !core.allocator.blocks.is_valid(from) {
            let plane = core.locator.plane_of(from);
            return self.step_after(core, flash, id, (plane, die));
        }
        // Its entry will change.
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

    /// A victim is erased: the job is done, and is returned.
    pub fn erased(&mut self, core: &mut Core, flash: &mut Flash, id: TxnId) -> Job {
        let block = core.locator.block_of(flash.txns.get(id).unit);
        flash.txns.close(id);
        let plane = core.locator.plane_of_block(block);
        let job = self.jobs[plane].take().expect("an erase ends a job");
        debug_assert_eq!(job.victim, block);
        core.allocator.blocks.erase(block);
        flash.unblock(core.locator.die_of_plane(plane));
        self.refreshed(block);
        job
    }

    /// Everybody knows of an erase: what follows on its plane begins.
    pub fn after_erase(&mut self, core: &mut Core, flash: &mut Flash, job: Job) {
        let plane = core.locator.plane_of_block(job.victim);
        if job.source == Source::Gc && self.swap(core, flash, plane, job.victim) {
            return;
        }
        self.maybe_start(core, flash, plane);
        self.refresh_after_job(core, flash, plane);
    }

    /// A page has been programmed: if it was the last of its block, that may be collected from now
    /// on.
    #[inline(always)]
    pub fn page_programmed(&mut self, core: &mut Core, flash: &mut Flash, unit: UnitId) {
        if core.locator.is_last_of_block(unit) {
            self.block_programmed(core, flash, unit);
        }
    }

    /// As [`Gc::page_programmed`], of the last page.
    #[cold]
    fn block_programmed(&mut self, core: &mut Core, flash: &mut Flash, unit: UnitId) {
        let block = core.locator.block_of(unit);
        core.allocator.blocks.fill(block, flash.now());
        self.filled(core, flash, block);
        self.maybe_start(core, flash, core.locator.plane_of(unit));
    }

    /// Asks whether cold data should move into the block that was just erased.
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

    /// The block whose data should move into `erased`, if any.
    pub fn coldest_for(
        &mut self,
        core: &mut Core,
        plane: PlaneId,
        erased: BlockId,
    ) -> Option<BlockId> {
        let candidates = core.allocator.blocks.candidates(plane);
        self.wear.swap(&candidates, erased)
    }

    /// A moved page gets its place, unless the host has written it meanwhile.
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
        let txn = flash.txns.get_mut(id);
        (txn.unit, txn.mode) = (unit, core.allocator.open_blocks.mode_of(block));
        Bind::Bound
    }
}
