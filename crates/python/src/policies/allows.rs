//! `allows(self, running, read)`: whether a read may suspend the program or erase that runs on its
//! die.

use super::{Instance, no_answer};
use fowler_experiment::policies::{Candidate, CustomSuspension, Running as Shown, SuspendAt};
use pyo3::intern;
use pyo3::prelude::*;

/// Adapter from a Python object with a method `allows` to a custom suspension policy.
#[derive(Clone, Debug)]
pub(super) struct Allows(pub Instance);

impl CustomSuspension for Allows {
    fn interrupts(&mut self, running: Shown, candidate: Candidate) -> Option<SuspendAt> {
        let asked = self.0.ask("allows", running.now, |policy| {
            let read = Read { shown: candidate };
            let answer = policy
                .call_method1(intern!(policy.py(), "allows"), (Running { shown: running }, read))?;
            if answer.is_none() {
                return Ok(None);
            }
            match answer.extract::<String>().as_deref() {
                Ok("at_once") => Ok(Some(SuspendAt::Anywhere)),
                Ok("phase_end") => Ok(Some(SuspendAt::PhaseEnd)),
                _ => Err(no_answer("allows", &answer, "\"at_once\", \"phase_end\", or None")),
            }
        });
        asked.flatten()
    }
}

/// The program or erase that runs on a die, as Python sees it.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Running {
    shown: Shown,
}

#[pymethods]
impl Running {
    #[getter]
    fn now_ns(&self) -> u64 {
        self.shown.now.0
    }

    #[getter]
    fn die(&self) -> u32 {
        self.shown.die.0
    }

    #[getter]
    fn erases(&self) -> bool {
        self.shown.erases()
    }

    #[getter]
    fn suspensions(&self) -> u32 {
        self.shown.suspensions
    }

    #[getter]
    fn ran_ns(&self) -> u64 {
        self.shown.ran.0
    }
}

/// The read that would suspend the running program or erase, as Python sees it.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Read {
    shown: Candidate,
}

#[pymethods]
impl Read {
    #[getter]
    fn host_waits(&self) -> bool {
        self.shown.host_waits
    }

    #[getter]
    fn since_ns(&self) -> u64 {
        self.shown.since.0
    }
}
