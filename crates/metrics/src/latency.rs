//! The distribution of latencies: count, exact mean, exact extremes, and percentiles to three
//! digits.

use crate::bin::{Bin, PLACES};
use fowler_units::Span;
use hdrhistogram::Histogram;

/// Significant digits of a percentile: a value read from the histogram is at most 0.1 % too high.
const DIGITS: u8 = 3;

/// A percentile of latency in the summary of every run and in the tables of `--full` and of report
/// pages. The short report of a run shows only some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Percentile {
    /// The latency that 50 % of the reads, or of the writes, of a run do not exceed: the median.
    P50,
    /// The latency that 90 % of the reads, or of the writes, of a run do not exceed.
    P90,
    /// The latency that 95 % of the reads, or of the writes, of a run do not exceed.
    P95,
    /// The latency that 99 % of the reads, or of the writes, of a run do not exceed.
    P99,
    /// The latency that 99.9 % of the reads, or of the writes, of a run do not exceed.
    P999,
    /// The latency that 99.99 % of the reads, or of the writes, of a run do not exceed.
    P9999,
    /// The latency that 99.999 % of the reads, or of the writes, of a run do not exceed.
    P99999,
}

impl Percentile {
    /// Every reported percentile, ascending.
    pub const ALL: [Percentile; 7] = [
        Percentile::P50,
        Percentile::P90,
        Percentile::P95,
        Percentile::P99,
        Percentile::P999,
        Percentile::P9999,
        Percentile::P99999,
    ];

    /// Returns the share of requests that do not exceed the percentile, 0 to 1.
    pub fn quantile(self) -> f64 {
        [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999][self as usize]
    }

    /// Returns `n` if one request in `n` exceeds the percentile: 100 for the 99th.
    pub fn one_in(self) -> u64 {
        [2, 10, 20, 100, 1_000, 10_000, 100_000][self as usize]
    }

    /// Returns the percentile's name in JSON, without the unit: `p50` to `p99999`.
    pub fn name(self) -> &'static str {
        ["p50", "p90", "p95", "p99", "p999", "p9999", "p99999"][self as usize]
    }

    /// Returns the percentile's name in tables: `p50` to `p99.999`.
    pub fn label(self) -> &'static str {
        ["p50", "p90", "p95", "p99", "p99.9", "p99.99", "p99.999"][self as usize]
    }
}

