//! Requests from Python: a table, a stream, or an iterable of these, read batch by batch.

use crate::policies::{Failure, Raiser};
use fowler_columns::RecordBatch;
use fowler_columns::arrow_source::ArrowSource;
use fowler_experiment::HostIo;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::workload::{CustomRequests, RequestSource, TraceError, custom_error};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use pyo3_arrow::input::AnyRecordBatch;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A Python object that provides requests.
#[derive(Debug)]
pub(crate) struct PyRequests {
    name: String,
    object: Py<PyAny>,
    /// True if requests were already read from the Python object that supplies them.
    given: AtomicBool,
    /// Store for exceptions raised by the Python object that supplies requests, which keeps their
    /// tracebacks.
    failure: Arc<Failure>,
}

impl PyRequests {
    pub fn new(name: String, object: Py<PyAny>, failure: &Arc<Failure>) -> PyRequests {
        PyRequests { name, object, given: AtomicBool::new(false), failure: Arc::clone(failure) }
    }

    fn failed(&self, error: PyErr) -> Diagnostics {
        let diagnostic = Diagnostic::new(self.name.clone(), error.to_string());
        self.failure.note(Raiser::Requests(self.name.clone()), error);
        diagnostic.into()
    }
}

impl RequestSource for PyRequests {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn requests(&self) -> Result<CustomRequests<'_>, Diagnostics> {
        let again = self.given.swap(true, Ordering::Relaxed);
        let batches = Python::attach(|py| {
            let object = self.object.bind(py);
            // An iterator can be read only once: two readers would each get a part of it.
            let once = object.hasattr("__next__")?;
            (!(once && again)).then(|| Batches::of(object)).transpose()
        });
        let batches = batches.map_err(|error| self.failed(error))?;
        let batches =
            batches.ok_or_else(|| Diagnostic { file: self.name.clone(), ..once_only() })?;
        Ok(Box::new(Requests {
            source: self,
            batches,
            converter: ArrowSource::new(),
            now: Vec::new().into_iter(),
            again,
        }))
    }
}

/// Source of batches of requests.
enum Batches {
    /// An Arrow stream, which is read without the interpreter.
    Stream(Stream),
    /// A Python iterator, and the stream of its last item.
    Items(Py<PyIterator>, Option<Stream>),
}

type Stream = Box<dyn Iterator<Item = Result<RecordBatch, String>> + Send>;

/// Reason for which there is no next batch of requests.
enum Trouble {
    /// The Python object that supplies requests raised this exception.
    Raised(PyErr),
    /// The Python object gave something that cannot be read as requests.
    Unreadable(String),
}

impl Batches {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Batches> {
        if is_arrow(object)? {
            return stream(object).map(Batches::Stream);
        }
        Ok(Batches::Items(object.try_iter()?.unbind(), None))
    }

    fn next(&mut self) -> Option<Result<RecordBatch, Trouble>> {
        match self {
            Batches::Stream(stream) => Some(stream.next()?.map_err(Trouble::Unreadable)),
            Batches::Items(items, last) => loop {
                if let Some(batch) = last.as_mut().and_then(Iterator::next) {
                    return Some(batch.map_err(Trouble::Unreadable));
                }
                let next = Python::attach(|py| items.bind(py).clone().next().map(item));
                match next? {
                    Ok(stream) => *last = Some(stream),
                    Err(trouble) => return Some(Err(trouble)),
                }
            },
        }
    }
}

/// Returns the Arrow stream of an item of a Python iterator.
fn item(item: PyResult<Bound<'_, PyAny>>) -> Result<Stream, Trouble> {
    let item = item.map_err(Trouble::Raised)?;
    if is_arrow(&item).map_err(Trouble::Raised)? {
        return stream(&item).map_err(Trouble::Raised);
    }
    let kind = item.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
    let what = format!("an item of type {kind} has no columns: a frame or an Arrow table does");
    Err(Trouble::Unreadable(what))
}

fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")?)
}

fn stream(object: &Bound<'_, PyAny>) -> PyResult<Stream> {
    let reader = object.extract::<AnyRecordBatch>()?.into_reader()?;
    Ok(Box::new(reader.map(|batch| batch.map_err(|error| error.to_string()))))
}

/// An iterator over the requests of a source.
struct Requests<'a> {
    source: &'a PyRequests,
    batches: Batches,
    converter: ArrowSource,
    now: std::vec::IntoIter<HostIo>,
    /// True if requests were already read from the source.
    again: bool,
}

impl Requests<'_> {
    /// Reads the next batch that has requests, and returns the first of them; `None` after the last
    /// batch.
    #[cold]
    fn refill(&mut self) -> Option<Result<HostIo, TraceError>> {
        loop {
            let requests = match self.batches.next() {
                Some(Ok(batch)) => self.converter.requests(&batch),
                Some(Err(Trouble::Unreadable(error))) => Err(Diagnostic::of(error).into()),
                Some(Err(Trouble::Raised(error))) => Err(self.source.failed(error)),
                None if self.again && self.converter.rows() == 0 => Err(once_only().into()),
                None => return None,
            };
            // After an end or an error, further calls find the end.
            self.again = false;
            match requests {
                Ok(requests) => {
                    self.now = requests.into_iter();
                    if let Some(request) = self.now.next() {
                        return Some(Ok(request));
                    }
                }
                Err(diagnostics) => {
                    self.batches = Batches::Stream(Box::new(std::iter::empty()));
                    return Some(Err(custom_error(&self.source.name, diagnostics)));
                }
            }
        }
    }
}

impl Iterator for Requests<'_> {
    type Item = Result<HostIo, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.now.next() {
            Some(request) => Some(Ok(request)),
            None => self.refill(),
        }
    }
}

fn once_only() -> Diagnostic {
    let what = "these requests can be read only once, but are needed several times: for every scheme, to find a \
                replay speed, or to compact addresses";
    Diagnostic::new("", what)
        .hint("pass a table, such as a polars frame, instead of a stream".to_string())
}
