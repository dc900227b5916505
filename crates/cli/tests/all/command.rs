//! The program as its user meets it: what it prints, what it writes, how it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder for one test, gone when the test is.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _absent = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// Runs the program from the folder of these tests, so that file names in messages are short.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fowler"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"));
    command.stdin(Stdio::null()).env_remove("COLUMNS");
    command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("caches"));
    command
}

fn fowler(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// Exit code, standard output and standard error, as one text.
fn reported(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = fowler(arguments);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!(
        "$ fowler {}\nexit {}\n--- stdout\n{}--- stderr\n{}",
        arguments.join(" "),
        status.code().unwrap(),
        text(&stdout),
        text(&stderr)
    )
}

const SMALL: [&str; 6] =
    ["--device", "small.toml", "--workload", "small-load.toml", "--quiet", "--json"];

fn json(arguments: &[&str]) -> serde_json::Value {
    let output = fowler(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Everything but how long the simulation took.
fn without_clock(mut value: serde_json::Value) -> serde_json::Value {
    if let Some(object) = value.as_object_mut() {
        object.remove("wall_s");
        object.remove("requests_per_s");
    }
    match value {
        serde_json::Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| (key, without_clock(value))).collect()
        }
        serde_json::Value::Array(items) => items.into_iter().map(without_clock).collect(),
        other => other,
    }
}

#[test]
fn help_is_complete() {
    let helps = [
        reported(&["--help"]),
        reported(&["run", "--help"]),
        reported(&["compare", "--help"]),
        reported(&["explain", "--help"]),
        reported(&["sweep", "--help"]),
        reported(&["chip", "--help"]),
        reported(&["validate", "--help"]),
        reported(&["score", "--help"]),
        reported(&["calibrate", "--help"]),
        reported(&["measure", "--help"]),
        reported(&["pts", "--help"]),
        reported(&["endurance", "--help"]),
        reported(&["fio", "--help"]),
        reported(&["physics", "--help"]),
        reported(&["physics", "plot", "--help"]),
        reported(&["trace", "convert", "--help"]),
    ];
    insta::assert_snapshot!("help", helps.join("\n"));
}

#[test]
fn presets_are_listed_and_printed() {
    let texts = [
        reported(&["presets"]),
        reported(&["presets", "pes-mlc"]),
        reported(&["presets", "--on", "ready-128"]),
        reported(&["presets", "--keys"]),
    ];
    insta::assert_snapshot!("presets", texts.join("\n"));
}

/// Each case: the arguments, and what each error says.
const WRONG_FLAGS: &[(&str, &[&[&str]])] = &[
    (
        "run --devise x --limit abc --bogus",
        &[&["'--devise'", "'--device'"], &["'abc'", "'--limit <"], &["'--bogus'"], &["--workload"]],
    ),
    ("run --workload demo --bogus 7 --limit=- --seed", &[&["'--bogus'"], &["'-'"], &["'--seed <"]]),
    ("run --workload demo --limit=abc --set", &[&["'abc'"], &["'--set <"]]),
    ("run --workload demo --bogus=1 -x y", &[&["'--bogus'"], &["'-x'"], &["'y'"]]),
    ("run --workload demo --bogus -- --bogus", &[&["'--bogus'"], &["'--bogus'"]]),
    ("run --bogus --help", &[&["'--bogus'"]]),
    ("compare --workload demo --schemes rps --shemes rps", &[&["'--shemes'", "'--schemes'"]]),
    ("check --bogus", &[&["'--bogus'"], &["<DIR>"]]),
    ("check --repare here", &[&["'--repare'", "'--repair'"]]),
    ("trace convert --limt 1 a.csv", &[&["'--limt'", "'--limit'"]]),
    ("--bogus", &[&["'--bogus'"]]),
    ("trace --bogus", &[&["'--bogus'"]]),
    ("run --worklod demo", &[&["'--worklod'", "'--workload'"]]),
    ("run --workload demo --device tlc demo --outt o", &[&["'demo'"], &["'--outt'", "'--out'"]]),
    ("comparre --bogus", &[&["'comparre'", "'compare'"]]),
    ("run --workload demo --timeline slowest:3 --outt out", &[&["'--outt'", "'--out'"]]),
];

#[test]
fn all_wrong_flags_are_said_at_once() {
    for (arguments, expected) in WRONG_FLAGS {
        let words: Vec<&str> = arguments.split(' ').collect();
        let Output { status, stdout, stderr } = fowler(&words);
        let said = String::from_utf8(stderr).unwrap();
        assert_eq!((status.code(), stdout.len()), (Some(2), 0), "{arguments} {said}");
        let errors: Vec<&str> = said.split("error: ").skip(1).collect();
        assert_eq!(errors.len(), expected.len(), "{arguments}\n{said}");
        // Clap reads values after it has read names, so the errors are not in order.
        for words in *expected {
            let says = |error: &&str| words.iter().all(|word| error.contains(word));
            assert!(errors.iter().any(says), "{arguments}: {words:?}\n{said}");
        }
        assert!(said.matches("try '--help'").count() <= 1, "{said}");
    }
    let many: Vec<String> = (0..100).map(|n| format!("--bogus-{n}")).collect();
    let many: Vec<&str> = ["run"].into_iter().chain(many.iter().map(String::as_str)).collect();
    let said = String::from_utf8(fowler(&many).stderr).unwrap();
    assert_eq!(said.matches("error: ").count(), 20, "{said}");
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let trace = ["--trace", "absent.csv"];
    let cases: [&[&str]; 14] = [
        &["run"],
        &["run", "--workload", "demo", "--trace", "absent.csv"],
        &["run", "--device", "pes-mcl", "--workload", "dmo", "--scheme", "pes_icp", "--idle", "7"],
        &[
            "run",
            "--device",
            "pes-mlc",
            "--workload",
            "demo",
            "--set",
            "timing.raed=30us",
            "--set",
            "timing.read=30",
            "--set",
            "policy.victim=greddy",
            "--set",
            "seed",
            "--set",
            "gc.idle_after=-1ms",
        ],
        &["run", trace[0], trace[1], "--format", "ssdsim", "--remap", "wrap", "--lenient", "half"],
        &["compare", "--workload", "demo", "--schemes", "rps,pes_ips+pes_ipc,rps"],
        &["run", "--device", "small.toml", "--workload", "demo", "--out", "small.toml/out"],
        &["run", "--device", "small.toml", "--workload", "demo", "--requests"],
        &["run", "--device", "small.toml", "--workload", "random-read", "--speed", "2"],
        &["run", "--device", "small.toml", "--workload", "demo", "--format", "spc"],
        &[
            "run",
            "--device",
            "small.toml",
            "--workload",
            "demo",
            "--set",
            "geometry.over_provisioning=0",
        ],
        &[
            "run",
            "--device",
            "rhio",
            "--workload",
            "demo",
            "--scheme",
            "pes_ipc+rhio",
            "--set",
            "reliability.levels=4",
            "--set",
            "policy.die_order.deadline=15us",
            "--set",
            "policy.hotness=request_size+foo",
            "--set",
            "policy.sensing.inputs=[age, ]",
            "--set",
            "reliability.table.rates=[[1e-4, 1], 2]",
        ],
        &["compare", "--device", "pes-mlc", "--workload", "demo", "--schemes", "noop,rt_r,rhio"],
        &["presets", "pes_mlc"],
    ];
    let texts: Vec<String> = cases.iter().map(|case| reported(case)).collect();
    insta::assert_snapshot!("errors", texts.join("\n"));
}

#[test]
fn a_run_reports() {
    let mut arguments = vec!["compare", "--full", "--schemes", "fifo,pes_ipc"];
    arguments.extend(&SMALL[..5]);
    let output = fowler(&arguments);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "| read p99.999 (us)",
        "write amplification",
        "slowest 1 % of reads",
        "over-provisioning 25.0 %",
        "of raw, 33.3 % of logical",
        "small-load.toml: 4,000 requests",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("NaN") && !text.contains("inf"));
}

