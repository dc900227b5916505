//! `collect(self, plane)`: which block of a plane garbage collection empties next.

use super::{Instance, closed, next_call, no_answer};
use fowler_experiment::Nanos;
use fowler_experiment::policies::{BlockId, Candidates, CustomVictim, Fruitless};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;
use std::cell::Cell;

scoped_thread_local!(static SHOWN: for<'a> &'a Candidates<'a>);

thread_local! {
    /// Number of the call of the victim policy that this thread executes. Objects that Python got
    /// in another call are invalid.
    static CALL: Cell<u64> = const { Cell::new(0) };
}

/// A victim policy of GC written in Python, as the simulator calls it: the Python object is asked
/// for the block of a plane that GC empties next.
#[derive(Clone, Debug)]
pub(super) struct Collect {
    instance: Instance,
    fruitless: Fruitless,
}

impl Collect {
    pub fn new(instance: Instance) -> Collect {
        Collect { instance, fruitless: Fruitless::default() }
    }
}

impl CustomVictim for Collect {
    fn pick(&mut self, candidates: &Candidates<'_>, now: Nanos) -> Option<BlockId> {
        let call = next_call();
        CALL.set(call);
        let asked = self.instance.ask("collect", now, |policy| {
            let shown = Plane { call, now };
            let answer = SHOWN.set(candidates, || {
                policy.call_method1(intern!(policy.py(), "collect"), (shown,))
            })?;
            let block = answer.cast::<Block>().ok().map(Bound::get).filter(|it| it.call == call);
            block
                .map(|it| it.block)
                .ok_or_else(|| no_answer("collect", &answer, "a block of this plane"))
        });
        // The default, and what a failed policy gets until the run has stopped.
        let Some(block) = asked else { return candidates.fewest_valid() };
        if let Some(why) = self.fruitless.note(candidates, block) {
            let what = format!("collect returned {why}");
            let none: Option<()> =
                self.instance.ask("collect", now, |_| Err(PyValueError::new_err(what)));
            debug_assert!(none.is_none());
            return candidates.fewest_valid();
        }
        Some(block)
    }
}

/// Full blocks of a plane that needs space, as Python sees them. Valid only during the call.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Plane {
    call: u64,
    now: Nanos,
}

impl Plane {
    fn look<T>(&self, look: impl FnOnce(&Candidates<'_>) -> T) -> PyResult<T> {
        if !SHOWN.is_set() || CALL.get() != self.call {
            return Err(closed());
        }
        SHOWN.with(|candidates| Ok(look(candidates)))
    }

    fn shown(&self, candidates: &Candidates<'_>, block: BlockId) -> Block {
        Block {
            call: self.call,
            block,
            valid: candidates.valid(block),
            erases: candidates.erases(block),
            order: candidates.fill_order(block),
            filled: candidates.filled_at(block),
        }
    }
}

#[pymethods]
impl Plane {
    #[getter]
    fn now_ns(&self) -> u64 {
        self.now.0
    }

    #[getter]
    fn plane(&self) -> PyResult<u32> {
        self.look(|candidates| candidates.plane().0)
    }

    #[getter]
    fn capacity(&self) -> PyResult<u32> {
        self.look(|candidates| candidates.capacity())
    }

    /// Number of pages that a full block can hold: the former name of `capacity` for Python
    /// policies.
    #[getter]
    fn pages_per_block(&self) -> PyResult<u32> {
        self.capacity()
    }

    #[getter]
    fn slots(&self) -> PyResult<u32> {
        self.look(|candidates| candidates.slots())
    }

    /// Returns the number of full blocks in the plane.
    fn __len__(&self) -> PyResult<usize> {
        self.look(|candidates| candidates.count() as usize)
    }

    /// Returns all full blocks of the plane, in order of their numbers.
    fn blocks(&self) -> PyResult<Vec<Block>> {
        self.look(|candidates| {
            candidates.iter().map(|block| self.shown(candidates, block)).collect()
        })
    }

    /// Returns a full block by its number within the plane; `None` if that block is not full.
    fn block(&self, slot: u32) -> PyResult<Option<Block>> {
        self.look(|candidates| {
            if slot >= candidates.slots() {
                let what =
                    format!("there is no block {slot}: a plane has {} of them", candidates.slots());
                return Err(PyValueError::new_err(what));
            }
            let block = candidates.slot(slot);
            Ok(candidates.contains(block).then(|| self.shown(candidates, block)))
        })?
    }

    /// Returns a full block of the plane with the fewest valid pages, without looking at all of
    /// them.
    fn fewest_valid(&self) -> PyResult<Option<Block>> {
        self.look(|candidates| candidates.fewest_valid().map(|block| self.shown(candidates, block)))
    }
}

/// A full block, as Python sees it.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Block {
    call: u64,
    block: BlockId,
    #[pyo3(get)]
    valid: u32,
    #[pyo3(get)]
    erases: u32,
    #[pyo3(get)]
    order: u64,
    filled: Nanos,
}

#[pymethods]
impl Block {
    #[getter]
    fn number(&self) -> u32 {
        self.block.0
    }

    #[getter]
    fn filled_ns(&self) -> u64 {
        self.filled.0
    }

    fn __repr__(&self) -> String {
        format!("<block {} with {} valid pages>", self.block.0, self.valid)
    }
}
