//! The folder of a sweep: its bytes do not depend on threads, on where points were run, or on how
//! often the work was resumed.

use crate::folders::contents;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use fowler_columns::store::{self, Folder, Made, Tally};
use fowler_experiment::progress::Progress;
use fowler_experiment::sweep::Plan;
use fowler_experiment::workload::Control;
use fowler_units::Rng;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Twelve points: under two schemes of the same choices, and half of them on drives that are
/// refused, all for one reason.
fn specification() -> String {
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/small.toml");
    format!(
        "title = 'a test'\ndevice = '{}'\nworkload = 'demo'\nlimit = 300\nrequests = true\n[axis]\n\
         scheme = ['fifo', 'noop', 'pes_ipc']\n'geometry.over_provisioning' = [0.0, 0.25]\n\
         'buffer.size' = ['256KiB', '1MiB']\n",
        device.display()
    )
}

fn plan() -> Plan {
    Plan::read(&specification(), "sweep.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn empty(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("columns").join("sweep").join(name);
    let _absent = fs::remove_dir_all(&path);
    path
}

fn whole(path: &Path, threads: usize) -> Tally {
    let plan = plan();
    let folder = Folder::open(path, &plan).unwrap();
    let (stop, done) = (AtomicBool::new(false), Mutex::new(0.0));
    let follow = |step| match step {
        Progress::Served { of_a_part, .. } => *done.lock().unwrap() += of_a_part,
        other => panic!("{other:?}"),
    };
    let control = Control { stop: &stop, progress: &follow };
    let todo = folder.missing(false).unwrap();
    store::run(&folder, &plan, &todo, Some(threads), control, &|_| ()).unwrap();
    let done = done.into_inner().unwrap();
    assert!((done - todo.len() as f64).abs() < 1e-6, "a point is one part, even if it fails");
    folder.tally().unwrap()
}

#[test]
fn the_bytes_do_not_depend_on_threads_or_on_interruptions() {
    let (one, four) = (empty("one"), empty("four"));
    let tally = whole(&one, 1);
    assert_eq!(tally, Tally { points: 12, finished: 12, failed: 6 });
    assert_eq!(whole(&four, 4), tally);
    let all = contents(&one);
    let count = |what: &str| all.iter().filter(|(name, _)| name.starts_with(what)).count();
    assert_eq!(
        (count("points/"), count("requests/")),
        (2 * 5, 4),
        "each point has a row and checksums; a point that fails has no requests"
    );
    assert!(all == contents(&four), "threads change bytes");
    // This sweep is stopped after two points, resumed, stopped, and finished.
    let parts = empty("parts");
    let plan = plan();
    for left in [3, 1, 0] {
        let folder = Folder::open(&parts, &plan).unwrap();
        let stop = AtomicBool::new(false);
        let control = Control { stop: &stop, progress: &|_| () };
        let todo = folder.missing(false).unwrap();
        let done = AtomicUsize::new(0);
        let step = |_| {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            stop.store(done + left >= todo.len() && left > 0, Ordering::Relaxed);
        };
        store::run(&folder, &plan, &todo, Some(1), control, &step).unwrap();
        assert_eq!(folder.missing(false).unwrap().len(), left);
    }
    assert!(all == contents(&parts), "an interruption changes bytes");
}

#[test]
fn points_that_are_run_elsewhere_are_the_same_files() {
    let (here, elsewhere) = (empty("here"), empty("elsewhere"));
    whole(&here, 2);
    let driver = plan();
    let folder = Folder::open(&elsewhere, &driver).unwrap();
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|_| () };
    for index in folder.missing(false).unwrap().into_iter().rev() {
        // A worker gets only the text and a number.
        let worker = Plan::read(driver.text(), driver.name()).unwrap();
        let made: Made = store::make(&worker, index, control).unwrap().unwrap();
        assert_eq!(made.failed, made.requests.is_none());
        folder.keep(&driver.points()[index], &made).unwrap();
    }
    assert!(contents(&here) == contents(&elsewhere));
    stop.store(true, Ordering::Relaxed);
    assert_eq!(store::make(&driver, 2, control).unwrap(), None, "what is stopped is nothing");
}

