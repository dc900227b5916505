//! The plan of a measured row: the jobs that simulate it, and the numbers that follow from their
//! results.

use super::bench::Findings;
use super::estimate::Estimate;
use super::job::Job;
use crate::measurements::Pick;

/// The plan of a measured row: the jobs that are simulated for it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Benchmark jobs that are simulated for a measured row: first that of the row's own
    /// conditions, then those with whose results its ratios (such as `ratio_to_uniform`) compare.
    pub jobs: Vec<Job>,
    /// Function that computes the simulated counterparts of a measured row's numbers from the
    /// results of the simulated benchmark jobs.
    pub(super) read: fn(&Pick<'_>, &[&Findings]) -> Vec<Simulated>,
    /// Numbers of a measured row that have no simulated counterpart: the beginning of each key, and
    /// the reason.
    pub left_out: Vec<(&'static str, &'static str)>,
}

impl Plan {
    /// Returns the simulated counterparts of a measured row's numbers, from the results of the
    /// simulated benchmark jobs in the order of the plan.
    pub fn simulated(&self, pick: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
        (self.read)(pick, findings)
    }
}

/// A simulated number of a measured row.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Key, in a measured row, of the measured number that this simulated number is compared with,
    /// such as `read_us.p99`.
    pub metric: String,
    /// Simulated value with its confidence interval.
    pub estimate: Estimate,
}

impl Simulated {
    pub(super) fn new(metric: impl Into<String>, estimate: Estimate) -> Simulated {
        Simulated { metric: metric.into(), estimate }
    }
}
