//! Shards: parts of a sweep that run anywhere, in any order, each in a folder of its own, and are
//! then merged. Any batch system can run them, because a shard needs only the specification and two
//! numbers.
//!
//! Shard i of n has every n-th run of the design, from the i-th on, so that shards take about as
//! long as each other where the last axes decide how long a point takes. The folder of a shard is
//! that of the sweep ([`store`]) with fewer points, and has the file `shard`, which names the shard
//! and its sweep. The merged folder has the bytes of the sweep as one process runs it.

use crate::point_files::{State, copy, damaged, point_file, state, verified};
use crate::store::{self, DESIGN, Folder, Outline, SHARD, SPECIFICATION, SWEEP};
use crate::summary::{self, HASH};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::disk::{self, unreadable};
use fowler_experiment::numbers::counted;
use fowler_experiment::provenance::{FINGERPRINT, VERSION, bytes_hash, file_hash};
use fowler_experiment::sealed_file::{self, Kind, Refused};
pub use fowler_experiment::shard::Shard;
use fowler_experiment::shard::ranges;
use fowler_experiment::sweep::Plan;
use fowler_experiment::sweep::store::{Verified, refuse_newer, write};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Kind and format version of the file `shard`, which says which part of a sweep a folder holds;
/// increment the version when its contents change.
const KIND: Kind = Kind { name: "shard", format: 1 };
/// Largest size of the file `shard`, which says which part of a sweep a folder holds, in bytes.
const LARGEST: u64 = 4096;

/// Contents of the file `shard`, which identifies a shard and its sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    shard: Shard,
    /// True if the sweep saves a log of the requests of every run.
    requests: bool,
    /// Version of Fowler that runs the shard, and a hash of the simulator's sources.
    version: String,
    sources: String,
    /// SHA-256 of the sweep's specification and design.
    specification: String,
    design: String,
}

impl Record {
    fn of(shard: Shard, outline: &Outline) -> Record {
        Record {
            shard,
            requests: outline.requests,
            version: VERSION.into(),
            sources: FINGERPRINT.into(),
            specification: bytes_hash(&outline.text),
            design: bytes_hash(&outline.design),
        }
    }

    /// Returns the bytes of the file `shard`, which says which part of a sweep a folder holds.
    fn bytes(&self) -> Vec<u8> {
        let text = serde_json::to_string(self).expect("text");
        sealed_file::bytes(KIND, &self.design, text.as_bytes())
    }

    /// Reads the file called `shard` in the folder of a shard (a part of a sweep), which identifies
    /// the shard. `path` is the path of that file.
    fn read(path: &Path) -> Result<Record, Refused> {
        let opened = sealed_file::inspect(path, KIND)?;
        let mut text = String::new();
        let read = opened.body.take(LARGEST).read_to_string(&mut text);
        let record = serde_json::from_str::<Record>(&text);
        match (read, record) {
            (Ok(_), Ok(record)) if record.shard.is_valid() => Ok(record),
            _ => Err(Refused::Damaged(Box::new(Diagnostic::new(
                path.display().to_string(),
                "this shard file is damaged: it is not as it was written",
            )))),
        }
    }
}

/// The shard (part of a sweep) that a folder holds, according to its file `shard`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The folder holds this shard of a sweep.
    Shard(Shard),
    /// The folder holds a shard, but this file, which identifies the shard, is missing or damaged.
    Damaged(PathBuf),
}

/// Returns the shard (part of a sweep) that a folder holds; `None` for other folders.
///
/// # Errors
///
/// If the file cannot be read, or a newer version wrote it.
pub fn found(folder: &Path) -> Result<Option<Found>, Diagnostics> {
    let (path, listed) = (folder.join(SHARD), store::shard_hash(folder)?);
    if disk::facts(&path)?.is_none() {
        return Ok(listed.map(|_| Found::Damaged(path)));
    }
    match Record::read(&path) {
        Ok(record) => {
            let whole =
                listed.is_none_or(|listed| file_hash(&path).is_ok_and(|hash| hash == listed));
            Ok(Some(if whole { Found::Shard(record.shard) } else { Found::Damaged(path) }))
        }
        Err(Refused::Damaged(_)) => Ok(Some(Found::Damaged(path))),
        Err(Refused::Other(why)) => Err((*why).into()),
    }
}

