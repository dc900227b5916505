//! The distributions that characterize a workload (gaps, sizes, reuse, burstiness), as full
//! samples, and the distance between two samples. Used to compare a trace with its generated
//! stand-in.

use fowler_units::{HostIo, HostOp, Nanos, Span};
use std::collections::BTreeMap;

/// Page size for counting reuse, in bytes.
const PAGE: u64 = 4096;

/// An empirical distribution: observed values in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    sorted: Vec<f64>,
}

impl FromIterator<f64> for Sample {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Sample {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Sample { sorted }
    }
}

impl Sample {
    /// Returns the values in the sample, such as gaps or sizes of requests, in ascending order.
    pub fn values(&self) -> &[f64] {
        &self.sorted
    }

    /// Returns the mean of the values; `None` for an empty sample.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.sorted.iter().sum();
        (!self.sorted.is_empty()).then(|| sum / self.sorted.len() as f64)
    }

    /// Returns the coefficient of variation of the values (standard deviation over mean); `None`
    /// for an empty sample or a mean of zero.
    pub fn variation(&self) -> Option<f64> {
        let mean = self.mean().filter(|&mean| mean != 0.0)?;
        let squares: f64 = self.sorted.iter().map(|value| (value - mean).powi(2)).sum();
        Some((squares / self.sorted.len() as f64).sqrt() / mean)
    }

    /// Returns the `q`-quantile: the smallest value that is at least as large as a share `q` of the
    /// values. `None` for an empty sample.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = (q.clamp(0.0, 1.0) * self.sorted.len() as f64).ceil() as usize;
        self.sorted.get(rank.max(1) - 1).copied()
    }

    /// Returns the sample of observed values with every value multiplied by `factor`.
    pub fn scaled(&self, factor: f64) -> Sample {
        self.sorted.iter().map(|value| value * factor).collect()
    }

    /// Returns the empirical distribution function as the corners of a step curve: pairs of a value
    /// and the share of values up to it. With more than `limit` distinct values, returns `limit`
    /// evenly spaced quantiles.
    pub fn steps(&self, limit: usize) -> Vec<(f64, f64)> {
        let count = self.sorted.len();
        let share = |at: usize| (at + 1) as f64 / count as f64;
        let last_of_its_value =
            |&at: &usize| at + 1 == count || self.sorted[at] != self.sorted[at + 1];
        let all: Vec<usize> = (0..count).filter(last_of_its_value).collect();
        if all.len() <= limit {
            return all.into_iter().map(|at| (self.sorted[at], share(at))).collect();
        }
        let mut corners: Vec<(f64, f64)> = Vec::with_capacity(limit);
        for nth in 1..=limit {
            let value = self.sorted[(nth * count).div_ceil(limit) - 1];
            let at = self.sorted.partition_point(|&it| it <= value) - 1;
            if corners.last().is_none_or(|&(last, _)| last < value) {
                corners.push((value, share(at)));
            }
        }
        corners
    }

    /// Returns the Kolmogorov-Smirnov distance: the largest difference between the two distribution
    /// functions, from 0 (identical) to 1 (disjoint). `None` if either sample is empty.
    pub fn distance(&self, other: &Sample) -> Option<f64> {
        let (a, b) = (&self.sorted, &other.sorted);
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let (mut i, mut j, mut largest) = (0, 0, 0.0f64);
        while i < a.len() && j < b.len() {
            let value = a[i].min(b[j]);
            i += a[i..].iter().take_while(|&&it| it == value).count();
            j += b[j..].iter().take_while(|&&it| it == value).count();
            let apart = i as f64 / a.len() as f64 - j as f64 / b.len() as f64;
            largest = largest.max(apart.abs());
        }
        Some(largest)
    }
}

/// A statistic of a workload, such as the mean request size, for the reads and for the writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sides<T> {
    /// Value of a statistic, such as the mean size, over the reads of a workload.
    pub reads: T,
    /// Value of a statistic, such as the mean size, over the writes of a workload.
    pub writes: T,
}

