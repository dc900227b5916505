//! Generates arrival times in whole nanoseconds. The fraction of each gap is carried over, so that
//! rounding does not change the rate.

use super::spec::Arrivals;
use crate::LATEST;
use fowler_units::{Nanos, Rng, Span};

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// Arrival clock: whole nanoseconds, and the fraction of a nanosecond left over.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    at: Nanos,
    fraction: f64,
}

impl Clock {
    /// Returns the clock `gap` nanoseconds later; `None` beyond 584 years of simulated time.
    fn after(self, gap: f64) -> Option<Clock> {
        let gap = gap + self.fraction;
        let whole = libm::floor(gap);
        // An `f64` converts to the nearest `u64`, so the sum cannot miss a gap beyond 584 years.
        let at = Nanos(self.at.0.checked_add(whole as u64)?);
        Some(Clock { at, fraction: gap - whole })
    }
}

/// Draws from an exponential distribution with the given mean. Never infinite, because a unit draw
/// is below 1.
fn exponential(rng: &mut Rng, mean: f64) -> f64 {
    -libm::log1p(-rng.unit()) * mean
}

/// A busy or quiet interval of arrivals in bursts.
#[derive(Clone, Copy, Debug)]
struct Spell {
    is_busy: bool,
    ends: Clock,
    /// Factor applied to the rates of the current cycle, a busy and a quiet interval.
    factor: f64,
}

/// Generates the arrival times of a workload.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    arrivals: Arrivals,
    rng: Rng,
    clock: Clock,
    spell: Option<Spell>,
    /// Number of arrivals generated so far.
    count: u64,
    /// Resolution of the arrival clock in nanoseconds; arrival times are rounded down to a multiple
    /// of it.
    tick: u64,
}

/// Returns the arrival process with all rates divided by `times`.
fn sparser(arrivals: Arrivals, times: f64) -> Arrivals {
    match arrivals {
        Arrivals::Poisson { rate } => Arrivals::Poisson { rate: rate / times },
        Arrivals::Fixed { rate } => Arrivals::Fixed { rate: rate / times },
        Arrivals::Bursts { busy_rate, quiet_rate, mean_busy, mean_quiet } => Arrivals::Bursts {
            busy_rate: busy_rate / times,
            quiet_rate: quiet_rate / times,
            mean_busy,
            mean_quiet,
        },
        Arrivals::Cycle { busy_rate, quiet_rate, busy, quiet, spread } => Arrivals::Cycle {
            busy_rate: busy_rate / times,
            quiet_rate: quiet_rate / times,
            busy,
            quiet,
            spread,
        },
        Arrivals::Closed => Arrivals::Closed,
    }
}

impl Moments {
    /// Returns the arrivals of batches, starting at time zero. A batch has `mean_batch` requests on
    /// average, and the rates count requests. The spec must be valid.
    pub fn new(arrivals: Arrivals, mean_batch: f64, tick: Span, seed: u64) -> Moments {
        Moments {
            arrivals: sparser(arrivals, mean_batch),
            rng: Rng::stream(seed, "synth/arrivals"),
            clock: Clock::default(),
            spell: None,
            count: 0,
            tick: tick.0.max(1),
        }
    }

    /// Returns the next arrival time; `None` beyond [`LATEST`].
    pub fn next(&mut self) -> Option<Nanos> {
        let at = match self.arrivals {
            Arrivals::Closed => 0,
            Arrivals::Fixed { rate } => self.tick(SECOND / rate)?,
            Arrivals::Poisson { rate } => {
                let gap = exponential(&mut self.rng, SECOND / rate);
                self.clock = self.clock.after(gap)?;
                self.clock.at.0
            }
            Arrivals::Bursts { busy_rate, quiet_rate, mean_busy, mean_quiet } => self.burst(
                [SECOND / quiet_rate, SECOND / busy_rate],
                [mean_quiet.0 as f64, mean_busy.0 as f64],
                None,
            )?,
            Arrivals::Cycle { busy_rate, quiet_rate, busy, quiet, spread } => self.burst(
                [SECOND / quiet_rate, SECOND / busy_rate],
                [quiet.0 as f64, busy.0 as f64],
                Some(spread),
            )?,
        };
        self.count += 1;
        Some(Nanos(at / self.tick * self.tick)).filter(|&at| at <= LATEST)
    }

