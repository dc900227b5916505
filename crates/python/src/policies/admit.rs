//! `admit(self, write)`: how long to delay a write before it enters.

use super::{Instance, closed, next_call, no_answer};
use fowler_experiment::policies::{CustomThrottle, Life, Throttled};
use fowler_experiment::{Nanos, Span};
use pyo3::intern;
use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;
use std::cell::Cell;

scoped_thread_local!(static SHOWN: for<'a> &'a (dyn Life + 'a));

thread_local! {
    /// Number of the call of the throttle policy that this thread executes. Objects that Python got
    /// in another call are invalid.
    static CALL: Cell<u64> = const { Cell::new(0) };
}

/// The latest simulated time to which a write may be delayed: a hundred years, beyond any drive's
/// life, and far below the largest `Nanos`.
const LATEST: Nanos = Nanos(100 * 365 * 86_400_000_000_000);

/// Adapter from a Python object with a method `admit` to a custom write throttle.
#[derive(Clone, Debug)]
pub(super) struct Admit(pub Instance);

impl CustomThrottle for Admit {
    fn delay(&mut self, now: Nanos, pages: u32, life: &dyn Life) -> Throttled {
        let call = next_call();
        CALL.set(call);
        let asked = self.0.ask("admit", now, |policy| {
            let shown = Write { call, now, pages };
            let answer =
                SHOWN.set(life, || policy.call_method1(intern!(policy.py(), "admit"), (shown,)))?;
            let longest = LATEST.0.saturating_sub(now.0) as f64;
            let ns = answer.extract::<f64>().ok().filter(|ns| (0.0..=longest).contains(ns));
            let expected = "a delay in nanoseconds, at least 0, that ends within a hundred years";
            let spread = ns.ok_or_else(|| no_answer("admit", &answer, expected))? as u64;
            Ok(Throttled { spread: Span(spread), ..Throttled::default() })
        });
        asked.unwrap_or_default()
    }
}

/// A write that waits to enter the buffer, and the drive's lifetime budget, as Python sees them.
/// Valid only during the call.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Write {
    call: u64,
    now: Nanos,
    pages: u32,
}

impl Write {
    fn look<T>(&self, look: impl FnOnce(&dyn Life) -> T) -> PyResult<T> {
        if !SHOWN.is_set() || CALL.get() != self.call {
            return Err(closed());
        }
        SHOWN.with(|life| Ok(look(life)))
    }
}

#[pymethods]
impl Write {
    #[getter]
    fn now_ns(&self) -> u64 {
        self.now.0
    }

    #[getter]
    fn pages(&self) -> u32 {
        self.pages
    }

    #[getter]
    fn taken(&self) -> PyResult<u64> {
        self.look(|life| life.taken())
    }

    #[getter]
    fn ends_ns(&self) -> PyResult<u64> {
        self.look(|life| life.ends().0)
    }

    /// Returns the number of pages that may still be programmed before the rated endurance is used
    /// up; with `healed`, including those gained as resting cells recover.
    #[pyo3(signature = (*, healed=false))]
    fn left(&self, healed: bool) -> PyResult<f64> {
        self.look(|life| life.left(self.now, healed))
    }
}
