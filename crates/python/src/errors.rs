//! Diagnostics as Python exceptions: all diagnostics together, each with all its fields.
//! `python/fowler/errors.py` says which exception it is.

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Converts diagnostics to `fowler.InputError`, or to `OSError` if the machine failed.
pub(crate) fn input_error(py: Python<'_>, diagnostics: &Diagnostics) -> PyErr {
    let raised = py.import("fowler.errors").and_then(|errors| {
        let reported: Vec<_> = diagnostics.0.iter().map(fields).collect();
        errors.call_method1("raised", (PyTuple::new(py, reported)?,))
    });
    match raised {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

type Fields = (String, Option<u64>, String, String, String, Option<String>, Option<i32>);

fn fields(diagnostic: &Diagnostic) -> Fields {
    let Diagnostic { file, line, text, what, expected, hint, os } = diagnostic.clone();
    (file, line, text, what, expected, hint, os)
}

/// Creates the error for a bug in Fowler.
pub(crate) fn fault(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("{what}: this is a bug in Fowler, please report it"))
}

/// Converts results of the experiment crate to Python results.
pub(crate) trait OrRaise<T> {
    /// Returns the value of a successful result, or raises its diagnostics as `fowler.InputError`
    /// (as `OSError` if the machine failed).
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Diagnostics> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|diagnostics| input_error(py, &diagnostics))
    }
}
