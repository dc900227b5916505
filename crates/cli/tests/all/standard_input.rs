//! Standard input as a trace, however it comes: without an end, with rubbish in it, too long for
//! the disk, or not at all; and pipes that nobody writes to.
#![cfg(unix)]

use crate::command::{Folder, command};
use crate::processes::{signal, stopped, wait_until};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Output, Stdio};

const LINE: &str = "0,303567,3584,w,0.000000\n";
const RUN: [&str; 5] = ["run", "--device", "small.toml", "--remap", "compact"];

/// Runs the command in a temporary folder of its own with `line` on its standard input again and
/// again, until it reads no more.
fn endless(folder: &Folder, arguments: &[&str], line: &str, most: &str) -> Output {
    let mut child = begun(folder, arguments, most);
    let mut input = child.stdin.take().unwrap();
    let text = line.repeat(1000);
    let writer = std::thread::spawn(move || while input.write_all(text.as_bytes()).is_ok() {});
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn begun(folder: &Folder, arguments: &[&str], most: &str) -> Child {
    let mut command = command(arguments);
    command.env("TMPDIR", &folder.0).env("FOWLER_STDIN_MAX", most);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn refused(output: &Output, words: &[&str]) {
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    for word in words {
        assert!(err.contains(word), "{word}: {err}");
    }
}

fn left(folder: &Folder) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let names = fs::read_dir(&folder.0).unwrap().map(name);
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn what_is_no_trace_is_refused_at_its_first_line() {
    let folder = Folder::new("endless-rubbish");
    let run = [&RUN[..], &["--trace", "-"]].concat();
    let output = endless(&folder, &run, "y\n", "");
    refused(&output, &["standard input:1: cannot detect", "text: y"]);
    let spc = [&run[..], &["--format", "spc"]].concat();
    let output = endless(&folder, &spc, &format!("{LINE}rubbish\n"), "");
    refused(&output, &["standard input:2:", "text: rubbish"]);
    assert_eq!(left(&folder), [""; 0]);
}

#[test]
fn a_trace_without_an_end_is_ended_by_a_limit_or_by_the_room_for_it() {
    let folder = Folder::new("endless-trace");
    let run = [&RUN[..], &["--trace", "-"]].concat();
    let output = endless(&folder, &run, LINE, "1MiB");
    refused(&output, &["standard input: ", "longer than 1 MiB", "--limit", "FOWLER_STDIN_MAX"]);
    let output = endless(&folder, &run, LINE, "many");
    refused(&output, &["FOWLER_STDIN_MAX: is not a size", "8GiB"]);
    let limited = [&run[..], &["--limit", "300", "--json"]].concat();
    let mut hashes = Vec::new();
    for _ in 0..2 {
        let output = endless(&folder, &limited, LINE, "2MiB");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value["requests"], 300);
        assert!(value.to_string().contains("standard input"), "{value}");
        hashes.push(value.to_string().split("sha256").nth(1).map(str::to_string));
    }
    assert_eq!(hashes[0], hashes[1], "the part that was read is the same");
    assert_eq!(left(&folder), [""; 0]);
}

#[test]
fn a_limit_means_the_same_for_standard_input_as_for_a_file() {
    let folder = Folder::new("limited-file");
    let lines = (0..5000).map(|n| format!("0,{},512,{},{}\n", n * 37 % 999, ["r", "w"][n % 2], n));
    let text = lines.collect::<String>();
    let file = folder.file("t.spc", &text);
    let results = ["-", file.as_str()].map(|trace| {
        let limited = [&RUN[..], &["--limit", "1000", "--json", "--trace", trace]].concat();
        let mut child = begun(&folder, &limited, "");
        // The program may have read enough before the whole text is written.
        let _closed = child.stdin.take().unwrap().write_all(text.as_bytes());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    });
    for field in ["requests", "read", "write", "waf", "simulated_s"] {
        assert_eq!(results[0][field], results[1][field], "{field}");
    }
}

#[test]
fn a_full_disk_is_named() {
    let folder = Folder::new("stdin-full");
    let absent = folder.path("absent");
    let mut child = command(&["trace", "info", "-"])
        .env("TMPDIR", &absent)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _closed = child.stdin.take().unwrap().write_all(LINE.as_bytes());
    refused(&child.wait_with_output().unwrap(), &["absent", "TMPDIR"]);
    // A limit of the length of files stands for a disk that is full.
    let program = command(&["trace", "info", "-"]);
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -f 100 && exec \"$0\" trace info -"])
        .arg(program.get_program())
        .env("TMPDIR", &folder.0)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _closed = child.stdin.take().unwrap().write_all(LINE.repeat(100_000).as_bytes());
    refused(&child.wait_with_output().unwrap(), &["copying standard input", "TMPDIR"]);
    assert_eq!(left(&folder), [""; 0]);
}

/// A command that has begun to read standard input, of which more may come.
fn reading(folder: &Folder, arguments: &[&str]) -> Child {
    let mut child = begun(folder, arguments, "");
    let mut said = child.stderr.take().unwrap();
    let mut first = [0; 7];
    said.read_exact(&mut first).expect("a note after a second without input");
    assert_eq!(&first, b"waiting");
    child.stderr = Some(said);
    child
}

#[test]
fn a_signal_ends_the_copy() {
    let folder = Folder::new("stdin-signal");
    let run = [&RUN[..], &["--trace", "-"]].concat();
    for arguments in [&["trace", "info", "-"][..], &run] {
        let mut child = reading(&folder, arguments);
        let input = child.stdin.take().unwrap();
        stopped(child, "TERM");
        drop(input);
        assert_eq!(left(&folder), [""; 0], "{arguments:?}");
    }
    // Not even a killed program leaves anything where files need no names.
    if cfg!(target_os = "linux") {
        let mut child = reading(&folder, &run);
        signal(&child, "KILL");
        child.wait().unwrap();
        assert_eq!(left(&folder), [""; 0]);
    }
}

#[test]
fn a_pipe_without_a_writer_is_named() {
    let folder = Folder::new("pipe");
    let pipe = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = begun(&folder, &["trace", "info", &pipe, "--json"], "");
    let mut said = child.stderr.take().unwrap();
    let mut first = vec![0; pipe.len()];
    said.read_exact(&mut first).unwrap();
    assert_eq!(String::from_utf8_lossy(&first), pipe);
    fs::write(&pipe, LINE).unwrap();
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert!(rest.starts_with(" is a pipe: waiting for a program"), "{rest}");
    let output = child.wait_with_output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["requests"], 1);
    // A writer that is there already is not waited for.
    let mut child = begun(&folder, &["trace", "info", &pipe, "--json"], "");
    wait_until(&mut child, || fs::write(&pipe, LINE).is_ok());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
