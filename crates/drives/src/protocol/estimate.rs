//! Simulated numbers with confidence intervals.

/// A simulated number with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Value of a measured quantity, such as a latency or a rate, that a simulation gave.
    pub value: f64,
    /// 95 % confidence interval of the simulated value; `None` if there are too few samples for
    /// one.
    pub interval: Option<(f64, f64)>,
}

/// Two-sided 95 % point of the standard normal distribution.
const Z: f64 = 1.96;

impl Estimate {
    /// Returns an estimate of a simulated number without a confidence interval.
    pub fn bare(value: f64) -> Estimate {
        Estimate { value, interval: None }
    }

    /// Returns a simulated number `value` with the half width of the 95 % confidence interval of
    /// the mean of `batches`, the values of that number in consecutive equal parts of the
    /// simulation; no interval for fewer than two batches.
    pub fn of_batches(value: f64, batches: &[f64]) -> Estimate {
        let interval = fowler_experiment::sample::interval(batches);
        let interval = interval.map(|it| (value - it.half_width, value + it.half_width));
        Estimate { value, interval }
    }

    /// Applies a non-decreasing function to the estimated value and to both ends of its confidence
    /// interval.
    pub fn map(self, of: impl Fn(f64) -> f64) -> Estimate {
        Estimate {
            value: of(self.value),
            interval: self.interval.map(|(low, high)| (of(low), of(high))),
        }
    }

    /// Returns the quotient of two estimates of simulated numbers; the squares of the relative
    /// half-widths of their confidence intervals add up.
    pub fn over(self, other: Estimate) -> Estimate {
        let value = self.value / other.value;
        let relative = |it: Estimate| {
            it.interval.map_or(0.0, |(low, high)| ((high - low) / 2.0 / it.value).abs())
        };
        let (one, two) = (relative(self), relative(other));
        let half = value * libm::sqrt(one * one + two * two);
        Estimate { value, interval: (half > 0.0).then_some((value - half, value + half)) }
    }

    /// Returns the larger distance from a simulated number to an end of its confidence interval,
    /// relative to the number; `None` without an interval, or if the number is not above zero.
    pub fn relative(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        (self.value > 0.0).then(|| (self.value - low).max(high - self.value) / self.value)
    }
}

/// Returns a quantile of sorted samples with its interval by order statistics: the ranks
/// `n p -+ 1.96 sqrt(f n p (1 - p))`, where `f` is the variance of the number of exceedances over
/// batches relative to that of independent samples (Heidelberger and Lewis, "Quantile estimation in
/// dependent sequences", Operations Research 32, 1984). Returns `None` with fewer than ten samples
/// beyond the quantile on either side, and no interval if its ranks do not exist.
pub fn quantile(sorted: &[u64], in_order: &[u64], p: f64) -> Option<Estimate> {
    let n = sorted.len() as f64;
    if n * p.min(1.0 - p) < BEYOND_LEAST {
        return None;
    }
    let at = |rank: f64| sorted[(rank.ceil() as usize).clamp(1, sorted.len()) - 1] as f64;
    let value = at(n * p);
    let factor = variance_factor(in_order, value as u64, p);
    let off = Z * libm::sqrt(factor * n * p * (1.0 - p));
    let (low, high) = (n * p - off, n * p + off);
    let interval = (low >= 1.0 && high <= n).then(|| (at(low), at(high)));
    Some(Estimate { value, interval })
}

/// Smallest number of samples beyond a quantile, on either side, with which it is given.
const BEYOND_LEAST: f64 = 10.0;
/// Number of batches of consecutive latencies in which latencies above a quantile are counted, to
/// estimate the quantile's confidence interval.
const BATCHES: usize = 20;

/// Returns the variance, over batches, of the number of samples above `value`, relative to that of
/// independent samples; at least 1.
fn variance_factor(in_order: &[u64], value: u64, p: f64) -> f64 {
    let length = in_order.len() / BATCHES;
    // With fewer than one exceedance in a batch, the counts say nothing of dependence.
    let expected = length as f64 * (1.0 - p);
    if expected < 1.0 {
        return 1.0;
    }
    let counts: Vec<f64> = in_order
        .chunks_exact(length)
        .take(BATCHES)
        .map(|batch| batch.iter().filter(|&&sample| sample > value).count() as f64)
        .collect();
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let squares: f64 = counts.iter().map(|count| (count - mean) * (count - mean)).sum();
    let variance = squares / (counts.len() - 1) as f64;
    (variance / (expected * p)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Rng;

    #[test]
    fn intervals_of_quantiles_hold_the_true_one_as_often_as_they_say() {
        // Exponential samples, independent or each drawn once for twenty in a row.
        for (repeats, p) in [(1, 0.5), (1, 0.99), (20, 0.9)] {
            let (mut held, runs, count) = (0, 300, 20_000);
            for run in 0..runs {
                let mut rng = Rng::stream(run, "quantile");
                let mut all = Vec::with_capacity(count);
                while all.len() < count {
                    let value = (-libm::log(1.0 - rng.unit()) * 1e6) as u64;
                    all.extend(std::iter::repeat_n(value, repeats));
                }
                let mut sorted = all.clone();
                sorted.sort_unstable();
                let (low, high) = quantile(&sorted, &all, p).unwrap().interval.unwrap();
                let exact = -libm::log(1.0 - p) * 1e6;
                held += u32::from((low..=high).contains(&exact));
            }
            let share = f64::from(held) / runs as f64;
            assert!((0.90..=1.0).contains(&share), "{repeats} in a row, p {p}: {share}");
        }
    }

    #[test]
    fn a_quantile_needs_samples_beyond_it() {
        let sorted: Vec<u64> = (1..=1_000).collect();
        assert_eq!(quantile(&sorted, &sorted, 0.999), None);
        assert_eq!(quantile(&sorted, &sorted, 0.99).unwrap().value, 990.0);
        assert_eq!(quantile(&sorted, &sorted, 0.5).unwrap().value, 500.0);
    }

    #[test]
    fn a_ratio_is_as_uncertain_as_both() {
        let one = Estimate { value: 10.0, interval: Some((9.7, 10.3)) };
        let other = Estimate { value: 5.0, interval: Some((4.8, 5.2)) };
        let ratio = one.over(other);
        let (low, high) = ratio.interval.unwrap();
        assert!((ratio.value - 2.0).abs() < 1e-12 && (high - low - 0.2).abs() < 1e-12);
        assert_eq!(
            one.over(Estimate::bare(2.0)).relative().map(|it| (it * 100.0).round()),
            Some(3.0)
        );
    }
}
