//! Where requests go and how long they are: one stream of ranges per kind of request.

use super::spec::{Addresses, Pattern, Popular, SynthSpec};
use super::zipf::Zipf;
use fowler_units::{Rng, Scatter};

/// Draws ranks: rank 0 is the most popular address.
#[derive(Clone, Debug)]
enum Ranks {
    Uniform,
    Zipf(Zipf),
    HotCold { accesses: f64, hot: u64 },
}

/// A mix of sizes as a cumulative distribution.
#[derive(Clone, Debug)]
struct Sizes {
    /// Ascending sums of the weights, each with its size.
    cumulative: Vec<(f64, u32)>,
    sum: f64,
}

impl Sizes {
    fn of(pattern: &Pattern) -> Sizes {
        let mut sum = 0.0;
        let used = pattern.sizes.iter().filter(|share| share.weight > 0.0);
        let cumulative = used
            .map(|share| {
                sum += share.weight;
                (sum, share.size)
            })
            .collect();
        Sizes { cumulative, sum }
    }

    fn draw(&self, rng: &mut Rng) -> u32 {
        let drawn = rng.unit() * self.sum;
        let place = self.cumulative.partition_point(|&(sum, _)| sum <= drawn);
        // Rounding may bring the product up to the sum itself: that is the last size.
        self.cumulative[place.min(self.cumulative.len() - 1)].1
    }
}

/// Where the last requests went, and how likely one goes there again.
#[derive(Clone, Debug)]
struct Again {
    chance: f64,
    /// How many requests back: the k-th with weight 1 / k.
    back: Zipf,
    /// The offsets of the last requests, a ring.
    recent: Vec<u64>,
    newest: usize,
    within: usize,
    rng: Rng,
}

impl Again {
    /// The offset of an earlier request, or none: where it goes is drawn anew.
    fn draw(&mut self) -> Option<u64> {
        if self.chance == 0.0 || !self.rng.chance(self.chance) {
            return None;
        }
        let back = self.back.draw(&mut self.rng) as usize;
        let held = self.recent.len();
        (back < held).then(|| self.recent[(self.newest + held - back) % held])
    }

    fn note(&mut self, offset: u64) {
        if self.chance == 0.0 {
            return;
        }
        if self.recent.len() < self.within {
            self.newest = self.recent.len();
            self.recent.push(offset);
        } else {
            self.newest = (self.newest + 1) % self.within;
            self.recent[self.newest] = offset;
        }
    }
}

/// The ranges of one kind of request.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    space: u64,
    alignment: u64,
    slots: u64,
    ranks: Ranks,
    scatter: Option<Scatter>,
    sizes: Sizes,
    /// The probability that a run goes on.
    goes_on: f64,
    /// The end of the last range.
    end: Option<u64>,
    again: Again,
    address_rng: Rng,
    size_rng: Rng,
    run_rng: Rng,
}

impl Ranges {
    /// The ranges of `pattern`, the one called `name`, in a sound spec.
    pub fn new(spec: &SynthSpec, pattern: &Pattern, name: &str) -> Ranges {
        let slots = spec.space.0 / spec.alignment.0;
        let ranks = match pattern.addresses {
            Addresses::Uniform => Ranks::Uniform,
            Addresses::Zipf { theta } => Ranks::Zipf(Zipf::new(slots, theta)),
            Addresses::HotCold { accesses, space } => {
                let hot = libm::round(slots as f64 * space) as u64;
                Ranks::HotCold { accesses, hot: hot.clamp(1, slots) }
            }
        };
        let stream = |what: &str| Rng::stream(spec.seed, &format!("synth/{what}/{name}"));
        let scatter = match pattern.popular {
            _ if pattern.addresses == Addresses::Uniform => None,
            Popular::Lowest => None,
            Popular::Scattered => {
                Some(Scatter::new(slots, &mut Rng::stream(spec.seed, "synth/scatter")))
            }
            Popular::ScatteredApart => Some(Scatter::new(slots, &mut stream("scatter"))),
        };
        Ranges {
            space: spec.space.0,
            alignment: spec.alignment.0,
            slots,
            ranks,
            scatter,
            sizes: Sizes::of(pattern),
            goes_on: 1.0 - 1.0 / pattern.mean_run,
            end: None,
            again: Again {
                chance: pattern.again,
                back: Zipf::new(u64::from(pattern.again_within), 1.0),
                recent: Vec::new(),
                newest: 0,
                within: pattern.again_within as usize,
                rng: stream("again"),
            },
            address_rng: stream("addresses"),
            size_rng: stream("sizes"),
            run_rng: stream("runs"),
        }
    }

    /// The next range: offset and size. A range that would cross the end of the space is moved down
    /// to the last address where it fits; a run that reaches the end goes on from the beginning.
    pub fn next(&mut self) -> (u64, u32) {
        let size = self.sizes.draw(&mut self.size_rng);
        let fits_up_to = (self.space - u64::from(size)) / self.alignment * self.alignment;
        let goes_on = self.goes_on > 0.0 && self.run_rng.chance(self.goes_on);
        let offset = match self.end {
            Some(end) if goes_on => {
                let next = end.next_multiple_of(self.alignment);
                if next <= fits_up_to { next } else { 0 }
            }
            _ => match self.again.draw() {
                Some(earlier) => earlier,
                None => self.slot() * self.alignment,
            },
        };
        let offset = offset.min(fits_up_to);
        self.again.note(offset);
        self.end = Some(offset + u64::from(size));
        (offset, size)
    }

    fn slot(&mut self) -> u64 {
        let rng = &mut self.address_rng;
        let rank = match &self.ranks {
            Ranks::Uniform => rng.below(self.slots),
            Ranks::Zipf(zipf) => zipf.draw(rng),
            &Ranks::HotCold { accesses, hot } => {
                if hot == self.slots || rng.chance(accesses) {
                    rng.below(hot)
                } else {
                    hot + rng.below(self.slots - hot)
                }
            }
        };
        self.scatter.as_ref().map_or(rank, |scatter| scatter.at(rank))
    }
}
