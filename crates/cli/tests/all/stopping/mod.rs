//! Commands that are stopped: what they print and leave.

use crate::command::{Folder, command};
use crate::processes::{signal, stopped, wait_until};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

#[test]
fn a_stopped_conversion_leaves_nothing() {
    let folder = Folder::new("stop-convert");
    let load = folder.file("endless.toml", ENDLESS);
    let trace = folder.path("trace.csv");
    let mut child = command(&["trace", "synth", &load, &trace, "--device", "small.toml"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(&mut child, || unfinished(&folder, "trace.csv") >= 1 << 20);
    stopped(child, "TERM");
    let left: Vec<_> =
        fs::read_dir(&folder.0).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["endless.toml"]);
}

/// More than anybody waits for, and yet no more than a disk holds.
const ENDLESS: &str = "requests = 5_000_000\narrivals.kind = \"closed\"\nmix.reads = 0.9\n";

/// Length in bytes of the unfinished file that will have this name when it is finished, beyond the
/// one byte with which the program tries whether the file can be written before a run begins.
fn unfinished(folder: &Folder, name: &str) -> u64 {
    let is_it = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(&format!("{name}.")) && file.ends_with(".partial")
    };
    let files = fs::read_dir(&folder.0).unwrap().map(|it| it.unwrap().path()).filter(is_it);
    let lengths = files.map(|path| fs::metadata(path).map_or(0, |facts| facts.len()));
    lengths.max().unwrap_or(0).saturating_sub(1)
}

/// Columns of a comparison that was cut short are of different requests, unless by chance.
#[test]
fn a_stopped_comparison_relates_only_what_is_alike() {
    let folder = Folder::new("stop-compare");
    let load = folder.file("endless.toml", ENDLESS);
    let log = folder.path("r.csv");
    let arguments = ["compare", "--device", "small.toml", "--workload", &load];
    let mut child =
        command(&[&arguments[..], &["--schemes", "fifo,pe0", "--requests", &log]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    for log in ["r.fifo.csv", "r.pe0.csv"] {
        wait_until(&mut child, || unfinished(&folder, log) > 0);
    }
    let output = stopped(child, "TERM");
    let text = String::from_utf8_lossy(&output.stdout);
    let count = |scheme: &str| {
        let line = text.lines().find(|line| line.contains(&format!("requests under {scheme}:")));
        line.and_then(|line| line.split_whitespace().nth(2)).unwrap_or_else(|| panic!("{text}"))
    };
    let alike = count("fifo") == count("pe0");
    let row = text.lines().find(|line| line.contains("read mean")).unwrap();
    assert_eq!(row.contains("x |"), alike, "{text}");
    assert_eq!(!text.contains("no ratios for pe0"), alike, "{text}");
}

/// Starts a run that writes to `requests.csv` as `sh` starts it after `before`, and returns once it
/// has begun; the signal handler is there before that.
fn begun(folder: &Folder, before: &str) -> Child {
    let load = folder.file("endless.toml", ENDLESS);
    let log = folder.path("requests.csv");
    let given =
        command(&["run", "--device", "small.toml", "--workload", &load, "--requests", &log]);
    let script = format!("{before} \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .arg(given.get_program())
        .args(given.get_args())
        .current_dir(given.get_current_dir().unwrap())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(&mut child, || unfinished(folder, "requests.csv") > 0);
    child
}

fn prints_what_it_has(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("interrupted after") && text.contains("stopped by the user"), "{text}");
}

#[test]
fn a_stopped_run_prints_what_it_has() {
    let folder = Folder::new("stop");
    prints_what_it_has(&stopped(begun(&folder, "exec"), "TERM"));
}

/// GNU `env` gives a signal back that whoever runs the tests ignores.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_and_a_closing_terminal_stop_a_run() {
    for name in ["INT", "HUP"] {
        let folder = Folder::new(&format!("stop-{name}"));
        let child = begun(&folder, &format!("exec env --default-signal={name}"));
        prints_what_it_has(&stopped(child, name));
    }
}

/// A script that starts the run with `&` ignores SIGINT, `nohup` ignores SIGHUP: the run lives on.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    for name in ["INT", "HUP"] {
        let folder = Folder::new(&format!("stop-no-{name}"));
        let mut child = begun(&folder, &format!("trap '' {name}; exec"));
        signal(&child, name);
        let length = || unfinished(&folder, "requests.csv");
        let before = length();
        wait_until(&mut child, || length() > before + (1 << 16));
        prints_what_it_has(&stopped(child, "TERM"));
    }
}
