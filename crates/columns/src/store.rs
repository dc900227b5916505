//! The folder of a sweep: each finished point is a file of its own, which appears when it is
//! complete.
//!
//! | file | what it is |
//! |---|---|
//! | `sweep.toml` | the specification |
//! | `design.parquet` | every point: its number, hash, axes and names |
//! | `points/HASH.parquet` | one row: the same, and what was measured or why it failed |
//! | `requests/HASH.parquet` | every request of the point, where they are wanted |
//!
//! A process that is killed at any time loses no finished point. The bytes of a folder do not
//! depend on threads, machines, or how often the sweep was interrupted. A truncated file, as a
//! crash of the machine may leave it, is recreated.

use crate::summary::{self, ERROR, HASH, Row};
use crate::{file, findings, requests};
use arrow_array::RecordBatch;
use fowler_experiment::atomic_file::{AtomicFile, Named, clashes, unwritable};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::sweep::{self, Finished, Plan, Point, Watch};
use fowler_experiment::tables::Sheet;
use fowler_experiment::workload::Control;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The specification, in the folder.
pub const SPECIFICATION: &str = "sweep.toml";
/// The points of the design, in the folder.
pub const DESIGN: &str = "design.parquet";
const POINTS: &str = "points";
const REQUESTS: &str = "requests";
/// The lock file of the process that writes to the folder.
const LOCK: &str = ".lock";

/// A sweep folder open for writing, by one process at a time.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The points of the design that are runs, with their hashes.
    runs: Vec<(usize, String)>,
    /// Whether the requests of every point are saved.
    requests: bool,
    _lock: File,
}

/// The saved state of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Missing,
    Finished,
    Failed,
}

/// The files of a finished point as bytes, as a remote worker returns them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The point's row.
    pub row: Vec<u8>,
    /// Its requests, if they are saved and it did not fail.
    pub requests: Option<Vec<u8>>,
    /// Whether it failed.
    pub failed: bool,
}

/// The progress of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Points of the design.
    pub points: usize,
    /// Points that are finished, including failed ones.
    pub finished: usize,
    /// Points that failed.
    pub failed: usize,
}

impl Folder {
    /// Opens the folder for the points of a plan, and creates it if necessary. Removes files that
    /// an earlier process left partially written, and keeps finished ones.
    ///
    /// # Errors
    /// If the folder cannot be written, or another process is writing to it.
    pub fn open(path: &Path, plan: &Plan) -> Result<Folder, Diagnostics> {
        for folder in
            [Some(POINTS), plan.keeps_requests().then_some(REQUESTS)].into_iter().flatten()
        {
            let folder = path.join(folder);
            fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
        }
        let lock = lock(path)?;
        for folder in [path.to_path_buf(), path.join(POINTS), path.join(REQUESTS)] {
            tidy(&folder);
        }
        let points = plan.points();
        let rows: Vec<Row> = points.iter().map(|it| summary::of_point(plan, it)).collect();
        replace(&path.join(SPECIFICATION), plan.text().as_bytes())?;
        replace(&path.join(DESIGN), &file::bytes(&summary::table(&rows)))?;
        let runs = plan.runs().into_iter().map(|index| (index, points[index].hash.clone()));
        Ok(Folder {
            path: path.to_path_buf(),
            runs: runs.collect(),
            requests: plan.keeps_requests(),
            _lock: lock,
        })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the points still to be run, in order; with `retry` also those that failed. Of
    /// several identical points it returns the first. A point with a missing or truncated file is
    /// run again.
    ///
    /// # Errors
    /// If a file of a point cannot be opened.
    pub fn missing(&self, retry: bool) -> Result<Vec<usize>, Diagnostics> {
        let mut missing = Vec::new();
        for (index, hash) in &self.runs {
            match self.state(hash)? {
                State::Missing => missing.push(*index),
                State::Failed if retry => missing.push(*index),
                State::Failed | State::Finished => (),
            }
        }
        Ok(missing)
    }

    /// Returns the saved state of the point with this hash.
    fn state(&self, hash: &str) -> Result<State, Diagnostics> {
        // Check only the footers: reading a whole row takes fifty times as long.
        let row = file::read_columns(&point_file(&self.path, hash), &[ERROR])?;
        let rows = summary::rows_of(&row.unwrap_or_default());
        let Some(row) = rows.first() else { return Ok(State::Missing) };
        if row.text(ERROR).is_some() {
            return Ok(State::Failed);
        }
        let requests = requests_file(&self.path, hash);
        if self.requests && file::read_columns(&requests, &[])?.is_none() {
            return Ok(State::Missing);
        }
        Ok(State::Finished)
    }

    /// Saves the files of a point that was run elsewhere.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn keep(&self, point: &Point, made: &Made) -> Result<(), Diagnostics> {
        // Write the row last: a point with a row is complete.
        if let Some(requests) = &made.requests {
            write(&requests_file(&self.path, &point.hash), requests)?;
        }
        write(&point_file(&self.path, &point.hash), &made.row)
    }

    /// Returns the progress of the sweep.
    ///
    /// # Errors
    /// If a file of a point cannot be opened.
    pub fn tally(&self, plan: &Plan) -> Result<Tally, Diagnostics> {
        let mut states: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        for (_, hash) in &self.runs {
            let state = self.state(hash)?;
            let counts = [state != State::Missing, state == State::Failed];
            states.insert(hash, counts.map(usize::from));
        }
        let mut tally = Tally { points: plan.points().len(), ..Tally::default() };
        for point in plan.points() {
            let [finished, failed] = states.get(&*point.hash).copied().unwrap_or_default();
            tally.finished += finished;
            tally.failed += failed;
        }
        Ok(tally)
    }

