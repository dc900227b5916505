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
    /// Number of requests in each run of the DA-RAID-5 study's parameter sweeps.
    pub swept_requests: u64,
    /// Share of time (0 to 1) in which the drive under RAID-5 has no request. The arrival rates of
    /// the stand-in traces are set to it.
    pub idle: f64,
    /// Settings of every drive in the DA-RAID-5 study.
    pub drive: Vec<String>,
    /// Settings of the drive that make some of its blocks worn (past the DA-RAID-5 paper's limit of
    /// P/E cycles), as in stage 2 of the life that the paper describes.
    pub worn: Vec<String>,
    /// Settings of the drive that make more of its blocks worn (past the DA-RAID-5 paper's limit of
    /// P/E cycles) than in stage 2 of the life that the paper describes.
    pub more_worn: Vec<String>,
    /// Settings of the drive that make all its blocks worn, as in stage 3 of the life that the
    /// DA-RAID-5 paper describes.
    pub all_worn: Vec<String>,
    /// Settings of the write buffer under PE-aware RAID-5.
    pub grouping: Vec<String>,
    /// Settings of the write buffer under hybrid caching (HC).
    pub data_cache: Vec<String>,
    /// Settings (`key=value`) of the drive on which the DA-RAID-5 study varies the stripe size.
    pub wide: Vec<String>,
    /// Factor by which the request rate of the DA-RAID-5 study is higher on the drive on which the
    /// stripe size is swept.
    pub wide_load: f64,
    pub sweeps: Sweeps,
    pub workload: Vec<Published>,
    pub claim: Vec<Statement>,
}

/// Values of the parameters that are swept: by the DA-RAID-5 paper, and beyond it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweeps {
    pub n_update: Vec<u32>,
    pub caches_kib: Vec<u32>,
    pub cut_off: Vec<u32>,
    /// Numbers of free entries in the parity cache, kept for writes to come, with which the
    /// DA-RAID-5 study runs its drive.
    pub parity_ahead: Vec<u32>,
    pub stripes: Vec<u32>,
    /// Stripe sizes in pages at which the DA-RAID-5 study compares both orders of an update:
    /// program the new page before or after reading the old one.
    pub grid_stripes: Vec<u32>,
    /// Request rates, as multiples of the rate behind the DA-RAID-5 paper's figures, at which both
    /// orders of an update are compared.
    pub loads: Vec<f64>,
    /// Localities of requests at which hybrid caching is compared with the partial parity cache.
    pub localities: Vec<Locality>,
    /// Numbers of requests of the DA-RAID-5 study's runs of different length, which show from which
    /// length on the results no longer change.
    pub lengths: Vec<u64>,
    /// Number of web search requests after which its reads have caused blocks to be refreshed.
    pub search: u64,
}

impl Paper {
    /// Reads the data file of the DA-RAID-5 paper.
    pub fn open() -> Result<Paper, Diagnostics> {
        paper_data::open("papers/da-raid5", TEXT)
    }

    /// Returns the DA-RAID-5 paper's drive with the settings `set`.
    pub fn device(&self, set: &[String]) -> DeviceSpec {
        paper_data::drive("da-raid5", &self.drive, set)
    }

    /// Returns the number with the label `label` that the DA-RAID-5 paper prints for the claim with
    /// ID `id`.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        claim::number(&self.claim, id, label)
    }
}
