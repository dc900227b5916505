//! A seeded bijection of `0..n`, in constant memory: brings pages into a random order without keeping
//! the order.
//!
//! A balanced Feistel network over the next even power of two is a bijection whatever its round
//! function; values at or beyond `n` are sent through again until one lies inside (cycle walking;
//! Black and Rogaway, "Ciphers with arbitrary finite domains", 2002), fewer than four times on
//! average.

use crate::Rng;

/// Rounds of the network: four hide any structure of the input (Luby and Rackoff, 1988).
const ROUNDS: usize = 4;

/// A bijection of `0..n`.
#[derive(Clone, Copy, Debug)]
pub struct Scatter {
    n: u64,
    /// Bits in half a value.
    half: u32,
    keys: [u64; ROUNDS],
}

impl Scatter {
    /// The bijection of `0..n` that the stream's next draws choose.
    ///
    /// # Panics
    /// If `n` is zero or above 2^62.
    pub fn new(n: u64, rng: &mut Rng) -> Scatter {
        assert!((1..=1 << 62).contains(&n), "a space that can be doubled twice");
        let bits = u64::BITS - (n - 1).leading_zeros();
        Scatter { n, half: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| rng.bits()) }
    }

    /// Where `value`, which must be below `n`, goes.
    #[inline]
    pub fn at(&self, value: u64) -> u64 {
        debug_assert!(value < self.n, "a value of the space");
        let mut value = value;
        loop {
            value = self.permute(value);
            if value < self.n {
                return value;
            }
        }
    }

    fn permute(&self, value: u64) -> u64 {
        let mask = (1 << self.half) - 1;
        let (mut left, mut right) = (value >> self.half, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        left << self.half | right
    }
}

/// SplitMix64's finalizer (Steele, Lea and Flood, 2014).
fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_hit_exactly_once() {
        for n in (1..=70).chain([255, 256, 257, 1000, 4097]) {
            let scatter = Scatter::new(n, &mut Rng::stream(n, "scatter"));
            let mut hit: Vec<u64> = (0..n).map(|value| scatter.at(value)).collect();
            hit.sort_unstable();
            assert!(hit.into_iter().eq(0..n), "{n}");
        }
    }

    #[test]
    fn neighbours_are_torn_apart() {
        let n = 1 << 20;
        let scatter = Scatter::new(n, &mut Rng::stream(1, "scatter"));
        let near = (1..1000).filter(|&v| scatter.at(v).abs_diff(scatter.at(v - 1)) < n / 64);
        assert!(near.count() < 100);
    }
}
