//! `fowler score`, `fowler calibrate` and `fowler measure`: what they print and write, and what
//! they refuse.

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
    let overview = said.split("distance of each simulated number").nth(1).unwrap();
    let line = overview.lines().find(|line| line.contains("p50_us")).unwrap();
    assert!(line.contains(" 2 |"), "{line}");
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
    let warned = ["WARNING: 14 tries for 1 parameter", "fewer than two descents", "--tries 15"];
    assert!(warned.iter().all(|part| noted.contains(part)), "{noted}");
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

/// A data sheet becomes a drive, which declares what rows of the drive may move.
#[test]
fn a_data_sheet_becomes_a_drive() {
    let folder = Folder::new("real-drives-sheet");
    let sheet = folder.file("sheet.toml", "model = \"New 1\"\ncapacity_gb = 960\n");
    let out = folder.path("drive.toml");
    let (exit, said, noted) = ran(&["calibrate", "--from-datasheet", &sheet, "--out", &out]);
    assert_eq!(exit, 0, "{noted}");
    assert!(said.contains("New 1: from its data sheet"), "{said}");
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.contains("[assumed] median of 4 fitted presets"), "{text}");
    let wrong = "capacity_gb = 960\n[datasheet]\nseq_write_mb_s = 1000\nrand_write_iops = 900000\n";
    let wrong = folder.file("wrong.toml", wrong);
    let (exit, _, noted) = ran(&["calibrate", "--from-datasheet", &wrong, "--out", &out]);
    assert_eq!(exit, 2);
    assert!(
        noted.contains("wrong.toml:4") && noted.contains("more than `seq_write_mb_s`"),
        "{noted}"
    );
    let both = ["calibrate", "--from-datasheet", &sheet, "--rows", "jobs=1", "--out", &out];
    assert_eq!(ran(&both).0, 2, "a data sheet has no rows");
}

/// The jobs of `fowler measure`, run by `fowler fio` on a drive, are what `calibrate` reads.
#[test]
fn what_measure_asks_for_is_what_calibrate_reads() {
    let folder = Folder::new("real-drives-measure");
    let jobs = folder.path("jobs");
    let target = ["measure", "--target", "/dev/nvme9n9", "--capacity", "960GB", "--ten-minutes"];
    let (exit, said, noted) = ran(&[&target[..], &["--out", &jobs]].concat());
    assert_eq!(exit, 0, "{noted}");
    assert!(said.contains("not written: precondition.fio: overwrites the drive"), "{said}");
    assert!(!std::path::Path::new(&jobs).join("latency.fio").exists());
    let (exit, said, _) = ran(&[&target[..], &["--out", &jobs, "--destroy"]].concat());
    assert_eq!(exit, 0);
    assert!(
        said.contains("DESTROYS everything on /dev/nvme9n9") && said.contains("hours"),
        "{said}"
    );
    for job in ["latency", "depths"] {
        let text = std::fs::read_to_string(format!("{jobs}/{job}.fio")).unwrap();
        // The head and the first two rows, for milliseconds instead of minutes.
        let sections: Vec<&str> = text.split("\n\n").take(5).collect();
        let short = sections.join("\n\n") + "\n";
        let short: String = short
            .lines()
            .filter(|line| !line.starts_with("ramp_time"))
            .map(|line| if line.starts_with("runtime") { "runtime=100ms" } else { line })
            .flat_map(|line| [line, "\n"])
            .collect();
        let short = folder.file(&format!("{job}.fio"), &short);
        let json = folder.path(&format!("{job}.json"));
        let fio = ["fio", &short, "--output-format", "json", "--output", &json, "--quiet"];
        let (exit, _, noted) =
            ran(&[&fio[..], &["--set", "geometry.blocks_per_plane=16"]].concat());
        assert_eq!(exit, 0, "{noted}");
        if job == "latency" {
            let row = ["--rows", "offered_write_iops=10000", "--capacity", "1GiB"];
            let score = ["score", "tlc", &json, "--brief", "--quiet"];
            let (exit, said, noted) = ran(&[&score[..], &row].concat());
            assert_eq!(exit, 0, "{noted}");
            assert!(noted.contains("rows of latency_under_load"), "{noted}");
            assert!(said.contains("/dev/nvme9n9") && said.contains("read_us.p50"), "{said}");
            continue;
        }
        let (_, preset, _) = ran(&["presets", "tlc"]);
        let drive = folder.file("drive.toml", &(preset + PARAMETER));
        let out = folder.path("fitted.toml");
        let fit = ["calibrate", &json, "--drive", &drive, "--rows", "qd_per_job=1", "--metric"];
        let more = ["p50_us", "--tries", "10", "--out", &out];
        let (exit, said, noted) = ran(&[&fit[..], &more, &SMALL].concat());
        assert_eq!(exit, 0, "{noted}");
        assert!(noted.contains("rows of reads_by_depth"), "{noted}");
        assert!(said.contains("/dev/nvme9n9") && said.contains(" of the search reduced"), "{said}");
    }
    for (target, wanted) in [
        ("nvme0n1", "no file of a block device"),
        ("/dev/null", "no file of a block device"),
        ("/dev/./absent", "--capacity 960GB"),
    ] {
        let (exit, _, noted) = ran(&["measure", "--target", target, "--out", &jobs]);
        assert_eq!(exit, 2);
        assert!(noted.contains(wanted), "{noted}");
    }
}

