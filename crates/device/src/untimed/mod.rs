//! Simulation of a drive's whole life in minutes: mapping, blocks, garbage collection, wear
//! leveling and throttle, without dies.
//!
//! 1. A request is drawn from the workload some requests ahead, and the table entries that it needs
//!    are prefetched.
//! 2. The host sends it when the drive has admitted the one before, so it lags behind its arrival
//!    times by the total delay of its writes (`waiting_host.rs`).
//! 3. The throttle delays a write. If the life ends meanwhile, the write never enters.
//! 4. Pages are written and moved in no simulated time, as in preconditioning
//!    ([`crate::precondition`]; `translation.rs`); a page write takes the throttle's delay and its
//!    own program time.
//! 5. The wear of the programs counts towards the life ([`crate::host::endurance`]).
//!
//! This ignores contention for dies: a write that queues behind others takes longer than here, but
//! delays no other write. At the loads of lifetime studies, some hundred pages per second over
//! dozens of dies, hardly any write queues.
//!
//! Exceptions: reads are served only if they have an effect ([`LifetimeDrive::hears_reads`]). On a
//! drive with superblocks a *page* is a mapping unit and a *block* is a superblock
//! ([`crate::superblocks`]); a write is acknowledged from the buffer. Before a life begins, a
//! workload may be written in no time until data is placed as after long use
//! ([`LifetimeDrive::season`]).
//!
//! **Owns** the throttle and the clock of its drive. **May touch** core and garbage collection, or
//! the superblocks, which it holds (`translation.rs`). **Called by** lifetime experiments; its
//! state can be saved (`checkpoint.rs`).

pub mod checkpoint;
pub mod page_uses;
pub mod steady_life;
mod translation;
mod waiting_host;
mod whole_drive;

use crate::blocks::bad_blocks::BadBlockCounts;
use crate::config::Config;
use crate::config::layout::{Layout, Refusal};
use crate::core::Core;
use crate::gc::Gc;
use crate::gc::untimed_gc::Moves;
use crate::host::endurance::{Life, Totals};
use crate::host::request::Request;
use crate::host::write_throttle::throttle_of;
use crate::observe::counters::Counters;
use crate::policy::throttle::{AnyThrottle, State, Throttle, Throttled};
use crate::precondition::image::PreconditionedImage;
use crate::precondition::{Preconditioned, Watch};
use fowler_physics::voltage::ByVoltage;
use fowler_units::{HostIo, HostOp, Lpn, Nanos, Span};
use serde::{Deserialize, Serialize};
use translation::{PageMapped, Prefetch, UntimedLayer};
use waiting_host::WaitingHost;

/// A drive simulated over its whole life.
/// See docs/decisions/lifetime.md, "Which host model does a lifetime run use?".
#[derive(Clone, Debug)]
pub struct LifetimeDrive {
    translation: UntimedLayer,
    throttle: AnyThrottle,
    life: Life,
    counters: Counters,
    program: Span,
    host: WaitingHost,
    /// Erase count of each block before the simulated life.
    erased: Box<[u32]>,
    /// Record of how the drive was preconditioned.
    pub(crate) preconditioned: Preconditioned,
}

/// The position of a drive in its life, as saved in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    now: Nanos,
    behind: Span,
}

/// Numbers of pages that a page-mapped drive has moved and programmed, as saved in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Moved {
    pages: Moves,
    programs_at: Option<ByVoltage<u64>>,
}

/// Times and pages of a request that has entered the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// Time at which the request entered the drive.
    pub at: Nanos,
    /// Number of pages that the request writes; zero for a trim or a read.
    pub pages: u32,
    /// Delay of this request by the write throttle, in simulated time; zero for requests other than
    /// writes.
    pub throttled: Throttled,
}

