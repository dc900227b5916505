//! A disk on which every operation fails once. Each job of the command is done as often as it has
//! operations on files, and each time another one of them fails: the command must say so, or come
//! to the same bytes. Then the job is done again, and must come to the bytes of a job that nothing
//! disturbed.
//!
//! Operations that a signal interrupts, and reads and writes that are cut short, are no failures.

#![allow(clippy::print_stderr, reason = "the process inside tells the test what it found")]

use fowler_experiment::disk::{self, Operation};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The behavior of the disk.
enum Plan {
    Whole,
    /// The operation with this number fails.
    Fails(usize),
    /// Every other operation is interrupted.
    Interrupts,
    /// An operation reads or writes at most this many bytes.
    Short(usize),
}

/// The disk, and the operations since the job began.
struct Disk {
    plan: Plan,
    done: Vec<Operation>,
}

static DISK: Mutex<Disk> = Mutex::new(Disk { plan: Plan::Whole, done: Vec::new() });

fn observed(operation: &Operation) -> Result<usize, Error> {
    let mut disk = DISK.lock().unwrap_or_else(PoisonError::into_inner);
    let number = disk.done.len();
    disk.done.push(operation.clone());
    match disk.plan {
        Plan::Fails(which) if which == number => Err(error(operation)),
        Plan::Interrupts if number.is_multiple_of(2) => Err(ErrorKind::Interrupted.into()),
        Plan::Short(most) => Ok(most),
        _ => Ok(usize::MAX),
    }
}

/// ENOSPC, where more space is needed; else EIO.
fn error(operation: &Operation) -> Error {
    let grows = matches!(
        operation,
        Operation::Create(_) | Operation::CreateFolder(_) | Operation::Write(..)
    );
    Error::from_raw_os_error(if grows { 28 } else { 5 })
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Every file below a folder with its bytes, by its name there. Empty lock files do not count.
fn contents(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.exists() && !path.ends_with(".lock") {
            files.insert(path.strip_prefix(folder).unwrap().into(), fs::read(path).unwrap());
        }
    }
    files
}

fn fill(folder: &Path, files: &Files) {
    let _absent = fs::remove_dir_all(folder);
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// The bytes without the time that the run took, and what follows from it.
fn timeless(name: &Path, bytes: &[u8]) -> Vec<u8> {
    if name != Path::new("summary.json") && name != Path::new("contents.json") {
        return bytes.into();
    }
    let mut value: Value = serde_json::from_slice(bytes).expect("a whole file");
    for key in ["wall_s", "requests_per_s", "checksum"] {
        value.as_object_mut().unwrap().remove(key);
    }
    if let Some(files) = value.get_mut("files").and_then(Value::as_object_mut) {
        files.remove("summary.json");
    }
    value.to_string().into_bytes()
}

/// Prints what is wrong, if it is.
fn said(wrong: bool, what: impl Fn() -> String) {
    if wrong {
        eprintln!("{WRONG}{}", what());
    }
}

/// Compares a folder with what should be in it.
fn same(there: &Files, whole: &Files) {
    for (name, bytes) in there {
        let expected = whole.get(name);
        said(expected.is_none(), || format!("{} should not be there", name.display()));
        let other = expected.is_some_and(|it| timeless(name, it) != timeless(name, bytes));
        said(other, || format!("{} has other bytes", name.display()));
    }
    for name in whole.keys() {
        said(!there.contains_key(name), || format!("{} is missing", name.display()));
    }
}

/// A command that writes into a folder.
struct Job {
    arguments: Vec<String>,
    folder: PathBuf,
    /// Files in the folder before the job.
    before: Files,
    /// The names of the files whose operations fail; none means all files.
    files: &'static [&'static str],
}

impl Job {
    fn new(root: &Path, arguments: &[&str]) -> Job {
        let folder = root.join("out");
        let name = folder.display().to_string();
        let arguments = [&["fowler"], arguments, &["--out", &name]].concat();
        let arguments = arguments.into_iter().map(String::from).collect();
        Job { arguments, folder, before: Files::new(), files: &[] }
    }