    /// Returns the arrival time of the request after `count` periods of a constant-rate workload,
    /// exactly: a period in nanoseconds is a binary fraction `m * 2^e`.
    fn tick(&self, period: f64) -> Option<u64> {
        let mantissa = u128::from(period.to_bits() & ((1 << 52) - 1) | 1 << 52);
        let exponent = (period.to_bits() >> 52) as i32 - 1075;
        // A count is below 2^64 and a mantissa below 2^53; periods from 1 ns to 10^15 ns have
        // exponents from -52 to -3.
        u64::try_from((u128::from(self.count) * mantissa) >> exponent.unsigned_abs()).ok()
    }

    /// Returns the next arrival time of a Poisson process that alternates between two rates.
    /// Exponential gaps are memoryless: one that outlasts its spell is drawn again at the other
    /// rate, from the end of the spell. With `spread`, spells have fixed lengths and each cycle's
    /// rates get a log-normal factor of that spread.
    fn burst(&mut self, gaps: [f64; 2], spells: [f64; 2], spread: Option<f64>) -> Option<u64> {
        loop {
            let spell = match self.spell {
                Some(spell) => spell,
                None => self.next_spell(true, 1.0, spells, spread)?,
            };
            self.spell = Some(spell);
            let mean = gaps[usize::from(spell.is_busy)] / spell.factor;
            let gap = exponential(&mut self.rng, if mean.is_finite() { mean } else { 1.0 });
            let next = self.clock.after(gap)?;
            let inside = (next.at, next.fraction) < (spell.ends.at, spell.ends.fraction);
            if mean.is_finite() && inside {
                self.clock = next;
                return Some(next.at.0);
            }
            self.clock = spell.ends;
            self.spell = Some(self.next_spell(!spell.is_busy, spell.factor, spells, spread)?);
        }
    }

    fn next_spell(
        &mut self,
        is_busy: bool,
        factor: f64,
        spells: [f64; 2],
        spread: Option<f64>,
    ) -> Option<Spell> {
        let length = spells[usize::from(is_busy)];
        let Some(spread) = spread else {
            let length = exponential(&mut self.rng, length);
            return Some(Spell { is_busy, ends: self.clock.after(length)?, factor: 1.0 });
        };
        let factor = if is_busy { log_normal(&mut self.rng, spread) } else { factor };
        Some(Spell { is_busy, ends: self.clock.after(length)?, factor })
    }
}

