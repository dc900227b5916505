//! A life at a steady write amplification: the throttle, the life and the closed host of
//! [`super::LifetimeDrive`], over a translation layer that moves the same number of pages for each
//! host page. Nothing is mapped, so a request costs tens of nanoseconds instead of some six
//! hundred, and five years can be simulated at a small dilation.
//!
//! 1. The host sends a write when the one before has been admitted; the throttle delays it
//!    ([`SteadyLife::enter`]).
//! 2. The pages of the write count as programmed, and so does the share of moved pages that the
//!    write amplification adds. The fraction of a page that is left over, below 1, is carried to
//!    the next write.
//!
//! A [`SteadyLife`] stands for a drive in steady state under a workload whose write amplification
//! does not change, such as uniform addresses. The amplification is measured on a
//! [`super::LifetimeDrive`] before.
//!
//! A [`SteadyLife`] spreads evenly the moves that GC makes in bursts, one for each row of blocks
//! that the host fills. That is right while an epoch has many bursts, even under the first delay of
//! equation 4, which is too long: a demand of `r` times the capacity `C` then gets only
//! `C / (r - 1)` host pages. If that is less than a row, a drive sees epochs without GC, equation 5
//! reduces the delay too much, and the life of the drive swings while this one does not.
//! `crates/device/tests/all/lifetime.rs` and `crates/lifetime/tests/all/lifetime.rs` compare the
//! two. See docs/decisions/lifetime.md, "When is garbage collection not simulated?".

use super::Entered;
use super::waiting_host::WaitingHost;
use crate::blocks::block_table::Blocks;
use crate::config::Config;
use crate::host::endurance::{Life, Totals};
use crate::host::write_throttle::{WriteThrottle, throttle_of};
use crate::observe::counters::Counters;
use crate::observe::operation::Source;
use crate::policy::throttle::{self, AnyThrottle, State, Throttle, Throttled};
use fowler_units::{HostIo, HostOp, Nanos, Span};

/// A drive's life simulated at a steady write amplification, without mapping.
#[derive(Clone, Debug)]
pub struct SteadyLife {
    throttle: AnyThrottle,
    life: Life,
    counters: Counters,
    /// Number of pages that GC moves for each host page.
    moves: f64,
    /// Fraction of a page, below 1, that GC has moved by the steady write amplification, but that
    /// is not yet in the page counters, which count whole pages.
    due: f64,
    page: u64,
    program: Span,
    host: WaitingHost,
}

/// State of the drive in a lifetime simulation that the write throttle can see: pages programmed so
/// far, and the lifetime that is left.
struct View<'a> {
    life: &'a Life,
    /// Number of pages programmed in this life so far, for any source.
    taken: u64,
}

impl throttle::Life for View<'_> {
    #[inline]
    fn taken(&self) -> u64 {
        self.taken
    }

    fn left(&self, now: Nanos, healed: bool) -> f64 {
        self.life.left_of(self.taken as f64 * self.life.dilation(), now, healed)
    }

    fn ends(&self) -> Nanos {
        self.life.ends()
    }
}

impl SteadyLife {
    /// Creates the life of a drive of `config`, which programs `waf` pages for each host page.
    pub fn new(config: &Config, waf: f64) -> Self {
        let timing = config.effective_timing();
        let pages = f64::from(config.geometry.pages());
        Self {
            throttle: throttle_of(config),
            life: Life::of(config.life.clone(), pages, 0),
            counters: Counters::default(),
            moves: (waf - 1.0).max(0.0),
            due: 0.0,
            page: config.geometry.page_size.0,
            program: timing.bus_transfer + timing.mean_program(),
            host: WaitingHost::new(),
        }
    }

    /// Returns true if the throttle can delay writes at all.
    pub fn is_throttled(&self) -> bool {
        self.throttle.is_on()
    }

    /// Returns the duration of a page write that is not delayed.
    pub fn program(&self) -> Span {
        self.program
    }

    /// Returns the simulated time at which the life ends.
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

    /// Returns the counters of the drive's operations (programs, delays) since the simulated life
    /// began.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the state of the write throttle, for reports.
    pub fn throttle(&self) -> State {
        self.throttle.state()
    }

    /// Returns the write capacities of the drive at a moment of its life, in pages: the pages
    /// programmed so far, the rated endurance, and the endurance achievable because idle cells
    /// recover (READY, a lifetime throttle).
    pub fn totals(&self, at: Nanos) -> Totals {
        self.life.totals(self.counters.programs.sum() as f64 * self.life.dilation(), at)
    }

    /// Admits a write that arrives at the host's own time, after any delay by the throttle; `None`
    /// if the life ends before it enters.
    #[inline]
    pub fn enter(&mut self, io: &HostIo) -> Option<Entered> {
        let last = (io.offset + u64::from(io.size.max(1)) - 1) / self.page;
        let is_write = io.op == HostOp::Write && io.size > 0;
        let pages = if is_write { (last - io.offset / self.page + 1) as u32 } else { 0 };
        let Self { throttle, life, counters, host, .. } = self;
        let (at, throttled) = host.enter(io.at, life.ends(), counters, |at, counters| {
            if pages == 0 || !throttle.is_on() {
                return Throttled::default();
            }
            let taken = counters.programs[Source::Host] + counters.programs[Source::Gc];
            throttle.delay(at, pages, &View { life, taken })
        })?;
        self.due += self.moves * f64::from(pages);
        let moved = self.due as u64;
        self.due -= moved as f64;
        debug_assert!((0.0..1.0).contains(&self.due), "only a fraction of a page is carried");
        self.counters.pages_written += u64::from(pages);
        self.counters.programs[Source::Host] += u64::from(pages);
        self.counters.programs[Source::Gc] += moved;
        Some(Entered { at, pages, throttled })
    }

    /// Returns the write throttle in its present state for a drive with `blocks`, which is
    /// simulated event by event from here on and continues this life; `None` if writes are never
    /// delayed.
    pub(crate) fn throttle_over(&self, blocks: &Blocks) -> Option<Box<WriteThrottle>> {
        let life = || self.life.moved_to(blocks, self.counters.programs.sum());
        self.throttle.is_on().then(|| WriteThrottle::resumed(self.throttle.clone(), life()))
    }
}
