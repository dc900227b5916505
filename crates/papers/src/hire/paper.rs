//! The published numbers, read from the project's data, and the paper's workloads.

use crate::claim::{self, ClaimId, Statement};
use crate::column::Published;
use crate::published;
use fowler_experiment::device::DeviceSpec;
use fowler_experiment::diagnostic::Diagnostics;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/hire.toml");

/// The file with the published numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// The number of requests in each run behind the paper's figures.
    pub requests: u64,
    /// The number of requests in each run of the sweeps.
    pub swept_requests: u64,
    /// How the drives are preconditioned.
    drive: Vec<String>,
    pub workload: Vec<Published>,
    pub sweeps: Sweeps,
    pub claim: Vec<Statement>,
}

/// What is varied beyond the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweeps {
    /// The workloads on which it is.
    pub workloads: Vec<String>,
    pub watermarks: Vec<f64>,
    pub buffers_mib: Vec<u32>,
    pub replacements: Vec<String>,
    /// How many frames may hold pages that wait to be programmed anew.
    pub rewrite_shares: Vec<f64>,
    /// The drive whose cells err by age and wear, and the cycles that each block of it has behind
    /// it.
    pub cells: Vec<String>,
    pub cycles: Vec<u32>,
}

impl Paper {
    /// The paper.
    pub fn open() -> Result<Paper, Diagnostics> {
        published::open("papers/hire", TEXT)
    }

    /// Returns the paper's drive with some keys overridden.
    pub fn device(&self, set: &[String]) -> DeviceSpec {
        published::drive("hire", &self.drive, set)
    }

    /// Returns the number that a claim publishes under a label.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        claim::number(&self.claim, id, label)
    }
}
