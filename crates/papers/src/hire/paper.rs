//! The published numbers, read from the project's data, and the paper's workloads.

use crate::claim::{ClaimId, Statement};
use crate::column::Published;
use crate::paper_data;
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::Diagnostics;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/hire.toml");

/// The file with the published numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// The share of each stand-in that is served before anything is measured.
    pub warm_up: f64,
    /// The number of requests measured in each run of the sweeps, and of those before.
    pub swept_requests: u64,
    pub swept_warm_up: u64,
    /// Settings that precondition the drives.
    drive: Vec<String>,
    pub workload: Vec<Published>,
    pub sweeps: Sweeps,
    pub claim: Vec<Statement>,
}

/// The values that are swept beyond the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweeps {
    /// The workloads of the sweeps.
    pub workloads: Vec<String>,
    /// Number of parts of the warm-up that are measured separately. Each part is as long as all
    /// earlier parts together.
    pub windows: usize,
    pub watermarks: Vec<f64>,
    pub buffers_mib: Vec<u32>,
    /// Space over which the workloads spread, in GiB.
    pub spaces_gib: Vec<u32>,
    pub replacements: Vec<String>,
    /// Largest shares of the frames that may hold pages that wait to be programmed again.
    pub rewrite_shares: Vec<f64>,
    /// The drive whose cells err by age and wear, and the cycles that each block of it has behind
    /// it.
    pub cells: Vec<String>,
    pub cycles: Vec<u32>,
}

impl Paper {
    /// Reads the paper's data.
    pub fn open() -> Result<Paper, Diagnostics> {
        paper_data::open("papers/hire", TEXT)
    }

    /// Returns the paper's drive with some keys overridden.
    pub fn device(&self, set: &[String]) -> DeviceSpec {
        paper_data::drive("hire", &self.drive, set)
    }

    /// Returns the number that a claim, or a part of it (`004-016s`), publishes under a label.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        let parts = self.claim.iter().filter(|statement| statement.id.starts_with(id.0));
        parts.filter_map(|statement| statement.number(label)).next()
    }
}
