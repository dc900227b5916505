//! Commands that are killed and repeated: the one that finishes leaves what one that nobody killed
//! leaves, and nothing of its predecessor.
#![cfg(unix)]

use crate::command::{Folder, command};
use crate::processes::{signal, wait_until};
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// The names of unfinished files in a folder.
fn unfinished(folder: &Path) -> Vec<String> {
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let names = files.map(|it| it.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".partial")).collect()
}

/// Kills a command six times while it writes a file whose name begins with `writes`, repeats it to
/// its end, and checks what is left.
fn killed_and_repeated(folder: &Folder, arguments: &[&str], writes: &str) {
    let out = folder.path("out");
    let arguments = [arguments, &["--quiet", "--out", &out]].concat();
    let mut left = 0;
    for kill in 0..6 {
        let mut child =
            command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let own = format!(".{:08x}-", child.id());
        let writing = |name: &String| name.starts_with(writes) && name.contains(&own);
        wait_until(&mut child, || unfinished(Path::new(&out)).iter().any(writing));
        signal(&child, "KILL");
        child.wait().unwrap();
        let now = unfinished(Path::new(&out));
        left += now.len();
        assert!(now.iter().all(|name| name.contains(&own)), "kill {kill}: {now:?}");
    }
    assert!(left > 0, "no kill came while a file was written");
    // The kills may have saved all of a life but its end, so a life is repeated as it is, and a run
    // with a limit.
    let short = [&arguments[..], &["--limit", "500"]].concat();
    let last = if arguments[0] == "run" { &short } else { &arguments };
    let output = command(last).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(unfinished(Path::new(&out)), [""; 0]);
    let output = command(&["check", &out]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_killed_run_leaves_nothing_to_its_successor() {
    let folder = Folder::new("killed-run");
    let load = "requests = 5_000_000\narrivals.kind = \"closed\"\nmix.reads = 0.9\n";
    let load = folder.file("load.toml", load);
    let run = ["run", "--device", "small.toml", "--workload", &load, "--requests"];
    killed_and_repeated(&folder, &run, "requests.parquet.");
}

#[cfg(feature = "report")]
#[test]
fn a_killed_life_leaves_nothing_to_its_successor() {
    let folder = Folder::new("killed-life");
    let load = "duration = '1h'\narrivals = { kind = 'poisson', rate = 20.0 }\nmix.reads = 0.0\n\
                space.share = 0.8\n";
    let load = folder.file("load.toml", load);
    let set = ["geometry.channels=1", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1"];
    let more = ["geometry.blocks_per_plane=32", "lifetime.cycles=400"];
    let set: Vec<&str> = set.iter().chain(&more).flat_map(|it| ["--set", *it]).collect();
    let life = ["lifetime", "--device", "ready-32", "--workload", &load, "--dilation", "2"];
    let rest = ["--years", "0.004", "--no-check", "--save-every", "2000"];
    killed_and_repeated(&folder, &[&life[..], &rest, &set].concat(), "lifetime.checkpoint.");
}