/// Number of requests taken from the workload ahead of the one being served, so that the entries of
/// the mapping table that they need can be prefetched into the processor's cache.
const AHEAD: usize = 16;
/// Number of requests before it is served at which a request's second prefetch takes place: that of
/// the simulator's record of the block that holds the old copy of the request's page. The first is
/// that of the mapping entry.
const SECOND: usize = 10;
/// Number of requests, before a request is served, at which block records are prefetched for it
/// the second time. GC lists blocks by number of valid pages; this prefetch loads the records of
/// the two neighbours, in such a list, of the block with the old copy of the request's page.
const THIRD: usize = 5;
/// Number of requests, while a drive is written before its life begins, between two checks of how
/// many pages have been programmed; a check visits every block.
const SEASON_STRIDE: usize = 4096;
/// Number of requests in a row without a program after which the workload is taken to program
/// nothing however often it is repeated: the write buffer absorbs all of its writes.
pub const ABSORBED_AFTER: usize = 1 << 22;
/// Maximum number of pages of a request whose entries in the tables of the simulator are
/// prefetched.
const PAGES_AHEAD: u64 = 8;

impl LifetimeDrive {
    /// Creates the drive of `config` with the data of `image`, at the beginning of its life.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    ///
    /// # Panics
    /// If `config` differs from the image's configuration in an option that affects
    /// preconditioning.
    pub fn new(image: &PreconditionedImage, config: &Config) -> Result<Self, Vec<Refusal>> {
        let pages = Box::new(PageMapped::new(image, config)?);
        let translation = UntimedLayer::Pages(pages);
        Ok(Self::born(translation, config, *image.preconditioned()))
    }

