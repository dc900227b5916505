//! Real traces in a folder of the user's that hold a paper's workload, or a part of it.

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::workload::{TraceSpec, WorkloadSpec, format_by_name};
use fowler_workload::{DeviceChoice, ReadOptions, Remap};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// How the names of files begin that hold a workload, and their format where the text leaves it
/// open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Real {
    /// Whatever the case of its letters.
    pub begins: String,
    format: Option<String>,
}

impl Real {
    /// Whether the file's name begins so.
    pub fn names(&self, path: &Path) -> bool {
        file_name(path).to_lowercase().starts_with(&self.begins.to_lowercase())
    }

    /// The trace. Devices lie side by side and addresses are compacted: no paper says how it folded
    /// them, and no two pages may share one place.
    pub fn trace(&self, path: &Path) -> Result<WorkloadSpec, Diagnostics> {
        let format = self.format.as_deref().map(format_by_name).transpose()?;
        let device = DeviceChoice::SideBySide;
        let options = ReadOptions { format, device, ..ReadOptions::default() };
        Ok(WorkloadSpec::Trace(TraceSpec { path: path.into(), options, remap: Remap::Compact }))
    }
}

/// The name of a file, without its folder.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What to say if no file is one of `reals`.
pub(crate) fn none_found<'a>(folder: &Path, reals: impl Iterator<Item = &'a Real>) -> String {
    let names: Vec<&str> = reals.map(|real| real.begins.as_str()).collect();
    let folder = folder.display();
    format!("{folder} has no file whose name begins with one of {}", names.join(", "))
}

/// The files of a folder, by name.
///
/// # Errors
/// If it cannot be read.
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
