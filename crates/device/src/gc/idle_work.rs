//! What a die does once it has been idle for long enough: garbage collection, refresh, measuring.

use super::Gc;
use crate::core::Core;
use crate::event::Event;
use crate::flash::Flash;
use fowler_agenda::Phase;
use fowler_units::{DieId, Nanos};

impl Gc {
    /// A die has nothing to do. If it stays so for long enough, it collects.
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

    /// A die is looked at then, unless it is earlier. An event that comes later than is wanted is
    /// let pass when it comes.
    pub(super) fn look_at_rest(&mut self, flash: &mut Flash, die: DieId, at: Nanos) {
        if at < self.timed[die] {
            self.timed[die] = at;
            flash.agenda.schedule(at, Phase::Decision, Event::Idle(die));
        }
    }

    /// A die may have been idle for long enough: garbage collection and refresh begin on its
    /// planes. Returns whether it has been, and is idle still.
    pub fn idle_event(&mut self, core: &mut Core, flash: &mut Flash, die: DieId) -> bool {
        if self.timed[die] != flash.now() {
            return false; // An earlier one has been asked for since.
        }
        self.timed[die] = Nanos::NEVER;
        if !flash.die(die).is_idle() {
            return false; // It will rest again.
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

    /// A die is idle still, and nothing else uses it: its next block is measured, or the die is
    /// looked at again later.
    pub fn use_idle_die(&mut self, core: &mut Core, flash: &mut Flash, die: DieId) {
        if self.measure(core, flash, die) {
            return;
        }
        // What could not be done now is not asked for again at once: whatever makes it possible
        // says so.
        let due = self.strengths.as_ref().map(|its| its.due(die));
        let looks = [due, self.next_look()].into_iter().flatten();
        if let Some(at) = looks.min().filter(|&at| at > flash.now()) {
            self.look_at_rest(flash, die, at);
        }
    }
}
