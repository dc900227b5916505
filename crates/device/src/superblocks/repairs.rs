//! The pace of repair: superblocks of which a unit has failed are moved at
//! `policy.redundancy.rebuild_rate` at most, whatever of them can still be read.
//!
//! 1. A page is read to be moved. The next one may be read when the rate allows the units of this
//!    one; there is no credit for time in which less was read ([`Superblocks::may_repair`]).
//! 2. Meanwhile no other superblock could be emptied. If garbage collection needs to and can, the
//!    repair makes way: its superblock is full again, with what is left, and still due
//!    ([`Superblocks::let_repair_make_way`]). It goes on first if collection can do nothing.
//! 3. A repair that the host waits for, because nothing else could free a superblock for its
//!    writes, is not held back.
//!
//! Invariant: no page is read for a repair before `next`, except at step 3.

use super::Superblocks;
use super::collection::{EmptyingJob, Why};
use super::map::Emptied;
use crate::event::Event;
use crate::flash::Flash;
use fowler_agenda::Phase;
use fowler_units::{Nanos, RuId};

impl Superblocks {
    /// Returns true if a job moves a superblock because a unit of it has failed.
    fn is_repair(&self, job: &EmptyingJob) -> bool {
        job.why == Why::Refresh
            && self.has_stripes(job.victim)
            && self.contents.as_ref().is_some_and(|contents| contents.is_spoilt(job.victim))
    }

    /// Returns true if the pace of repair lets a job read its next page now; otherwise schedules an
    /// event for the time at which it does.
    pub(super) fn may_repair(&mut self, flash: &mut Flash, job: &EmptyingJob) -> bool {
        let Some(pace) = &self.repair_pace else { return true };
        if pace.next <= flash.now() || !self.is_repair(job) || self.host_lacks_superblock() {
            return true;
        }
        if let Some(pace) = &mut self.repair_pace
            && pace.looks != pace.next
        {
            pace.looks = pace.next;
            flash.agenda.schedule(pace.next, Phase::Decision, Event::Paced);
        }
        false
    }

    /// Records that a job has read `units` units to move them.
    pub(super) fn note_repair(&mut self, now: Nanos, job: &EmptyingJob, units: u32) {
        if units > 0
            && self.is_repair(job)
            && let Some(pace) = &mut self.repair_pace
        {
            pace.read(now, units);
        }
    }

    /// Stops a repair that waits for its pace, if garbage collection needs to empty a superblock
    /// and can. A read-only drive needs none.
    pub(super) fn let_repair_make_way(&mut self, flash: &mut Flash) {
        let (Some(pace), Some(job)) = (&self.repair_pace, self.collector.job) else { return };
        let victim = job.victim;
        if pace.next <= flash.now()
            || self.is_read_only()
            || !self.is_repair(&job)
            || self.map.is_aside(victim)
        {
            return;
        }
        let erased = self.map.free_count() + self.collector.leaving - 1;
        if erased >= self.collector.below {
            return;
        }
        // Data that the repair has not read claims no room once it has stopped.
        self.collector.job = None;
        if self.victim_for_space(flash.now()).is_none() {
            self.collector.job = Some(job);
            return;
        }
        self.collector.leaving -= 1;
        self.renewals.make_way(victim);
        if let Some(pace) = &mut self.repair_pace {
            pace.made_way.push(victim);
        }
        self.map.set_emptied(victim, Emptied::Paused);
        self.end_if_empty(flash, victim);
    }

    /// Returns true if a repair has made way for garbage collection and has not begun again.
    pub(super) fn has_stopped_repair(&self) -> bool {
        self.repair_pace.as_ref().is_some_and(|pace| !pace.made_way.is_empty())
    }

    /// Forgets that the repair of a superblock has made way for garbage collection. Returns true if
    /// it had.
    pub(super) fn forget_stopped_repair(&mut self, superblock: RuId) -> bool {
        self.repair_pace.as_mut().is_some_and(|pace| {
            let at = pace.made_way.iter().position(|&it| it == superblock);
            at.map(|at| pace.made_way.swap_remove(at)).is_some()
        })
    }
}
