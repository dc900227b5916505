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
    assert!(said.contains("not Fowler's  notes.txt"), "{said}");
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

#[cfg(feature = "parquet")]
#[test]
fn a_folder_holds_a_sweep_or_results_of_another_command() {
    let folder = Folder::new("check-two");
    let text = "device = 'small.toml'\nworkload = 'small-load.toml'\n[axis]\nseed = [1, 2]\n";
    let (spec, swept, ran) =
        (folder.file("s.toml", text), folder.path("swept"), folder.path("run"));
    assert_eq!(fowler(&["sweep", &spec, "--out", &swept, "--quiet"]).0, Some(0));
    run(&ran, &[]);
    let small = ["--device", "small.toml", "--workload", "small-load.toml", "--quiet"];
    let refused = [
        [&["run", "--out", &swept][..], &small].concat(),
        [&["compare", "--schemes", "fifo,rps", "--out", &swept][..], &small].concat(),
        ["sweep", &spec, "--out", &ran, "--quiet"].into(),
        ["sweep", &spec, "--out", &ran, "--quiet", "--shard", "1/2"].into(),
    ];
    for arguments in refused {
        let (code, said) = fowler(&arguments);
        assert!(code == Some(2) && said.contains("of one command only"), "{code:?} {said}");
    }
    for out in [&swept, &ran] {
        assert_eq!(check(out, &[]).0, Some(0));
    }
    for name in ["contents.json", "summary.json", "report.html"] {
        fs::copy(format!("{ran}/{name}"), format!("{swept}/{name}")).unwrap();
    }
    let (code, said) = check(&swept, &["--repair"]);
    assert!(code == Some(2) && said.contains("the folder is that"), "{code:?} {said}");
    assert!(!said.contains("design.parquet"), "{said}");
}

/// Unknown files among the points of a sweep, or in the place of points, are reported.
#[cfg(feature = "parquet")]
#[test]
fn what_does_not_belong_to_a_sweep_is_said() {
    let folder = Folder::new("check-strays");
    let text = "device = 'small.toml'\nworkload = 'small-load.toml'\n[axis]\nseed = [1, 2]\n";
    let (spec, out) = (folder.file("s.toml", text), folder.path("out"));
    let sweep = ["sweep", &spec, "--out", &out, "--quiet"];
    assert_eq!(fowler(&sweep).0, Some(0));
    let points = |name: &str| folder.path(&format!("out/points/{name}"));
    let mut names: Vec<_> = fs::read_dir(points("")).unwrap().map(|it| it.unwrap()).collect();
    names.sort_by_key(fs::DirEntry::file_name);
    let row = names[0].file_name().into_string().unwrap();
    assert!(row.ends_with(".parquet"), "{row}");
    let row = points(&row);

    fs::write(points("notes.txt"), "mine").unwrap();
    fs::create_dir(points("more")).unwrap();
    fs::write(folder.path("out/notes.txt"), "mine").unwrap();
    let (code, said) = check(&out, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("not Fowler's  notes.txt, points/more, points/notes.txt"), "{said}");

    let stray = points(&format!("{}.parquet", "ab".repeat(16)));
    fs::copy(&row, &stray).unwrap();
    let (code, said) = check(&out, &[]);
    assert!(
        code == Some(2) && said.contains("belongs to no point of this sweep"),
        "{code:?} {said}"
    );
    assert_eq!(check(&out, &["--repair"]).0, Some(0));
    assert!(!fs::exists(&stray).unwrap() && fs::exists(points("notes.txt")).unwrap());

    // Another design in the same folder: the points of the first stay, and are nobody's damage.
    let next = text.replace("[1, 2]", "[2, 3]");
    let next = folder.file("next.toml", &next);
    assert_eq!(fowler(&["sweep", &next, "--out", &out, "--quiet"]).0, Some(0));
    let (code, said) = check(&out, &["--repair"]);
    assert!(
        code == Some(0) && said.contains("1 point of an earlier specification of the sweep"),
        "{code:?} {said}"
    );
    let (code, said) = fowler(&["sweep", &spec, "--out", &out]);
    // All points are finished, and no point runs now.
    let counts = "| 2      |        2 |      0 |        0 |";
    assert!(code == Some(0) && said.contains(counts), "{code:?} {said}");

    // A folder in the place of a point. Its contents are somebody's.
    fs::remove_file(&row).unwrap();
    fs::create_dir(&row).unwrap();
    fs::write(format!("{row}/mine"), "mine").unwrap();
    let (code, said) = fowler(&sweep);
    assert!(code == Some(2) && said.contains("is a folder"), "{code:?} {said}");
    for repair in [&[][..], &["--repair"]] {
        let (code, said) = check(&out, repair);
        assert!(code == Some(2) && said.contains("is a folder: "), "{code:?} {said}");
    }
    fs::remove_file(format!("{row}/mine")).unwrap();
    assert_eq!(check(&out, &["--repair"]).0, Some(0));
    assert_eq!(fowler(&sweep).0, Some(0));
    assert!(fs::metadata(&row).unwrap().is_file());
    assert_eq!(check(&out, &[]).0, Some(0));
}

