//! Garbage collection (GC), wear leveling and refresh: jobs that move data without a host request.
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
//! - A die that has failed has no jobs (`failed_dies.rs`).
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

/// Garbage collection, wear leveling and refresh on all planes.
#[derive(Clone, Debug)]
pub struct Gc {
    rules: GcConfig,
    victim: AnyVictim,
    wear: AnyWear,
    jobs: IdVec<PlaneId, Option<Job>>,
    /// For each plane, true if it is starved: it needs erased blocks, but no block is worth its
    /// moves.
    starved: IdVec<PlaneId, bool>,
    /// For each die, true if it has work for idle time.
    wanting: IdVec<DieId, bool>,
    /// For each die, the time of its next check; `NEVER` if none is scheduled.
    timed: IdVec<DieId, Nanos>,
    /// Maximum number of valid pages in a block collected in idle time: that of the average block.
    /// With more valid pages, waiting pays off, because the gain of a block grows by itself.
    worth_moving: u32,
    /// Refresh of blocks before their data becomes too old; `None` if off.
    pub refresh: Option<Box<Refresher>>,
    /// Measurement of block strengths; `None` if off.
    pub strengths: Option<StrengthMeasurement>,
    /// Scrubbing of the drive's data; `None` if off.
    pub scrub: Option<Box<Scrubber>>,
    /// Results and settings of GC work in no simulated time.
    pub untimed: Untimed,
}

/// Returns the number of valid pages in the average block of a full drive, rounded down.
fn average_valid(layout: &Layout) -> u32 {
    let pages = u64::from(layout.mapped_pages);
    (pages / u64::from(layout.geometry.blocks())) as u32
}

impl Gc {
    /// Creates the state of GC without any job.
    pub fn new(config: &Config, layout: &Layout) -> Self {
        let (planes, dies) = (layout.geometry.planes() as usize, layout.geometry.dies() as usize);
        Self {
            rules: config.gc,
            victim: AnyVictim::bounded_or_new(
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

    /// Returns the memory that jobs, ages and measurements take on the simulating machine.
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

    /// Returns the GC job of a plane; `None` if it has none.
    #[inline]
    pub fn job(&self, plane: PlaneId) -> Option<&Job> {
        self.jobs[plane].as_ref()
    }

    /// Counts a page that the host has written to a plane, for the pace of the plane's job.
    #[inline]
    pub fn host_wrote(&mut self, plane: PlaneId) {
        if let Some(job) = &mut self.jobs[plane] {
            job.written += 1;
        }
    }

    /// Returns true if a plane is starved: it waits for a page to become invalid.
    #[inline]
    pub fn is_starved(&self, plane: PlaneId) -> bool {
        self.starved[plane]
    }

    /// Records that a die has work for idle time.
    pub fn want(&mut self, die: DieId) {
        self.wanting[die] = true;
    }

    /// Returns the number of erased blocks, besides the last one, that a busy host leaves to GC: if
    /// the watermark allows, one for the moves, and one for the host meanwhile.
    pub fn reserve(&self) -> u32 {
        (self.rules.foreground_below - 2).min(2)
    }

    /// Returns the victim and wear policies, whose state is the only state of GC while no job runs.
    pub fn policies(&self) -> (&AnyVictim, &AnyWear) {
        (&self.victim, &self.wear)
    }

    /// Restores the victim and wear leveling policies from a checkpoint.
    pub fn resume(&mut self, victim: AnyVictim, wear: AnyWear) {
        (self.victim, self.wear) = (victim, wear);
    }

    /// Returns the configuration of garbage collection that is in force.
    pub fn rules(&self) -> &GcConfig {
        &self.rules
    }

    /// Marks a physical page as invalid, if `old` is one, and starts GC that was waiting for an
    /// invalid page.
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
