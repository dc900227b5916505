//! The background work of a die that has been idle for long enough.
//!
//! 1. A die that becomes idle schedules a check at the end of `gc.idle_after`, if it has work or a
//!    measurement is due ([`Gc::on_die_idle`]).
//! 2. The check does nothing if the die has been used in the meantime; the die then schedules anew
//!    when it becomes idle ([`Gc::idle_event`]).
//! 3. Otherwise each plane of the die resumes its paused job, starts background GC if it is short
//!    of erased blocks, or refreshes a block.
//! 4. A die that is still idle then measures a block, or schedules its next check
//!    ([`Gc::use_idle_die`]).
//!
//! At most one check of a die is valid: an earlier one supersedes a later one, whose event is
//! ignored.

use super::Gc;
use crate::core::Core;
use crate::event::Event;
use crate::flash::Flash;
use fowler_agenda::Phase;
use fowler_units::{DieId, Nanos};

impl Gc {
    /// Schedules background work for a die that has become idle.
    pub fn on_die_idle(&mut self, core: &mut Core, flash: &mut Flash, die: DieId) {
        let idle_long_enough = flash.die(die).idle_since + self.rules.idle_after;
        let at = match &self.strengths {
            _ if self.wanting[die] || core.buffer.rewrites() > 0 => Some(idle_long_enough),
            Some(measurer) => Some(idle_long_enough.max(measurer.due(die))),
            None => self.next_look().map(|look| idle_long_enough.max(look)),
        };
        if let Some(at) = at {
            self.look_at_rest(flash, die, at.max(flash.now()));
        }
    }

    /// Schedules a check of an idle die at `at`, unless one is due earlier. A later event that is
    /// already scheduled is ignored when it fires.
    pub(super) fn look_at_rest(&mut self, flash: &mut Flash, die: DieId, at: Nanos) {
        if at < self.timed[die] {
            self.timed[die] = at;
            flash.agenda.schedule(at, Phase::Decision, Event::Idle(die));
        }
    }

    /// Handles a scheduled check of a die: if the die has been idle for long enough, garbage
    /// collection and refresh begin on its planes. Returns true if the die has been idle for long
    /// enough and still is.
    pub fn idle_event(&mut self, core: &mut Core, flash: &mut Flash, die: DieId) -> bool {
        if self.timed[die] != flash.now() {
            return false; // Superseded by an earlier event.
        }
        self.timed[die] = Nanos::NEVER;
        if !flash.die(die).is_idle() {
            return false; // The die will become idle again.
        }
        let idle_long_enough = flash.die(die).idle_since + self.rules.idle_after;
        if idle_long_enough > flash.now() {
            self.on_die_idle(core, flash, die);
            return false;
        }
        self.wanting[die] = false;
        self.look_at_ages(core, flash);
        for plane in core.layout.geometry.planes_of_die(die) {
            let short = core.allocator.blocks.free_in(plane) < self.rules.background_below;
            match &mut self.jobs[plane] {
                Some(job) if job.paused => {
                    job.paused = false;
                    self.step(core, flash, plane, die);
                }
                Some(_) => {}
                None => {
                    if !(short && self.start(core, flash, plane, false)) {
                        self.refresh_in_idle_time(core, flash, plane);
                    }
                }
            }
        }
        flash.die(die).is_idle()
    }

    /// Uses a die that is still idle: measures the strength of its next block, or schedules a later
    /// check.
    pub fn use_idle_die(&mut self, core: &mut Core, flash: &mut Flash, die: DieId) {
        if self.measure(core, flash, die) {
            return;
        }
        // Work that is blocked now is not retried at once: the event that unblocks it schedules a
        // check.
        let due = self.strengths.as_ref().map(|measurer| measurer.due(die));
        let looks = [due, self.next_look()].into_iter().flatten();
        if let Some(at) = looks.min().filter(|&at| at > flash.now()) {
            self.look_at_rest(flash, die, at);
        }
    }
}
