//! The files of one finished point in the folder of a sweep, and the checksums that finish it. See
//! [`crate::store`] for what they are called.

use crate::file;
use crate::summary::{self, ERROR, HASH};
use fowler_experiment::atomic_file::{AtomicFile, stored, unwritable};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::disk::{self, unreadable};
use fowler_experiment::provenance::{bytes_hash, file_hash};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The folder of the points.
pub(crate) const POINTS: &str = "points";
/// The folder of their requests.
pub(crate) const REQUESTS: &str = "requests";
/// The most bytes of a file of checksums, or of another small file.
const SMALL: u64 = 4096;

/// The saved state of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Missing,
    /// A file is not what was written.
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

/// Saves the row of a point, then the checksums, which finish it.
pub(crate) fn save(
    folder: &Path,
    hash: &str,
    row: &[u8],
    requests: Option<String>,
) -> Result<(), Diagnostics> {
    write(&point_file(folder, hash), row)?;
    let [row_name, requests_name] = names(hash);
    let mut sums = vec![(row_name.as_str(), bytes_hash(row))];
    sums.extend(requests.map(|requests| (requests_name.as_str(), requests)));
    write(&sums_file(folder, hash), listed(&sums).as_bytes())
}

/// The names of a point's files, from the folder of its checksums.
fn names(hash: &str) -> [String; 2] {
    [format!("{hash}.parquet"), format!("../{REQUESTS}/{hash}.parquet")]
}

/// Returns checksums as `sha256sum` writes them.
pub(crate) fn listed(sums: &[(&str, String)]) -> String {
    sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect()
}

/// Returns the checksum listed for a file.
pub(crate) fn listed_hash(sums: &str, name: &str) -> Option<String> {
    // A line without its end has been cut short.
    let one = |line: &str| {
        let (sum, its) = line.strip_suffix('\n')?.split_once("  ")?;
        (its == name).then(|| sum.to_string())
    };
    sums.split_inclusive('\n').find_map(one)
}

/// Whether the files of a point are what was written.
pub(crate) enum Verified {
    Missing,
    Damaged(PathBuf),
    Whole {
        /// Whether the requests are among them.
        requests: bool,
    },
}

/// Compares the files of a point with their checksums. A failed point has no requests.
pub(crate) fn verified(folder: &Path, hash: &str, requests: bool) -> Result<Verified, Diagnostics> {
    let path = sums_file(folder, hash);
    let Some(sums) = small_file(&path)? else { return Ok(Verified::Missing) };
    let [row_name, requests_name] = names(hash);
    let row = (point_file(folder, hash), listed_hash(&sums, &row_name));
    let log = (requests_file(folder, hash), listed_hash(&sums, &requests_name));
    // Everything that is listed is compared, and nothing else may be in the file.
    let known = sums.lines().count() == 1 + usize::from(log.1.is_some());
    let files = [Some(row), Some(log).filter(|(_, sum)| requests && sum.is_some())];
    for (file, sum) in files.into_iter().flatten() {
        if disk::facts(&file)?.is_none() {
            return Ok(Verified::Missing);
        }
        if !known || sum != Some(file_hash(&file)?) {
            return Ok(Verified::Damaged(file));
        }
    }
    Ok(Verified::Whole { requests: listed_hash(&sums, &requests_name).is_some() })
}

/// Returns what is in the place of a file of this point and is none.
pub(crate) fn no_files(folder: &Path, hash: &str) -> Result<Vec<PathBuf>, Diagnostics> {
    let mut found = Vec::new();
    for path in [point_file, requests_file, sums_file].map(|file| file(folder, hash)) {
        if disk::no_file(&path)?.is_some() {
            found.push(path);
        }
    }
    Ok(found)
}

/// Returns the text of a small file; `None` if there is none. A file that is not text is empty.
pub(crate) fn small_file(path: &Path) -> Result<Option<String>, Diagnostics> {
    let read = || {
        let mut bytes = Vec::new();
        disk::File::open_stored(path)?.take(SMALL).read_to_end(&mut bytes)?;
        Ok(String::from_utf8(bytes).unwrap_or_default())
    };
    disk::if_present(read()).map_err(|error| unreadable(path, &error))
}

/// Returns the saved state of the point with this hash.
pub(crate) fn state(folder: &Path, hash: &str, requests: bool) -> Result<State, Diagnostics> {
    for path in no_files(folder, hash)? {
        stored(&path)?;
    }
    let there = match verified(folder, hash, requests)? {
        Verified::Missing => return Ok(State::Missing),
        Verified::Damaged(_) => return Ok(State::Damaged),
        Verified::Whole { requests } => requests,
    };
    Ok(match row_state(folder, hash)? {
        // An earlier sweep did not save them.
        State::Finished if requests && !there => State::Missing,
        state => state,
    })
}

/// Returns what the row of a point says, whose file is as it was written.
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

/// Copies the files of a finished point from one folder into another, unless they are there.
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
        // Until the point has its checksums, nobody reads them.
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
    Diagnostic::new(path.display().to_string(), "is damaged: it is not the file that was written")
        .hint("run the same sweep again: it recreates the file".to_string())
        .into()
}

/// Writes a file unless it is there with these bytes.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Diagnostics> {
    let there = disk::if_present(disk::read(path)).map_err(|error| unreadable(path, &error))?;
    if there.is_some_and(|there| there == bytes) { Ok(()) } else { write(path, bytes) }
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Diagnostics> {
    let mut file = AtomicFile::create_stored(path)?;
    file.write_all(bytes).map_err(|error| unwritable(path, &error))?;
    file.finish()
}