    /// Returns every finished point, one row each, in the order of the design.
    ///
    /// # Errors
    /// As [`load`].
    pub fn load(&self) -> Result<RecordBatch, Diagnostics> {
        load(&self.path)
    }

    /// What the sweep found, as tables for a person.
    ///
    /// # Errors
    /// As [`load`].
    pub fn findings(&self, plan: &Plan) -> Result<Vec<Sheet>, Diagnostics> {
        let axes: Vec<&str> = plan.axes().collect();
        Ok(findings::sheets(&rows(&self.path)?, &axes))
    }
}

/// Loads every finished point of the sweep in a folder, one row each, in the order of the design.
/// Needs only the folder: neither the traces nor the version of Fowler that filled it.
///
/// # Errors
/// If this is not the folder of a sweep, or a file in it cannot be read.
pub fn load(folder: &Path) -> Result<RecordBatch, Diagnostics> {
    Ok(summary::table(&rows(folder)?))
}

fn rows(folder: &Path) -> Result<Vec<Row>, Diagnostics> {
    let design = folder.join(DESIGN);
    if !design.exists() {
        let what = format!("this is not the folder of a sweep: {DESIGN} is missing");
        return Err(Diagnostic::new(folder.display().to_string(), what).into());
    }
    let mut measured: BTreeMap<String, Option<Row>> = BTreeMap::new();
    let mut rows = Vec::new();
    for point in summary::read(&design)? {
        let Some(hash) = point.text(HASH) else { continue };
        if !measured.contains_key(hash) {
            let path = point_file(folder, hash);
            let row = path.exists().then(|| summary::read(&path)).transpose()?;
            measured.insert(hash.into(), row.and_then(|rows| rows.into_iter().next()));
        }
        rows.extend(measured[hash].as_ref().map(|row| point.with(row)));
    }
    Ok(rows)
}

/// Checks that no input file of the points would be replaced by a file in the folder.
pub fn unharmed(plan: &Plan, folder: &Path) -> Diagnostics {
    let outputs: Vec<Named> =
        [SPECIFICATION, DESIGN].map(|name| ("--out".to_string(), folder.join(name))).into();
    clashes(&plan.inputs(), &outputs)
}

/// Runs one point and returns its files as bytes for the caller to save; `None` if it was stopped.
/// Its requests, if wanted, are meanwhile in the folder for temporary files.
///
/// # Errors
/// If those requests cannot be written there. Errors of the point are its result.
pub fn make(plan: &Plan, index: usize, control: Control<'_>) -> Result<Option<Made>, Diagnostics> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let name = format!("fowler-{}-{number}.parquet", std::process::id());
    let path = std::env::temp_dir().join(name);
    let wanted = plan.keeps_requests().then(|| requests::parquet(&path));
    let finished = plan.run_point(index, wanted.as_ref(), control);
    let requests = wanted.and_then(|_| fs::read(&path).ok());
    // A failed point has no requests.
    let _absent = fs::remove_file(&path);
    Ok(finished?.map(|finished| Made {
        row: summary::bytes(&summary::of_finished(plan, &finished)),
        requests: requests.filter(|_| finished.result.is_ok()),
        failed: finished.result.is_err(),
    }))
}

/// Runs the points `todo` on `threads` threads (`None`: one per core) and saves them in the folder.
/// Calls `step` for each finished point, with whether it failed.
///
/// # Errors
/// If the folder cannot be written; points saved before stay.
pub fn run(
    folder: &Folder,
    plan: &Plan,
    todo: &[usize],
    threads: Option<usize>,
    control: Control<'_>,
    step: &(dyn Fn(bool) + Sync),
) -> Result<(), Diagnostics> {
    let wanted = plan.keeps_requests();
    let file =
        |point: &Point| wanted.then(|| requests::parquet(requests_file(&folder.path, &point.hash)));
    let keep = |finished: Finished| {
        let point = &plan.points()[finished.point];
        let row = summary::bytes(&summary::of_finished(plan, &finished));
        write(&point_file(&folder.path, &point.hash), &row)?;
        step(finished.result.is_err());
        Ok(())
    };
    sweep::run(plan, todo, threads, Watch { control, requests: &file, keep: &keep })
}

fn point_file(folder: &Path, hash: &str) -> PathBuf {
    folder.join(POINTS).join(format!("{hash}.parquet"))
}

fn requests_file(folder: &Path, hash: &str) -> PathBuf {
    folder.join(REQUESTS).join(format!("{hash}.parquet"))
}

fn lock(folder: &Path) -> Result<File, Diagnostics> {
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(|error| unwritable(&path, &error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let diagnostic = Diagnostic::new(
                folder.display().to_string(),
                "another sweep is running in this folder",
            );
            Err(diagnostic
                .hint("wait until it has finished, or choose another folder".to_string())
                .into())
        }
        // On file systems without locks the user must not run two sweeps in one folder.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Removes partial files of an earlier process that was killed. No other process uses the folder
/// now.
fn tidy(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let ours = |name: &str| {
            let (name, number) = name.rsplit_once(".partial").unwrap_or(("", "x"));
            let file = name.ends_with(".parquet") || name == SPECIFICATION;
            file && number.bytes().all(|byte| byte.is_ascii_digit())
        };
        if name.is_some_and(|name| ours(&name)) {
            // A file that cannot be removed does no harm.
            let _left = fs::remove_file(path);
        }
    }
}

/// Writes a file unless it exists.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Diagnostics> {
    if fs::read(path).is_ok_and(|there| there == bytes) { Ok(()) } else { write(path, bytes) }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Diagnostics> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|error| unwritable(path, &error))?;
    file.finish()
}
