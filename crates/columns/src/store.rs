//! The folder of a sweep: each finished point is a file of its own, which appears when it is
//! complete.
//!
//! | file | what it is |
//! |---|---|
//! | `sweep.toml` | the specification |
//! | `design.parquet` | every point: its number, hash, axes and names |
//! | `points/HASH.parquet` | one row: the point, and its measurements or the reason why it failed |
//! | `requests/HASH.parquet` | every request of the point, where they are wanted |
//! | `points/HASH.sha256` | the checksums of both, for `sha256sum`; with it the point is finished |
//! | `sweep.sha256` | the checksums of the specification, the design and the file `shard` |
//! | `format` | the format of the folder, and the version of Fowler that wrote it |
//! | `shard` | for a shard ([`crate::shards`]): its number of how many, and its sweep |
//!
//! A process that is killed at any time loses no finished point. The bytes of a folder do not
//! depend on threads, machines, or how often the sweep was interrupted. A file that does not match
//! its checksum, whatever happened to it, is recreated.

use crate::point_files::{
    POINTS, REQUESTS, State, damaged, no_files, point_file, requests_file, row_state, save, state,
    sums_file, verified,
};
use crate::summary::{self, HASH, Row};
use crate::{file, findings, requests};
use arrow_array::RecordBatch;
use fowler_experiment::atomic_file::{Named, clashes, is_partial, unwritable};
use fowler_experiment::contents::{CONTENTS, SWEEP_SUMS};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::disk::{self, unreadable};
use fowler_experiment::provenance::{bytes_hash, file_hash};
use fowler_experiment::sealed_file::Kind;
use fowler_experiment::sweep::store::{
    FORMAT_FILE, LOCK, Verified, format_of, listed, listed_hash, lock, mark, refuse_newer, replace,
    small_file, tidy, write,
};
use fowler_experiment::sweep::{self, Finished, HASH_DIGITS, Plan, Point, Watch};
use fowler_experiment::tables::Sheet;
use fowler_experiment::workload::Control;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Name of the file with the specification, in the folder of a sweep.
pub const SPECIFICATION: &str = "sweep.toml";
/// Name of the file with the points of the design, in the folder of a sweep.
pub const DESIGN: &str = "design.parquet";
/// Name of the file with the checksums of the specification, the design and the file `shard`, in
/// the folder of a sweep.
const SUMS: &str = SWEEP_SUMS;
/// Kind and format version of a sweep's folder; increment the version when the contents of its
/// files change.
pub(crate) const SWEEP: Kind = Kind { name: "sweep", format: 1 };
/// The file that marks a folder as holding only a shard of its sweep.
pub(crate) const SHARD: &str = "shard";

/// A sweep folder open for writing, by one process at a time.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Points of the design that are run in this folder (index and hash): all of the sweep, or
    /// those of a shard.
    runs: Vec<(usize, String)>,
    /// Hashes of the sweep's runs whose files belong in this folder.
    points: Vec<String>,
    /// True if a log of the requests of every run in this folder of a sweep is saved.
    requests: bool,
    _lock: File,
}

/// Files of a sweep's folder other than its points.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    /// Text of the sweep's specification.
    pub text: Vec<u8>,
    /// Bytes of the file `design.parquet`, which lists the points of the sweep.
    pub design: Vec<u8>,
    /// Hash of every point of the sweep, in the order of the design.
    pub points: Vec<String>,
    /// True if the sweep saves a log of the requests of every run.
    pub requests: bool,
}

impl Outline {
    pub fn of(plan: &Plan) -> Outline {
        let points = plan.points();
        let rows: Vec<Row> = points.iter().map(|it| summary::of_point(plan, it)).collect();
        Outline {
            text: plan.text().as_bytes().to_vec(),
            design: file::bytes(&summary::table(&rows)),
            points: points.iter().map(|point| point.hash.clone()).collect(),
            requests: plan.keeps_requests(),
        }
    }

    /// Returns index and hash of the sweep's points that must be run: of several points with equal
    /// inputs (one hash), only the first.
    pub fn runs(&self) -> Vec<(usize, String)> {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut runs: Vec<(usize, &String)> = self.points.iter().enumerate().collect();
        runs.retain(|(_, hash)| seen.insert(hash));
        runs.into_iter().map(|(index, hash)| (index, hash.clone())).collect()
    }
}

