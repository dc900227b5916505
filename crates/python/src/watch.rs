//! Work that takes its time: on a thread of its own, without the interpreter's lock, so that other
//! Python threads go on, Ctrl-C is heard, and progress is shown.

use crate::errors::fault;
use fowler_experiment::workload::Control;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Between two looks at signals and at progress.
const TICK: Duration = Duration::from_millis(20);
/// How long work that was told to stop is waited for. What does not end by then ends unseen: nobody
/// waits for it.
pub(crate) const GRACE: Duration = Duration::from_millis(40);

/// What work reports and is told while it runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    /// Set when the work is to end.
    pub stop: Arc<AtomicBool>,
    /// What has been done so far: requests, runs, or thousandths of a whole.
    pub done: Arc<AtomicU64>,
    /// What there is to do in all, as far as it is known; zero where it is not.
    pub all: Arc<AtomicU64>,
    /// The interpreter's number of the thread that works; zero before it is known.
    thread: Arc<AtomicU64>,
}

impl Watched {
    /// Calls `work` with a control that stops on Ctrl-C and counts requests.
    pub fn controlled<T>(&self, work: impl FnOnce(Control<'_>) -> T) -> T {
        let count = |more| {
            self.done.fetch_add(more, Ordering::Relaxed);
        };
        work(Control { stop: &self.stop, progress: &count })
    }
}

/// Does `work` on a thread of its own; `progress(done, all)` is called now and then.
///
/// # Errors
/// What a signal's handler or `progress` raised; the work is then told to stop.
pub(crate) fn watch<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Watched) -> T + Send + 'static,
) -> PyResult<T> {
    watch_for(py, progress, GRACE, Watched::default(), work)
}

/// The same, and work that was told to stop is waited for so long.
pub(crate) fn watch_for<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    grace: Duration,
    watched: Watched,
    work: impl FnOnce(Watched) -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let its = watched.clone();
    thread::spawn(move || {
        // The interpreter knows this thread for as long as the work runs: where a policy of
        // Python's is called, it need not be made known each time, which takes longer than the
        // call.
        let work = || {
            Python::attach(|py| {
                its.thread.store(ident(py).unwrap_or(0), Ordering::Relaxed);
                py.detach(|| work(its))
            })
        };
        let result = catch_unwind(AssertUnwindSafe(work));
        // Nobody may be waiting any more.
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
                        // It may be in a policy or a generator of Python's that does not return.
                        interrupt(py, watched.thread.load(Ordering::Relaxed));
                        drop(wait(grace));
                    }
                    return Err(error);
                }
            }
        }
    }
}

/// The interpreter's number of this thread.
fn ident(py: Python<'_>) -> PyResult<u64> {
    py.import("threading")?.getattr("get_ident")?.call0()?.extract()
}

/// Raises `KeyboardInterrupt` in what Python code a thread is at, if it is at any.
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
        // Where the interpreter cannot do that, the thread ends with the process.
        let _unraised = raise();
    }
}
