//! A program without reports refuses what only reports hold, before it runs anything.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn fowler(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fowler"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"));
    command.args(arguments).output().unwrap()
}

const SMALL: [&str; 4] = ["--device", "small.toml", "--workload", "small-load.toml"];

#[test]
fn pages_and_pictures_are_refused_and_a_folder_has_the_rest() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-report");
    let _absent = fs::remove_dir_all(&folder);
    let out = folder.display().to_string();
    let page = folder.with_extension("html").display().to_string();
    for arguments in [
        &[&["run"][..], &SMALL, &["--report", &page]].concat(),
        &[&["run"][..], &SMALL, &["--out", &out, "--report"]].concat(),
        &[&["lifetime"][..], &SMALL, &["--out", &out]].concat(),
        &["physics", "plot", "--out", &out].to_vec(),
    ] {
        let output = fowler(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains("built without reports") && text.contains("cargo build"), "{text}");
        assert!(output.stdout.is_empty() && !folder.exists(), "{arguments:?}");
    }
    let output = fowler(&[&["run"][..], &SMALL, &["--out", &out, "--quiet"]].concat());
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("no report.html"), "{text}");
    let names = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["summary.json"]);
    fs::remove_dir_all(&folder).unwrap();
}
