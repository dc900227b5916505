//! Functions of the normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Returns the probability that a standard normal variable is above `z`. Exact far into the tail,
/// where `1 - cdf` is not.
pub(crate) fn above(z: f64) -> f64 {
    0.5 * libm::erfc(z * FRAC_1_SQRT_2)
}

/// Returns the density of a standard normal variable at `z`.
pub(crate) fn density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z) / libm::sqrt(TAU)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_tables() {
        for (z, tail) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_931_457),
            (3.0, 1.349_898_031_630_095e-3),
            (6.0, 9.865_876_450_376_98e-10),
        ] {
            assert!((above(z) / tail - 1.0).abs() < 1e-12, "{z}: {}", above(z));
            assert!((above(z) + above(-z) - 1.0).abs() < 1e-15);
        }
        assert!((density(1.0) - 0.241_970_724_519_143_37).abs() < 1e-15);
    }
}
