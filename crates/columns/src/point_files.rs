//! The files of one finished point in the folder of a sweep, and the checksums that finish the
//! point. See [`crate::store`] for the names of these files.

use crate::file;
use crate::summary::{self, ERROR, HASH};
use fowler_experiment::atomic_file::{AtomicFile, stored, unwritable};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::disk::{self, unreadable};
use fowler_experiment::provenance::{bytes_hash, file_hash};
use fowler_experiment::sweep::store::{self, Listed, Verified, listed_hash, small_file};
use std::path::{Path, PathBuf};

/// Name of the folder, in that of the sweep, with the files of its points.
pub(crate) const POINTS: &str = "points";
/// Name of the folder, in that of the sweep, with the requests of all points.
pub(crate) const REQUESTS: &str = "requests";
/// State of a point of a sweep, according to its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Missing,
    /// A file of this run of the sweep does not match its checksum.
    Damaged,
    Finished,
    Failed,
}

pub(crate) fn point_file(folder: &Path, hash: &str) -> PathBuf {
    folder.join(POINTS).join(format!("{hash}.parquet"))
}

pub(crate) fn requests_file(folder: &Path, hash: &str) -> PathBuf {
    folder.join(REQUESTS).join(format!("{hash}.parquet"))
}

pub(crate) fn sums_file(folder: &Path, hash: &str) -> PathBuf {
    folder.join(POINTS).join(format!("{hash}.sha256"))
}

/// Saves the result of one run of a sweep, a table row in a Parquet file, and then the file of
/// checksums that marks the run as finished.
pub(crate) fn save(
    folder: &Path,
    hash: &str,
    row: &[u8],
    requests: Option<String>,
) -> Result<(), Diagnostics> {
    let [row_name, requests_name] = names(hash);
    let requests = requests.map(|requests| (requests_name.as_str(), requests));
    store::save(&sums_file(folder, hash), (&row_name, &point_file(folder, hash)), row, requests)
}

/// Returns the names of the two result files of a sweep's run, its row of metrics and its log of
/// requests, relative to the folder of its checksums.
fn names(hash: &str) -> [String; 2] {
    [format!("{hash}.parquet"), format!("../{REQUESTS}/{hash}.parquet")]
}

/// Compares the result files of a sweep's run with their checksums. A run that failed with an error
/// has no log of requests.
pub(crate) fn verified(folder: &Path, hash: &str, requests: bool) -> Result<Verified, Diagnostics> {
    let [row_name, requests_name] = names(hash);
    let (row, log) = (point_file(folder, hash), requests_file(folder, hash));
    let log: Listed<'_> = (&requests_name, &log);
    store::verified(&sums_file(folder, hash), (&row_name, &row), Some(log), requests)
}

/// Returns the paths that the files of a sweep's run should have but at which the file system holds
/// something else, such as a folder.
pub(crate) fn no_files(folder: &Path, hash: &str) -> Result<Vec<PathBuf>, Diagnostics> {
    let mut found = Vec::new();
    for path in [point_file, requests_file, sums_file].map(|file| file(folder, hash)) {
        if disk::no_file(&path)?.is_some() {
            found.push(path);
        }
    }
    Ok(found)
}

/// Returns the state (missing, damaged, failed or finished) of the sweep's run with this hash of
/// its inputs, according to the files in the folder.
pub(crate) fn state(folder: &Path, hash: &str, requests: bool) -> Result<State, Diagnostics> {
    for path in no_files(folder, hash)? {
        stored(&path)?;
    }
    let there = match verified(folder, hash, requests)? {
        Verified::Missing => return Ok(State::Missing),
        Verified::Damaged(_) => return Ok(State::Damaged),
        Verified::Whole { extra } => extra,
    };
    Ok(match row_state(folder, hash)? {
        // An earlier sweep did not save the requests.
        State::Finished if requests && !there => State::Missing,
        state => state,
    })
}

/// Returns the state of a sweep's run, finished or failed, from the row of metrics in its result
/// file, whose checksum must have been verified.
pub(crate) fn row_state(folder: &Path, hash: &str) -> Result<State, Diagnostics> {
    let row = file::read_columns(&point_file(folder, hash), &[HASH, ERROR])?;
    let rows = summary::rows_of(&row.unwrap_or_default());
    Ok(match rows.first() {
        Some(row) if row.text(HASH) != Some(hash) => State::Damaged,
        Some(row) if row.text(ERROR).is_some() => State::Failed,
        Some(_) => State::Finished,
        None => State::Damaged,
    })
}

/// Copies the files of a finished point from one folder of a sweep into another, unless they are
/// already there.
pub(crate) fn copy(
    from: &Path,
    into: &Path,
    hash: &str,
    requests: bool,
) -> Result<(), Diagnostics> {
    let Some(sums) = small_file(&sums_file(from, hash))? else {
        return Err(damaged(&sums_file(from, hash)));
    };
    let there = small_file(&sums_file(into, hash))?;
    let same = there.is_some_and(|there| there == sums);
    if same && matches!(verified(into, hash, requests)?, Verified::Whole { .. }) {
        return Ok(());
    }
    let [row_name, requests_name] = names(hash);
    // Requests that nobody asked for were not compared, and stay behind.
    let log = listed_hash(&sums, &requests_name).filter(|_| requests);
    if let Some(sum) = &log {
        let (from, into) = (requests_file(from, hash), requests_file(into, hash));
        let mut file = AtomicFile::create_stored(&into)?;
        let mut source =
            disk::File::open_stored(&from).map_err(|error| unreadable(&from, &error))?;
        std::io::copy(&mut source, &mut file).map_err(|error| unwritable(&into, &error))?;
        file.finish()?;
        // Until the point has its checksums, nobody reads the requests.
        if file_hash(&into)? != *sum {
            return Err(damaged(&from));
        }
    }
    let path = point_file(from, hash);
    let row = disk::read(&path).map_err(|error| unreadable(&path, &error))?;
    if listed_hash(&sums, &row_name) != Some(bytes_hash(&row)) {
        return Err(damaged(&path));
    }
    save(into, hash, &row, log)
}

pub(crate) fn damaged(path: &Path) -> Diagnostics {
    Diagnostic::new(
        path.display().to_string(),
        "the result file of this point is damaged: it is not as it was written",
    )
    .hint("run the same sweep again: it recreates the damaged result file".to_string())
    .into()
}