/// Files of a finished point of a sweep as bytes, as a remote worker returns them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Contents of the Parquet file with the row of metrics of this run of the sweep.
    pub row: Vec<u8>,
    /// Contents of the Parquet file with the request log of this run of the sweep; `None` if
    /// requests are not saved or the run failed.
    pub requests: Option<Vec<u8>>,
    /// True if the run of the sweep's point failed.
    pub failed: bool,
}

/// Progress of a sweep: how many of its points are finished or failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of points (combinations of values) in the sweep.
    pub points: usize,
    /// Number of points of the sweep whose runs have ended, including those that ended in an error.
    pub finished: usize,
    /// Number of points of the sweep whose runs ended in an error.
    pub failed: usize,
}

impl Folder {
    /// Opens the folder of a planned sweep, and creates it if necessary. Removes files that an
    /// earlier process left half-written, and keeps those of finished runs.
    ///
    /// # Errors
    /// If the folder cannot be written, it holds a shard, or another process is writing to it.
    pub fn open(path: &Path, plan: &Plan) -> Result<Folder, Diagnostics> {
        let entered = enter(path, plan.keeps_requests())?;
        Folder::whole(entered, path, &Outline::of(plan))
    }

    /// Returns the folder, already locked for writing, as that of a whole sweep rather than of a
    /// shard; writes the sweep's specification, design and checksums.
    pub(crate) fn whole(
        entered: Entered,
        path: &Path,
        outline: &Outline,
    ) -> Result<Folder, Diagnostics> {
        if shard_hash(path)?.is_some() || disk::facts(&path.join(SHARD))?.is_some() {
            let what = "holds a shard of a sweep";
            let hint = "choose another folder, or run the shard with --shard".to_string();
            return Err(Diagnostic::new(path.display().to_string(), what).hint(hint).into());
        }
        Folder::outlined(entered, path, outline, outline.runs(), outline.points.clone())
    }

    /// Writes the specification, design and checksums into a sweep's folder. `runs` are the points
    /// (index and hash) to run there; `points` are the hashes of all points whose files belong
    /// there.
    pub(crate) fn outlined(
        Entered(lock): Entered,
        path: &Path,
        outline: &Outline,
        runs: Vec<(usize, String)>,
        points: Vec<String>,
    ) -> Result<Folder, Diagnostics> {
        let Outline { text, design, requests, .. } = outline;
        replace(&path.join(SPECIFICATION), text)?;
        replace(&path.join(DESIGN), design)?;
        mark(path, SWEEP)?;
        let mut sums = vec![(SPECIFICATION, bytes_hash(text)), (DESIGN, bytes_hash(design))];
        let shard = path.join(SHARD);
        if disk::facts(&shard)?.is_some() {
            sums.push((SHARD, file_hash(&shard)?));
        }
        replace(&path.join(SUMS), listed(&sums).as_bytes())?;
        let path = path.to_path_buf();
        Ok(Folder { path, runs, points, requests: *requests, _lock: lock })
    }

    /// Returns the path of the sweep's folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the indices of the sweep's points that are still to be run, in order; with `retry`
    /// also those whose run ended in an error. A run with a missing or damaged file is made again;
    /// of several identical points, only the first is run.
    ///
    /// # Errors
    /// If a file of a point cannot be opened.
    pub fn missing(&self, retry: bool) -> Result<Vec<usize>, Diagnostics> {
        let states = self.states()?;
        let todo = |state: &State| match state {
            State::Missing | State::Damaged => true,
            State::Failed => retry,
            State::Finished => false,
        };
        Ok(states.into_iter().filter(|(_, state)| todo(state)).map(|(index, _)| index).collect())
    }

    /// Returns the indices of the sweep's points whose result files do not match their checksums.
    ///
    /// # Errors
    ///
    /// As for [`Folder::missing`].
    pub fn damaged(&self) -> Result<Vec<usize>, Diagnostics> {
        let states = self.states()?.into_iter();
        Ok(states.filter(|(_, it)| *it == State::Damaged).map(|(index, _)| index).collect())
    }

