//! The short form of the soak: fixed seeds, for every change. And a soak that finds something must
//! say so.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Seeds in a row that take every command but the study, which takes long, and random drives.
const FIRST: &str = "27";
const BOUTS: &str = "8";
/// Seeds of one bout of each kind among those.
const STORED: &str = "32";
const DRIVES: &str = "34";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("soak").join(name)
}

fn soak(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soak"));
    command.args(arguments).arg("--folder").arg(folder);
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

// Slow: each kind of bout of the soak once.
#[test]
fn nothing_is_found() {
    let folder = folder("short");
    let (code, said) = soak(&folder, &["--seed", FIRST, "--bouts", BOUTS]);
    assert_eq!(code, Some(0), "{said}");
    // The seeds must test what they are for.
    for row in [
        "drives ",
        "fowler run",
        "fowler compare",
        "fowler sweep",
        "fowler lifetime",
        "power ",
        "killed at an operation",
        "full disk, refused",
        "found by `fowler check`",
    ] {
        assert!(said.contains(row), "no {row}: take other seeds\n{said}");
    }
    assert!(std::fs::read_dir(&folder).unwrap().next().is_none(), "bouts leave nothing");
}

#[test]
fn what_is_found_is_said_and_stays() {
    for (kind, seed, found) in
        [("stored", STORED, "has other bytes, from byte 0 on"), ("drives", DRIVES, "spoilt")]
    {
        let folder = folder(kind);
        let (code, said) = soak(&folder, &["--seed", seed, "--spoil", kind]);
        assert_eq!(code, Some(1), "{said}");
        for words in [&format!("seed {seed} failed"), found, &format!("make soak SEED={seed}")] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let kept = folder.join(seed).join("parts");
        assert_eq!(kept.exists(), kind == "stored", "{said}");
    }
}
