//! Reads that fail at a given rate: the uncorrectable bit error rate (UBER) of a data sheet, which
//! is the number of errors that remain after correction per bit read, whatever their cause (JEDEC,
//! JESD218). See docs/decisions/cells.md, "What does a rate of uncorrectable errors do?".
//!
//! 1. The number of reads that succeed before the next failure is drawn at once (geometric).
//! 2. Each read counts it down ([`RandomFailures::strikes`]). At zero the read fails, and the next
//!    number is drawn.
//!
//! A failure that strikes data which is in the controller or, on drives with superblocks, cannot be
//! read anyway is postponed to the next read ([`RandomFailures::put_off`]).

use crate::config::Config;
use fowler_units::{Bytes, Rng};

/// Draws the reads that fail. The number of successful reads before the next failure is drawn at
/// once, so that each read costs one decrement.
#[derive(Clone, Debug)]
pub struct RandomFailures {
    /// Natural logarithm of the probability that a read succeeds.
    log_success: f64,
    /// Number of reads that succeed before the next failure.
    left: u64,
    rng: Rng,
}

impl RandomFailures {
    /// Creates the random read failures of a drive; `None` if its rate is zero.
    pub fn new(config: &Config) -> Option<Box<Self>> {
        let rate = config.reliability.uber;
        (rate > 0.0).then(|| {
            let log_success = libm::log1p(-rate * Self::bits(config));
            let rng = Rng::stream(config.seed, "cells/uber");
            let mut failures = Self { log_success, left: 0, rng };
            failures.draw();
            Box::new(failures)
        })
    }

    /// Returns the number of bits of what fails at once: a page or, on drives with superblocks,
    /// a mapping unit.
    pub fn bits(config: &Config) -> f64 {
        let Bytes(size) =
            if config.ftl.has_superblocks() { config.unit() } else { config.geometry.page_size };
        8.0 * size as f64
    }

    /// Counts a read. Returns true if it fails.
    #[inline]
    pub fn strikes(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        self.draw();
        true
    }

    /// Postpones a random failure from the present read to the next one.
    pub fn put_off(&mut self) {
        self.left = 0;
    }

    /// Draws the number of successful reads before the next failure, which is geometrically
    /// distributed.
    #[cold]
    fn draw(&mut self) {
        // A conversion saturates: a rate too small to matter never strikes.
        self.left = (libm::log1p(-self.rng.unit()) / self.log_success) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::shaped;
    use fowler_units::{Bytes, Geometry};

    fn config() -> Config {
        shaped(Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 8,
            page_size: Bytes(4096),
        })
    }

    /// The numbers of reads between failures are geometric: their mean is `(1 - p) / p`, and their
    /// variance is `1 / p` times that.
    #[test]
    fn failures_come_as_often_as_the_rate_says() {
        for (rate, seed) in [(1e-6, 1), (1e-7, 2), (1e-8, 3)] {
            let mut config = config();
            (config.reliability.uber, config.seed) = (rate, seed);
            let p = rate * RandomFailures::bits(&config);
            let mut random_failures = RandomFailures::new(&config).expect("a rate");
            let failures = 20_000;
            let mut gaps = Vec::with_capacity(failures);
            while gaps.len() < failures {
                gaps.push(random_failures.left as f64);
                random_failures.draw();
            }
            let mean = gaps.iter().sum::<f64>() / failures as f64;
            let variance =
                gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / failures as f64;
            // The mean of n gaps scatters by 1/sqrt(n), or 0.7 %; the variance by three times that.
            let expected = (1.0 - p) / p;
            assert!((mean / expected - 1.0).abs() < 0.03, "{mean} for {expected}");
            assert!((variance * p / expected - 1.0).abs() < 0.1, "{variance}, p = {p}");
        }
    }

    #[test]
    fn without_a_rate_nothing_is_drawn() {
        assert!(RandomFailures::new(&config()).is_none());
    }
}
