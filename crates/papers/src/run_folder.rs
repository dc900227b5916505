//! Executes the jobs of a study in parallel and saves each result as soon as it is finished, so
//! that a stopped study resumes where it stopped. The folder has the format of a sweep's folder:
//! see [`store`]. The files of a job are `NAME.json` and `NAME.sha256`.
//!
//! 1. The folder is opened by one process at a time. A folder written by a newer version of Fowler
//!    is refused; files left by an interrupted process are removed.
//! 2. For each job, a saved result is taken if its checksum is right and if it was computed by the
//!    same simulator from the same inputs.
//! 3. Otherwise the job is done, and its result is saved under its name.
//!
//! Exceptions: a job whose file is damaged is done again, with a warning. A job that all
//! repetitions share is saved in the folder of the original study. A stopped job leaves no file.

use crate::repetition::Repetition;
use crate::run_summary::RunSummary;
use crate::studies::{ImageCache, fan_out};
use fowler_experiment::atomic_file::{stored, unwritable};
use fowler_experiment::common_speed::{TestBed, common_speed};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::disk::{self, unreadable};
use fowler_experiment::progress::Part;
use fowler_experiment::provenance::{VERSION, text_hash};
use fowler_experiment::sealed_file::Kind;
use fowler_experiment::sweep::StudyPoint;
use fowler_experiment::sweep::store::{self, FORMAT_FILE, Verified};
use fowler_experiment::workload::{Control, WorkloadSpec};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A progress report of a study, for a progress bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Further runs of the study were planned, in addition to those reported before; the number is
    /// that of the further runs.
    Planned(usize),
    /// A run of a paper's study has progressed by this share (0 to 1) of its whole length, and
    /// continues.
    Advanced(f64),
    /// A run of a paper's study has ended; the value is the share of its length (0 to 1) since its
    /// previous progress report. All shares of one run add up to 1.
    Finished(f64),
    /// A finished run of the study was found in the study's folder of results, saved by an earlier
    /// call.
    Found,
}

/// Watches the progress of a study, and may stop it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Stops the study when the caller sets it; counts the requests simulated.
    pub control: Control<'a>,
    /// Function called for every progress report of a paper's study, such as to advance a progress
    /// bar.
    pub step: &'a (dyn Fn(Step) + Sync),
}

/// The function that does a job of a study. It returns the job's result as JSON, or `None` if it
/// was stopped.
type Work<'a> = dyn Fn(Control<'_>) -> Result<Option<Value>, Diagnostics> + Send + Sync + 'a;

/// A job of a study: a unit of work whose result is a `T`.
pub(crate) struct Job<'a, T> {
    name: String,
    identity: String,
    /// True if all repetitions of a study (with other seeds or longer runs) use one result of this
    /// job.
    shared: bool,
    work: Box<Work<'a>>,
    result: PhantomData<fn() -> T>,
}

impl<'a, T> Job<'a, T> {
    /// Returns a job whose result all repetitions of the study share. `inputs` describes everything
    /// that determines the result, except for the simulator. `work` returns the result, of which
    /// `T` may have only some fields, or `None` if it was stopped.
    pub fn new<R: Serialize>(
        name: impl Into<String>,
        inputs: &str,
        work: impl Fn(Control<'_>) -> Result<Option<R>, Diagnostics> + Send + Sync + 'a,
    ) -> Job<'a, T> {
        let json = |result| serde_json::to_value(result).expect("numbers, lists and names");
        Job {
            name: name.into(),
            identity: text_hash(inputs),
            shared: true,
            work: Box::new(move |control| Ok(work(control)?.map(json))),
            result: PhantomData,
        }
    }
}

/// The replay speed of a workload: the factor by which its arrival times are divided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Speed {
    pub factor: f64,
    /// Idle share of the drives when the workload is replayed at `factor` times its recorded speed,
    /// 0 to 1, mean over the drives.
    pub idle: f64,
    /// Number of simulations that the search for a workload's replay speed took.
    pub runs: usize,
}

