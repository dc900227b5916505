//! The schedule of a stream: the times at which it wants to issue requests, whatever the drive
//! does.

use fowler_units::{HostIo, Nanos, Rng, Span};

/// Law of the times at which a stream issues requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Closed loop: a request is issued as soon as a slot is free.
    Closed,
    /// Requests are issued at fixed intervals.
    Every(Span),
    /// Requests are issued at exponentially distributed intervals with this mean.
    Poisson(Span),
    /// Requests are issued at their given arrival times.
    AsGiven,
}

/// The schedule of a stream: the time at which its next request is due.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    pace: Pace,
    from: Nanos,
    next: Nanos,
    forgets: Span,
    rng: Rng,
}

impl Clock {
    /// Starts the schedule at `from`; the first exponential interval begins there.
    pub fn new(pace: Pace, from: Nanos, forgets: Span, mut rng: Rng) -> Clock {
        let next = match pace {
            Pace::Poisson(mean) => from + exponential(mean, &mut rng),
            Pace::Closed | Pace::Every(_) | Pace::AsGiven => from,
        };
        Clock { pace, from, next, forgets, rng }
    }

    /// Returns the time at which `io`, the next request, is due.
    pub fn due(&self, io: &HostIo) -> Nanos {
        match self.pace {
            Pace::AsGiven => self.next.max(self.from + (io.at - Nanos::ZERO)),
            Pace::Closed | Pace::Every(_) | Pace::Poisson(_) => self.next,
        }
    }

    /// Advances the schedule of a stream of requests after the request `io` was issued at the time
    /// `at`.
    pub fn issued(&mut self, io: &HostIo, at: Nanos) {
        let due = self.due(io);
        let late = Span(at.0.saturating_sub(due.0));
        let from = if late > self.forgets { at } else { due };
        self.next = match self.pace {
            Pace::Closed => self.from,
            Pace::Every(gap) => from + gap,
            Pace::Poisson(mean) => from + exponential(mean, &mut self.rng),
            Pace::AsGiven => {
                if late > self.forgets {
                    self.from = self.from + late;
                }
                self.from
            }
        };
    }
}

/// Draws an exponential interval. Rounding to nanoseconds changes the mean by less than one
/// nanosecond.
fn exponential(mean: Span, rng: &mut Rng) -> Span {
    Span((-libm::log(1.0 - rng.unit()) * mean.0 as f64).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(pace: Pace, forgets: Span, late: Span) -> Vec<u64> {
        let rng = Rng::stream(1, "pace");
        let mut clock = Clock::new(pace, Nanos(100), forgets, rng);
        let take = |number: u64| {
            let io = HostIo::flush(Nanos(number * 10));
            let due = clock.due(&io);
            clock.issued(&io, due + late);
            due.0
        };
        (0..4).map(take).collect()
    }

    #[test]
    fn lag_is_made_up_for_unless_it_is_forgotten() {
        let never = Span(u64::MAX);
        assert_eq!(times(Pace::Closed, never, Span(7)), [100; 4]);
        assert_eq!(times(Pace::Every(Span(5)), never, Span(7)), [100, 105, 110, 115]);
        assert_eq!(times(Pace::Every(Span(5)), Span(6), Span(7)), [100, 112, 124, 136]);
        assert_eq!(times(Pace::AsGiven, never, Span(7)), [100, 110, 120, 130]);
        assert_eq!(times(Pace::AsGiven, Span(6), Span(7)), [100, 117, 134, 151]);
    }

    #[test]
    fn exponential_intervals_have_their_mean_and_spread() {
        let (mut rng, count, mean) = (Rng::stream(3, "pace"), 100_000u32, 10_000.0);
        let drawn: Vec<f64> =
            (0..count).map(|_| exponential(Span(10_000), &mut rng).0 as f64 / mean).collect();
        let first = drawn.iter().sum::<f64>() / f64::from(count);
        let second = drawn.iter().map(|it| it * it).sum::<f64>() / f64::from(count);
        // Five standard errors: 1 / sqrt(n) of the mean, sqrt(20 / n) of the second moment.
        assert!((first - 1.0).abs() < 5.0 / 316.0, "{first}");
        assert!((second - 2.0).abs() < 5.0 * libm::sqrt(20.0) / 316.0, "{second}");
    }
}
