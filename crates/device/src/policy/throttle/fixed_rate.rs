//! Static throttling: ST of the READY paper (section 3.1). Each period may write its share of the
//! rated capacity over the whole life, `C_ssd / T_ssd`; unused capacity is lost. If GC exceeds a
//! period's share, later periods make up for it. A write starts if any of the period's share is
//! left.

use super::{Life, Params, Throttle, Throttled};
use fowler_units::{Nanos, Span};
use serde::{Deserialize, Serialize};

/// Throttles writes to a fixed rate (ST of READY).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FixedRate {
    period: Span,
    /// Number of pages that may be written in each period of the throttle; `None` before the first
    /// write.
    share: Option<f64>,
    /// Number of the current period of the throttle.
    number: u64,
    /// Number of pages of the write capacity of the drive's life that were used before the
    /// throttle's current period.
    taken_before: u64,
    /// Number of pages by which writes in earlier periods of the throttle exceeded the capacity of
    /// those periods.
    owed: f64,
}

impl FixedRate {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self { period: params.period, share: None, number: 0, taken_before: 0, owed: 0.0 }
    }

    /// Computes the write capacity of a period of the throttle from that of the whole life, no
    /// matter when the first write comes.
    fn begin(&mut self, now: Nanos, life: &impl Life) -> f64 {
        let periods = (life.ends() - Nanos::ZERO).0 as f64 / self.period.0 as f64;
        let rated = life.left(now, false) + life.taken() as f64;
        let share = (rated / periods.max(1.0)).max(0.0);
        (self.share, self.number) = (Some(share), now.0 / self.period.0);
        self.taken_before = life.taken();
        share
    }

    /// Advances the throttle to the period `number`, if it is a later one; `taken` pages have been
    /// programmed by then.
    fn advance(&mut self, number: u64, taken: u64, share: f64) {
        if number > self.number {
            let used = (taken - self.taken_before) as f64 + self.owed;
            self.owed = (used - share * (number - self.number) as f64).max(0.0);
            (self.number, self.taken_before) = (number, taken);
        }
    }
}

impl Throttle for FixedRate {
    fn delay(&mut self, now: Nanos, pages: u32, life: &impl Life) -> Throttled {
        let ends = life.ends();
        if now >= ends {
            return Throttled::default();
        }
        let share = self.share.unwrap_or_else(|| self.begin(now, life));
        if share <= 0.0 {
            return Throttled { spread: Span::ZERO, stopped: ends.since(now), stops: 1 };
        }
        let mut taken = life.taken().max(self.taken_before);
        self.advance(now.0 / self.period.0, taken, share);
        let (mut number, mut left, mut stops) = (self.number, u64::from(pages), 0);
        while left > 0 {
            let used = (taken - self.taken_before) as f64 + self.owed;
            if used < share {
                let fits = (libm::ceil(share - used) as u64).min(left);
                (taken, left) = (taken + fits, left - fits);
            } else {
                // To the first period with any share left.
                number += (libm::floor(used / share) as u64).max(1);
                stops += 1;
                self.advance(number, taken, share);
            }
        }
        let at = Nanos(number.saturating_mul(self.period.0)).max(now).min(ends.max(now));
        // The host is stopped at one page, and the pages after it wait.
        Throttled {
            spread: Span::ZERO,
            stopped: at.since(now),
            stops: if at > now { stops } else { 0 },
        }
    }
}