/// The latencies of one kind of request, as counts in the bins of a histogram and an exact count,
/// sum, minimum and maximum. The mean is exact: the sum over the count.
///
/// Recording into hdrhistogram itself takes eight times as many instructions, because its bounds
/// and digits are known only at run time; so its histogram is built only for a query. Every `u64`
/// has a bin (512 KB, of which a run touches a few pages), so recording never allocates or clamps.
#[derive(Clone, Debug)]
pub struct Latencies {
    bins: Box<[u64; PLACES]>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

impl Latencies {
    /// Returns a distribution without latencies.
    pub fn new() -> Self {
        let bins = vec![0; PLACES].into_boxed_slice().try_into().expect("as many bins as places");
        Self { bins, count: 0, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Adds one latency to the distribution.
    #[inline]
    pub fn record(&mut self, latency: Span) {
        self.record_in(Bin::of(latency), latency);
    }

    /// Adds one latency, whose histogram bin is known, to the distribution.
    #[inline]
    pub(crate) fn record_in(&mut self, bin: Bin, latency: Span) {
        self.bins[bin.place()] += 1;
        self.count += 1;
        self.sum += u128::from(latency.0);
        self.extend(latency.0, latency.0);
    }

    /// Adds `count` equal latencies to the distribution.
    #[inline]
    pub fn record_many(&mut self, latency: Span, count: u64) {
        if count == 0 {
            return;
        }
        self.bins[Bin::of(latency).place()] += count;
        self.count += count;
        self.sum += u128::from(latency.0) * u128::from(count);
        self.extend(latency.0, latency.0);
    }

    /// Updates the smallest and the largest latency of the histogram if `min` or `max` exceeds
    /// them. Either rarely changes, so most calls only compare.
    #[inline]
    fn extend(&mut self, min: u64, max: u64) {
        if min < self.min {
            self.min = min;
        }
        if max > self.max {
            self.max = max;
        }
    }

    /// Returns the bins with at least one latency and their counts, ascending.
    fn counts(&self) -> impl Iterator<Item = (Bin, u64)> {
        Bin::between(Span(self.min), Span(self.max))
            .map(|bin| (bin, self.bins[bin.place()]))
            .filter(|&(_, count)| count > 0)
    }

    /// Builds the hdrhistogram of the latencies, which answers queries for percentiles, from the
    /// counts of the bins.
    fn histogram(&self) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(1, u64::MAX, DIGITS)
            .expect("bounds that hold every u64 are valid");
        for (bin, count) in self.counts() {
            histogram.record_n(bin.first().0, count).expect("the bounds hold every u64");
        }
        histogram
    }

    /// Returns each latency in nanoseconds with its count, ascending: enough to rebuild the
    /// distribution with [`Latencies::of_values`].
    pub fn values(&self) -> Vec<(u64, u64)> {
        self.histogram()
            .iter_recorded()
            .map(|it| (it.value_iterated_to(), it.count_since_last_iteration()))
            .collect()
    }

    /// Rebuilds a distribution of latencies from its [`Latencies::values`], exact sum and extremes
    /// (minimum 2^64 - 1 and maximum 0 if there are no latencies). `None` if no distribution has
    /// these values.
    pub fn of_values(values: &[(u64, u64)], sum: u128, (min, max): (u64, u64)) -> Option<Self> {
        let (mut all, mut highest) = (Self::new(), 0u128);
        let mut before = None;
        for &(value, count) in values {
            let bin = Bin::of(Span(value));
            // No value is as great as the last of all.
            let is_last = value == bin.last().0.min(u64::MAX - 1);
            if count == 0 || !is_last || before >= Some(bin) {
                return None;
            }
            before = Some(bin);
            all.bins[bin.place()] = count;
            all.count = all.count.checked_add(count)?;
            // Below 2^128, as there are fewer than 2^64 latencies.
            all.sum += u128::from(bin.first().0) * u128::from(count);
            highest += u128::from(bin.last().0) * u128::from(count);
        }
        let is_so = match (values.first(), values.last()) {
            (Some(&(first, _)), Some(&(last, _))) => {
                let bins = [first, min, last, max].map(|value| Bin::of(Span(value)));
                bins[0] == bins[1] && bins[2] == bins[3] && min <= max
            }
            _ => (min, max) == (all.min, all.max),
        };
        let is_so = is_so && (all.sum..=highest).contains(&sum);
        is_so.then_some(Self { sum, min, max, ..all })
    }

    /// Adds the latencies of `other`, as if one recorder had recorded all of them.
    pub fn merge(&mut self, other: &Latencies) {
        for (bin, count) in other.counts() {
            self.bins[bin.place()] += count;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.extend(other.min, other.max);
    }

    /// Returns the number of recorded latencies.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum of the recorded latencies, in nanoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the exact mean of the recorded latencies, in microseconds; `None` without latencies.
    pub fn mean_us(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64 / 1e3)
    }

    /// Returns the lowest latency, exactly; `None` without latencies.
    pub fn min(&self) -> Option<Span> {
        (self.count() > 0).then_some(Span(self.min))
    }

    /// Returns the highest latency, exactly; `None` without latencies.
    pub fn max(&self) -> Option<Span> {
        (self.count() > 0).then_some(Span(self.max))
    }

    /// Returns the complementary distribution: latencies, ascending, each with the number of
    /// requests that are slower. Values are those of the histogram, at most 0.1 % too high; the
    /// last is the exact maximum, which nothing exceeds.
    pub fn later_than(&self) -> impl Iterator<Item = (Span, u64)> {
        let mut left = self.count();
        self.values().into_iter().map(move |(value, count)| {
            left -= count;
            (Span(value.clamp(self.min, self.max)), left)
        })
    }

    /// Returns the smallest latency that at least this share of requests does not exceed, rounded
    /// up to three digits but never beyond the maximum. Returns `None` if there are too few
    /// requests for one of them to exceed that latency: the percentile would equal the maximum. The
    /// median is always given.
    pub fn percentile(&self, percentile: Percentile) -> Option<Span> {
        let enough = match percentile {
            Percentile::P50 => 1,
            above => above.one_in(),
        };
        (self.count() >= enough).then(|| {
            let value = self.histogram().value_at_quantile(percentile.quantile());
            Span(value.clamp(self.min, self.max))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Rng;

    fn percentiles(latencies: &Latencies) -> [Option<Span>; 7] {
        Percentile::ALL.map(|percentile| latencies.percentile(percentile))
    }

    #[test]
    fn bins_are_those_of_the_histogram() {
        let histogram = Latencies::new().histogram();
        for bin in Bin::between(Span(0), Span(u64::MAX)) {
            let first = bin.first().0;
            assert_eq!(histogram.lowest_equivalent(first), first);
            let last = histogram.highest_equivalent(first);
            assert_eq!((Bin::of(Span(first)), Bin::of(Span(last))), (bin, bin));
            assert_eq!(bin.last().0.min(u64::MAX - 1), last, "the library has no greater one");
        }
    }

    /// The histogram must equal one recorded by the library itself.
    #[test]
    fn the_histogram_is_the_one_that_recording_would_have_made() {
        let mut rng = Rng::stream(5, "latency/histogram");
        let (mut latencies, mut recorded) = (Latencies::new(), Latencies::new().histogram());
        for count in 1..2_000 {
            let octave = rng.below(64);
            let latency = rng.below(1 << octave);
            latencies.record_many(Span(latency), count % 3);
            recorded.record_n(latency, count % 3).unwrap();
            latencies.record(Span(latency));
            recorded.record(latency).unwrap();
        }
        assert!(latencies.histogram() == recorded);
        let values = latencies.values();
        let extremes = (latencies.min().unwrap().0, latencies.max().unwrap().0);
        let again = Latencies::of_values(&values, latencies.sum(), extremes).unwrap();
        assert!(again.histogram() == recorded && again.values() == values);
    }

    #[test]
    fn what_no_latencies_have_is_not_rebuilt() {
        let rebuilt = |values: &[(u64, u64)], sum, extremes| {
            Latencies::of_values(values, sum, extremes).is_some()
        };
        const VALUES: &[(u64, u64)] = &[(7, 2), (4099, 1)];
        assert!(rebuilt(VALUES, 14 + 4096, (7, 4096)) && rebuilt(&[], 0, (u64::MAX, 0)));
        // Bins end in 4095, 4099 and so on.
        type Saved = (&'static [(u64, u64)], u128, (u64, u64));
        let wrong: [Saved; 12] = [
            (VALUES, 13 + 4096, (7, 4096)),
            (VALUES, 14 + 4100, (7, 4096)),
            (VALUES, 14 + 4096, (6, 4096)),
            (VALUES, 14 + 4096, (7, 4095)),
            (VALUES, 14 + 4096, (4096, 4096)),
            (&[(7, 2), (4096, 1)], 14 + 4096, (7, 4096)),
            (&[(4099, 1), (7, 2)], 14 + 4096, (7, 4096)),
            (&[(7, 1), (7, 1), (4099, 1)], 14 + 4096, (7, 4096)),
            (&[(7, 2), (9, 0), (4099, 1)], 14 + 4096, (7, 4096)),
            (&[(1, u64::MAX), (2, 1)], u64::MAX.into(), (1, 2)),
            (&[], 0, (7, 4096)),
            (&[], 1, (u64::MAX, 0)),
        ];
        for (number, (values, sum, extremes)) in wrong.into_iter().enumerate() {
            assert!(!rebuilt(values, sum, extremes), "{number}");
        }
        assert!(!rebuilt(&[(7, 2)], 13, (7, 6)), "the least is above the greatest");
    }

    #[test]
    fn nothing_measured_is_nothing_said() {
        let none = Latencies::new();
        assert_eq!((none.count(), none.mean_us(), none.min(), none.max()), (0, None, None, None));
        assert_eq!(percentiles(&none), [None; 7]);
    }

    #[test]
    fn a_percentile_needs_a_request_above_it() {
        let mut latencies = Latencies::new();
        latencies.record(Span(123_456_789));
        assert_eq!(latencies.mean_us(), Some(123_456.789));
        assert_eq!(latencies.max(), Some(Span(123_456_789)));
        for count in [1u64, 9, 10, 19, 20, 99, 100, 999, 1_000, 9_999, 10_000, 99_999, 100_000] {
            while latencies.count() < count {
                latencies.record(Span(123_456_789));
            }
            let known = percentiles(&latencies).map(|value| value.is_some());
            let enough = [1, 10, 20, 100, 1_000, 10_000, 100_000].map(|least| count >= least);
            assert_eq!(known, enough, "{count}");
        }
        assert_eq!(percentiles(&latencies), [Some(Span(123_456_789)); 7]);
    }

    #[test]
    fn the_whole_range_of_u64_is_recorded() {
        let mut latencies = Latencies::new();
        for value in [0, 1, u64::MAX - 1, u64::MAX] {
            latencies.record(Span(value));
        }
        assert_eq!(latencies.count(), 4);
        assert_eq!(latencies.min(), Some(Span(0)));
        assert_eq!(latencies.max(), Some(Span(u64::MAX)));
        let mean = latencies.mean_us().unwrap();
        assert!((mean / (u64::MAX as f64 / 2e3) - 1.0).abs() < 1e-12, "{mean}");
    }

    /// Compares with a simple oracle: a sorted list.
    #[test]
    fn percentiles_are_within_a_tenth_of_a_percent_above_the_exact_ones() {
        let mut rng = Rng::stream(1, "latency/percentiles");
        let mut latencies = Latencies::new();
        let mut all: Vec<u64> = (0..200_000).map(|_| 1 << rng.below(40)).collect();
        for value in &mut all {
            *value += rng.below(*value);
            latencies.record(Span(*value));
        }
        all.sort_unstable();
        for percentile in Percentile::ALL {
            let rank = (percentile.quantile() * all.len() as f64).ceil() as usize;
            let exact = all[rank.max(1) - 1];
            let shown = latencies.percentile(percentile).unwrap().0;
            assert!(shown >= exact, "{percentile:?}: {shown} < {exact}");
            assert!(
                shown as f64 <= exact as f64 * 1.001 + 1.0,
                "{percentile:?}: {shown} > {exact}"
            );
        }
    }

    #[test]
    fn the_complementary_distribution_ends_at_the_maximum_with_nobody_later() {
        let mut latencies = Latencies::new();
        assert_eq!(latencies.later_than().count(), 0);
        for value in [5, 5, 70_001, 70_001, 70_001, 123_456_789] {
            latencies.record(Span(value));
        }
        let steps: Vec<_> = latencies.later_than().collect();
        assert_eq!((steps.len(), steps[0]), (3, (Span(5), 4)));
        assert!(steps[1].0.0 >= 70_001 && steps[1].0.0 <= 70_072 && steps[1].1 == 1, "{steps:?}");
        assert_eq!(steps[2], (Span(123_456_789), 0));
    }

    #[test]
    fn merging_is_exact() {
        let mut rng = Rng::stream(2, "latency/merge");
        let (mut whole, mut parts) = (Latencies::new(), [Latencies::new(), Latencies::new()]);
        for _ in 0..10_000 {
            let latency = Span(rng.below(1 << 30));
            whole.record(latency);
            parts[rng.below(2) as usize].record(latency);
        }
        let mut merged = Latencies::new();
        merged.merge(&parts[0]);
        merged.merge(&parts[1]);
        assert_eq!(percentiles(&merged), percentiles(&whole));
        let facts = |it: &Latencies| (it.count(), it.mean_us(), it.min(), it.max());
        assert_eq!(facts(&merged), facts(&whole));
    }
}
