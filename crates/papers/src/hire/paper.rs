//! The published numbers of the HIRE paper, read from its data file, and the paper's workloads.

use crate::claim::{ClaimId, Statement};
use crate::column::Published;
use crate::paper_data;
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::Diagnostics;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/hire.toml");

/// The data file of the HIRE paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// Share (0 to 1) of each stand-in trace's requests that is served before anything is measured.
    pub warm_up: f64,
    /// Number of requests measured in each run of the HIRE study's parameter sweeps.
    pub swept_requests: u64,
    /// Number of warm-up requests before those that are measured in each run of the HIRE study's
    /// parameter sweeps.
    pub swept_warm_up: u64,
    /// Settings that precondition the drives of the HIRE study.
    drive: Vec<String>,
    pub workload: Vec<Published>,
    /// Sizes of volumes in place of those of their stand-ins, which are assumed.
    pub size: Vec<Size>,
    /// Stand-ins for web search, which only reads; they count in no mean.
    pub web_search: Vec<Published>,
    pub sweeps: Sweeps,
    pub claim: Vec<Statement>,
}

/// Size of a volume in place of that of its stand-in, which is assumed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Size {
    /// Name of the workload whose volume has this size.
    pub workload: String,
    /// Size of the address range over which the workload spreads, in GiB.
    pub gib: u32,
    /// Published number of bytes of distinct objects in the volume's trace, which `gib` rounds;
    /// `None` for a size that is assumed.
    pub bytes: Option<u64>,
}

/// Values of the HIRE study's parameters that are swept beyond the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweeps {
    /// Names of the workloads that the HIRE study runs in parameter sweeps.
    pub workloads: Vec<String>,
    /// Number of parts of a run's warm-up that the HIRE study measures separately. Each part is as
    /// long as all earlier parts together.
    pub windows: usize,
    pub watermarks: Vec<f64>,
    pub buffers_mib: Vec<u32>,
    /// Sizes of the address range over which the workloads spread, in GiB.
    pub spaces_gib: Vec<u32>,
    pub replacements: Vec<String>,
    /// Largest share (0 to 1) of the buffer's frames that may hold pages waiting to be programmed
    /// again under HIRE; the HIRE study runs with each value.
    pub rewrite_shares: Vec<f64>,
    /// Settings (`key=value`) of the HIRE study's drive whose bit errors grow with the data's age
    /// and the block's wear.
    pub cells: Vec<String>,
    /// P/E cycles that each block has behind it on the drive whose cells have errors by age and
    /// wear, one run for each value.
    pub cycles: Vec<u32>,
}

impl Paper {
    /// Reads the data file of the HIRE paper.
    pub fn open() -> Result<Paper, Diagnostics> {
        paper_data::open("papers/hire", TEXT)
    }

    /// Returns the HIRE paper's drive with the settings `set`.
    pub fn device(&self, set: &[String]) -> DeviceSpec {
        paper_data::drive("hire", &self.drive, set)
    }

    /// Returns the number that the claim `id`, or a part of it (`004-016s`), publishes under a
    /// label.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        let parts = self.claim.iter().filter(|statement| statement.id.starts_with(id.0));
        parts.filter_map(|statement| statement.number(label)).next()
    }
}