impl<T> Sides<T> {
    /// Applies the function `of` to the value for reads and to that for writes, and returns both
    /// results.
    pub fn map<U>(&self, of: impl Fn(&T) -> U) -> Sides<U> {
        Sides { reads: of(&self.reads), writes: of(&self.writes) }
    }
}

/// Distributions that characterize a workload: gaps between arrivals, sizes, reuse and burstiness.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Arrival times of the workload's requests, ascending.
    arrivals: Vec<Nanos>,
    /// Request sizes in bytes, for reads and for writes.
    pub sizes: Sides<Sample>,
    /// The reuse distance of each request that begins in a page (4 KiB) where an earlier one of the
    /// same operation began, counted in requests of that operation: 1 for consecutive requests.
    pub reuse: Sides<Sample>,
    /// Share of requests that begin in a 4 KiB page where no earlier request of the operation
    /// began.
    pub first_touches: Sides<f64>,
    /// The share of requests that begin where the previous request of the same operation ended.
    pub sequential: Sides<f64>,
    /// Share of the workload's requests with the same operation as the previous request.
    pub same_op: f64,
    /// Share of reads among the workload's reads and writes, 0 to 1.
    pub read_share: f64,
}

/// Counts of the requests of one operation while a profile is gathered.
#[derive(Default)]
struct Side {
    sizes: Vec<f64>,
    reuse: Vec<f64>,
    /// For each 4 KiB page, the number of the last request of this operation that began there.
    last: BTreeMap<u64, u64>,
    end: Option<u64>,
    sequential: u64,
}

impl Side {
    fn add(&mut self, request: &HostIo) {
        self.sizes.push(f64::from(request.size));
        let number = self.sizes.len() as u64;
        if let Some(before) = self.last.insert(request.offset / PAGE, number) {
            self.reuse.push((number - before) as f64);
        }
        self.sequential += u64::from(self.end == Some(request.offset));
        self.end = Some(request.offset + u64::from(request.size));
    }

    fn share(&self, count: u64) -> f64 {
        if self.sizes.is_empty() { 0.0 } else { count as f64 / self.sizes.len() as f64 }
    }
}

impl Profile {
    /// Gathers the distributions of `requests`, which must be in order of arrival. Trims and
    /// flushes count as arrivals only.
    pub fn of(requests: impl IntoIterator<Item = HostIo>) -> Profile {
        let mut arrivals = Vec::new();
        let mut sides = Sides::<Side>::default();
        let (mut last, mut same) = (None, 0u64);
        for request in requests {
            arrivals.push(request.at);
            same += u64::from(last.replace(request.op) == Some(request.op));
            match request.op {
                HostOp::Read => sides.reads.add(&request),
                HostOp::Write => sides.writes.add(&request),
                HostOp::Trim | HostOp::Flush => {}
            }
        }
        let Sides { reads, writes } = sides.map(|side| side.sizes.len() as f64);
        Profile {
            sequential: sides.map(|side| side.share(side.sequential)),
            first_touches: sides.map(|side| side.share(side.last.len() as u64)),
            sizes: sides.map(|side| side.sizes.iter().copied().collect()),
            reuse: sides.map(|side| side.reuse.iter().copied().collect()),
            same_op: same as f64 / (arrivals.len().max(2) - 1) as f64,
            read_share: if reads + writes > 0.0 { reads / (reads + writes) } else { 0.0 },
            arrivals,
        }
    }

    /// Returns the times between two arrivals in a row, in nanoseconds.
    pub fn gaps(&self) -> Sample {
        self.arrivals.windows(2).map(|pair| (pair[1] - pair[0]).0 as f64).collect()
    }

    /// Returns the gaps as multiples of the mean gap, to compare workloads of different rates.
    pub fn relative_gaps(&self) -> Sample {
        let gaps = self.gaps();
        let mean = gaps.mean().filter(|&mean| mean > 0.0).unwrap_or(1.0);
        gaps.scaled(1.0 / mean)
    }

    /// Returns the number of arrivals in each window of this length, from the first arrival on. An
    /// incomplete last window is left out.
    pub fn counts(&self, window: Span) -> Sample {
        let (Some(&first), Some(&last)) = (self.arrivals.first(), self.arrivals.last()) else {
            return Sample::default();
        };
        let window = window.0.max(1);
        let mut counts = vec![0.0; ((last - first).0 / window) as usize];
        for &at in &self.arrivals {
            if let Some(count) = counts.get_mut(((at - first).0 / window) as usize) {
                *count += 1.0;
            }
        }
        counts.into_iter().collect()
    }

