//! The epoch-capacity regulator (READY, section 3.4): what an epoch may write, and from when on. Pages, or any unit.

use fowler_units::Span;
use serde::{Deserialize, Serialize};

/// The capacity of the epoch that runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapacityRegulator {
    period: Span,
    /// The share of the later epochs' capacity that may be borrowed; zero is the pessimistic policy.
    share: f64,
    /// What an epoch had when capacity was last distributed equally.
    equal: f64,
    capacity: f64,
    spare: f64,
    periods: u64,
}

impl CapacityRegulator {
    /// No epoch runs yet.
    pub fn new(period: Span, share: f64) -> Self {
        Self { period, share, equal: 0.0, capacity: 0.0, spare: 0.0, periods: 1 }
    }

    /// An epoch of so long begins, the first of `epochs` that share what `remains`. If the one before was `overused`,
    /// capacities are reduced by the share that could be borrowed, and what that leaves unallocated is all the spare
    /// there is; otherwise they are equal, and a share of the later ones is spare.
    pub fn begin(&mut self, length: Span, remains: f64, epochs: f64, overused: bool) {
        let (remains, epochs) = (remains.max(0.0), epochs.max(1.0));
        self.periods = length.0.div_ceil(self.period.0).max(1);
        if overused && self.share > 0.0 {
            self.capacity = (self.equal * (1.0 - self.share)).min(remains / epochs);
            self.spare = (remains - self.capacity * epochs).max(0.0);
        } else {
            self.capacity = remains / epochs;
            self.equal = self.capacity;
            self.spare = self.share * (remains - self.capacity);
        }
    }

    /// The epoch is made longer by a factor, and has the capacity of that.
    pub fn stretch(&mut self, length: Span, factor: f64, remains: f64) {
        self.periods = length.0.div_ceil(self.period.0).max(1);
        self.capacity = (self.capacity * factor).min(remains.max(0.0));
        self.equal *= factor;
        self.spare = self.spare.min(remains.max(0.0) - self.capacity);
    }

    /// What the epoch has, borrowed capacity not included.
    #[inline]
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// All that it may write.
    pub fn most(&self) -> f64 {
        self.capacity + self.spare
    }

    /// Whether so much may have been written after so much of it. What the spare alone allows needs no division.
    #[inline]
    pub fn allows(&self, written: f64, elapsed: Span) -> bool {
        written <= self.spare || written <= self.allowed(elapsed)
    }

    /// What it may have written in the period that runs after so much of it: the shares of this period and of those
    /// before it, and the spare.
    #[inline]
    pub fn allowed(&self, elapsed: Span) -> f64 {
        self.up_to(elapsed.0 / self.period.0 + 1)
    }

    #[inline]
    fn up_to(&self, periods: u64) -> f64 {
        let periods = periods.min(self.periods);
        self.capacity * (periods as f64 / self.periods as f64) + self.spare
    }

