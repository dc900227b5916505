//! `fowler sweep` as its user meets it: planned, run, stopped, killed and taken up again.
#![cfg(feature = "parquet")]

use crate::processes::{stopped, wait_until};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The workspace: examples and documents name files from there.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sweeps").join(name);
    let _absent = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fowler"));
    command.arg("sweep").args(arguments).current_dir(root()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).env_remove("COLUMNS");
    command
}

fn reported(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn fowler(arguments: &[&str]) -> (Option<i32>, String, String) {
    reported(&command(arguments).output().unwrap())
}

/// Every file below a folder, by name, with its bytes.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            match fs::read(&path) {
                Ok(bytes) => files.push((name, bytes)),
                // The sweep runs on while its folder is looked at: this one has just got its final
                // name.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
    }
    files.sort();
    files
}

/// The example of the documents, which say what it says and what comes of it.
#[test]
fn the_worked_example_is_as_the_documents_say() {
    let example = fs::read_to_string(root().join("examples/sweep.toml")).unwrap();
    let document = fs::read_to_string(root().join("docs/sweeps.md")).unwrap();
    let (_about, rest) = example.split_once('\n').unwrap();
    assert!(
        document.contains(&format!("```toml sweep\n{rest}```")),
        "the example in the document is another"
    );
    let out = folder("example");
    let out_text = out.display().to_string();
    let arguments = ["examples/sweep.toml", "--out", &out_text, "--quiet"];
    let (code, planned, err) = fowler(&[&arguments[..], &["--dry-run"]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(planned.contains("12 points, 12 runs") && planned.contains("262144"), "{planned}");
    assert!(!planned.contains("will fail"), "{planned}");
    assert!(contents(&out).is_empty(), "nothing is written");
    let (code, first, err) = fowler(&arguments);
    assert_eq!(code, Some(0), "{err}");
    assert!(first.contains("| points | finished | failed | runs now |"), "{first}");
    assert!(first.contains("| 12     |       12 |      0 |       12 |"), "{first}");
    let files = contents(&out);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    for extension in [".parquet", ".sha256"] {
        let points = |name: &&&str| name.starts_with("points/") && name.ends_with(extension);
        assert_eq!(names.iter().filter(points).count(), 12, "{names:?}");
    }
    assert!(names.contains(&"sweep.toml") && names.contains(&"design.parquet"), "{names:?}");
    let (_, again, _) = fowler(&arguments);
    assert!(again.contains("| 12     |       12 |      0 |        0 |"), "{again}");
    assert!(files == contents(&out));
}

/// Thirty-two points that take long enough to be interrupted. Eight make no drive, all for one
/// reason: they are one run.
fn long(folder: &Path) -> String {
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/small.toml");
    let text = format!(
        "device = '{}'\nworkload = 'mixed-70-30'\nlimit = 20_000\nrequests = true\n[axis]\n\
         scheme = ['fifo', 'pes_ipc']\nseed = [1, 2, 3, 4]\n'geometry.over_provisioning' = [0.2, 0.25, 0.3, 0.0]\n",
        device.display()
    );
    let path = folder.join("long.toml");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn points(out: &Path) -> Vec<(String, Vec<u8>)> {
    let points = contents(out).into_iter();
    points.filter(|(name, _)| name.starts_with("points/") && name.ends_with(".parquet")).collect()
}

/// Starts a sweep and waits until so many points are finished, and some that are not have begun.
fn begun(arguments: &[&str], out: &Path, finished: usize) -> Child {
    let mut child = command(arguments).spawn().unwrap();
    wait_until(&mut child, || out.join("points").exists() && points(out).len() >= finished);
    child
}

// Slow: a sweep that is long enough to be killed and stopped in the middle.
#[test]
fn whatever_ends_it_no_finished_point_is_lost_or_run_again() {
    let here = folder("killed");
    let spec = long(&here);
    let (whole, parts) = (here.join("whole"), here.join("parts"));
    let arguments = |out: &Path| {
        let out = out.display().to_string();
        ["--quiet".to_string(), spec.clone(), "--out".into(), out]
    };
    let arguments = |out: &Path| arguments(out).map(|it| -> &'static str { it.leak() });
    let (code, text, err) = fowler(&arguments(&whole));
    assert_eq!(code, Some(0), "{err}");
    assert!(text.contains("| 32     |       32 |      8 |       25 |"), "{text}");
    // On one thread, so that much is left to do when it happens, however late that is.
    let alone = [&arguments(&parts)[..], &["--threads", "1"]].concat();
    // Killed, with no chance to put anything in order.
    let mut child = begun(&alone, &parts, 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let saved = points(&parts);
    assert!((3..25).contains(&saved.len()), "{} points", saved.len());
    // Stopped, in good order.
    let child = begun(&alone, &parts, saved.len() + 1);
    let (_, _, err) = reported(&stopped(child, "TERM"));
    assert!(err.contains("the same command resumes from there"), "{err}");
    let written =
        |(name, _): &(String, Vec<u8>)| fs::metadata(parts.join(name)).unwrap().modified().unwrap();
    let before: Vec<_> = points(&parts).iter().map(written).collect();
    let saved = points(&parts);
    let (code, text, err) = fowler(&[&arguments(&parts)[..], &["--threads", "3"]].concat());
    assert_eq!(code, Some(0), "{err}");
    let now = format!("{}", 25 - saved.len());
    let counts: Vec<&str> = text.lines().nth(2).unwrap().split('|').map(str::trim).collect();
    assert_eq!(counts[1..5], ["32", "32", "8", &now], "{text}");
    let after: Vec<_> = saved.iter().map(written).collect();
    assert_eq!(before, after, "what was finished is not written again");
    assert!(contents(&whole) == contents(&parts), "the bytes differ");
}

#[test]
fn what_is_wrong_is_said_before_anything_is_written() {
    let here = folder("wrong");
    let out = here.join("out").display().to_string();
    let spec = here.join("wrong.toml");
    fs::write(&spec, "workload = 'dmo'\nlimit = 0\n[axis]\nsede = [1]\n").unwrap();
    let (code, _, err) = fowler(&[&spec.display().to_string(), "--out", &out]);
    assert_eq!(code, Some(2));
    assert!(err.contains("wrong.toml:2: `limit`: 0 is outside"), "{err}");
    assert!(
        err.contains("wrong.toml:4: unknown axis `sede`") && err.contains("did you mean `seed`?"),
        "{err}"
    );
    assert!(!Path::new(&out).exists());
    let (code, _, err) = fowler(&[&here.join("absent.toml").display().to_string()]);
    assert_eq!(code, Some(2));
    assert!(err.contains("absent.toml: cannot be read"), "{err}");
    // A specification that lies where its results go stays what it is.
    let own = here.join("sweep.toml");
    let text = "device = 'pes-mlc'\nworkload = 'demo'\nlimit = 10\nset = ['geometry.blocks_per_plane=64', 'gc.background_below=12']\n[axis]\nseed = [1]\n";
    fs::write(&own, text).unwrap();
    let (code, _, err) =
        fowler(&[&own.display().to_string(), "--out", &here.display().to_string(), "--quiet"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(fs::read_to_string(&own).unwrap(), text);
    assert_eq!(points(&here).len(), 1);
}

/// Shards as a batch system runs them: some are killed and run again, and all are merged.
// Slow: a sweep as one and as ten shards, some of them run twice.
#[test]
fn shards_that_were_killed_merge_into_the_bytes_of_one_run() {
    const SHARDS: usize = 10;
    let here = folder("shards");
    let spec = long(&here);
    let (whole, merged) = (here.join("whole"), here.join("merged"));
    let (code, one, err) = fowler(&["--quiet", &spec, "--out", &whole.display().to_string()]);
    assert_eq!(code, Some(0), "{err}");
    let out = |number: usize| here.join(format!("part-{number}"));
    let arguments = |number: usize| {
        let out = out(number).display().to_string();
        let shard = format!("{number}/{SHARDS}");
        ["--quiet", &spec, "--shard", &shard, "--out", &out, "--threads", "1"].map(String::from)
    };
    let shard = |number: usize| {
        let arguments = arguments(number);
        fowler(&arguments.each_ref().map(String::as_str))
    };
    // The last first. Of every third one, a process is killed when it has begun.
    for number in (1..=SHARDS).rev() {
        if number % 3 == 0 {
            let arguments = arguments(number);
            let mut child = begun(&arguments.each_ref().map(String::as_str), &out(number), 1);
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(points(&out(number)).len() < 3, "it was killed in the middle");
        } else {
            let (code, text, err) = shard(number);
            assert_eq!(code, Some(0), "{err}");
            assert!(text.contains(&format!("shard {number}/{SHARDS}, in ")), "{text}");
            assert!(text.contains("fowler sweep merge"), "{text}");
        }
    }
    let parts: Vec<String> = (1..=SHARDS).map(|it| out(it).display().to_string()).collect();
    let mut merge = vec!["merge", "--quiet", "--out"];
    let to = merged.display().to_string();
    merge.push(&to);
    merge.extend(parts.iter().map(String::as_str));
    let (code, _, err) = fowler(&merge);
    assert!(code == Some(2) && err.contains("not finished"), "{err}");
    assert!(!merged.exists());
    for number in (1..=SHARDS).filter(|number| number % 3 == 0) {
        assert_eq!(shard(number).0, Some(0));
    }
    let (code, text, err) = fowler(&merge);
    assert_eq!(code, Some(0), "{err}");
    assert!(text.starts_with("10 shards in one folder"), "{text}");
    assert!(contents(&whole) == contents(&merged), "the bytes differ");
    // The merged shards have the same findings as one run.
    let found = |text: &str| text.split_once("\nPoints").map(|(_, rest)| rest.replace(&to, ""));
    let one = one.replace(&whole.display().to_string(), "");
    assert!(found(&one).is_some() && found(&one) == found(&text), "{one}{text}");
}

#[test]
fn shards_are_refused_in_words() {
    let here = folder("shard-words");
    let spec = long(&here);
    let out = here.join("out").display().to_string();
    for wrong in ["0/4", "5/4", "4", "a/b"] {
        let (code, _, err) = fowler(&[&spec, "--shard", wrong, "--out", &out]);
        assert!(code == Some(2) && err.contains("--shard: is not a shard"), "{err}");
        assert!(err.contains(&format!("text: {wrong}")), "{err}");
    }
    let (code, _, err) = fowler(&["merge", "--out", &out, &here.display().to_string()]);
    assert!(code == Some(2) && err.contains("is not the folder of a shard"), "{err}");
    assert!(!Path::new(&out).exists());
    for arguments in [&["merge", &*out][..], &[], &[&*spec, "merge"]] {
        assert_eq!(fowler(arguments).0, Some(2), "{arguments:?}");
    }
}
