//! The epoch-capacity regulator (READY, section 3.4): how much may be written in an epoch, and
//! when. Capacity is in pages, or in any other unit.

use fowler_units::Span;
use serde::{Deserialize, Serialize};

/// Write capacity of a throttle's current epoch, in pages, and its distribution over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapacityRegulator {
    period: Span,
    /// Share (0 to 1) of the later throttle epochs' write capacity that an epoch may borrow; zero
    /// under pessimistic enforcement (READY).
    share: f64,
    /// Write capacity in pages per nanosecond when capacity was last distributed equally. Per
    /// nanosecond, because epoch lengths change.
    equal: f64,
    capacity: f64,
    spare: f64,
    periods: u64,
}

/// Write capacity and time that are left in a drive's life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// Write capacity left in the life, in pages.
    pub pages: f64,
    /// Time left until the drive's target lifetime ends, in nanoseconds, the throttle epoch that
    /// begins now included.
    pub time: Span,
    /// Write capacity in pages per nanosecond if that of the whole life were distributed evenly.
    pub even: f64,
}

impl CapacityRegulator {
    /// Creates the regulator of write capacity before the first epoch.
    pub fn new(period: Span, share: f64) -> Self {
        Self { period, share, equal: 0.0, capacity: 0.0, spare: 0.0, periods: 1 }
    }

    /// Begins a throttle epoch of the given length. All epochs left get equal parts of the write
    /// capacity left, and each may also borrow a spare: the share `share` of the later epochs'
    /// capacity. After an `overused` epoch, one that borrowed, the equal parts are smaller by
    /// `share`, and the spare is what this reduction frees.
    ///
    /// The reduction is at most `share` (READY, section 3.4), however often the spare is spent. No
    /// epoch has less than `1 - share` of an even part of the life's capacity, unless that capacity
    /// itself falls, because only capacity beyond that may be borrowed from later epochs.
    pub fn begin(&mut self, length: Span, rest: Rest, overused: bool) {
        self.periods = length.0.div_ceil(self.period.0).max(1);
        let pages = rest.pages.max(0.0);
        let (length, time) = (length.0 as f64, rest.time.max(length).0 as f64);
        let (equal, least) = (pages / time, (1.0 - self.share) * rest.even);
        let spare = if overused && self.share > 0.0 {
            let reduced = ((1.0 - self.share) * self.equal).max(least).min(equal);
            self.capacity = reduced * length;
            pages - reduced * time
        } else {
            self.equal = equal;
            self.capacity = equal * length;
            self.share * (pages - self.capacity)
        };
        let most = pages - self.capacity - least * (time - length);
        self.spare = spare.min(most).max(0.0);
    }

    /// Returns the write capacity of the epoch in pages, without borrowed capacity.
    #[inline]
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Returns the maximum number of pages that may be written in the throttle's epoch: its own
    /// capacity, and the spare that it may borrow from later epochs.
    pub fn most(&self) -> f64 {
        self.capacity + self.spare
    }

    /// Returns true if `written` pages are allowed in the throttle's epoch after the time
    /// `elapsed`. If the spare, capacity borrowed from later epochs, suffices, no division is
    /// needed.
    #[inline]
    pub fn allows(&self, written: f64, elapsed: Span) -> bool {
        written <= self.spare || written <= self.allowed(elapsed)
    }

    /// Returns the number of pages that may be written in the throttle's epoch up to the period at
    /// `elapsed`: the equal shares of this and the earlier periods in the capacity, and the spare
    /// borrowed from later epochs.
    #[inline]
    pub fn allowed(&self, elapsed: Span) -> f64 {
        self.up_to(elapsed.0 / self.period.0 + 1)
    }

    #[inline]
    fn up_to(&self, periods: u64) -> f64 {
        let periods = periods.min(self.periods);
        self.capacity * (periods as f64 / self.periods as f64) + self.spare
    }

    /// Returns the time since the start of the throttle's epoch from which `written` pages may have
    /// been written in that epoch; `None` if they never may.
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

    /// Returns the capacity (in MB) and the seconds left in a life, with `even` MB per second.
    fn rest(pages: f64, seconds: u64, even: f64) -> Rest {
        Rest { pages, time: PERIOD * seconds, even: even / PERIOD.0 as f64 }
    }

