//! Addresses of a stream's requests: slots of one request each, on a drive of any size.

use fowler_units::{Rng, Scatter};
use fowler_workload::Zipf;

/// Address pattern of a stream's requests; a slot is the place of one request.
#[derive(Clone, Debug, PartialEq)]
pub enum Addresses {
    /// A request is equally likely at every slot (a request-sized piece of the addresses).
    Uniform,
    /// Requests go to the slots (request-sized pieces of the addresses) in ascending order, over
    /// and over.
    InOrder,
    /// Requests go to every slot (a request-sized piece of the addresses) exactly once, in random
    /// order, then to every slot again.
    EachOnce,
    /// Requests go to slots (request-sized pieces of the addresses) whose popularity has a Zipf
    /// distribution.
    Zipf {
        /// Exponent of the Zipf distribution; larger is more skewed.
        theta: f64,
        /// Assignment of the popularity ranks (rank 0 is requested most) to slots, request-sized
        /// pieces of the addresses.
        ranks: Ranks,
    },
    /// Sets of slots (request-sized pieces of the addresses) that differ in popularity. Of each
    /// set: share of the slots, and share of the requests.
    Sets(Vec<(f64, f64)>),
    /// As [`Addresses::Sets`], but each set is one range of addresses, in ascending order.
    Ranges(Vec<(f64, f64)>),
    /// Sequential appends to several open zones; a full zone is replaced by a random one.
    Zones {
        /// Size of a zone as a share (0 to 1) of the addresses that the stream covers.
        size: f64,
        /// Number of zones that are open for appends at once.
        open: u32,
    },
}

/// Assignment of the popularity ranks of a Zipf distribution to slots, request-sized pieces of the
/// addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranks {
    /// Popularity ranks are assigned to request-sized slots of the addresses by a random
    /// permutation: popular slots are not neighbours.
    Permuted,
    /// The slot of popularity rank n is the n-th of the address range: popular slots are
    /// neighbours.
    InPlace,
    /// Popularity ranks are hashed to request-sized slots of the addresses as by fio, which is no
    /// permutation: several ranks fall on one slot, and some slots receive no request.
    Hashed,
}

/// An endless sequence of request addresses, counted in slots of one request each, that follows an
/// address pattern.
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
    Sets(Vec<(f64, u64, u64)>, Option<Scatter>),
    Zones { all: Vec<u64>, open: Vec<(u64, u64)>, size: u64 },
}

impl Slots {
    /// Returns the sequence of request addresses of a pattern over `slots` slots of one request
    /// each. `stream` names the random stream; every stream of a run with one `seed` has the same
    /// popular slots.
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
            Addresses::Sets(sets) => Drawn::Sets(ranges(sets, slots), Some(scatter())),
            Addresses::Ranges(sets) => Drawn::Sets(ranges(sets, slots), None),
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

    /// Returns the address of the next request of the sequence, as the number of a request-sized
    /// slot.
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
                let slot = first + rng.below(count);
                scatter.as_ref().map_or(slot, |scatter| scatter.at(slot))
            }
            Drawn::Zones { all, open, size } => append(all, open, *size, rng),
        }
    }
}

/// Appends a request to a random open zone and returns the request's slot (request-sized piece of
/// the addresses). A full zone is closed, and a random closed zone, which may be the one just
/// closed, is opened.
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

/// Returns one entry for each set of slots (request-sized pieces of the address space) that
/// receives requests: the share (0 to 1) of requests in this and all earlier sets, the number of
/// the set's first slot, and the number of its slots.
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

/// Returns the request-sized slot of the addresses to which a hash, the finalizer of SplitMix64,
/// maps a popularity rank.
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
        let ranges = Addresses::Ranges(vec![(0.1, 0.9), (0.4, 0.1), (0.5, 0.0)]);
        let in_order = counts(&ranges, 1_000, 100_000);
        assert!(in_order[..100].iter().all(|&count| count > 700), "{in_order:?}");
        assert!(in_order[100..500].iter().all(|&count| count < 80), "{in_order:?}");
        assert_eq!(in_order[500..], [0; 500]);
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
