//! The state of a drive before its first request, saved between two runs of the program: the same
//! results with and without, whatever happens to the file.
#![cfg(unix)]

use crate::command::{Folder, command};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A drive whose state is just worth a file: 3 million units, written four times each.
const RUN: [&str; 9] = [
    "run",
    "--device",
    "nvme-pm9a3",
    "--set",
    "geometry.blocks_per_plane=64",
    "--limit",
    "300",
    "--json",
    "--quiet",
];

fn run(folder: &Folder, caches: &str, more: &[&str]) -> Command {
    let load = folder.path("load.toml");
    // Written once: another run may be reading it.
    if !std::path::Path::new(&load).exists() {
        folder.file("load.toml", "requests = 1000\narrivals.kind = 'closed'\nmix.reads = 0.5\n");
    }
    let mut run = command(&[&RUN[..], &["--workload", &load], more].concat());
    run.env("FOWLER_CACHE", caches).stdout(Stdio::piped()).stderr(Stdio::piped());
    run
}

/// The results, without the time that the run took.
fn results(output: &Output) -> Value {
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    let mut value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for key in ["wall_s", "requests_per_s"] {
        value.as_object_mut().unwrap().remove(key);
    }
    value
}

fn files(folder: &str) -> Vec<PathBuf> {
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    files.map(|file| file.unwrap().path()).collect()
}

// Slow: the drive is filled five times, in a program with all checks.
#[test]
fn results_are_the_same_with_and_without_a_saved_state() {
    let folder = Folder::new("image-store");
    let caches = folder.path("caches");
    let once = |more: &[&str]| results(&run(&folder, &caches, more).output().unwrap());
    let without = once(&["--no-cache"]);
    assert_eq!(files(&caches), Vec::<PathBuf>::new(), "--no-cache saves nothing");
    // Two processes make the state at the same time.
    let both = [(); 2].map(|()| run(&folder, &caches, &[]).spawn().unwrap());
    for child in both {
        assert_eq!(results(&child.wait_with_output().unwrap()), without);
    }
    let saved = files(&caches);
    assert_eq!(saved.len(), 1, "{saved:?}");
    let bytes = fs::read(&saved[0]).unwrap();
    assert_eq!(once(&[]), without, "from the file");
    // Half of the saved state, as after a crash of the machine.
    fs::write(&saved[0], &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(once(&[]), without);
    assert_eq!(fs::read(&saved[0]).unwrap(), bytes, "it is made anew, to the same bytes");
    assert_eq!(files(&caches), saved);
}

// Slow: the drive is filled twice, in a program with all checks.
#[test]
fn a_full_disk_is_no_obstacle() {
    let folder = Folder::new("image-store-full");
    let caches = folder.path("caches");
    let given = run(&folder, &caches, &[]);
    // A limit of the length of files stands for a disk that is full.
    let limited = Command::new("sh")
        .args(["-c", "ulimit -f 200 && exec \"$0\" \"$@\""])
        .arg(given.get_program())
        .args(given.get_args())
        .current_dir(given.get_current_dir().unwrap())
        .env("FOWLER_CACHE", &caches)
        .output()
        .unwrap();
    let limited = results(&limited);
    assert_eq!(files(&caches), Vec::<PathBuf>::new());
    let file = folder.file("no-folder", "");
    assert_eq!(results(&run(&folder, &file, &[]).output().unwrap()), limited);
}
