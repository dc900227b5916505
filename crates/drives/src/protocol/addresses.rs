//! The addresses of a stream's requests: slots of one request each, on a drive of any size.

use fowler_units::{Rng, Scatter};
use fowler_workload::Zipf;

/// The pattern of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Addresses {
    /// Every slot equally likely.
    Uniform,
    /// Slot after slot, again from the beginning after the last.
    InOrder,
    /// Every slot once, in random order; then again.
    EachOnce,
    /// Zipf over all slots.
    Zipf {
        /// The skew.
        theta: f64,
        /// Slots of the ranks.
        ranks: Ranks,
    },
    /// Sets of slots, mixed over the space: the share of the slots and of the requests of each.
    Sets(Vec<(f64, f64)>),
    /// Open zones that are appended to; a full one is replaced by a random one.
    Zones {
        /// The share of the space that a zone takes.
        size: f64,
        /// Number of open zones.
        open: u32,
    },
}

/// The assignment of slots to the ranks of a Zipf distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranks {
    /// A random permutation: hot slots are no neighbors.
    Permuted,
    /// The slot of that number: hot slots are neighbors.
    InPlace,
    /// A hash that is no permutation, as fio's: several ranks fall on a slot, and some slots are
    /// never drawn.
    Hashed,
}

/// Draws slots, without an end.
pub struct Slots {
    kind: Drawn,
    slots: u64,
    rng: Rng,
}

enum Drawn {
    Uniform,
    InOrder(u64),
    EachOnce(Scatter, u64),
    Zipf(Zipf, Ranks, Scatter),
    Sets(Vec<(f64, u64, u64)>, Scatter),
    Zones { all: Vec<u64>, open: Vec<(u64, u64)>, size: u64 },
}

impl Slots {
    /// Returns the pattern over `slots` slots. `stream` names its random stream; streams of the
    /// same `layout` agree on which slots are hot.
    pub fn new(pattern: &Addresses, slots: u64, seed: u64, stream: &str) -> Slots {
        let mut rng = Rng::stream(seed, &format!("protocol/addresses/{stream}"));
        let scatter = || Scatter::new(slots, &mut Rng::stream(seed, "protocol/layout"));
        let kind = match pattern {
            Addresses::Uniform => Drawn::Uniform,
            Addresses::InOrder => Drawn::InOrder(0),
            Addresses::EachOnce => Drawn::EachOnce(scatter(), 0),
            &Addresses::Zipf { theta, ranks } => {
                Drawn::Zipf(Zipf::new(slots, theta), ranks, scatter())
            }
            Addresses::Sets(sets) => Drawn::Sets(ranges(sets, slots), scatter()),
            &Addresses::Zones { size, open } => {
                let size = ((slots as f64 * size).round() as u64).clamp(1, slots);
                let zones = slots / size;
                // The closed zones in random order, followed by the open zones.
                let order = Scatter::new(zones, &mut rng);
                let mut all: Vec<u64> = (0..zones).map(|zone| order.at(zone)).collect();
                let count = u64::from(open).min(zones) as usize;
                let open = all.split_off(all.len() - count);
                Drawn::Zones { all, open: open.into_iter().map(|zone| (zone, 0)).collect(), size }
            }
        };
        Slots { kind, slots, rng }
    }

    /// Draws the next slot.
    pub fn draw(&mut self) -> u64 {
        let Slots { kind, slots, rng } = self;
        let slots = *slots;
        match kind {
            Drawn::Uniform => rng.below(slots),
            Drawn::InOrder(next) => {
                let slot = *next;
                *next = (slot + 1) % slots;
                slot
            }
            Drawn::EachOnce(scatter, next) => {
                let slot = scatter.at(*next);
                *next = (*next + 1) % slots;
                slot
            }
            Drawn::Zipf(zipf, ranks, scatter) => match ranks {
                Ranks::InPlace => zipf.draw(rng),
                Ranks::Permuted => scatter.at(zipf.draw(rng)),
                Ranks::Hashed => hashed(zipf.draw(rng), slots),
            },
            Drawn::Sets(sets, scatter) => {
                let drawn = rng.unit();
                let place = sets.partition_point(|&(upto, ..)| upto <= drawn);
                let (_, first, count) = sets[place.min(sets.len() - 1)];
                scatter.at(first + rng.below(count))
            }
            Drawn::Zones { all, open, size } => append(all, open, *size, rng),
        }
    }
}