    /// Returns the index and the saved state of every run of the sweep that belongs in this folder.
    fn states(&self) -> Result<Vec<(usize, State)>, Diagnostics> {
        self.runs
            .par_iter()
            .map(|(index, hash)| Ok((*index, state(&self.path, hash, self.requests)?)))
            .collect()
    }

    /// Saves the result files of a sweep's run that another process, such as a remote worker, has
    /// made.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn keep(&self, point: &Point, made: &Made) -> Result<(), Diagnostics> {
        if let Some(requests) = &made.requests {
            write(&requests_file(&self.path, &point.hash), requests)?;
        }
        save(&self.path, &point.hash, &made.row, made.requests.as_deref().map(bytes_hash))
    }

    /// Returns how many points of the sweep, or of the shard, in this folder are finished or
    /// failed.
    ///
    /// # Errors
    /// If a file of a point cannot be opened.
    pub fn tally(&self) -> Result<Tally, Diagnostics> {
        let states = self.states()?.into_iter().map(|(_, state)| {
            let finished = matches!(state, State::Finished | State::Failed);
            [finished, state == State::Failed].map(usize::from)
        });
        let hashes = self.runs.iter().map(|(_, hash)| hash.as_str());
        let states: BTreeMap<&str, [usize; 2]> = hashes.zip(states).collect();
        let mut tally = Tally { points: self.points.len(), ..Tally::default() };
        for hash in &self.points {
            let [finished, failed] = states.get(&**hash).copied().unwrap_or_default();
            tally.finished += finished;
            tally.failed += failed;
        }
        Ok(tally)
    }

    /// Returns the results of all finished points of the sweep as a table, one row each, in the
    /// order of the sweep's design.
    ///
    /// # Errors
    /// As [`load`].
    pub fn load(&self) -> Result<RecordBatch, Diagnostics> {
        load(&self.path)
    }

    /// Returns the findings of the sweep, as tables for a person.
    ///
    /// # Errors
    /// As [`load`].
    pub fn findings(&self) -> Result<Vec<Sheet>, Diagnostics> {
        let rows = rows(&self.path)?;
        let axes: Vec<&str> = rows.first().map(Row::axes).unwrap_or_default();
        Ok(findings::sheets(&rows, &axes))
    }
}

/// A locked sweep folder without partial files, which no other process writes to.
pub(crate) struct Entered(File);

/// Locks the folder of a sweep, creating it if necessary.
pub(crate) fn enter(path: &Path, requests: bool) -> Result<Entered, Diagnostics> {
    for folder in [Some(POINTS), requests.then_some(REQUESTS)].into_iter().flatten() {
        let folder = path.join(folder);
        disk::create_folder(&folder).map_err(|error| unwritable(&folder, &error))?;
    }
    let lock = lock(path, SWEEP)?;
    refuse_newer(path, SWEEP)?;
    if disk::facts(&path.join(CONTENTS))?.is_some() {
        let what =
            "holds results of another command, and a folder holds results of one command only";
        let hint = "choose another folder".to_string();
        return Err(Diagnostic::new(path.display().to_string(), what).hint(hint).into());
    }
    for folder in [path.to_path_buf(), path.join(POINTS), path.join(REQUESTS)] {
        tidy(&folder, |name| {
            name.ends_with(".parquet")
                || name.ends_with(".sha256")
                || [SPECIFICATION, FORMAT_FILE, SHARD].contains(&name)
        })?;
    }
    Ok(Entered(lock))
}

/// Returns the checksum of the file `shard` of a folder as its checksums list it; `None` if they
/// list none.
pub(crate) fn shard_hash(folder: &Path) -> Result<Option<String>, Diagnostics> {
    let sums = small_file(&folder.join(SUMS))?;
    Ok(sums.and_then(|sums| listed_hash(&sums, SHARD)))
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
    if disk::facts(&design)?.is_none() {
        let what = format!("this is not the folder of a sweep: {DESIGN} is missing");
        return Err(Diagnostic::new(folder.display().to_string(), what).into());
    }
    refuse_newer(folder, SWEEP)?;
    let (sums, hash) = (small_file(&folder.join(SUMS))?, file_hash(&design)?);
    if sums.is_none_or(|sums| listed_hash(&sums, DESIGN) != Some(hash)) {
        return Err(damaged(&design));
    }
    let mut measured: BTreeMap<String, Option<Row>> = BTreeMap::new();
    let mut rows = Vec::new();
    for point in summary::read(&design)? {
        let Some(hash) = point.text(HASH) else { continue };
        if !measured.contains_key(hash) {
            let path = point_file(folder, hash);
            let row = match verified(folder, hash, false)? {
                Verified::Missing => None,
                Verified::Damaged(file) => return Err(damaged(&file)),
                Verified::Whole { .. } => Some(summary::read(&path)?),
            };
            measured.insert(hash.into(), row.and_then(|rows| rows.into_iter().next()));
        }
        rows.extend(measured[hash].as_ref().map(|row| point.with(row)));
    }
    Ok(rows)
}

