//! The list of metrics, as Python and the documentation read it.

use fowler_experiment::summary::{Stored, all};
use pyo3::prelude::*;

/// Description of a metric: path, unit, meaning, where it is stored, and whether it is one of those
/// that summarize a run in one row.
type MetricFacts = (&'static str, &'static str, &'static str, &'static str, bool);

/// Returns every metric that a summary stores, in the order of the summary.
#[pyfunction]
pub(crate) fn metrics() -> Vec<MetricFacts> {
    let facts = |stored: Stored| match stored {
        Stored::Everywhere => Some("everywhere"),
        Stored::RunOnly => Some("run"),
        Stored::SummaryOnly => Some("summary"),
        Stored::Nowhere => None,
    };
    let metrics = all().iter();
    let known = metrics.filter_map(|it| {
        let stored = facts(it.stored)?;
        Some((it.name.as_str(), it.unit.name(), it.about.as_str(), stored, it.headline))
    });
    known.collect()
}
