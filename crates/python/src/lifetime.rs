//! Lifetime runs.

use crate::errors::OrRaise;
use crate::policies::watch_policies;
use crate::sheets::{Rows, rows};
use crate::spec::LifetimeArgs;
use fowler_experiment::lifetime::{Ended, Lifetime as Finished, Watch, live};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// The result of a lifetime run.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Lifetime {
    finished: Box<Finished>,
}

#[pymethods]
impl Lifetime {
    /// Returns all metrics as the text of one JSON object.
    fn summary(&self) -> String {
        self.finished.json().to_string()
    }

    /// Returns the results as a table.
    fn sheet(&self) -> Rows {
        rows(&self.finished.sheet())
    }

    /// Writes the table (CSV), figures (SVG) and the report into a folder, and returns the files.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<String>> {
        py.detach(|| self.finished.write(&folder)).map(|(files, _)| files).or_raise(py)
    }
}

/// Simulates a drive's whole life. Reports progress in thousandths.
#[pyfunction]
#[pyo3(signature = (life, progress=None))]
pub(crate) fn lifetime(
    py: Python<'_>,
    life: LifetimeArgs,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Lifetime> {
    let ended = watch_policies(py, progress.as_ref(), move |watched, failure| {
        let spec = life.spec(failure)?;
        watched.all.store(1000, Ordering::Relaxed);
        let share = |share: f64| watched.done.store((share * 1000.0) as u64, Ordering::Relaxed);
        watched.controlled(|control| {
            live(&spec, Watch { control, share: &share, early: &|_| (), warn: &|_| () })
        })
    })?;
    match ended.or_raise(py)? {
        Ended::Lived(finished) => {
            finished.remove_checkpoint().or_raise(py)?;
            Ok(Lifetime { finished })
        }
        Ended::Stopped { .. } => Err(PyKeyboardInterrupt::new_err("stopped")),
    }
}