/// Opens the folder of one shard (part) of a planned sweep, and creates it if necessary. Like
/// [`Folder::open`], it keeps finished runs and removes files left half-written.
///
/// # Errors
/// As [`Folder::open`], or if the folder holds another shard or a whole sweep.
pub fn open(path: &Path, plan: &Plan, shard: Shard) -> Result<Folder, Diagnostics> {
    let entered = store::enter(path, plan.keeps_requests())?;
    let file = path.join(SHARD);
    let refused = |what: String| -> Diagnostics {
        let hint = "give every shard a folder of its own".to_string();
        Diagnostic::new(path.display().to_string(), what).hint(hint).into()
    };
    let outline = Outline::of(plan);
    let record = Record::of(shard, &outline);
    let listed = store::shard_hash(path)?;
    // A folder whose file `shard` is missing or another's may still be this shard's, by its
    // checksum.
    let is_listed = listed.as_ref().map(|listed| *listed == bytes_hash(&record.bytes()));
    let there = if disk::facts(&file)?.is_some() {
        match Record::read(&file) {
            Ok(there) if there.shard != shard && is_listed != Some(true) => {
                return Err(refused(format!("holds shard {} and not {shard}", there.shard)));
            }
            Ok(_) if is_listed == Some(false) && listed != Some(file_hash(&file)?) => {
                // The file is new here: a killed run of a changed sweep left it, or somebody put it
                // into the folder of another shard.
                if let Some(other) = listed.and_then(|it| of_another(shard, &outline, &it)) {
                    let what = format!(
                        "the folder holds shard {other}, but its file `{SHARD}` is that of shard \
                         {shard}"
                    );
                    return Err(refused(what));
                }
                None
            }
            Ok(there) => Some(there),
            // The damaged file says nothing that this shard does not know.
            Err(Refused::Damaged(_)) => None,
            Err(Refused::Other(why)) => return Err((*why).into()),
        }
    } else if is_listed == Some(false) {
        let what = format!(
            "the folder holds a shard other than {shard} of this sweep, and its file {SHARD} is \
             missing"
        );
        return Err(refused(what));
    } else if is_listed.is_none() && disk::facts(&path.join(DESIGN))?.is_some() {
        return Err(refused("holds a whole sweep".into()));
    } else {
        None
    };
    // The file `shard` is written first: from then on the folder is that of a shard, even if the
    // program is killed.
    if there.as_ref() != Some(&record) {
        write(&file, &record.bytes())?;
    }
    let runs = shard.take(&outline.runs());
    let points = runs.iter().map(|(_, hash)| hash.clone()).collect();
    Folder::outlined(entered, path, &outline, runs, points)
}

/// Returns the part (shard) of the same sweep for which the file `shard` has the checksum `hash`;
/// `None` if no other part of the sweep has it.
fn of_another(shard: Shard, outline: &Outline, hash: &str) -> Option<Shard> {
    let all = shard.all();
    let is = |it: &Shard| *it != shard && bytes_hash(&Record::of(*it, outline).bytes()) == hash;
    all.into_par_iter().find_any(is)
}

/// A folder that holds a shard (part of a sweep), and the contents of its file `shard`.
struct Held {
    folder: PathBuf,
    record: Record,
}

impl Held {
    fn refused(&self, what: String) -> Diagnostic {
        Diagnostic::new(self.folder.display().to_string(), what)
    }
}

/// Callbacks of the merge of shards, for progress and for stopping it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Flag that the caller sets to stop the merge of a sweep's shards into one folder.
    pub stop: &'a AtomicBool,
    /// Called once with the number of runs of the sweep that the merge of its shards will copy.
    pub planned: &'a (dyn Fn(usize) + Sync),
    /// Called for each run of the sweep that the merge of its shards has copied.
    pub copied: &'a (dyn Fn() + Sync),
}