    /// Does the job; returns the exit code and the operations.
    fn done(&self, plan: Plan) -> (u8, Vec<Operation>) {
        *DISK.lock().unwrap_or_else(PoisonError::into_inner) = Disk { plan, done: Vec::new() };
        let code = fowler_cli::main(self.arguments.iter().map(Into::into));
        let mut disk = DISK.lock().unwrap_or_else(PoisonError::into_inner);
        disk.plan = Plan::Whole;
        (code, std::mem::take(&mut disk.done))
    }

    /// Does the job on a disk that never fails; returns the files in the folder and the operations.
    fn undisturbed(&self) -> (Files, Vec<Operation>) {
        fill(&self.folder, &self.before);
        let (code, operations) = self.done(Plan::Whole);
        assert_eq!(code, 0);
        (contents(&self.folder), operations)
    }

    /// Returns the job to be done once more in the folder that it left, with `change` to the files.
    fn then(mut self, change: impl FnOnce(&mut Files)) -> Job {
        self.before = self.undisturbed().0;
        change(&mut self.before);
        self
    }

    /// Does the job on every disk, and prints each case with what is wrong.
    fn check(&self) {
        let (whole, operations) = self.undisturbed();
        for (case, plan) in [("interrupted", Plan::Interrupts), ("cut short", Plan::Short(1000))] {
            eprintln!("{CASE}{case}");
            fill(&self.folder, &self.before);
            let (code, _) = self.done(plan);
            eprintln!("{CODE}{code}");
            said(code != 0, || "no success".into());
            same(&contents(&self.folder), &whole);
        }
        for (number, operation) in operations.iter().enumerate() {
            // Reads in a row are alike: the first and the last of them fail.
            let next = operations.get(number + 1);
            if number > 0 && operations[number - 1] == *operation && next == Some(operation) {
                continue;
            }
            let path = operation.path().to_string_lossy();
            if !self.files.is_empty() && !self.files.iter().any(|it| path.contains(it)) {
                continue;
            }
            eprintln!("{CASE}{}, operation {number}", shown(operation));
            fill(&self.folder, &self.before);
            self.fails(number, &whole);
        }
    }

    fn fails(&self, number: usize, whole: &Files) {
        let (code, operations) = self.done(Plan::Fails(number));
        eprintln!("{CODE}{code}");
        // A temporary file that cannot be removed is removed at the second try.
        let again = matches!(&operations[number], Operation::Remove(path) if is_partial(path));
        said(code != if again { 0 } else { 2 }, || "not the exit code that it should be".into());
        let left = contents(&self.folder);
        if code == 0 {
            same(&left, whole);
        }
        for (name, bytes) in &left {
            let is = |there: &Files| {
                there.get(name).is_some_and(|it| timeless(name, it) == timeless(name, bytes))
            };
            // A checkpoint is one of several, and a list of contents may grow; both have checksums.
            let several = ["lifetime.checkpoint", "contents.json"];
            let known =
                several.iter().any(|it| name.ends_with(it)) || is(whole) || is(&self.before);
            let partial = is_partial(name);
            said(partial, || format!("{} is left", name.display()));
            said(!partial && !known, || format!("{} is neither old nor new", name.display()));
        }
        let (code, _) = self.done(Plan::Whole);
        said(code != 0, || format!("again: exit code {code}"));
        same(&contents(&self.folder), whole);
    }
}

fn is_partial(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".partial")
}

fn shown(operation: &Operation) -> String {
    match operation {
        Operation::Write(path, bytes) => format!("Write({}, {})", path.display(), bytes.len()),
        other => format!("{other:?}"),
    }
}

/// A life of nine hours, on a drive of 32 MiB.
const LIFE: &[&str] = &[
    "lifetime",
    "--device",
    "ready-32",
    "--set",
    "geometry.channels=1",
    "--set",
    "geometry.chips_per_channel=1",
    "--set",
    "geometry.dies_per_chip=1",
    "--set",
    "geometry.blocks_per_plane=32",
    "--set",
    "lifetime.cycles=400",
    "--years",
    "0.001",
    "--dilation",
    "2",
    "--no-check",
    "--save-every",
    "100000",
    "--quiet",
];

