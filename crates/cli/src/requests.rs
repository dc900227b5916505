//! The file for every request, in the format that the ending of its name says; and requests from
//! files of columns.

#[cfg(not(feature = "parquet"))]
use fowler_experiment::diagnostic::Diagnostic;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::requests::RequestsFile;
use fowler_experiment::workload::RequestSource;
use std::path::Path;
use std::sync::Arc;

/// Flag that names the log of every request.
pub(crate) const FLAG: &str = "--requests";
/// Name of the file for requests in a folder of results.
pub(crate) const NAME: &str = "requests.parquet";

/// Returns the log of requests in the file at `path`, in the format of its ending.
#[cfg(feature = "parquet")]
pub(crate) fn file(path: &Path) -> Result<RequestsFile, Diagnostics> {
    fowler_columns::requests::file(path)
}

/// Returns the log of requests in the file at `path`: as text, the only format of this build.
#[cfg(not(feature = "parquet"))]
pub(crate) fn file(path: &Path) -> Result<RequestsFile, Diagnostics> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) {
        return Ok(RequestsFile::csv(path));
    }
    let hint = "name a file that ends in .csv".to_string();
    Err(without_parquet(FLAG).hint(hint).into())
}

/// Returns the trace at `path` with the name of its format, if it is a Parquet or Arrow file.
#[cfg(feature = "parquet")]
pub(crate) fn columns(path: &Path) -> Option<(Arc<dyn RequestSource>, &'static str)> {
    let file = fowler_columns::trace_file::TraceFile::of(path)?;
    let format = file.kind().name();
    Some((Arc::new(file), format))
}

/// Returns `None` in place of the requests of a Parquet file, because this program is built without
/// Parquet; the reader of text traces then reports that.
#[cfg(not(feature = "parquet"))]
pub(crate) fn columns(_: &Path) -> Option<(Arc<dyn RequestSource>, &'static str)> {
    None
}

/// Returns the error for a Parquet file in a program that was built without Parquet.
#[cfg(not(feature = "parquet"))]
pub(crate) fn without_parquet(file: &str) -> Diagnostic {
    Diagnostic::new(file, "this program was built without Parquet (its cargo feature `parquet`)")
}