#[cfg(feature = "parquet")]
#[test]
fn a_shard_without_its_file_is_no_whole_sweep() {
    let folder = Folder::new("check-shard");
    let text = "device = 'small.toml'\nworkload = 'small-load.toml'\n[axis]\nseed = [1, 2]\n";
    let (spec, part, other) =
        (folder.file("s.toml", text), folder.path("part"), folder.path("other"));
    let sweep = |out: &str, more: &[&str]| {
        fowler(&[&["sweep", &spec, "--out", out, "--quiet"][..], more].concat())
    };
    for (out, shard) in [(&part, "2/2"), (&other, "1/2")] {
        assert_eq!(sweep(out, &["--shard", shard]).0, Some(0));
    }
    let file = folder.path("part/shard");
    let damages: [&dyn Fn(); 2] = [&|| fs::remove_file(&file).unwrap(), &|| {
        assert!(fs::copy(folder.path("other/shard"), &file).is_ok())
    }];
    for (number, damage) in damages.iter().enumerate() {
        damage();
        let (code, said) = check(&part, &[]);
        assert!(code == Some(2) && said.contains("| shard"), "{code:?} {said}");
        assert!(said.contains("the same shard"), "{said}");
        assert_eq!(sweep(&part, &[]).0, Some(2));
        // The folder does not become that of the shard whose file was put there, either.
        let (code, said) = sweep(&part, &["--shard", "1/2"]);
        let reported =
            ["other than 1/2 of", "holds shard 2/2, but its file `shard` is that of shard 1/2"]
                [number];
        assert!(code == Some(2) && said.contains(reported), "{code:?} {said}");
        assert_eq!(sweep(&part, &["--shard", "2/2"]).0, Some(0));
        assert_eq!(check(&part, &[]).0, Some(0));
    }
}

/// With a pipe in the place of its lock, no sweep would run in the folder again.
#[cfg(all(unix, feature = "parquet"))]
#[test]
fn a_lock_that_is_no_file_is_found() {
    let folder = Folder::new("check-lock");
    let text = "device = 'small.toml'\nworkload = 'small-load.toml'\n[axis]\nseed = [1]\n";
    let (spec, out) = (folder.file("s.toml", text), folder.path("out"));
    let sweep = || fowler(&["sweep", &spec, "--out", &out, "--quiet"]);
    assert_eq!(sweep().0, Some(0));
    let lock = folder.path("out/.lock");
    fs::remove_file(&lock).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&lock).status().unwrap().success());
    assert_eq!(sweep().0, Some(2));
    let (code, said) = check(&out, &[]);
    assert!(code == Some(2) && said.contains("| .lock | is not a regular file"), "{said}");
    let (code, said) = check(&out, &["--repair"]);
    assert!(code == Some(0) && said.contains("(removed)"), "{said}");
    assert_eq!(sweep().0, Some(0));
    assert_eq!(check(&out, &[]).0, Some(0));
}

/// No command waits for a process that writes to a pipe or reads from it.
#[cfg(unix)]
#[test]
fn pipes_in_the_place_of_results_are_refused() {
    let folder = Folder::new("check-pipes");
    for name in ["summary.json", "report.html", "contents.json"] {
        let out = folder.path(&format!("of-{name}"));
        run(&out, &[]);
        let file = format!("{out}/{name}");
        fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        let again = ["run", "--device", "small.toml", "--workload", "small-load.toml", "--quiet"];
        for arguments in [[&again[..], &["--out", &out]].concat(), ["check", &out].into()] {
            let (code, said) = fowler(&arguments);
            assert!(code == Some(2) && said.contains(name), "{arguments:?}: {code:?} {said}");
        }
    }
}
