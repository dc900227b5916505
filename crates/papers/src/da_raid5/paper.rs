//! The published numbers of the DA-RAID-5 paper, read from its data file, and the paper's
//! workloads.

use super::variants::Locality;
use crate::claim::{self, ClaimId, Statement};
use crate::column::Published;
use crate::paper_data;
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::Diagnostics;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/da-raid5.toml");

/// The data file of the DA-RAID-5 paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// Number of requests in each run behind the figures of the DA-RAID-5 paper.
    pub requests: u64,
    /// The number of requests in each run of the sweeps.
    pub swept_requests: u64,
    /// Share of time (0 to 1) in which the drive under RAID-5 has no request. The arrival rates of
    /// the stand-ins are set to it.
    pub idle: f64,
    /// Settings of every drive in the study.
    pub drive: Vec<String>,
    /// Settings that set the wear of the blocks in stage 2.
    pub worn: Vec<String>,
    /// Settings that set the wear of the blocks on a drive more worn than in stage 2.
    pub more_worn: Vec<String>,
    /// Settings that set the wear of the blocks in stage 3: all are worn.
    pub all_worn: Vec<String>,
    /// Settings of the buffer under PE-aware RAID-5.
    pub grouping: Vec<String>,
    /// Settings of the buffer under hybrid caching (HC).
    pub data_cache: Vec<String>,
    /// Settings of the drive on which the stripe size is swept.
    pub wide: Vec<String>,
    /// Factor by which requests arrive faster on the drive on which the stripe size is swept.
    pub wide_load: f64,
    pub sweeps: Sweeps,
    pub workload: Vec<Published>,
    pub claim: Vec<Statement>,
}

/// Values of the parameters that are swept: by the paper, and beyond it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweeps {
    pub n_update: Vec<u32>,
    pub caches_kib: Vec<u32>,
    pub cut_off: Vec<u32>,
    /// Numbers of parity cache entries that are kept free ahead of demand.
    pub parity_ahead: Vec<u32>,
    pub stripes: Vec<u32>,
    /// Stripe sizes in pages at which both orders of an update are compared.
    pub grid_stripes: Vec<u32>,
    /// Request rates, as multiples of the rate behind the figures, at which both orders of an
    /// update are compared.
    pub loads: Vec<f64>,
    /// Localities of requests at which hybrid caching is compared with the partial parity cache.
    pub localities: Vec<Locality>,
    /// Lengths in requests of the runs that show how results converge.
    pub lengths: Vec<u64>,
    /// Number of web search requests after which its reads have caused blocks to be refreshed.
    pub search: u64,
}

impl Paper {
    /// Reads the data file of the DA-RAID-5 paper.
    pub fn open() -> Result<Paper, Diagnostics> {
        paper_data::open("papers/da-raid5", TEXT)
    }

    /// Returns the paper's drive with the settings `set`.
    pub fn device(&self, set: &[String]) -> DeviceSpec {
        paper_data::drive("da-raid5", &self.drive, set)
    }

    /// Returns the number that the claim `id` publishes under a label.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        claim::number(&self.claim, id, label)
    }
}
