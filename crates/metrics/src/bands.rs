//! The causes of the highest latencies: the parts of latency, summed by latency band.
//!
//! Exact answers would require keeping every request, at a memory cost per request. Instead, each
//! latency falls into one of a fixed set of logarithmic buckets, and each bucket holds the exact
//! sums of the parts of its requests. "The slowest 1 %" is answered with whole buckets from the
//! top: the answer says how many requests it covers, and is exact for those.

use crate::bin::Bin;
use fowler_device::blame::{Blame, ByPart, Part};
use fowler_units::Span;

/// Number of buckets per doubling of latency: a bucket is at most 1/32 (3 %) wide.
const PER_OCTAVE: usize = 32;
const SHIFT: u32 = PER_OCTAVE.ilog2();
/// Number of latency buckets: one for each value below `PER_OCTAVE` ns, then `PER_OCTAVE` for each
/// doubling up to 2^64.
const BUCKETS: usize = PER_OCTAVE * (1 + 64 - SHIFT as usize);

/// The requests whose latency falls into one bucket. Sums are 64-bit, because every request adds to
/// all of them. A drive that falls hours behind would overflow these sums within some million
/// requests, so they are carried into 128 bits in time. The layout allows the compiler to add two
/// sums at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
struct Bucket {
    parts: ByPart<u64>,
    /// Sum of the latencies of the requests in one latency bucket, in nanoseconds: the sum over all
    /// causes in `parts`, and so an upper bound on each.
    total: u64,
    count: u64,
}

impl Bucket {
    /// Adds a request's latency by cause to the bucket of its latency; `total` is the new sum of
    /// all latencies in the bucket, in nanoseconds.
    #[inline]
    fn add(&mut self, total: u64, blame: &Blame) {
        self.total = total;
        self.count += 1;
        for (sum, part) in self.parts.values_mut().zip(blame.parts()) {
            *sum += part.0;
        }
    }
}

/// The 128-bit sums, by cause of latency, into which a latency bucket's 64-bit sums are moved
/// before they overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Carried {
    bucket: usize,
    parts: ByPart<u128>,
}

/// Blame (latency by cause) of reads or of writes, summed for each logarithmic bucket of latency.
#[derive(Clone, Debug)]
pub struct BlameBands {
    buckets: Box<[Bucket]>,
    /// Sums of the latency buckets whose times outgrew 64 bits, at most one entry per bucket;
    /// usually empty.
    carried: Vec<Carried>,
}

/// Parts of the latency of the requests in a band of latencies, summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// Number of requests in the latency band.
    pub count: u64,
    /// Lower bound of the latencies in the band.
    pub from: Span,
    /// Time by cause of latency, summed over the requests of the latency band, in nanoseconds.
    pub parts: ByPart<u128>,
}

impl Band {
    /// Returns the sum of the latencies of all requests in the latency band, in nanoseconds.
    pub fn total(&self) -> u128 {
        self.parts.sum()
    }

    /// Returns the share of the latency band's total time that the cause `part` is blamed for, from
    /// 0 to 1; `None` if the total is zero.
    pub fn share(&self, part: Part) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| self.parts[part] as f64 / total as f64)
    }

    /// Returns the mean time per request of the latency band that the cause `part` is blamed for,
    /// in microseconds; `None` if the band has no requests.
    pub fn mean_us(&self, part: Part) -> Option<f64> {
        (self.count > 0).then(|| self.parts[part] as f64 / self.count as f64 / 1e3)
    }

    /// Returns the mean latency of the requests in the latency band, in microseconds; `None` if the
    /// band has no requests.
    pub fn mean_latency_us(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total() as f64 / self.count as f64 / 1e3)
    }

    /// Returns the causes of the time spent by the requests of the latency band, largest first,
    /// without causes of zero time; ties keep the order of the causes.
    pub fn ranked(&self) -> Vec<Part> {
        let mut parts: Vec<Part> =
            Part::ALL.into_iter().filter(|&part| self.parts[part] > 0).collect();
        parts.sort_by_key(|&part| std::cmp::Reverse(self.parts[part]));
        parts
    }
}

fn bucket_of(Span(latency): Span) -> usize {
    if latency < PER_OCTAVE as u64 {
        return latency as usize;
    }
    let octave = latency.ilog2() - SHIFT;
    let within = (latency >> octave) as usize - PER_OCTAVE;
    PER_OCTAVE * (1 + octave as usize) + within
}

/// Returns the index of the latency bucket (32 per doubling of latency) that contains a bin of the
/// finer latency histogram (1024 per doubling).
#[inline]
fn bucket_around(bin: Bin) -> usize {
    if bin.place() < Bin::PER_OCTAVE {
        // Latencies this short have a bin each.
        return bucket_of(Span(bin.place() as u64));
    }
    bin.place() / (Bin::PER_OCTAVE / PER_OCTAVE) + PER_OCTAVE * (Bin::SHIFT - SHIFT) as usize
}