/// Joins the shards in `folders` into the folder `out`, which then is as if one process had run the
/// whole sweep there. `None` if the merge was stopped: merging the same shards again copies the
/// rest.
///
/// # Errors
/// Everything that keeps the folders from being one sweep, at once: a folder without a shard,
/// shards of other specifications, versions or numbers, shards that are missing, there twice,
/// damaged or not finished. Nothing is written then. Or if `out` cannot be written.
pub fn merge(
    folders: &[PathBuf],
    out: &Path,
    watch: Watch<'_>,
) -> Result<Option<Folder>, Diagnostics> {
    let held = held(folders)?;
    one_sweep(&held)?;
    let Some(first) = held.first() else { return Ok(None) };
    let mut diagnostics = Diagnostics::default();
    held.par_iter().map(whole).collect::<Vec<_>>().into_iter().for_each(|result| {
        diagnostics.take(result);
    });
    diagnostics.or(())?;
    let outline = outline(first)?;
    let runs = outline.runs();
    let mut diagnostics = Diagnostics::default();
    let checked: Vec<_> = held.par_iter().map(|it| finished(it, &runs, watch.stop)).collect();
    for result in checked {
        diagnostics.take(result);
    }
    diagnostics.or(())?;
    if watch.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let folder = Folder::whole(store::enter(out, outline.requests)?, out, &outline)?;
    (watch.planned)(runs.len());
    let all: Vec<(&Path, String)> = held
        .iter()
        .flat_map(|it| {
            let own_runs = it.record.shard.take(&runs).into_iter();
            own_runs.map(|(_, hash)| (it.folder.as_path(), hash))
        })
        .collect();
    all.par_iter().with_max_len(1).try_for_each(|(from, hash)| {
        if watch.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        copy(from, out, hash, outline.requests)?;
        (watch.copied)();
        Ok::<(), Diagnostics>(())
    })?;
    Ok((!watch.stop.load(Ordering::Relaxed)).then_some(folder))
}

/// Reads the file `shard`, which says which part of a sweep a folder holds, in every folder to be
/// merged.
fn held(folders: &[PathBuf]) -> Result<Vec<Held>, Diagnostics> {
    let read = |folder: &PathBuf| -> Result<Held, Diagnostics> {
        refuse_newer(folder, SWEEP)?;
        let path = folder.join(SHARD);
        if disk::facts(&path)?.is_none() {
            let what =
                format!("is not the folder of a shard of a sweep: the file {SHARD} is missing");
            let expected = "a folder filled by `fowler sweep SPEC --shard i/n --out DIR`";
            let diagnostic = Diagnostic::new(folder.display().to_string(), what);
            return Err(diagnostic.expected(expected).into());
        }
        let listed = store::shard_hash(folder)?;
        match Record::read(&path) {
            Ok(_) if listed.is_some_and(|it| file_hash(&path).is_ok_and(|hash| hash != it)) => {
                Err(damaged_in_shard(&path))
            }
            Ok(record) => Ok(Held { folder: folder.clone(), record }),
            Err(Refused::Damaged(why)) => {
                let hint = "run the same shard again: it recreates the file".to_string();
                Err(why.hint(hint).into())
            }
            Err(Refused::Other(why)) => Err((*why).into()),
        }
    };
    let mut diagnostics = Diagnostics::default();
    let all: Vec<_> = folders.par_iter().map(read).collect();
    let held = all.into_iter().filter_map(|result| diagnostics.take(result)).collect();
    diagnostics.or(held)
}

/// Checks that the shards to be merged are those of one sweep, each exactly once.
fn one_sweep(held: &[Held]) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let Some(first) = held.first() else { return Ok(()) };
    let (first_record, name) = (&first.record, first.folder.display());
    let mut numbers: BTreeMap<u64, &Held> = BTreeMap::new();
    for one in held {
        let Record { shard, requests: _, version, sources, specification, design } = &one.record;
        if *sources != first_record.sources {
            let [one_of, that] =
                [(version, sources), (&first_record.version, &first_record.sources)].map(
                    |(version, sources)| format!("{} ({})", printable(version), short(sources)),
                );
            let what = format!("the shard was run by Fowler {one_of}, and {name} by {that}");
            let hint = "run all shards with one version".to_string();
            diagnostics.push(one.refused(what).hint(hint));
        } else if *specification != first_record.specification {
            diagnostics.push(
                one.refused(format!("the shard has another sweep specification than {name}")),
            );
        } else if *design != first_record.design {
            let what = format!("has other points than {name}");
            let hint = "the drives, traces or schemes that the specification names have changed";
            diagnostics.push(one.refused(what).hint(hint.to_string()));
        } else if shard.of() != first_record.shard.of() {
            diagnostics.push(
                one.refused(format!("is shard {shard}, and {name} is {}", first_record.shard)),
            );
        } else if let Some(other) = numbers.insert(shard.number(), one) {
            let other = other.folder.display();
            diagnostics.push(one.refused(format!("is shard {shard}, as is {other}")));
        }
    }
    let missing: Vec<u64> =
        (1..=first_record.shard.of()).filter(|it| !numbers.contains_key(it)).collect();
    // Shards that are refused are not missing as well.
    if !missing.is_empty() && diagnostics.0.is_empty() {
        let (count, of) = (counted(missing.len() as u64, "shard"), first_record.shard.of());
        let verb = if missing.len() == 1 { "is" } else { "are" };
        let what = format!("{count} of {of} {verb} missing: {}", ranges(&missing));
        diagnostics.push(
            Diagnostic::of(what).expected(format!("{of} folders, one for each shard of the sweep")),
        );
    }
    diagnostics.or(())
}

