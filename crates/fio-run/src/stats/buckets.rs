//! fio's histogram of latencies: a bucket for each nanosecond below 128, and 64 for each power of
//! two above.

/// Number of buckets for each power of two nanoseconds.
const EACH: usize = 64;
const EACH_BITS: u32 = 6;
/// Number of buckets, as in fio; longer latencies fall into the last.
pub(crate) const BUCKETS: usize = 29 * EACH;

/// Histogram of latencies in fio's buckets. Empty until a latency is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Buckets {
    counts: Vec<u64>,
    all: u64,
}

/// Returns the index of the bucket of a latency in nanoseconds.
pub(crate) fn bucket(value: u64) -> usize {
    let top = 63 - (value | 1).leading_zeros();
    if top <= EACH_BITS {
        return value as usize;
    }
    let lost = top - EACH_BITS;
    let within = (value >> lost) as usize & (EACH - 1);
    ((lost as usize + 1) * EACH + within).min(BUCKETS - 1)
}

/// Returns the middle of a bucket in nanoseconds, by which fio names it.
pub(crate) fn middle(bucket: usize) -> u64 {
    if bucket < 2 * EACH {
        return bucket as u64;
    }
    let lost = bucket / EACH - 1;
    let first = ((EACH + bucket % EACH) as u64) << lost;
    first + (1 << (lost - 1))
}

impl Buckets {
    /// Adds a latency in nanoseconds to its bucket.
    #[inline]
    pub fn record(&mut self, value: u64) {
        if self.counts.is_empty() {
            self.counts = vec![0; BUCKETS];
        }
        self.counts[bucket(value)] += 1;
        self.all += 1;
    }

    /// Adds the counts of another latency histogram with the same buckets to this one.
    pub fn merge(&mut self, other: &Buckets) {
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
        } else {
            self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        }
        self.all += other.all;
    }

    /// Returns the middles in nanoseconds of the buckets that are not empty, with their counts,
    /// ascending.
    pub fn filled(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        counts.map(|(bucket, &count)| (middle(bucket), count))
    }

    /// Returns the number of latencies in each bucket of fio's histogram, from the bucket of 0 ns
    /// up.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the latency at each of these percentiles, which are in percent and ascending: the
    /// middle of the first bucket by which as many values are counted.
    pub fn percentiles<'a>(&'a self, shares: &'a [f64]) -> impl Iterator<Item = (f64, u64)> + 'a {
        let (mut filled, mut counted, mut value) = (self.filled(), 0, 0);
        shares.iter().filter(|_| self.all > 0).map(move |&share| {
            let wanted = share / 100.0 * self.all as f64;
            while (counted as f64) < wanted || counted == 0 {
                let Some((middle, count)) = filled.next() else { break };
                (value, counted) = (middle, counted + count);
            }
            (share, value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_fio() {
        // Keys that fio 3.33 wrote into `bins`.
        for key in [10, 40, 71, 110, 241, 251, 282, 310, 342, 490, 524, 3760, 8384, 10432, 12864] {
            assert_eq!(middle(bucket(key)), key);
        }
        assert_eq!((bucket(127), bucket(128), bucket(129), bucket(130)), (127, 128, 128, 129));
        assert_eq!((middle(128), middle(129)), (129, 131));
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        for bucket_of in 1..BUCKETS {
            assert_eq!(bucket(middle(bucket_of)), bucket_of);
            assert!(middle(bucket_of) > middle(bucket_of - 1));
        }
    }

    #[test]
    fn percentiles_are_middles_of_buckets() {
        let mut buckets = Buckets::default();
        assert_eq!(buckets.percentiles(&[50.0]).count(), 0);
        (1..=100).for_each(|value| buckets.record(value));
        let found: Vec<_> = buckets.percentiles(&[1.0, 50.0, 99.0, 99.99]).collect();
        assert_eq!(found, [(1.0, 1), (50.0, 50), (99.0, 99), (99.99, 100)]);
        let mut twice = buckets.clone();
        twice.merge(&buckets);
        assert_eq!(twice.percentiles(&[50.0]).next(), Some((50.0, 50)));
        assert_eq!(twice.filled().map(|(_, count)| count).sum::<u64>(), 200);
    }
}