#[test]
fn a_folder_loads_as_a_table_of_its_points() {
    let path = empty("loaded");
    whole(&path, 2);
    let table = store::load(&path).unwrap();
    let text = |name: &str, row: usize| {
        let column = table.column_by_name(name).unwrap().as_string::<i32>();
        column.is_valid(row).then(|| column.value(row).to_string())
    };
    let real = |name: &str, row: usize| {
        let column = table.column_by_name(name).unwrap().as_primitive::<Float64Type>();
        column.is_valid(row).then(|| column.value(row))
    };
    assert_eq!(table.num_rows(), 12);
    let points = table.column_by_name("point").unwrap().as_primitive::<UInt64Type>();
    assert_eq!(points.values()[..], (0..12).collect::<Vec<u64>>());
    // FIFO and NOOP are one run, and each row has its own name, in the summary too.
    for row in [2, 6] {
        let scheme = ["fifo", "noop"][row / 6];
        assert_eq!(text("axis.scheme", row).unwrap(), scheme);
        assert_eq!(text("scheme", row).unwrap(), scheme);
        let summary: serde_json::Value =
            serde_json::from_str(&text("summary", row).unwrap()).unwrap();
        assert_eq!(summary["scheme"], scheme);
        assert_eq!(summary["read"]["mean_us"].as_f64(), real("read.mean_us", row));
        assert!(summary.get("wall_s").is_none() && text("error", row).is_none());
    }
    assert_eq!(text("hash", 2), text("hash", 6));
    assert_eq!(real("axis.buffer.size", 3), Some(1_048_576.0));
    assert_eq!(real("axis.geometry.over_provisioning", 3), Some(0.25));
    assert!(table.column_by_name("wall_s").is_none());
    // A point that failed says why, and nothing else.
    assert!(text("error", 0).unwrap().contains("over-provisioning"), "{:?}", text("error", 0));
    assert_eq!((real("read.mean_us", 0), text("summary", 0)), (None, None));
    assert_eq!(table.num_columns(), table.schema().fields().len());
    // The size of a point on the disk is printed, not tested.
    let points = contents(&path).into_iter().filter(|(name, _)| name.starts_with("points/"));
    let largest = points.map(|(_, bytes)| bytes.len()).max().unwrap();
    println!("a point: {largest} bytes at most, {} columns", table.num_columns());
}

#[test]
fn what_failed_is_run_again_only_when_asked_for() {
    let path = empty("retried");
    whole(&path, 2);
    let plan = plan();
    let folder = Folder::open(&path, &plan).unwrap();
    assert!(folder.missing(false).unwrap().is_empty());
    assert_eq!(folder.missing(true).unwrap(), [0]);
    let second = Folder::open(&path, &plan).map(drop).unwrap_err().to_string();
    assert!(second.contains("another sweep is running in this folder"), "{second}");
    let files = contents(&path);
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|_| () };
    let todo = folder.missing(true).unwrap();
    store::run(&folder, &plan, &todo, None, control, &|failed| assert!(failed)).unwrap();
    assert!(files == contents(&path));
}

#[test]
fn what_is_no_sweep_is_said() {
    let path = empty("none");
    fs::create_dir_all(&path).unwrap();
    assert!(
        store::load(&path).unwrap_err().to_string().contains("this is not the folder of a sweep")
    );
    whole(&path, 2);
    let files = contents(&path);
    let (broken, _) = files.iter().find(|(name, _)| name.starts_with("points/")).unwrap();
    fs::write(path.join(broken), "torn").unwrap();
    let reported = store::load(&path).unwrap_err().to_string();
    assert!(reported.contains(broken) && reported.contains("is damaged"), "{reported}");
}

