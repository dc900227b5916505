//! Sweeps: plans, folders of results, and single points that run on workers.

use crate::errors::{OrRaise, fault};
use crate::policies::Failure;
use crate::spec::GivenArgs;
use crate::table::Table;
use crate::watch::{GRACE as SHORT, Watched, watch, watch_for};
use fowler_columns::store::{self, Made};
use fowler_experiment::sweep::{self, CallerValues, alone};
use fowler_experiment::workload::Control;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Time to wait for a sweep that was told to stop, so that its folder is free when the call
/// returns.
const GRACE: Duration = Duration::from_secs(10);

/// Contents of the files of one run of a sweep: its row of results, its log of requests (if any),
/// and whether the run failed.
type Files = (Vec<u8>, Option<Vec<u8>>, bool);

/// Plan of a sweep: a specification that has been read.
#[pyclass(module = "fowler._core", frozen)]
#[derive(Clone)]
pub(crate) struct Plan {
    plan: Arc<sweep::Plan>,
    /// True if the specification of the sweep names Python objects, such as policies or requests.
    given: bool,
    /// First exception raised by Python objects that the specification of the sweep names; after
    /// one, this plan can no longer run.
    failure: Arc<Failure>,
    stop: Arc<AtomicBool>,
}

#[pymethods]
impl Plan {
    /// Reads the specification of a sweep, which messages call `name`. With `by_itself` it uses one
    /// thread only, for workers that share a machine or were forked.
    #[staticmethod]
    #[pyo3(signature = (text, name, by_itself=false, given=None))]
    fn read(
        py: Python<'_>,
        text: String,
        name: String,
        by_itself: bool,
        given: Option<GivenArgs>,
    ) -> PyResult<Plan> {
        let stop = Arc::default();
        let failure = Failure::new(&stop);
        let (has_given, shared) = (given.is_some(), Arc::clone(&failure));
        let read = move |_| {
            let given =
                given.map_or_else(|| Ok(CallerValues::default()), |args| args.given(&shared))?;
            let read = || sweep::Plan::read_given(&text, &name, given);
            if by_itself { alone(read)? } else { read() }
        };
        let plan = watch(py, None, read)?;
        failure.raise(py)?;
        Ok(Plan { plan: Arc::new(plan.or_raise(py)?), given: has_given, failure, stop })
    }

    /// Returns the text of the sweep's specification, in TOML, as the caller gave it.
    #[getter]
    fn text(&self) -> &str {
        self.plan.text()
    }

    /// Returns the name by which messages refer to the sweep's specification, such as its file
    /// name.
    #[getter]
    fn name(&self) -> &str {
        self.plan.name()
    }

    /// Returns the hash that identifies a point (one combination of settings) of the sweep.
    fn hash(&self, index: usize) -> PyResult<&str> {
        let point = self.plan.points().get(index);
        point.map(|point| point.hash.as_str()).ok_or_else(|| fault("the plan has no such point"))
    }

    /// Runs one point (one combination of settings) of the sweep on one thread, and returns the
    /// contents of the files of the point.
    fn make(&self, py: Python<'_>, index: usize) -> PyResult<Files> {
        self.hash(index)?;
        let plan = Arc::clone(&self.plan);
        let made = watch_for(py, None, SHORT, self.watched(py)?, move |watched| {
            let control = Control { stop: &watched.stop, progress: &|_| () };
            alone(|| store::make(&plan, index, control))?
        });
        self.failure.raise(py)?;
        match made?.or_raise(py)? {
            Some(Made { row, requests, failed }) => Ok((row, requests, failed)),
            None => Err(PyKeyboardInterrupt::new_err("stopped")),
        }
    }
}

/// The folder of a sweep, locked against other writers until it is closed.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Folder {
    whole: Plan,
    folder: Mutex<Option<Arc<store::Folder>>>,
}

#[pymethods]
impl Folder {
    /// Opens the folder for the points of a sweep's plan, and creates it if necessary.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, plan: &Plan) -> PyResult<Folder> {
        let whole = plan.clone();
        let plan = Arc::clone(&plan.plan);
        let open = || {
            store::unharmed(&plan, &path).or(())?;
            store::Folder::open(&path, &plan)
        };
        let folder = py.detach(open).or_raise(py)?;
        Ok(Folder { whole, folder: Mutex::new(Some(Arc::new(folder))) })
    }

    /// Returns the indices of the points of the sweep that its folder has no result of, in order;
    /// with `retry`, of failed points, too.
    fn missing(&self, py: Python<'_>, retry: bool) -> PyResult<Vec<usize>> {
        let folder = self.opened()?;
        py.detach(|| folder.missing(retry)).or_raise(py)
    }

    /// Runs points of the sweep in this process, on `threads` threads or on all cores, and saves
    /// each as soon as it is finished.
    #[pyo3(signature = (todo, threads=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        todo: Vec<usize>,
        threads: Option<usize>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (plan, folder) = (Arc::clone(&self.whole.plan), self.opened()?);
        let watched = self.whole.watched(py)?;
        let ran = watch_for(py, progress.as_ref(), GRACE, watched, move |watched: Watched| {
            watched.all.store(todo.len() as u64, Ordering::Relaxed);
            let step = |_| {
                watched.done.fetch_add(1, Ordering::Relaxed);
            };
            let control = Control { stop: &watched.stop, progress: &|_| () };
            store::run(&folder, &plan, &todo, threads, control, &step)
        });
        self.whole.failure.raise(py)?;
        ran?.or_raise(py)
    }

    /// Saves the files of a run that a worker process made in the folder of the sweep.
    fn keep(&self, py: Python<'_>, index: usize, files: Files) -> PyResult<()> {
        let folder = self.opened()?;
        let (row, requests, failed) = files;
        let point = self.whole.plan.points().get(index);
        let point = point.ok_or_else(|| fault("the plan has no such point"))?;
        py.detach(|| folder.keep(point, &Made { row, requests, failed })).or_raise(py)
    }

    /// Returns the results of all finished runs saved in the folder of the sweep, one row for each
    /// run.
    fn load(&self, py: Python<'_>) -> PyResult<Table> {
        let folder = self.opened()?;
        py.detach(|| folder.load()).map(Table::of_one).or_raise(py)
    }

    /// Releases the lock on the folder of the sweep.
    fn close(&self) {
        if let Ok(mut folder) = self.folder.lock() {
            folder.take();
        }
    }
}

impl Plan {
    /// Returns the state that new work on this sweep shares with the thread that watches the work
    /// for Ctrl-C and progress. Exceptions of Python objects stop the work.
    fn watched(&self, py: Python<'_>) -> PyResult<Watched> {
        if !self.given {
            return Ok(Watched::default());
        }
        self.failure.raise(py)?;
        self.stop.store(false, Ordering::Relaxed);
        Ok(Watched::stopped_by(&self.stop))
    }
}

impl Folder {
    fn opened(&self) -> PyResult<Arc<store::Folder>> {
        let folder = self.folder.lock().ok().and_then(|folder| folder.clone());
        folder.ok_or_else(|| fault("the folder is closed"))
    }
}

/// Returns the finished points of the sweep in a folder, one row each.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Table> {
    py.detach(|| store::load(&folder)).map(Table::of_one).or_raise(py)
}
