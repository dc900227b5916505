//! `fowler physics`: what the models of flash cells say, shown and drawn.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fowler(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fowler")).args(arguments).output().unwrap()
}

fn reported(arguments: &[&str]) -> String {
    let output = fowler(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_models_are_shown_and_their_page_says_what_they_say() {
    let sensitivity = reported(&["physics", "sensitivity"]);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/physics.md");
    let page = fs::read_to_string(page).unwrap();
    let rows: Vec<&str> = sensitivity.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 20, "{sensitivity}");
    for row in rows {
        assert!(page.lines().any(|line| line == row), "docs/physics.md is without {row}");
    }
    let constants = reported(&["physics", "constants"]);
    for words in ["rber_unworn", "assumed", "5e-5 to 2e-4", "aging.retry_shift"] {
        assert!(constants.contains(words), "{constants}");
    }
}

#[test]
fn curves_are_written_as_pictures_and_as_columns() {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("physics-plot");
    let _absent = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let text =
        reported(&["physics", "plot", "--out", &folder.join("curves").display().to_string()]);
    assert!(text.contains("3, 9, 21") && !text.contains("note:"), "{text}");
    for line in ["Park 2021", "Cai 2017", "Luo 2018"] {
        assert!(text.contains(line), "{text}");
    }
    for name in ["voltages", "wear", "age", "step", "scale", "hire", "tlc_wear", "tlc_published"] {
        let read = |ending| fs::read_to_string(folder.join(format!("curves/{name}.{ending}")));
        assert!(read("svg").unwrap().starts_with("<svg"), "{name}");
        let columns = read("csv").unwrap();
        assert!(columns.starts_with("panel,curve,x axis,x,y axis,y,published\n"), "{columns}");
        assert!(columns.lines().count() > 100, "{name}");
    }
    // A file where the folder should be is the user's to remove.
    let taken = folder.join("taken");
    fs::write(&taken, "").unwrap();
    let output = fowler(&["physics", "plot", "--out", &taken.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("taken: cannot be written"));
    fs::remove_dir_all(&folder).unwrap();
}
