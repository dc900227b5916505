//! The plan of a measured row: the jobs that simulate it, and the numbers that follow from their
//! results.

use super::bench::Findings;
use super::estimate::Estimate;
use super::job::Job;
use crate::measurements::Pick;

/// The plan of a measured row: the jobs that are simulated for it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Jobs to simulate: first the job of the row itself, then jobs that its ratios refer to.
    pub jobs: Vec<Job>,
    /// Function that computes the row's simulated numbers from the results of the jobs.
    pub(super) read: fn(&Pick<'_>, &[&Findings]) -> Vec<Simulated>,
    /// Numbers of the row that are not simulated: the beginning of each key, and the reason.
    pub left_out: Vec<(&'static str, &'static str)>,
}

impl Plan {
    /// Returns the simulated numbers of the row, from the results of its jobs in their order.
    pub fn simulated(&self, pick: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
        (self.read)(pick, findings)
    }
}

/// A simulated number of a measured row.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Key of the measured number that corresponds to the simulated one.
    pub metric: String,
    /// Simulated value with its confidence interval.
    pub estimate: Estimate,
}

impl Simulated {
    pub(super) fn new(metric: impl Into<String>, estimate: Estimate) -> Simulated {
        Simulated { metric: metric.into(), estimate }
    }
}