/// The jobs of `fowler measure --patterns`, run by `fowler fio` on a small drive, become rows that
/// `fowler score` simulates.
// Slow: the jobs of two patterns are run, and a score writes the drive several times for each.
#[test]
fn patterns_that_measure_asks_for_are_scored() {
    let folder = Folder::new("real-drives-patterns");
    let jobs = folder.path("jobs");
    let target = ["measure", "--target", "/dev/nvme9n9", "--capacity", "256MiB"];
    let (exit, said, noted) =
        ran(&[&target[..], &["--patterns", "--destroy", "--out", &jobs]].concat());
    assert_eq!(exit, 0, "{noted}");
    assert!(said.contains("patterns.fio: overwrites the drive"), "{said}");
    let text = std::fs::read_to_string(format!("{jobs}/patterns.fio")).unwrap();
    // Of the five patterns that fit this drive, the skewed one and the zones.
    let wanted = |section: &&str| {
        ["[global]", "-zipf]", "-zones-of-64-mib]"].iter().any(|name| section.contains(name))
    };
    let short: Vec<&str> = text.split("\n\n").filter(wanted).collect();
    assert_eq!(short.len(), 7, "{text}");
    let short = folder.file("patterns.fio", &(short.join("\n\n") + "\n"));
    let json = folder.path("patterns.json");
    let fio = ["fio", &short, "--output-format", "json", "--output", &json, "--quiet"];
    // Few dies: a score writes each pattern several times over the whole drive.
    let small = [
        ["--set", "geometry.channels=1"],
        ["--set", "geometry.chips_per_channel=2"],
        ["--set", "geometry.blocks_per_plane=40"],
        ["--set", "buffer.size=1MiB"],
    ];
    let small = small.as_flattened();
    let (exit, _, noted) = ran(&[&fio[..], small].concat());
    assert_eq!(exit, 0, "{noted}");
    let score = ["score", "tlc", &json, "--brief", "--quiet", "--capacity", "256MiB"];
    let (exit, said, noted) = ran(&[&score[..], small].concat());
    assert_eq!(exit, 0, "{noted}");
    assert!(noted.contains("2 rows of write_patterns in 6 jobs of fio"), "{noted}");
    for part in ["zipf_of_fio", "seq_zones", "steady_mb_s", "sequential_mb_s", "write_us.p50"] {
        assert!(said.contains(part), "no {part} in {said}");
    }
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
        (ran(&["score", "tlc", &file, "--rows", "qd=1"]), &["no measured row has the key `qd`"]),
        (
            ran(&["score", "tlc", &file, "--rows", "a", "--capacity", "5"]),
            &["`=` is missing", "--capacity", "has no unit"],
        ),
        (ran(&["score", "tlc", &file, "--json", &file]), &["--json"]),
        (
            ran(&["score", "tlc", &file, "--rows", "engine=pigeon"]),
            &["nothing is simulated of 1 measured row", "m: A: row 3: `engine` is `pigeon`"],
        ),
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

mod shared_files {
    use super::*;
    use fowler_tests::shared_folder;

    /// Returns a number of a table of the scoreboard: of the row that begins so, the column.
    fn of_the_scoreboard(row: &str, column: usize) -> f64 {
        let text = include_str!("../../../../docs/scoreboard.md");
        let line = text.lines().find(|line| line.starts_with(row) && line.contains("| +0."));
        let cell = line.and_then(|line| line.split('|').nth(column)).expect(row);
        cell.trim().replace(',', "").parse().expect(row)
    }

    // Slow: writes of 2 GiB with GC, up to three times, for the spare capacity, and a saturated
    // row.
    #[test]
    fn a_drive_from_its_data_sheet_saturates_as_the_scoreboard_says() {
        let Some(path) = shared_folder::path("drives/latency-under-load.json", "data sheets")
        else {
            return;
        };
        let measured: Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let drives = measured["drives"].as_array().unwrap();
        let drive = drives.iter().find(|it| it["sample"] == "wd").expect("the WD drive");
        let keys = ["model", "capacity_gb", "pcie", "datasheet"];
        let sheet: serde_json::Map<String, Value> =
            keys.iter().map(|key| ((*key).to_string(), drive[*key].clone())).collect();
        let folder = Folder::new("real-drives-shared");
        let sheet = folder.file("sheet.json", &Value::Object(sheet).to_string());
        let out = folder.path("drive.toml");
        let (exit, _, noted) =
            ran(&["calibrate", "--from-datasheet", &sheet, "--quiet", "--out", &out]);
        assert_eq!(exit, 0, "{noted}");
        let path = path.display().to_string();
        let row = ["--rows", "sample=wd,offered_write_iops=200000", "--brief", "--quiet", "--json"];
        let (exit, said, noted) = ran(&[&["score", &out, &path][..], &row].concat());
        assert_eq!(exit, 0, "{noted}");
        let scored: Value = serde_json::from_str(&said).unwrap();
        let metrics = scored["rows"][0]["metrics"].as_array().unwrap();
        let rate = metrics.iter().find(|it| it["metric"] == "achieved_write_iops").unwrap();
        let off = rate["simulated"].as_f64().unwrap() / of_the_scoreboard("| WD data-centre", 5);
        assert!((off - 1.0).abs() < 0.03, "{off} times what docs/scoreboard.md says");
    }
}