impl<'a> Job<'a, Speed> {
    /// Returns a job that searches for the replay speed of `workload`: the factor by which its
    /// arrival times are divided so that the drives in `beds` are idle for the share `idle` (0 to
    /// 1) of the time, mean over the drives.
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

/// Hash of the source code of the simulator and of the studies. Results saved by other sources are
/// computed again.
const FINGERPRINT: &str = env!("FOWLER_STUDIES_FINGERPRINT");

/// The format of a study's folder. A change in the contents of its files needs the next number.
/// Format 1, which no file stated, had the checksum of a result in the result's own file.
const STUDY: Kind = Kind { name: "study", format: 2 };

/// The folder in which results of a study's finished jobs are saved, open in one process at a time.
#[derive(Clone)]
pub(crate) struct RunFolder<'a> {
    folder: PathBuf,
    repetition: Repetition,
    watch: Watch<'a>,
    /// Warnings for the user about saved results that could not be used, such as damaged files.
    warnings: Arc<Mutex<BTreeSet<String>>>,
    _lock: Arc<File>,
}

/// Results of the computations (runs and jobs) of a paper's study, by their names.
pub(crate) type Results<T> = BTreeMap<String, T>;

impl<'a> RunFolder<'a> {
    /// Opens `folder` as the folder of a study's saved results.
    ///
    /// # Errors
    /// If the folder cannot be written, was written by a newer version, or is open in another
    /// process.
    pub fn open(folder: &Path, watch: Watch<'a>) -> Result<RunFolder<'a>, Diagnostics> {
        disk::create_folder(folder).map_err(|error| unwritable(folder, &error))?;
        let lock = store::lock(folder, STUDY)?;
        store::refuse_newer(folder, STUDY)?;
        let mut warnings = BTreeSet::new();
        let is_unmarked = disk::facts(&folder.join(FORMAT_FILE))?.is_none();
        if is_unmarked && entries(folder)?.iter().any(|path| is_result(path)) {
            warnings.insert(format!(
                "{} held runs of an earlier version of Fowler in another format; they were done again",
                folder.display()
            ));
        }
        store::mark(folder, STUDY)?;
        let study = RunFolder {
            folder: folder.to_path_buf(),
            repetition: Repetition::Original,
            watch,
            warnings: Arc::new(Mutex::new(warnings)),
            _lock: Arc::new(lock),
        };
        study.tidy(folder)?;
        Ok(study)
    }

    fn tidy(&self, folder: &Path) -> Result<(), Diagnostics> {
        store::tidy(folder, |name| {
            name.ends_with(".json") || name.ends_with(".sha256") || name == FORMAT_FILE
        })
    }

    /// Returns the warnings about saved results so far, such as one for every damaged file that was
    /// replaced.
    pub fn warnings(&self) -> Vec<String> {
        let warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.iter().cloned().collect()
    }

    /// Returns the subfolder for the runs of a repetition of the study.
    ///
    /// # Errors
    /// If the subfolder cannot be created.
    pub fn repeated(&self, repetition: Repetition) -> Result<RunFolder<'a>, Diagnostics> {
        let folder = self.folder.join(repetition.folder());
        disk::create_folder(&folder).map_err(|error| unwritable(&folder, &error))?;
        self.tidy(&folder)?;
        Ok(RunFolder { repetition, ..self.clone() })
    }

    /// Returns the repetition of a paper's study whose runs are saved here: the original, one with
    /// another seed, or one with runs of twice the length.
    pub fn repetition(&self) -> Repetition {
        self.repetition
    }

    /// Returns the control through which the caller can stop a paper's study.
    pub fn control(&self) -> Control<'a> {
        self.watch.control
    }

    /// Returns the summaries of a study's runs, by name: from the folder if an earlier call of this
    /// simulator saved them, else simulated with this repetition's seed or length. `None` if
    /// stopped. Saved summaries lack only fields that depend on the machine's clock.
    pub fn simulate(
        &self,
        points: Vec<StudyPoint>,
        images: &ImageCache,
    ) -> Result<Option<Results<RunSummary>>, Diagnostics> {
        let job = |StudyPoint { name, run }: StudyPoint| {
            let point = StudyPoint { name: name.clone(), run: self.repetition.of(run)? };
            let inputs = point.identity()?;
            let job = Job::new(name, &inputs, move |control| point.simulate(images, control));
            Ok(Job { shared: false, ..job })
        };
        self.results(points.into_iter().map(job).collect::<Result<_, Diagnostics>>()?)
    }

    /// Returns the results of `jobs`, by name: a result saved by an earlier call of the same
    /// simulator is read from the folder; all other jobs are done. Returns `None` if the study was
    /// stopped meanwhile.
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

    /// Returns the result of one job of the study: the saved one, or else a computed one, which is
    /// saved; `None` if the study was stopped.
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
        let repetition = if job.shared { Repetition::Original } else { self.repetition };
        let files = Files::of(&self.folder.join(repetition.folder()), &job.name);
        let identity = format!("{FINGERPRINT} {}", job.identity);
        let damaged = match files.saved(&identity)? {
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
        let result = match (job.work)(Control { progress: &follow, ..control }) {
            Ok(Some(result)) => result,
            Ok(None) => return Ok(None),
            // Whatever cannot be finished because it was stopped is not an error.
            Err(_) if control.stopped() => return Ok(None),
            Err(diagnostics) => return Err(diagnostics),
        };
        files.save(&identity, &result)?;
        if damaged {
            let warning = format!("{} was damaged; its run was done again", files.result.display());
            self.warnings.lock().unwrap_or_else(PoisonError::into_inner).insert(warning);
        }
        let result = files.typed(result)?;
        step(Step::Finished(part.rest()));
        Ok(Some(result))
    }
}

