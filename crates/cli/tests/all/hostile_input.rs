//! Input that never ends, floods the screen or commands the terminal, and output that cannot be
//! written.

use crate::command::{Folder, command};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::Command;

/// Returns the standard error of the program, which must have refused its input.
fn refusal(arguments: &[&str]) -> String {
    let output = command(arguments).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{text}");
    text
}

#[test]
fn only_regular_files_are_configurations() {
    let folder = Folder::new("hostile-files");
    let pipe = folder.path("pipe.toml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let zero = folder.path("zero.toml");
    std::os::unix::fs::symlink("/dev/zero", &zero).unwrap();
    for file in [&pipe, &zero] {
        for flag in ["--device", "--workload", "--scheme"] {
            let mut flags = vec![("--device", "small.toml"), ("--workload", "small-load.toml")];
            flags.retain(|(name, _)| *name != flag);
            flags.push((flag, file));
            let flags = flags.iter().flat_map(|(name, value)| [*name, *value]);
            let said = refusal(&["run"].into_iter().chain(flags).collect::<Vec<_>>());
            assert!(said.contains("not a regular file"), "{flag} {file}: {said}");
        }
        assert!(refusal(&["sweep", file]).contains("not a regular file"), "{file}");
        assert!(refusal(&["chip", file, "--device", "small.toml"]).contains("not a regular file"));
    }
    let large = folder.file("large.toml", &"# remark\n".repeat(200_000));
    let said = refusal(&["run", "--workload", "demo", "--device", &large]);
    assert!(said.contains("more than 1048576 bytes"), "{said}");
}

#[test]
fn a_flood_of_problems_is_cut_and_counted() {
    let folder = Folder::new("hostile-flood");
    let keys: String = (0..16_000).map(|n| format!("k{n} = 1\n")).collect();
    let flood = folder.file("flood.toml", &keys);
    let said = refusal(&["run", "--workload", "demo", "--device", &flood]);
    assert_eq!(said.matches("error:").count(), 20, "{said}");
    assert!(said.contains("15981 more problems are not shown"), "{said}");
}

#[test]
fn file_names_cannot_command_the_terminal() {
    let folder = Folder::new("hostile-names");
    let file = folder.file("a\x1b[31m\x07.toml", "no = 1\n");
    let said = refusal(&["run", "--workload", "demo", "--device", &file]);
    assert!(!said.contains(['\x1b', '\x07']), "{said:?}");
    assert!(said.contains("a\\u{1b}[31m\\u{7}.toml:1: unknown key `no`"), "{said}");
}

/// The checksum of a compressed trace is at its end, which `--limit` may never reach.
#[test]
fn a_damaged_trace_is_refused_however_little_is_read() {
    let folder = Folder::new("hostile-packed");
    let packed = |lines: u64| {
        let level = flate2::Compression::none();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), level);
        packed.write_all(b"at_ns,op,offset,size\n").unwrap();
        (0..lines).for_each(|line| writeln!(packed, "{line}000,read,0,4096").unwrap());
        packed.finish().unwrap()
    };
    let read = |mut bytes: Vec<u8>| {
        *bytes.last_mut().unwrap() ^= 1;
        let [trace, out] = ["t.csv.gz", "t.csv"].map(|name| folder.path(name));
        fs::write(&trace, bytes).unwrap();
        let run = ["run", "--device", "small.toml", "--trace", &trace, "--limit", "3"];
        let convert = ["trace", "convert", &trace, &out, "--limit", "3"];
        [&run[..], &convert].map(|arguments| {
            let output = command(arguments).output().unwrap();
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            (output.status.code(), said.split_whitespace().collect::<Vec<_>>().join(" "))
        })
    };
    for (code, said) in read(packed(10_000)) {
        assert!(code == Some(2) && said.contains("t.csv.gz: reading failed"), "{code:?} {said}");
    }
    // The rest of such a long trace is not read for the sake of three requests.
    for (code, said) in read(packed(1_000_000)) {
        assert!(
            code == Some(0) && said.contains("its checksum was not verified"),
            "{code:?} {said}"
        );
    }
}

#[test]
fn a_seed_is_given_once() {
    let drive = ["--device", "small.toml", "--workload", "small-load.toml"];
    let said = refusal(&[&["run", "--seed", "7", "--set", "seed=5"][..], &drive].concat());
    assert!(said.contains("the seed is also given as 7"), "{said}");
}

#[test]
fn a_flag_that_is_given_twice_is_named_with_both_values() {
    let twice = ["--timeline", "0ms..1ms", "--timeline=slowest:2"];
    let said = refusal(&[&["run", "--workload", "demo"][..], &twice].concat());
    assert!(said.contains("'--timeline <") && said.contains("multiple times"), "{said}");
    assert!(said.contains("tip: give this flag once: `0ms..1ms` or `slowest:2`"), "{said}");
}

#[test]
fn threads_that_no_machine_has_are_refused() {
    for threads in ["1000000", "many"] {
        // A command that runs several things at a time.
        let several = ["compare", "--schemes", "fifo,rps", "--workload", "demo", "--dry-run"];
        let output = command(&several).env("RAYON_NUM_THREADS", threads).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("RAYON_NUM_THREADS") && said.contains(threads), "{said}");
        assert!(said.contains("from 1 to 1024"), "{said}");
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    if !fs::exists("/dev/full").unwrap() {
        eprintln!("SKIPPED: this system has no /dev/full");
        return;
    }
    for arguments in [&["help"][..], &["--version"], &["run", "--help"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(arguments).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {said}");
        assert!(said.contains("standard output cannot be written"), "{said}");
    }
}