    /// Creates the drive of `config`, of any kind, preconditioned and at the beginning of its life;
    /// `None` if `watch` stopped it.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    pub fn watched(config: &Config, watch: Watch<'_>) -> Result<Option<Self>, Vec<Refusal>> {
        let made = UntimedLayer::watched(config, watch)?;
        Ok(made.map(|(translation, history)| Self::born(translation, config, history)))
    }

    fn born(
        mut translation: UntimedLayer,
        config: &Config,
        preconditioned: Preconditioned,
    ) -> Self {
        translation.begin(config);
        Self {
            throttle: throttle_of(config),
            life: Life::new(config, translation.blocks()),
            counters: Counters::default(),
            program: config.untimed_write(),
            host: WaitingHost::new(),
            erased: translation.blocks().erase_counts().into(),
            preconditioned,
            translation,
        }
    }

    /// Writes `source` in no time until `pages` pages have been programmed, for any source, the
    /// source ends, or [`ABSORBED_AFTER`] requests in a row have programmed nothing, so that the
    /// data is placed as after long use. Returns the pages programmed.
    /// Call [`LifetimeDrive::again`] afterwards to begin its life. See docs/decisions/lifetime.md,
    /// "In what state does a life begin?".
    pub fn season(&mut self, source: impl Iterator<Item = HostIo>, pages: u64) -> u64 {
        self.translation.let_no_block_fail();
        let before = self.life.pages_programmed(self.translation.blocks());
        let so_far =
            |drive: &Self| drive.life.pages_programmed(drive.translation.blocks()) - before;
        let (mut number, mut last, mut absorbed) = (0usize, 0, 0);
        self.draw(source, |drive, io| {
            // Counting the pages visits every block.
            number += 1;
            if number.is_multiple_of(SEASON_STRIDE) {
                let now = so_far(drive);
                absorbed = if now == last { absorbed + SEASON_STRIDE } else { 0 };
                last = now;
                if now >= pages || absorbed >= ABSORBED_AFTER {
                    return false;
                }
            }
            let Self { translation, counters, .. } = drive;
            translation.serve(io, (Nanos::ZERO, Span::ZERO), counters);
            true
        });
        so_far(self)
    }

    /// Returns this drive at the beginning of a life under `config`, which may differ only in the
    /// parameters of life and throttle.
    ///
    /// # Panics
    /// If `config` differs in a parameter that affects the placement of data or the sizes of the
    /// drive.
    #[must_use]
    pub fn again(&self, config: &Config) -> Self {
        let layout = config.layout().expect("the layout was checked before");
        assert_eq!(&layout, self.layout(), "another drive");
        Self::born(self.translation.clone(), config, self.preconditioned)
    }

    /// Returns the sizes of the drive that follow from its configuration.
    pub fn layout(&self) -> &Layout {
        self.translation.layout()
    }

    /// Returns the record of preconditioning: pages filled and overwritten, and the write
    /// amplification reached.
    pub fn preconditioned(&self) -> &Preconditioned {
        &self.preconditioned
    }

    /// Returns the duration of a page write without delay: its program, or on a drive with
    /// superblocks its transfer into the buffer.
    pub fn program(&self) -> Span {
        self.program
    }

    /// Returns the simulated time at which the life of the drive ends.
    pub fn ends(&self) -> Nanos {
        self.life.ends()
    }

    /// Returns the simulated time at which the drive admitted the last request.
    pub fn now(&self) -> Nanos {
        self.host.now
    }

    /// Returns the time by which the host lags behind its own arrival times, because it waits for
    /// delayed writes.
    pub fn behind(&self) -> Span {
        self.host.behind
    }

    /// Returns the delay of the write that the drive had not admitted when its life ended; the
    /// counters include that delay.
    pub fn blocked_at_end(&self) -> Throttled {
        self.host.blocked_at_end
    }

    /// Returns the counters of the drive's operations (programs, reads, erases, delays) since the
    /// simulated life began.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the erase count of each block, preconditioning included.
    pub fn erase_counts(&self) -> &[u32] {
        self.translation.blocks().erase_counts()
    }

    /// Returns the write capacities of the drive at a moment of its life, in pages: the pages
    /// programmed so far, the rated endurance, and the endurance achievable because idle cells
    /// recover (READY, a lifetime throttle).
    pub fn totals(&self, at: Nanos) -> Totals {
        self.life.stand(self.translation.blocks(), at)
    }

    /// Returns the number of pages programmed in this life by voltage; `None` if all voltages are
    /// nominal.
    pub fn programs_at(&self) -> Option<ByVoltage<u64>> {
        self.translation.programs_at().copied()
    }

    /// Returns true if reads matter: they determine the access classes of pages, show how far data
    /// has aged, or end the pauses in which an SLC cache is emptied.
    pub fn hears_reads(&self) -> bool {
        self.translation.hears_reads()
    }

    /// Returns the counts of blocks that failed; `None` if blocks cannot fail.
    pub fn bad_blocks(&self) -> Option<BadBlockCounts> {
        self.translation.bad_blocks()
    }

    /// Returns the state of the write throttle, for reports.
    pub fn throttle(&self) -> State {
        self.throttle.state()
    }

    /// Returns the mean erase count of the blocks when this life began.
    pub fn erases_before(&self) -> f64 {
        let all: u64 = self.erased.iter().map(|&count| u64::from(count)).sum();
        all as f64 / self.erased.len().max(1) as f64
    }

    /// Returns the erase count of each block in this life, retired blocks left out.
    pub fn cycles(&self) -> Vec<u32> {
        let counts = self.erase_counts().iter().zip(&*self.erased).enumerate();
        let in_use = |&(at, _): &(usize, _)| self.translation.in_use(at);
        counts.filter(in_use).map(|(_, (&all, &before))| all - before).collect()
    }

    fn position(&self) -> Position {
        Position { now: self.host.now, behind: self.host.behind }
    }

    fn go_on_from(&mut self, position: Position) {
        self.wear_by_voltage();
        (self.host.now, self.host.behind) = (position.now, position.behind);
    }

    /// Returns the state of a page-mapped drive that its components share (mapping, blocks,
    /// buffer), and its garbage collection.
    ///
    /// # Panics
    /// If the drive has superblocks.
    pub(crate) fn page_mapped(&self) -> (&Core, &Gc) {
        match &self.translation {
            UntimedLayer::Pages(pages) => (&pages.core, &pages.gc),
            UntimedLayer::Superblocks(_) => unreachable!("a drive with superblocks"),
        }
    }

    /// Serves the writes and trims of `source` (and its reads, if the drive
    /// [hears them](LifetimeDrive::hears_reads)), whose arrival times are those of an unthrottled
    /// host, until `heard` returns `false`, the source ends, or the life ends. Returns true if life
    /// continues. Some requests are drawn before their turn: a source must not depend on the drive.
    pub fn serve(
        &mut self,
        source: impl Iterator<Item = HostIo>,
        mut heard: impl FnMut(&Self, Entered) -> bool,
    ) -> bool {
        let mut alive = true;
        self.draw(source, |drive, io| match drive.enter(io) {
            Some(entered) => heard(drive, entered),
            None => {
                alive = false;
                false
            }
        });
        alive
    }

    /// Calls `each` for every write and trim of `source`, and for every read if reads have an
    /// effect, until `each` returns `false`. Prefetches the table entries that each request will
    /// look up.
    fn draw(
        &mut self,
        source: impl Iterator<Item = HostIo>,
        mut each: impl FnMut(&mut Self, &HostIo) -> bool,
    ) {
        let reads = self.hears_reads();
        let matters = |io: &HostIo| {
            let changes = matches!(io.op, HostOp::Write | HostOp::Trim);
            (changes || (reads && io.op == HostOp::Read)) && io.size > 0
        };
        let mut requests = source.filter(matters);
        let blank = HostIo::flush(Nanos::ZERO);
        let (mut drawn, mut last, mut next, mut ended) = ([blank; AHEAD], 0, 0, false);
        loop {
            while !ended && last - next < AHEAD {
                match requests.next() {
                    Some(io) => {
                        self.prefetch(&io, Prefetch::Place);
                        drawn[last % AHEAD] = io;
                        last += 1;
                    }
                    None => ended = true,
                }
            }
            if next == last {
                return;
            }
            let soon = |by: usize| drawn[(next + by) % AHEAD];
            self.prefetch(&soon(SECOND), Prefetch::Block);
            self.prefetch(&soon(THIRD), Prefetch::Neighbours);
            let io = drawn[next % AHEAD];
            next += 1;
            if !each(self, &io) {
                return;
            }
        }
    }

    /// Prefetches the simulator's mapping entries or block records, as `what` says, for the pages
    /// of a request into the processor's cache.
    #[inline]
    fn prefetch(&self, io: &HostIo, what: Prefetch) {
        let locator = self.translation.locator();
        let first = u64::from(locator.page_at(io.offset).0);
        let pages = u64::from(io.size) / locator.page_size() + 1;
        let most = u64::from(self.layout().logical_pages);
        for page in (first..first + pages.min(PAGES_AHEAD)).take_while(|&page| page < most) {
            self.translation.prefetch(Lpn(page as u32), what);
        }
    }

    /// Updates the wear of the drive in this life, if programs use several voltages: a program at
    /// lower voltages wears the cells less than a nominal one.
    #[inline]
    fn wear_by_voltage(&mut self) {
        if let Some(programs_at) = self.translation.programs_at() {
            self.life.programs_at(programs_at);
        }
    }

    /// Admits a request after any delay by the throttle; `None` if the life ends before it enters.
    /// Only writes are delayed.
    fn enter(&mut self, io: &HostIo) -> Option<Entered> {
        let pages = match io.op {
            HostOp::Write => Request::new(*io, io.at, self.translation.locator()).pages,
            _ => 0,
        };
        let before = self.host.now;
        let Self { translation, throttle, life, counters, host, .. } = self;
        let (at, throttled) = host.enter(io.at, life.ends(), counters, |at, counters| {
            if pages == 0 || !throttle.is_on() {
                return Throttled::default();
            }
            life.ask(throttle, at, pages, (translation.blocks(), counters), translation.frames())
        })?;
        translation.serve(io, (at, Span(at.0.saturating_sub(before.0))), counters);
        self.wear_by_voltage();
        self.counters.pages_written += u64::from(pages);
        Some(Entered { at, pages, throttled })
    }
}

impl Config {
    /// Returns the duration of a page write that is not delayed and waits for no die: transfer and
    /// mean program time or, on a drive with superblocks, which acknowledges writes in the buffer,
    /// the time of one unit in the host interface.
    fn untimed_write(&self) -> Span {
        let timing = self.effective_timing();
        if !self.ftl.has_superblocks() {
            return timing.bus_transfer + timing.mean_program();
        }
        let (host, unit) = (&self.host, self.unit().0);
        let core = if host.cores > 0 { host.core_time } else { Span::ZERO };
        host.command_of(unit) + host.bandwidth.time(unit) + core + host.latency
    }
}
