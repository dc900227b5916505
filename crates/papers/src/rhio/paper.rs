//! The published numbers, read from the project's data, and the paper's workloads.

use crate::claim::{self, ClaimId, Statement};
use crate::column::Published;
use crate::joint::Open;
use crate::paper_data;
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::Diagnostics;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/rhio.toml");

/// The file with the published numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// The share of each volume's week in the runs that claims read.
    pub week: f64,
    /// Other shares of the week, which show whether `week` is long enough.
    pub lengths: Vec<f64>,
    /// The number of requests in every other run.
    pub swept_requests: u64,
    /// Settings of the drive that differ from its preset.
    drive: Vec<String>,
    /// The factors by which times are divided, beside one.
    pub speeds: Vec<f64>,
    /// The share of prioritized writes above which the paper says most volumes gain much.
    pub share: f64,
    /// The factor at which conflicts are looked at beside the recorded times.
    pub conflicts: f64,
    /// Commands outstanding at once, beside what NCQ has.
    pub depths: Vec<u32>,
    /// Pages that go to one chip before the next takes any, beside one.
    pub units: Vec<u32>,
    /// Number of such pages that hold the largest request of Figure 2.
    pub whole_requests: u32,
    pub workload: Vec<Published>,
    /// The volumes for which the text gives numbers.
    pub named: Vec<String>,
    /// Stages of the drive's life.
    pub stage: Vec<Answer>,
    /// The techniques that the paper combines.
    pub technique: Vec<Answer>,
    /// Alternatives that a controller could use.
    pub rival: Vec<Answer>,
    pub estimate: Estimate,
    pub choice: Vec<Choice>,
    /// Open choices that are settled together, by numbers of the baselines.
    pub open: Vec<Open>,
    pub claim: Vec<Statement>,
}

/// Settings with a name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub name: String,
    pub set: Vec<String>,
}

/// The study of estimated block strength.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Estimate {
    /// P/E cycles of every block.
    pub cycles: Vec<u32>,
}

/// An alternative assumption where the paper is silent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    pub name: String,
    pub rule: String,
    pub set: Vec<String>,
    /// Factor by which times are divided.
    #[serde(default = "as_recorded")]
    pub speed: f64,
}

fn as_recorded() -> f64 {
    1.0
}

impl Paper {
    /// Reads the paper's data.
    pub fn open() -> Result<Paper, Diagnostics> {
        paper_data::open("papers/rhio", TEXT)
    }

    /// Returns the paper's drive with some keys overridden.
    pub fn device(&self, set: &[String]) -> DeviceSpec {
        paper_data::drive("rhio", &self.drive, set)
    }

    /// Returns the number that a claim publishes under a label.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        claim::number(&self.claim, id, label)
    }

    /// Every set of techniques: each alone, each pair, all; then the rivals.
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
