//! What the paper publishes, read from the project's data, and the workloads it is measured on.

use crate::device::DeviceSpec;
use crate::presets::{self, Folder};
use crate::problem::{Problem, Problems};
use crate::reproduce::claim::Claim;
use crate::reproduce::real::{self, Real};
use crate::workload::WorkloadSpec;
use serde::Deserialize;
use std::path::Path;

const TEXT: &str = include_str!("../../../../../presets/papers/rhio.toml");

/// The file of published numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// Requests of each run of what the paper shows, at any speed.
    pub requests: u64,
    /// And of the ablation, the choices and the estimate.
    pub swept_requests: u64,
    /// What the drive is beside its preset.
    drive: Vec<String>,
    /// The factors by which times are divided, beside one.
    pub speeds: Vec<f64>,
    /// The share of prioritised writes that the paper says most volumes have.
    pub share: f64,
    /// The factor at which conflicts are looked at beside the recorded times.
    pub conflicts: f64,
    workload: Vec<Published>,
    excerpt: Vec<Excerpt>,
    /// The volumes that the text gives numbers of.
    pub named: Vec<String>,
    /// How far the drive is in its life.
    pub stage: Vec<Answer>,
    /// The techniques that the paper puts together.
    pub technique: Vec<Answer>,
    /// What else a controller could do.
    pub rival: Vec<Answer>,
    pub estimate: Estimate,
    pub choice: Vec<Choice>,
    pub claim: Vec<Claim>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    name: String,
    stand_in: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Excerpt {
    name: String,
    #[serde(flatten)]
    real: Real,
}

/// Settings with a name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub name: String,
    pub set: Vec<String>,
}

/// The study of what the controller knows of its blocks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Estimate {
    /// P/E cycles of every block.
    pub cycles: Vec<u32>,
}

/// Another answer than ours to something that the paper does not say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    pub name: String,
    pub rule: String,
    pub set: Vec<String>,
    /// By what times are divided.
    #[serde(default = "as_recorded")]
    pub speed: f64,
}

fn as_recorded() -> f64 {
    1.0
}

/// A workload: the stand-in of a volume, or a real cut.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub name: String,
    /// What is said of it.
    pub source: String,
    pub spec: WorkloadSpec,
    /// Whether the paper's means are taken over it.
    pub is_stand_in: bool,
}

impl Paper {
    /// The paper.
    pub fn open() -> Result<Paper, Problems> {
        toml::from_str(TEXT).map_err(|error: toml::de::Error| {
            Problem::new("presets/papers/rhio.toml", error.to_string()).into()
        })
    }

    /// The paper's drive, with some keys set otherwise.
    pub fn device(&self, set: &[String]) -> DeviceSpec {
        let key = |setting: &String| setting.split('=').next().map(str::to_string);
        let kept = |mine: &&String| set.iter().all(|other| key(other) != key(mine));
        let set = self.drive.iter().filter(kept).chain(set).cloned().collect();
        DeviceSpec { device: "rhio".into(), set, seed: None }
    }

    /// The number that a claim publishes under a label.
    pub fn number(&self, id: &str, label: &str) -> Option<f64> {
        let claim = self.claim.iter().find(|claim| claim.id == id)?;
        claim.published.iter().find(|(name, _)| name == label).map(|(_, value)| *value)
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

    /// The stand-ins in the order of the data, then the real cuts that `folder` has.
    pub fn columns(&self, folder: Option<&Path>) -> Result<Vec<Column>, Problems> {
        let mut columns = Vec::new();
        for published in &self.workload {
            let source = presets::open(Folder::Workloads, &published.stand_in)?;
            columns.push(Column {
                name: published.name.clone(),
                source: format!("stand-in {}", source.name),
                spec: WorkloadSpec::Generated(source),
                is_stand_in: true,
            });
        }
        let Some(folder) = folder else { return Ok(columns) };
        let files = real::files(folder)?;
        for excerpt in &self.excerpt {
            if let Some(path) = files.iter().find(|path| excerpt.real.names(path)) {
                columns.push(Column {
                    name: excerpt.name.clone(),
                    source: real::file_name(path),
                    spec: excerpt.real.trace(path)?,
                    is_stand_in: false,
                });
            }
        }
        Ok(columns)
    }

    /// What to say if a folder has none of the real cuts.
    pub fn none_found(&self, folder: &Path, columns: &[Column]) -> Option<String> {
        let any = columns.iter().any(|column| !column.is_stand_in);
        let reals = self.excerpt.iter().map(|excerpt| &excerpt.real);
        (!any).then(|| real::none_found(folder, reals))
    }
}
