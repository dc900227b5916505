//! What the paper publishes, read from the project's data, and the workloads it is measured on.

use super::plan::Evidence;
use crate::device::DeviceSpec;
use crate::presets::{self, Folder};
use crate::problem::{Problem, Problems};
use crate::reproduce::claim::Claim;
use crate::reproduce::real::{self, Real};
use crate::workload::WorkloadSpec;
use serde::Deserialize;
use std::path::Path;

const TEXT: &str = include_str!("../../../../../presets/papers/hire.toml");

/// The file of published numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// Requests of each run of what the paper shows.
    pub requests: u64,
    /// And of the sweeps.
    pub swept_requests: u64,
    /// What the drives have been through.
    drive: Vec<String>,
    workload: Vec<Published>,
    pub sweeps: Sweeps,
    pub claim: Vec<Claim>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    name: String,
    /// None of a workload that the paper only mentions.
    stand_in: Option<String>,
    #[serde(default)]
    real: Vec<Real>,
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
}

/// A workload: the stand-in of a trace of the paper, or a real excerpt.
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
            Problem::new("presets/papers/hire.toml", error.to_string()).into()
        })
    }

    /// The paper's drive, with some keys set otherwise.
    pub fn device(&self, set: &[String]) -> DeviceSpec {
        let key = |setting: &String| setting.split('=').next().map(str::to_string);
        let kept = |mine: &&String| set.iter().all(|other| key(other) != key(mine));
        let set = self.drive.iter().filter(kept).chain(set).cloned().collect();
        DeviceSpec { device: "hire".into(), set, seed: None }
    }

    /// The number that a claim publishes under a label.
    pub fn number(&self, id: &str, label: &str) -> Option<f64> {
        let claim = self.claim.iter().find(|claim| claim.id == id)?;
        claim.published.iter().find(|(name, _)| name == label).map(|(_, value)| *value)
    }

    /// What to say if a folder has none of the paper's traces.
    pub fn none_found(&self, folder: &Path, evidence: &Evidence) -> Option<String> {
        let is_real = evidence.columns.iter().any(|column| !column.is_stand_in);
        let reals = self.workload.iter().flat_map(|it| &it.real);
        (!is_real).then(|| real::none_found(folder, reals))
    }

    /// The stand-ins, then the real traces that `folder` has.
    pub fn columns(&self, folder: Option<&Path>) -> Result<Vec<Column>, Problems> {
        let mut columns = Vec::new();
        for published in &self.workload {
            let Some(stand_in) = &published.stand_in else { continue };
            columns.push(Column {
                name: published.name.clone(),
                source: format!("stand-in {stand_in}"),
                spec: WorkloadSpec::Generated(presets::open(Folder::Workloads, stand_in)?),
                is_stand_in: true,
            });
        }
        let files = folder.map(real::files).transpose()?.unwrap_or_default();
        for published in &self.workload {
            let mine = |path: &&std::path::PathBuf| published.real(path).is_some();
            let found: Vec<_> = files.iter().filter(mine).collect();
            for (number, path) in found.iter().enumerate() {
                let Some(real) = published.real(path) else { continue };
                let number =
                    if found.len() > 1 { format!(" {}", number + 1) } else { String::new() };
                columns.push(Column {
                    name: format!("{} real{number}", published.name),
                    source: real::file_name(path),
                    spec: real.trace(path)?,
                    is_stand_in: false,
                });
            }
        }
        Ok(columns)
    }
}

impl Published {
    /// What a file is, if it holds this workload.
    fn real(&self, path: &Path) -> Option<&Real> {
        self.real.iter().find(|real| real.names(path))
    }
}
