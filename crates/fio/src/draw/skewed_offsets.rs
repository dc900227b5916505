//! Skewed distributions over the blocks of a file: Zipf's law, Pareto, normal.
//!
//! Zipf's law is drawn as in J. Gray et al., "Quickly generating billion-record synthetic
//! databases" (SIGMOD 1994). Drawn blocks are hashed, so that hot blocks are spread over the file.

use super::Taus88;
use crate::job::Distribution;
use libm::{ceil, log, pow};

/// Largest number of terms in a zeta sum, which normalizes Zipf's law.
const TERMS: u64 = 10_000_000;
/// Multiplier that spreads hot blocks over the file: 2^64 divided by the golden ratio, squared.
const SPREAD: u64 = 0x61c8_8646_80b5_83eb;
/// Number of uniform draws whose sum makes a normal one.
const SUMMANDS: u64 = 12;

/// A skewed distribution over the blocks of one file.
#[derive(Clone, Debug)]
pub(crate) struct Skewed {
    random: Taus88,
    blocks: u64,
    shift: u64,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    Zipf { theta: f64, zetan: f64, eta: f64, half: f64 },
    Pareto { power: f64 },
    Normal { deviation: u64 },
}

impl Skewed {
    /// Returns the distribution over `blocks` blocks of a file; `None` if `distribution` is not
    /// skewed.
    pub fn new(distribution: &Distribution, blocks: u64, seed: u64) -> Option<Skewed> {
        let mut random = Taus88::new(seed);
        let blocks = blocks.max(1);
        let shifted = |random: &mut Taus88, center: Option<f64>| {
            let drawn = u64::from(random.draw());
            center.map_or(drawn, |center| (blocks as f64 * center) as u64)
        };
        let (shape, shift) = match *distribution {
            Distribution::Zipf { theta, center } => {
                let shift = shifted(&mut random, center);
                (zipf(theta, blocks), shift)
            }
            Distribution::Pareto { h, center } => {
                let shift = shifted(&mut random, center);
                (Shape::Pareto { power: log(h) / log(1.0 - h) }, shift)
            }
            Distribution::Normal { deviation, center } => {
                let deviation = ceil(blocks as f64 * deviation / 100.0) as u64;
                let shape = Shape::Normal { deviation: deviation.min(blocks / 2) };
                let shift = center.map_or(0, |center| (blocks as f64 * (center - 0.5)) as i64);
                // A shift to the left wraps at 32 bits.
                (shape, u64::from(shift as u32))
            }
            _ => return None,
        };
        Some(Skewed { random, blocks, shift, shape })
    }

    /// Draws the number of a block of the file, from 0, from the skewed distribution (Zipf, Pareto
    /// or normal).
    pub fn next_block(&mut self) -> u64 {
        let blocks = self.blocks;
        let drawn = match self.shape {
            Shape::Zipf { theta, zetan, eta, half } => {
                let u = f64::from(self.random.draw()) / f64::from(u32::MAX);
                let z = u * zetan;
                if z < 1.0 {
                    0
                } else if z < 1.0 + half {
                    1
                } else {
                    (blocks as f64 * pow(eta * u - eta + 1.0, 1.0 / (1.0 - theta))) as u64
                }
            }
            Shape::Pareto { power } => {
                let u = f64::from(self.random.draw()) / f64::from(u32::MAX);
                ((blocks - 1) as f64 * pow(u, power)) as u64
            }
            Shape::Normal { deviation } => self.normal(deviation),
        };
        drawn.wrapping_mul(SPREAD).wrapping_add(self.shift) % blocks
    }

    fn normal(&mut self, deviation: u64) -> u64 {
        let draws = (0..SUMMANDS).map(|_| u64::from(self.random.draw()) % (self.blocks + 1));
        let mean = draws.sum::<u64>().div_ceil(SUMMANDS);
        if deviation == 0 {
            return mean;
        }
        let mut offset = (deviation as f64 * self.random.unit()) as i64 - (deviation / 2) as i64;
        while offset != 0 && mean.wrapping_add_signed(offset) >= self.blocks {
            offset /= 2;
        }
        mean.wrapping_add_signed(offset)
    }
}

fn zipf(theta: f64, blocks: u64) -> Shape {
    let term = |rank: u64| pow(1.0 / rank as f64, theta);
    let zetan: f64 = (1..=blocks.min(TERMS)).map(term).sum();
    let zeta2 = term(1) + term(2);
    let eta = (1.0 - pow(2.0 / blocks as f64, 1.0 - theta)) / (1.0 - zeta2 / zetan);
    Shape::Zipf { theta, zetan, eta, half: pow(0.5, theta) }
}

/// Returns Bob Jenkins' hash of 2006 (lookup3) of a file name, initialized as in fio, which seeds
/// the file's distributions.
pub(crate) fn name_hash(name: &[u8]) -> u32 {
    const START: u32 = 0x61c8_8647;
    let mut state = [START.wrapping_add(name.len() as u32); 3];
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    let mut rest = name;
    while rest.len() > 12 {
        let (part, next) = rest.split_at(12);
        add(&mut state, part, word);
        mix(&mut state);
        rest = next;
    }
    if !rest.is_empty() {
        add(&mut state, rest, word);
        finish(&mut state);
    }
    state[2]
}

fn add(state: &mut [u32; 3], bytes: &[u8], word: impl Fn(&[u8]) -> u32) {
    for (state, bytes) in state.iter_mut().zip(bytes.chunks(4)) {
        *state = state.wrapping_add(word(bytes));
    }
}

fn mix(state: &mut [u32; 3]) {
    // Each step works on the words in turn: a with c, b with a, c with b.
    for (step, by) in [4, 6, 8, 16, 19, 4].into_iter().enumerate() {
        let [own, other, third] = [step % 3, (step + 2) % 3, (step + 1) % 3];
        state[own] = state[own].wrapping_sub(state[other]) ^ state[other].rotate_left(by);
        state[other] = state[other].wrapping_add(state[third]);
    }
}

fn finish(state: &mut [u32; 3]) {
    // c with b, a with c, b with a, and so on.
    for (step, by) in [14, 11, 25, 16, 4, 14, 24].into_iter().enumerate() {
        let [own, other] = [(step + 2) % 3, (step + 1) % 3];
        state[own] = (state[own] ^ state[other]).wrapping_sub(state[other].rotate_left(by));
    }
}
