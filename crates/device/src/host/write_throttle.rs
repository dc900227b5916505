//! Write throttling between host interface and translation, for the sake of the drive's lifetime.
//!
//! 1. The loop asks for the delay of a write when the write could enter the drive
//!    ([`WriteThrottle::delay`]).
//! 2. The policy (`policy/throttle`) sees the time, the pages of the write, and the lifetime: the
//!    pages programmed so far, those still on their way to the flash, and the capacity left
//!    ([`super::endurance`]).
//! 3. The delay is counted by its cause, and returned. The loop keeps the write, and all requests
//!    behind it, outside for this time.
//!
//! The throttle delays no reads, trims or flushes, and no write that has entered.

use crate::blocks::block_table::Blocks;
use crate::config::Config;
use crate::flash::Flash;
use crate::host::endurance::{Life, Totals};
use crate::observe::counters::Counters;
use crate::policy::throttle::{self, AnyThrottle, State, Throttle, Throttled};
use fowler_units::{HostIo, Locator, Nanos};

/// A write throttle, and the lifetime that it protects.
#[derive(Clone, Debug)]
pub struct WriteThrottle {
    throttle: AnyThrottle,
    life: Life,
}

/// The parts of a drive that a write throttle observes. On a drive with superblocks, pages are
/// mapping units and blocks are superblocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Throttleable<'a> {
    /// Converts byte addresses of the host to pages.
    pub locator: &'a Locator,
    /// The blocks of the drive, whose programs are counted.
    pub blocks: &'a Blocks,
    /// Number of frames in the write buffer.
    pub frames: u32,
}

/// The state of the drive, as a throttle policy sees it.
struct View<'a> {
    life: &'a Life,
    blocks: &'a Blocks,
    /// Maximum number of host pages between the buffer and the flash.
    on_the_way: u64,
    taken: u64,
}

impl throttle::Life for View<'_> {
    #[inline]
    fn taken(&self) -> u64 {
        self.taken
    }

    fn left(&self, now: Nanos, healed: bool) -> f64 {
        self.life.left(self.blocks, now, healed) - self.on_the_way as f64
    }

    fn ends(&self) -> Nanos {
        self.life.ends()
    }
}

impl WriteThrottle {
    /// Creates the write throttle of a drive at the beginning of the drive's lifetime; `None` if
    /// the configuration throttles no writes.
    pub(crate) fn of(config: &Config, blocks: &Blocks) -> Option<Box<WriteThrottle>> {
        let make = || {
            Box::new(WriteThrottle {
                throttle: throttle_of(config),
                life: Life::new(config, blocks),
            })
        };
        (config.throttle.name != throttle::ThrottleKind::Off).then(make)
    }

    /// Returns a write throttle in the state `throttle`, which continues on a drive that has used
    /// up part of its lifetime, `life`.
    pub fn resumed(throttle: AnyThrottle, life: Life) -> Box<WriteThrottle> {
        Box::new(WriteThrottle { throttle, life })
    }

    /// Returns the state of the throttle, and the write capacities of the drive: pages programmed
    /// so far, and pages that its cells endure.
    pub fn state(&self, blocks: &Blocks, now: Nanos) -> (State, Totals) {
        (self.throttle.state(), self.life.stand(blocks, now))
    }
}

/// Creates the throttle policy of a drive.
pub(crate) fn throttle_of(config: &Config) -> AnyThrottle {
    let custom = config.policies.throttle.as_ref();
    AnyThrottle::custom_or_new(custom, &config.throttle, config.seed)
}

impl Life {
    /// Returns the throttle's delay for a write of `pages` pages that could enter at `now`.
    /// See docs/decisions/host.md, "What does a throttle count?".
    pub(crate) fn ask(
        &self,
        throttle: &mut AnyThrottle,
        now: Nanos,
        pages: u32,
        (blocks, counters): (&Blocks, &Counters),
        frames: u32,
    ) -> Throttled {
        let [host, others @ ..] = counters.programs.into_array();
        // Writes absorbed by the buffer are never programmed.
        let entered = counters.pages_written - counters.buffer_write_hits;
        let taken = entered + others.iter().sum::<u64>();
        // Pages that are trimmed in the buffer, or written there again for another stream, never
        // reach the flash, so cap the estimate at the number of frames.
        let on_the_way = entered.saturating_sub(host).min(u64::from(frames));
        throttle.delay(now, pages, &View { life: self, blocks, on_the_way, taken })
    }
}

impl WriteThrottle {
    /// Returns the delay of a write that could enter at `now`.
    /// See docs/decisions/host.md, "Where is a write throttled?".
    pub(crate) fn delay(
        &mut self,
        drive: Throttleable<'_>,
        flash: &mut Flash,
        io: &HostIo,
        now: Nanos,
    ) -> Throttled {
        let Throttleable { locator, blocks, frames } = drive;
        let last = io.offset + u64::from(io.size.max(1)) - 1;
        let pages = locator.page_at(last).0 - locator.page_at(io.offset).0 + 1;
        let seen = (blocks, &flash.counters);
        let throttled = self.life.ask(&mut self.throttle, now, pages, seen, frames);
        flash.counters.throttled.delayed += throttled.spread;
        flash.counters.throttled.stopped += throttled.stopped;
        flash.counters.stops += u64::from(throttled.stops);
        throttled
    }
}