/// Result of checking the files of a sweep's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// Number of different points in the design of the sweep.
    pub points: usize,
    /// Number of different points of the sweep whose result files are all present and undamaged.
    pub whole: usize,
    /// Damaged files, each with the checksum file of its point. Removing the checksum file makes
    /// the point run again.
    pub damaged: Vec<(PathBuf, Option<PathBuf>)>,
    /// Number of points with undamaged result files that the sweep in this folder no longer
    /// contains, but an earlier version of its specification did.
    pub earlier: usize,
    /// Damaged or incomplete result files of points that are not in the sweep's design; points with
    /// undamaged ones are counted in `earlier`.
    pub strays: Vec<PathBuf>,
    /// Files and folders that Fowler did not write but that are in the folder of the sweep's result
    /// files.
    pub others: Vec<PathBuf>,
    /// Files of the sweep itself (specification, design, checksums), damaged or not.
    pub own: Vec<PathBuf>,
}

/// Compares every file of a sweep with its checksum; `None` if the folder is not that of a sweep.
///
/// # Errors
/// If a newer version wrote the folder, or a file in it cannot be read.
pub fn examine(folder: &Path) -> Result<Option<Examined>, Diagnostics> {
    let (design, specification) = (folder.join(DESIGN), folder.join(SPECIFICATION));
    if disk::facts(&design)?.is_none() && disk::facts(&folder.join(SUMS))?.is_none() {
        return Ok(None);
    }
    refuse_newer(folder, SWEEP)?;
    let own = [SPECIFICATION, DESIGN, SUMS, FORMAT_FILE, LOCK, SHARD].map(|it| folder.join(it));
    let mut found = Examined { own: own.into(), ..Examined::default() };
    let format = folder.join(FORMAT_FILE);
    if small_file(&format)?.is_none_or(|text| format_of(&text, SWEEP).is_none()) {
        found.damaged.push((format, None));
    }
    // A pipe in the place of the lock would keep every run of the sweep out.
    let lock = folder.join(LOCK);
    if disk::no_file(&lock)?.is_some() {
        found.damaged.push((lock, None));
    }
    let sums = small_file(&folder.join(SUMS))?.unwrap_or_default();
    for (path, name) in [(&specification, SPECIFICATION), (&design, DESIGN)] {
        if disk::facts(path)?.is_none() || listed_hash(&sums, name) != Some(file_hash(path)?) {
            found.damaged.push((path.clone(), None));
        }
    }
    if found.damaged.iter().any(|(path, _)| *path == design) {
        return Ok(Some(found));
    }
    let rows = summary::read(&design)?;
    let hashes: BTreeSet<&str> = rows.iter().filter_map(|point| point.text(HASH)).collect();
    found.points = hashes.len();
    strays(folder, &hashes, &mut found)?;
    for hash in hashes {
        let sums = sums_file(folder, hash);
        let no_files = no_files(folder, hash)?;
        if !no_files.is_empty() {
            found.damaged.extend(no_files.into_iter().map(|path| (path, Some(sums.clone()))));
            continue;
        }
        let damaged = match verified(folder, hash, true)? {
            // The checksums of a point are written last: without them the point is not finished.
            Verified::Missing => disk::facts(&sums)?.map(|_| sums.clone()),
            // Files of another point are whole, too.
            Verified::Whole { .. } => {
                (row_state(folder, hash)? == State::Damaged).then(|| point_file(folder, hash))
            }
            Verified::Damaged(file) => Some(file),
        };
        match damaged {
            Some(file) => found.damaged.push((file, Some(sums))),
            None => found.whole += usize::from(disk::facts(&sums)?.is_some()),
        }
    }
    Ok(Some(found))
}

