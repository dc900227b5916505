//! Confidence intervals for a fleet: of shares of drives, and of times until a share is replaced.

use super::drive::Replaced;
use std::f64::consts::FRAC_1_SQRT_2;

/// An estimated value with the bounds of its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower bound of the confidence interval of a fleet's result, such as the share of drives
    /// alive.
    pub low: f64,
    /// Estimate of a fleet's result, such as the share of drives alive, within its confidence
    /// interval.
    pub value: f64,
    /// Upper bound of the confidence interval of a fleet's result, such as the share of drives
    /// alive.
    pub high: f64,
}

impl Interval {
    pub(super) fn map(self, change: impl Fn(f64) -> f64) -> Interval {
        let Interval { low, value, high } = self;
        Interval { low: change(low), value: change(value), high: change(high) }
    }
}

/// Returns the value below which a share `p`, in (0, 1), of the standard normal distribution lies.
pub fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    // Halved until there is no number in between.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        let below = 0.5 * libm::erfc(-middle * FRAC_1_SQRT_2);
        if below < p { low = middle } else { high = middle }
    }
}

/// Returns a share with its Wilson interval (JASA 22, 1927), which is valid near 0 and 1 too.
pub fn wilson(count: u64, all: u64, z: f64) -> Interval {
    let (n, share) = (all as f64, count as f64 / all as f64);
    let scale = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / scale;
    let half = z * libm::sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n)) / scale;
    // Rounding must not take what was seen out of the interval.
    let (low, high) = ((centre - half).clamp(0.0, share), (centre + half).clamp(share, 1.0));
    Interval { low, value: share, high }
}

/// Returns a Poisson count with the interval of its mean, by Byar's approximation of the exact one
/// (Breslow and Day 1987, section 2.3). For counts of one or two, the lower bound is below the
/// exact one.
pub fn poisson(count: f64, z: f64) -> Interval {
    let bound = |n: f64, z: f64| {
        let root = (1.0 - 1.0 / (9.0 * n) + z / (3.0 * libm::sqrt(n))).max(0.0);
        n * root * root * root
    };
    let low = if count > 0.0 { bound(count, -z) } else { 0.0 };
    Interval { low, value: count, high: bound(count + 1.0, z) }
}

/// Returns the number of drives replaced in `drives` slots of a fleet, with the interval of its
/// mean. Counts that scatter more than Poisson counts, because loads differ, widen the interval
/// (quasi-likelihood; McCullagh and Nelder 1989, section 6.2.3); less scatter does not narrow it.
pub(super) fn replacements(replaced: Replaced, drives: u32, z: f64) -> Interval {
    let (count, n) = (replaced.count as f64, f64::from(drives));
    let variance = replaced.squares as f64 - count * count / n;
    let dispersion = if count > 0.0 { (variance / count).max(1.0) } else { 1.0 };
    let interval = poisson(count / dispersion, z).map(|bound| bound * dispersion);
    Interval { value: count, ..interval }
}

/// Returns an upper bound on the drives replaced in another fleet of the same size; the normal
/// quantile `z` sets the one-sided confidence. The variance of both fleets' counts is that over the
/// slots, taken as independent, plus one: so the bound is above zero if none was replaced.
pub fn at_most(replaced: Replaced, drives: u32, z: f64) -> u64 {
    let (count, n) = (replaced.count as f64, f64::from(drives));
    let variance = (replaced.squares as f64 - count * count / n).max(0.0) + 1.0;
    libm::ceil(count + z.max(0.0) * libm::sqrt(2.0 * variance)) as u64
}

/// Returns the quantile of sorted values, with the interval of its rank (binomial, by the normal
/// approximation).
pub(super) fn quantile(sorted: &[f64], share: f64, z: f64) -> Interval {
    let n = sorted.len() as f64;
    let half = z * libm::sqrt(n * share * (1.0 - share));
    let at = |rank: f64| sorted[(libm::floor(rank).max(0.0) as usize).min(sorted.len() - 1)];
    let rank = n * share;
    Interval { low: at(rank - half), value: at(rank), high: at(libm::ceil(rank + half)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (p, z) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.05, -1.644_853_626_951_472)] {
            assert!((normal_quantile(p) - z).abs() < 1e-12, "{p}: {}", normal_quantile(p));
        }
    }

    /// Newcombe (Statistics in Medicine 17, 1998), Table I: 81 of 263 and 0 of 20.
    #[test]
    fn wilsons_intervals_are_the_published_ones() {
        let z = normal_quantile(0.975);
        for (count, all, low, high) in [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611)] {
            let interval = wilson(count, all, z);
            let off = (interval.low - low).abs().max((interval.high - high).abs());
            assert!(off < 1e-4, "{interval:?}");
        }
    }

    /// Bounds agree with the exact intervals, in which either tail beyond the count has 2.5 %. The
    /// lower bounds for counts of one and two leave less, so that they promise no more than they
    /// hold.
    #[test]
    fn bounds_of_counts_are_nearly_exact() {
        let below = |count: u64, mean: f64| {
            let mut term = libm::exp(-mean);
            let mut sum = term;
            for k in 1..=count {
                term *= mean / k as f64;
                sum += term;
            }
            sum
        };
        let z = normal_quantile(0.975);
        for count in [1, 2, 3, 10, 50, 200] {
            let interval = poisson(count as f64, z);
            let [low, high] = [1.0 - below(count - 1, interval.low), below(count, interval.high)];
            let least = if count < 3 { 0.012 } else { 0.023 };
            assert!((least..0.0252).contains(&low), "{count}: {low}");
            assert!((0.0248..0.0252).contains(&high), "{count}: {high}");
        }
        assert_eq!(poisson(0.0, z).low, 0.0);
        assert!((below(0, poisson(0.0, z).high) - 0.025).abs() < 0.003);
    }
}
