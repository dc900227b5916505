//! Generates request addresses and sizes: one stream of ranges per kind of request.

use super::spec::{Addresses, Pattern, Popular, Runs, SynthSpec};
use super::zipf::Zipf;
use fowler_units::{Rng, Scatter};
use std::ops::Range;

/// Distribution of popularity ranks; rank 0 is the most popular address.
#[derive(Clone, Debug)]
enum Ranks {
    Uniform,
    Zipf(Zipf),
    HotCold { accesses: f64, hot: u64 },
}

/// A mix of request sizes as a cumulative distribution.
#[derive(Clone, Debug)]
struct Sizes {
    /// Cumulative weights in ascending order, each with its request size in bytes.
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
        // Rounding may push the product up to the sum itself: use the last size.
        self.cumulative[place.min(self.cumulative.len() - 1)].1
    }
}

/// Offsets of recent requests, and the probability of repeating one of them.
#[derive(Clone, Debug)]
struct Again {
    chance: f64,
    /// Distribution of how many requests back the one lies whose address is repeated: the k-th
    /// previous request has weight 1 / k.
    back: Zipf,
    /// Offsets of the last requests in bytes, as a ring buffer.
    recent: Vec<u64>,
    newest: usize,
    within: usize,
    rng: Rng,
}

impl Again {
    /// Returns the offset of an earlier request; `None` if a new address is to be drawn.
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

/// A part of the address space, with its own popular addresses.
#[derive(Clone, Debug)]
struct Part {
    bytes: Range<u64>,
    slots: u64,
    ranks: Ranks,
    scatter: Option<Scatter>,
}

impl Part {
    fn new(bytes: Range<u64>, alignment: u64, pattern: &Pattern, scatter: &mut Rng) -> Part {
        let slots = (bytes.end - bytes.start) / alignment;
        let ranks = match pattern.addresses {
            Addresses::Uniform => Ranks::Uniform,
            Addresses::Zipf { theta } => Ranks::Zipf(Zipf::new(slots, theta)),
            Addresses::HotCold { accesses, space } => {
                let hot = libm::round(slots as f64 * space) as u64;
                Ranks::HotCold { accesses, hot: hot.clamp(1, slots) }
            }
        };
        let is_scattered =
            pattern.addresses != Addresses::Uniform && pattern.popular != Popular::Lowest;
        let scatter = is_scattered.then(|| Scatter::new(slots, scatter));
        Part { bytes, slots, ranks, scatter }
    }

    /// Returns the highest aligned offset in this part of the address space at which a request of
    /// `size` bytes fits.
    fn fits_up_to(&self, size: u32, alignment: u64) -> u64 {
        (self.bytes.end - u64::from(size)) / alignment * alignment
    }

    fn slot(&self, rng: &mut Rng) -> u64 {
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

/// Generates the ranges of one kind of request.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    alignment: u64,
    /// Parts of the address space in which this kind of request, reads or writes, takes its
    /// addresses: the part shared by both kinds, then the kind's own part; only one of them if all
    /// requests go there.
    parts: Vec<Part>,
    /// Probability that a request goes to the part of the address space that only its kind, reads
    /// or writes, uses.
    own: f64,
    sizes: Sizes,
    /// Probability that a sequential run continues with the next request.
    goes_on: f64,
    /// Multiple in bytes to which the address at which a sequential run goes on is rounded up.
    run_alignment: u64,
    /// End of the address range generated last, in bytes.
    end: Option<u64>,
    again: Again,
    part_rng: Rng,
    address_rng: Rng,
    size_rng: Rng,
    run_rng: Rng,
}

impl Ranges {
    /// Returns the generator of the address ranges of one kind of request, reads or writes, with
    /// the addresses and sizes of `pattern`; `name` selects its random streams.
    pub fn new(spec: &SynthSpec, pattern: &Pattern, name: &str) -> Ranges {
        let stream = |what: &str| Rng::stream(spec.seed, &format!("synth/{what}/{name}"));
        let anew = |what: &str| match spec.round {
            0 => stream(what),
            round => stream(&format!("{what}/{round}")),
        };
        let (reads, writes) = (spec.reads_part(), spec.writes_part());
        let part = |bytes, rng: &mut Rng| Part::new(bytes, spec.alignment.0, pattern, rng);
        let mut parts = Vec::with_capacity(2);
        if pattern.own < 1.0 {
            let mut scatter = match pattern.popular {
                Popular::ScatteredApart => stream("scatter"),
                Popular::Scattered | Popular::Lowest => Rng::stream(spec.seed, "synth/scatter"),
            };
            parts.push(part(reads.end..writes.start, &mut scatter));
        }
        if pattern.own > 0.0 {
            let own = if name == "reads" { reads } else { writes };
            parts.push(part(own, &mut stream("scatter own")));
        }
        Ranges {
            alignment: spec.alignment.0,
            parts,
            own: pattern.own,
            sizes: Sizes::of(pattern),
            goes_on: 1.0 - 1.0 / pattern.mean_run,
            run_alignment: match pattern.runs {
                Runs::Aligned => spec.alignment.0,
                Runs::Contiguous => 1,
            },
            end: None,
            again: Again {
                chance: pattern.again,
                back: Zipf::new(u64::from(pattern.again_within), 1.0),
                recent: Vec::new(),
                newest: 0,
                within: pattern.again_within as usize,
                rng: anew("again"),
            },
            part_rng: anew("parts"),
            address_rng: anew("addresses"),
            size_rng: stream("sizes"),
            run_rng: anew("runs"),
        }
    }

    /// Returns the offset and size of the next request, in bytes. A range that would cross the end
    /// of its part is moved down to the last address where it fits; a run that reaches the end
    /// continues from the beginning.
    pub fn next(&mut self) -> (u64, u32) {
        let size = self.sizes.draw(&mut self.size_rng);
        let goes_on = self.goes_on > 0.0 && self.run_rng.chance(self.goes_on);
        let (part, offset) = match self.end {
            Some(end) if goes_on => {
                let part = self.part_of(end - 1);
                let next = end.next_multiple_of(self.run_alignment);
                let fits = next <= part.fits_up_to(size, self.run_alignment);
                let offset = if fits { next } else { part.bytes.start };
                return self.at(offset, size);
            }
            _ => match self.again.draw() {
                Some(earlier) => (self.part_of(earlier), earlier),
                None => {
                    let is_own = self.parts.len() > 1 && self.part_rng.chance(self.own);
                    let part = &self.parts[usize::from(is_own)];
                    (part, part.bytes.start + part.slot(&mut self.address_rng) * self.alignment)
                }
            },
        };
        let offset = offset.min(part.fits_up_to(size, self.alignment));
        self.at(offset, size)
    }

    /// Records a request, from which a run may go on, and returns its offset and size in bytes.
    fn at(&mut self, offset: u64, size: u32) -> (u64, u32) {
        self.again.note(offset);
        self.end = Some(offset + u64::from(size));
        (offset, size)
    }

    /// Returns the part of the address space that contains an address used by this kind of request
    /// (reads or writes).
    fn part_of(&self, offset: u64) -> &Part {
        self.parts.iter().rev().find(|part| part.bytes.contains(&offset)).unwrap_or(&self.parts[0])
    }
}
