//! Simulation of a drive's whole life in minutes: mapping, blocks, garbage collection, wear
//! leveling and throttle, without dies. Pages are written and moved in no time, as in
//! preconditioning ([`crate::precondition`]); a page write takes the throttle's delay and its own
//! program time. The host is closed: it lags behind its arrival times by the total delay of its
//! writes.
//!
//! This ignores contention for dies: a write that queues behind others takes longer than here, but
//! delays no other write. At the loads of lifetime studies, some hundred pages per second over
//! dozens of dies, hardly any write queues.
//!
//! **Owns** the throttle and the clock of its drive. **May touch** core and garbage collection,
//! which it holds. **Called by** lifetime experiments; its state can be saved (`checkpoint.rs`).

pub mod checkpoint;
pub mod page_uses;
pub mod steady_life;
mod waiting_host;

use crate::blocks::bad_blocks::BadBlockCounts;
use crate::blocks::block_table::BlockState;
use crate::config::Config;
use crate::config::layout::{Layout, Refusal};
use crate::core::Core;
use crate::gc::Gc;
use crate::gc::untimed_gc::{Moves, Untimed};
use crate::host::endurance::{Life, Totals};
use crate::host::request::Request;
use crate::host::write_throttle::throttle_of;
use crate::observe::counters::Counters;
use crate::observe::operation::Source;
use crate::policy::stream_tag::StreamTag;
use crate::policy::throttle::{AnyThrottle, State, Throttle, Throttled};
use crate::policy::voltage::VoltageKind;
use crate::precondition::Preconditioned;
use crate::precondition::image::PreconditionedImage;
use fowler_physics::voltage::ByVoltage;
use fowler_units::{BlockId, HostIo, HostOp, Id, Lpn, Nanos, Span};
use page_uses::PageUses;
use serde::{Deserialize, Serialize};
use waiting_host::WaitingHost;

/// A drive simulated over its whole life.
/// See docs/decisions/lifetime.md, "Which host model does a lifetime run use?".
#[derive(Clone, Debug)]
pub struct LifetimeDrive {
    pub(crate) core: Core,
    pub(crate) gc: Gc,
    pub(crate) throttle: AnyThrottle,
    life: Life,
    pub(crate) counters: Counters,
    /// Erased blocks that GC keeps in each plane.
    kept: u32,
    /// The use of pages, if access classes are distinguished.
    pub(crate) uses: Option<PageUses>,
    program: Span,
    host: WaitingHost,
    /// Pages moved before the life, and the earlier erase count of each block.
    moved: Moves,
    erased: Box<[u32]>,
    /// The history of the drive before the workload wrote to it.
    pub(crate) preconditioned: Preconditioned,
}

/// The pages that a drive has moved, and its position in time, as saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    pages: Moves,
    programs_at: Option<ByVoltage<u64>>,
    now: Nanos,
    behind: Span,
}

/// A request that has entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// When the request entered.
    pub at: Nanos,
    /// Pages written; zero for a trim or a read.
    pub pages: u32,
    /// The delay of the request.
    pub throttled: Throttled,
}

