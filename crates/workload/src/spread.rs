//! Spreads the arrivals of a trace in whole seconds over their seconds. Without that, all requests
//! of a second would arrive at once, and the drive would see a burst that never occurred.

use crate::Record;
use fowler_units::{Nanos, Rng};
use std::collections::VecDeque;

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// Largest number of requests in one second, which are buffered until the second is over.
pub(crate) const MOST_IN_A_SECOND: usize = 1 << 20;

/// Distribution of arrivals within a second. The order of requests is preserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Arrivals at equal intervals within their second.
    #[default]
    Even,
    /// Arrivals at independent random times within their second, reproducible for each trace
    /// (Poisson).
    Poisson,
    /// No spreading: all requests arrive at the beginning of the second.
    None,
}

impl Spread {
    /// All ways to spread arrivals in whole seconds over their seconds, in the order in which
    /// messages list them.
    pub const ALL: [Spread; 3] = [Spread::Even, Spread::Poisson, Spread::None];

    /// Returns the name on the command line of this distribution of arrivals over their second:
    /// `even`, `poisson` or `none`.
    pub fn name(self) -> &'static str {
        match self {
            Spread::Even => "even",
            Spread::Poisson => "poisson",
            Spread::None => "none",
        }
    }

    /// Returns the distribution of arrivals over their second that has this name on the command
    /// line; `None` if there is none.
    pub fn by_name(name: &str) -> Option<Spread> {
        Spread::ALL.into_iter().find(|spread| spread.name() == name)
    }

    /// Returns the note that the trace's arrivals are in whole seconds, with their distribution.
    pub(crate) fn note(self) -> &'static str {
        match self {
            Spread::Even => {
                "arrivals are in whole seconds: the requests of each second are spread evenly \
                    over it (--spread poisson and --spread none are the alternatives)"
            }
            Spread::Poisson => {
                "arrivals are in whole seconds: the requests of each second are spread over it at \
                    random"
            }
            Spread::None => {
                "arrivals are in whole seconds: all requests of a second arrive at its beginning"
            }
        }
    }
}

/// Collects the requests of a second, and returns them spread over it.
#[derive(Debug)]
pub(crate) struct Spreader {
    spread: Spread,
    /// Requests whose trace times are in the second being processed, spread over it, that have not
    /// been returned to the caller yet.
    ready: VecDeque<Record>,
    /// First request of the trace with a time in a later second than the one being processed.
    next: Option<Record>,
}

impl Spreader {
    pub fn new(spread: Spread) -> Spreader {
        Spreader { spread, ready: VecDeque::new(), next: None }
    }

    /// Returns the next request with its arrival spread. `sorted` returns requests in order of
    /// time, and `None` at the end.
    ///
    /// # Errors
    ///
    /// The second that has too many requests.
    pub fn next(
        &mut self,
        mut sorted: impl FnMut() -> Option<Record>,
    ) -> Result<Option<Record>, u64> {
        if self.spread == Spread::None {
            return Ok(sorted());
        }
        if self.ready.is_empty() {
            let Some(first) = self.next.take().or_else(&mut sorted) else { return Ok(None) };
            let second = first.io.at.0 / SECOND;
            self.ready.push_back(first);
            while let Some(record) = sorted() {
                if record.io.at.0 / SECOND != second {
                    self.next = Some(record);
                    break;
                }
                if self.ready.len() == MOST_IN_A_SECOND {
                    return Err(second);
                }
                self.ready.push_back(record);
            }
            self.spread_over(second);
        }
        Ok(self.ready.pop_front())
    }

    /// Spreads the arrival times of the collected requests over their second.
    fn spread_over(&mut self, second: u64) {
        let count = self.ready.len() as u64;
        let mut random: Vec<u64> = Vec::new();
        if self.spread == Spread::Poisson {
            // Given their number, Poisson arrivals are independent and uniform.
            let mut rng = Rng::stream(second, "trace/spread");
            random = (0..count).map(|_| rng.below(SECOND)).collect();
            random.sort_unstable();
        }
        for (number, record) in (0..).zip(&mut self.ready) {
            let part = match self.spread {
                Spread::Poisson => random[number as usize],
                _ => number * SECOND / count,
            };
            record.io = record.io.with_at(Nanos(second * SECOND + part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::HostIo;

    fn spread(spread: Spread, seconds: &[u64]) -> Vec<u64> {
        let mut records = seconds.iter().zip(0..).map(|(&second, device)| Record {
            device,
            io: HostIo::read(Nanos(second * SECOND), 0, 512),
        });
        let mut spreader = Spreader::new(spread);
        let mut times = Vec::new();
        while let Some(record) = spreader.next(|| records.next()).unwrap() {
            assert_eq!(record.device, times.len() as u64, "the order stays");
            times.push(record.io.at.0);
        }
        times
    }

    #[test]
    fn a_second_is_filled_evenly_or_at_random() {
        let seconds = [5, 5, 5, 5, 7];
        let even = [5_000_000_000, 5_250_000_000, 5_500_000_000, 5_750_000_000, 7_000_000_000];
        assert_eq!(spread(Spread::Even, &seconds), even);
        assert_eq!(spread(Spread::None, &seconds), seconds.map(|second| second * SECOND));
        let random = spread(Spread::Poisson, &seconds);
        assert!(random.is_sorted() && random != even, "{random:?}");
        assert!(random.iter().zip(seconds).all(|(at, second)| at / SECOND == second));
        assert_eq!(random, spread(Spread::Poisson, &seconds), "it repeats");
    }

    #[test]
    fn random_arrivals_of_a_second_have_the_gaps_of_poisson_arrivals() {
        let times = spread(Spread::Poisson, &[3; 100_000]);
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{}", variance.sqrt() / mean);
    }

    #[test]
    fn a_second_too_full_is_refused() {
        let mut records = std::iter::repeat_n(
            Record { device: 0, io: HostIo::read(Nanos(9 * SECOND), 0, 512) },
            MOST_IN_A_SECOND + 1,
        );
        assert_eq!(Spreader::new(Spread::Even).next(|| records.next()), Err(9));
    }
}