/// The saved result of a job, as found in the folder.
enum Saved<T> {
    /// The job of a study has no saved result, or one that was computed from other inputs than the
    /// job's, or by another version of the simulator.
    Missing,
    /// The files with the saved result of a study's job exist, but their checksum is wrong.
    Damaged,
    Found(T),
}

/// Paths of the two files in which the result of a job is saved.
struct Files {
    name: String,
    result: PathBuf,
    sums: PathBuf,
}

impl Files {
    /// Returns the paths of the files of the job named `job` in `folder`.
    fn of(folder: &Path, job: &str) -> Files {
        let plain = |c: char| if c.is_alphanumeric() || "+-_.".contains(c) { c } else { '_' };
        Files::at(folder.join(format!("{}.json", job.chars().map(plain).collect::<String>())))
    }

    fn at(result: PathBuf) -> Files {
        let name = result.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Files { name, sums: result.with_extension("sha256"), result }
    }

    fn verified(&self) -> Result<Verified, Diagnostics> {
        store::verified(&self.sums, (&self.name, &self.result), None, false)
    }

    /// Reads the saved result of the job with inputs and simulator `identity`.
    ///
    /// # Errors
    /// If a file cannot be read, or the result does not fit the type `T`.
    fn saved<T: DeserializeOwned>(&self, identity: &str) -> Result<Saved<T>, Diagnostics> {
        stored(&self.result)?;
        stored(&self.sums)?;
        // The checksum comes first: in a damaged file, no statement can be trusted.
        match self.verified()? {
            Verified::Missing => return Ok(Saved::Missing),
            Verified::Damaged(_) => return Ok(Saved::Damaged),
            Verified::Whole { .. } => {}
        }
        let bytes = disk::read(&self.result).map_err(|error| unreadable(&self.result, &error))?;
        let Ok(mut file) = serde_json::from_slice::<Value>(&bytes) else {
            return Ok(Saved::Damaged);
        };
        if file["identity"] != identity {
            return Ok(Saved::Missing);
        }
        self.typed(file["result"].take()).map(Saved::Found)
    }

    fn save(&self, identity: &str, result: &Value) -> Result<(), Diagnostics> {
        // The checksums of an earlier result are not those of this one.
        disk::if_present(disk::remove(&self.sums))
            .map_err(|error| unwritable(&self.sums, &error))?;
        let file = json!({ "version": VERSION, "identity": identity, "result": result });
        let text = format!("{file:#}\n");
        store::save(&self.sums, (&self.name, &self.result), text.as_bytes(), None)
    }

    /// Converts the JSON of a job's result to the type of the result.
    fn typed<T: DeserializeOwned>(&self, result: Value) -> Result<T, Diagnostics> {
        let failed = |error: serde_json::Error| {
            let what = format!("a result cannot be read back; this is a bug in Fowler: {error}");
            Diagnostic::new(self.result.display().to_string(), what).into()
        };
        serde_json::from_value(result).map_err(failed)
    }
}

/// Reads the saved run of a study and returns its result, parsed and written again; `None` if the
/// file is damaged or belongs to a run other than `identity`. For tests of damaged files.
///
/// # Errors
/// If the file cannot be read, or its content is no result of a run.
#[doc(hidden)]
pub fn reread(path: &Path, identity: &str) -> Result<Option<Value>, Diagnostics> {
    Ok(match Files::at(path.to_path_buf()).saved::<RunSummary>(identity)? {
        Saved::Found(run) => Some(serde_json::to_value(run).expect("numbers and names")),
        Saved::Missing | Saved::Damaged => None,
    })
}