#[test]
fn the_json_has_the_promised_keys() {
    let mut arguments = vec!["run", "--scheme", "pes_ips"];
    arguments.extend(SMALL);
    let run = json(&arguments);
    for key in [
        "requests",
        "waf",
        "erases",
        "suspensions",
        "blame",
        "simulated_s",
        "wall_s",
        "requests_per_s",
        "config_hash",
    ] {
        assert!(!run[key].is_null(), "{key}: {run:#}");
    }
    let laws = run["laws"].as_object().unwrap();
    assert_eq!(laws.len(), 6);
    assert!(laws.values().all(|law| law["holds"] == true), "{laws:#?}");
    assert!(run["flash_bytes_per_host_byte"].as_f64() >= run["waf"].as_f64());
    for kind in ["read", "write"] {
        let count = run[kind]["count"].as_u64().unwrap();
        // A percentile that no request lies above is not known; its key is there all the same.
        for (key, least) in [
            ("count", 0),
            ("mean_us", 1),
            ("min_us", 1),
            ("p50_us", 1),
            ("p90_us", 10),
            ("p95_us", 20),
            ("p99_us", 100),
            ("p999_us", 1_000),
            ("p9999_us", 10_000),
            ("p99999_us", 100_000),
            ("max_us", 1),
        ] {
            let value = run[kind].get(key).unwrap_or_else(|| panic!("{kind}.{key}"));
            assert_eq!(value.is_number(), count >= least, "{kind}.{key}: {value}");
            assert_eq!(value.is_null(), count < least, "{kind}.{key}: {value}");
        }
    }
    assert_eq!(run["requests"], 4000);
    // The configuration in a result is a device file of its own: it makes the same result again.
    let folder = Folder::new("again");
    let device = folder.file("drive.toml", run["provenance"]["config"].as_str().unwrap());
    let load = folder.file("load.toml", run["provenance"]["generator"].as_str().unwrap());
    let again = json(&["run", "--device", &device, "--workload", &load, "--json"]);
    for key in ["read", "write", "blame", "counters", "simulated_s", "config_hash"] {
        assert_eq!(run[key], again[key], "{key}");
    }
}

