//! Lifetime runs.

use crate::errors::OrRaise;
use crate::policies::watch_policies;
use crate::sheets::{Rows, rows};
use crate::spec::LifetimeArgs;
use crate::table::Table;
use fowler_columns::fleet_table;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_lifetime::fleet::{Fleet, with_life};
use fowler_lifetime::{Ended, Lifetime as Finished, Watch, live};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
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
    /// Returns all metrics of the lifetime run as the text of one JSON object.
    fn summary(&self) -> String {
        self.finished.json().to_string()
    }

    /// Returns the results of the lifetime run as a table.
    fn sheet(&self) -> Rows {
        rows(&self.finished.sheet())
    }

    /// Writes the results of the lifetime run into a folder: a table (CSV), figures (SVG), an HTML
    /// page and the drives of a fleet. Returns the names of the files.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<String>> {
        py.detach(|| {
            let (mut files, _) = self.finished.write(&folder)?;
            if let Some(fleet) = &self.finished.fleet {
                fleet_table::write(fleet, &folder.join(fleet_table::NAME))?;
                files.push(fleet_table::NAME.into());
            }
            Ok::<_, Diagnostics>(files)
        })
        .or_raise(py)
    }

    /// Returns the drives of the fleet, one row each.
    fn fleet_drives(&self) -> PyResult<Table> {
        Ok(Table::of_one(fleet_table::table(self.fleet()?)))
    }

    /// Returns the years of use, or the terabytes `written`, at which a share of the fleet is
    /// replaced: low, value, high.
    fn fleet_quantile(&self, written: bool, share: f64) -> PyResult<(f64, f64, f64)> {
        let fleet = self.fleet()?;
        let quantile = if written { fleet.tbw_at(share) } else { fleet.years_at(share) };
        Ok((quantile.low, quantile.value, quantile.high))
    }

    /// Returns the tables that summarize the fleet.
    fn fleet_sheets(&self) -> PyResult<Vec<Rows>> {
        Ok(self.fleet()?.sheets().iter().map(rows).collect())
    }
}

impl Lifetime {
    fn fleet(&self) -> PyResult<&Fleet> {
        let absent = || PyValueError::new_err("the life has no fleet");
        self.finished.fleet.as_ref().ok_or_else(absent)
    }
}

/// Simulates a drive's whole life. Reports progress to Python in thousandths.
#[pyfunction]
#[pyo3(signature = (life, progress=None))]
pub(crate) fn lifetime(
    py: Python<'_>,
    life: LifetimeArgs,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Lifetime> {
    let ended = watch_policies(py, progress.as_ref(), move |watched, failure| {
        let (spec, fleet) = life.spec(failure)?;
        watched.all.store(1000, Ordering::Relaxed);
        let share = |share: f64| watched.done.store((share * 1000.0) as u64, Ordering::Relaxed);
        watched.controlled(|control| {
            let watch = Watch { control, share: &share, early: &|_| (), warn: &|_| () };
            match &fleet {
                Some(fleet) => with_life(&spec, fleet, watch),
                None => live(&spec, watch),
            }
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
