//! A seeded bijection of `0..n` in constant memory: puts pages into a random order without storing
//! the order.
//!
//! A balanced Feistel network over the next even power of two is a bijection for any round
//! function. Values at or beyond `n` are permuted again until they fall below `n` (cycle walking;
//! Black and Rogaway, "Ciphers with arbitrary finite domains", 2002), fewer than four times on
//! average.

use crate::Rng;

/// Number of rounds of the Feistel network that puts numbers into a random order: four hide any
/// structure of the input (Luby and Rackoff, 1988).
const ROUNDS: usize = 4;

/// Number of values that a random permutation of `0..n` maps in one batch. Values that come out at
/// or above `n` are mapped again, the last few of a batch one by one, so a batch is large.
const BATCH: usize = 1024;

/// A pseudorandom bijection of `0..n`.
#[derive(Clone, Copy, Debug)]
pub struct Scatter {
    n: u64,
    /// Number of bits in each half of a value, the halves that the rounds of the Feistel network
    /// mix.
    half: u32,
    keys: [u64; ROUNDS],
}

impl Scatter {
    /// Returns a pseudorandom permutation of `0..n`, chosen by the next numbers that `rng` draws.
    ///
    /// # Panics
    /// If `n` is zero or above 2^62.
    pub fn new(n: u64, rng: &mut Rng) -> Scatter {
        assert!((1..=1 << 62).contains(&n), "`n` is zero or above 2^62");
        let bits = u64::BITS - (n - 1).leading_zeros();
        Scatter { n, half: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| rng.bits()) }
    }

    /// Returns the number to which the pseudorandom permutation of `0..n` maps `value`, which must
    /// be below `n`.
    #[inline]
    pub fn at(&self, value: u64) -> u64 {
        debug_assert!(value < self.n, "value not below `n`");
        let mut value = value;
        loop {
            value = self.permute(value);
            if value < self.n {
                return value;
            }
        }
    }

    /// Returns the pseudorandom permutation of `0..n` in tables, which is faster for callers that
    /// map most numbers below `n`.
    ///
    /// # Panics
    ///
    /// If `n` is above 2^32.
    pub fn tabled(&self) -> TabledScatter {
        assert!(self.n <= 1 << 32, "`n` above 2^32");
        let rounds = self.keys.map(|key| {
            let mut table = vec![0; 1 << 16].into_boxed_slice();
            for (right, entry) in (0..1 << self.half).zip(table.iter_mut()) {
                *entry = (mix(right ^ key) & ((1 << self.half) - 1)) as u16;
            }
            table.try_into().expect("2^16 entries")
        });
        TabledScatter { n: self.n, half: self.half, rounds }
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

/// A pseudorandom permutation of `0..n` that maps many numbers at once. Each round of its Feistel
/// network is a table over one half of a number (16 bits at most), and no number waits for the
/// rounds of the number before it.
#[derive(Clone, Debug)]
pub struct TabledScatter {
    n: u64,
    half: u32,
    /// For each round of the Feistel network, a table from the right half of a value to the bits
    /// that are XORed with the left half. It has 2^16 entries, so that no index needs a check;
    /// entries beyond the halves of values for this `n` are never accessed.
    rounds: [Box<[u16; 1 << 16]>; ROUNDS],
}

impl TabledScatter {
    /// Returns `n`, the number of values that the bijection permutes.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> u64 {
        self.n
    }

    /// Replaces each of the values, which must be below `n`, by the number to which the
    /// pseudorandom permutation of `0..n` maps it.
    pub fn apply(&self, values: &mut [u32]) {
        for values in values.chunks_mut(BATCH) {
            // The positions of values that are still at or beyond `n`: at first all positions.
            let mut outside: [u16; BATCH] = std::array::from_fn(|at| at as u16);
            let mut count = values.len();
            while count > 0 {
                let mut still = 0;
                for at in 0..count {
                    let value = &mut values[usize::from(outside[at])];
                    *value = self.permute(*value);
                    outside[still] = outside[at];
                    still += usize::from(u64::from(*value) >= self.n);
                }
                count = still;
            }
        }
    }

    #[inline]
    fn permute(&self, value: u32) -> u32 {
        let (mut left, mut right) =
            ((value >> self.half) as u16, (value & ((1 << self.half) - 1)) as u16);
        for round in &self.rounds {
            (left, right) = (right, left ^ round[usize::from(right)]);
        }
        u32::from(left) << self.half | u32::from(right)
    }
}

/// Returns a well-mixed hash of `value`: SplitMix64's finalizer (Steele, Lea and Flood, 2014).
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
            let mut looked_up: Vec<u32> = (0..n as u32).collect();
            scatter.tabled().apply(&mut looked_up);
            assert!(looked_up.into_iter().map(u64::from).eq(hit.iter().copied()), "{n}");
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
