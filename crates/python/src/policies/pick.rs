//! `pick(self, view)`: which waiting transaction a die serves next.

use super::{Instance, closed, next_call, no_answer};
use fowler_experiment::policies::{self, CustomDieOrder, Queued, TxnId};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;
use std::cell::Cell;

scoped_thread_local!(static SHOWN: for<'a> &'a policies::View<'a>);

thread_local! {
    /// Number of the call of the die-order policy that this thread executes. Objects that Python
    /// got in another call are invalid.
    static CALL: Cell<u64> = const { Cell::new(0) };
}

/// Adapter from a Python object with a method `pick` to a custom die order.
#[derive(Clone, Debug)]
pub(super) struct Pick(pub Instance);

impl CustomDieOrder for Pick {
    fn pick(&mut self, view: &policies::View<'_>) -> Option<TxnId> {
        // Programs without a free page are hidden, so the view may be empty.
        let oldest = view.oldest()?;
        let call = next_call();
        CALL.set(call);
        let asked = self.0.ask("pick", view.now(), |policy| {
            let shown = View { call };
            let answer =
                SHOWN.set(view, || policy.call_method1(intern!(policy.py(), "pick"), (shown,)))?;
            let waiting =
                answer.cast::<Waiting>().ok().map(Bound::get).filter(|it| it.call == call);
            waiting
                .map(|it| it.shown.id)
                .ok_or_else(|| no_answer("pick", &answer, "a transaction of this view"))
        });
        asked.or(Some(oldest))
    }
}

/// Transactions that wait for a die and may be served now, as Python sees them. Valid only during
/// the call.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct View {
    call: u64,
}

impl View {
    fn look<T>(&self, look: impl FnOnce(&policies::View<'_>) -> T) -> PyResult<T> {
        if !SHOWN.is_set() || CALL.get() != self.call {
            return Err(closed());
        }
        SHOWN.with(|view| Ok(look(view)))
    }

    fn one(
        &self,
        find: impl FnOnce(&policies::View<'_>) -> Option<TxnId>,
    ) -> PyResult<Option<Waiting>> {
        self.look(|view| find(view).map(|id| Waiting { call: self.call, shown: view.shown(id) }))
    }
}

#[pymethods]
impl View {
    /// Returns the current simulated time in nanoseconds.
    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        self.look(|view| view.now().0)
    }

    /// Returns all transactions that wait for the die, or those of one kind, in order of
    /// submission.
    #[pyo3(signature = (kind=None))]
    fn waiting(&self, kind: Option<&str>) -> PyResult<Vec<Waiting>> {
        let call = self.call;
        let kinds = match kind {
            Some(kind) => vec![queued(kind)?],
            None => Queued::ALL.to_vec(),
        };
        self.look(|view| {
            let of = |kind| view.waiting(kind).map(|shown| Waiting { call, shown });
            let mut all: Vec<Waiting> = kinds.into_iter().flat_map(of).collect();
            all.sort_by_key(|waiting| waiting.shown.order);
            all
        })
    }

    /// Returns the waiting transaction of a kind that was submitted first; `None` if none waits.
    fn head(&self, kind: &str) -> PyResult<Option<Waiting>> {
        let kind = queued(kind)?;
        self.one(|view| view.head(kind))
    }

    /// Returns the next waiting transaction of a kind: the one that ranks first if the built-in die
    /// order that the Python policy replaces ranks transactions, else the one submitted first.
    fn first(&self, kind: &str) -> PyResult<Option<Waiting>> {
        let kind = queued(kind)?;
        self.one(|view| view.first(kind))
    }

    /// Returns the waiting transaction that was submitted first; `None` if none waits.
    fn oldest(&self) -> PyResult<Option<Waiting>> {
        self.one(|view| view.oldest())
    }
}

/// A transaction that waits for a die, as Python sees it.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Waiting {
    call: u64,
    shown: policies::Waiting,
}

#[pymethods]
impl Waiting {
    #[getter]
    fn kind(&self) -> &'static str {
        name(self.shown.class)
    }

    #[getter]
    fn die(&self) -> u32 {
        self.shown.die.0
    }

    #[getter]
    fn page(&self) -> Option<u64> {
        self.shown.lpn.map(|page| u64::from(page.0))
    }

    #[getter]
    fn request_pages(&self) -> u16 {
        self.shown.group
    }

    #[getter]
    fn order(&self) -> u64 {
        self.shown.order
    }

    #[getter]
    fn asked_ns(&self) -> u64 {
        self.shown.asked.0
    }

    #[getter]
    fn since_ns(&self) -> u64 {
        self.shown.submitted.0
    }

    fn __repr__(&self) -> String {
        let policies::Waiting { class, die, order, .. } = self.shown;
        format!("<{} {order} for die {}>", name(class), die.0)
    }
}

fn name(kind: Queued) -> &'static str {
    match kind {
        Queued::HostRead => "host_read",
        Queued::BackgroundRead => "background_read",
        Queued::HostProgram => "host_program",
        Queued::BackgroundProgram => "background_program",
        Queued::Erase => "erase",
    }
}

fn queued(kind: &str) -> PyResult<Queued> {
    let names = || Queued::ALL.map(|known| format!("`{}`", name(known))).join(", ");
    let found = Queued::ALL.into_iter().find(|&known| name(known) == kind);
    found.ok_or_else(|| {
        PyValueError::new_err(format!("unknown kind `{kind}`, expected one of {}", names()))
    })
}
