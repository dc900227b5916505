//! `steadystate`: ends the processes of a job once what they do no longer changes.
//!
//! Each second after the ramp gives a sample of all processes of the job. The last `duration`
//! samples are looked at: the largest deviation from their mean, or the slope of a line through
//! them by least squares.

use super::plan::{Looks, Steady};
use fowler_units::{Nanos, Span};
use std::collections::VecDeque;

/// Time between two samples of a steady-state criterion, as in fio.
const EVERY: Span = Span::ms(1_000);

/// Steady-state criterion of a job, with its processes and samples.
#[derive(Clone, Debug)]
pub(super) struct Criterion {
    pub what: Steady,
    /// Indices of the processes of the job.
    pub members: std::ops::Range<usize>,
    next: Option<Nanos>,
    /// True once the job's requests and bytes at the start of the first one-second sample are
    /// known.
    noted: bool,
    before: (u64, u64),
    samples: VecDeque<(u64, u64)>,
    /// Result of the latest examination of the job's rate samples.
    pub found: Finding,
}

/// Result of examining the samples of a steady-state criterion.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Finding {
    /// True if the job has reached a steady state.
    pub attained: bool,
    /// Slope or deviation of the rate that is compared with the limit of the steady-state
    /// criterion, in the unit of that limit.
    pub value: f64,
    /// Largest deviation of a one-second sample of the job's rate from the mean of all samples, in
    /// bytes or requests per second.
    pub deviation: f64,
    /// Slope of the line of best fit through the one-second samples of the job's rate, in bytes or
    /// requests per second per sample.
    pub slope: f64,
    /// Samples, one per second: bytes and requests per second.
    pub samples: Vec<(u64, u64)>,
}

impl Criterion {
    /// Creates a steady-state criterion without samples.
    pub fn new(what: Steady, members: std::ops::Range<usize>) -> Criterion {
        let (next, before, samples) = (None, (0, 0), VecDeque::new());
        let (noted, found) = (false, Finding::default());
        Criterion { what, members, next, noted, before, samples, found }
    }

    /// Begins to sample the rate of a job for its steady-state criterion. The first sample follows
    /// the criterion's ramp, which starts at `at`.
    pub fn begin(&mut self, at: Nanos) {
        self.next = Some(at + self.what.ramp);
    }

    /// Returns the time of the next sample of the job's rate for the steady-state criterion; `None`
    /// before sampling begins and after the job has become steady.
    pub fn due(&self) -> Option<Nanos> {
        self.next.filter(|_| !self.found.attained)
    }

    /// Takes a one-second sample of a job's rate for fio's steady-state criterion; `done` are the
    /// bytes and requests that the job has completed so far. Returns true if the rate is steady.
    pub fn sample(&mut self, done: (u64, u64)) -> bool {
        let more = (done.0.saturating_sub(self.before.0), done.1.saturating_sub(self.before.1));
        self.before = done;
        self.next = self.next.map(|at| at + EVERY);
        if !std::mem::replace(&mut self.noted, true) {
            return false;
        }
        self.samples.push_back(more);
        if self.samples.len() as u64 > self.what.duration.max(1) {
            self.samples.pop_front();
        }
        self.found = self.look();
        self.found.attained
    }

    fn look(&self) -> Finding {
        let values: Vec<f64> = self
            .samples
            .iter()
            .map(|&(bytes, requests)| match self.what.looks {
                Looks::Iops => requests as f64,
                Looks::Bandwidth => bytes as f64,
            })
            .collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let deviation = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        let middle = (count - 1.0) / 2.0;
        let across = |at: usize| at as f64 - middle;
        let squares: f64 = (0..values.len()).map(|at| across(at) * across(at)).sum();
        let products: f64 =
            values.iter().enumerate().map(|(at, value)| across(at) * (value - mean)).sum();
        let slope = if squares > 0.0 { products / squares } else { 0.0 };
        let plain = if self.what.slope { slope } else { deviation };
        let value = match self.what.percent {
            true if mean > 0.0 => 100.0 * plain / mean,
            true => 0.0,
            false => plain,
        };
        let full = self.samples.len() as u64 >= self.what.duration.max(1);
        let attained = full && mean > 0.0 && value.abs() < self.what.limit;
        let samples = self.samples.iter().copied().collect();
        Finding { attained, value, deviation, slope, samples }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(slope: bool, limit: f64, iops: &[u64]) -> (Option<usize>, Finding) {
        let (percent, duration, ramp) = (true, 3, Span::ms(500));
        let what = Steady { looks: Looks::Iops, slope, limit, percent, duration, ramp };
        let mut criterion = Criterion::new(what, 0..1);
        criterion.begin(Nanos(7));
        assert_eq!(criterion.due(), Some(Nanos(500_000_007)));
        criterion.sample((0, 0));
        assert_eq!(criterion.due(), Some(Nanos(1_500_000_007)));
        let mut done = (0, 0);
        let ended = iops.iter().position(|more| {
            done = (done.0 + more * 4096, done.1 + more);
            criterion.sample(done)
        });
        (ended, criterion.found)
    }

    #[test]
    fn a_state_is_steady_once_the_last_samples_agree() {
        // The mean of 110, 100 and 90 is 100: the deviation is 10 %, the slope is -10 % a sample.
        let (ended, found) = rounds(false, 10.5, &[400, 200, 110, 100, 90, 90]);
        assert_eq!((ended, found.value, found.samples.len()), (Some(4), 10.0, 3));
        assert_eq!(rounds(false, 9.5, &[400, 200, 110, 100, 90]).0, None);
        let (ended, found) = rounds(true, 10.5, &[400, 200, 110, 100, 90]);
        assert_eq!((ended, found.slope), (Some(4), -10.0));
        assert_eq!(rounds(true, 50.0, &[100, 100]).0, None, "three samples are needed");
    }
}
