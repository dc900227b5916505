//! Runs the jobs of a study in parallel and saves each result as soon as it is finished, so that a
//! stopped study resumes where it stopped. Results are typed; they are only read back here.

use crate::repetition::Repetition;
use crate::run_summary::RunSummary;
use crate::studies::{ImageCache, fan_out};
use fowler_experiment::atomic_file::{AtomicFile, unwritable};
use fowler_experiment::common_speed::{TestBed, common_speed};
use fowler_experiment::device;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::disk::{self, unreadable};
use fowler_experiment::outcome::Ending;
use fowler_experiment::progress::Part;
use fowler_experiment::provenance::{VERSION, text_hash};
use fowler_experiment::run::{Run, RunSpec};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::{Control, WorkloadSpec};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A progress report of a study.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// This many more runs were scheduled.
    Planned(usize),
    /// A run in progress advanced by this share of itself.
    Advanced(f64),
    /// A run was finished, which advanced it by this share: all shares of it add up to 1.
    Finished(f64),
    /// A run of an earlier call was found to be finished.
    Found,
}

/// Watches a study and may stop it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set by the caller to stop; notified of requests.
    pub control: Control<'a>,
    /// Called for every step.
    pub step: &'a (dyn Fn(Step) + Sync),
}

/// The work of a job: returns its result as JSON, or `None` if it was stopped.
type Work<'a> =
    dyn Fn(Repetition, Control<'_>) -> Result<Option<Value>, Diagnostics> + Send + Sync + 'a;

/// Everything that the result of a repeated job depends on besides the simulator.
type Inputs<'a> = dyn Fn(Repetition) -> Result<String, Diagnostics> + Send + Sync + 'a;

/// A unit of work whose result is a `T`.
pub(crate) struct Job<'a, T> {
    name: String,
    /// The identity of the study's own job.
    identity: String,
    /// `None` if repetitions of the study share one result.
    repeated: Option<Box<Inputs<'a>>>,
    work: Box<Work<'a>>,
    result: PhantomData<fn() -> T>,
}

impl<'a, T> Job<'a, T> {
    /// Returns a job whose result all repetitions of the study share. `inputs` is everything its
    /// result depends on besides the simulator. The work returns `None` if it was stopped.
    pub fn new(
        name: impl Into<String>,
        inputs: &str,
        work: impl Fn(Control<'_>) -> Result<Option<T>, Diagnostics> + Send + Sync + 'a,
    ) -> Job<'a, T>
    where
        T: Serialize,
    {
        Job::of_json(name, inputs, move |control| {
            let result = work(control)?;
            Ok(result.map(|it| serde_json::to_value(it).expect("numbers, lists and names")))
        })
    }

    /// Like [`Job::new`], for a file that holds more than is read from it.
    pub fn of_json(
        name: impl Into<String>,
        inputs: &str,
        work: impl Fn(Control<'_>) -> Result<Option<Value>, Diagnostics> + Send + Sync + 'a,
    ) -> Job<'a, T> {
        Job {
            name: name.into(),
            identity: text_hash(inputs),
            repeated: None,
            work: Box::new(move |_, control| work(control)),
            result: PhantomData,
        }
    }

    /// Returns a job that every repetition of the study does anew; its file holds more than is read
    /// from it. `inputs` and `work` are told which repetition it is.
    ///
    /// # Errors
    /// Those of `inputs`.
    pub fn repeated(
        name: impl Into<String>,
        inputs: impl Fn(Repetition) -> Result<String, Diagnostics> + Send + Sync + 'a,
        work: impl Fn(Repetition, Control<'_>) -> Result<Option<Value>, Diagnostics> + Send + Sync + 'a,
    ) -> Result<Job<'a, T>, Diagnostics> {
        Ok(Job {
            name: name.into(),
            identity: text_hash(&inputs(Repetition::Original)?),
            repeated: Some(Box::new(inputs)),
            work: Box::new(work),
            result: PhantomData,
        })
    }
}

/// The factor by which a workload's times are divided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Speed {
    pub factor: f64,
    /// The share of idle time that it leaves.
    pub idle: f64,
    /// Runs that the search took.
    pub runs: usize,
}