/// Appends to a random open zone. A full one goes back to the others, and one of these is opened,
/// which may be the same.
fn append(all: &mut Vec<u64>, open: &mut [(u64, u64)], size: u64, rng: &mut Rng) -> u64 {
    let which = rng.below(open.len() as u64) as usize;
    let (zone, written) = &mut open[which];
    let slot = *zone * size + *written;
    *written += 1;
    if *written == size {
        all.push(*zone);
        let next = all.swap_remove(rng.below(all.len() as u64) as usize);
        open[which] = (next, 0);
    }
    slot
}

/// Returns the sets that are written: the sum of shares up to each, its first slot and its slots.
fn ranges(sets: &[(f64, f64)], slots: u64) -> Vec<(f64, u64, u64)> {
    let sizes: f64 = sets.iter().map(|(size, _)| size).sum();
    let shares: f64 = sets.iter().map(|(_, share)| share).sum();
    let (mut space, mut upto, mut first) = (0.0, 0.0, 0);
    let mut ranges = Vec::new();
    for &(size, share) in sets {
        space += size / sizes;
        let last = ((slots as f64 * space).round() as u64).min(slots);
        if share > 0.0 && last > first {
            upto += share / shares;
            ranges.push((upto, first, last - first));
        }
        first = last;
    }
    ranges
}

/// A hash of a rank onto the slots: SplitMix64's finalizer.
fn hashed(rank: u64, slots: u64) -> u64 {
    let value = (rank ^ rank >> 30).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = value.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((u128::from(value ^ value >> 31) * u128::from(slots)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pattern: &Addresses, slots: u64, draws: u64) -> Vec<u64> {
        let mut drawn = Slots::new(pattern, slots, 1, "test");
        let mut counts = vec![0; slots as usize];
        (0..draws).for_each(|_| counts[drawn.draw() as usize] += 1);
        counts
    }

    #[test]
    fn every_pattern_draws_what_it_says() {
        let each = [Addresses::InOrder, Addresses::EachOnce];
        for pattern in each {
            assert_eq!(counts(&pattern, 97, 291), [3; 97], "{pattern:?}");
        }
        // Zones of ten slots, written whole: no slot is written twice before its zone is full.
        let zones = counts(&Addresses::Zones { size: 0.1, open: 3 }, 100, 5_000);
        for zone in zones.chunks(10) {
            assert!(zone.windows(2).all(|pair| pair[0] == pair[1] || pair[0] == pair[1] + 1));
        }
        let sets = Addresses::Sets(vec![(0.5, 0.0), (0.4, 0.1), (0.1, 0.9)]);
        let mut counts = counts(&sets, 1_000, 100_000);
        counts.sort_unstable();
        assert_eq!(counts[..500], [0; 500], "half of the slots are never written");
        let hot: u64 = counts[900..].iter().sum();
        assert!((89_000..91_000).contains(&hot), "{hot}");
    }

    #[test]
    fn ranks_lie_as_they_should() {
        let zipf = |ranks| counts(&Addresses::Zipf { theta: 1.0, ranks }, 1_000, 100_000);
        let (in_place, permuted, hashed) =
            (zipf(Ranks::InPlace), zipf(Ranks::Permuted), zipf(Ranks::Hashed));
        assert!(in_place[0] > 12_000 && in_place[0] > in_place[1]);
        let sorted = |mut counts: Vec<u64>| {
            counts.sort_unstable();
            counts
        };
        assert_ne!(in_place, permuted);
        assert_eq!(sorted(in_place).last(), sorted(permuted).last());
        let never = hashed.iter().filter(|&&count| count == 0).count();
        // Each slot is missed by all ranks with probability 1/e.
        assert!((300..440).contains(&never), "{never}");
    }
}
