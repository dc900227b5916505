//! `classify(self, page)`: how a page was used while it was in the buffer.

use super::{Instance, no_answer};
use fowler_experiment::policies::{AccessClass, CustomHotness, Used};
use pyo3::intern;
use pyo3::prelude::*;

/// Adapter from a Python object with a method `classify` to a custom hotness detector.
#[derive(Clone, Debug)]
pub(super) struct Classify(pub Instance);

impl CustomHotness for Classify {
    fn class(&mut self, page: Used) -> AccessClass {
        let asked = self.0.ask("classify", page.now, |policy| {
            let answer =
                policy.call_method1(intern!(policy.py(), "classify"), (Page { shown: page },))?;
            match answer.extract::<String>().as_deref() {
                Ok("mixed") => Ok(AccessClass::Mixed),
                Ok("read_hot") => Ok(AccessClass::ReadHot),
                Ok("write_hot") => Ok(AccessClass::WriteHot),
                _ => {
                    Err(no_answer("classify", &answer, "\"read_hot\", \"write_hot\", or \"mixed\""))
                }
            }
        });
        asked.unwrap_or_default()
    }
}

/// A page that is being programmed or leaves the buffer, as Python sees it.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Page {
    shown: Used,
}

#[pymethods]
impl Page {
    #[getter]
    fn now_ns(&self) -> u64 {
        self.shown.now.0
    }

    #[getter]
    fn page(&self) -> u64 {
        u64::from(self.shown.lpn.0)
    }

    #[getter]
    fn reads(&self) -> u16 {
        self.shown.reads
    }

    #[getter]
    fn writes(&self) -> u16 {
        self.shown.writes
    }
}