    /// After how much of the epoch it may have written so much; never, if it may not at all.
    pub fn opens(&self, written: f64) -> Option<Span> {
        if written > self.most() || self.capacity <= 0.0 {
            return None;
        }
        let share = (written - self.spare) / self.capacity * self.periods as f64;
        let mut periods = (libm::floor(share).max(1.0) as u64).min(self.periods);
        while self.up_to(periods) < written {
            if periods == self.periods {
                return None;
            }
            periods += 1;
        }
        Some(self.period * (periods - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Span = Span::ms(1000);

    /// What is written in each period of an epoch of four that has 4 MB, and what is put off beyond it.
    fn regulated(spare: f64, demands: [f64; 4]) -> ([f64; 4], f64) {
        let mut regulator = CapacityRegulator::new(PERIOD, 0.0);
        regulator.begin(PERIOD * 4, 4.0, 1.0, false);
        regulator.spare = spare;
        let (mut written, mut waiting) = (0.0, 0.0);
        let periods = [0, 1, 2, 3].map(|number| {
            let wanted = demands[number as usize] + waiting;
            let allowed: f64 = regulator.allowed(PERIOD * number);
            let here = wanted.min(allowed - written);
            waiting = wanted - here;
            written += here;
            here
        });
        (periods, waiting)
    }

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    /// Figure 6: 4 MB in four periods; 4.2 MB are asked for. What each period asks for is not printed.
    #[test]
    fn what_a_period_leaves_is_carried_over_and_what_is_too_much_put_off() {
        let demands = [0.8, 1.2, 1.2, 1.0];
        assert!(near(demands.iter().sum(), 4.2));
        let (periods, waiting) = regulated(0.0, demands);
        for (here, expected) in periods.into_iter().zip([0.8, 1.2, 1.0, 1.0]) {
            assert!(near(here, expected), "{periods:?}");
        }
        assert!(near(periods.iter().sum(), 4.0) && near(waiting, 0.2));
    }

    /// Figure 7: 4 MB are asked for in the first of four periods.
    #[test]
    fn the_spare_takes_a_burst_that_the_pessimistic_policy_spreads() {
        let burst = [4.0, 0.0, 0.0, 0.0];
        assert_eq!(regulated(0.0, burst), ([1.0, 1.0, 1.0, 1.0], 0.0));
        assert_eq!(regulated(4.0, burst), ([4.0, 0.0, 0.0, 0.0], 0.0));
    }

    /// Section 3.4: three epochs share 3 MB.
    #[test]
    fn an_overused_spare_is_paid_back_by_a_tenth() {
        let length = PERIOD * 600;
        let begun = |remains, epochs, overused| {
            let mut regulator = CapacityRegulator::new(PERIOD, 0.1);
            regulator.begin(length, 3.0, 3.0, false);
            regulator.begin(length, remains, epochs, overused);
            (regulator.capacity(), regulator.spare)
        };
        let is = |(capacity, spare), expected: (f64, f64)| {
            assert!(near(capacity, expected.0) && near(spare, expected.1), "{capacity} {spare}");
        };
        is(begun(3.0, 3.0, false), (1.0, 0.2));
        is(begun(3.0 - 1.1, 2.0, true), (0.9, 0.1));
        is(begun(3.0 - 1.2, 2.0, true), (0.9, 0.0));
        // Equal again after an epoch without overuse.
        is(begun(3.0 - 0.8, 2.0, false), (1.1, 0.11));
    }

    #[test]
    fn a_stop_ends_with_the_period_that_has_room() {
        let mut regulator = CapacityRegulator::new(PERIOD, 0.0);
        regulator.begin(PERIOD * 4, 4.0, 1.0, false);
        for (written, opens) in [
            (0.0, Some(0)),
            (1.0, Some(0)),
            (1.1, Some(1)),
            (2.0, Some(1)),
            (4.0, Some(3)),
            (4.1, None),
        ] {
            assert_eq!(regulator.opens(written), opens.map(|number| PERIOD * number), "{written}");
        }
        regulator.begin(PERIOD * 4, 0.0, 1.0, false);
        assert_eq!(regulator.opens(1.0), None, "nothing is left");
        regulator.begin(Span::ms(1), 5.0, 0.2, true);
        assert!(near(regulator.most(), 5.0), "the last epoch has what remains: {regulator:?}");
    }

    /// Whatever is written within what is allowed, capacity and spare of all epochs to come never pass what remains, and
    /// a spare that is spent costs the epochs after it a tenth at most.
    #[test]
    fn capacity_is_never_given_twice() {
        let mut rng = fowler_units::Rng::stream(1, "capacity");
        for case in 0..500 {
            let epochs = 2 + rng.below(40);
            let (mut remains, mut overused) = (100.0, false);
            let mut regulator = CapacityRegulator::new(PERIOD, 0.1);
            for number in 0..epochs {
                let left = (epochs - number) as f64;
                let equal = regulator.equal;
                regulator.begin(PERIOD * 10, remains, left, overused);
                let given = regulator.capacity() * left + regulator.spare;
                let most = if overused { remains } else { remains * 1.1 };
                assert!(given <= most * (1.0 + 1e-12), "case {case}: {regulator:?} of {remains}");
                assert!(regulator.most() <= remains * (1.0 + 1e-12), "case {case}: {regulator:?}");
                let lost = 1.0 - regulator.capacity() / equal;
                assert!(!overused || lost <= 0.1 + 1e-9, "case {case}: {regulator:?} of {equal}");
                let written = match rng.below(3) {
                    0 => regulator.most(),
                    1 => regulator.most() * rng.unit(),
                    _ => regulator.capacity() * rng.unit(),
                };
                overused = written > regulator.capacity();
                remains -= written;
                assert!(remains > -1e-9, "case {case}: overdrawn");
            }
        }
    }
}
