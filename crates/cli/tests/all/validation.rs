//! `fowler validate` as its user meets it: what it prints and how it ends.

use std::path::Path;
use std::process::{Command, Output};

fn fowler(arguments: &[&str], threads: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fowler"))
        .args(["validate", "--quick", "--quiet"])
        .args(arguments)
        .env("RAYON_NUM_THREADS", threads)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn agreement_is_success_and_disagreement_is_a_fault() {
    let good = fowler(&["--only", "extra wait"], "2");
    assert_eq!(good.status.code(), Some(0));
    assert!(text(&good.stdout).contains("\n4 expectations agree with theory, 0 do not"));
    let spoiled = fowler(&["--only", "extra wait", "--spoil", "timing.verify_phase=9us"], "2");
    let printed = text(&spoiled.stdout);
    assert_eq!(spoiled.status.code(), Some(1), "{printed}");
    assert!(printed.contains("FAILS") && printed.contains("spoiled: timing.verify_phase=9us"));
    assert!(!text(&spoiled.stderr).contains("report it"), "nothing panicked");
    let wrong = fowler(&["--only", "nothing", "--spoil", "timing.raed=1us"], "2");
    assert_eq!((wrong.status.code(), text(&wrong.stdout)), (Some(2), String::new()));
    assert!(text(&wrong.stderr).contains("timing.raed"));
}

#[test]
fn bytes_do_not_depend_on_threads_and_the_file_is_what_is_printed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("validation");
    let out = folder.display().to_string();
    let only = ["--only", "pes-slc pes_ipc, load 0.3", "--json"];
    let one = fowler(&[&only[..], &["--out", &out]].concat(), "1");
    let several = fowler(&only, "3");
    assert_eq!((one.status.code(), &one.stdout), (Some(0), &several.stdout));
    assert_eq!(std::fs::read(folder.join("summary.json")).unwrap(), one.stdout);
    let json: serde_json::Value = serde_json::from_slice(&one.stdout).unwrap();
    assert_eq!((&json["expectations"], &json["failed"]), (&9.into(), &0.into()));
    for key in ["group", "what", "unit", "theory", "measured", "ci95", "deviation", "allowed"] {
        assert!(!json["rows"][0][key].is_null(), "{key}");
    }
}
