//! Fleets as their user meets them: in shards, killed and taken up again, with bad input, and on a
//! disk that is full.

use crate::command::{Folder, command};
use crate::processes::{stopped, wait_until};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};

/// A life of 20 days of a drive of 64 MiB, in a moment.
const LIFE: &str = "lifetime --quiet --device ready-32 --scheme nt --years 0.0547945 \
    --dilation 4 --no-check --set geometry.channels=1 --set geometry.chips_per_channel=1 \
    --set geometry.dies_per_chip=1 --set geometry.blocks_per_plane=64 --set lifetime.cycles=400";

/// The load of an hour.
const LOAD: &str = "duration = '1h'
arrivals = { kind = 'poisson', rate = 5.0 }
mix.reads = 0.0
space.share = 0.8
writes.sizes = '4KiB 3, 16KiB 1'
";

/// The command with these arguments, separated by spaces.
fn life(here: &Folder, more: &str) -> Command {
    let load = here.file("load.toml", LOAD);
    let mut arguments: Vec<&str> = LIFE.split_whitespace().collect();
    arguments.extend(["--workload", &load]);
    arguments.extend(more.split_whitespace());
    let mut command = command(&arguments);
    command.env("XDG_CACHE_HOME", here.path("caches"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Exit code, standard output and standard error.
fn ended(mut command: Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn contents(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.map(|path| (named(&path), fs::read(&path).unwrap())).collect()
}

fn check(folder: &str, more: &[&str]) -> (Option<i32>, String) {
    let (code, out, err) = ended(command(&[&["check", folder], more].concat()));
    (code, out + &err)
}

/// As a batch system runs them, with one that is killed, and one that is lost.
// Slow: 60,000 drives twice, so that a shard can be killed while it draws.
#[test]
fn shards_merge_into_the_bytes_of_one_run() {
    let here = Folder::new("fleet-shards");
    let fleet = "--drives 60000 --early-share 0.2 --save-every 1000";
    let whole = here.path("whole");
    let (code, one, err) = ended(life(&here, &format!("{fleet} --out {whole}")));
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("drives.csv, drives.parquet"), "{err}");
    let first = here.path("s1");
    let shard = |number: u32| {
        let out = here.path(&format!("s{number}"));
        let from = if number == 1 { String::new() } else { format!("--life-of {first}") };
        life(&here, &format!("{fleet} --shard {number}/4 --out {out} {from}"))
    };
    for number in [1, 4, 2] {
        let (code, said, err) = ended(shard(number));
        assert_eq!(code, Some(0), "{err}");
        let head = format!("shard {number}/4 of a fleet of 60,000 drives, in ");
        assert!(said.starts_with(&head) && said.contains("fowler lifetime merge"), "{said}");
        let (code, said) = check(&here.path(&format!("s{number}")), &[]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("of a fleet: 15000 of 15000 drives"), "{said}");
    }
    // Killed when something is saved, and resumed.
    let file = here.0.join("s3").join("lifetime.fleet");
    let mut child = shard(3).spawn().unwrap();
    wait_until(&mut child, || file.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let all = [3, 1, 4, 2].map(|number| here.path(&format!("s{number}"))).join(" ");
    let merge = |into: &str, folders: &str| {
        let line = format!("lifetime merge {folders} --quiet --out {}", here.path(into));
        ended(command(&line.split_whitespace().collect::<Vec<_>>()))
    };
    let (code, said, err) = ended(shard(3));
    assert_eq!(code, Some(0), "{err}");
    assert!(said.contains("15,000 drives"), "{said}");
    // A lost one is missed, and leaves nothing behind.
    let (code, _, err) = merge("merged", &here.path("s2"));
    assert!(code == Some(2) && err.contains("3 shards of 4 are missing: 1, 3, 4"), "{err}");
    assert!(!fs::exists(here.path("merged")).unwrap());
    let (code, said, err) = merge("merged", &all);
    assert_eq!(code, Some(0), "{err}");
    assert!(said == one, "what is printed differs");
    assert!(contents(&whole) == contents(&here.path("merged")), "the bytes differ");
    let (code, _, err) = merge("s1", &all);
    assert!(code == Some(2) && err.contains("s1: holds a shard of a fleet"), "{err}");
    // Damage is found, and the shard is drawn again.
    let own = fs::read(&file).unwrap();
    fs::write(&file, &own[1..]).unwrap();
    let (code, said) = check(&here.path("s3"), &["--repair"]);
    assert!(code == Some(0) && said.contains("the same command draws them again"), "{said}");
    assert_eq!(ended(shard(3)).0, Some(0));
    assert!(fs::read(&file).unwrap() == own);
}

/// A fleet is stopped while it draws, in a folder and without one.
// Slow: 60,000 drives three times, so that a signal comes while they are drawn.
#[test]
fn a_fleet_that_is_stopped_resumes_to_the_same_bytes() {
    let here = Folder::new("fleet-stopped");
    let fleet = "--drives 60000 --early-share 0.2 --save-every 1000";
    let (code, whole, err) = ended(life(&here, fleet));
    assert_eq!(code, Some(0), "{err}");
    let caches = here.0.join("caches/fowler");
    let saved = || {
        let files = fs::read_dir(&caches).into_iter().flatten().map(|it| it.unwrap().path());
        files.filter(|it| it.to_string_lossy().ends_with("-fleet")).count()
    };
    assert_eq!(saved(), 0, "nothing is left of what is done");
    let out = here.path("out");
    let in_folder = format!("{fleet} --out {out}");
    let file = Path::new(&out).join("lifetime.fleet");
    let there = || file.exists();
    for (more, there) in [(&*in_folder, &there as &dyn Fn() -> bool), (fleet, &|| saved() > 0)] {
        let mut child = life(&here, more).spawn().unwrap();
        wait_until(&mut child, there);
        let ended_early = stopped(child, "TERM");
        let said = String::from_utf8_lossy(&ended_early.stderr).into_owned();
        assert!(said.contains("the same command resumes from there"), "{said}");
        assert!(there());
        let (code, said, err) = ended(life(&here, more));
        assert_eq!(code, Some(0), "{err}");
        assert!(said == whole, "the bytes differ");
        assert!(!there(), "nothing is left to resume from");
    }
    let (code, said) = check(&out, &[]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn what_is_wrong_with_a_shard_is_said() {
    let here = Folder::new("fleet-wrong");
    let out = here.path("out");
    let used = here.path("used");
    let (code, _, err) = ended(life(&here, &format!("--out {used}")));
    assert_eq!(code, Some(0), "{err}");
    let nothing = here.path("nothing");
    for (more, reported) in [
        (format!("--drives 9 --shard 4/3 --out {out}"), "--shard: is not a shard"),
        (format!("--drives 9 --shard x --out {out}"), "such as 3/40"),
        (format!("--drives 9 --shard 1/10 --out {out}"), "at most as many shards as drives"),
        ("--drives 9 --shard 1/3".into(), "--out"),
        (format!("--shard 1/3 --out {out}"), "--drives"),
        (format!("--drives 9 --shard 1/3 --json --out {out}"), "--json"),
        (format!("--drives 9 --life-of {nothing} --out {out}"), "--shard"),
        (format!("--drives 9 --shard 1/3 --out {used}"), "used: holds results of another command"),
        (
            format!("--drives 9 --shard 1/3 --out {out} --life-of {nothing}"),
            "nothing: has no life for the fleet",
        ),
    ] {
        let (code, said, err) = ended(life(&here, &more));
        assert_eq!(code, Some(2), "{more}: {err}");
        assert!(err.contains(reported) && said.is_empty(), "{more}: {err}");
    }
    for (line, reported) in [
        ("lifetime merge --out OUT", "<DIR>"),
        ("lifetime merge USED --out OUT", "is not the folder of a shard"),
        ("lifetime merge USED", "--out"),
        ("lifetime --drives 3 merge USED --out OUT", "merge"),
        ("lifetime", "--workload"),
    ] {
        let line = line.replace("USED", &used).replace("OUT", &here.path("merged"));
        let (code, said, err) = ended(command(&line.split_whitespace().collect::<Vec<_>>()));
        assert_eq!(code, Some(2), "{line}: {err}");
        assert!(err.contains(reported) && said.is_empty(), "{line}: {err}");
    }
    assert!(!fs::exists(here.path("merged")).unwrap());
}

/// Output that cannot be printed is an error, and saved files are kept.
#[test]
fn a_fleet_that_cannot_be_printed_is_an_error() {
    if !fs::exists("/dev/full").unwrap() {
        eprintln!("SKIPPED: this system has no /dev/full");
        return;
    }
    let here = Folder::new("fleet-full");
    let shard = here.path("shard");
    for more in ["--drives 99".into(), format!("--drives 99 --shard 1/1 --out {shard}")] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = life(&here, &more).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("standard output cannot be written"), "{said}");
    }
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let line = format!("lifetime merge {shard} --quiet --out {}", here.path("out"));
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let output = command(&arguments).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let (code, _, err) = ended(command(&arguments));
    assert_eq!(code, Some(0), "{err}");
}
