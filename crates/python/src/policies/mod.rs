//! Policies written in Python. Each is called from the thread of the run, which takes the
//! interpreter's lock for the call. Its arguments are views of the drive that are valid only during
//! the call.

mod admit;
mod allows;
mod arguments;
mod classify;
mod collect;
mod pick;
mod place;

use crate::watch::{GRACE, Watched, watch_for};
use fowler_columns::requests::RequestColumns;
use fowler_experiment::policies::Device;
use fowler_experiment::{Completion, Layer, Nanos, Probe};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use admit::Write;
pub(crate) use allows::{Read, Running};
pub(crate) use arguments::PolicyArgs;
pub(crate) use classify::Page;
pub(crate) use collect::{Block, Plane};
pub(crate) use pick::{View, Waiting};
pub(crate) use place::Data;

/// Code of the user that raised an exception.
#[derive(Clone, Debug)]
pub(crate) enum Raiser {
    /// A policy written in Python, with this name, raised the exception at this simulated time.
    Policy(String, Nanos),
    /// A source of requests written in Python, with this name, raised the exception.
    Requests(String),
}

/// The first exception of the user's code. It stops the run. Until the run has stopped, its
/// policies make default decisions.
#[derive(Debug)]
pub(crate) struct Failure {
    stop: Arc<AtomicBool>,
    failed: AtomicBool,
    first: Mutex<Option<(Raiser, PyErr)>>,
    /// Policies that runs have called: the number of the run, the name, and the object.
    asked: Mutex<Vec<(u64, String, Py<PyAny>)>>,
}

/// Name of a policy written in Python, and the object in its state after a run.
pub(crate) type Learnt = (String, Py<PyAny>);

thread_local! {
    /// Number of the run that this thread simulates (zero for none), and number of the newest
    /// policy when it began.
    static RUN: Cell<(u64, u64)> = const { Cell::new((0, 0)) };

    /// Time of the last completed request of this thread's run, used for policies that are not
    /// passed a time.
    static LAST: Cell<Nanos> = const { Cell::new(Nanos(0)) };
}

/// Number of the most recently created Python policy. Policies, copies included, are numbered from
/// 1 in the order of their creation.
static BORN: AtomicU64 = AtomicU64::new(0);

/// Watches a run: records which policies it calls, and all of its requests if they are kept.
pub(crate) struct Watcher {
    run: u64,
    pub columns: Option<RequestColumns>,
}

impl Watcher {
    pub fn new(keep: bool) -> Watcher {
        static RUNS: AtomicU64 = AtomicU64::new(1);
        // Policies that are asked before the run begins belong to another drive, such as that of a
        // search.
        RUN.set((0, 0));
        LAST.set(Nanos(0));
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        Watcher { run, columns: keep.then(RequestColumns::new) }
    }
}

impl<L: Layer> Probe<L> for Watcher {
    #[inline]
    fn completed(&mut self, completion: &Completion) {
        LAST.set(completion.done);
        if let Some(columns) = &mut self.columns {
            columns.add(completion);
        }
    }

    fn begun(&mut self, _device: &Device<L>) {
        RUN.set((self.run, BORN.load(Ordering::Relaxed)));
    }
}

impl Failure {
    /// Creates a store for the first exception of the user's Python code in a run; recording one
    /// sets `stop`, which ends the run.
    pub fn new(stop: &Arc<AtomicBool>) -> Arc<Failure> {
        let (failed, first) = (AtomicBool::new(false), Mutex::new(None));
        let asked = Mutex::default();
        Arc::new(Failure { stop: Arc::clone(stop), failed, first, asked })
    }

