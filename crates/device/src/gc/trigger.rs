//! The trigger of GC on a plane.
//!
//! 1. Code that takes or frees a block of a plane reports the number of erased blocks left
//!    ([`Gc::look_at_stock`]).
//! 2. Below `gc.background_below` the die of the plane has work for idle time (`idle_work.rs`).
//! 3. Below `gc.foreground_below` a job starts at once, or the job of the plane is promoted: it
//!    competes with the host from then on, with a new budget ([`Gc::promote`]).
//! 4. `policy/victim` chooses the block ([`Gc::choose`]).
//!
//! If no block would gain anything, or too little for idle time, the plane is starved: the next
//! page of it that becomes invalid triggers again.

use super::Gc;
use crate::blocks::gc_job::Job;
use crate::core::Core;
use crate::flash::Flash;
use crate::observe::operation::Source;
use fowler_units::{BlockId, Nanos, PlaneId};

impl Gc {
    /// Starts GC on every plane that is short of erased blocks when the run begins.
    pub fn maybe_start_all(&mut self, core: &mut Core, flash: &mut Flash) {
        for plane in 0..core.layout.geometry.planes() {
            self.maybe_start(core, flash, PlaneId(plane));
        }
    }

    /// Starts GC on a plane if necessary, after the plane's number of erased blocks has changed.
    #[inline]
    pub fn maybe_start(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        let free = core.allocator.blocks.free_in(plane);
        self.look_at_stock(core, flash, plane, free);
    }

    /// Starts GC on a plane, or schedules it for idle time, if `free`, the plane's number of erased
    /// blocks, is too low.
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
        // Usually the job is already running.
        if !self.jobs[plane].as_ref().is_some_and(|job| job.foreground) {
            self.collect_at_once(core, flash, plane);
        }
    }

    /// Starts or promotes the GC job of a plane that is short of erased blocks.
    #[inline(never)]
    fn collect_at_once(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        match self.jobs[plane] {
            Some(_) => self.promote(core, flash, plane),
            None => {
                self.starved[plane] = !self.start(core, flash, plane, true);
            }
        }
    }

    /// Makes the background GC job of a plane, if it has one, compete with the host as foreground
    /// GC.
    pub fn promote(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) {
        let Some(job) = self.jobs[plane].filter(|job| !job.foreground) else { return };
        let promoted = Job { foreground: true, paused: false, ..job };
        self.jobs[plane] = Some(self.competing(core, plane, promoted));
        if job.paused {
            let die = core.locator.die_of_plane(plane);
            self.step(core, flash, plane, die);
        }
    }

    /// Starts a GC job on a plane, if any of its blocks has an invalid page. See
    /// docs/decisions/gc.md, "When does background GC run?".
    pub(super) fn start(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
        foreground: bool,
    ) -> bool {
        let Some(victim) = self.choose(core, plane, flash.now()) else { return false };
        if !foreground && core.allocator.blocks.valid(victim) > self.worth_moving {
            // Checked again when another page of the plane becomes invalid.
            self.starved[plane] = true;
            return false;
        }
        let all = &mut flash.counters.collections;
        *if foreground { &mut all.foreground } else { &mut all.background } += 1;
        self.begin(core, flash, plane, victim, Source::Gc, foreground);
        true
    }

    /// Returns the victim that the policy chooses on a plane; `None` if GC would gain nothing.
    pub fn choose(&mut self, core: &mut Core, plane: PlaneId, now: Nanos) -> Option<BlockId> {
        core.allocator.blocks.settle_lowest(plane);
        self.victim.choose(&core.allocator.blocks.candidates(plane), now)
    }
}