#[test]
fn the_json_says_what_voltages_wore() {
    let set =
        ["geometry.blocks_per_plane=64", "geometry.channels=1", "precondition.pattern=random"];
    let mut arguments =
        vec!["run", "--device", "hire", "--workload", "f1", "--limit", "20000", "--json"];
    arguments.extend(set.iter().flat_map(|it| ["--set", it]));
    let under = |scheme: &str| {
        let mut arguments = arguments.clone();
        arguments.extend(["--scheme", scheme]);
        json(&arguments)
    };
    let number = |run: &serde_json::Value, pointer: &str| {
        run.pointer(pointer).and_then(|it| it.as_u64()).unwrap()
    };
    let (hire, base) = (under("hire"), under("noop"));
    let all: u64 = ["host", "gc", "wear", "refresh"]
        .iter()
        .map(|it| number(&hire, &format!("/counters/programs/{it}")))
        .sum();
    let at = ["boosted", "nominal", "reduced"]
        .map(|it| number(&hire, &format!("/counters/programs_at/{it}")));
    assert!(all > 0 && at.iter().sum::<u64>() == all, "{at:?} of {all}");
    let weight = at.iter().zip([1.2, 1.0, 0.8]).map(|(&n, scale)| n as f64 * scale).sum::<f64>()
        / all as f64;
    assert!((hire["wearing_weight"].as_f64().unwrap() - weight).abs() < 1e-12 && weight < 1.0);
    assert!(
        number(&hire, "/counters/left/write_hot") > 0 && hire["counters"]["rewritten"].is_null()
    );
    assert_eq!(base["wearing_weight"], 1.0);
    assert!(base["counters"]["left"].is_null());
    // Without a model of errors there is nothing to tell.
    let mut plain = vec!["run", "--scheme", "fifo"];
    plain.extend(SMALL);
    let plain = json(&plain);
    assert!(plain["wearing_weight"].is_null() && plain["counters"]["programs_at"].is_null());
}

#[test]
fn every_request_is_logged_and_its_parts_sum() {
    let folder = Folder::new("log");
    let (out, log) = (folder.path("out"), folder.path("out/requests.csv"));
    let mut arguments = vec!["run", "--scheme", "rps", "--requests", &log, "--out"];
    arguments.push(&out);
    arguments.extend(SMALL);
    let printed = json(&arguments);
    let summary = fs::read_to_string(folder.0.join("out/summary.json")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&summary).unwrap(), printed);
    let log = fs::read_to_string(folder.0.join("out/requests.csv")).unwrap();
    let mut lines = log.lines();
    assert!(lines.next().unwrap().starts_with("id,op,offset,size,at_ns,done_ns,latency_ns,"));
    let mut reads = (0, 0);
    for line in lines.clone() {
        let cells: Vec<&str> = line.split(',').collect();
        let numbers: Vec<u64> = cells[2..].iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(numbers[4], numbers[3] - numbers[2], "{line}");
        assert_eq!(numbers[4], numbers[5..].iter().sum::<u64>(), "{line}");
        if cells[1] == "read" {
            reads = (reads.0 + 1, reads.1 + numbers[4]);
        }
    }
    assert_eq!(lines.count(), 4000);
    assert_eq!(printed["read"]["count"], reads.0);
    let mean = printed["read"]["mean_us"].as_f64().unwrap();
    assert!((mean - reads.1 as f64 / f64::from(reads.0) / 1e3).abs() < 1e-9);
}