/// The number of requests drawn early, and the turns before a request at which its second and its
/// third prefetch begin.
const AHEAD: usize = 16;
const SECOND: usize = 10;
const THIRD: usize = 5;
/// The number of writes between two checks of the pages programmed.
const SEASON_STRIDE: usize = 4096;
/// The maximum number of pages prefetched per request.
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
        let (core, mut gc) = image.data_for(config)?;
        gc.untimed.levels_wear = true;
        let uses = PageUses::of(config, core.layout.mapped_pages, core.layout.frames);
        Ok(Self::born((core, gc, uses), config, *image.preconditioned()))
    }

    fn born(
        (mut core, mut gc, uses): (Core, Gc, Option<PageUses>),
        config: &Config,
        preconditioned: Preconditioned,
    ) -> Self {
        let layout = core.layout;
        core.allocator.let_blocks_fail(config, &layout);
        let voltages = config.voltage.name != VoltageKind::Nominal;
        gc.untimed.programs_at = voltages.then(ByVoltage::default);
        let rules = gc.rules();
        let timing = config.effective_timing();
        Self {
            throttle: throttle_of(config),
            life: Life::new(config, &core.allocator.blocks),
            counters: Counters::default(),
            kept: rules.foreground_below.max(rules.background_below),
            uses,
            program: timing.bus_transfer + timing.mean_program(),
            host: WaitingHost::new(),
            moved: gc.untimed.moves,
            erased: core.allocator.blocks.erase_counts().into(),
            preconditioned,
            core,
            gc,
        }
    }

    /// Writes `source` in no time until `pages` pages have been programmed, for any source, or the
    /// source ends, so that the data is placed as after long use. Returns the pages programmed.
    /// Call [`LifetimeDrive::again`] afterwards to begin its life. See docs/decisions/lifetime.md,
    /// "In what state does a life begin?".
    pub fn season(&mut self, source: impl Iterator<Item = HostIo>, pages: u64) -> u64 {
        self.core.allocator.let_no_block_fail();
        let before = self.core.allocator.blocks.programmed();
        let so_far = |drive: &Self| drive.core.allocator.blocks.programmed() - before;
        let mut number = 0usize;
        self.draw(source, |drive, io| {
            // Counting the pages visits every block.
            number += 1;
            if number.is_multiple_of(SEASON_STRIDE) && so_far(drive) >= pages {
                return false;
            }
            drive.change(io);
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
        assert_eq!(layout, self.core.layout, "another drive");
        let parts = (self.core.clone(), self.gc.clone(), self.uses.clone());
        Self::born(parts, config, self.preconditioned)
    }

    /// Returns the sizes of the drive.
    pub fn layout(&self) -> &Layout {
        &self.core.layout
    }

    /// Returns the duration of a page write without delay.
    pub fn program(&self) -> Span {
        self.program
    }

    /// Returns when the life of the drive ends, in simulated time.
    pub fn ends(&self) -> Nanos {
        self.life.ends()
    }

    /// Returns when the last write entered.
    pub fn now(&self) -> Nanos {
        self.host.now
    }

    /// Returns the time by which the host lags behind its arrival times.
    pub fn behind(&self) -> Span {
        self.host.behind
    }

    /// Returns the delay of the write that had not entered when the life ended; included in the
    /// counters.
    pub fn blocked_at_end(&self) -> Throttled {
        self.host.blocked_at_end
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the erase count of each block, preconditioning included.
    pub fn erase_counts(&self) -> &[u32] {
        self.core.allocator.blocks.erase_counts()
    }

    /// Returns the capacities of the drive at a moment of its life.
    pub fn totals(&self, at: Nanos) -> Totals {
        self.life.stand(&self.core.allocator.blocks, at)
    }

    /// Returns the pages programmed in this life by voltage; `None` if all voltages are nominal.
    pub fn programs_at(&self) -> Option<ByVoltage<u64>> {
        self.gc.untimed.programs_at
    }

    /// Returns true if reads matter: they determine the access classes of pages.
    pub fn hears_reads(&self) -> bool {
        self.uses.is_some()
    }

    /// Returns the counts of failing blocks; `None` if blocks cannot fail.
    pub fn bad_blocks(&self) -> Option<BadBlockCounts> {
        self.core.allocator.bad_blocks()
    }

    /// Returns the state of the throttle.
    pub fn throttle(&self) -> State {
        self.throttle.state()
    }

    /// Returns the erase count of each block in this life, retired blocks left out.
    pub fn cycles(&self) -> Vec<u32> {
        let blocks = &self.core.allocator.blocks;
        let counts = self.erase_counts().iter().zip(&*self.erased).enumerate();
        let in_use = |at: usize| blocks.state(BlockId::new(at)) != BlockState::Retired;
        counts.filter(|&(at, _)| in_use(at)).map(|(_, (&all, &before))| all - before).collect()
    }

    pub(crate) fn moved(&self) -> Moved {
        let Untimed { moves: pages, programs_at, .. } = self.gc.untimed;
        Moved { pages, programs_at, now: self.host.now, behind: self.host.behind }
    }

    pub(crate) fn go_on_from(&mut self, moved: Moved) {
        (self.gc.untimed.moves, self.gc.untimed.clock) = (moved.pages, moved.now);
        self.gc.untimed.programs_at = moved.programs_at;
        self.wear_by_voltage();
        (self.host.now, self.host.behind) = (moved.now, moved.behind);
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

    /// Calls `each` for every request of `source` that matters until `each` returns `false`,
    /// prefetching the entries that each request will look up.
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
                        self.prefetch(&io, |core, page| core.map.prefetch(page));
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
            self.prefetch(&soon(SECOND), |core, page| {
                if let Some(old) = core.in_flash(page) {
                    core.allocator.blocks.prefetch(old);
                }
            });
            self.prefetch(&soon(THIRD), |core, page| {
                if let Some(old) = core.in_flash(page) {
                    core.allocator.blocks.prefetch_neighbours(old);
                }
            });
            let io = drawn[next % AHEAD];
            next += 1;
            if !each(self, &io) {
                return;
            }
        }
    }

    /// Writes or trims the pages of a request in no time, or notes that they are read.
    #[inline]
    fn change(&mut self, io: &HostIo) {
        let Request { next, end, .. } = Request::new(*io, io.at, &self.core.locator);
        for page in (next..end).map(Lpn) {
            let wrote = io.op == HostOp::Write;
            let tag = match &mut self.uses {
                Some(uses) if io.op != HostOp::Trim => uses.used(page, wrote),
                _ => StreamTag::PLAIN,
            };
            if wrote {
                let tag = self.core.classes.placed(tag, io.placement);
                self.gc.store_as(&mut self.core, page, tag, self.kept);
            } else if io.op == HostOp::Trim && self.gc.forget_now(&mut self.core, page) {
                self.counters.pages_trimmed += 1;
            }
        }
    }

    /// Calls `look` for the pages of a request, to prefetch their entries.
    #[inline]
    fn prefetch(&self, io: &HostIo, look: impl Fn(&Core, Lpn)) {
        let first = u64::from(self.core.locator.page_at(io.offset).0);
        let pages = u64::from(io.size) / self.core.locator.page_size() + 1;
        let most = u64::from(self.core.layout.logical_pages);
        for page in (first..first + pages.min(PAGES_AHEAD)).take_while(|&page| page < most) {
            look(&self.core, Lpn(page as u32));
        }
    }

    /// Updates the wear, which follows the voltages of the programs.
    #[inline]
    fn wear_by_voltage(&mut self) {
        if let Some(programs_at) = &self.gc.untimed.programs_at {
            self.life.programs_at(programs_at);
        }
    }

    /// Admits a request after any delay; `None` if the life ends before it enters. Only writes are
    /// delayed.
    fn enter(&mut self, io: &HostIo) -> Option<Entered> {
        let pages = match io.op {
            HostOp::Write => Request::new(*io, io.at, &self.core.locator).pages,
            _ => 0,
        };
        let Self { core, throttle, life, counters, host, .. } = self;
        let (at, throttled) = host.enter(io.at, life.ends(), counters, |at, counters| {
            if pages == 0 || !throttle.is_on() {
                return Throttled::default();
            }
            life.ask(throttle, at, pages, (&core.allocator.blocks, counters), 0)
        })?;
        self.gc.untimed.clock = at;
        self.change(io);
        self.wear_by_voltage();
        self.counters.pages_written += u64::from(pages);
        let (moves, before) = (self.gc.untimed.moves, self.moved);
        self.counters.programs[Source::Host] += u64::from(pages);
        self.counters.programs[Source::Gc] = moves.collected - before.collected;
        self.counters.programs[Source::Wear] = moves.leveled - before.leveled;
        Some(Entered { at, pages, throttled })
    }
}
