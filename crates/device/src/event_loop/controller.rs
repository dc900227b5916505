//! Event dispatch of a page-mapped drive. Holds the translation and its redundancy; each call
//! checks once if the drive has redundancy.
//!
//! 1. A die asks for the page of a program ([`Translation::bind`]); the owner of the transaction
//!    gives it.
//! 2. At the end of a transaction ([`Translation::done`], [`Translation::read_done`]) the
//!    redundancy is asked first: it may keep the transaction. Otherwise the end goes to the owner:
//!    a request, a frame, a GC job, a mapping entry, a measurement or a scrub.
//! 3. A die without work, and timers, start background work: GC, rewrites of buffered pages, scrub,
//!    refresh and measurements.
//! 4. Faults and losses of power are passed on (`faults.rs`, `power_loss.rs`).

use super::Layer;
use super::fault_schedule::FaultSchedule;
use super::faulty::Faulty;
use super::power_offs::PowerOffs;
use crate::config::Config;
use crate::config::layout::Layout;
use crate::core::Core;
use crate::flash::txn::Owner;
use crate::flash::{Bind, Flash, Translation};
use crate::gc::Gc;
use crate::host::redundancy_hooks::RedundancyHooks;
use crate::host::write_throttle::{Throttleable, WriteThrottle};
use crate::host::{FrontEnd, Ftl};
use crate::observe::operation::Op;
use crate::policy::throttle::Throttled;
use crate::precondition::{Preconditioned, Watch, initial_cell_state};
use crate::raid::Raid;
use crate::raid::lost_pages::LostPages;
use fowler_units::{BlockId, DieId, HostIo, Nanos, Span, TxnId};

/// The controller of a page-mapped drive.
#[derive(Clone, Debug)]
pub struct Controller {
    /// The flash translation layer: mapping, blocks, buffer, garbage collection and requests.
    pub(crate) ftl: Ftl,
    /// Redundancy of the drive's data; `Nothing` on a drive without it.
    pub(crate) hooks: Hooks,
    /// The write throttle; `None` on a drive without one.
    pub(crate) throttle: Option<Box<WriteThrottle>>,
    /// Number of pages that the controller has saved in memory that survives power loss.
    pub(crate) saved: usize,
    /// Record of how the drive was preconditioned, and of the state that this left.
    pub(crate) preconditioned: Preconditioned,
    /// Totals over all losses of power: number, time, and lost writes.
    pub(crate) power_offs: PowerOffs,
    /// Faults that strike at times known in advance; `None` without any.
    pub(crate) faults: Option<Box<FaultSchedule>>,
}

/// The redundancy of a drive, which is called when pages are read, written, moved or lost.
#[derive(Clone, Debug)]
pub(crate) enum Hooks {
    /// No redundancy, and losses are not noticed: a page that cannot be read has no effect.
    Nothing,
    /// No redundancy, but pages lost to faults are recorded.
    LostPages(Box<LostPages>),
    /// The drive protects its data by stripes with parity.
    Raid(Box<Raid>),
}

impl Controller {
    /// Returns the stripes with parity (RAID) of the drive; `None` on a drive without stripes.
    pub(crate) fn raid(&self) -> Option<&Raid> {
        match &self.hooks {
            Hooks::Raid(raid) => Some(raid),
            Hooks::Nothing | Hooks::LostPages(_) => None,
        }
    }
}

/// Evaluates the expression `call` with the translation layer of a drive, and with the handler of
/// its redundancy: stripes with parity, the list of lost pages, or nothing. The code for the first
/// two is kept out of line, so that a drive without redundancy runs as fast as if there were none.
macro_rules! with_redundancy {
    ($controller:expr, |$ftl:ident, $raid:ident| $call:expr) => {{
        use $crate::event_loop::controller::{Controller, Hooks, out_of_line};
        let Controller { ftl: $ftl, hooks, .. } = $controller;
        match hooks {
            Hooks::Nothing => {
                let $raid = &mut $crate::host::redundancy_hooks::NoRedundancy;
                $call
            }
            Hooks::Raid(raid) => out_of_line(move || {
                let $raid = &mut **raid;
                $call
            }),
            Hooks::LostPages(lost) => out_of_line(move || {
                let $raid = &mut **lost;
                $call
            }),
        }
    }};
}
pub(crate) use with_redundancy;

