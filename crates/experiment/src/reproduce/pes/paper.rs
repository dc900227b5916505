//! What the paper publishes, read from the project's data, and the workloads it is measured on.

use super::plan::Evidence;
use crate::device::{DeviceSpec, Source};
use crate::presets::{self, Folder};
use crate::problem::{Problem, Problems};
use crate::reproduce::claim::Claim;
use crate::reproduce::real::{self, Real};
use crate::workload::WorkloadSpec;
use serde::Deserialize;
use std::path::{Path, PathBuf};

const TEXT: &str = include_str!("../../../../../presets/papers/pes.toml");

/// The file of published numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// The share of idle time that traces are compressed to.
    pub idle: f64,
    /// What the drives have been through.
    drive: Vec<String>,
    workload: Vec<Published>,
    pub table2: Table2,
    pub queue: Queue,
    pub fit: Fit,
    pub choice: Vec<Choice>,
    pub claim: Vec<Claim>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    name: String,
    stand_in: String,
    real: Vec<Real>,
}

/// Mean latencies under FIFO in milliseconds, by workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table2 {
    slc_read: Vec<f64>,
    slc_write: Vec<f64>,
    mlc_read: Vec<f64>,
    mlc_write: Vec<f64>,
}

/// The study of the write queue.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Queue {
    pub workload: String,
    pub faster: f64,
    pub sizes: Vec<u32>,
}

/// The real trace that generated workloads are held against.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fit {
    /// How the name of its file begins.
    pub excerpt: String,
    /// The workloads.
    pub stand_ins: Vec<String>,
}

/// Another answer than ours to something that the paper does not say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    pub name: String,
    pub rule: String,
    pub set: Vec<String>,
    /// Whether it is measured on SLC too, besides MLC.
    #[serde(default)]
    both: bool,
}

impl Choice {
    /// The flashes it is measured on.
    pub fn flashes(&self) -> &'static [Flash] {
        if self.both { &Flash::ALL } else { &[Flash::Mlc] }
    }
}

/// The two kinds of flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flash {
    Slc,
    Mlc,
}

impl Flash {
    pub const ALL: [Flash; 2] = [Flash::Slc, Flash::Mlc];

    pub fn name(self) -> &'static str {
        ["SLC", "MLC"][self as usize]
    }

    pub fn preset(self) -> &'static str {
        ["pes-slc", "pes-mlc"][self as usize]
    }
}

/// A workload of the paper: its stand-in, or a real trace.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// `F1`, or `F1 real` with a number where there are several.
    pub name: String,
    /// What is said of it.
    pub source: String,
    pub spec: WorkloadSpec,
    /// Which workload of the paper it is, by its place; none of a real trace, which no mean counts.
    pub place: Option<usize>,
}

impl Paper {
    /// The paper.
    pub fn open() -> Result<Paper, Problems> {
        toml::from_str(TEXT).map_err(|error: toml::de::Error| {
            Problem::new("presets/papers/pes.toml", error.to_string()).into()
        })
    }

    /// The paper's drive, with some keys set otherwise.
    pub fn device(&self, flash: Flash, set: &[String]) -> DeviceSpec {
        let key = |setting: &String| setting.split('=').next().map(str::to_string);
        let kept = |mine: &&String| set.iter().all(|other| key(other) != key(mine));
        let set = self.drive.iter().filter(kept).chain(set).cloned().collect();
        DeviceSpec { device: flash.preset().into(), set, seed: None }
    }

    /// The latency of Table 2 in milliseconds.
    pub fn table2(&self, flash: Flash, kind: &str, place: usize) -> Option<f64> {
        let table = &self.table2;
        let cells = match (flash, kind) {
            (Flash::Slc, "read") => &table.slc_read,
            (Flash::Slc, _) => &table.slc_write,
            (Flash::Mlc, "read") => &table.mlc_read,
            (Flash::Mlc, _) => &table.mlc_write,
        };
        cells.get(place).copied()
    }

    /// The claim of that number.
    pub fn claim(&self, id: &str) -> Option<&Claim> {
        self.claim.iter().find(|claim| claim.id == id)
    }

    /// The number that a claim publishes under a label.
    pub fn number(&self, id: &str, label: &str) -> Option<f64> {
        let labelled = self.claim(id)?.published.iter().find(|(name, _)| name == label);
        labelled.map(|(_, value)| *value)
    }

    /// What to say if a folder has none of the paper's traces.
    pub fn none_found(&self, folder: &Path, evidence: &Evidence) -> Option<String> {
        let is_real = evidence.columns.iter().any(|column| column.place.is_none());
        let reals = self.workload.iter().flat_map(|it| &it.real);
        (!is_real).then(|| real::none_found(folder, reals))
    }

    /// The stand-ins in the order of the paper, then the real traces that `folder` has.
    pub fn columns(&self, folder: Option<&Path>) -> Result<Vec<Column>, Problems> {
        let mut columns = Vec::new();
        for (place, published) in self.workload.iter().enumerate() {
            let source = presets::open(Folder::Workloads, &published.stand_in)?;
            columns.push(stand_in(&published.name, source, place));
        }
        let Some(folder) = folder else { return Ok(columns) };
        let files = real::files(folder)?;
        for published in &self.workload {
            let found: Vec<(&PathBuf, &Real)> =
                files.iter().filter_map(|path| Some((path, published.real(path)?))).collect();
            for (number, (path, real)) in found.iter().enumerate() {
                let number =
                    if found.len() > 1 { format!(" {}", number + 1) } else { String::new() };
                columns.push(real_column(format!("{} real{number}", published.name), real, path)?);
            }
        }
        Ok(columns)
    }
}

fn stand_in(name: &str, source: Source, place: usize) -> Column {
    Column {
        name: name.into(),
        source: format!("stand-in {}", source.name),
        spec: WorkloadSpec::Generated(source),
        place: Some(place),
    }
}

impl Published {
    /// What a file is, if it holds this workload.
    fn real(&self, path: &Path) -> Option<&Real> {
        self.real.iter().find(|real| real.names(path))
    }
}

/// A real trace.
fn real_column(name: String, real: &Real, path: &Path) -> Result<Column, Problems> {
    Ok(Column { name, source: real::file_name(path), spec: real.trace(path)?, place: None })
}
