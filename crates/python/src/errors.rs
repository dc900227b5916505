//! Problems as Python exceptions: all of them at once, each with all it knows.

use fowler_experiment::problem::{Problem, Problems};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

/// `fowler.InputError`, made in Python: it has fields there.
static INPUT_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// What is wrong, as `fowler.InputError`.
pub(crate) fn input_error(py: Python<'_>, problems: &Problems) -> PyErr {
    let raised = INPUT_ERROR.import(py, "fowler.errors", "InputError").and_then(|class| {
        let told: Vec<_> = problems.0.iter().map(fields).collect();
        class.call_method1("of", (PyTuple::new(py, told)?,))
    });
    match raised {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

type Fields = (String, Option<u64>, String, String, String, Option<String>);

fn fields(problem: &Problem) -> Fields {
    let Problem { file, line, text, what, expected, hint } = problem.clone();
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

impl<T> OrRaise<T> for Result<T, Problems> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|problems| input_error(py, &problems))
    }
}