fn short(hash: &str) -> String {
    printable(hash.get(..8).unwrap_or(hash))
}

/// Returns the sweep's specification, design and list of runs, read from the folder of its first
/// shard.
fn outline(first: &Held) -> Result<Outline, Diagnostics> {
    let read = |name: &str, sum: &str| -> Result<Vec<u8>, Diagnostics> {
        let path = first.folder.join(name);
        let bytes = disk::read(&path).map_err(|error| unreadable(&path, &error))?;
        if bytes_hash(&bytes) == sum { Ok(bytes) } else { Err(damaged(&path)) }
    };
    let Record { specification, design, requests, .. } = &first.record;
    let [text, design] =
        [(SPECIFICATION, specification), (DESIGN, design)].map(|(name, sum)| read(name, sum));
    let (text, design) = (text?, design?);
    let rows = summary::read(&first.folder.join(DESIGN))?;
    let points = rows.iter().filter_map(|row| row.text(HASH)).map(str::to_string).collect();
    Ok(Outline { text, design, points, requests: *requests })
}

/// Checks that the specification and the list of points in a shard's folder are those whose hashes
/// the shard's file `shard` states. A mismatch means that the file was damaged or replaced.
fn whole(held: &Held) -> Result<(), Diagnostics> {
    let Record { specification, design, .. } = &held.record;
    let mut diagnostics = Diagnostics::default();
    for (name, sum) in [(SPECIFICATION, specification), (DESIGN, design)] {
        let path = held.folder.join(name);
        let same = file_hash(&path).map(|hash| hash == *sum);
        if diagnostics.take(same) == Some(false) {
            diagnostics.0.extend(damaged_in_shard(&path).0);
        }
    }
    diagnostics.or(())
}

/// Returns the error that a file in the folder of a shard is damaged, with the hint that running
/// the shard again (not the whole sweep) recreates the file.
fn damaged_in_shard(path: &Path) -> Diagnostics {
    let mut found = damaged(path);
    for diagnostic in &mut found.0 {
        diagnostic.hint = Some("run the same shard again: it recreates the file".into());
    }
    found
}

/// Checks that every run of a shard is finished and undamaged.
fn finished(held: &Held, runs: &[(usize, String)], stop: &AtomicBool) -> Result<(), Diagnostics> {
    let (shard, requests) = (held.record.shard, held.record.requests);
    let mut diagnostics = Diagnostics::default();
    let runs = shard.take(runs);
    let mut missing: Vec<usize> = Vec::new();
    for (index, hash) in &runs {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        match state(&held.folder, hash, requests)? {
            State::Finished | State::Failed => {}
            State::Missing => missing.push(*index),
            State::Damaged => {
                let file = match verified(&held.folder, hash, requests)? {
                    Verified::Damaged(file) => file,
                    _ => point_file(&held.folder, hash),
                };
                diagnostics.0.extend(damaged_in_shard(&file).0);
            }
        }
    }
    if let Some(point) = missing.first() {
        let (unfinished, of) = (missing.len(), counted(runs.len() as u64, "run"));
        let verb = if unfinished == 1 { "is" } else { "are" };
        let what = format!(
            "is the folder of shard {shard}, of whose {of} {unfinished} {verb} not finished; the \
             first of these belongs to point {point} of the sweep"
        );
        let hint = "run the same shard again: it resumes".to_string();
        diagnostics.push(held.refused(what).hint(hint));
    }
    diagnostics.or(())
}