/// Draws a factor with a mean of one whose logarithm is normal with this deviation (Box and Muller,
/// 1958).
fn log_normal(rng: &mut Rng, deviation: f64) -> f64 {
    if deviation == 0.0 {
        return 1.0;
    }
    let radius = libm::sqrt(-2.0 * libm::log1p(-rng.unit()));
    let normal = radius * libm::cos(std::f64::consts::TAU * rng.unit());
    libm::exp(deviation * normal - 0.5 * deviation * deviation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(arrivals: Arrivals, seed: u64) -> Moments {
        Moments::new(arrivals, 1.0, Span::ZERO, seed)
    }

    fn gaps(arrivals: Arrivals, count: usize) -> Vec<f64> {
        let mut moments = moments(arrivals, 4);
        let times: Vec<u64> = (0..count).map(|_| moments.next().unwrap().0).collect();
        assert!(times.is_sorted());
        times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
    }

    fn mean_and_cv(gaps: &[f64]) -> (f64, f64) {
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        (mean, variance.sqrt() / mean)
    }

    #[test]
    fn poisson_gaps_have_their_mean_and_deviation_even_near_a_nanosecond() {
        for rate in [1e-3, 5_000.0, 1e9] {
            let (mean, cv) = mean_and_cv(&gaps(Arrivals::Poisson { rate }, 100_000));
            let expected = 1e9 / rate;
            assert!((mean / expected - 1.0).abs() < 0.02, "{rate}: {mean}");
            let rounding = if rate > 1e8 { 0.2 } else { 0.02 };
            assert!((cv - 1.0).abs() < rounding, "{rate}: {cv}");
        }
    }

    #[test]
    fn fixed_arrivals_keep_their_rate_without_drift() {
        let mut moments = moments(Arrivals::Fixed { rate: 3.0 }, 0);
        let times: Vec<u64> = (0..4).map(|_| moments.next().unwrap().0).collect();
        assert_eq!(times, [0, 333_333_333, 666_666_666, 999_999_999]);
        moments.count = 3_000_000_000;
        let drift = moments.next().unwrap().0.abs_diff(1_000_000_000_000_000_000);
        assert!(drift <= 128, "{drift} ns in 31 years");
        let whole = gaps(Arrivals::Fixed { rate: 1000.0 }, 1000);
        assert!(whole.iter().all(|&gap| gap == 1e6));
    }

    #[test]
    fn bursts_have_their_mean_rate_and_more_variation_than_poisson() {
        let bursts = Arrivals::Bursts {
            busy_rate: 10_000.0,
            quiet_rate: 0.0,
            mean_busy: Span::ms(10),
            mean_quiet: Span::ms(90),
        };
        let (mean, cv) = mean_and_cv(&gaps(bursts, 400_000));
        assert!((mean / 1e6 - 1.0).abs() < 0.05, "{mean}");
        // Squared coefficient of variation of an interrupted Poisson process (Kuczura, 1973):
        // 1 + 2 * busy_rate * off_rate / (on_rate + off_rate)^2 with switching rates 1/mean.
        let (on, off) = (100.0f64, 1000.0 / 90.0);
        let expected = (1.0 + 2.0 * 10_000.0 * on / ((on + off) * (on + off))).sqrt();
        assert!((cv / expected - 1.0).abs() < 0.05, "{cv} for {expected}");
        let both = Arrivals::Bursts {
            busy_rate: 1000.0,
            quiet_rate: 1000.0,
            mean_busy: Span::us(1),
            mean_quiet: Span::ms(3),
        };
        let (mean, cv) = mean_and_cv(&gaps(both, 100_000));
        assert!((mean / 1e6 - 1.0).abs() < 0.02 && (cv - 1.0).abs() < 0.02, "{mean} {cv}");
    }

    #[test]
    fn cycles_repeat_exactly_but_for_their_factors() {
        let cycle = |spread| Arrivals::Cycle {
            busy_rate: 3000.0,
            quiet_rate: 0.0,
            busy: Span::ms(1000),
            quiet: Span::ms(4000),
            spread,
        };
        for spread in [0.0, 0.4] {
            let mut moments = moments(cycle(spread), 2);
            let mut counts = vec![0.0; 1000];
            while let Some(Nanos(at)) = moments.next() {
                let (number, within) = (at / 5_000_000_000, at % 5_000_000_000);
                assert!(within < 1_000_000_000, "a busy second, then four quiet ones");
                let Some(count) = counts.get_mut(number as usize) else { break };
                *count += 1.0;
            }
            let (mean, cv) = mean_and_cv(&counts);
            assert!((mean / 3000.0 - 1.0).abs() < 0.05, "{mean}");
            // The factor's variation, e^(s^2) - 1, and that of a Poisson count.
            let expected = (spread * spread).exp_m1() + 1.0 / 3000.0;
            assert!((cv / expected.sqrt() - 1.0).abs() < 0.15, "{cv}");
        }
    }

    #[test]
    fn time_ends_instead_of_wrapping() {
        let start = |arrivals| moments(arrivals, 0);
        let mut moments = start(Arrivals::Poisson { rate: 1e-6 });
        moments.clock.at = Nanos(u64::MAX - 5);
        assert_eq!(moments.next(), None);
        let mut moments = start(Arrivals::Fixed { rate: 1e-6 });
        moments.count = u64::MAX / 1000;
        assert_eq!(moments.next(), None);
        let mut moments = start(Arrivals::Poisson { rate: 1e9 });
        moments.clock.at = LATEST;
        assert!(std::iter::from_fn(|| moments.next()).take(100).all(|at| at <= LATEST));
        assert!(moments.clock.at > LATEST);
    }
}
