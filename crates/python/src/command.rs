//! The command `fowler` of the Python package.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command line, whose first argument is the name of the program, and returns the exit
/// code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| fowler_cli::main(arguments))
}
