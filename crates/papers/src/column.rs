//! The workloads of a paper: synthetic stand-in traces, then the real traces of those workloads
//! that the user's folder has.

use super::real_traces::{self, Real};
use fowler_experiment::device_spec::Source;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::workload::WorkloadSpec;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A workload as named in the data file of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    name: String,
    /// Preset of the synthetic stand-in trace for a workload of a paper; `None` for a trace that
    /// does not count in the paper's means over workloads.
    stand_in: Option<String>,
    /// The text of a generator (TOML) in place of a preset's name, for a stand-in trace that is no
    /// preset.
    text: Option<String>,
    /// File names by which the real traces of the workload are recognized.
    #[serde(default)]
    real: Vec<Real>,
}

/// A workload that a study runs: a synthetic stand-in trace, or a real trace.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Name of the workload in tables: `F1` for a stand-in trace, `F1 real` (with a number if there
    /// are several) for a real trace.
    pub name: String,
    /// Source of the workload, as shown in tables: the stand-in trace's preset, or the file of the
    /// real trace.
    pub source: String,
    pub spec: WorkloadSpec,
    /// Index, from 0, of the workload among those of the paper that the study reproduces; `None`
    /// for a real trace, which does not count in any mean.
    pub place: Option<usize>,
}

impl Column {
    /// Returns true if the workload is a synthetic stand-in, which counts in the paper's means;
    /// false for a real trace.
    pub fn is_stand_in(&self) -> bool {
        self.place.is_some()
    }
}

/// Returns the workloads that a study runs: the stand-in traces in the order of the paper's data,
/// then the real traces found in `folder`.
///
/// # Errors
/// If a preset does not exist, or the folder cannot be read.
pub(crate) fn columns(
    workloads: &[Published],
    folder: Option<&Path>,
) -> Result<Vec<Column>, Diagnostics> {
    let mut columns = Vec::new();
    for (place, published) in workloads.iter().enumerate() {
        let (source, generator) = match (&published.stand_in, &published.text) {
            (Some(stand_in), _) => {
                (format!("stand-in {stand_in}"), presets::open(Folder::Workloads, stand_in)?)
            }
            (None, Some(text)) => {
                let (name, text) = (published.name.clone(), text.clone());
                ("generator of the study".into(), Source { name, text })
            }
            (None, None) => continue,
        };
        columns.push(Column {
            name: published.name.clone(),
            source,
            spec: WorkloadSpec::Generated(generator),
            place: Some(place),
        });
    }
    let files = folder.map(real_traces::files).transpose()?.unwrap_or_default();
    for published in workloads {
        let found: Vec<(&PathBuf, &Real)> =
            files.iter().filter_map(|path| Some((path, published.real(path)?))).collect();
        for (number, (path, real)) in found.iter().enumerate() {
            let number = if found.len() > 1 { format!(" {}", number + 1) } else { String::new() };
            let kind = if published.stand_in.is_some() { " real" } else { "" };
            columns.push(Column {
                name: format!("{}{kind}{number}", published.name),
                source: real_traces::file_name(path),
                spec: real.trace(path)?,
                place: None,
            });
        }
    }
    Ok(columns)
}

/// Returns a warning if `folder` has no real trace of any of the paper's workloads.
pub(crate) fn none_found(
    workloads: &[Published],
    folder: &Path,
    columns: &[Column],
) -> Option<String> {
    let reals = workloads.iter().flat_map(|it| &it.real);
    columns.iter().all(Column::is_stand_in).then(|| real_traces::none_found(folder, reals))
}

impl Published {
    /// Returns the name that the paper reproduced by the study gives to this workload.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the real trace of this workload that the file at `path` is; `None` if the file is no
    /// trace of the workload.
    fn real(&self, path: &Path) -> Option<&Real> {
        self.real.iter().find(|real| real.names(path))
    }
}
