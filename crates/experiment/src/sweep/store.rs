//! The folder in which the points of a sweep or of a study are saved: one process at a time writes
//! to it, and each point has a file for its result and one for its checksums, which finish it.
//!
//! The caller chooses the encoding of results and the file names. Every file appears only when
//! complete, so a killed process or a full disk does not lose a finished point. A result with a
//! wrong checksum does not count.

use crate::atomic_file::{AtomicFile, finished_name, is_partial, unwritable};
use crate::diagnostic::{Diagnostic, Diagnostics, printable};
use crate::disk::{self, unreadable};
use crate::provenance::{VERSION, bytes_hash, file_hash};
use crate::sealed_file::Kind;
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Name of the file that states the format of a results folder, and the version of Fowler that
/// wrote it.
pub const FORMAT_FILE: &str = "format";
/// Name of the lock file of the process that writes to a results folder.
pub const LOCK: &str = ".lock";
/// The most bytes of a file of checksums, or of another small file.
const SMALL: u64 = 4096;

/// Locks a results folder for this process until the returned file is dropped.
///
/// # Errors
/// If another process has locked the folder, or the lock cannot be written.
pub fn lock(folder: &Path, kind: Kind) -> Result<File, Diagnostics> {
    let path = folder.join(LOCK);
    let file = disk::lock_file(&path).map_err(|error| unwritable(&path, &error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let what = format!("another {} is running in this folder", kind.name);
            let hint = "wait until it has finished, or choose another folder".to_string();
            Err(Diagnostic::new(folder.display().to_string(), what).hint(hint).into())
        }
        // File systems without locks do not protect against two commands in one folder.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Writes the file that states the format of a results folder.
///
/// # Errors
/// If the file cannot be written.
pub fn mark(folder: &Path, kind: Kind) -> Result<(), Diagnostics> {
    let text = format!("fowler {} {} {VERSION}\n", kind.name, kind.format);
    replace(&folder.join(FORMAT_FILE), text.as_bytes())
}

/// Returns the format number and the version of Fowler from `text`, the contents of the file
/// `format` in the folder of a sweep or study.
pub fn format_of(text: &str, kind: Kind) -> Option<(u32, &str)> {
    let words = text.strip_suffix('\n')?.strip_prefix("fowler ")?.strip_prefix(kind.name)?;
    let mut words = words.strip_prefix(' ')?.split(' ');
    let format = words.next()?.parse().ok()?;
    let version = words.next().filter(|version| !version.is_empty())?;
    words.next().is_none().then_some((format, version))
}

/// Refuses a results folder that a newer version of Fowler wrote.
///
/// # Errors
/// If a newer version wrote the folder, or the file that says so cannot be read.
pub fn refuse_newer(folder: &Path, kind: Kind) -> Result<(), Diagnostics> {
    let Some(text) = small_file(&folder.join(FORMAT_FILE))? else { return Ok(()) };
    match format_of(&text, kind) {
        Some((format, writer)) if format > kind.format => {
            let writer = printable(writer);
            let what = format!(
                "the folder was written by Fowler {writer} in format {format}; this is Fowler {VERSION}, which reads format {}",
                kind.format
            );
            Err(Diagnostic::new(folder.display().to_string(), what)
                .hint("use the newer version of Fowler, or another folder".to_string())
                .into())
        }
        _ => Ok(()),
    }
}

/// Removes the temporary files of unfinished writes that a killed process left in a folder, if
/// `ours` accepts the name that the finished file would have. No other process may use the folder.
///
/// # Errors
/// If the folder cannot be read, or a file cannot be removed.
pub fn tidy(folder: &Path, ours: impl Fn(&str) -> bool) -> Result<(), Diagnostics> {
    let entries =
        disk::if_present(disk::entries(folder)).map_err(|error| unreadable(folder, &error))?;
    for path in entries.unwrap_or_default() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_partial(&name) && ours(finished_name(&name)) {
            disk::remove(&path).map_err(|error| unwritable(&path, &error))?;
        }
    }
    Ok(())
}

/// A result file of a sweep's point: its name in the checksum file, and its path.
pub type Listed<'a> = (&'a str, &'a Path);

/// Saves the result of a sweep's point, then the checksums, which finish it. `extra` is the name
/// and the checksum of another file of the point, which is there already.
///
/// # Errors
/// If one of the files cannot be written.
pub fn save(
    sums: &Path,
    (name, path): Listed<'_>,
    result: &[u8],
    extra: Option<(&str, String)>,
) -> Result<(), Diagnostics> {
    write(path, result)?;
    let mut all = vec![(name, bytes_hash(result))];
    all.extend(extra);
    write(sums, listed(&all).as_bytes())
}

/// Result of verifying the saved result files of one run of a sweep or study by their checksums.
#[derive(Debug)]
pub enum Verified {
    /// The run of a sweep or study is not finished: its file of checksums is missing.
    Missing,
    /// The file with this path, a result of a run of a sweep or study, differs from what was
    /// written.
    Damaged(PathBuf),
    /// All result files of a run of a sweep or study match their checksums.
    Whole {
        /// True if the checksums also list a second result file of the run, such as its log of
        /// requests.
        extra: bool,
    },
}

/// Compares the saved result of a sweep's point with its checksum, and its extra file if that is
/// listed and `wanted`.
///
/// # Errors
/// If a file cannot be read.
pub fn verified(
    path: &Path,
    result: Listed<'_>,
    extra: Option<Listed<'_>>,
    wanted: bool,
) -> Result<Verified, Diagnostics> {
    let Some(sums) = small_file(path)? else { return Ok(Verified::Missing) };
    let of = |(name, file)| (file, listed_hash(&sums, name));
    let extra = extra.map(of).filter(|(_, sum)| sum.is_some());
    // Every listed file is compared, and the checksum file must list no others.
    let known = sums.lines().count() == 1 + usize::from(extra.is_some());
    let there = extra.is_some();
    for (file, sum) in [Some(of(result)), extra.filter(|_| wanted)].into_iter().flatten() {
        if disk::facts(file)?.is_none() {
            return Ok(Verified::Missing);
        }
        if !known || sum != Some(file_hash(file)?) {
            return Ok(Verified::Damaged(file.to_path_buf()));
        }
    }
    Ok(Verified::Whole { extra: there })
}

/// Returns the text of a checksum file, as `sha256sum` writes it.
pub fn listed(sums: &[(&str, String)]) -> String {
    sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect()
}

/// Returns the checksum that a checksum file lists for a file.
pub fn listed_hash(sums: &str, name: &str) -> Option<String> {
    // A line without a newline has been cut short.
    let one = |line: &str| {
        let (sum, file) = line.strip_suffix('\n')?.split_once("  ")?;
        (file == name).then(|| sum.to_string())
    };
    sums.split_inclusive('\n').find_map(one)
}

/// Returns the text of a small file; `None` if there is none. A file that is not valid text counts
/// as empty.
///
/// # Errors
/// If the file cannot be read.
pub fn small_file(path: &Path) -> Result<Option<String>, Diagnostics> {
    let read = || {
        let mut bytes = Vec::new();
        disk::File::open_stored(path)?.take(SMALL).read_to_end(&mut bytes)?;
        Ok(String::from_utf8(bytes).unwrap_or_default())
    };
    disk::if_present(read()).map_err(|error| unreadable(path, &error))
}

/// Writes a file unless it exists with these bytes.
///
/// # Errors
///
/// If the file cannot be read or written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Diagnostics> {
    let there = disk::if_present(disk::read(path)).map_err(|error| unreadable(path, &error))?;
    if there.is_some_and(|there| there == bytes) { Ok(()) } else { write(path, bytes) }
}

/// Writes a file, which appears under its name only when it is complete.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Diagnostics> {
    let mut file = AtomicFile::create_stored(path)?;
    file.write_all(bytes).map_err(|error| unwritable(path, &error))?;
    file.finish()
}
