//! The throttling delay estimator (READY, section 3.3): computes the delay of each page write in
//! the next epoch.

use fowler_units::Span;
use serde::{Deserialize, Serialize};

/// Delay of each page write by the throttle, adjusted from epoch to epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DelayEstimator {
    /// Delay of a page write in nanoseconds; fractional, because an epoch may have millions of
    /// pages.
    delay: f64,
}

impl DelayEstimator {
    /// Returns the current delay of each page write, in nanoseconds.
    #[inline]
    pub fn delay(self) -> f64 {
        self.delay
    }

    /// Adjusts the delay of page writes at the start of an epoch of the given length with a
    /// capacity of `capacity` pages. `demand` is the number of pages expected at the present delay.
    /// Uses equations 4 and 5 of READY, a lifetime throttle, the latter bounded below by zero. No
    /// page is delayed by more than an epoch. Without capacity, equation 4 is undefined and the
    /// delay does not change; the host is then stopped.
    pub fn adjust(&mut self, epoch: Span, demand: f64, capacity: f64) {
        if capacity <= 0.0 {
            return;
        }
        let per_page = epoch.0 as f64 / capacity;
        if demand > capacity {
            self.delay += per_page * (demand / capacity - 1.0);
        } else if demand > 0.0 {
            self.delay -= per_page * (capacity / demand - 1.0);
        } else {
            self.delay = 0.0;
        }
        self.delay = self.delay.clamp(0.0, epoch.0 as f64);
    }

    /// Recomputes the delay of page writes after the length of the throttle's epoch has changed.
    /// `demand` is the number of pages expected without any delay. Uses equation 4 of READY,
    /// starting from zero (section 3.5).
    pub fn restart(&mut self, epoch: Span, demand: f64, capacity: f64) {
        self.delay = 0.0;
        if demand > capacity {
            self.adjust(epoch, demand, capacity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: Span = Span::ms(600_000);

    /// Returns the number of pages that a closed-loop host writes in an epoch in which it would
    /// write `demand` pages without delay.
    fn written(demand: f64, delay: f64) -> f64 {
        EPOCH.0 as f64 / (EPOCH.0 as f64 / demand + delay)
    }

    #[test]
    fn a_constant_demand_is_met_after_one_overshoot() {
        for factor in [1.25, 2.0, 5.0] {
            let capacity = 1000.0;
            let mut estimator = DelayEstimator::default();
            estimator.adjust(EPOCH, factor * capacity, capacity);
            let first = written(factor * capacity, estimator.delay());
            let expected = capacity / (1.0 / factor + factor - 1.0);
            assert!((first / expected - 1.0).abs() < 1e-12, "{factor}: {first} {expected}");
            for _ in 0..3 {
                let before = written(factor * capacity, estimator.delay());
                estimator.adjust(EPOCH, before, capacity);
                let then = written(factor * capacity, estimator.delay());
                assert!((then / capacity - 1.0).abs() < 1e-12, "{factor}: {then}");
            }
        }
    }

    #[test]
    fn it_never_falls_below_zero_and_needs_no_demand_to_fall() {
        let mut estimator = DelayEstimator { delay: 5.0 };
        estimator.adjust(EPOCH, 999.0, 1000.0);
        assert_eq!(estimator.delay(), 0.0, "equation 5 takes 600 us off");
        estimator.adjust(EPOCH, 1001.0, 1000.0);
        assert!((estimator.delay() - 600_000.0).abs() < 1.0, "equation 4: {}", estimator.delay());
        estimator.adjust(EPOCH, 0.0, 1000.0);
        assert_eq!(estimator.delay(), 0.0);
        estimator.adjust(EPOCH, 1e9, 0.5);
        assert_eq!(estimator.delay(), EPOCH.0 as f64, "no page waits for more than an epoch");
        estimator.adjust(EPOCH, 1.0, 0.0);
        assert_eq!(estimator.delay(), EPOCH.0 as f64, "without capacity nothing is known");
        estimator.restart(EPOCH, 500.0, 1000.0);
        assert_eq!(estimator.delay(), 0.0);
        estimator.restart(EPOCH, 1500.0, 1000.0);
        assert_eq!(estimator.delay(), 3e8);
    }
}
