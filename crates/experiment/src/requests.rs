//! Logs every request of a run to a CSV file (line format: `fowler_metrics`). The crate `columns`
//! does the same in Parquet.

use crate::atomic_file::{AtomicFile, unwritable};
use crate::diagnostic::Diagnostics;
use fowler_device::{Completion, Layer, Probe};
use fowler_metrics::RequestLog;
use std::path::{Path, PathBuf};

/// Receives every request of a run, in order of completion.
///
/// Like every probe it cannot fail during the run: it remembers the first error, stops writing, and
/// returns the error from [`RequestSink::finish`].
pub trait RequestSink: Send {
    /// Records a completed request in the log.
    fn completed(&mut self, completion: &Completion);

    /// Writes the requests that are still buffered, and gives the finished log file its name. `run`
    /// holds names and values that identify the run in the log.
    ///
    /// # Errors
    /// The first write error; the file then does not appear.
    fn finish(self: Box<Self>, run: &[(&str, String)]) -> Result<(), Diagnostics>;
}

/// Function that opens a sink for requests, which writes one file format.
pub type OpenSink = fn(&Path) -> Result<Box<dyn RequestSink>, Diagnostics>;

/// A file into which a run logs all requests, and its format.
#[derive(Clone, Debug)]
pub struct RequestsFile {
    /// Path of the log of requests.
    pub path: PathBuf,
    /// Function that creates the log of requests in its file format, such as CSV.
    pub open: OpenSink,
}

impl RequestsFile {
    /// Returns a log of requests as comma-separated values: a line for each request, and a column
    /// for each cause of latency.
    pub fn csv(path: impl Into<PathBuf>) -> RequestsFile {
        RequestsFile { path: path.into(), open: csv }
    }

    /// Returns the log of requests for one of several runs, by the run's label.
    pub(crate) fn of(&self, label: &str) -> RequestsFile {
        RequestsFile { path: log_path(&self.path, label), open: self.open }
    }

    /// Creates the log of requests.
    pub(crate) fn start(&self) -> Result<Watching, Diagnostics> {
        (self.open)(&self.path).map(Watching)
    }
}

/// A sink of requests that watches a run as a probe.
pub(crate) struct Watching(Box<dyn RequestSink>);

impl Watching {
    /// Writes the requests of the run that are still buffered, and gives the finished log file its
    /// name.
    pub fn finish(self, run: &[(&str, String)]) -> Result<(), Diagnostics> {
        self.0.finish(run)
    }
}

impl<L: Layer> Probe<L> for Watching {
    #[inline]
    fn completed(&mut self, completion: &Completion) {
        self.0.completed(completion);
    }
}

/// A log of requests as comma-separated values.
struct Csv {
    log: RequestLog<AtomicFile>,
    path: PathBuf,
}

fn csv(path: &Path) -> Result<Box<dyn RequestSink>, Diagnostics> {
    let log =
        RequestLog::new(AtomicFile::create(path)?).map_err(|error| unwritable(path, &error))?;
    Ok(Box::new(Csv { log, path: path.to_path_buf() }))
}

impl RequestSink for Csv {
    fn completed(&mut self, completion: &Completion) {
        self.log.add(completion);
    }

    /// Finishes the log without naming its run: CSV has no place for that.
    fn finish(self: Box<Self>, _: &[(&str, String)]) -> Result<(), Diagnostics> {
        let Csv { log, path } = *self;
        log.finish().map_err(|error| unwritable(&path, &error))?.finish()
    }
}

/// Returns the path of the request log of one run: `requests.csv` becomes `requests.rps.csv` for
/// scheme `rps`.
pub fn log_path(path: &Path, label: &str) -> PathBuf {
    let extension = path.extension().map_or("csv".into(), |extension| extension.to_string_lossy());
    let safe: String = label
        .chars()
        .map(|c| if c.is_alphanumeric() || "+-_".contains(c) { c } else { '_' })
        .collect();
    path.with_extension(format!("{safe}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_logs_to_a_file_of_its_own() {
        let path = |scheme| log_path("out/requests.csv".as_ref(), scheme);
        assert_eq!(path("rps"), PathBuf::from("out/requests.rps.csv"));
        assert_eq!(path("pes_ipc+per"), PathBuf::from("out/requests.pes_ipc+per.csv"));
        assert_eq!(path("my/scheme.toml"), PathBuf::from("out/requests.my_scheme_toml.csv"));
    }
}