/// Returns the smallest latency of a bucket, in nanoseconds.
fn lower_bound(bucket: usize) -> u64 {
    match bucket.checked_sub(PER_OCTAVE) {
        None => bucket as u64,
        Some(above) => ((PER_OCTAVE + above % PER_OCTAVE) as u64) << (above / PER_OCTAVE),
    }
}

/// Compares the blame of two runs: the number of requests and the sums by cause in every latency
/// bucket. A sum in 64 bits equals the same sum in 128 bits.
impl PartialEq for BlameBands {
    fn eq(&self, other: &BlameBands) -> bool {
        let same = |index: usize| {
            self.buckets[index].count == other.buckets[index].count
                && self.parts_of(index) == other.parts_of(index)
        };
        (0..BUCKETS).all(same)
    }
}

impl Eq for BlameBands {}

impl Default for BlameBands {
    fn default() -> Self {
        Self::new()
    }
}

impl BlameBands {
    /// Returns latency bands without requests.
    pub fn new() -> Self {
        let buckets = vec![Bucket::default(); BUCKETS].into_boxed_slice();
        Self { buckets, carried: Vec::new() }
    }

    /// Records one request. The parts in `blame` sum to `latency`.
    #[inline]
    pub fn record(&mut self, latency: Span, blame: &Blame) {
        self.record_in(Bin::of(latency), latency, blame);
    }

    /// Records one request of known latency bin. The parts of its latency in `blame` sum to
    /// `latency`.
    #[inline]
    pub(crate) fn record_in(&mut self, bin: Bin, latency: Span, blame: &Blame) {
        debug_assert_eq!(blame.total(), latency);
        let index = bucket_around(bin);
        let bucket = &mut self.buckets[index];
        match bucket.total.checked_add(latency.0) {
            Some(total) => bucket.add(total, blame),
            None => self.carry_and_add(index, latency, blame),
        }
    }

    #[cold]
    fn carry_and_add(&mut self, index: usize, latency: Span, blame: &Blame) {
        self.carry(index);
        self.buckets[index].add(latency.0, blame);
    }

    /// Moves the 64-bit sums of a latency bucket into 128-bit sums, so that they cannot overflow.
    fn carry(&mut self, index: usize) {
        let parts = std::mem::take(&mut self.buckets[index].parts);
        self.buckets[index].total = 0;
        self.add_carried(index, parts.map(u128::from));
    }

    fn add_carried(&mut self, index: usize, parts: ByPart<u128>) {
        match self.carried.iter_mut().find(|carried| carried.bucket == index) {
            Some(carried) => carried.parts += parts,
            None => self.carried.push(Carried { bucket: index, parts }),
        }
    }

    /// Adds the requests that another record of latencies by cause has counted to this one.
    pub fn merge(&mut self, other: &BlameBands) {
        for (index, theirs) in other.buckets.iter().enumerate() {
            if self.buckets[index].total.checked_add(theirs.total).is_none() {
                self.carry(index);
            }
            let mine = &mut self.buckets[index];
            mine.count += theirs.count;
            mine.total += theirs.total;
            mine.parts += theirs.parts;
        }
        for theirs in &other.carried {
            self.add_carried(theirs.bucket, theirs.parts);
        }
    }

    /// Returns the time by cause, summed over the requests of the latency bucket with this index,
    /// in nanoseconds.
    fn parts_of(&self, index: usize) -> ByPart<u128> {
        let mut parts = self.buckets[index].parts.map(u128::from);
        if let Some(carried) = self.carried.iter().find(|carried| carried.bucket == index) {
            parts += carried.parts;
        }
        parts
    }

