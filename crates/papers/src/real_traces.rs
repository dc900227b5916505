//! Real traces of a paper's workloads, or excerpts of them, in a folder given by the user.

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::workload::{TraceSpec, WorkloadSpec, format_by_name};
use fowler_workload::{DeviceChoice, ReadOptions, Remap};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Real traces of one workload, recognized by the beginning of their file names; with the trace
/// format if the text of the files does not decide it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Real {
    /// Beginning of the names of the workload's trace files, compared without regard to case.
    pub begins: String,
    format: Option<String>,
}

impl Real {
    /// Returns true if the file at `path` is a real trace of this workload: the file's name begins
    /// with the prefix `begins`, in any case.
    pub fn names(&self, path: &Path) -> bool {
        file_name(path).to_lowercase().starts_with(&self.begins.to_lowercase())
    }

    /// Returns the trace at `path` as a workload. Devices of the trace are laid side by side and
    /// addresses compacted: no paper describes how it mapped them, and two pages must not share an
    /// address.
    pub fn trace(&self, path: &Path) -> Result<WorkloadSpec, Diagnostics> {
        let format = self.format.as_deref().map(format_by_name).transpose()?;
        let device = DeviceChoice::SideBySide;
        let options = ReadOptions { format, device, ..ReadOptions::default() };
        Ok(WorkloadSpec::Trace(TraceSpec::new(path.into(), options, Remap::Compact)))
    }
}

/// Returns the name of a file without its folder.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the warning that no file in `folder` is a trace named in `reals`, the real traces that a
/// study replays.
pub(crate) fn none_found<'a>(folder: &Path, reals: impl Iterator<Item = &'a Real>) -> String {
    let names: Vec<&str> = reals.map(|real| real.begins.as_str()).collect();
    let folder = folder.display();
    if names.is_empty() {
        return format!("nothing in {folder} was read: this study replays no real trace");
    }
    format!("no file name in {folder} begins with any of {}", names.join(", "))
}

/// Returns the paths of the files in a folder, sorted by name.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, Diagnostics> {
    let failed = |error: std::io::Error| {
        let diagnostic = Diagnostic::new("--traces", format!("{}: {error}", folder.display()));
        Diagnostics::from(diagnostic.expected("a folder of traces"))
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