#[test]
fn results_depend_on_the_seed_and_on_nothing_else() {
    let mut arguments = vec!["compare", "--schemes", "fifo,rps,per,pe0,pes_ips,pes_ipc,noop"];
    arguments.extend(SMALL);
    let with_threads = |threads: &str, seed: &str| {
        let mut command = command(&arguments);
        let output =
            command.args(["--seed", seed]).env("RAYON_NUM_THREADS", threads).output().unwrap();
        without_clock(serde_json::from_slice(&output.stdout).unwrap())
    };
    let one = with_threads("1", "5");
    assert_eq!(one, with_threads("3", "5"));
    assert_ne!(one, with_threads("3", "6"));
    let reads = |index: usize| one["schemes"][index]["read"].clone();
    assert_eq!(reads(0), reads(6), "noop is fifo under another name");
    assert_ne!(reads(0), reads(1));
}

#[test]
fn a_trace_that_goes_wrong_keeps_what_came_before() {
    let folder = Folder::new("broken");
    let mut text = String::from("at_ns,op,offset,size\n");
    for request in 0..100 {
        text += &format!("{},read,{},4096\n", request * 100_000, request * 4096);
    }
    text += "10000000,read,zero,4096\n10000001,read,0,4096\n10000002,peek,0,4096\n";
    let trace = folder.file("broken.csv", &text);
    let arguments = ["run", "--device", "small.toml", "--trace", &trace, "--format", "native"];
    let output = fowler(&arguments);
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2));
    assert!(out.starts_with("100 requests of "), "{out}");
    assert!(out.contains("interrupted after 100 requests"), "{out}");
    assert!(err.contains("broken.csv:102: ") && err.contains("broken.csv:104: "), "{err}");
    let lenient = fowler(&[&arguments[..], &["--lenient", "5"]].concat());
    assert_eq!(lenient.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&lenient.stdout).contains("101 requests; 2 bad lines skipped"));
}

#[test]
fn forbidden_reads_are_an_error_after_the_result() {
    let settings = ["--set", "precondition.fill=0", "--set", "ftl.unwritten_reads=error"];
    let output = fowler(&[&["run"], &SMALL[..5], &settings].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("never-written pages were read"));
}

/// Runs on the small drive with more arguments; what must have failed, as standard error.
pub(crate) fn refused(arguments: &[&str]) -> String {
    let output = fowler(arguments);
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {err}");
    assert!(!err.contains("panicked"), "{err}");
    err
}

#[test]
fn stripes_that_cannot_work_are_refused_with_the_numbers() {
    for (scheme, set, said) in [
        ("raid5", "policy.redundancy.stripe=9", "parity page per stripe do not fit on 9 chips"),
        ("raid5", "geometry.channels=10", "of 9 pages do not divide the drive's 10 chips"),
        ("hc", "buffer.size=56KiB", "smaller than a stripe of 8 pages of 8KiB"),
        (
            "da_raid5",
            "policy.redundancy.worn_above=20000",
            "20000 P/E cycles, but live for only 20000",
        ),
    ] {
        let drive = ["run", "--device", "da-raid5", "--scheme", scheme, "--set", set];
        let err = refused(&[&drive[..], &["--workload", "da-tpcc", "--limit", "10"]].concat());
        assert!(err.contains(said), "{scheme} {set}: {err}");
    }
}

#[test]
fn a_time_beyond_what_is_counted_is_a_bad_line() {
    let folder = Folder::new("late");
    for late in ["18446744073709551615", "9223372036854775808"] {
        let text = format!("at_ns,op,offset,size\n0,read,0,4096\n{late},write,0,4096\n");
        let trace = folder.file("late.csv", &text);
        let err = refused(&["run", "--device", "small.toml", "--trace", &trace]);
        assert!(err.contains("late.csv:3: `at_ns` is too large"), "{err}");
    }
    let trace = folder.file("last.csv", "at_ns,op,offset,size\n9223372036854775807,write,0,4096\n");
    let arguments = ["run", "--device", "small.toml", "--trace", &trace, "--json"];
    let run = json(&arguments);
    assert_eq!(run["requests"], 1);
    assert!(run["simulated_s"].as_f64().unwrap() < 1.0, "time counts from the first request on");
    let err = refused(&[&arguments[..], &["--speed", "0.5"]].concat());
    assert!(err.contains("beyond 292 years"), "{err}");
}

