//! Diagnostics as Python exceptions: all of them at once, each with all it knows.

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

/// `fowler.InputError`, made in Python: it has fields there.
static INPUT_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// What is wrong, as `fowler.InputError`.
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

/// The error of a bug of ours.
pub(crate) fn fault(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("{what}: this is a fault of the program, please report it"))
}

/// A result of the experiment crate as one of Python's.
pub(crate) trait OrRaise<T> {
    /// The value, or `fowler.InputError`.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Diagnostics> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|diagnostics| input_error(py, &diagnostics))
    }
}
