//! `stream(self, data)`: which kinds of data share blocks; and `opens(self, data)`, if the policy
//! has it: which erased block is opened next.

use super::{Instance, no_answer, now};
use fowler_experiment::Nanos;
use fowler_experiment::policies::{
    AccessClass, CustomPlacement, Opens, StreamId, StreamLimits, StreamTable, StreamTag,
};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

/// Adapter from a Python object with a method `stream` to a custom placement policy.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub instance: Instance,
    /// Number of streams of the drive, kinds of data with open blocks of their own.
    pub streams: u8,
}

impl Place {
    fn stream(&self, tag: StreamTag) -> Option<u8> {
        let streams = self.streams;
        self.instance.ask("stream", Nanos(0), |policy| {
            let answer = policy
                .call_method1(intern!(policy.py(), "stream"), (Data { shown: tag, streams },))?;
            let stream = answer.extract::<u8>().ok().filter(|&stream| stream < streams);
            let expected = match streams {
                1 => "0, the only stream: policy.placement = \"single_stream\"".to_string(),
                _ => format!(
                    "the number of a stream (data that shares blocks), from 0 to {}",
                    streams - 1
                ),
            };
            stream.ok_or_else(|| no_answer("stream", &answer, &expected))
        })
    }

    /// Records an error if the custom placement policy sends data of two access classes, each with
    /// program voltages of its own, to one stream.
    fn refuse_mixing(&self, table: &StreamTable, limits: StreamLimits) {
        let tags = || limits.tags().map(|tag| (tag, table[tag.index()]));
        let clash = tags().find_map(|(one, stream)| {
            let other =
                tags().find(|&(other, same)| same == stream && other.class() != one.class())?;
            Some((stream, one.class(), other.0.class()))
        });
        let Some((stream, one, other)) = clash else { return };
        let what = format!(
            "stream returned {} for data that is {} and for data that is {}: expected different \
             streams, because policy.voltage = \"by_hotness\" gives each access class its own voltages",
            stream.0,
            named(one),
            named(other)
        );
        let none: Option<()> =
            self.instance.ask("stream", Nanos(0), |_| Err(PyTypeError::new_err(what)));
        debug_assert!(none.is_none());
    }
}

impl CustomPlacement for Place {
    fn streams(&mut self, limits: StreamLimits) -> StreamTable {
        self.streams = limits.streams;
        let mut table = StreamTable::default();
        for tag in limits.tags() {
            // No policy is asked after a failure, and the run is about to stop.
            let Some(stream) = self.stream(tag) else { return StreamTable::default() };
            table[tag.index()] = StreamId(stream);
        }
        if limits.classes_apart {
            self.refuse_mixing(&table, limits);
        }
        table
    }

    fn opens(&mut self, tag: StreamTag) -> Opens {
        let data = Data { shown: tag, streams: self.streams };
        let asked = self.instance.ask("opens", now(), |policy| {
            let Some(opens) = policy.getattr_opt(intern!(policy.py(), "opens"))? else {
                return Ok(Opens::Oldest);
            };
            let answer = opens.call1((data,))?;
            match answer.extract::<String>().as_deref() {
                Ok("oldest") => Ok(Opens::Oldest),
                Ok("strongest") => Ok(Opens::Strongest),
                Ok("weakest") => Ok(Opens::Weakest),
                _ => Err(no_answer("opens", &answer, "\"oldest\", \"strongest\", or \"weakest\"")),
            }
        });
        asked.unwrap_or(Opens::Oldest)
    }
}

/// Data to be written to flash, as a placement policy in Python sees it.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Data {
    shown: StreamTag,
    #[pyo3(get)]
    streams: u8,
}

#[pymethods]
impl Data {
    #[getter]
    fn hot(&self) -> bool {
        self.shown.is_hot()
    }

    #[getter]
    fn access(&self) -> &'static str {
        named(self.shown.class())
    }

    #[getter]
    fn handle(&self) -> u8 {
        self.shown.handle()
    }

    fn __repr__(&self) -> String {
        format!("<{}{} data>", if self.hot() { "hot, " } else { "" }, self.access())
    }
}

fn named(class: AccessClass) -> &'static str {
    match class {
        AccessClass::Mixed => "mixed",
        AccessClass::ReadHot => "read_hot",
        AccessClass::WriteHot => "write_hot",
    }
}