#[test]
fn no_output_replaces_what_is_read_or_written() {
    let folder = Folder::new("clash");
    let text = "at_ns,op,offset,size\n0,read,0,4096\n";
    let trace = folder.file("self.csv", text);
    let drive = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/small.toml"));
    let device = folder.file("drive.toml", &drive.unwrap());
    let out = folder.path("d");
    let summary = folder.path("d/./summary.json");
    let run = ["run", "--device", &device, "--trace", &trace];
    for (arguments, reported) in [
        (vec!["--requests", &trace], "is also what --trace reads"),
        (vec!["--requests", &device], "is also what --device reads"),
        (
            vec!["--requests", "log.txt"],
            "expected: a request log whose file name ends in .parquet or .csv",
        ),
        (vec!["--out", &out, "--requests", &summary], "is also what --out writes"),
    ] {
        let err = refused(&[&run[..], &arguments].concat());
        assert!(err.contains(reported), "{err}");
    }
    let err = refused(&["trace", "convert", &trace, &trace]);
    assert!(err.contains("is also what the trace reads"), "{err}");
    assert_eq!(fs::read_to_string(&trace).unwrap(), text);
    // A file that is called like an unfinished one is the user's.
    let theirs = folder.file("log.csv.partial", "theirs");
    let log = folder.path("log.csv");
    json(&[&run[..], &["--requests", &log, "--json"]].concat());
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 2);
    let mut left: Vec<_> =
        fs::read_dir(&folder.0).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["drive.toml", "log.csv", "log.csv.partial", "self.csv"]);
}

