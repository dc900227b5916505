//! The plan of a row: the jobs that are simulated for it, and the numbers that follow.

use super::bench::Findings;
use super::estimate::Estimate;
use super::job::Job;
use crate::measurements::Pick;

/// The plan of a row: the jobs that are simulated for it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The jobs, that of the row itself first, then those that its ratios refer to.
    pub jobs: Vec<Job>,
    /// Reads the row's numbers off their results.
    pub(super) read: fn(&Pick<'_>, &[&Findings]) -> Vec<Simulated>,
    /// Numbers of the row that are not simulated, by the beginning of their key, and why.
    pub left_out: Vec<(&'static str, &'static str)>,
}

impl Plan {
    /// Returns the numbers of the row, by the results of its jobs in their order.
    pub fn simulated(&self, pick: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
        (self.read)(pick, findings)
    }
}

/// A simulated number of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// The key of the measured number that it stands for.
    pub metric: String,
    /// The number.
    pub estimate: Estimate,
}

impl Simulated {
    pub(super) fn new(metric: impl Into<String>, estimate: Estimate) -> Simulated {
        Simulated { metric: metric.into(), estimate }
    }
}
