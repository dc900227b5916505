//! `rate_min` and `rate_iops_min`: a process that stays below its least rate ends with an error.
//!
//! The rate of each `rate_cycle` is looked at when the first request after its end is collected.
//! The first cycle begins with the first request that is collected after two seconds, in which a
//! job may settle.

use super::plan::{Direction, Least};
use super::stats::Stats;
use fowler_units::{Nanos, Span};

/// Time from the start of a job during which `rate_min` and `rate_iops_min` are not enforced.
const SETTLES: Span = Span::ms(2_000);

/// The cycle over which a process's rate is averaged: its start, and the bytes and requests done
/// before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    began: Nanos,
    from: Option<Nanos>,
    bytes: [u64; 3],
    requests: [u64; 3],
}

impl Cycle {
    /// Starts to check the rates of a process against `rate_min` and `rate_iops_min`. `now` is the
    /// end of the process's ramp; the two seconds after that are exempt.
    pub fn new(now: Nanos) -> Cycle {
        Cycle { began: now, from: None, bytes: [0; 3], requests: [0; 3] }
    }

    /// Records a completed request. Returns true if a `rate_cycle` (an interval of the job's
    /// option) has ended in which the process's rate was below its minimum (`rate_min`,
    /// `rate_iops_min`).
    pub fn is_too_slow(&mut self, least: &Least, stats: &Stats, now: Nanos) -> bool {
        let done = |direction: Direction| &stats.done[direction];
        if now < self.began + SETTLES {
            return false;
        }
        let first = self.from.is_none();
        let took = now.0 - self.from.unwrap_or(now).0;
        if !first && took < least.cycle.0.max(1) {
            return false;
        }
        let below = |least: u64, now: u64, before: u64| {
            let moved = u128::from(now.saturating_sub(before));
            moved * 1_000_000_000 < u128::from(least) * u128::from(took)
        };
        let slow = Direction::ALL.into_iter().any(|it| {
            let place = it as usize;
            below(least.bytes[it], done(it).bytes, self.bytes[place])
                || below(least.requests[it], done(it).requests, self.requests[place])
        });
        self.from = Some(now);
        for it in Direction::ALL {
            self.bytes[it as usize] = done(it).bytes;
            self.requests[it as usize] = done(it).requests;
        }
        !first && slow
    }
}
