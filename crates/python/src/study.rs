//! The study of all combinations of systems.

use crate::errors::OrRaise;
use crate::policies::watch_policies;
use crate::sheets::{Rows, rows};
use crate::spec::SourceArgs;
use crate::watch::Watched;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_papers::ablation::{self, Design, Finding, Request};
use fowler_papers::{Step, Watch};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Result of a study: title, tables, files written, warnings.
type Found = (String, Vec<Rows>, Vec<String>, Vec<String>);

/// Runs every subset of the systems of the five papers, at three ages, under several workloads.
/// Saves finished runs in `out`, from which the same call resumes.
#[pyfunction]
#[pyo3(signature = (out, workloads, traces=None, limit=None, seeds=5, progress=None))]
pub(crate) fn study_all(
    py: Python<'_>,
    out: PathBuf,
    workloads: Vec<(String, SourceArgs)>,
    traces: Option<PathBuf>,
    limit: Option<u64>,
    seeds: u32,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Found> {
    let found = watch_policies(py, progress.as_ref(), move |watched, failure| {
        let mut diagnostics = Diagnostics::default();
        let named = |(name, source): (String, SourceArgs)| Ok((name, source.spec(failure)?));
        let specs: Vec<_> = workloads
            .into_iter()
            .filter_map(|workload| diagnostics.take(named(workload)))
            .collect();
        diagnostics.or(())?;
        let (design, brief) = (Design::All, false);
        let request = Request { design, brief, workloads: specs, traces, out, limit, seeds };
        follow(watched, |watch| ablation::study(&request, watch))
    })?;
    let Some(Finding { title, sheets, files, warnings }) = found.or_raise(py)? else {
        return Err(PyKeyboardInterrupt::new_err("stopped"));
    };
    Ok((title, sheets.iter().map(rows).collect(), files, warnings))
}

fn follow<T>(watched: &Watched, work: impl FnOnce(Watch<'_>) -> T) -> T {
    let step = |step: Step| {
        let (count, more) = match step {
            Step::Planned(more) => (&watched.all, more as u64),
            Step::Finished(_) | Step::Found => (&watched.done, 1),
            Step::Advanced(_) => return,
        };
        count.fetch_add(more, Ordering::Relaxed);
    };
    // A study counts runs, not requests.
    let control = fowler_experiment::workload::Control { stop: &watched.stop, progress: &|_| () };
    work(Watch { control, step: &step })
}