impl<'a> Job<'a, Speed> {
    /// The factor by which a workload's times are divided so that `beds` idle for a share `idle` of
    /// the time on average.
    pub fn speed(
        name: impl Into<String>,
        beds: &'a [TestBed],
        workload: WorkloadSpec,
        limit: Option<u64>,
        idle: f64,
    ) -> Result<Job<'a, Speed>, Diagnostics> {
        let drives: Vec<&str> = beds.iter().map(TestBed::hash).collect();
        let inputs = format!("{drives:?} {} {limit:?} {idle}", workload.identity()?);
        Ok(Job::new(name, &inputs, move |control| {
            let found = common_speed(beds, &workload, idle, 1.0, control)?;
            let search = found.search.filter(|_| !control.stopped());
            let factor = found.factor;
            Ok(search.map(|it| Speed { factor, idle: it.reached, runs: it.runs }))
        }))
    }
}

impl<'a> Job<'a, RunSummary> {
    /// The run of one drive under one workload; the file is its whole summary, without what depends
    /// on the machine's clock. Repetitions of the study run it with another seed or length.
    pub fn run(
        name: impl Into<String>,
        spec: RunSpec,
        images: &'a ImageCache,
    ) -> Result<Job<'a, RunSummary>, Diagnostics> {
        let planned = spec.clone();
        Job::repeated(
            name,
            move |repetition| inputs(&repetition.of(&planned)?),
            move |repetition, control| summary(&repetition.of(&spec)?, images, control),
        )
    }
}

/// Everything that a run's result depends on.
fn inputs(spec: &RunSpec) -> Result<String, Diagnostics> {
    let scheme = spec.scheme.as_deref().map_or(Ok(Scheme::none()), Scheme::load)?;
    let drive = device::resolve(&spec.device.source()?, &scheme, &spec.device)?;
    let workload = spec.workload.identity()?;
    Ok(format!("{} {workload} {:?} {:?}", drive.hash, spec.replay_speed, spec.limit))
}

fn summary(
    spec: &RunSpec,
    images: &ImageCache,
    control: Control<'_>,
) -> Result<Option<Value>, Diagnostics> {
    let outcome = match Run::new(spec, control).images(images).outcome() {
        Ok(outcome) => outcome,
        // It was stopped before its first request.
        Err(_) if control.stopped() => return Ok(None),
        Err(diagnostics) => return Err(diagnostics),
    };
    match &outcome.ending {
        Ending::Complete => {}
        Ending::Stopped => return Ok(None),
        Ending::Failed(diagnostics) => return Err(diagnostics.clone()),
    }
    if !outcome.laws().hold() {
        let what =
            format!("a run violates an invariant; this is a bug in Fowler: {:?}", outcome.laws());
        return Err(Diagnostic::new(outcome.workload.name, what).into());
    }
    Ok(Some(outcome.reproducible_json()))
}

/// A hash of the sources that simulate, and of the studies': work of other sources is done again.
const FINGERPRINT: &str = env!("FOWLER_STUDIES_FINGERPRINT");

/// Where finished work is saved.
#[derive(Clone)]
pub(crate) struct RunFolder<'a> {
    folder: PathBuf,
    repetition: Repetition,
    watch: Watch<'a>,
    /// The files that were damaged and have been replaced.
    damaged: Arc<Mutex<Vec<PathBuf>>>,
}

/// The results of jobs by their names.
pub(crate) type Results<T> = BTreeMap<String, T>;

