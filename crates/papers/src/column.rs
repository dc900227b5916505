//! The workloads of a paper: synthetic stand-in traces, then the real traces of a user's folder
//! that hold one of them.

use super::real::{self, Real};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::workload::WorkloadSpec;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A workload as a paper's data name it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    name: String,
    /// The preset that stands in for it; none of a trace that the paper's means are not taken over.
    stand_in: Option<String>,
    /// How its real traces are known.
    #[serde(default)]
    real: Vec<Real>,
}

/// What a study runs: the stand-in of a workload, or a real trace.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// `F1`, or `F1 real` with a number where there are several.
    pub name: String,
    /// What is said of it.
    pub source: String,
    pub spec: WorkloadSpec,
    /// Which workload of the paper it is, by its place; none of a real trace, which no mean counts.
    pub place: Option<usize>,
}

impl Column {
    /// Whether the paper's means are taken over it.
    pub fn is_stand_in(&self) -> bool {
        self.place.is_some()
    }
}

/// The stand-ins in the order of the data, then the real traces that `folder` has.
///
/// # Errors
/// Of a preset that there is not, and of a folder that cannot be read.
pub(crate) fn columns(
    workloads: &[Published],
    folder: Option<&Path>,
) -> Result<Vec<Column>, Diagnostics> {
    let mut columns = Vec::new();
    for (place, published) in workloads.iter().enumerate() {
        let Some(stand_in) = &published.stand_in else { continue };
        columns.push(Column {
            name: published.name.clone(),
            source: format!("stand-in {stand_in}"),
            spec: WorkloadSpec::Generated(presets::open(Folder::Workloads, stand_in)?),
            place: Some(place),
        });
    }
    let files = folder.map(real::files).transpose()?.unwrap_or_default();
    for published in workloads {
        let found: Vec<(&PathBuf, &Real)> =
            files.iter().filter_map(|path| Some((path, published.real(path)?))).collect();
        for (number, (path, real)) in found.iter().enumerate() {
            let number = if found.len() > 1 { format!(" {}", number + 1) } else { String::new() };
            let kind = if published.stand_in.is_some() { " real" } else { "" };
            columns.push(Column {
                name: format!("{}{kind}{number}", published.name),
                source: real::file_name(path),
                spec: real.trace(path)?,
                place: None,
            });
        }
    }
    Ok(columns)
}

/// What to say if a folder has none of the paper's traces.
pub(crate) fn none_found(
    workloads: &[Published],
    folder: &Path,
    columns: &[Column],
) -> Option<String> {
    let reals = workloads.iter().flat_map(|it| &it.real);
    columns.iter().all(Column::is_stand_in).then(|| real::none_found(folder, reals))
}

impl Published {
    /// What a file is, if it holds this workload.
    fn real(&self, path: &Path) -> Option<&Real> {
        self.real.iter().find(|real| real.names(path))
    }
}