const LOAD: &str = "duration = '1h'
arrivals = { kind = 'poisson', rate = 20.0 }
mix.reads = 0.0
space.share = 0.8
writes.sizes = '4KiB 3, 16KiB 1'
";

/// The job of a test.
fn job(name: &str, root: &Path) -> Job {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let small = ["small.toml", "small-load.toml"].map(|it| tests.join(it).display().to_string());
    let [device, small_load] = &small;
    let file = |name: &str, text: &str| {
        let path = root.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let run = ["run", "--device", device, "--workload", small_load, "--limit", "50", "--quiet"];
    let run = [&run[..], &["--requests", "--timeline", "slowest:3"]].concat();
    let sweep = file(
        "sweep.toml",
        &format!(
            "device = '{device}'\nworkload = 'demo'\nlimit = 50\nrequests = {}\n\
             [axis]\nscheme = ['fifo', 'pes_ipc']\n",
            name == "a_sweep_that_is_resumed"
        ),
    );
    let sweep = ["sweep", &sweep, "--threads", "1", "--quiet"];
    let load = file("load.toml", LOAD);
    let life = [LIFE, &["--workload", &load]].concat();
    match name {
        "a_run" => Job::new(root, &run),
        "a_run_over_another" => {
            let without = run.iter().filter(|it| !["--timeline", "slowest:3"].contains(it));
            let without = Job::new(root, &without.copied().collect::<Vec<_>>());
            let before = Job::new(root, &run).undisturbed().0;
            Job { before, files: &[".json"], ..without }
        }
        "a_sweep" => Job::new(root, &sweep),
        "a_sweep_that_is_resumed" => Job::new(root, &sweep).then(|files| {
            let sums = |name: &&PathBuf| {
                name.starts_with("points") && name.extension() == Some("sha256".as_ref())
            };
            let first = files.keys().find(sums).expect("a finished point").clone();
            files.remove(&first);
        }),
        // The pictures of a life are written as other files are, so their operations do not fail
        // here.
        "a_life" => Job { files: &["lifetime.checkpoint", ".json"], ..Job::new(root, &life) },
        _ => unreachable!("no job is called {name}"),
    }
}

const INSIDE: &str = "FOWLER_FAILING_DISK";
const CASE: &str = "=== case: ";
const CODE: &str = "=== code: ";
const WRONG: &str = "=== wrong: ";

/// Does a job on all disks, in a process of its own: a disk fails for a whole process, and the
/// command writes to the terminal directly.
fn every_operation_fails_once(name: &str) {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failing-disk").join(name);
    if std::env::var_os(INSIDE).is_some() {
        disk::observe(observed);
        return job(name, &root).check();
    }
    let _absent = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).unwrap();
    let mut inside = Command::new(std::env::current_exe().unwrap());
    inside
        .args(["--exact", &format!("failing_disk::{name}"), "--nocapture"])
        .env(INSIDE, "1")
        .stdin(Stdio::null());
    let output = inside.stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let cases: Vec<&str> = said.split(CASE).skip(1).collect();
    assert!(output.status.success() && cases.len() > 20, "{} cases: {said}", cases.len());
    let mut wrong: Vec<&str> = Vec::new();
    for case in &cases {
        // The output of the job, up to its exit code.
        let (said, after) = case.split_once(CODE).expect("an exit code");
        let code = after.lines().next().expect("a line");
        let refused = said.lines().skip(1).any(|line| line.starts_with("error: /"));
        if case.contains(WRONG) || !(code == "0" || code == "2" && refused) {
            wrong.push(case);
        }
    }
    let shown = wrong.iter().take(20).map(|it| format!("--- {it}")).collect::<String>();
    assert!(wrong.is_empty(), "{} of {} cases are wrong:\n{shown}", wrong.len(), cases.len());
    fs::remove_dir_all(&root).unwrap();
}

macro_rules! jobs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            every_operation_fails_once(stringify!($name));
        })*
    };
}

// Slow: each job is done once for each of its operations on files.
jobs! { a_run a_run_over_another a_sweep a_sweep_that_is_resumed a_life }
