//! Garbage collection, wear leveling, refresh: jobs that move data without a host request.
//!
//! A job empties one block of a plane:
//!
//! 1. A trigger finds a plane short of erased blocks (`trigger.rs`), a block that failed
//!    (`failed_blocks.rs`), data that is too old (`refresh_checks.rs`), errors (`scrub_turns.rs`),
//!    or cold data on a block with few erases (static wear leveling).
//! 2. The job begins, if its plane has none (`collection.rs`). A victim of GC is chosen by
//!    `policy/victim`.
//! 3. One valid page after another is read, programmed into an open block of the same plane, and
//!    mapped there; a page that the host has written meanwhile is skipped.
//! 4. The empty block is erased, and the next reason of step 1 is looked for.
//!
//! Exceptions:
//!
//! - A *foreground* job competes with the host, and the host may not run ahead of it
//!   (`blocks/gc_job.rs`). A *background* job runs on a die that was idle for `gc.idle_after`
//!   (`idle_work.rs`), pauses when a host transaction waits for the die, and is promoted when
//!   erased blocks run short.
//! - A plane in which no block is worth its moves is *starved*, until another of its pages becomes
//!   invalid.
//! - A die that has failed is left alone (`failed_dies.rs`).
//!
//! **Owns** one job per plane, the next check of each idle die, the timestamps and read counters of
//! refresh, the measurement of block strengths (`strength_measurement.rs`), and the turns of
//! scrubbing (`scrub.rs`). **May touch** the core (mapping, blocks, buffer), which it receives for
//! the duration of a call, and the flash. **Called by** the code that allocates or invalidates
//! pages ([`Gc::maybe_start`], [`Gc::invalidate`]), by the flash when a job's transaction ends, and
//! by the clock. `untimed_gc.rs` does the same work in no simulated time, for preconditioning and
//! whole lives.

pub mod collection;
mod failed_blocks;
mod failed_dies;
mod idle_work;
pub mod refresh;
mod refresh_checks;
mod refresh_jobs;
#[cfg(test)]
mod refresh_tests;
pub mod scrub;
mod scrub_turns;
pub mod strength_measurement;
mod trigger;
pub mod untimed_gc;

use crate::blocks::gc_job::Job;
use crate::cells::reliability::{ModelKind, StrengthSource};
use crate::config::layout::Layout;
use crate::config::{Config, GcConfig};
use crate::core::Core;
use crate::flash::Flash;
use crate::policy::victim::AnyVictim;
use crate::policy::wear::AnyWear;
use fowler_units::{Bytes, DieId, Geometry, Id, IdVec, Nanos, PlaneId, UnitId};
use refresh::Refresher;
use scrub::Scrubber;
use strength_measurement::StrengthMeasurement;
use untimed_gc::Untimed;

/// Garbage collection of all planes.
#[derive(Clone, Debug)]
pub struct Gc {
    rules: GcConfig,
    victim: AnyVictim,
    wear: AnyWear,
    jobs: IdVec<PlaneId, Option<Job>>,
    /// True for planes that would collect if a block were worth the moves.
    starved: IdVec<PlaneId, bool>,
    /// True for dies with work for idle time; and the next check of each die.
    wanting: IdVec<DieId, bool>,
    timed: IdVec<DieId, Nanos>,
    /// The maximum number of valid pages of a block collected in idle time: that of the average
    /// block. If the gain is smaller, waiting pays off, because the gain grows by itself.
    worth_moving: u32,
    /// Refresh of blocks before their data fades, if enabled.
    pub refresh: Option<Box<Refresher>>,
    /// Measurement of block strengths, if enabled.
    pub strengths: Option<StrengthMeasurement>,
    /// Scrubbing, if enabled.
    pub scrub: Option<Box<Scrubber>>,
    /// Work in no simulated time.
    pub untimed: Untimed,
}

/// Returns the valid pages of the average block of a full drive, rounded down.
fn average_valid(layout: &Layout) -> u32 {
    let pages = u64::from(layout.mapped_pages);
    (pages / u64::from(layout.geometry.blocks())) as u32
}

impl Gc {
    /// Creates the state without any job.
    pub fn new(config: &Config, layout: &Layout) -> Self {
        let (planes, dies) = (layout.geometry.planes() as usize, layout.geometry.dies() as usize);
        Self {
            rules: config.gc,
            victim: AnyVictim::custom_or_new(
                config.policies.victim.as_ref(),
                &config.victim,
                config.seed,
            ),
            wear: AnyWear::new(&config.wear, config.seed),
            jobs: IdVec::filled(None, planes),
            starved: IdVec::filled(false, planes),
            wanting: IdVec::filled(false, dies),
            timed: IdVec::filled(Nanos::NEVER, dies),
            worth_moving: average_valid(layout),
            refresh: None,
            strengths: None,
            scrub: None,
            untimed: Untimed::default(),
        }
    }

    /// Returns the memory that the jobs, ages and measurements of a drive take.
    pub fn bytes(config: &Config, geometry: &Geometry) -> Bytes {
        let jobs = Bytes::of::<Option<Job>>(geometry.planes().into())
            + Bytes::of::<bool>(geometry.planes().into())
            + Bytes::of::<bool>(geometry.dies().into())
            + Bytes::of::<Nanos>(geometry.dies().into());
        let refresh =
            if config.redundancy.has_stripes() { Refresher::bytes(geometry) } else { Bytes(0) };
        let reliability = &config.reliability;
        let measured =
            reliability.model != ModelKind::Off && reliability.strength == StrengthSource::Measured;
        let strengths = if measured { StrengthMeasurement::bytes(geometry) } else { Bytes(0) };
        let scrub = if config.scrubs() { Scrubber::bytes(geometry) } else { Bytes(0) };
        jobs + refresh + strengths + scrub
    }

    /// Returns the job of a plane.
    #[inline]
    pub fn job(&self, plane: PlaneId) -> Option<&Job> {
        self.jobs[plane].as_ref()
    }

    /// Counts a page of the plane written by the host.
    #[inline]
    pub fn host_wrote(&mut self, plane: PlaneId) {
        if let Some(job) = &mut self.jobs[plane] {
            job.written += 1;
        }
    }

    /// Returns true if a plane waits for a page to become invalid.
    #[inline]
    pub fn is_starved(&self, plane: PlaneId) -> bool {
        self.starved[plane]
    }

    /// Notes that a die has work for idle time.
    pub fn want(&mut self, die: DieId) {
        self.wanting[die] = true;
    }

    /// Returns the number of erased blocks, besides the last one, that a busy host leaves to GC: if
    /// the watermark allows, one for the moves, and one for the host meanwhile.
    pub fn reserve(&self) -> u32 {
        (self.rules.foreground_below - 2).min(2)
    }

    /// Returns the policies, whose state is the only state of GC while no job runs.
    pub fn policies(&self) -> (&AnyVictim, &AnyWear) {
        (&self.victim, &self.wear)
    }

    /// Resumes with saved policies.
    pub fn resume(&mut self, victim: AnyVictim, wear: AnyWear) {
        (self.victim, self.wear) = (victim, wear);
    }

    /// Returns the rules in force.
    pub fn rules(&self) -> &GcConfig {
        &self.rules
    }

    /// Marks a physical page as invalid, if there is one, and starts GC that was waiting for that.
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
