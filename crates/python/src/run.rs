//! Runs, and comparisons of schemes or drives.

use crate::errors::OrRaise;
use crate::outcome::Outcome;
use crate::policies::{Failure, Watcher, watch_policies};
use crate::spec::RunArgs;
use crate::spread::Spread;

use arrow_array::RecordBatch;
use fowler_columns::requests::RequestColumns;
use fowler_experiment::candidates::LeftOut;
use fowler_experiment::outcome::Outcome as Finished;
use fowler_experiment::run::Run;
use fowler_experiment::seeds::compare_over_watched;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use std::ffi::CString;
use std::sync::Arc;

/// Runs one drive under one workload. With `keep`, keeps every request in memory.
#[pyfunction]
#[pyo3(signature = (run, keep=false, progress=None))]
pub(crate) fn run(
    py: Python<'_>,
    run: RunArgs,
    keep: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let finished = watch_policies(py, progress.as_ref(), move |watched, failure| {
        let (spec, _) = run.spec(&[], failure)?;
        watched
            .controlled(|control| Run::new(&spec, control).watched_by(Watcher::new(keep)).start())
            .map(|finished| outcome(finished, failure))
    })?;
    finished.or_raise(py)
}

/// Raises everything that is wrong with a run under each of `schemes`.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, run: RunArgs, schemes: Vec<String>) -> PyResult<()> {
    let failure = Failure::new(&Arc::default());
    py.detach(|| run.spec(&schemes, &failure)).map(drop).or_raise(py)
}

/// Runs one workload under each of `schemes`, or on each of the drives of `run` if it has several,
/// in parallel. Returns the outcomes in their order, and the spread of their metrics over `seeds`
/// seeds if there are several. A scheme that does not work on one of several drives is left out
/// there, with a warning.
#[pyfunction]
#[pyo3(signature = (run, schemes, keep=false, progress=None, seeds=1))]
pub(crate) fn compare(
    py: Python<'_>,
    run: RunArgs,
    schemes: Vec<String>,
    keep: bool,
    progress: Option<Bound<'_, PyAny>>,
    seeds: u32,
) -> PyResult<(Vec<Outcome>, Option<Spread>)> {
    let finished = watch_policies(py, progress.as_ref(), move |watched, failure| {
        let (spec, candidates) = run.spec(&schemes, failure)?;
        let watcher = |_: &str| Watcher::new(keep);
        let (outcomes, spread) = watched.controlled(|control| {
            compare_over_watched(&spec, &candidates, seeds, control, watcher)
        })?;
        let outcomes = outcomes.into_iter().map(|finished| outcome(finished, failure)).collect();
        let notes: Vec<String> = candidates.left_out().iter().map(LeftOut::note).collect();
        Ok(((outcomes, spread.map(|inner| Spread { inner })), notes))
    })?;
    let (compared, notes) = finished.or_raise(py)?;
    for note in notes {
        let text = CString::new(note.replace('\0', ""))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
    }
    Ok(compared)
}

fn outcome((finished, watcher): (Finished, Watcher), failure: &Failure) -> Outcome {
    let policies = failure.learnt(&watcher);
    let requests: Option<Vec<RecordBatch>> = watcher.columns.map(RequestColumns::finish);
    Outcome { finished: Arc::new(finished), requests, policies }
}
