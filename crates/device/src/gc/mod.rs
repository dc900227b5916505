//! Garbage collection, wear leveling, refresh: jobs that move data without being asked by the host.
//!
//! **Owns** one job for each plane, when each die is looked at in idle time, the timestamps and
//! read counters of refresh, and the measuring of block strengths. **May touch** the core (mapping,
//! blocks, buffer), which it is handed for the length of a call, and the flash. **Is asked** by
//! whoever takes or gives up pages ([`Gc::maybe_start`], [`Gc::invalidate`]), by the flash when a
//! job's transaction ends, and by the clock.
//!
//! - `trigger.rs`: when a plane must collect (free-block watermarks); asks `policy/victim` which
//!   block.
//! - `collection.rs`: a job empties one block, page by page, and erases it; static wear leveling
//!   after an erase.
//! - `idle_work.rs`: what a die does once it has been idle for long enough: background GC, refresh,
//!   measuring.
//! - `refresh.rs`: blocks are emptied before their data is too old or has been read too often.
//! - `strength_measurement.rs`: how strong blocks are, found out in idle time.
//! - `untimed.rs`: the same work at no simulated time, for preconditioning and whole lives.

pub mod collection;
mod idle_work;
pub mod refresh;
#[cfg(test)]
mod refresh_tests;
pub mod strength_measurement;
mod trigger;
pub mod untimed;

use crate::blocks::gc_job::Job;
use crate::config::layout::Layout;
use crate::config::{Config, GcConfig};
use crate::core::Core;
use crate::flash::Flash;
use crate::policy::victim::AnyVictim;
use crate::policy::wear::AnyWear;
use fowler_units::{DieId, Id, IdVec, Nanos, PlaneId, UnitId};
use refresh::Refresher;
use strength_measurement::StrengthMeasurement;
use untimed::Untimed;

/// Who collects what, and when.
#[derive(Clone, Debug)]
pub struct Gc {
    rules: GcConfig,
    victim: AnyVictim,
    wear: AnyWear,
    jobs: IdVec<PlaneId, Option<Job>>,
    /// Planes that would collect if there were anything worth it.
    starved: IdVec<PlaneId, bool>,
    /// Dies with something to do in idle time, and when each is looked at next.
    wanting: IdVec<DieId, bool>,
    timed: IdVec<DieId, Nanos>,
    /// In idle time a block is collected only with at most so many valid pages: as many as the
    /// average block has. Less gain is better waited for; it grows by itself.
    worth_moving: u32,
    /// Where blocks are refreshed before their data fades.
    pub refresh: Option<Box<Refresher>>,
    /// Where strengths are measured.
    pub strengths: Option<StrengthMeasurement>,
    /// What happens at no simulated time.
    pub untimed: Untimed,
}

/// Valid pages of the average block of a full drive, rounded down.
fn average_valid(layout: &Layout) -> u32 {
    let pages = u64::from(layout.mapped_pages);
    (pages / u64::from(layout.geometry.blocks())) as u32
}

impl Gc {
    /// No job anywhere.
    pub fn new(config: &Config, layout: &Layout) -> Self {
        let (planes, dies) = (layout.geometry.planes() as usize, layout.geometry.dies() as usize);
        Self {
            rules: config.gc,
            victim: AnyVictim::new(&config.victim, config.seed),
            wear: AnyWear::new(&config.wear, config.seed),
            jobs: IdVec::filled(None, planes),
            starved: IdVec::filled(false, planes),
            wanting: IdVec::filled(false, dies),
            timed: IdVec::filled(Nanos::NEVER, dies),
            worth_moving: average_valid(layout),
            refresh: None,
            strengths: None,
            untimed: Untimed::default(),
        }
    }

    /// The job of a plane.
    #[inline]
    pub fn job(&self, plane: PlaneId) -> Option<&Job> {
        self.jobs[plane].as_ref()
    }

    /// The host has written a page of the plane.
    #[inline]
    pub fn host_wrote(&mut self, plane: PlaneId) {
        if let Some(job) = &mut self.jobs[plane] {
            job.written += 1;
        }
    }

    /// Whether a plane waits for a page to become invalid.
    #[inline]
    pub fn is_starved(&self, plane: PlaneId) -> bool {
        self.starved[plane]
    }

    /// A die has something to do in idle time.
    pub fn want(&mut self, die: DieId) {
        self.wanting[die] = true;
    }

    /// Erased blocks, beside the last one, that a busy host leaves to GC: if the watermark
    /// allows, one that the moves may open and one that the host may open meanwhile.
    pub fn reserve(&self) -> u32 {
        (self.rules.foreground_below - 2).min(2)
    }

    /// The policies, whose state is all that GC has at rest.
    pub fn policies(&self) -> (&AnyVictim, &AnyWear) {
        (&self.victim, &self.wear)
    }

    /// Resumes with policies that were saved.
    pub fn resume(&mut self, victim: AnyVictim, wear: AnyWear) {
        (self.victim, self.wear) = (victim, wear);
    }

    /// The rules in force.
    pub fn rules(&self) -> &GcConfig {
        &self.rules
    }

    /// A physical page's data is invalid from now on, if there is such a page: what waited for that
    /// may begin.
    #[inline(always)]
    pub fn invalidate(&mut self, core: &mut Core, flash: &mut Flash, old: UnitId) {
        if old.is_some() {
            let plane = core.allocator.blocks.invalidate(old);
            if self.is_starved(plane) {
                self.maybe_start(core, flash, plane);
                let die = core.locator.die_of_plane(plane);
                if flash.die(die).is_idle() {
                    self.on_die_idle(core, flash, die);
                }
            }
        }
    }
}