    /// Returns the number of requests recorded, of all latencies.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.count).sum()
    }

    /// Returns the blame (latency by cause) of the slowest share `below` of all requests without
    /// the slowest share `above`, to whole latency buckets (3 % wide). Empty if both shares end in
    /// the same bucket.
    pub fn between(&self, below: f64, above: f64) -> Band {
        let (mut band, top) = (self.slowest(below), self.slowest(above));
        band.count -= top.count;
        for part in Part::ALL {
            band.parts[part] -= top.parts[part];
        }
        band
    }

    /// Returns the blame (latency by cause) of the slowest `share` of the requests: whole buckets,
    /// from the slowest down, until they contain at least that many. [`Band::count`] is the number
    /// that they contain. Empty if there are no requests.
    pub fn slowest(&self, share: f64) -> Band {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut band = Band { count: 0, from: Span::ZERO, parts: ByPart::default() };
        for (index, bucket) in self.buckets.iter().enumerate().rev() {
            if band.count >= wanted {
                break;
            }
            if bucket.count == 0 {
                continue;
            }
            band.count += bucket.count;
            band.from = Span(lower_bound(index));
            band.parts += self.parts_of(index);
        }
        band
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Rng;

    #[test]
    fn buckets_are_in_order_and_without_gaps() {
        assert_eq!(bucket_of(Span(u64::MAX)), BUCKETS - 1);
        for bucket in 0..BUCKETS {
            let first = lower_bound(bucket);
            assert_eq!(bucket_of(Span(first)), bucket);
            if first > 0 {
                assert_eq!(bucket_of(Span(first - 1)), bucket - 1);
            }
        }
    }

    #[test]
    fn a_bucket_is_made_of_whole_bins() {
        for bin in Bin::between(Span(0), Span(u64::MAX)) {
            assert_eq!(bucket_around(bin), bucket_of(bin.first()), "{bin:?}");
        }
        for bucket in 0..BUCKETS {
            let first = Span(lower_bound(bucket));
            assert_eq!(Bin::of(first).first(), first);
        }
    }

    #[test]
    fn a_band_is_exact_for_the_requests_it_covers() {
        let mut rng = Rng::stream(3, "bands");
        let mut bands = BlameBands::new();
        let mut all = Vec::new();
        for _ in 0..20_000 {
            let mut blame = Blame::default();
            blame[Part::Sense] = Span(rng.below(50_000));
            let octave = rng.below(30);
            blame[Part::BehindHostProgram] = Span(rng.below(1 << octave));
            bands.record(blame.total(), &blame);
            all.push(blame);
        }
        for share in [1.0, 0.1, 0.01, 0.001] {
            let band = bands.slowest(share);
            let covered: Vec<_> = all.iter().filter(|blame| blame.total() >= band.from).collect();
            assert_eq!(covered.len() as u64, band.count);
            assert!(band.count as f64 >= share * all.len() as f64);
            for part in Part::ALL {
                let sum: u128 = covered.iter().map(|blame| u128::from(blame[part].0)).sum();
                assert_eq!(sum, band.parts[part]);
            }
        }
        assert_eq!(bands.slowest(1.0).count, 20_000);
    }

    #[test]
    fn sums_beyond_64_bits_are_exact() {
        // Requests of nine quintillion nanoseconds each: the third one overflows.
        let mut blame = Blame::default();
        blame[Part::BehindGcErase] = Span(u64::MAX / 2 - 7);
        blame[Part::Sense] = Span(7);
        let (mut bands, mut halves) = (BlameBands::new(), [BlameBands::new(), BlameBands::new()]);
        for index in 0..7 {
            bands.record(blame.total(), &blame);
            halves[index % 2].record(blame.total(), &blame);
        }
        let [mut merged, other] = halves;
        merged.merge(&other);
        assert_eq!(merged, bands);
        let mut copied = BlameBands::new();
        copied.merge(&bands);
        for it in [bands, merged, copied] {
            let all = it.slowest(1.0);
            assert_eq!(all.count, 7);
            assert_eq!(all.parts[Part::Sense], 49);
            assert_eq!(all.parts[Part::BehindGcErase], 7 * u128::from(u64::MAX / 2 - 7));
        }
    }

    #[test]
    fn bands_side_by_side_add_up_to_all() {
        let mut rng = Rng::stream(4, "bands/between");
        let mut bands = BlameBands::new();
        for _ in 0..10_000 {
            let mut blame = Blame::default();
            let octave = rng.below(30);
            blame[Part::Sense] = Span(rng.below(1 << octave));
            bands.record(blame.total(), &blame);
        }
        let edges = [1.0, 0.5, 0.1, 0.01, 0.0];
        let parts: Vec<Band> = edges.windows(2).map(|it| bands.between(it[0], it[1])).collect();
        assert_eq!(parts.iter().map(|band| band.count).sum::<u64>(), 10_000);
        let total: u128 = parts.iter().map(Band::total).sum();
        assert_eq!(total, bands.slowest(1.0).total());
        assert!(parts.iter().is_sorted_by_key(|band| band.from));
    }

    #[test]
    fn an_empty_band_has_no_shares() {
        let band = BlameBands::new().slowest(0.01);
        assert_eq!(
            (
                band.count,
                band.share(Part::Sense),
                band.mean_us(Part::Sense),
                band.mean_latency_us()
            ),
            (0, None, None, None)
        );
        assert!(band.ranked().is_empty());
    }

    #[test]
    fn merging_adds() {
        let (mut left, mut right, mut both) =
            (BlameBands::new(), BlameBands::new(), BlameBands::new());
        for ns in 0..100u64 {
            let mut blame = Blame::default();
            blame[Part::Transfer] = Span(ns);
            if ns % 2 == 0 { &mut left } else { &mut right }.record(Span(ns), &blame);
            both.record(Span(ns), &blame);
        }
        left.merge(&right);
        assert_eq!(left, both);
    }
}