    /// Returns the length of time in which `requests` requests of the workload arrive on average.
    pub fn window_of(&self, requests: f64) -> Span {
        Span((self.gaps().mean().unwrap_or(0.0) * requests).round() as u64)
    }

    /// Returns the index of dispersion: the variance of the number of arrivals per window over its
    /// mean. It is 1 at every window length for Poisson arrivals, and grows with the length while
    /// bursts last longer than the window. `None` if no window is complete.
    pub fn dispersion(&self, window: Span) -> Option<f64> {
        let counts = self.counts(window);
        Some(counts.variation()?.powi(2) * counts.mean()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        values.iter().copied().collect()
    }

    #[test]
    fn distances_are_those_of_the_distribution_functions() {
        let a = sample(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(a.distance(&a), Some(0.0));
        assert_eq!(a.distance(&sample(&[5.0])), Some(1.0));
        assert_eq!(a.distance(&sample(&[1.0, 1.0, 2.0, 2.0])), Some(0.5));
        // Step over all equal values at once.
        assert_eq!(a.distance(&sample(&[4.0, 3.0, 2.0, 1.0, 1.0, 2.0, 3.0, 4.0])), Some(0.0));
        assert_eq!(sample(&[0.0, 10.0]).distance(&sample(&[5.0, 5.0, 20.0])), Some(0.5));
        assert_eq!(a.distance(&Sample::default()), None);
    }

    #[test]
    fn steps_end_at_one_and_are_few() {
        let few = sample(&[2.0, 1.0, 2.0, 5.0]);
        assert_eq!(few.steps(10), [(1.0, 0.25), (2.0, 0.75), (5.0, 1.0)]);
        let many: Sample = (0..1000).map(f64::from).collect();
        let steps = many.steps(10);
        assert_eq!((steps[0], steps[9], steps.len()), ((99.0, 0.1), (999.0, 1.0), 10));
        assert_eq!(Sample::default().steps(5), []);
        let mostly_zero: Sample = (0..1000).map(|n| f64::from((n - 900).max(0))).collect();
        assert_eq!(mostly_zero.steps(10)[0], (0.0, 0.901));
    }

    #[test]
    fn quantiles_means_and_variations() {
        let a = sample(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(
            (a.quantile(0.0), a.quantile(0.5), a.quantile(1.0)),
            (Some(1.0), Some(2.0), Some(4.0))
        );
        assert_eq!((a.mean(), a.variation()), (Some(2.5), Some(1.25f64.sqrt() / 2.5)));
        assert_eq!((Sample::default().quantile(0.5), Sample::default().mean()), (None, None));
    }

    #[test]
    fn reuse_counts_requests_of_the_same_operation() {
        use HostOp::{Read, Trim, Write};
        let requests = [
            (0, 0, Read),
            (0, 8192, Read),
            (10, 0, Write),
            (10, 0, Trim),
            (10, 100, Read),
            (30, 8192, Read),
        ];
        let profile =
            Profile::of(requests.map(|(at, offset, op)| HostIo::new(op, Nanos(at), offset, 100)));
        assert_eq!(profile.reuse, Sides { reads: sample(&[2.0, 2.0]), writes: Sample::default() });
        assert_eq!(profile.first_touches, Sides { reads: 0.5, writes: 1.0 });
        assert_eq!(profile.gaps(), sample(&[0.0, 0.0, 0.0, 10.0, 20.0]));
        assert_eq!(profile.counts(Span(10)), sample(&[0.0, 2.0, 3.0]));
        assert_eq!((profile.same_op, profile.read_share), (0.4, 0.8));
        assert_eq!(profile.window_of(2.0), Span(12));
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        let empty = Profile::of([]);
        assert_eq!(empty, Profile::of([]));
        assert_eq!((empty.dispersion(Span(1)), empty.relative_gaps()), (None, Sample::default()));
    }
}