/// Makes a call that the compiler does not inline.
#[inline(never)]
pub(crate) fn out_of_line<T>(call: impl FnOnce() -> T) -> T {
    call()
}

impl Controller {
    /// Creates the controller of a drive at time zero. Mapping, blocks and write buffer are in the
    /// state of `core`.
    pub(crate) fn begin(
        config: &Config,
        core: Core,
        gc: Gc,
        preconditioned: Preconditioned,
        flash: &mut Flash,
        watch: Watch<'_>,
    ) -> Controller {
        let layout = core.layout;
        let mut ftl = Ftl::new(config, core, gc);
        let lost_pages = || LostPages::new(config, &layout);
        let mut hooks = match Raid::new(config, &layout) {
            Some(raid) => Hooks::Raid(raid),
            None => lost_pages().map_or(Hooks::Nothing, Hooks::LostPages),
        };
        if let Hooks::Raid(raid) = &mut hooks {
            raid.begin(&mut ftl);
        }
        let throttle = WriteThrottle::of(config, &ftl.core.allocator.blocks);
        initial_cell_state::wear(&mut ftl.core, &mut ftl.gc, flash, config, watch);
        if let Hooks::Raid(raid) = &hooks {
            raid.begin_refresh(&mut ftl, flash, config);
        }
        ftl.gc.begin_scrub(&ftl.core, flash, config);
        ftl.core.allocator.let_blocks_fail(config, &layout);
        ftl.core.allocator.let_dies_fail(config, &layout);
        ftl.gc.maybe_start_all(&mut ftl.core, flash);
        Controller {
            ftl,
            hooks,
            throttle,
            saved: config.redundancy.pages_saved(),
            preconditioned,
            power_offs: PowerOffs::default(),
            faults: None,
        }
    }
}

/// Handles the end of a program or an erase on a die.
#[inline(always)]
fn done<R: RedundancyHooks>(
    ftl: &mut Ftl,
    flash: &mut Flash,
    id: TxnId,
    dropped: bool,
    raid: &mut R,
) {
    if raid.done(ftl, flash, id, dropped) {
        return;
    }
    let txn = flash.txns.get(id);
    match (txn.owner, txn.op) {
        (Owner::Frame(frame_id), _) => ftl.stored(flash, id, frame_id, dropped, raid),
        (Owner::Job, Op::Program) => ftl.moved(flash, id, dropped, raid),
        (Owner::Displaced(frame_id), _) => ftl.displaced(flash, id, frame_id, dropped, raid),
        (Owner::Job, Op::Erase) => {
            let job = ftl.gc.erased(&mut ftl.core, flash, id);
            raid.erased(ftl, flash, job.victim);
            ftl.gc.after_erase(&mut ftl.core, flash, job);
        }
        (Owner::Measure, _) => ftl.gc.measured(&mut ftl.core, flash, id),
        (owner, op) => unreachable!("{op:?} of {owner:?} is not handled here"),
    }
}

/// Handles the end of a read on a die.
#[inline(always)]
fn read_done<R: RedundancyHooks>(ftl: &mut Ftl, flash: &mut Flash, id: TxnId, raid: &mut R) {
    if raid.done(ftl, flash, id, false) {
        return;
    }
    match flash.txns.get(id).owner {
        Owner::Request => ftl.page_read(flash, id, raid),
        Owner::Job => ftl.gc.copied_out(&mut ftl.core, flash, id),
        Owner::Merge(frame_id) => ftl.merged(flash, id, frame_id, raid),
        Owner::Mapping => ftl.mapping_loaded(flash, id, raid),
        Owner::Measure => ftl.gc.measured(&mut ftl.core, flash, id),
        Owner::Scrub => ftl.gc.scrubbed(&mut ftl.core, flash, id, false),
        owner => unreachable!("a read of {owner:?} is not handled here"),
    }
}

/// Handles the idle timer of a die. The die may have been idle for long enough to start background
/// work. If it stays idle, it may scrub.
fn idle_event<R: RedundancyHooks>(ftl: &mut Ftl, flash: &mut Flash, die: DieId, raid: &mut R) {
    work_in_idle_time(ftl, flash, die, raid);
    ftl.gc.patrol_event(&mut ftl.core, flash, die);
}

