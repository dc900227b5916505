//! Draws exact Zipf ranks in constant time and memory, for any skew and any number of ranks.
//!
//! Source: W. Hoermann and G. Derflinger, "Rejection-inversion to generate variates from monotone
//! discrete distributions", ACM TOMACS 6(3), 1996. The area under the hat `h(x) = x^-theta` over
//! `[1/2, n + 1/2]` is inverted; a rank is accepted if the draw lies under its bar. Implemented
//! here because libraries do not guarantee the same values across releases. It uses `libm`'s
//! functions because those of the host differ in the last bit between machines.

use fowler_units::Rng;

/// A Zipf distribution over the ranks `0..n`: rank `k` has probability proportional to
/// `(k + 1)^-theta`.
#[derive(Clone, Debug)]
pub struct Zipf {
    ranks: u64,
    theta: f64,
    /// Least area under `h(x) = x^-theta`, the hat of the rejection sampling, from which a rank is
    /// drawn: `H(1.5) - h(1)`, where `H(x)` is the area from 1 to x. The most likely rank is then
    /// never rejected.
    from: f64,
    /// `H(n + 1/2)`, the largest area under the hat `h(x) = x^-theta` from which one of `n` ranks
    /// is drawn; `H(x)` is the area from 1 to x.
    to: f64,
    /// Largest `k - x` with which a rank `k` is accepted without computing the hat `x^-theta`.
    /// Ranks are drawn by rejection-inversion: `x` is drawn under the hat, and `k` is `x` rounded.
    sure: f64,
}

impl Zipf {
    /// Returns Zipf's distribution over `ranks` ranks (at least one) of popularity, with a finite
    /// skew `theta` of at least zero.
    ///
    /// # Panics
    /// If there is no rank, or `theta` is negative or not finite.
    pub fn new(ranks: u64, theta: f64) -> Zipf {
        assert!(ranks > 0, "at least one rank");
        assert!(theta.is_finite() && theta >= 0.0, "a skew");
        let mut zipf = Zipf { ranks, theta, from: 0.0, to: 0.0, sure: 0.0 };
        zipf.from = zipf.area(1.5) - 1.0;
        zipf.to = zipf.area(ranks as f64 + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.area(2.5) - zipf.hat(2.0));
        zipf
    }

    /// Returns `h(x) = x^-theta`, the hat function under which a rank is drawn by
    /// rejection-inversion.
    fn hat(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// Returns `H(x)`, the area under the hat `h(x) = x^-theta` between 1 and x. It is equal to
    /// `(x^(1-theta) - 1) / (1 - theta)`, or to `ln x` if theta is 1.
    fn area(&self, x: f64) -> f64 {
        let log = libm::log(x);
        log * expm1_over((1.0 - self.theta) * log)
    }

    /// Returns the `x` up to which the area under the hat `x^-theta`, counted from 1, is `area`.
    fn inverse(&self, area: f64) -> f64 {
        // Rounding may push the argument of the logarithm to -1 for a skew above 1.
        let t = (area * (1.0 - self.theta)).max(-1.0 + f64::EPSILON);
        libm::exp(area * log1p_over(t))
    }

    /// Draws a rank from Zipf's distribution, 0 being the most likely.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.to + rng.unit() * (self.from - self.to);
            let x = self.inverse(area);
            let rank = (x + 0.5).clamp(1.0, self.ranks as f64).trunc();
            if rank - x <= self.sure || area >= self.area(rank + 0.5) - self.hat(rank) {
                return rank as u64 - 1;
            }
        }
    }
}

/// Returns `(e^x - 1) / x`, continued through zero.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::expm1(x) / x } else { 1.0 + x / 2.0 }
}

/// Returns `ln(1 + x) / x`, continued through zero.
fn log1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::log1p(x) / x } else { 1.0 - x / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_have_their_exact_probabilities() {
        const DRAWS: u64 = 200_000;
        for theta in [0.0, 0.5, 0.99, 1.0, 1.2, 3.0] {
            for ranks in [1u64, 2, 3, 20] {
                let zipf = Zipf::new(ranks, theta);
                let mut rng = Rng::stream(9, "zipf");
                let mut counts = vec![0u64; ranks as usize];
                for _ in 0..DRAWS {
                    counts[zipf.draw(&mut rng) as usize] += 1;
                }
                let weights: Vec<f64> = (1..=ranks).map(|k| (k as f64).powf(-theta)).collect();
                let sum: f64 = weights.iter().sum();
                for (&count, weight) in counts.iter().zip(weights) {
                    let p = weight / sum;
                    let sigma = (DRAWS as f64 * p * (1.0 - p)).sqrt();
                    let error = (count as f64 - DRAWS as f64 * p).abs();
                    assert!(error <= 5.0 * sigma + 1.0, "theta {theta}, {ranks} ranks: {counts:?}");
                }
            }
        }
    }

    #[test]
    fn the_largest_space_and_skew_end_and_stay_inside() {
        let mut rng = Rng::stream(9, "zipf/edges");
        for theta in [0.0, 1e-12, 0.99, 1.0, 1.0 + 1e-12, 20.0] {
            for ranks in [1, 2, 1 << 50] {
                let zipf = Zipf::new(ranks, theta);
                assert!((0..2000).all(|_| zipf.draw(&mut rng) < ranks));
            }
        }
    }
}
