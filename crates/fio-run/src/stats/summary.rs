//! Least, most, mean and deviation of samples, and where they lie in fio's tables.

/// Summary of samples of one quantity, such as latencies in nanoseconds: their number, smallest,
/// largest and mean value, and deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    /// Number of samples that the summary counts.
    pub count: u64,
    /// Smallest of the samples that the summary counts; 0 without samples.
    pub min: u64,
    /// Largest of the samples that the summary counts; 0 without samples.
    pub max: u64,
    /// Mean of the samples that the summary counts; 0 without samples.
    pub mean: f64,
    /// Sum, over all samples of the summarized quantity (such as latencies in nanoseconds), of the
    /// squared difference between the sample and the mean.
    squares: f64,
}

impl Summary {
    /// Adds a sample. Welford, "Note on a method for calculating corrected sums of squares and
    /// products", Technometrics 4 (1962).
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        let distance = value as f64 - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value as f64 - self.mean);
    }

    /// Returns the standard deviation of the samples that the summary counts; 0 with fewer than
    /// two.
    pub fn deviation(&self) -> f64 {
        if self.count > 1 { (self.squares / (self.count - 1) as f64).sqrt() } else { 0.0 }
    }

    /// Adds the samples of another summary. Chan, Golub and LeVeque, "Algorithms for computing the
    /// sample variance", The American Statistician 37 (1983).
    pub fn merge(&mut self, other: &Summary) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let (ours, theirs) = (self.count as f64, other.count as f64);
        let distance = other.mean - self.mean;
        self.mean += distance * theirs / (ours + theirs);
        self.squares += other.squares + distance * distance * ours * theirs / (ours + theirs);
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Adds the rates of another process measured at the same times, as if both were one.
    pub fn add(&mut self, other: &Summary) {
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.squares += other.squares;
        self.count += other.count;
    }
}

/// The upper bounds of fio's table of latencies, in its three units; above the last there is one
/// more place for milliseconds.
pub(crate) const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Counts of latencies in fio's tables of nanoseconds, microseconds and milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// Counts of latencies below a microsecond.
    pub ns: [u64; 10],
    /// Counts of latencies from a microsecond to below a millisecond.
    pub us: [u64; 10],
    /// Counts of latencies from a millisecond on, including two more bins: up to 2 s, and above.
    pub ms: [u64; 12],
}

impl Table {
    /// Counts a latency given in nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let place = |value: u64| BOUNDS.iter().position(|&bound| value < bound);
        match ns {
            0..1_000 => self.ns[place(ns).unwrap_or(9)] += 1,
            1_000..1_000_000 => self.us[place(ns / 1_000).unwrap_or(9)] += 1,
            _ => {
                let ms = ns / 1_000_000;
                let beyond = if ms < 2_000 { 10 } else { 11 };
                self.ms[place(ms).unwrap_or(beyond)] += 1;
            }
        }
    }

    /// Adds to this table (the number of requests in each latency class of fio's output) the counts
    /// of another such table.
    pub fn merge(&mut self, other: &Table) {
        add_up(&mut self.ns, &other.ns);
        add_up(&mut self.us, &other.us);
        add_up(&mut self.ms, &other.ms);
    }
}

/// Adds the request counts in `theirs` (one per class, of another fio process) to the counts of the
/// same classes in `ours`.
pub(crate) fn add_up(ours: &mut [u64], theirs: &[u64]) {
    ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours += theirs);
}

/// Names of the classes by which requests are counted by queue depth: each is the smallest depth of
/// its class.
pub(crate) const LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// Names of the classes by which submissions are counted by requests per call, and collections by
/// answers per call. Each but the last is the largest number of its class.
pub(crate) const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// Counts of requests in flight, and of requests handed over and collected at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Depths {
    /// Number of requests by queue depth when they were issued: 1, 2, 4, 8, 16, 32, and 64 or more.
    pub levels: [u64; 7],
    /// Number of submissions by how many requests each handed to the drive: 0, then up to 4, 8, 16,
    /// 32 and 64, then more.
    pub submits: [u64; 7],
    /// Number of collections by how many answers each took from the drive: 0, then up to 4, 8, 16,
    /// 32 and 64, then more.
    pub completes: [u64; 7],
}

impl Depths {
    /// Counts a request at a queue depth of `in_flight`, itself included.
    #[inline]
    pub fn level(&mut self, in_flight: u32) {
        self.levels[in_flight.max(1).ilog2().min(6) as usize] += 1;
    }

    /// Counts one submission, which handed `requests` requests to the drive.
    #[inline]
    pub fn submit(&mut self, requests: u32) {
        self.submits[batch(requests)] += 1;
    }

    /// Counts one call of a fio process that collected the answers to `requests` requests from the
    /// drive.
    #[inline]
    pub fn complete(&mut self, requests: u32) {
        self.completes[batch(requests)] += 1;
    }

    /// Adds the counts of queue depths, submissions and collections of another fio process, so that
    /// both are reported as one.
    pub fn merge(&mut self, other: &Depths) {
        add_up(&mut self.levels, &other.levels);
        add_up(&mut self.submits, &other.submits);
        add_up(&mut self.completes, &other.completes);
    }
}

fn batch(requests: u32) -> usize {
    match requests {
        0 => 0,
        1..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=64 => 5,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_summaries_are_those_of_all_samples() {
        let (mut all, mut one, mut other) = Default::default();
        let each = |summary: &mut Summary, values: &[u64]| {
            values.iter().for_each(|&value| summary.record(value));
        };
        each(&mut all, &[4, 9, 2, 7, 7]);
        each(&mut one, &[4, 9]);
        each(&mut other, &[2, 7, 7]);
        one.merge(&other);
        assert_eq!((one.count, one.min, one.max), (5, 2, 9));
        assert!((one.mean - 5.8).abs() < 1e-12 && (all.mean - 5.8).abs() < 1e-12);
        // The squares of 1.8, 3.2, 3.8, 1.2 and 1.2 add up to 30.8.
        assert!((one.deviation() - (30.8_f64 / 4.0).sqrt()).abs() < 1e-12);
        assert!((all.deviation() - one.deviation()).abs() < 1e-12);
        assert_eq!(Summary::default().deviation(), 0.0);
    }

    #[test]
    fn latencies_lie_below_the_bounds_that_name_their_places() {
        let mut table = Table::default();
        for ns in [0, 1, 2, 999, 1_000, 1_999, 999_999, 1_000_000, 1_999_999_999, 2_000_000_000] {
            table.record(ns);
        }
        assert_eq!((table.ns[0], table.ns[1], table.ns[9]), (2, 1, 1));
        assert_eq!((table.us[0], table.us[9]), (2, 1));
        assert_eq!((table.ms[0], table.ms[10], table.ms[11]), (1, 1, 1));
    }

    #[test]
    fn depths_and_batches_are_named_by_their_bounds() {
        let mut depths = Depths::default();
        [1, 2, 3, 4, 63, 64, 900].into_iter().for_each(|depth| depths.level(depth));
        assert_eq!(depths.levels, [1, 2, 1, 0, 0, 1, 2]);
        [0, 1, 4, 5, 64, 65].into_iter().for_each(|requests| depths.submit(requests));
        assert_eq!(depths.submits, [1, 2, 1, 0, 0, 1, 1]);
    }
}
