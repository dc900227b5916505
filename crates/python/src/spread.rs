//! The results of a comparison over several seeds, as a Python object.

use crate::errors::{OrRaise, fault};
use fowler_experiment::device_spec::Axis;
use fowler_experiment::diagnostic::Diagnostic;
use fowler_experiment::sample::Interval;
use fowler_experiment::seeds;
use pyo3::prelude::*;

/// Metrics of a comparison, each over several seeds.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Spread {
    pub inner: seeds::Spread,
}

#[pymethods]
impl Spread {
    /// Reads the metrics of a comparison over several seeds from the JSON that [`Spread::text`]
    /// returned, as when they come from another process.
    #[staticmethod]
    fn read(py: Python<'_>, text: &str) -> PyResult<Spread> {
        let values = serde_json::from_str(text).map_err(|error| {
            Diagnostic::of(format!(
                "the metrics of a comparison over several seeds cannot be read: {error}"
            ))
            .into()
        });
        values.or_raise(py).map(|values| Spread { inner: seeds::Spread::of_values(values) })
    }

    /// Returns all values as JSON: for each scheme, those of each metric in the order of the seeds.
    fn text(&self) -> PyResult<String> {
        serde_json::to_string(self.inner.values())
            .map_err(|_| fault("numbers that JSON cannot hold"))
    }

    /// Returns the number of seeds of the comparison.
    #[getter]
    fn seeds(&self) -> usize {
        self.inner.seeds()
    }

    /// Returns the mean over the seeds of the metric at `path` in the summary, and half the width
    /// of its 95 % interval; `scheme` is the index of the scheme in the comparison, from 0.
    fn mean(&self, scheme: usize, path: &str) -> Option<(f64, f64)> {
        self.inner.of(scheme, path).map(both)
    }

    /// Returns the mean over the seeds of a metric's ratio to the first scheme under the same seed,
    /// and half the width of the 95 % interval.
    fn ratio(&self, scheme: usize, path: &str) -> Option<(f64, f64)> {
        self.inner.ratio(scheme, path).map(both)
    }

    /// Returns the metrics of a comparison over several seeds (means and intervals) in the form of
    /// `fowler compare --json`; `devices` is true if drives were compared, false for schemes.
    fn json(&self, devices: bool) -> String {
        let axis = if devices { Axis::Devices } else { Axis::Schemes };
        self.inner.json(axis).to_string()
    }
}

fn both(interval: Interval) -> (f64, f64) {
    (interval.mean, interval.half_width)
}