fn work_in_idle_time<R: RedundancyHooks>(
    ftl: &mut Ftl,
    flash: &mut Flash,
    die: DieId,
    raid: &mut R,
) {
    if !ftl.gc.idle_event(&mut ftl.core, flash, die) {
        return;
    }
    if ftl.core.buffer.rewrites() > 0 && ftl.rewrite(flash, die, raid) {
        return;
    }
    ftl.gc.use_idle_die(&mut ftl.core, flash, die);
}

impl Translation for Controller {
    #[inline]
    fn bind(&mut self, flash: &mut Flash, id: TxnId) -> Bind {
        match flash.txns.get(id).owner {
            Owner::Frame(frame_id) => {
                with_redundancy!(self, |ftl, raid| ftl.bind_frame(flash, id, frame_id, raid))
            }
            Owner::Job => self.ftl.gc.bind_move(&mut self.ftl.core, flash, id),
            Owner::Displaced(_) => self.ftl.bind_displaced(flash, id),
            _ => with_redundancy!(self, |ftl, raid| raid.bind(ftl, flash, id)),
        }
    }

    fn bind_beside(&mut self, flash: &mut Flash, first: TxnId, id: TxnId) -> bool {
        with_redundancy!(self, |ftl, raid| ftl.bind_beside(flash, first, id, raid))
    }

    #[inline(always)]
    fn done(&mut self, flash: &mut Flash, id: TxnId, dropped: bool) {
        with_redundancy!(self, |ftl, raid| done(ftl, flash, id, dropped, raid));
    }

    #[inline(always)]
    fn read_done(&mut self, flash: &mut Flash, id: TxnId) {
        with_redundancy!(self, |ftl, raid| read_done(ftl, flash, id, raid));
    }

    fn handed_back(&mut self, flash: &mut Flash, id: TxnId) {
        self.take_back(flash, id);
    }

    fn idle(&mut self, flash: &mut Flash, die: DieId) {
        self.ftl.gc.on_die_idle(&mut self.ftl.core, flash, die);
    }

    fn erase_pulse(&self, block: BlockId) -> Option<Span> {
        self.raid().and_then(|raid| raid.erase_pulse(&self.ftl, block))
    }
}

impl Layer for Controller {
    #[inline]
    fn front(&self) -> &FrontEnd {
        &self.ftl.front
    }

    fn layout(&self) -> &Layout {
        self.ftl.layout()
    }

    #[inline]
    fn front_mut(&mut self) -> &mut FrontEnd {
        &mut self.ftl.front
    }

    #[inline]
    fn admit(&mut self, flash: &mut Flash, io: HostIo, ready: Nanos, throttled: Span) {
        with_redundancy!(self, |ftl, raid| ftl.admit(flash, io, ready, throttled, raid));
    }

    #[inline]
    fn may_delay_writes(&self) -> bool {
        self.throttle.is_some()
    }

    fn delay(&mut self, flash: &mut Flash, io: &HostIo, now: Nanos) -> Throttled {
        let Some(throttle) = &mut self.throttle else { return Throttled::default() };
        let Core { locator, allocator, layout, .. } = &self.ftl.core;
        let drive = Throttleable { locator, blocks: &allocator.blocks, frames: layout.frames };
        throttle.delay(drive, flash, io, now)
    }

    fn idle_event(&mut self, flash: &mut Flash, die: DieId) {
        with_redundancy!(self, |ftl, raid| idle_event(ftl, flash, die, raid));
    }

    fn deadline_event(&mut self, flash: &mut Flash) {
        self.ftl.gc.deadline_event(&mut self.ftl.core, flash);
    }

    fn fault_event(&mut self, flash: &mut Flash) {
        self.strike_next(flash);
    }

    fn paced_event(&mut self, flash: &mut Flash) {
        if let Hooks::Raid(raid) = &mut self.hooks {
            raid.rebuild(&mut self.ftl, flash);
        }
    }

    #[inline]
    fn prefetch(&self, io: &HostIo) {
        self.ftl.core.prefetch(io);
    }

    #[inline]
    fn prefetch_second(&self, io: &HostIo, flash: &Flash) {
        self.ftl.core.prefetch_invalidated(io);
        self.ftl.core.prefetch_condition(io, flash);
    }

    #[inline]
    fn prefetch_third(&self, io: &HostIo) {
        self.ftl.core.prefetch_neighbours(io);
    }
}
