//! A run gives identical bytes when it is repeated, and with and without the checks of tests.

use std::io::Write as _; // a direct write: what a test prints is captured
use std::path::{Path, PathBuf};
use std::process::Command;

/// The output of a run, with the one thing in it that is measured on the machine's clock left out.
fn output(binary: &Path, scheme: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let form = binary.components().rev().nth(1).expect("a folder").as_os_str();
    let log = folder.join(format!("{}-{scheme}.csv", form.to_string_lossy()));
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/small.toml");
    let run = Command::new(binary)
        .args(["run", "--workload", "mixed-70-30", "--limit", "20000", "--json", "--quiet"])
        .args(["--scheme", scheme, "--set", "precondition.pattern=steady"])
        .arg("--device")
        .arg(device)
        .arg("--requests")
        .arg(&log)
        .output()
        .expect("the binary runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let summary = String::from_utf8(run.stdout).expect("text");
    let measured = ["\"wall_s\"", "\"requests_per_s\""];
    let lines = summary.lines().filter(|line| !measured.iter().any(|key| line.contains(key)));
    let mut bytes = lines.collect::<Vec<_>>().join("\n");
    bytes.push_str(&std::fs::read_to_string(&log).expect("the log of requests"));
    bytes
}

/// True if `other` was built after the sources last changed, so from the sources of `this`. Cargo
/// builds the binary of the tests when they change, and `make test` the other one before that.
fn fresher(other: &Path, this: &Path) -> bool {
    let built = |path: &Path| path.metadata().and_then(|meta| meta.modified()).ok();
    let newest_source = ["crates", "presets"]
        .iter()
        .flat_map(|folder| {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder))
        })
        .filter(|path| !path.components().any(|part| part.as_os_str() == "tests"))
        .filter_map(|path| built(&path))
        .max();
    built(this).is_some() && built(other) > newest_source
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Returns the program without the checks of tests, if there is one of the same sources; otherwise
/// reports that what needs it is skipped.
pub(super) fn without_checks() -> Option<PathBuf> {
    let this = PathBuf::from(env!("CARGO_BIN_EXE_fowler"));
    let target = this.parent().and_then(Path::parent).expect("the target folder");
    let other = target.join("shipped").join("fowler");
    if fresher(&other, &this) {
        return Some(other);
    }
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: the program without checks: no fresh one at {}; `make test` makes it",
        other.display()
    );
    None
}

#[test]
fn the_same_bytes_twice_and_with_checks_and_without() {
    let this = PathBuf::from(env!("CARGO_BIN_EXE_fowler"));
    let other = without_checks();
    for scheme in ["fifo", "pes_ips", "pes_ipc"] {
        let first = output(&this, scheme);
        assert!(first.lines().count() > 20_000);
        assert!(first == output(&this, scheme), "{scheme}: two runs differ");
        if let Some(other) = &other {
            assert!(first == output(other, scheme), "{scheme}: the program without checks differs");
        }
    }
}
