//! The strength of blocks: the growth rate of a block's bit error rate is a bounded Gaussian (RHIO,
//! IV-A, after Pan et al.).
//!
//! A *strong* block has a low rate. We read "bounded" as truncated: values beyond the bounds are
//! drawn again, not clamped. This crate draws no random numbers: [`Strengths::strength_at`] takes a
//! quantile, and uniformly drawn quantiles give the distribution.

use crate::normal::{above, density};
use crate::parameters::Parameters;
use crate::root;

/// Distribution over blocks of the growth rate of the bit error rate, per P/E cycle. See
/// docs/decisions/cells.md, "What is block strength?".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strengths {
    /// Mean growth rate of the blocks' bit error rate, per P/E cycle. Leaving out blocks beyond the
    /// bounds, which lie symmetrically around the mean, does not change it.
    pub mean: f64,
    /// Standard deviation over blocks of the growth rate of the bit error rate, per P/E cycle,
    /// before the distribution is truncated at `bound`.
    pub sd: f64,
    /// Distance from the mean to the lowest and highest growth rate of the bit error rate, in
    /// standard deviations.
    pub bound: f64,
}

impl Strengths {
    /// Returns the distribution over blocks of the growth rate of the bit error rate that
    /// `parameters` define.
    pub fn new(parameters: &Parameters) -> Strengths {
        let Parameters { growth_mean, growth_sd, growth_bound, .. } = *parameters;
        Strengths { mean: growth_mean, sd: growth_sd, bound: growth_bound }
    }

    /// Returns the growth rate of the bit error rate, per P/E cycle, below which a share `quantile`
    /// of all blocks lies: 0 is the strongest block, 0.5 the average one, 1 the weakest.
    ///
    /// # Panics
    /// If `quantile` is not in 0 to 1.
    pub fn strength_at(&self, quantile: f64) -> f64 {
        assert!((0.0..=1.0).contains(&quantile), "{quantile} is not a quantile");
        if quantile == 0.5 {
            return self.mean;
        }
        // Use the nearer tail, because the distribution function has no digits left at its far end.
        let (share, side) = if quantile < 0.5 { (quantile, -1.0) } else { (1.0 - quantile, 1.0) };
        let beyond = above(self.bound);
        let inside = 1.0 - 2.0 * beyond;
        let z = root::last(0.0, self.bound, |z| above(z) - beyond >= share * inside);
        self.mean + side * z.unwrap_or(0.0) * self.sd
    }

    /// Returns the share of blocks whose bit error rate has a growth rate below `growth` per P/E
    /// cycle, 0 to 1.
    pub fn share_below(&self, growth: f64) -> f64 {
        let z = ((growth - self.mean) / self.sd).clamp(-self.bound, self.bound);
        let beyond = above(self.bound);
        ((above(-z) - beyond) / (1.0 - 2.0 * beyond)).clamp(0.0, 1.0)
    }

    /// Returns the probability density over blocks of a growth rate of the bit error rate of
    /// `growth` per P/E cycle, in cycles.
    pub fn density(&self, growth: f64) -> f64 {
        let z = (growth - self.mean) / self.sd;
        if z.abs() > self.bound {
            return 0.0;
        }
        density(z) / self.sd / (1.0 - 2.0 * above(self.bound))
    }

    /// Returns the standard deviation over blocks of the growth rate of the bit error rate, per P/E
    /// cycle, after truncation of the distribution at `bound` standard deviations from its mean.
    pub fn truncated_sd(&self) -> f64 {
        let inside = 1.0 - 2.0 * above(self.bound);
        self.sd * libm::sqrt(1.0 - 2.0 * self.bound * density(self.bound) / inside)
    }

    /// Returns the growth rates of the bit error rate of the strongest and of the weakest block,
    /// per P/E cycle.
    pub fn ends(&self) -> (f64, f64) {
        (self.mean - self.bound * self.sd, self.mean + self.bound * self.sd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_shares_are_inverse_and_keep_the_bounds() {
        let strengths = Strengths::new(&Parameters::default());
        let (strongest, weakest) = strengths.ends();
        assert_eq!(strengths.strength_at(0.0), strongest);
        assert_eq!(strengths.strength_at(1.0), weakest);
        assert_eq!(strengths.strength_at(0.5), 3.7e-4);
        let mut last = 0.0;
        for step in 0..=1000 {
            let quantile = f64::from(step) / 1000.0;
            let growth = strengths.strength_at(quantile);
            assert!(growth > last, "{quantile}");
            assert!((strongest..=weakest).contains(&growth));
            assert!((strengths.share_below(growth) - quantile).abs() < 1e-9, "{quantile}");
            last = growth;
        }
        assert_eq!((strengths.share_below(0.0), strengths.share_below(1.0)), (0.0, 1.0));
        assert_eq!((strengths.density(0.0), strengths.density(1.0)), (0.0, 0.0));
    }

    #[test]
    #[should_panic(expected = "not a quantile")]
    fn a_quantile_lies_between_zero_and_one() {
        Strengths::new(&Parameters::default()).strength_at(1.5);
    }
}
