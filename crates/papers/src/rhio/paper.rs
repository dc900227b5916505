//! The published numbers of the RHIO paper, read from its data file, and the paper's workloads.

use crate::claim::{self, ClaimId, Statement};
use crate::column::Published;
use crate::joint::Open;
use crate::paper_data;
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::Diagnostics;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/rhio.toml");

/// The data file of the RHIO paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// Share of each volume's week (0 to 1) that is replayed in the runs that claims read.
    pub week: f64,
    /// Other shares (0 to 1) of each volume's week that are replayed, to show whether the share
    /// replayed for the claims is large enough.
    pub lengths: Vec<f64>,
    /// Number of requests in each run of the RHIO study that no claim of the paper is measured on,
    /// such as parameter sweeps.
    pub swept_requests: u64,
    /// Settings of the RHIO study's drive that replace those of the preset `rhio`.
    drive: Vec<String>,
    /// Share of prioritized writes (0 to 1) in a volume's writes above which, according to the RHIO
    /// paper, most volumes gain much.
    pub speeds: Vec<f64>,
    /// Share of prioritized writes (0 to 1) above which, according to the RHIO paper, most volumes
    /// gain much.
    pub share: f64,
    /// Replay speed, besides the recorded one, at which conflicts between requests are examined:
    /// the factor by which arrival times are divided.
    pub conflicts: f64,
    /// Numbers of outstanding commands to run besides the 32 of NCQ (SATA's native command
    /// queuing).
    pub depths: Vec<u32>,
    /// Sizes of the stripe unit besides one page: pages placed on one chip before the next chip
    /// gets any.
    pub units: Vec<u32>,
    /// Size of the stripe unit in pages that holds the largest request of the RHIO paper's Figure
    /// 2.
    pub whole_requests: u32,
    pub workload: Vec<Published>,
    /// Names of the volumes for which the RHIO paper's text prints numbers.
    pub named: Vec<String>,
    /// Stages of the drive's life, as named settings of the drive.
    pub stage: Vec<Answer>,
    /// Techniques that the RHIO paper combines, as named settings of the drive.
    pub technique: Vec<Answer>,
    /// Alternative techniques that a controller could use, as named settings of the drive.
    pub rival: Vec<Answer>,
    pub estimate: Estimate,
    pub choice: Vec<Choice>,
    /// Choices that the RHIO paper leaves open. They are made together: the combination is sought
    /// that brings the baseline schemes nearest to their published numbers.
    pub open: Vec<Open>,
    pub claim: Vec<Statement>,
}

/// Named group of drive settings in the RHIO study, such as a technique of the paper's scheduler or
/// a stage of the drive's life.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub name: String,
    pub set: Vec<String>,
}

/// Study of estimated block strength: the effect of errors in the estimate on latency.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Estimate {
    /// P/E cycles of every block in the RHIO study of estimated strength, one run for each value.
    pub cycles: Vec<u32>,
}

/// An alternative assumption about something that the RHIO paper does not state.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    pub name: String,
    pub rule: String,
    pub set: Vec<String>,
    /// Replay speed: the factor by which arrival times are divided.
    #[serde(default = "as_recorded")]
    pub speed: f64,
}

fn as_recorded() -> f64 {
    1.0
}

impl Paper {
    /// Reads the data file of the RHIO paper.
    pub fn open() -> Result<Paper, Diagnostics> {
        paper_data::open("papers/rhio", TEXT)
    }

    /// Returns the RHIO paper's drive with the settings `set`.
    pub fn device(&self, set: &[String]) -> DeviceSpec {
        paper_data::drive("rhio", &self.drive, set)
    }

    /// Returns the number with the label `label` that the RHIO paper prints for the claim with ID
    /// `id`.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        claim::number(&self.claim, id, label)
    }

    /// Returns every set of the techniques that the RHIO paper combines (each alone, each pair, all
    /// of them), then other techniques that a controller could use.
    pub fn answers(&self) -> Vec<Answer> {
        let all = &self.technique;
        let mut subsets: Vec<Vec<&Answer>> = (1u32..1 << all.len())
            .map(|bits| {
                (0..all.len()).filter(|at| bits >> at & 1 == 1).map(|at| &all[at]).collect()
            })
            .collect();
        subsets.sort_by_key(Vec::len);
        let joined = subsets.into_iter().map(|subset| {
            let names: Vec<&str> = subset.iter().map(|it| it.name.as_str()).collect();
            let name =
                if names.len() == all.len() { "all (RHIO)".into() } else { names.join(" + ") };
            Answer { name, set: subset.iter().flat_map(|it| it.set.clone()).collect() }
        });
        joined.chain(self.rival.iter().cloned()).collect()
    }
}