    /// Returns the MB written in each of the four periods of an epoch of 4 MB, and the MB deferred
    /// beyond it.
    fn regulated(spare: f64, demands: [f64; 4]) -> ([f64; 4], f64) {
        let mut regulator = CapacityRegulator::new(PERIOD, 0.0);
        regulator.begin(PERIOD * 4, rest(4.0, 4, 1.0), false);
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

    /// Unused capacity of a period passes to the next one, and excess demand is deferred (Figure
    /// 6): 4 MB in four periods; 4.2 MB are requested. The demand of each period is not printed.
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

    /// The spare absorbs a burst that the pessimistic policy spreads (Figure 7): 4 MB are requested
    /// in the first of four periods.
    #[test]
    fn the_spare_takes_a_burst_that_the_pessimistic_policy_spreads() {
        let burst = [4.0, 0.0, 0.0, 0.0];
        assert_eq!(regulated(0.0, burst), ([1.0, 1.0, 1.0, 1.0], 0.0));
        assert_eq!(regulated(4.0, burst), ([4.0, 0.0, 0.0, 0.0], 0.0));
    }

    /// After an overuse of the spare, later epochs have less capacity (section 3.4): three epochs
    /// share 3 MB.
    #[test]
    fn an_overused_spare_is_paid_back_by_a_tenth() {
        let length = PERIOD * 600;
        let begun = |remains, epochs: u64, overused| {
            let mut regulator = CapacityRegulator::new(PERIOD, 0.1);
            regulator.begin(length, rest(3.0, 1800, 3.0 / 1800.0), false);
            regulator.begin(length, rest(remains, 600 * epochs, 3.0 / 1800.0), overused);
            (regulator.capacity(), regulator.spare)
        };
        let is = |(capacity, spare), expected: (f64, f64)| {
            assert!(near(capacity, expected.0) && near(spare, expected.1), "{capacity} {spare}");
        };
        is(begun(3.0, 3, false), (1.0, 0.2));
        is(begun(3.0 - 1.1, 2, true), (0.9, 0.1));
        is(begun(3.0 - 1.2, 2, true), (0.9, 0.0));
        // Equal again after an epoch without overuse.
        is(begun(3.0 - 0.8, 2, false), (1.1, 0.11));
    }

    #[test]
    fn a_stop_ends_with_the_period_that_has_room() {
        let mut regulator = CapacityRegulator::new(PERIOD, 0.0);
        regulator.begin(PERIOD * 4, rest(4.0, 4, 1.0), false);
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
        regulator.begin(PERIOD * 4, rest(0.0, 4, 1.0), false);
        assert_eq!(regulator.opens(1.0), None, "nothing is left");
        regulator.begin(PERIOD * 4, rest(5.0, 4, 1.0), true);
        assert!(near(regulator.most(), 5.0), "the last epoch has what remains: {regulator:?}");
    }

    /// Section 3.4, "10 % in the worst case": for any writes within the limits and any epoch
    /// lengths, no epoch has less than nine tenths of an even one, and none may write so much that
    /// later ones have less; an epoch after an overuse has at most an equal share.
    #[test]
    fn an_epoch_has_nine_tenths_of_an_even_one_at_least() {
        let mut rng = fowler_units::Rng::stream(1, "capacity");
        for case in 0..2000 {
            let (all, seconds) = (100.0, 40 + rng.below(4000));
            let even = all / seconds as f64;
            let (alternates, changes) = (rng.chance(0.5), rng.chance(0.5));
            let (mut remains, mut over, mut left) = (all, false, seconds);
            let mut regulator = CapacityRegulator::new(PERIOD, 0.1);
            let mut number = 0;
            while left > 0 {
                let length = if changes { 1 + rng.below(60) } else { 10 }.min(left);
                regulator.begin(PERIOD * length, rest(remains, left, even), over);
                let reported =
                    format!("case {case}, epoch {number}: {regulator:?} of {remains} for {left} s");
                let (here, later) = (even * length as f64, even * (left - length) as f64);
                assert!(regulator.capacity() >= 0.9 * here * (1.0 - 1e-9), "{reported}");
                let leaves = remains - regulator.most();
                assert!(leaves >= 0.9 * later - 1e-9 * all, "{reported}");
                let equal = remains / left as f64 * length as f64;
                assert!(regulator.capacity() <= equal * (1.0 + 1e-9), "{reported}");
                let written = match if alternates { number % 2 } else { rng.below(3) } {
                    0 => regulator.most(),
                    1 => regulator.capacity() * rng.unit(),
                    _ => regulator.most() * rng.unit(),
                };
                over = written > regulator.capacity();
                (remains, left, number) = (remains - written, left - length, number + 1);
                assert!(remains > -1e-9, "{reported}: overdrawn");
            }
        }
    }

    /// After an overuse, the rate of capacity is reduced: an epoch longer than the previous one has
    /// the same capacity per second as a shorter one would; its spare is not computed from epochs
    /// of the old length.
    #[test]
    fn what_is_reduced_is_the_rate() {
        let (day, even) = (86_400, 1.0);
        let begun = |length: u64| {
            let mut regulator = CapacityRegulator::new(PERIOD, 0.1);
            regulator.begin(PERIOD * 864, rest(30.0 * day as f64, 30 * day, even), false);
            let most = regulator.most();
            let left = 30 * day - 864;
            let rest = rest(30.0 * day as f64 - most, left, even);
            regulator.begin(PERIOD * length, rest, true);
            (regulator.capacity() / length as f64, regulator.spare)
        };
        for length in [60, 864, 3600, 10 * day] {
            let (rate, spare) = begun(length);
            assert!((rate - 0.9).abs() < 1e-9 && spare < 1e-3, "{length}: {rate} {spare}");
        }
    }
}
