//! Runs that do not fit in memory are refused before anything is allocated. The limit of the
//! address space stands for any other limit.
#![cfg(target_os = "linux")]

use std::process::Command;

/// Runs `fowler` with so many KiB of address space. Threads need stacks, so there are two.
fn limited(kib: u64, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {kib} && exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_fowler"))
        .args(arguments)
        .env("RAYON_NUM_THREADS", "2")
        // `tests/run.py` sets it for the tests; it takes effect before the program sees its limit.
        .env_remove("MALLOC_TOP_PAD_")
        .output()
        .expect("a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A limit in KiB, what is run, and what is said: the numbers, and what would fit.
const REFUSED: [(u64, &[&str], &[&str]); 4] = [
    (
        4_000_000,
        &["run", "--device", "pes-mlc", "--workload", "demo", "--set", "geometry.channels=1000"],
        &["pes-mlc: the drive would take 7.4", "ulimit -v", "geometry.blocks_per_plane = "],
    ),
    (
        520_000,
        &["compare", "--device", "pes-mlc", "--workload", "demo", "--schemes", "fifo,rps"],
        &["2 runs at once would take", "1 run at once would fit in memory: compare fewer schemes"],
    ),
    (
        230_000,
        &["compare", "--device", "pes-mlc", "--workload", "demo", "--schemes", "fifo,rps"],
        &["2 runs at once would take", "one run takes"],
    ),
    (
        430_000,
        &["lifetime", "--device", "ready-128", "--workload", "ready-map"],
        &["ready-128: the drive would take", "geometry.blocks_per_plane = "],
    ),
];

// Slow: the requests of a whole trace are counted before the life on it is refused.
#[test]
fn what_does_not_fit_is_refused() {
    for (kib, arguments, said) in REFUSED {
        let (code, out, err) = limited(kib, arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {out}{err}");
        for words in said {
            assert!(err.contains(words), "{arguments:?} lacks `{words}`: {err}");
        }
        assert!(!err.contains("panicked"), "{err}");
    }
}

/// The program itself takes more or less, depending on how it was built, so the limit is searched
/// for: it starts, and has 1 MiB left, which is less than the stacks of two threads.
#[test]
fn threads_that_do_not_fit_are_refused() {
    let starts = |&kib: &u64| limited(kib, &["--version"]).0 == Some(0);
    let least = (8_192..1_000_000).step_by(512).find(starts).expect("a limit with which it starts");
    let several = ["compare", "--device", "pes-mlc", "--workload", "demo", "--schemes", "fifo,rps"];
    let (code, out, err) = limited(least + 1024, &several);
    assert_eq!(code, Some(2), "{out}{err}");
    assert!(err.contains("threads cannot be started"), "{err}");
    assert!(!err.contains("panicked"), "{err}");
}

/// The memory of threads is that of their stacks; the allocator reserves nothing for them.
#[test]
fn what_is_available_grows_with_the_limit() {
    let many = ["fifo", "rps", "pes_ips", "pe0", "pes_ipc"].join(",");
    let demo = ["--device", "pes-mlc", "--workload", "demo", "--dry-run"];
    let run = [&["run"], &demo[..]].concat();
    let compare = [&["compare", "--schemes", &many], &demo[..]].concat();
    for arguments in [run, compare] {
        let mut before = 0.0;
        for kib in (150_000..650_000).step_by(25_000) {
            let (code, out, err) = limited(kib, &arguments);
            assert_eq!(code, Some(0), "{kib} KiB, {arguments:?}: {out}{err}");
            let words: Vec<&str> = out.split_whitespace().collect();
            let at = words.iter().position(|it| *it == "are").expect("what is available");
            let number: f64 = words[at - 2].parse().unwrap();
            let available = number * if words[at - 1] == "GiB" { 1024.0 } else { 1.0 };
            assert!(available > before + 15.0, "{kib} KiB, {arguments:?}: {available}, {before}");
            before = available;
        }
    }
}

/// Threads would have nothing to run.
#[test]
fn a_look_at_a_trace_starts_no_threads() {
    use std::io::{Read, Write};
    use std::process::Stdio;
    let mut child = Command::new(env!("CARGO_BIN_EXE_fowler"))
        .args(["trace", "info", "-"])
        .env("RAYON_NUM_THREADS", "8")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stderr.as_mut().unwrap().read_exact(&mut [0; 7]).expect("it waits for its input");
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().count();
    child.stdin.take().unwrap().write_all(b"0,303567,3584,w,0.000000\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(threads, 2, "one reads, the other waits for signals");
}

#[test]
fn a_dry_run_says_what_memory_is_taken() {
    let what = ["compare", "--device", "pes-mlc", "--workload", "demo", "--dry-run"];
    let schemes = ["--schemes", "fifo,rps,pes_ips"];
    let (code, out, err) = limited(4_000_000, &[&what[..], &schemes].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("for 2 runs at a time; 3."), "{out}");
    assert!(out.contains("(limit of the address space, ulimit -v)"), "{out}");
}

/// A drive of the size that the hint names fits. The limit leaves room for a program without
/// optimization, which takes 22 MB more than one with it.
#[test]
fn the_hint_helps() {
    const KIB: u64 = 220_000;
    let run = ["run", "--device", "pes-mlc", "--workload", "demo", "--limit", "100", "--quiet"];
    let (code, _, err) = limited(KIB, &run);
    assert_eq!(code, Some(2), "{err}");
    let fit = err.split("geometry.blocks_per_plane = ").nth(1).expect("a hint");
    let fit = fit.split(' ').next().expect("a number");
    let set = format!("geometry.blocks_per_plane={fit}");
    let (code, out, err) = limited(KIB, &[&run[..], &["--set", &set]].concat());
    assert_eq!(code, Some(0), "{out}{err}");
}
