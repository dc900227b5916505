//! Results in files of their own: sealed, so that a damaged file and one of a newer version are
//! refused. `python/fowler/_result_file.py` decides the meaning of the bytes.

use crate::errors::OrRaise;
use fowler_experiment::atomic_file::unwritable;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::disk::unreadable;
use fowler_experiment::sealed_file::{self, Kind, SealedFile};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Kind and format version of result files; increment the version when the contents change.
const RESULT: Kind = Kind { name: "result", format: 1 };

/// Writes a result of Python to a file with a checksum (sealed); `kind` says which result (`run`,
/// `table` ...).
#[pyfunction]
pub(crate) fn save(py: Python<'_>, path: PathBuf, kind: &str, body: &[u8]) -> PyResult<()> {
    py.detach(|| write(&path, kind, body)).or_raise(py)
}

fn write(path: &Path, kind: &str, body: &[u8]) -> Result<(), Diagnostics> {
    let mut file = SealedFile::create(path, RESULT, kind)?;
    file.write_all(body).map_err(|error| unwritable(path, &error))?;
    file.finish(path)
}

/// Reads a result file that Python wrote with a checksum (sealed): returns the kind of result
/// (`run`, `table` ...) and the contents.
#[pyfunction]
pub(crate) fn read_saved(py: Python<'_>, path: PathBuf) -> PyResult<(String, Bound<'_, PyBytes>)> {
    let read = || -> Result<(String, Vec<u8>), Diagnostics> {
        let mut file = sealed_file::open(&path, RESULT)?;
        let mut body = Vec::new();
        file.body.read_to_end(&mut body).map_err(|error| unreadable(&path, &error))?;
        Ok((file.identity, body))
    };
    let (kind, body) = py.detach(read).or_raise(py)?;
    Ok((kind, PyBytes::new(py, &body)))
}
