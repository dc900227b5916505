//! `fowler check`: whole folders, damaged ones, and runs that replace one another.

use crate::command::{Folder, command};
use std::fs;
use std::process::Output;

fn fowler(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command(arguments).output().unwrap();
    (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

fn check(folder: &str, more: &[&str]) -> (Option<i32>, String) {
    fowler(&[&["check", folder], more].concat())
}

/// Runs the small drive with results in a folder.
fn run(out: &str, more: &[&str]) -> String {
    let small = ["run", "--device", "small.toml", "--workload", "small-load.toml", "--quiet"];
    let (code, said) = fowler(&[&small[..], &["--out", out], more].concat());
    assert_eq!(code, Some(0), "{said}");
    said
}

#[test]
fn a_folder_of_results_never_mixes_two_runs() {
    let folder = Folder::new("check-mixed");
    let out = folder.path("out");
    run(&out, &["--requests", &folder.path("out/log.csv")]);
    let (code, said) = check(&out, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("results of `fowler run`") && said.contains("every file is"), "{said}");
    fs::write(folder.path("out/notes.txt"), "mine").unwrap();
    let said = run(&out, &["--seed", "2"]);
    assert!(said.contains("of another run: log.csv"), "{said}");
    assert!(!fs::exists(folder.path("out/log.csv")).unwrap());
    let (code, said) = check(&out, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("not ours  notes.txt"), "{said}");
}

#[test]
fn damage_and_leftovers_are_found_and_repaired() {
    let folder = Folder::new("check-damaged");
    let out = folder.path("out");
    run(&out, &[]);
    let summary = folder.path("out/summary.json");
    let whole = fs::read(&summary).unwrap();
    let mut bytes = whole.clone();
    bytes[100] ^= 1;
    fs::write(&summary, &bytes).unwrap();
    folder.file("out/report.html.partial2", "half");
    let (code, said) = check(&out, &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("summary.json") && said.contains("run `fowler run`"), "{said}");
    assert!(said.contains("report.html.partial2") && said.contains("--repair"), "{said}");
    let (code, said) = check(&out, &["--repair"]);
    assert_eq!(code, Some(2), "a summary cannot be repaired\n{said}");
    assert!(!fs::exists(folder.path("out/report.html.partial2")).unwrap());
    fs::write(&summary, whole).unwrap();
    assert_eq!(check(&out, &[]).0, Some(0));
    let (code, said) = check(&folder.path("."), &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("is not a folder of results"), "{said}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_damaged_point_is_run_again() {
    let folder = Folder::new("check-sweep");
    let text = "device = 'small.toml'\nworkload = 'small-load.toml'\n[axis]\nseed = [1, 2]\n";
    let (spec, out) = (folder.file("s.toml", text), folder.path("out"));
    let sweep = ["sweep", &spec, "--out", &out, "--quiet"];
    assert_eq!(fowler(&sweep).0, Some(0));
    let (code, said) = check(&out, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("a sweep of 2 points, 2 of them finished"), "{said}");
    let mut points: Vec<_> =
        fs::read_dir(folder.path("out/points")).unwrap().map(|it| it.unwrap().path()).collect();
    points.retain(|path| path.extension().is_some_and(|it| it == "parquet"));
    points.sort();
    // One point's file copied over the other's.
    fs::copy(&points[0], &points[1]).unwrap();
    let (code, said) = check(&out, &[]);
    let name = points[1].file_name().unwrap().to_string_lossy();
    assert!(code == Some(2) && said.contains(&*name), "{code:?} {said}");
    let (code, said) = check(&out, &["--repair"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = fowler(&sweep);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(check(&out, &[]).0, Some(0));
    // A point under another's name is whole, and is not that one; so is what only lacks a file.
    let sums = |place: usize| points[place].with_extension("sha256");
    let name = |place: usize| points[place].file_name().unwrap().to_string_lossy().into_owned();
    let under_another_name = || {
        fs::copy(&points[0], &points[1]).unwrap();
        let text = fs::read_to_string(sums(0)).unwrap().replace(&name(0), &name(1));
        fs::write(sums(1), text).unwrap();
    };
    let damages: [&dyn Fn(); 4] = [
        &under_another_name,
        &|| fs::remove_file(&points[1]).unwrap(),
        &|| fs::remove_file(folder.path("out/format")).unwrap(),
        &|| fs::write(folder.path("out/format"), "fowler run 1 0.1.0\n").unwrap(),
    ];
    for (number, damage) in damages.iter().enumerate() {
        damage();
        let (code, said) = check(&out, &[]);
        assert_eq!(code, Some(2), "damage {number}: {said}");
        let repaired = check(&out, &["--repair"]).0;
        assert_eq!(repaired, Some(if number < 2 { 0 } else { 2 }), "damage {number}");
        assert_eq!(fowler(&sweep).0, Some(0));
        assert_eq!(check(&out, &[]).0, Some(0), "damage {number}");
    }
    // A shard says which it is, and its file is checked as well.
    let part = folder.path("part");
    let shard = ["sweep", &spec, "--out", &part, "--quiet", "--shard", "2/2"];
    assert_eq!(fowler(&shard).0, Some(0));
    let (code, said) = check(&part, &[]);
    assert!(code == Some(0) && said.contains("shard 2/2 of a sweep of 2 points, 1 of"), "{said}");
    fs::write(folder.path("part/shard"), "fowler shard").unwrap();
    let (code, said) = check(&part, &[]);
    assert!(
        code == Some(2) && said.contains("a shard of a sweep of 2") && said.contains("| shard |"),
        "{said}"
    );
    assert_eq!(fowler(&shard).0, Some(0));
    assert_eq!(check(&part, &[]).0, Some(0));
}
