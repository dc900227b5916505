//! `fowler study` as its user meets it: the quick form of each study, twice, on any number of
//! threads, and with and without the checks of tests.

use super::profiles::without_checks;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _absent = fs::remove_dir_all(&path);
    path
}

fn study(program: &Path, arguments: &[&str], threads: &str) -> Output {
    let mut command = Command::new(program);
    command.arg("study").args(arguments).stdin(Stdio::null()).env("RAYON_NUM_THREADS", threads);
    command.output().unwrap()
}

/// Returns the tables, pictures and saved runs of a folder, by their names.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if ["csv", "svg", "json"].contains(&&*kind) {
                let bytes = fs::read(&path).unwrap();
                files.push((path.strip_prefix(folder).unwrap().to_path_buf(), bytes));
            }
        }
    }
    // The list of files has the time of writing.
    files.retain(|(path, _)| !path.ends_with("contents.json"));
    files.sort();
    files
}

/// Asserts that the marked drives have their mark in the text, on the page, and in every table
/// that names them, or that a study without such drives has no mark anywhere.
fn assert_marked(out: &Path, said: &str, has_marks: bool) {
    const MARK: &str = "fitted to reads and cached writes only";
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    for (what, text) in [("text", said), ("page", &*page)] {
        assert_eq!(text.contains(MARK), has_marks, "{what}: {text}");
        assert_eq!(text.contains("nvme-980pro"), has_marks, "{what}: {text}");
        assert_eq!(text.contains("sata-860pro"), has_marks, "{what}: {text}");
    }
    let is_table = |path: &Path| path.extension().is_some_and(|it| it == "csv" || it == "svg");
    for (path, bytes) in files(out).into_iter().filter(|(path, _)| is_table(path)) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for line in text.lines().filter(|it| it.contains("980pro") || it.contains("860pro")) {
            assert!(line.contains(MARK), "{}: {line}", path.display());
        }
    }
}

// Slow: 144 or 384 runs of one or four drives with each number of threads.
#[test]
fn the_quick_form_is_the_same_twice_and_on_any_number_of_threads() {
    // Under the workload of the quick form no request waits for the queue, so that the runs of the
    // drive with the deeper queue are those of the other one, and are not repeated.
    let this = PathBuf::from(env!("CARGO_BIN_EXE_fowler"));
    // The second time without checks, so that all these runs compare both builds.
    let other = without_checks().unwrap_or_else(|| this.clone());
    for (name, drives, runs, tables) in [("today", 4, 4 * 3 * 32, 6), ("all", 2, 3 * 48, 8)] {
        let [first, second] = [(&this, "1"), (&other, "2")].map(|(program, threads)| {
            let out = folder(&format!("study-{name}-{threads}"));
            let path = out.display().to_string();
            let arguments = [name, "--brief", "--seeds", "1", "--quiet", "--out", &path];
            let ended = study(program, &arguments, threads);
            assert!(ended.status.success(), "{name}: {}", String::from_utf8_lossy(&ended.stderr));
            let again = study(program, &arguments, threads);
            assert_eq!(ended.stdout, again.stdout, "{name}: nothing is left to run");
            (out, ended)
        });
        let (one, two) = (files(&first.0), files(&second.0));
        let count = |kind: &str| {
            one.iter().filter(|(path, _)| path.extension().is_some_and(|it| it == kind)).count()
        };
        assert_eq!(count("json"), runs, "{name}: runs");
        assert_eq!(count("csv"), tables, "{name}");
        // One of effects over all drives and one for each; or one of effects and one of fronts.
        let pictures = if name == "today" { 1 + drives } else { 2 * drives };
        assert_eq!(count("svg"), pictures, "{name}");
        for ((path, bytes), (other, others)) in one.iter().zip(&two) {
            assert_eq!(path, other, "{name}");
            let path = path.display();
            assert!(bytes == others, "{name}: {path} depends on the threads or on the checks");
        }
        assert_eq!(one.len(), two.len(), "{name}");
        let said = String::from_utf8_lossy(&first.1.stdout).into_owned();
        assert!(said.contains("as the last") && said.contains("PES + RHIO"), "{said}");
        assert_eq!(
            said.contains("How often the mechanism of each system acts"),
            name == "today",
            "{said}"
        );
        assert!(!said.contains("nvme-p5520  "), "tables of one drive are not printed: {said}");
        assert_marked(&first.0, &said, name == "today");
        fs::remove_dir_all(&first.0).unwrap();
        fs::remove_dir_all(&second.0).unwrap();
    }
}

#[test]
fn a_study_that_does_not_exist_is_named_with_those_that_do() {
    let ended = study(Path::new(env!("CARGO_BIN_EXE_fowler")), &["tomorrow"], "1");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("all") && said.contains("today"), "{said}");
}
