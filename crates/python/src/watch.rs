//! Runs long work on a thread of its own, without the interpreter's lock, so that other Python
//! threads continue, Ctrl-C works, and progress is shown.

use crate::errors::fault;
use fowler_experiment::progress::Progress;
use fowler_experiment::workload::Control;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Time between two checks of signals and progress by the thread that watches work.
const TICK: Duration = Duration::from_millis(20);
/// Time to wait for work that was told to stop. Work that takes longer ends in the background.
pub(crate) const GRACE: Duration = Duration::from_millis(40);

/// State that a simulation, on a thread of its own, shares with the Python thread that waits for
/// its end: the stop flag and the progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    /// Flag that stops the work when it is set.
    pub stop: Arc<AtomicBool>,
    /// Amount of work done so far: requests, runs, or thousandths of the whole.
    pub done: Arc<AtomicU64>,
    /// Total amount of work, in the unit of `done`; zero while unknown.
    pub all: Arc<AtomicU64>,
    /// Python's identifier of the thread that does the work; zero while unknown.
    thread: Arc<AtomicU64>,
}

impl Watched {
    /// Returns the shared state of work that ends when the flag `stop` is set, here on Ctrl-C or by
    /// other code that holds the flag.
    pub fn stopped_by(stop: &Arc<AtomicBool>) -> Watched {
        Watched { stop: Arc::clone(stop), ..Watched::default() }
    }

    /// Calls `work` with a control that stops on Ctrl-C and counts requests.
    pub fn controlled<T>(&self, work: impl FnOnce(Control<'_>) -> T) -> T {
        let count = |step| {
            if let Progress::Served { requests, .. } = step {
                self.done.fetch_add(requests, Ordering::Relaxed);
            }
        };
        work(Control { stop: &self.stop, progress: &count })
    }
}

/// Runs `work` on a thread of its own, and calls `progress(done, all)` regularly.
///
/// # Errors
/// Any exception of a signal handler or of `progress`, which also stops the work.
pub(crate) fn watch<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Watched) -> T + Send + 'static,
) -> PyResult<T> {
    watch_for(py, progress, GRACE, Watched::default(), work)
}

/// Runs `work` on a thread of its own, and calls `progress(done, all)` regularly. After Ctrl-C or
/// an exception, waits up to `grace` for the work to end.
pub(crate) fn watch_for<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    grace: Duration,
    watched: Watched,
    work: impl FnOnce(Watched) -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let shared = watched.clone();
    thread::spawn(move || {
        // Attach the thread to the interpreter for as long as the work runs. Attaching it for each
        // call of a policy would take longer than the call.
        let work = || {
            Python::attach(|py| {
                shared.thread.store(ident(py).unwrap_or(0), Ordering::Relaxed);
                py.detach(|| work(shared))
            })
        };
        let result = catch_unwind(AssertUnwindSafe(work));
        // The receiver is gone if the caller stopped waiting.
        let _unheard = sender.send(result);
    });
    let receiver = Mutex::new(receiver);
    let wait = |time: Duration| {
        py.detach(|| match receiver.lock() {
            Ok(receiver) => receiver.recv_timeout(time),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        })
    };
    let tell = || match progress {
        Some(progress) => {
            let numbers = [&watched.done, &watched.all].map(|it| it.load(Ordering::Relaxed));
            progress.call1((numbers[0], numbers[1])).map(drop)
        }
        None => Ok(()),
    };
    loop {
        match wait(TICK) {
            Ok(Ok(result)) => {
                tell()?;
                return Ok(result);
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(fault("a run panicked"));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals().and_then(|()| tell()) {
                    watched.stop.store(true, Ordering::Relaxed);
                    if wait(grace).is_err() {
                        // The work may be in Python code that does not return.
                        interrupt(py, watched.thread.load(Ordering::Relaxed));
                        drop(wait(grace));
                    }
                    return Err(error);
                }
            }
        }
    }
}

/// Returns Python's identifier of the current thread.
fn ident(py: Python<'_>) -> PyResult<u64> {
    py.import("threading")?.getattr("get_ident")?.call0()?.extract()
}

/// Raises `KeyboardInterrupt` in the Python code that a thread runs, if it runs any.
fn interrupt(py: Python<'_>, thread: u64) {
    let raise = || -> PyResult<()> {
        let ctypes = py.import("ctypes")?;
        let exception = py.get_type::<PyKeyboardInterrupt>();
        let arguments = (
            ctypes.getattr("c_ulong")?.call1((thread,))?,
            ctypes.getattr("py_object")?.call1((exception,))?,
        );
        ctypes.getattr("pythonapi")?.call_method1("PyThreadState_SetAsyncExc", arguments).map(drop)
    };
    if thread > 0 {
        // If the interpreter cannot do that, the thread ends with the process.
        let _unraised = raise();
    }
}
