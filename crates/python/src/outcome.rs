//! The outcome of a run as a Python object.

use crate::errors::OrRaise;
use crate::policies::Learnt;
use crate::spread::Spread;
use crate::table::Table;
use arrow_array::RecordBatch;
use fowler_columns::requests;
use fowler_experiment::Kind;
use fowler_experiment::outcome::{Ending, Outcome as Finished};
use fowler_report::pages;
use fowler_report::verdict::{Finding, of};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// A finished run, as an object of Python.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Outcome {
    pub finished: Arc<Finished>,
    pub requests: Option<Vec<RecordBatch>>,
    pub policies: Vec<Learnt>,
}

#[pymethods]
impl Outcome {
    /// Returns all metrics of the run as the text of one JSON object.
    fn summary(&self) -> String {
        self.finished.json().to_string()
    }

    /// Returns the drive of the run as TOML with every key.
    #[getter]
    fn device(&self) -> String {
        self.finished.drive.text.clone()
    }

    /// Raises the error that ended the run, if there was one.
    fn raise_failure(&self, py: Python<'_>) -> PyResult<()> {
        match &self.finished.ending {
            Ending::Failed(diagnostics) => Err(diagnostics.clone()).or_raise(py),
            Ending::Complete | Ending::Stopped => Ok(()),
        }
    }

    /// Returns the latencies of reads or of writes in microseconds, each with the share of requests
    /// at or above it.
    fn distribution(&self, kind: &str) -> PyResult<Vec<(f64, f64)>> {
        let named = Kind::ALL.into_iter().find(|it| it.name() == kind);
        let kind =
            named.ok_or_else(|| PyValueError::new_err("kind must be \"read\" or \"write\""))?;
        let latencies = self.finished.recorder.latencies(kind);
        Ok(pages::at_least(latencies).into_iter().map(|(at, share)| (at.as_us(), share)).collect())
    }

    /// True if the run recorded the detail (such as time series) that a report page needs.
    #[getter]
    fn detailed(&self) -> bool {
        self.finished.detail.is_some()
    }

    /// Returns the policies written in Python that the run has called, by name, in their state
    /// after the run.
    #[getter]
    fn policies(&self, py: Python<'_>) -> Vec<Learnt> {
        let clone = |(name, object): &Learnt| (name.clone(), object.clone_ref(py));
        self.policies.iter().map(clone).collect()
    }

    /// Returns every request of the run, if they were recorded.
    #[getter]
    fn requests(&self) -> Option<Table> {
        Some(Table { schema: requests::schema(), batches: self.requests.clone()? })
    }
}

/// Writes a report on runs to `path`, including the results over several seeds.
#[pyfunction]
#[pyo3(signature = (outcomes, path, spread=None))]
pub(crate) fn write_report(
    py: Python<'_>,
    outcomes: Vec<PyRef<'_, Outcome>>,
    path: PathBuf,
    spread: Option<PyRef<'_, Spread>>,
) -> PyResult<()> {
    let (finished, spread) = (all(&outcomes), spread.map(|spread| spread.inner.clone()));
    let page = || pages::of_runs(&finished, spread.as_ref(), &[]);
    py.detach(|| pages::write(&path, &page())).or_raise(py)
}

/// Returns the findings of a report on runs, and on several seeds of them, as a list in JSON.
#[pyfunction]
#[pyo3(signature = (outcomes, spread=None))]
pub(crate) fn verdict(
    outcomes: Vec<PyRef<'_, Outcome>>,
    spread: Option<PyRef<'_, Spread>>,
) -> String {
    let spread = spread.as_ref().map(|spread| &spread.inner);
    let findings = of(&all(&outcomes), spread);
    Value::from_iter(findings.iter().map(Finding::json)).to_string()
}

fn all(outcomes: &[PyRef<'_, Outcome>]) -> Vec<Finished> {
    outcomes.iter().map(|outcome| (*outcome.finished).clone()).collect()
}