    /// Returns the policies that a run has called, as they are now.
    pub fn learnt(&self, watcher: &Watcher) -> Vec<Learnt> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let removed = asked.extract_if(.., |(run, ..)| *run == watcher.run);
        removed.map(|(_, name, object)| (name, object)).collect()
    }

    /// Records that a run has called a policy.
    fn note_asked(&self, run: u64, name: &str, object: &Py<PyAny>) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if !asked.iter().any(|(other, policy, _)| *other == run && policy == name) {
            asked.push((run, name.into(), Python::attach(|py| object.clone_ref(py))));
        }
    }

    pub fn note(&self, raiser: Raiser, error: PyErr) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert((raiser, error));
        self.failed.store(true, Ordering::Relaxed);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Raises the stored exception of the user's code, if there is one: that of a policy as
    /// `fowler.PolicyError`, that of requests as `fowler.InputError`. The exception, with its
    /// traceback, is the cause.
    pub fn raise(&self, py: Python<'_>) -> PyResult<()> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((raiser, cause)) = &*first else { return Ok(()) };
        let (raiser, cause) = (raiser.clone(), cause.clone_ref(py));
        drop(first);
        let errors = py.import("fowler.errors")?;
        let cause = cause.into_value(py);
        let error = match raiser {
            Raiser::Policy(whose, at) => {
                errors.getattr("PolicyError")?.call1((whose, at.0, &cause))?
            }
            Raiser::Requests(name) => errors.getattr("of_requests")?.call1((name, &cause))?,
        };
        let is_cause = error.is(&cause);
        let error = PyErr::from_value(error);
        if !is_cause {
            error.set_cause(py, Some(PyErr::from_value(cause.into_bound(py).into_any())));
        }
        Err(error)
    }
}

/// Runs `work` on a thread of its own, calls `progress(done, all)` regularly, and raises the first
/// exception of the user's policies or of `progress`.
pub(crate) fn watch_policies<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watched, &Arc<Failure>) -> T + Send + 'static,
) -> PyResult<T> {
    let watched = Watched::default();
    let failure = Failure::new(&watched.stop);
    let shared = Arc::clone(&failure);
    let result = watch_for(py, progress, GRACE, watched, move |watched| work(&watched, &shared));
    // A policy's failure precedes its consequences, except for Ctrl-C, which the user caused.
    match result {
        Err(error) if !error.is_instance_of::<PyRuntimeError>(py) => Err(error),
        result => failure.raise(py).and(result),
    }
}

/// One policy written in Python, on one drive.
#[derive(Debug)]
struct Instance {
    object: Py<PyAny>,
    name: String,
    failure: Arc<Failure>,
    /// Number of the policy, ascending in order of creation.
    born: u64,
    /// Number of the run that last called the policy.
    run: AtomicU64,
}

impl Clone for Instance {
    /// Makes a deep copy of the Python object that implements the policy, because simulated drives
    /// must not share the state of a policy.
    fn clone(&self) -> Self {
        let copied = Python::attach(|py| {
            let copy = py.import("copy")?.getattr("deepcopy")?;
            copy.call1((&self.object,)).map(Bound::unbind)
        });
        let object = copied.unwrap_or_else(|error| {
            let raiser = Raiser::Policy(format!("{}: its copy", self.name), Nanos(0));
            self.failure.note(raiser, error);
            Python::attach(|py| self.object.clone_ref(py))
        });
        Instance::new(object, self.name.clone(), &self.failure)
    }
}

impl Instance {
    fn new(object: Py<PyAny>, name: String, failure: &Arc<Failure>) -> Instance {
        let born = BORN.fetch_add(1, Ordering::Relaxed) + 1;
        Instance { object, name, failure: Arc::clone(failure), born, run: AtomicU64::new(0) }
    }

    /// Returns the result of calling the policy's object with `ask`, or `None` if this or an
    /// earlier call failed.
    fn ask<T>(
        &self,
        method: &str,
        now: Nanos,
        ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        if self.failure.failed.load(Ordering::Relaxed) {
            return None;
        }
        // Drives of other seeds come after the run's own, on the same thread.
        let (run, youngest) = RUN.get();
        if run > 0 && self.born <= youngest && self.run.swap(run, Ordering::Relaxed) != run {
            self.failure.note_asked(run, &self.name, &self.object);
        }
        let answer = Python::attach(|py| ask(self.object.bind(py)));
        let note = |error| {
            self.failure.note(Raiser::Policy(format!("{}.{method}", self.name), now), error);
        };
        answer.map_err(note).ok()
    }
}

/// Returns the latest known simulated time of this thread's run.
fn now() -> Nanos {
    LAST.get()
}

/// Returns a number for a call of a policy, unique over all runs and threads. Objects that show the
/// drive to a policy keep the number, and are invalid in any other call.
fn next_call() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed)
}

/// Creates the error for an invalid return value of a policy's method.
fn no_answer(method: &str, got: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let got = got.repr().map_or_else(|_| "something".into(), |text| text.to_string());
    PyTypeError::new_err(format!("{method} returned {got}: expected {expected}"))
}

/// Creates the error for the use of a view of the drive after the call that received it.
fn closed() -> PyErr {
    PyRuntimeError::new_err("this view of the drive is valid only during the call that received it")
}