#[test]
fn chip_and_trace_tell_everything_at_once() {
    let folder = Folder::new("at-once");
    let commands = folder.file("c.csv", "at_ns,op\n0,peek\n");
    let scheme = folder.file("s.toml", "timing.read = \"1us\"\npolicy.die_order = \"fifo\"\n");
    let device = ["--device", "small.toml", "--set", "timing.raed=1us"];
    let err = refused(&[&["chip", "--scheme", &scheme, &commands], &device[..]].concat());
    for reported in ["a scheme cannot set `timing.read`", "unknown key `timing.raed`", "c.csv:2: "]
    {
        assert!(err.contains(reported), "{reported}: {err}");
    }
    let err = refused(&["trace", "info", "absent.csv", "--format", "spx", "--lenient", "all"]);
    for reported in ["unknown format `spx`", "`all` is no percentage", "absent.csv: cannot be read"]
    {
        assert!(err.contains(reported), "{reported}: {err}");
    }
    let load = folder.file("w.toml", "requests = 0\narrivals.kind = \"posson\"\n");
    let err = refused(&[&["run", "--workload", &load, "--idle", "1e308"], &device[..]].concat());
    for reported in
        ["unknown key `timing.raed`", "did you mean \"poisson\"?", "1e308 is not a share"]
    {
        assert!(err.contains(reported), "{reported}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_trace() {
    let mut child = command(&["run", "--device", "small.toml", "--trace", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("a pipe or a device") && err.contains("to a file first"), "{err}");
}

#[test]
fn hints_name_the_flag() {
    let folder = Folder::new("flags");
    let open = folder.file("open", "979 0 287641400 128 1\n");
    let several = folder.file("several", "0,8,512,R,0.5\n1,8,512,R,0.6\n");
    let far = folder.file("far.csv", "at_ns,op,offset,size\n0,read,1099511627776,512\n");
    let flagged =
        folder.file("f.csv", "at_ns,op,offset,size\n0,read,0,0\n1,peek,0,1\n-1,read,0,1\n");
    let run = ["run", "--device", "small.toml", "--trace"];
    for (trace, hints) in [
        (&open, &["--format"][..]),
        (&several, &["--device-id N", "--device-id side-by-side"]),
        (&far, &["--remap modulo", "--remap compact"]),
        (&flagged, &["expected: a size of at least 1", "expected: a time of at least 0"]),
    ] {
        let err = refused(&[&run[..], &[trace]].concat());
        for hint in hints {
            assert!(err.contains(hint), "{hint}: {err}");
        }
        assert!(!err.contains("does not look like"), "{err}");
    }
}

#[test]
fn an_idle_share_is_searched_for_and_said() {
    let arguments = [&["run", "--idle", "0.9"], &SMALL[..5]].concat();
    let output = fowler(&arguments);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("idle      90.0 % wanted, "), "{text}");
    let run = json(&[&arguments[..], &["--json"]].concat());
    let search = &run["workload"]["idle_search"];
    let reached = search["reached"].as_f64().unwrap();
    assert!((reached - 0.9).abs() <= 0.002, "2 % of the busy tenth: {reached}");
    assert_eq!(run["idle_share"].as_f64(), Some(reached), "the run is the last of the search");
    assert!(search["runs"].as_u64().unwrap() >= 2);
}

/// Placement by handles changes nothing if no write names one, and the run says so.
#[test]
fn handles_that_no_write_names_are_noted() {
    let folder = Folder::new("handles");
    let told = |name: &str, handle: &str| {
        let text = format!("at_ns,op,offset,size,placement\n0,write,0,4096,{handle}\n");
        let trace = folder.file(name, &text);
        let run = ["run", "--device", "small.toml", "--trace", &trace];
        let output = fowler(&[&run[..], &["--set", "policy.placement=handles"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).contains("no write names a placement handle here")
    };
    assert_eq!((told("none.csv", ""), told("one.csv", "1")), (true, false));
}

#[test]
fn the_table_adds_up_and_says_what_did_not_happen() {
    let text = "at_ns,op,offset,size\n900000000000,write,0,512\n900000000000,read,8192,4096\n";
    let folder = Folder::new("footnotes");
    let trace = folder.file("t.csv", text);
    let arguments = ["run", "--device", "small.toml", "--trace", &trace, "--scheme", "fifo"];
    let output = fowler(&[&arguments[..], &["--full"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    for part in [
        "no garbage collection happened under fifo",
        "Percentiles of 1 read are rough.",
        "precondition.pattern=steady",
        "| write amplification (pages)",
        "| flash bytes per host byte",
        "| reads for partial writes",
        "| requests per simulated second",
        "| mean latency",
        "| other",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let run = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(run["flash_bytes_per_host_byte"], 8.0, "a page of 4 KiB for 512 B");
    assert_eq!(run["idle_share"], 0.0, "nothing counts before the first request");
    assert!(run["read"]["p90_us"].is_null() && run["read"]["max_us"].is_number());
    for band in ["all", "slowest_1pct"] {
        let band = &run["blame"]["read"][band];
        let parts: f64 =
            band["mean_us"].as_object().unwrap().values().filter_map(|it| it.as_f64()).sum();
        assert!((parts - band["mean_latency_us"].as_f64().unwrap()).abs() < 1e-6, "{band}");
    }
}

#[test]
fn an_empty_trace_is_an_error() {
    let folder = Folder::new("empty");
    let trace = folder.file("empty.csv", "at_ns,op,offset,size\n");
    let output =
        fowler(&["run", "--device", "small.toml", "--trace", &trace, "--format", "native"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no request"));
}

#[test]
fn raw_commands_run_on_one_die() {
    let folder = Folder::new("chip");
    let commands = folder.file("c.csv", "at_ns,op\n0,program\n30000,read\n");
    let output = fowler(&["chip", "--device", "pes-mlc", "--scheme", "pes_ips", &commands]);
    // The read comes in the first verify phase (20 to 44 us), waits for its end, takes 65 us; then
    // the buffer reloads for 3 us and 14 iterations of 44 us follow.
    let expected =
        "at_ns,op,start_ns,done_ns,suspensions\n0,program,0,728000,1\n30000,read,44000,109000,0\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn a_generated_trace_replays_to_the_result_of_its_generator() {
    let folder = Folder::new("synth");
    let trace = folder.path("load.csv");
    let arguments = ["trace", "synth", "small-load.toml", &trace, "--device", "small.toml"];
    assert_eq!(fowler(&arguments).status.code(), Some(0));
    let mut generated = vec!["run"];
    generated.extend(SMALL);
    let replayed = ["run", "--device", "small.toml", "--trace", &trace, "--json"];
    let (generated, replayed) = (json(&generated), json(&replayed));
    for key in ["read", "write", "blame", "counters"] {
        assert_eq!(generated[key], replayed[key], "{key}");
    }
    let info = json(&["trace", "info", &trace, "--json"]);
    assert_eq!((&info["requests"], &info["format"]), (&4000.into(), &"native".into()));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = command(&["trace", "synth", "small-load.toml", "--device", "small.toml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}
