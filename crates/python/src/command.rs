//! The command `fowler`, as the package brings it.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Does what the arguments ask for, the name of the program first; returns the exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| fowler_cli::main(arguments))
}
