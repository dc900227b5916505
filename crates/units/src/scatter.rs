//! A seeded bijection: brings `0..n` into a random order without keeping the order in memory.

use crate::Rng;

/// A permutation of `0..n` by a four-round Feistel network with cycle walking.
#[derive(Clone, Copy, Debug)]
pub struct Scatter {
    n: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Scatter {
    /// The permutation of `0..n` that belongs to the stream `name` of the run's `seed`.
    ///
    /// # Panics
    /// If `n` is zero or above 2^62.
    pub fn new(n: u64, seed: u64, name: &str) -> Self {
        assert!((1..=1 << 62).contains(&n));
        let bits = 64 - (n - 1).leading_zeros();
        let mut rng = Rng::stream(seed, name);
        Self { n, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| rng.bits()) }
    }

    /// Where `index` goes.
    ///
    /// # Panics
    /// If `index` is not below `n`.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        assert!(index < self.n);
        let mask = (1u64 << self.half_bits) - 1;
        let mut value = index;
        // The network permutes the next power of four; walking its cycles leads back below `n`.
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for key in self.keys {
                let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (left, right) = (right, left ^ ((mixed >> 32) & mask));
            }
            value = (left << self.half_bits) | right;
            if value < self.n {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_reached_once() {
        for n in [1, 2, 3, 5, 64, 1000, 4097] {
            let scatter = Scatter::new(n, 3, "test");
            let mut seen: Vec<u64> = (0..n).map(|index| scatter.at(index)).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..n), "{n}");
        }
    }

    #[test]
    fn neighbours_are_far_apart() {
        let n = 1 << 20;
        let scatter = Scatter::new(n, 3, "test");
        let near = (1..n).filter(|&i| scatter.at(i).abs_diff(scatter.at(i - 1)) < n / 100).count();
        // A random pair is that near with probability 2 %.
        assert!((15_000..27_000).contains(&near), "{near}");
    }
}