/// Finds files in the folders of the points that belong to no point of the design. Points of an
/// earlier design stay where they are: that design may come back.
fn strays(folder: &Path, hashes: &BTreeSet<&str>, found: &mut Examined) -> Result<(), Diagnostics> {
    for (name, endings) in [(POINTS, &[".parquet", ".sha256"][..]), (REQUESTS, &[".parquet"])] {
        let folder = folder.join(name);
        let entries =
            disk::if_present(disk::entries(&folder)).map_err(|error| unreadable(&folder, &error));
        for path in entries?.unwrap_or_default() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let hash = endings.iter().find_map(|ending| name.strip_suffix(ending));
            // Files that were never finished are found wherever they are.
            if is_partial(&name) || hash.is_some_and(|hash| hashes.contains(hash)) {
                continue;
            }
            let is_hash = |hash: &str| {
                hash.len() == HASH_DIGITS
                    && hash.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
            };
            match hash.is_some_and(is_hash) && path.is_file() {
                true => found.strays.push(path),
                false => found.others.push(path),
            }
        }
    }
    found.strays.sort();
    found.others.sort();
    let hash_of =
        |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut whole = BTreeSet::new();
    for hash in found.strays.iter().map(hash_of).collect::<BTreeSet<_>>() {
        let is_whole = no_files(folder, &hash)?.is_empty()
            && matches!(verified(folder, &hash, true)?, Verified::Whole { .. });
        if is_whole {
            whole.insert(hash);
        }
    }
    found.earlier = whole.len();
    found.strays.retain(|path| !whole.contains(&hash_of(path)));
    Ok(())
}

/// Returns an error for each input file of a sweep (drive, scheme, workload or trace) that the
/// sweep would overwrite, because it is the `sweep.toml` or `design.parquet` in the folder for the
/// results.
pub fn unharmed(plan: &Plan, folder: &Path) -> Diagnostics {
    let outputs: Vec<Named> =
        [SPECIFICATION, DESIGN].map(|name| ("--out".to_string(), folder.join(name))).into();
    clashes(&plan.inputs(), &outputs)
}

/// Makes one run of a sweep and returns the contents of its result files, which the caller saves;
/// `None` if it was stopped. Meanwhile the log of requests, if wanted, is in the system's folder
/// for temporary files.
///
/// # Errors
/// If those requests cannot be written there, or the machine has too little memory for the drive.
/// Errors of the point are its result.
pub fn make(plan: &Plan, index: usize, control: Control<'_>) -> Result<Option<Made>, Diagnostics> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    plan.refuse(&[index], Some(1))?;
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let name = format!("fowler-{}-{number}.parquet", std::process::id());
    let path = std::env::temp_dir().join(name);
    let wanted = plan.keeps_requests().then(|| requests::parquet(&path));
    let finished = plan.run_point(index, wanted.as_ref(), control);
    let read = disk::read(&path);
    let _absent = disk::remove(&path);
    let Some(finished) = finished? else { return Ok(None) };
    let failed = finished.result.is_err();
    // A failed point has no requests.
    let requests = match (wanted, read) {
        (Some(_), Ok(bytes)) if !failed => Some(bytes),
        (Some(_), Err(error)) if !failed => return Err(unreadable(&path, &error)),
        _ => None,
    };
    let row = summary::bytes(&summary::of_finished(plan, &finished));
    Ok(Some(Made { row, requests, failed }))
}

/// Makes the runs `todo` of a sweep on `threads` threads (`None`: one per core) and saves them in
/// the sweep's folder. Calls `step` after each run, with true if the run ended in an error.
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
        let requests = requests_file(&folder.path, &point.hash);
        let requests =
            (wanted && finished.result.is_ok()).then(|| file_hash(&requests)).transpose()?;
        save(&folder.path, &point.hash, &row, requests)?;
        step(finished.result.is_err());
        Ok(())
    };
    sweep::run(plan, todo, threads, Watch { control, requests: &file, keep: &keep })
}