impl<'a> RunFolder<'a> {
    /// Runs that are saved in `folder`.
    pub fn open(folder: &Path, watch: Watch<'a>) -> Result<RunFolder<'a>, Diagnostics> {
        disk::create_folder(folder).map_err(|error| unwritable(folder, &error))?;
        let repetition = Repetition::Original;
        Ok(RunFolder { folder: folder.to_path_buf(), repetition, watch, damaged: Arc::default() })
    }

    /// Returns a warning for every file that was damaged and has been replaced.
    pub fn warnings(&self) -> Vec<String> {
        let mut damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner).clone();
        damaged.sort();
        let one =
            |path: &PathBuf| format!("{} was damaged; its run was done again", path.display());
        damaged.iter().map(one).collect()
    }

    /// Returns the same folder for a repetition of the study.
    ///
    /// # Errors
    /// If a folder for its runs cannot be created.
    pub fn repeated(&self, repetition: Repetition) -> Result<RunFolder<'a>, Diagnostics> {
        let folder = self.folder.join(repetition.folder());
        disk::create_folder(&folder).map_err(|error| unwritable(&folder, &error))?;
        Ok(RunFolder { repetition, ..self.clone() })
    }

    /// Returns which repetition of the study runs here.
    pub fn repetition(&self) -> Repetition {
        self.repetition
    }

    /// Returns what stops the study.
    pub fn control(&self) -> Control<'a> {
        self.watch.control
    }

    /// Does `jobs`, or takes from the folder what an earlier call of the same simulator did;
    /// nothing if it was stopped meanwhile.
    pub fn results<T>(&self, jobs: Vec<Job<'_, T>>) -> Result<Option<Results<T>>, Diagnostics>
    where
        T: DeserializeOwned + Send,
    {
        (self.watch.step)(Step::Planned(jobs.len()));
        let done =
            fan_out::each(&jobs, |job| Ok(self.done(job)?.map(|value| (job.name.clone(), value))));
        let mut diagnostics = Diagnostics::default();
        let done: Vec<_> = done.into_iter().filter_map(|one| diagnostics.take(one)).collect();
        diagnostics.unique().or(done.into_iter().collect())
    }

    /// The result of the only job of its kind.
    pub fn result<T>(&self, job: Job<'_, T>) -> Result<Option<T>, Diagnostics>
    where
        T: DeserializeOwned + Send,
    {
        Ok(self.results(vec![job])?.and_then(|mut results| Some(results.pop_first()?.1)))
    }

    fn done<T: DeserializeOwned>(&self, job: &Job<'_, T>) -> Result<Option<T>, Diagnostics> {
        let Watch { control, step } = self.watch;
        if control.stopped() {
            return Ok(None);
        }
        let (folder, identity) = match &job.repeated {
            Some(inputs) if !self.repetition.is_original() => {
                (self.folder.join(self.repetition.folder()), text_hash(&inputs(self.repetition)?))
            }
            _ => (self.folder.clone(), job.identity.clone()),
        };
        let path = folder.join(format!("{}.json", file_name(&job.name)));
        let identity = format!("{FINGERPRINT} {identity}");
        let damaged = match saved(&path, &identity)? {
            Saved::Found(result) => {
                step(Step::Found);
                return Ok(Some(result));
            }
            Saved::Damaged => true,
            Saved::Missing => false,
        };
        let part = Part::default();
        let follow = |progress| {
            step(Step::Advanced(part.advanced(progress)));
            (control.progress)(progress);
        };
        let result = match (job.work)(self.repetition, Control { progress: &follow, ..control }) {
            Ok(Some(result)) => result,
            Ok(None) => return Ok(None),
            // Whatever cannot be finished because it was stopped is not an error.
            Err(_) if control.stopped() => return Ok(None),
            Err(diagnostics) => return Err(diagnostics),
        };
        save(&path, &identity, &result)?;
        if damaged {
            let mut all = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(path.clone());
        }
        let result = read(result, &path)?;
        step(Step::Finished(part.rest()));
        Ok(Some(result))
    }
}

/// What a file of results holds.
enum Saved<T> {
    /// There is no file, or it is that of other inputs or of another simulator.
    Missing,
    /// It is not what was written.
    Damaged,
    Found(T),
}

/// The format of the files. A change of what they hold needs the next number.
const FORMAT: u64 = 1;
/// The most bytes of a file. The summary of a run has a few thousand.
const LARGEST: u64 = 1 << 28;

/// Reads a file of results.
///
/// # Errors
/// If it cannot be read, a newer version wrote it, or its result does not fit the type.
fn saved<T: DeserializeOwned>(path: &Path, identity: &str) -> Result<Saved<T>, Diagnostics> {
    let Some(bytes) = bytes_of(path)? else { return Ok(Saved::Missing) };
    let Ok(mut file) = serde_json::from_slice::<Value>(&bytes) else { return Ok(Saved::Damaged) };
    // The checksum comes first: in a damaged file, nothing that it says is true.
    if !is_whole(path, &file) {
        return Ok(Saved::Damaged);
    }
    if let Some(format) = file["format"].as_u64().filter(|format| *format > FORMAT) {
        let writer = file["version"].as_str().map(printable).unwrap_or_default();
        let what = format!(
            "was written by Fowler {writer} in format {format}; this is Fowler {VERSION}, which reads format {FORMAT}"
        );
        return Err(Diagnostic::new(path.display().to_string(), what)
            .hint("use the newer version, or another folder".to_string())
            .into());
    }
    if file["identity"] != identity {
        return Ok(Saved::Missing);
    }
    read(file["result"].take(), path).map(Saved::Found)
}

/// Reads a saved run and returns its result as its type holds it; `None` if the file is damaged or
/// that of another run. For tests of damaged files.
///
/// # Errors
/// If a newer version wrote it, or its result is not that of a run.
#[doc(hidden)]
pub fn reread(path: &Path, identity: &str) -> Result<Option<Value>, Diagnostics> {
    Ok(match saved::<RunSummary>(path, identity)? {
        Saved::Found(run) => Some(serde_json::to_value(run).expect("numbers and names")),
        Saved::Missing | Saved::Damaged => None,
    })
}

/// Returns the bytes of a file of results; `None` if there is none.
fn bytes_of(path: &Path) -> Result<Option<Vec<u8>>, Diagnostics> {
    let read = || {
        let mut bytes = Vec::new();
        disk::File::open_stored(path)?.take(LARGEST).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    disk::if_present(read()).map_err(|error| unreadable(path, &error))
}

/// Returns the files of finished runs below the folder of a study, each with whether it is what was
/// written. Looks into its folders `runs` and `runs-of-N`, and below.
///
/// # Errors
/// If a folder cannot be read.
pub fn examine(folder: &Path) -> Result<Vec<(PathBuf, bool)>, Diagnostics> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = entries(folder)?;
    folders.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_dir() && (name == "runs" || name.starts_with("runs-of-"))
    });
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            let is_run = path.extension().is_some_and(|it| it == "json");
            if is_run && disk::no_file(&path)?.is_some() {
                found.push((path, false));
            } else if path.is_dir() {
                folders.push(path);
            } else if is_run {
                let bytes = bytes_of(&path)?.unwrap_or_default();
                let file = serde_json::from_slice::<Value>(&bytes).unwrap_or_default();
                let whole = is_whole(&path, &file);
                found.push((path, whole));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Diagnostics> {
    disk::entries(folder).map_err(|error| unreadable(folder, &error))
}

/// Whether a file is what was written there. It holds its own name, as another may have got it.
fn is_whole(path: &Path, file: &Value) -> bool {
    !file.is_null() && file["name"] == name_in(path) && file["checksum"] == checksum(file)
}

/// The name of a file, as it is in the file.
fn name_in(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The checksum of everything else in a file.
fn checksum(file: &Value) -> String {
    let all = ["format", "version", "name", "identity", "result"].map(|part| &file[part]);
    text_hash(&serde_json::to_string(&all).expect("JSON"))
}

/// A result as its type.
fn read<T: DeserializeOwned>(result: Value, path: &Path) -> Result<T, Diagnostics> {
    let failed = |error: serde_json::Error| {
        let what = format!("a result cannot be read back; this is a bug in Fowler: {error}");
        Diagnostic::new(path.display().to_string(), what).into()
    };
    serde_json::from_value(result).map_err(failed)
}

fn save(path: &Path, identity: &str, result: &Value) -> Result<(), Diagnostics> {
    let mut file = json!({
        "format": FORMAT, "version": VERSION, "name": name_in(path), "identity": identity,
        "result": result
    });
    file["checksum"] = checksum(&file).into();
    let text = format!("{file:#}\n");
    let mut file = AtomicFile::create_stored(path)?;
    file.write_all(text.as_bytes()).map_err(|error| unwritable(path, &error))?;
    file.finish()
}

/// A name as that of a file.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "+-_.".contains(c) { c } else { '_' }).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Does a job that is stopped at its first report of progress, which is usually that its drive
    /// is preconditioned.
    pub(crate) fn stopped_midway<T: DeserializeOwned + Send>(job: Job<'_, T>) -> Option<T> {
        let name = format!("fowler-stopped-{}-{}", file_name(&job.name), std::process::id());
        let folder = std::env::temp_dir().join(name);
        let stop = AtomicBool::new(false);
        let control = Control { stop: &stop, progress: &|_| stop.store(true, Ordering::Relaxed) };
        let runs = RunFolder::open(&folder, Watch { control, step: &|_| () }).unwrap();
        let result = runs.result(job).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is saved");
        fs::remove_dir_all(&folder).unwrap();
        result
    }
    use fowler_experiment::progress::Progress;
    use std::fs;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[test]
    fn what_is_finished_is_not_done_again_and_what_changed_is() {
        let folder = std::env::temp_dir().join(format!("fowler-study-{}", std::process::id()));
        let stop = AtomicBool::new(false);
        let control = Control { stop: &stop, progress: &|_| () };
        let runs = RunFolder::open(&folder, Watch { control, step: &|_| () }).unwrap();
        let worked = AtomicUsize::new(0);
        let job = |name: &str, inputs: &str| {
            Job::new(name, inputs, |_| {
                worked.fetch_add(1, Ordering::Relaxed);
                Ok(Some(vec![1.5]))
            })
        };
        let first = runs.results(vec![job("a/b", "1"), job("c", "1")]).unwrap().unwrap();
        let again = runs.results(vec![job("a/b", "1"), job("c", "1")]).unwrap().unwrap();
        assert_eq!((first, worked.load(Ordering::Relaxed)), (again, 2));
        runs.results(vec![job("c", "2")]).unwrap();
        assert_eq!(worked.load(Ordering::Relaxed), 3);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(runs.results(vec![job("c", "2"), job("d", "1")]).unwrap(), None);
        assert_eq!(worked.load(Ordering::Relaxed), 3);
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Nothing but white space, which JSON does not count, may change unnoticed.
    #[test]
    fn no_damage_goes_unnoticed() {
        let folder = std::env::temp_dir().join(format!("fowler-flipped-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("run.json");
        save(&path, "this run", &json!({ "requests": 7, "mean": [1.5] })).unwrap();
        let whole = fs::read(&path).unwrap();
        assert!(matches!(saved::<Value>(&path, "this run"), Ok(Saved::Found(_))));
        for (at, bit) in (0..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            fs::write(&path, &bytes).unwrap();
            let damaged = matches!(saved::<Value>(&path, "this run"), Ok(Saved::Damaged));
            assert!(damaged, "byte {at}: {}", String::from_utf8_lossy(&bytes));
        }
        fs::write(folder.join("other.json"), &whole).unwrap();
        let other = saved::<Value>(&folder.join("other.json"), "this run");
        assert!(matches!(other, Ok(Saved::Damaged)), "the file of another run");
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Each operation on the files fails once: the study says so, loses nothing, and leaves nothing
    /// half-written.
    #[test]
    fn a_disk_that_fails_loses_no_result() {
        use fowler_experiment::disk::Operation;
        static FAILS: Mutex<(usize, Vec<Operation>)> = Mutex::new((usize::MAX, Vec::new()));
        let folder = std::env::temp_dir().join(format!("fowler-failing-{}", std::process::id()));
        let ours = folder.clone();
        disk::observe(move |operation| {
            if operation.path().starts_with(&ours) {
                let mut fails = FAILS.lock().unwrap();
                fails.1.push(operation.clone());
                if fails.1.len() - 1 == fails.0 {
                    return Err(std::io::Error::from_raw_os_error(5));
                }
            }
            Ok(usize::MAX)
        });
        let stop = AtomicBool::new(false);
        let watch = Watch { control: Control { stop: &stop, progress: &|_| () }, step: &|_| () };
        let path = folder.join("a.json");
        // Saves a result, and reads it.
        let study = |fails: usize| {
            *FAILS.lock().unwrap() = (fails, Vec::new());
            let job = || Job::<Vec<f64>>::new("a", "1", |_| Ok(Some(vec![1.5])));
            let runs = RunFolder::open(&folder, watch)?;
            runs.result(job())?;
            runs.result(job())
        };
        assert_eq!(study(usize::MAX).unwrap(), Some(vec![1.5]));
        let (operations, whole) = (FAILS.lock().unwrap().1.len(), fs::read(&path).unwrap());
        assert!(operations > 8, "{operations} operations: too little is tested");
        for fails in 0..operations {
            let _absent = fs::remove_dir_all(&folder);
            let wrong = study(fails).unwrap_err().to_string();
            let operation = format!("{fails}: {:?}", FAILS.lock().unwrap().1[fails]);
            assert!(wrong.contains(&*folder.to_string_lossy()), "{operation}: {wrong}");
            assert!(fs::read(&path).is_ok_and(|it| it == whole) || !path.exists(), "{operation}");
            assert_eq!(study(usize::MAX).unwrap(), Some(vec![1.5]), "{operation}");
            assert_eq!(fs::read(&path).unwrap(), whole, "{operation}");
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "{operation}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Flips, cuts and swaps of a saved result: it is done again, and the folder says so.
    #[test]
    fn a_damaged_result_is_done_again() {
        let folder = std::env::temp_dir().join(format!("fowler-damaged-{}", std::process::id()));
        let stop = AtomicBool::new(false);
        let control = Control { stop: &stop, progress: &|_| () };
        let open = || RunFolder::open(&folder, Watch { control, step: &|_| () }).unwrap();
        let job = |name: &str| Job::new(name, name, |_| Ok(Some(vec![1.5, 2.25, 1e-9])));
        open().results(vec![job("a"), job("b")]).unwrap();
        let path = folder.join("a.json");
        let whole = fs::read(&path).unwrap();
        let other = fs::read(folder.join("b.json")).unwrap();
        let mut found_whole = 0;
        for at in 0..whole.len() {
            for bit in [at % 8, (at + 5) % 8] {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                fs::write(&path, &bytes).unwrap();
                let runs = open();
                match runs.results(vec![job("a")]) {
                    Ok(results) => assert_eq!(results.unwrap()["a"], [1.5, 2.25, 1e-9]),
                    Err(newer) => assert!(newer.to_string().contains("format"), "{newer}"),
                }
                found_whole += usize::from(runs.warnings().is_empty());
            }
        }
        // White space, the version of Fowler, and the number of the format do not matter.
        assert!(found_whole < whole.len(), "{found_whole} of {} flips", 2 * whole.len());
        for bytes in [&whole[..whole.len() / 2], &[], &[0; 512]] {
            fs::write(&path, bytes).unwrap();
            let runs = open();
            assert_eq!(runs.results(vec![job("a")]).unwrap().unwrap()["a"], [1.5, 2.25, 1e-9]);
            assert_eq!(runs.warnings().len(), 1);
        }
        fs::write(&path, other).unwrap();
        assert_eq!(open().results(vec![job("a")]).unwrap().unwrap()["a"], [1.5, 2.25, 1e-9]);
        let mut newer: Value = serde_json::from_slice(&whole).unwrap();
        newer["format"] = 2.into();
        newer["checksum"] = checksum(&newer).into();
        fs::write(&path, newer.to_string()).unwrap();
        let why = open().results(vec![job("a")]).unwrap_err().to_string();
        assert!(why.contains("in format 2; this is Fowler"), "{why}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn runs_in_progress_report_shares_that_add_up_to_one_each() {
        let folder = std::env::temp_dir().join(format!("fowler-shares-{}", std::process::id()));
        let (stop, done) = (AtomicBool::new(false), Mutex::new((0, Vec::new())));
        let step = |step| {
            let (planned, shares) = &mut *done.lock().unwrap();
            match step {
                Step::Planned(more) => *planned += more,
                Step::Advanced(share) | Step::Finished(share) => shares.push(share),
                Step::Found => shares.push(1.0),
            }
        };
        let control = Control { stop: &stop, progress: &|_| () };
        let runs = RunFolder::open(&folder, Watch { control, step: &step }).unwrap();
        let job = || {
            Job::new("a", "1", |control: Control<'_>| {
                for _ in 0..3 {
                    let step = Progress::Served { requests: 1, of_a_part: 0.25 };
                    (control.progress)(step);
                }
                Ok(Some(1.5))
            })
        };
        assert_eq!(runs.result(job()).unwrap(), Some(1.5));
        // It was saved: it counts at once.
        assert_eq!(runs.result(job()).unwrap(), Some(1.5));
        assert_eq!(*done.lock().unwrap(), (2, vec![0.25, 0.25, 0.25, 0.25, 1.0]));
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Whatever a job is at when it is stopped, it ends without a result and without an error.
    #[test]
    fn a_job_that_is_stopped_is_no_error() {
        let fails = Job::<f64>::new("fails", "1", |control: Control<'_>| {
            (control.progress)(Progress::Preconditioning(1.0));
            Err(Diagnostic::new("a", "cannot be finished").into())
        });
        assert_eq!(stopped_midway(fails), None);
    }

    #[test]
    fn a_repetition_does_anew_what_it_changes_and_shares_the_rest() {
        let folder = std::env::temp_dir().join(format!("fowler-repeated-{}", std::process::id()));
        let stop = AtomicBool::new(false);
        let control = Control { stop: &stop, progress: &|_| () };
        let runs = RunFolder::open(&folder, Watch { control, step: &|_| () }).unwrap();
        let worked = AtomicUsize::new(0);
        let jobs = || {
            let shared = Job::new("shared", "1", |_| {
                worked.fetch_add(1, Ordering::Relaxed);
                Ok(Some("once".to_string()))
            });
            let anew = Job::repeated(
                "anew",
                |repetition| Ok(repetition.to_string()),
                |repetition, _| {
                    worked.fetch_add(1, Ordering::Relaxed);
                    Ok(Some(json!(repetition.to_string())))
                },
            );
            vec![shared, anew.unwrap()]
        };
        let of = |runs: &RunFolder<'_>| runs.results(jobs()).unwrap().unwrap()["anew"].clone();
        let seeded = runs.repeated(Repetition::Seed(7)).unwrap();
        for _ in 0..2 {
            assert_eq!([of(&runs), of(&seeded)], ["the study itself", "seed 7"]);
            assert_eq!(worked.load(Ordering::Relaxed), 3);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