/// A file without its bytes, a file without its end, and a missing file: of a row, of requests, and
/// of the design.
// Slow: a sweep is mended three times for each of its files.
#[test]
fn files_that_are_not_whole_are_made_anew() {
    let path = empty("broken");
    whole(&path, 2);
    let plan = plan();
    let files = contents(&path);
    let mut broken = 0;
    for (name, bytes) in files.iter().filter(|(name, _)| name != ".lock") {
        let file = path.join(name);
        let cut = &bytes[..bytes.len() / 2];
        for part in [Some(&b""[..]), Some(cut), None] {
            match part {
                Some(part) => fs::write(&file, part).unwrap(),
                None => fs::remove_file(&file).unwrap(),
            }
            let folder = Folder::open(&path, &plan).unwrap();
            let todo = folder.missing(false).unwrap();
            let finished = folder.tally().unwrap().finished;
            if !name.contains('/') {
                assert_eq!((todo.len(), finished), (0, 12), "{name}: made as the folder is opened");
            } else {
                let [index] = todo[..] else { panic!("{name}: {todo:?}") };
                assert!(name.contains(&plan.points()[index].hash), "{name}");
                assert!(finished < 12);
                broken += 1;
            }
            drop(folder);
            assert_eq!(whole(&path, 1).finished, 12);
            assert!(files == contents(&path), "{name}");
        }
    }
    assert_eq!(broken, 3 * (2 * 5 + 4), "of five points one failed, and has no requests");
}

/// The number of cases of random damage; each has a seed of its own.
const DAMAGES: u64 = 300;

/// Whatever happens to a file, the loaded values are the measured ones, or the file is named; and
/// running the sweep again mends the folder.
// Slow: a sweep is mended after each of 300 damages.
#[test]
fn no_damage_goes_unnoticed() {
    let path = empty("damaged");
    whole(&path, 2);
    let files: Vec<_> = contents(&path).into_iter().filter(|(name, _)| name != ".lock").collect();
    let measured = store::load(&path).unwrap();
    let (mut refused, mut harmless) = (0, 0);
    for seed in 0..DAMAGES {
        let mut rng = Rng::stream(seed, "damage");
        let (name, bytes) = &files[rng.below(files.len() as u64) as usize];
        let at = rng.below(bytes.len() as u64) as usize;
        let mut bytes = bytes.clone();
        match seed % 5 {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at / 512 * 512..].iter_mut().take(512).for_each(|byte| *byte = 0),
            2 => bytes.truncate(at),
            3 => bytes.insert(at, 0),
            _ => bytes.clone_from(&files[rng.below(files.len() as u64) as usize].1),
        }
        fs::write(path.join(name), &bytes).unwrap();
        match store::load(&path) {
            Ok(rows) => {
                assert_eq!(rows, measured, "seed {seed}: {name} was damaged, and loads as others");
                harmless += 1;
            }
            Err(why) => {
                assert!(why.to_string().contains(path.to_str().unwrap()), "seed {seed}: {why}");
                refused += 1;
            }
        }
        // A newer version's folder is refused, whoever wrote the number.
        if Folder::open(&path, &plan()).is_err() {
            assert!(name == "format", "seed {seed}: {name}");
            fs::write(path.join(name), "").unwrap();
        }
        whole(&path, 1);
        assert!(
            files.iter().all(|(name, bytes)| fs::read(path.join(name)).unwrap() == *bytes),
            "seed {seed}: {name}"
        );
    }
    // Rows do not depend on requests or on the specification's text.
    assert!(refused > DAMAGES / 4 && harmless > 0, "{refused} refused, {harmless} harmless");
}

/// A file that cannot be opened is reported, and not taken for missing: it may be whole.
#[cfg(unix)]
#[test]
fn files_that_cannot_be_opened_are_said() {
    let path = empty("closed");
    whole(&path, 2);
    let plan = plan();
    let row = path.join("points").join(format!("{}.parquet", plan.points()[2].hash));
    fs::remove_file(&row).unwrap();
    // A link to itself leads nowhere.
    std::os::unix::fs::symlink(&row, &row).unwrap();
    let folder = Folder::open(&path, &plan).unwrap();
    let reported = folder.missing(false).unwrap_err().to_string();
    assert!(
        reported.contains(&plan.points()[2].hash) && reported.contains("cannot be read"),
        "{reported}"
    );
}
