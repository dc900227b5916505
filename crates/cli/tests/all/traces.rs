//! Traces as the user of the command meets them: standard input, any CSV, several devices, files of
//! columns, and what a format cannot tell.

use crate::command::{Folder, command};
use fowler_experiment::Format;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Output, Stdio};

const TWO: &str = "0,303567,3584,w,0.000000\n1,1209856,3072,R,0.026214\n0,1209856,512,r,0.026682\n";
const RUN: [&str; 5] = ["run", "--device", "small.toml", "--remap", "compact"];

/// Runs the command with `input` on its standard input.
fn fed(arguments: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    fed(arguments, b"")
}

fn json(arguments: &[&str], input: &[u8]) -> Value {
    let (code, out, err) = fed(arguments, input);
    assert_eq!(code, Some(0), "{err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn standard_input_is_a_trace_for_every_command_and_leaves_nothing_behind() {
    let folder = Folder::new("stdin");
    let text = "at_ns,op,offset,size\n0,write,0,4096\n900,read,0,4096\n1000,write,8192,4096\n";
    let file = folder.file("t.csv", text);
    let temporary = folder.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    for arguments in [
        &["trace", "info", "TRACE", "--json"][..],
        &["run", "--device", "small.toml", "--trace", "TRACE", "--remap", "compact", "--json"],
        &[
            "compare",
            "--schemes",
            "fifo,rps",
            "--device",
            "small.toml",
            "--trace",
            "TRACE",
            "--json",
        ],
    ] {
        let with = |trace: &'static str| -> Vec<&str> {
            arguments.iter().map(|&it| if it == "TRACE" { trace } else { it }).collect()
        };
        let named: Vec<&str> = with("TRACE");
        let named: Vec<&str> =
            named.into_iter().map(|it| if it == "TRACE" { file.as_str() } else { it }).collect();
        let mut child = command(&with("-"))
            .env("TMPDIR", &temporary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        let piped: Value = serde_json::from_slice(&output.stdout).unwrap();
        let of_file = json(&named, b"");
        for field in ["requests", "read", "waf", "footprint_bytes"] {
            assert_eq!(piped[field], of_file[field], "{arguments:?}: {field}");
        }
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{arguments:?}");
    }
    let (code, out, _) = fed(&["trace", "convert", "-"], text.as_bytes());
    assert_eq!((code, out.as_str()), (Some(0), text));
    let (code, _, err) = fed(&["trace", "info", "-"], b"rubbish\n");
    assert!(code == Some(2) && err.contains("standard input:"), "{err}");
}

#[test]
fn every_device_is_shown_and_the_user_is_asked_which() {
    let folder = Folder::new("trace-devices");
    let two = folder.file("two.spc", TWO);
    let (code, out, err) = run(&["trace", "info", &two]);
    assert_eq!(code, Some(0), "{err}");
    for part in ["| device ", "| 0 ", "| 1 ", "--device-id N", "side-by-side", "--split"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let looked = json(&["trace", "info", &two, "--json"], b"");
    assert_eq!(looked["requests"], 3);
    let devices = looked["devices"].as_array().unwrap();
    let counts: Vec<_> = devices.iter().map(|it| (&it["device"], &it["requests"])).collect();
    assert_eq!(counts, [(&Value::from(0), &Value::from(2)), (&Value::from(1), &Value::from(1))]);
    assert_eq!(devices[1]["footprint_bytes"], 4096);
    let one = json(&["trace", "info", &two, "--device-id", "1", "--json"], b"");
    assert_eq!((&one["requests"], &one["other_devices"]), (&Value::from(1), &Value::from(2)));
    assert_eq!(one["devices"], Value::Array(Vec::new()));
}

#[test]
fn split_runs_each_device_as_if_it_were_alone() {
    let folder = Folder::new("split");
    let two = folder.file("two.spc", TWO);
    let trace = ["--trace", &two, "--quiet"];
    let split = json(&[&RUN[..], &trace, &["--split", "--json"]].concat(), b"");
    let split = split.as_array().unwrap();
    assert_eq!(split.len(), 2);
    for (number, of_device) in ["0", "1"].iter().zip(split) {
        let alone = [&RUN[..], &trace, &["--device-id", number, "--json"]].concat();
        let alone = json(&alone, b"");
        for field in ["requests", "read", "write", "waf", "simulated_s", "config_hash"] {
            assert_eq!(of_device[field], alone[field], "device {number}: {field}");
        }
    }
    let out = folder.path("out");
    let (code, text, err) = run(&[&RUN[..], &trace, &["--split", "--out", &out]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(text.contains("device    0, 1 of 2") && text.contains("device    1, 2 of 2"), "{text}");
    for device in ["device-0", "device-1"] {
        assert!(folder.0.join("out").join(device).join("summary.json").is_file(), "{device}");
    }
    let (code, _, err) = run(&[&RUN[..], &trace, &["--split", "--device-id", "0"]].concat());
    assert!(code == Some(2) && err.contains("--device-id"), "{err}");
}

#[test]
fn a_csv_is_read_by_the_columns_that_the_user_gives() {
    let folder = Folder::new("any-csv");
    let any =
        folder.file("any.csv", "when,kind,disk,block,bytes\n10,R,sda,8,4096\n12.5,W,sda,16,512\n");
    let columns = ["--columns", "header,ts=us,op=rw,dev=name,lba=512,len=bytes"];
    let looked = json(&[&["trace", "info", &any, "--json"], &columns[..]].concat(), b"");
    assert_eq!((&looked["format"], &looked["requests"]), (&Value::from("csv"), &Value::from(2)));
    let (code, out, _) = run(&[&["trace", "convert", &any], &columns[..]].concat());
    let expected = "at_ns,op,offset,size\n0,read,4096,4096\n2500,write,8192,512\n";
    assert_eq!((code, out.as_str()), (Some(0), expected));
    let (code, _, err) =
        run(&["trace", "info", &any, "--columns", "ts=us,op=x,lba=512", "--spread", "wide"]);
    assert_eq!(code, Some(2));
    for part in
        ["`x` is not a unit of `op`", "unknown spread `wide`", "ts=us,op=rw,lba=512,len=bytes"]
    {
        assert!(err.contains(part), "{part}: {err}");
    }
}

#[test]
fn what_a_format_cannot_tell_is_said() {
    let folder = Folder::new("notes");
    let text = "1538323200,8,8,1,7\n1538323200,16,8,0,7\n1538323201,16,8,0,7\n";
    let tencent = folder.file("t.csv", text);
    let (_, out, _) = run(&["trace", "info", &tencent]);
    assert!(out.contains("note            arrivals are in whole seconds"), "{out}");
    let (code, out, err) = run(&[&RUN[..], &["--trace", &tencent, "--quiet"]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("arrivals are in whole seconds"), "{out}");
    let spread = |how| {
        let (_, out, _) = run(&["trace", "convert", &tencent, "--spread", how]);
        out.lines().nth(2).unwrap().split(',').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!((spread("even"), spread("none")), (500_000_000, 0));
    assert!((1..1_000_000_000).contains(&spread("poisson")));
}

/// The requests of a native trace, each as time, operation, offset and size.
fn requests(file: &str) -> Vec<(String, String, u64, u64)> {
    let text = std::fs::read_to_string(file).unwrap();
    let cells = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<&str>>());
    let number = |text: &str| text.parse::<u64>().unwrap();
    cells.map(|it| (it[0].into(), it[1].into(), number(it[2]), number(it[3]))).collect()
}

#[test]
fn a_trace_of_every_format_is_anonymized_as_it_is_converted() {
    let folder = Folder::new("anonymized");
    for format in Format::ALL {
        let file = folder.path(format.name());
        std::fs::write(&file, format.example()).unwrap();
        let [plain, moved] = ["plain.csv", "moved.csv"].map(|name| folder.path(name));
        let how = match format.name() {
            "csv" => ["--columns", "ts=us,op=rw,lba=512,len=bytes"],
            name => ["--format", name],
        };
        let reading = [how, ["--device-id", "side-by-side"]].concat();
        let (code, _, err) = run(&[&["trace", "convert", &file, &plain], &reading[..]].concat());
        assert_eq!(code, Some(0), "{format}: {err}");
        let anonymize = ["trace", "anonymize", &file, &moved, "--seed", "5", "--extent", "4KiB"];
        let (code, _, err) = run(&[&anonymize[..], &reading[..]].concat());
        assert_eq!(code, Some(0), "{format}: {err}");
        let (plain, moved) = (requests(&plain), requests(&moved));
        assert!(plain.len() == moved.len() && plain.len() >= 2, "{format}");
        for (one, other) in plain.iter().zip(&moved) {
            let same = |it: &(String, String, u64, u64)| (it.0.clone(), it.1.clone(), it.3);
            assert_eq!(same(one), same(other), "{format}");
            assert_eq!(one.2 % 4096, other.2 % 4096, "{format}");
        }
        let different = |all: &[(String, String, u64, u64)]| -> usize {
            // A flush has no address.
            all.iter().filter(|it| it.3 > 0).map(|it| it.2).collect::<BTreeSet<u64>>().len()
        };
        assert_eq!(different(&plain), different(&moved), "{format}");
    }
}

#[test]
fn anonymizing_is_strict_and_says_how_much_it_hides() {
    let folder = Folder::new("anonymize");
    let rows = (0..100).map(|at| format!("{at},write,{},4096\n", at << 20));
    let text = "at_ns,op,offset,size\n".to_string() + &rows.collect::<String>();
    let (file, to) = (folder.file("t.csv", &text), folder.path("to.csv"));
    let (code, _, err) = run(&["trace", "anonymize", &file, &to, "--seed", "1"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("100 extents of 1MiB in 100 pieces, the largest of 1 extent"), "{err}");
    assert!(!err.contains("more than half"), "{err}");
    let first = requests(&to);
    let (code, _, _) = fed(&["trace", "anonymize", "-", &to, "--seed", "1"], text.as_bytes());
    assert!(code == Some(0) && requests(&to) == first, "standard input is the same trace");
    run(&["trace", "anonymize", &file, &to, "--seed", "2", "--limit", "50"]);
    assert!(requests(&to).len() == 50 && requests(&to)[..] != first[..50]);
    // One write across all of it holds it together.
    let file = folder.file("one.csv", &format!("{text}100,write,0,104857600\n"));
    let (_, _, err) = run(&["trace", "anonymize", &file, &to, "--seed", "1"]);
    assert!(err.contains("in 1 piece, ") && err.contains("no extent was moved"), "{err}");
    let kept = std::fs::read(&to).unwrap();
    let bad = folder.file("bad.csv", &format!("{text}x,write,0,4096\n"));
    let (code, _, err) = run(&["trace", "anonymize", &bad, &to, "--seed", "1"]);
    assert!(code == Some(2) && err.contains("bad.csv:102: `x` in `at_ns`"), "{err}");
    assert_eq!(std::fs::read(&to).unwrap(), kept, "what was there stays");
    for extent in ["3MiB", "512B", "2TiB", "many"] {
        let (code, _, err) =
            run(&["trace", "anonymize", &file, &file, "--seed", "1", "--extent", extent]);
        assert!(code == Some(2) && err.contains("a power of two from 4KiB to 1TiB"), "{err}");
        assert!(err.contains("one.csv"), "the trace would be replaced: {err}");
    }
    assert_eq!(run(&["trace", "anonymize", &file, &to]).0, Some(2), "a seed is needed");
}

/// The workload that is proposed instead of a result of fio or `iostat` is one: its lines are
/// generated for a drive as they are printed.
#[test]
fn a_workload_that_is_proposed_can_be_run() {
    let folder = Folder::new("proposed");
    let fio = r#"{"fio version": "fio-3.36", "jobs": [
        {"job options": {"rw": "randrw", "iodepth": "8"},
         "read": {"iops": 700.3, "bw_bytes": 2868428}, "write": {"iops": 300.1, "bw": 1200}},
        {"job options": {"rw": "randtrim", "bs": "64k"}, "trim": {"iops": 33.3}},
        {"read": {"iops": 12.5, "bw_bytes": 1638400}}]}"#;
    let iostat = "Device r/s rkB/s w/s wkB/s d/s dkB/s %util\nsda 1.5 6 200 6403 0.1 4 3\n";
    for (name, text) in [("fio.json", fio), ("iostat.txt", iostat)] {
        let file = folder.file(name, text);
        let (code, _, err) = run(&["trace", "info", &file]);
        assert_eq!(code, Some(2), "{err}");
        let (_, workload) = err.split_once("--workload load.toml\n").expect("a workload");
        let load = folder.file("load.toml", workload);
        let synth = ["trace", "synth", &load, "--device", "small.toml", "--limit", "50"];
        let (code, out, err) = run(&synth);
        assert_eq!(code, Some(0), "{workload}\n{err}");
        assert_eq!(out.lines().count(), 51, "{out}");
    }
}
