//! The command `fowler` of the Python package, on the command line and for functions that return
//! what it says.

use crate::errors::OrRaise;
use crate::watch::watch;
use fowler_cli::Answer;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs the command line, whose first argument is the name of the program, and returns the exit
/// code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| fowler_cli::main(arguments))
}

/// Runs the command line and returns what it would have written to standard output.
#[pyfunction]
pub(crate) fn answer(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<String> {
    let answer = watch(py, None, move |watched| {
        // A command that does not stop at once outlives this call, and its flag with it.
        let stop: &'static Arc<AtomicBool> = Box::leak(Box::new(watched.stop));
        fowler_cli::answer(arguments, stop)
    })?;
    match answer.or_raise(py)? {
        Answer::Text(text) => Ok(text),
        Answer::Stopped => Err(PyKeyboardInterrupt::new_err("stopped")),
    }
}
