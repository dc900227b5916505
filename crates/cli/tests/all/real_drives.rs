//! `fowler score` and `fowler calibrate`: what they print and write, and what they refuse.

use crate::command::{Folder, command};
use serde_json::Value;

const READS: &str = r#"{
  "title": "reads", "protocol": { "workload": "reads" }, "units": { "latency": "us" },
  "drives": [ { "model": "A", "rows": [
    { "block_bytes": 4096, "jobs": 1, "qd_per_job": 1, "engine": "spdk", "iops": 13000, "p50_us": 76 },
    { "block_bytes": 4096, "jobs": 1, "qd_per_job": 8, "engine": "spdk", "iops": 90000, "p50_us": 80 },
    { "block_bytes": 4096, "jobs": 1, "qd_per_job": 8, "engine": "pigeon", "iops": 1 } ] } ] }"#;

const PARAMETER: &str = "\n[[calibrate.parameter]]\nkey = \"timing.read\"\nlow = \"30us\"\n\
    high = \"120us\"\nsource = \"any TLC\"\n";

/// Exit code, standard output, standard error.
fn ran(arguments: &[&str]) -> (i32, String, String) {
    let output = command(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const SMALL: [&str; 4] = ["--brief", "--quiet", "--set", "geometry.blocks_per_plane=16"];

#[test]
fn a_drive_is_scored_fitted_and_scored_again() {
    let folder = Folder::new("real-drives");
    let file = folder.file("m.json", READS);
    let (json, out) = (folder.path("score.json"), folder.path("out"));
    let run = [&["score", "tlc", &file, "--json", &json, "--out", &out][..], &SMALL].concat();
    let (exit, said, noted) = ran(&run);
    assert_eq!(exit, 0, "{noted}");
    assert!(said.contains("tlc against m") && said.contains("p50_us"), "{said}");
    assert!(said.contains("not simulated: m: A: row 3: `engine` is `pigeon`"), "{said}");
    assert!(said.contains("2 rows, ") && said.contains("4 numbers predicted"), "{said}");
    let written = std::fs::read_to_string(&json).unwrap();
    let scored: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(scored["rows"].as_array().unwrap().len(), 2);
    assert_eq!(ran(&["check", &out]).0, 0);
    // One thread gives the same bytes.
    let alone = command(&[&["score", "tlc", &file, "--json"][..], &SMALL].concat())
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(alone.stdout).unwrap(), written);

    let (_, preset, _) = ran(&["presets", "tlc"]);
    let drive = folder.file("drive.toml", &(preset + PARAMETER));
    let fitted = folder.path("fitted.toml");
    let fit = ["calibrate", &file, "--drive", &drive, "--out", &fitted, "--tries", "14"];
    let fit = [&fit[..], &["--rows", "qd_per_job=1", "--metric", "p50_us"], &SMALL].concat();
    let (exit, said, noted) = ran(&fit);
    assert_eq!(exit, 0, "{noted}");
    assert!(said.contains("timing.read") && said.contains("bounds of timing.read: any TLC"));
    let (exit, said, noted) = ran(&["score", &fitted, &file, "--brief", "--quiet", "--json"]);
    assert_eq!(exit, 0, "{noted}");
    let scored: Value = serde_json::from_str(&said).unwrap();
    let metric = |name: &str| {
        let metrics = scored["rows"][0]["metrics"].as_array().unwrap();
        metrics.iter().find(|it| it["metric"] == name).unwrap().clone()
    };
    assert_eq!(metric("p50_us")["used_in_fit"], true);
    assert_eq!(metric("iops")["used_in_fit"], false);
    let ratio = metric("p50_us")["ratio"].as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let folder = Folder::new("real-drives-wrong");
    let file = folder.file("m.json", READS);
    let cut = folder.file("cut.json", &READS[..200]);
    let (_, preset, _) = ran(&["presets", "tlc"]);
    let seven: String =
        (0..7).map(|it| PARAMETER.replace("timing.read", &format!("k{it}"))).collect();
    let many = folder.file("many.toml", &(preset.clone() + &seven));
    let wrong_way = PARAMETER.replace("30us", "300us");
    let wrong_way = folder.file("way.toml", &(preset + &wrong_way));
    let out = folder.path("fitted.toml");
    let fit = |drive: &str, file: &str| {
        ran(&["calibrate", file, "--drive", drive, "--rows", "jobs=1", "--out", &out, "--quiet"])
    };
    for ((exit, said, noted), wanted) in [
        (ran(&["score", "tlc", &cut]), &["cut.json:4", "ends too early"][..]),
        (ran(&["score", "tlk", &cut]), &["unknown device `tlk`", "ends too early"]),
        (ran(&["score", "tlc", "absent.json"]), &["absent.json", "cannot be read"]),
        (ran(&["score", "tlc", &file, "--rows", "qd=1"]), &["no row has the key `qd`"]),
        (
            ran(&["score", "tlc", &file, "--rows", "a", "--capacity", "5"]),
            &["`=` is missing", "--capacity", "has no unit"],
        ),
        (ran(&["score", "tlc", &file, "--json", &file]), &["--json"]),
        (fit("tlc", &file), &["declares no parameter"]),
        (fit(&many, &file), &["many.toml:", "7 parameters are declared", "at most 6"]),
        (fit(&wrong_way, &cut), &["way.toml:", "is not below", "ends too early"]),
    ] {
        assert_eq!((exit, said.as_str()), (2, ""), "{noted}");
        for part in wanted {
            assert!(noted.contains(part), "{part}: {noted}");
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), READS, "the input is as it was");
    assert!(!std::path::Path::new(&out).exists());
}
