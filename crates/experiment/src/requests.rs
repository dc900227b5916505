//! A line or a row for every request of a run, in a file of the user's choice.

use crate::atomic_file::{AtomicFile, unwritable};
use crate::diagnostic::Diagnostics;
use fowler_device::{Completion, Probe};
use fowler_metrics::RequestLog;
use std::path::{Path, PathBuf};

/// Where every request of a run goes, in order of completion.
///
/// It cannot fail on the way, as no probe can: the first error is remembered, writing stops, and
/// [`RequestSink::finish`] returns the error.
pub trait RequestSink: Send {
    /// A request was served.
    fn completed(&mut self, completion: &Completion);

    /// Writes out what is left, and gives the file its name.
    ///
    /// # Errors
    /// The first error of writing; the file then does not appear.
    fn finish(self: Box<Self>) -> Result<(), Diagnostics>;
}

/// Starts a file of one format.
pub type OpenSink = fn(&Path) -> Result<Box<dyn RequestSink>, Diagnostics>;

/// A file for every request of a run.
#[derive(Clone, Debug)]
pub struct RequestsFile {
    /// The file.
    pub path: PathBuf,
    /// What starts it.
    pub open: OpenSink,
}

impl RequestsFile {
    /// A file of comma-separated values: one line for each request, and one column for each cause.
    pub fn csv(path: impl Into<PathBuf>) -> RequestsFile {
        RequestsFile { path: path.into(), open: csv }
    }

    /// The file of one scheme of several.
    pub(crate) fn of_scheme(&self, scheme: &str) -> RequestsFile {
        RequestsFile { path: log_path(&self.path, scheme), open: self.open }
    }

    /// Starts it.
    pub(crate) fn start(&self) -> Result<Watching, Diagnostics> {
        (self.open)(&self.path).map(Watching)
    }
}

/// A sink as one who watches the drive.
pub(crate) struct Watching(Box<dyn RequestSink>);

impl Watching {
    /// Writes out what is left.
    pub fn finish(self) -> Result<(), Diagnostics> {
        self.0.finish()
    }
}

impl Probe for Watching {
    #[inline]
    fn completed(&mut self, completion: &Completion) {
        self.0.completed(completion);
    }
}

/// The first format: comma-separated values.
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
        self.log.completed(completion);
    }

    fn finish(self: Box<Self>) -> Result<(), Diagnostics> {
        let Csv { log, path } = *self;
        log.finish().map_err(|error| unwritable(&path, &error))?.finish()
    }
}

/// Where the requests of one scheme are logged: `requests.csv` of scheme `rps` is
/// `requests.rps.csv`.
pub fn log_path(path: &Path, scheme: &str) -> PathBuf {
    let extension = path.extension().map_or("csv".into(), |extension| extension.to_string_lossy());
    let safe: String = scheme
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
