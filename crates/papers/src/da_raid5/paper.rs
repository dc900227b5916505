//! The published numbers, read from the project's data, and the paper's workloads.

use super::variants::Locality;
use crate::claim::{self, ClaimId, Statement};
use crate::column::Published;
use crate::paper_data;
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::Diagnostics;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/da-raid5.toml");

/// The file with the published numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// The number of requests in each run behind the paper's figures.
    pub requests: u64,
    /// The number of requests in each run of the sweeps.
    pub swept_requests: u64,
    /// The share of time without a request in the drive under RAID-5, to which the rates of the
    /// stand-ins are set.
    pub idle: f64,
    /// Settings of every drive of the study.
    pub drive: Vec<String>,
    /// Wear of the blocks in stage 2, and on a drive beyond that.
    pub worn: Vec<String>,
    pub more_worn: Vec<String>,
    /// Wear of the blocks on a drive of stage 3: all are worn.
    pub all_worn: Vec<String>,
    /// The buffer under PE-aware RAID-5, and that under hybrid caching.
    pub grouping: Vec<String>,
    pub data_cache: Vec<String>,
    /// The drive on which stripes are swept, and the factor by which requests come faster there.
    pub wide: Vec<String>,
    pub wide_load: f64,
    pub sweeps: Sweeps,
    pub workload: Vec<Published>,
    pub claim: Vec<Statement>,
}

/// The values that are swept: by the paper, and beyond it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweeps {
    pub n_update: Vec<u32>,
    pub caches_kib: Vec<u32>,
    pub cut_off: Vec<u32>,
    /// Entries of the parity cache kept free ahead of demand.
    pub parity_ahead: Vec<u32>,
    pub stripes: Vec<u32>,
    /// The stripe sizes and the multiples of the rate at which both orders of updates are compared.
    pub grid_stripes: Vec<u32>,
    pub loads: Vec<f64>,
    /// Localities of requests at which hybrid caching is compared with the partial parity cache.
    pub localities: Vec<Locality>,
    /// Requests of the runs that show how results converge.
    pub lengths: Vec<u64>,
    /// Requests of web search until its reads have refreshed blocks.
    pub search: u64,
}

impl Paper {
    /// Reads the paper's data.
    pub fn open() -> Result<Paper, Diagnostics> {
        paper_data::open("papers/da-raid5", TEXT)
    }

    /// Returns the paper's drive with some keys overridden.
    pub fn device(&self, set: &[String]) -> DeviceSpec {
        paper_data::drive("da-raid5", &self.drive, set)
    }

    /// Returns the number that a claim publishes under a label.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        claim::number(&self.claim, id, label)
    }
}
