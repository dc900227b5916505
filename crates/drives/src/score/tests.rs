//! Tests of a comparison: the numbers it contains, those it leaves out, and those marked as fitted.

use super::*;
use fowler_units::Bytes;
use serde_json::json;

fn spec(declarations: &str) -> (ScoreSpec, tempfile::TempDir) {
    let row = |depth: u32| {
        json!({
            "block_bytes": 4096, "jobs": 1, "qd_per_job": depth, "iops": 10_000, "p50_us": 80.0,
            "p99.99_us": 200.0, "min_us": 3, "seconds": 60,
        })
    };
    let text = json!({
        "title": "t", "protocol": { "workload": "reads" }, "units": { "latency": "us" },
        "drives": [
            { "model": "A", "rows": [row(1), row(4)] },
            { "model": "B", "rows": [row(1), { "block_bytes": 7, "jobs": 1, "qd_per_job": 1 }] },
        ],
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.json");
    std::fs::write(&file, text.to_string()).expect("written");
    let preset =
        fowler_experiment::presets::open(fowler_experiment::presets::Folder::Devices, "tlc")
            .expect("a preset");
    let spec = ScoreSpec {
        drive: DeviceSpec {
            device: "tried".into(),
            text: Some(preset.text + "\n" + declarations),
            set: vec!["geometry.blocks_per_plane=16".into()],
            ..DeviceSpec::default()
        },
        scheme: None,
        files: vec![file],
        filters: Vec::new(),
        effort: Effort { least: 1_000, most: 2_000, tail: Bytes(1 << 30), ..Effort::BRIEF },
        draws: 0,
    };
    (spec, folder)
}

#[test]
fn every_number_of_a_row_is_compared_or_left_out_with_a_reason() {
    let (spec, _kept) = spec("");
    let score = score(&spec, Control::UNWATCHED).expect("it can be compared");
    assert!(score.complete);
    let places: Vec<&str> = score.rows.iter().map(|row| row.place.as_str()).collect();
    assert_eq!(places, ["m: A: row 1", "m: A: row 2", "m: B: row 1"]);
    assert_eq!(score.refused.len(), 1);
    assert_eq!(score.refused[0].0, "m: B: row 2");
    for row in &score.rows {
        let names: Vec<&str> = row.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(names, ["iops", "p50_us"]);
        let left: Vec<&str> = row.left_out.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(left, ["p99.99_us", "min_us"]);
    }
    // Both drives have equal jobs, so they have equal numbers.
    assert_eq!(score.rows[0].metrics, score.rows[2].metrics);
    let json = score.json();
    let metric = &json["rows"][0]["metrics"][0];
    assert_eq!((&metric["metric"], &metric["used_in_fit"]), (&json!("iops"), &json!(false)));
    let ratio = metric["simulated"].as_f64().unwrap() / 10_000.0;
    assert_eq!(metric["ratio"].as_f64(), Some(ratio));
    assert!(metric["interval"][0].as_f64() <= metric["simulated"].as_f64());
    // Three rows of iops and of p50_us, of two drives.
    let overview = score.overview();
    let lines: Vec<_> = overview.iter().map(|it| (it.drive.as_str(), it.rows)).collect();
    assert_eq!(lines, [("A", 2), ("A", 2), ("B", 1), ("B", 1)]);
    let ratios = [0, 1].map(|row| score.rows[row].metrics[0].ratio().unwrap());
    let off = |ratio: f64| ratio.max(1.0 / ratio) - 1.0;
    let worst = ratios.map(off).into_iter().fold(0.0, f64::max);
    assert!((overview[0].median_off - worst).abs() < 1e-9 && off(overview[0].worst.0) >= worst);
    assert_eq!(overview[0].worst.1, "block_bytes=4096 jobs=1 qd_per_job=4".to_string());
    assert_eq!(json["overview"][0]["rows"], json!(2));
    assert_eq!(json["not_simulated"][0]["row"], json!("m: B: row 2"));
}

/// Rows of which none can be simulated are an error with the reasons; the file has one such row.
#[test]
fn a_comparison_of_nothing_is_refused() {
    let (mut spec, _kept) = spec("");
    spec.filters = vec![Filter::parse("block_bytes=7").expect("a filter")];
    let wrong = score(&spec, Control::UNWATCHED).expect_err("nothing is left").to_string();
    for part in ["nothing is simulated of 1 measured row", "m: B: row 2: `block_bytes` is 7"] {
        assert!(wrong.contains(part), "{part}: {wrong}");
    }
    let rows = [("a", "x"), ("b", "y"), ("c", "y"), ("d", "z"), ("e", "w")];
    let wrong = nothing(&rows.map(|(place, why)| (place.to_string(), why.to_string())));
    let wrong = Diagnostics::from(wrong).to_string();
    assert!(wrong.contains("2 rows, such as b: y; a: x; d: z; 1 more reason"), "{wrong}");
}

#[test]
fn a_fitted_drive_knows_its_model_and_its_rows() {
    let of = |depth: u32| {
        format!("\"reads_by_depth: A: block_bytes=4096 jobs=1 qd_per_job={depth}: iops\"")
    };
    let fitted = format!("[calibrate]\nmodel = \"A\"\nfitted = [{}, {}]", of(4), of(9));
    let (mut spec, _kept) = spec(&fitted);
    let fitted =
        |score: &Score| -> Vec<bool> { score.metrics().map(|metric| metric.used_in_fit).collect() };
    let of_model = score(&spec, Control::UNWATCHED).expect("it can be compared");
    assert_eq!(fitted(&of_model), [false, false, true, false]);
    assert!(of_model.median_off(true).is_some() && of_model.median_off(false).is_some());
    // A filter that names a model selects that model.
    spec.filters = vec![Filter::parse("model=B,block_bytes=4096").expect("a filter")];
    let other = score(&spec, Control::UNWATCHED).expect("it can be compared");
    assert_eq!(other.rows[0].model, "B");
    assert_eq!(fitted(&other), [false, false]);
}

/// A fitted number names its row by identity, because the row's number changes when a file gets
/// more rows.
#[test]
fn a_fitted_row_is_not_named_by_its_number() {
    let (spec, _kept) = spec("[calibrate]\nmodel = \"A\"\nfitted = [\"m: A: row 2: iops\"]");
    let wrong = score(&spec, Control::UNWATCHED).expect_err("it is wrong").to_string();
    assert!(wrong.contains("a row by its position") && wrong.contains("by its keys"), "{wrong}");
}

/// A drive fitted to a model of which no file has rows is compared with all drives, and the result
/// says so.
#[test]
fn a_drive_fitted_to_another_model_is_compared_all_the_same() {
    let (spec, _kept) =
        spec("[calibrate]\nmodel = \"C\"\nfitted = [\"depth_grid: C: jobs=1: iops\"]");
    let score = score(&spec, Control::UNWATCHED).expect("it can be compared");
    assert_eq!((score.rows.len(), score.of_another.as_deref()), (3, Some("C")));
    assert!(score.metrics().all(|metric| !metric.used_in_fit));
}

#[cfg(feature = "pages")]
#[test]
fn the_page_has_the_tables_and_every_picture() {
    let (spec, folder) = spec("");
    let score = score(&spec, Control::UNWATCHED).expect("it can be compared");
    let out = folder.path().join("out");
    std::fs::create_dir(&out).expect("a folder");
    let (files, warnings) = score.write(&out).expect("written");
    assert_eq!(warnings, [] as [String; 0]);
    assert_eq!(files, ["m.csv", "overview.csv", "depth-a.svg", "depth-b.svg", "report.html"]);
    let page = std::fs::read_to_string(out.join("report.html")).expect("a page");
    assert!(page.contains("Not simulated: m: B: row 2") && page.contains("by queue depth"));
}
