//! Diagnostics as Python exceptions: all diagnostics together, each with all its fields.

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

/// `fowler.InputError`, which is defined in Python.
static INPUT_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Converts diagnostics to `fowler.InputError`.
pub(crate) fn input_error(py: Python<'_>, diagnostics: &Diagnostics) -> PyErr {
    let raised = INPUT_ERROR.import(py, "fowler.errors", "InputError").and_then(|class| {
        let reported: Vec<_> = diagnostics.0.iter().map(fields).collect();
        class.call_method1("of", (PyTuple::new(py, reported)?,))
    });
    match raised {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

type Fields = (String, Option<u64>, String, String, String, Option<String>);

fn fields(diagnostic: &Diagnostic) -> Fields {
    let Diagnostic { file, line, text, what, expected, hint } = diagnostic.clone();
    (file, line, text, what, expected, hint)
}

/// Creates the error for a bug in Fowler.
pub(crate) fn fault(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("{what}: this is a bug in Fowler, please report it"))
}

/// Converts results of the experiment crate to Python results.
pub(crate) trait OrRaise<T> {
    /// Returns the value, or raises `fowler.InputError`.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Diagnostics> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|diagnostics| input_error(py, &diagnostics))
    }
}
