//! When a plane collects, and what: the watermarks of erased blocks
//! (`gc.foreground_below`, `gc.background_below`), and the victim.

use super::Gc;
use crate::blocks::gc_job::Job;
use crate::core::Core;
use crate::flash::Flash;
use crate::observe::operation::Source;
use crate::policy::victim::Victim;
use fowler_units::{BlockId, Nanos, PlaneId};

impl Gc {
    /// Every plane may have to collect as soon as the run begins.
    pub fn maybe_start_all(&mut self, core: &mut Core, flash: &mut Flash) {
        for plane in 0..core.layout.geometry.planes() {
            self.maybe_start(core, flash, PlaneId(plane));
        }
    }

    /// A plane's stock of erased blocks has changed: it may have to collect.
    #[inline]
    pub fn maybe_start(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        let free = core.allocator.blocks.free_in(plane);
        self.look_at_stock(core, flash, plane, free);
    }

    /// As [`Gc::maybe_start`], where it is known how many erased blocks the plane has.
    #[inline(always)]
    pub fn look_at_stock(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId, free: u32) {
        if free < self.rules.background_below {
            self.start_when_short(core, flash, plane, free);
        }
    }

    #[inline]
    fn start_when_short(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId, free: u32) {
        let die = core.locator.die_of_plane(plane);
        self.wanting[die] = true;
        if free >= self.rules.foreground_below {
            return;
        }
        // Most have begun to collect long ago.
        if !self.jobs[plane].as_ref().is_some_and(|job| job.foreground) {
            self.collect_at_once(core, flash, plane);
        }
    }

    /// A plane is short of erased blocks.
    #[inline(never)]
    fn collect_at_once(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        match self.jobs[plane] {
            Some(_) => self.promote(core, flash, plane),
            None => {
                self.starved[plane] = !self.start(core, flash, plane, true);
            }
        }
    }

    /// The job of a plane gives way to the host no more.
    pub fn promote(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        let Some(job) = self.jobs[plane].filter(|job| !job.foreground) else { return };
        let promoted = Job { foreground: true, paused: false, ..job };
        self.jobs[plane] = Some(self.competing(core, plane, promoted));
        if job.paused {
            let die = core.locator.die_of_plane(plane);
            self.step(core, flash, plane, die);
        }
    }

    /// Begins to collect a block, if any has an invalid page.
    /// See docs/decisions/gc.md, "When does background GC run?".
    pub(super) fn start(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
        foreground: bool,
    ) -> bool {
        let Some(victim) = self.choose(core, plane, flash.now()) else { return false };
        if !foreground && core.allocator.blocks.valid(victim) > self.worth_moving {
            // It is looked at again when one more page of the plane is invalid.
            self.starved[plane] = true;
            return false;
        }
        let all = &mut flash.counters.collections;
        *if foreground { &mut all.foreground } else { &mut all.background } += 1;
        self.begin(core, flash, plane, victim, Source::Gc, foreground);
        true
    }

    /// The victim that the policy picks, if collecting gains anything.
    pub fn choose(&mut self, core: &mut Core, plane: PlaneId, now: Nanos) -> Option<BlockId> {
        core.allocator.blocks.settle_lowest(plane);
        let candidates = core.allocator.blocks.candidates(plane);
        let best = candidates.fewest_valid()?;
        if candidates.valid(best) == candidates.pages_per_block() {
            return None;
        }
        self.victim.pick(&candidates, now)
    }
}