/// Returns the paths of the saved runs below the folder of a study, each with true if the checksum
/// of its file is right. Searches the folders `runs` and `runs-of-N` and everything below them.
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
            if is_result(&path) {
                let files = Files::at(path);
                let is_file = disk::no_file(&files.result)?.is_none()
                    && disk::no_file(&files.sums)?.is_none();
                let is_whole = is_file && matches!(files.verified()?, Verified::Whole { .. });
                found.push((files.result, is_whole));
            } else if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_result(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "json")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Diagnostics> {
    disk::entries(folder).map_err(|error| unreadable(folder, &error))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fowler_experiment::progress::Progress;
    use std::fs;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// Returns the number of runs of a study in `points`, after a check that their drives and
    /// workloads exist. Panics if one does not exist.
    pub(crate) fn set_up(points: &[StudyPoint]) -> usize {
        for point in points {
            point.identity().unwrap_or_else(|why| panic!("{}: {why}", point.name));
        }
        points.len()
    }

    /// Does a job of a study and stops it at its first report of progress, usually while its drive
    /// is being preconditioned.
    pub(crate) fn stopped_midway<T: DeserializeOwned + Send>(job: Job<'_, T>) -> Option<T> {
        let name = format!("fowler-stopped-{}-{}", job.identity, std::process::id());
        let folder = std::env::temp_dir().join(name);
        let stop = AtomicBool::new(false);
        let control = Control { stop: &stop, progress: &|_| stop.store(true, Ordering::Relaxed) };
        let runs = RunFolder::open(&folder, Watch { control, step: &|_| () }).unwrap();
        let result = runs.result(job).unwrap();
        assert!(!entries(&folder).unwrap().iter().any(|it| is_result(it)), "nothing is saved");
        fs::remove_dir_all(&folder).unwrap();
        result
    }

    #[test]
    fn what_is_finished_is_not_done_again_and_what_changed_is() {
        let folder = std::env::temp_dir().join(format!("fowler-study-{}", std::process::id()));
        let stop = AtomicBool::new(false);
        let control = Control { stop: &stop, progress: &|_| () };
        let runs = RunFolder::open(&folder, Watch { control, step: &|_| () }).unwrap();
        let worked = AtomicUsize::new(0);
        let job = |name: &str, inputs: &str| {
            Job::<Vec<f64>>::new(name, inputs, |_| {
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

    /// A flipped bit in the file of a job's result, or in its checksum, never goes unnoticed.
    #[test]
    fn no_damage_goes_unnoticed() {
        let folder = std::env::temp_dir().join(format!("fowler-flipped-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let files = Files::of(&folder, "run");
        files.save("this run", &json!({ "requests": 7, "mean": [1.5] })).unwrap();
        assert!(matches!(files.saved::<Value>("this run"), Ok(Saved::Found(_))));
        for path in [&files.result, &files.sums] {
            let whole = fs::read(path).unwrap();
            for (at, bit) in (0..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                fs::write(path, &bytes).unwrap();
                let damaged = matches!(files.saved::<Value>("this run"), Ok(Saved::Damaged));
                assert!(damaged, "byte {at}: {}", String::from_utf8_lossy(&bytes));
            }
            fs::write(path, &whole).unwrap();
        }
        let other = Files::of(&folder, "other");
        fs::copy(&files.result, &other.result).unwrap();
        fs::copy(&files.sums, &other.sums).unwrap();
        let other = other.saved::<Value>("this run");
        assert!(matches!(other, Ok(Saved::Damaged)), "the files of another run");
        fs::remove_dir_all(&folder).unwrap();
    }

    /// If an operation on the files of a study fails (each of them once), the study reports it,
    /// loses no finished result, and leaves no half-written file.
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
            // The result, its checksums, the format and the lock.
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "{operation}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    /// A saved result of a study that was damaged by a flip, a cut or a swap is computed again,
    /// with a warning.
    #[test]
    fn a_damaged_result_is_done_again() {
        let folder = std::env::temp_dir().join(format!("fowler-damaged-{}", std::process::id()));
        let stop = AtomicBool::new(false);
        let control = Control { stop: &stop, progress: &|_| () };
        let open = || RunFolder::open(&folder, Watch { control, step: &|_| () }).unwrap();
        let job =
            |name: &str| Job::<Vec<f64>>::new(name, name, |_| Ok(Some(vec![1.5, 2.25, 1e-9])));
        open().results(vec![job("a"), job("b")]).unwrap();
        let path = folder.join("a.json");
        let whole = fs::read(&path).unwrap();
        let other = fs::read(folder.join("b.json")).unwrap();
        for at in 0..whole.len() {
            for bit in [at % 8, (at + 5) % 8] {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                fs::write(&path, &bytes).unwrap();
                let runs = open();
                let results = runs.results(vec![job("a")]).unwrap().unwrap();
                assert_eq!((&results["a"][..], runs.warnings().len()), (&[1.5, 2.25, 1e-9][..], 1));
            }
        }
        for bytes in [&whole[..whole.len() / 2], &[], &[0; 512]] {
            fs::write(&path, bytes).unwrap();
            let runs = open();
            assert_eq!(runs.results(vec![job("a")]).unwrap().unwrap()["a"], [1.5, 2.25, 1e-9]);
            assert_eq!(runs.warnings().len(), 1);
        }
        fs::write(&path, other).unwrap();
        assert_eq!(open().results(vec![job("a")]).unwrap().unwrap()["a"], [1.5, 2.25, 1e-9]);
        fs::write(folder.join(FORMAT_FILE), "fowler study 3 9.9.9\n").unwrap();
        let watch = Watch { control, step: &|_| () };
        let why = RunFolder::open(&folder, watch).err().unwrap().to_string();
        assert!(why.contains("in format 3; this is Fowler"), "{why}");
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
        // The result was saved, so it counts at once.
        assert_eq!(runs.result(job()).unwrap(), Some(1.5));
        assert_eq!(*done.lock().unwrap(), (2, vec![0.25, 0.25, 0.25, 0.25, 1.0]));
        fs::remove_dir_all(&folder).unwrap();
    }

    /// A job of a study that is stopped, at any point of its work, ends without a result and
    /// without an error.
    #[test]
    fn a_job_that_is_stopped_is_no_error() {
        let fails = Job::<f64>::new("fails", "1", |control: Control<'_>| {
            (control.progress)(Progress::Preconditioning(1.0));
            Err::<Option<f64>, _>(Diagnostic::new("a", "cannot be finished").into())
        });
        assert_eq!(stopped_midway(fails), None);
    }

    #[test]
    fn a_repetition_does_anew_what_it_changes_and_shares_the_rest() {
        let folder = std::env::temp_dir().join(format!("fowler-repeated-{}", std::process::id()));
        let stop = AtomicBool::new(false);
        let control = Control { stop: &stop, progress: &|_| () };
        let runs = RunFolder::open(&folder, Watch { control, step: &|_| () }).unwrap();
        let worked = &AtomicUsize::new(0);
        let seeded = runs.repeated(Repetition::Seed(7)).unwrap();
        let jobs = |repetition: Repetition| {
            let work = |text: &'static str| {
                Job::<String>::new(text, "1", move |_| {
                    worked.fetch_add(1, Ordering::Relaxed);
                    Ok(Some(format!("{text}, {repetition}")))
                })
            };
            vec![work("shared"), Job { shared: false, ..work("anew") }]
        };
        let of = |runs: &RunFolder<'_>| -> Vec<String> {
            let results = runs.results(jobs(runs.repetition())).unwrap().unwrap();
            results.into_values().collect()
        };
        for _ in 0..2 {
            assert_eq!(of(&runs), ["anew, the study itself", "shared, the study itself"]);
            assert_eq!(of(&seeded), ["anew, seed 7", "shared, the study itself"]);
            assert_eq!(worked.load(Ordering::Relaxed), 3);
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    /// A second process cannot write to a study's open folder; results in an earlier format are
    /// computed again, with a warning.
    #[test]
    fn a_folder_is_entered_alone_and_an_earlier_one_is_named() {
        let folder = std::env::temp_dir().join(format!("fowler-entered-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.json"), "{ \"format\": 1, \"result\": 2 }").unwrap();
        let stop = AtomicBool::new(false);
        let watch = Watch { control: Control { stop: &stop, progress: &|_| () }, step: &|_| () };
        let runs = RunFolder::open(&folder, watch).unwrap();
        let again = RunFolder::open(&folder, watch).err().unwrap().to_string();
        assert!(again.contains("another study is running in this folder"), "{again}");
        let job = || Job::<u32>::new("a", "1", |_| Ok(Some(3)));
        assert_eq!(runs.result(job()).unwrap(), Some(3));
        assert!(runs.warnings()[0].contains("of an earlier version of Fowler"));
        drop(runs);
        let runs = RunFolder::open(&folder, watch).unwrap();
        assert_eq!((runs.result(job()).unwrap(), runs.warnings().len()), (Some(3), 0));
        drop(runs);
        fs::remove_dir_all(&folder).unwrap();
    }
}
