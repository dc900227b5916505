//! Named random streams. Each consumer draws from a separate stream, keyed by a name, so adding or
//! removing a consumer does not change the draws of others.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A deterministic random number generator, xoshiro256++, seeded from `(seed, name)`. A test
/// compares its first numbers with constants, so that results of old runs stay reproducible.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// Returns the random number generator of one consumer, which `name` identifies (such as
    /// `"victim/d_choices"`), in a run with this `seed`.
    pub fn stream(seed: u64, name: &str) -> Rng {
        // FNV-1a: a fixed, documented hash; `seed_from_u64` then spreads it with SplitMix64.
        let key = name.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed.rotate_left(32), |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Rng(Xoshiro256PlusPlus::seed_from_u64(key ^ seed))
    }

    /// Returns 64 uniformly random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a whole number in `0..bound`. The bias is at most `bound / 2^64` (Lemire's
    /// multiply-shift), too small to measure.
    ///
    /// # Panics
    /// If `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "nothing to choose from");
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a real number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns a draw from the standard normal distribution (Box and Muller 1958). Takes two
    /// numbers from the stream.
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.unit(), self.unit());
        libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(std::f64::consts::TAU * angle)
    }

    /// Returns `true` with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_name_and_by_seed_and_repeat() {
        let draw = |seed, name| Rng::stream(seed, name).bits();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn values_are_frozen() {
        let mut rng = Rng::stream(42, "golden");
        let drawn: Vec<u64> = (0..3).map(|_| rng.below(1_000_000)).collect();
        assert_eq!(drawn, GOLDEN);
    }

    const GOLDEN: [u64; 3] = [364_218, 672_309, 569_888];

    #[test]
    fn below_stays_below_and_reaches_both_ends() {
        let mut rng = Rng::stream(7, "ends");
        let drawn: Vec<u64> = (0..1000).map(|_| rng.below(3)).collect();
        assert!(drawn.iter().all(|&n| n < 3) && [0, 1, 2].iter().all(|n| drawn.contains(n)));
    }
}
