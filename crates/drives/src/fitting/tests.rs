//! Tests of a fit: the search on functions whose minimum is known, the table `[calibrate]`, and a
//! drive recovered from rows that were simulated on it.

use super::calibrate_table::CalibrateTable;
use super::search::{Found, Residuals, search};
use super::*;
use crate::measurements::Filter;
use crate::protocol::{Effort, Estimate};
use crate::score::{Metric, ScoreSpec};
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::presets::Source;
use fowler_units::Bytes;
use std::sync::atomic::AtomicBool;

/// A function that returns residuals at given positions, for tests of the search.
struct Function<F>(F);

impl<F: Fn(&[f64]) -> Vec<f64> + Sync> Residuals for Function<F> {
    fn at(
        &self,
        positions: &[f64],
        control: Control<'_>,
    ) -> Result<Option<Vec<Term>>, Diagnostics> {
        let term = |(number, residual): (usize, f64)| Term {
            place: number.to_string(),
            identity: number.to_string(),
            metric: "x".into(),
            measured: 1.0,
            simulated: Some(Estimate::bare(libm::exp(0.05 * residual))),
            expected: 0.05,
        };
        let terms = (self.0)(positions).into_iter().enumerate().map(term).collect();
        Ok((!control.stopped()).then_some(terms))
    }
}

fn found(function: impl Fn(&[f64]) -> Vec<f64> + Sync, start: &[f64], seed: u64) -> Found {
    let found = search(&Function(function), start, 80, seed, Control::UNWATCHED);
    found.expect("it can be evaluated").expect("nobody stopped it")
}

#[test]
fn the_least_is_found_from_anywhere_within_the_bounds() {
    // A curved valley, two that trade off, and one beyond the bounds.
    let curved = |x: &[f64]| vec![20.0 * (x[1] - x[0] * x[0]), 4.0 * (x[0] - 0.7)];
    let product = |x: &[f64]| {
        let (a, b) = (0.2 + x[0], 0.2 + x[1]);
        vec![30.0 * libm::log(a * b / 0.42), 10.0 * libm::log(a / b / 1.4), x[2] + 1.0]
    };
    for seed in [1, 2] {
        for start in [[0.0, 0.0], [1.0, 0.2], [0.5, 1.0]] {
            let found = found(curved, &start, seed);
            assert!((found.positions[0] - 0.7).abs() < 0.02, "{start:?}: {:?}", found.positions);
            assert!((found.positions[1] - 0.49).abs() < 0.02, "{start:?}: {:?}", found.positions);
            assert!(found.tried <= 80);
        }
        let found = found(product, &[0.9, 0.9, 0.9], seed);
        let (a, b) = (0.2 + found.positions[0], 0.2 + found.positions[1]);
        assert!((a * b / 0.42 - 1.0).abs() < 0.02 && (a / b / 1.4 - 1.0).abs() < 0.03);
        assert!(found.positions[2] < 0.01, "it ends at its bound: {}", found.positions[2]);
    }
}

#[test]
fn a_parameter_that_the_rows_say_nothing_of_is_not_held() {
    let parameter = |key: &str| {
        format!("[[calibrate.parameter]]\nkey = \"{key}\"\nlow = 1\nhigh = 100\nsource = \"s\"\n")
    };
    let source = Source { name: "f".into(), text: parameter("a") + &parameter("b") };
    let declared = CalibrateTable::read(&source).expect("it is right");
    let free = intervals::held(&declared, &found(|x| vec![9.0 * (x[0] - 0.5)], &[0.1, 0.1], 1));
    assert_eq!(free.iter().map(Held::is_held).collect::<Vec<_>>(), [true, false], "{free:?}");
    // Two parameters of which the rows tell only the sum do not make the third unknown.
    let three = parameter("a") + &parameter("b") + &parameter("c");
    let of_three = CalibrateTable::read(&Source { name: "f".into(), text: three });
    let sum = |x: &[f64]| vec![9.0 * (x[0] + x[1] - 1.0), 9.0 * (x[2] - 0.5)];
    let free = intervals::held(&of_three.expect("it is right"), &found(sum, &[0.1; 3], 1));
    assert_eq!(
        free.iter().map(Held::is_held).collect::<Vec<_>>(),
        [false, false, true],
        "{free:?}"
    );
    // Each of many noisy numbers holds the first sharply and the second hardly.
    let many = |x: &[f64]| {
        let noise = |it: u32| libm::sin(f64::from(it) * 7.0);
        (0..40).map(|it| 40.0 * (x[0] - 0.5) + 0.2 * x[1] + noise(it)).collect()
    };
    let held = intervals::held(&declared, &found(many, &[0.1, 0.1], 1));
    assert!(!held[1].is_held(), "{:?}", held[1]);
    let one = |x: &[f64]| many(&[x[0], 0.0]);
    let source = Source { name: "f".into(), text: parameter("a") };
    let declared = CalibrateTable::read(&source).expect("it is right");
    let held = intervals::held(&declared, &found(one, &[0.1], 1));
    // The slope is 40, so 1.96 / 40 / sqrt(40) on either side; 10 is in the middle of 1 and 100.
    assert!((held[0].share - 2.0 * 1.96 / 40.0 / 6.325).abs() < 0.001, "{}", held[0].share);
    assert!(held[0].value.in_words().starts_with("10"), "{}", held[0].value.in_words());
}

#[test]
fn the_covariance_is_that_of_the_slopes_and_of_the_bounds_where_nothing_is_known() {
    let spread = |function: fn(&[f64]) -> Vec<f64>, n: usize| {
        intervals::spread(&found(function, &vec![0.1; n], 1), 0)
    };
    let near = |one: f64, other: f64| assert!((one / other - 1.0).abs() < 0.01, "{one} {other}");
    // A slope of 20 expected deviations, and 12 from the bounds: a variance of 1 / 412.
    near(spread(|x| vec![20.0 * (x[0] - 0.5)], 1)[0][0], 1.0 / 412.0);
    // Of the second nothing is known: anywhere between 0 and 1, whatever the first is.
    let two = spread(|x| vec![20.0 * (x[0] - 0.5), 0.0 * x[1]], 2);
    near(two[1][1], 1.0 / 12.0);
    assert!(two[0][1].abs() < 1e-9, "{two:?}");
    // Only 2 a + b is known: that is known as sharply as its slope says, and neither parameter is.
    let sum = spread(|x| vec![50.0 * (2.0 * x[0] + x[1] - 1.5)], 2);
    let of_sum = 4.0 * sum[0][0] + sum[1][1] + 4.0 * sum[0][1];
    near(of_sum, 5.0 / (5.0 * 2_500.0 + 12.0));
    assert!(sum[0][0] > 0.016 && sum[1][1] > 0.06, "{sum:?}");
}

/// Returns the declaration of a choice between two values of a key.
fn choice(key: &str, one: &str, other: &str) -> String {
    format!(
        "[[calibrate.parameter]]\noptions = [[\"{key}={one}\"], [\"{key}={other}\"]]\nsource = \"s\"\n"
    )
}

fn declared(text: &str) -> Result<CalibrateTable, String> {
    let source = Source { name: "d.toml".into(), text: text.into() };
    CalibrateTable::read(&source).map_err(|wrong| wrong.to_string())
}

fn parameter(key: &str, low: &str, high: &str) -> String {
    format!(
        "[[calibrate.parameter]]\nkey = \"{key}\"\nlow = {low}\nhigh = {high}\nsource = \"s\"\n"
    )
}

#[test]
fn declarations_that_are_wrong_say_where() {
    let good = parameter("timing.read", "\"40us\"", "\"90us\"");
    assert_eq!(declared(&good).expect("it is right").parameters.len(), 1);
    assert_eq!(declared("seed = 1").expect("nothing is declared"), CalibrateTable::default());
    let seven: String = (0..7).map(|it| parameter(&format!("k{it}"), "1", "2")).collect();
    for (text, said) in [
        (seven, &["d.toml:3", "7 parameters are declared", "at most 6"][..]),
        (parameter("a", "\"90us\"", "\"40us\""), &["d.toml:3", "90000ns", "is not below"]),
        (parameter("a", "2", "2"), &["lower bound 2 is not below its upper bound 2"]),
        (parameter("a", "[1, 5]", "[2, 4]"), &["[1, 5] is not below"]),
        (parameter("a", "\"40us\"", "90"), &["different kinds"]),
        (parameter("a", "[1, 2]", "[3, 4, 5]"), &["different kinds"]),
        (parameter("a", "true", "2"), &["`low` of `a` is neither a number", "\"25us\""]),
        (parameter("a", "1", "2") + &parameter("a", "1", "3"), &["`a` is declared twice"]),
        (good.replace("source = \"s\"\n", ""), &["a parameter has no source"]),
        (good.replace("\"s\"", "\" \""), &["`source` of a parameter says nothing"]),
        (good.replace("low =", "lowest ="), &["unknown key `lowest`", "has no low"]),
        ("[calibrate]\nmodell = \"x\"".into(), &["d.toml:2", "unknown key `modell`"]),
        ("[calibrate]\nfitted = [1]".into(), &["`fitted` holds a whole number"]),
        ("[calibrate]\nmodel = 7".into(), &["`model` is a whole number"]),
        (
            "[calibrate]\nspread = [[0.1]]\n".to_string()
                + &parameter("a", "1", "2")
                + &parameter("b", "1", "2"),
            &["d.toml:2", "`spread` of [calibrate] has 1 rows", "2 rows of 2 numbers"],
        ),
        ("[calibrate]\nspread = [\"a\"]".into(), &["`spread` is a list", "numbers"]),
        (choice("a", "1", "1"), &["no lists of settings", "2 to 8 different"]),
        (choice("a", "1", "2").replace("[\"a=1\"]", "[]"), &["no lists of settings"]),
        (choice("a", "1", "2").replace("\"a=1\"", "\"a=1\", \"a = 3\""), &["no lists of settings"]),
        (parameter("a", "1", "2") + &choice("a", "1", "2"), &["`a` is declared twice"]),
        (choice("a", "1", "2") + &choice(" a ", "1", "2"), &["`a` is declared twice"]),
        (
            "[calibrate]\nspread = [[0.1, 0.2], [0.3, 0.1]]\n".to_string()
                + &parameter("a", "1", "2")
                + &parameter("b", "1", "2"),
            &["d.toml:2", "is no covariance matrix", "equal covariances"],
        ),
        (choice("a", "1", "2").replace("a=1", "a"), &["no lists of settings"]),
        (choice("a", "1", "2") + "key = \"a\"\n", &["unknown key `key` of a choice"]),
        (choice("a", "1", "2").replace("source = \"s\"\n", ""), &["a choice has no source"]),
        (
            (0..4).map(|it| choice(&format!("k{it}"), "1", "2")).collect(),
            &["4 choices are declared", "at most 3"],
        ),
        // Everything at once.
        (
            parameter("a", "2", "1") + &parameter("b", "true", "2"),
            &["is not below", "`low` of `b`"],
        ),
    ] {
        let wrong = declared(&text).expect_err("it is wrong");
        for part in said {
            assert!(wrong.contains(part), "{part}: {wrong}");
        }
    }
}

/// Settings of a small drive. With 256 requests in flight, only the commands on the link limit its
/// rate.
const DRIVE: &[&str] = &[
    "geometry.page_size=4KiB",
    "geometry.blocks_per_plane=16",
    "host.bandwidth=8192MB/s",
    "timing.bus_transfer=2us",
];

fn spec(declarations: &str, rows: &str, seed: u64) -> (FitSpec, tempfile::TempDir) {
    let preset = presets_text("tlc");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.json");
    std::fs::write(&file, rows).expect("written");
    let spec = FitSpec {
        drive: DeviceSpec {
            device: "synthetic".into(),
            text: Some(preset + declarations),
            set: DRIVE.iter().map(ToString::to_string).collect(),
            ..DeviceSpec::default()
        },
        scheme: None,
        files: vec![file],
        filters: Vec::new(),
        metrics: Vec::new(),
        effort: Effort {
            within: 0.2,
            least: 1_000,
            most: 4_000,
            longer: 1.0,
            blocks: Bytes(1 << 30),
            tail: Bytes(1 << 30),
        },
        tries: 60,
        seed,
    };
    (spec, folder)
}

fn presets_text(name: &str) -> String {
    let folder = fowler_experiment::presets::Folder::Devices;
    fowler_experiment::presets::open(folder, name).expect("a preset").text + "\n"
}

/// Returns a file of measurements: random reads by depth, with the given numbers or, if empty, with
/// none.
fn rows(values: &[[f64; 3]]) -> String {
    let row = |(depth, [iops, p50, p99]): (u32, [f64; 3])| {
        serde_json::json!({
            "block_bytes": 4096, "jobs": 1, "qd_per_job": depth, "engine": "spdk",
            "iops": iops, "p50_us": p50, "p99_us": p99,
        })
    };
    let depths = [1, 16, 256];
    let rows: Vec<_> = depths.into_iter().zip(values.iter().copied()).map(row).collect();
    serde_json::json!({
        "title": "synthetic", "protocol": { "workload": "reads" }, "units": { "latency": "us" },
        "drives": [{ "model": "Synthetic 1", "rows": rows }],
    })
    .to_string()
}

/// Simulates the rows on a drive with these settings. Returns the comparison, the numbers of each
/// row (`iops`, `p50_us`, `p99_us`), and the folder of the rows.
fn simulated_rows(settings: &[&str]) -> (ScoreSpec, Vec<[f64; 3]>, tempfile::TempDir) {
    let (mut truth, kept) = spec("", &rows(&[[1.0; 3]; 3]), 1);
    truth.drive.set.extend(settings.iter().map(ToString::to_string));
    let score = ScoreSpec {
        drive: truth.drive,
        scheme: None,
        files: truth.files,
        filters: Vec::new(),
        effort: truth.effort,
        draws: 0,
    };
    let scored = crate::score::score(&score, Control::UNWATCHED).expect("simulated");
    let values = scored.rows.iter().map(|row| {
        ["iops", "p50_us", "p99_us"].map(|name| {
            let metric = row.metrics.iter().find(|metric| metric.name == name);
            metric.expect("simulated").simulated.value
        })
    });
    (score, values.collect(), kept)
}

/// Simulates a drive with known times and takes its rows as measured. Fits that start from other
/// times, with two seeds of the search, recover the known times.
// Slow: fits from other times and with two seeds, each with a drive simulated for every step.
#[test]
fn a_drive_is_found_again_from_its_rows() {
    let declarations = parameter("timing.read", "\"20us\"", "\"200us\"")
        + &parameter("host.command", "\"100ns\"", "\"4us\"");
    let known = ["timing.read=61us", "host.command=1500ns"];
    let (_, values, _kept) = simulated_rows(&known);
    let fits = [1, 7].map(|seed| {
        let (spec, _kept) = spec(&declarations, &rows(&values), seed);
        fit(&spec, Control::UNWATCHED).expect("it can be fitted").expect("nobody stopped it")
    });
    for fitted in &fits {
        assert_eq!((fitted.model.as_str(), fitted.terms.len()), ("Synthetic 1", 9));
        assert!(fitted.tried <= 60 && fitted.off < 0.2, "{} {}", fitted.tried, fitted.off);
        for (held, known) in fitted.parameters.iter().zip(known) {
            let (key, value) = known.split_once('=').expect("a setting");
            let ns = |text: &str| {
                let span = text.trim_matches('"').parse::<fowler_units::Span>();
                span.expect("a time").0
            };
            let [low, high] = [&held.interval.0, &held.interval.1].map(|it| ns(&it.print()));
            assert_eq!(held.parameter.key, key);
            assert!((low..=high).contains(&ns(value)), "{known}: {low} to {high} ns");
            assert!(held.is_held(), "{known}: {held:?}");
        }
        // The file is a drive that says what it was fitted to.
        let written = Source { name: "out.toml".into(), text: fitted.text.clone() };
        let declared = CalibrateTable::read(&written).expect("it reads back");
        assert_eq!((declared.fitted.len(), declared.parameters.len()), (9, 2));
        assert_eq!(declared.model.as_deref(), Some("Synthetic 1"));
        assert!(device_spec::parse_device(&fitted.text, "out.toml").is_ok());
    }
    // Another seed lands on the same predictions.
    for (one, other) in fits[0].terms.iter().zip(&fits[1].terms) {
        let [one, other] = [one, other].map(|it| it.simulated.expect("simulated").value);
        assert!((one / other - 1.0).abs() < 0.02, "{one} and {other}");
    }
}

/// The option with which the rows were simulated is taken, whichever comes first, and the drives
/// drawn from the fit give intervals.
// Slow: a fit for each of two options, in both orders.
#[test]
fn the_option_that_made_the_rows_is_chosen() {
    let read = parameter("timing.read", "\"30us\"", "\"120us\"");
    let (mut score, values, _kept) = simulated_rows(&["timing.read=61us"]);
    let truth = score.clone();
    for (one, other) in [("2us", "20us"), ("20us", "2us")] {
        let declarations = read.clone() + &choice("timing.bus_transfer", one, other);
        let (mut spec, _kept) = spec(&declarations, &rows(&values), 1);
        spec.tries = 20;
        let fitted =
            fit(&spec, Control::UNWATCHED).expect("it can be fitted").expect("not stopped");
        let [right, wrong] =
            if one == "2us" { [0, 1] } else { [1, 0] }.map(|it| fitted.options[it].off.unwrap());
        assert!(right < 0.3 && wrong > 1.0 && fitted.tried <= 40, "{right} {wrong}");
        assert!(fitted.text.contains("bus_transfer = \"2us\""), "{}", fitted.text);
        assert!(fitted.text.contains(": timing.bus_transfer=20us\n"), "{}", fitted.text);
        let written = Source { name: "out.toml".into(), text: fitted.text.clone() };
        let declared = CalibrateTable::read(&written).expect("it reads back");
        assert_eq!((declared.choices.len(), declared.spread.len()), (1, 1));
        score.drive = DeviceSpec { text: Some(fitted.text), ..DeviceSpec::default() };
        (score.files, score.draws) = (spec.files, 10);
        let scored = crate::score::score(&score, Control::UNWATCHED).expect("simulated");
        for metric in scored.metrics() {
            // A number without a sampling error has no interval.
            let Some((low, high)) = metric.predicted else { continue };
            assert!(low <= metric.simulated.value && metric.simulated.value <= high, "{metric:?}");
        }
        let (within, of) = scored
            .metrics()
            .filter_map(Metric::is_within)
            .fold((0, 0), |(yes, all), it| (yes + usize::from(it), all + 1));
        assert!(of >= 4 && within + 1 >= of, "{within} of {of}");
    }
    // A drive that was not fitted has no covariance.
    (score.drive, score.files) = (truth.drive, truth.files);
    let wrong = crate::score::score(&score, Control::UNWATCHED).expect_err("there is none");
    assert!(wrong.to_string().contains("no covariance of parameters"), "{wrong}");
}

#[test]
fn a_fit_that_cannot_be_meant_is_refused() {
    let one = parameter("timing.read", "\"20us\"", "\"200us\"");
    let error = |declarations: &str, rows: &str, change: fn(&mut FitSpec)| {
        let (mut spec, _kept) = spec(declarations, rows, 1);
        change(&mut spec);
        fit(&spec, Control::UNWATCHED).expect_err("it is wrong").to_string()
    };
    let good = rows(&[[1e4, 90.0, 99.0]; 3]);
    let two = good.replace("\"rows\":", "\"rows\":[{\"block_bytes\":4096,\"jobs\":1,\"qd_per_job\":1,\"iops\":5}]},{\"model\":\"B\",\"rows\":");
    for (wrong, said) in [
        (
            error("", &good, |_| ()),
            &["declares no parameter to fit", "[[calibrate.parameter]]"][..],
        ),
        (
            error(&parameter("timing.reed", "\"1us\"", "\"2us\""), &good, |_| ()),
            &[
                "cannot be built with the lower bound of `timing.reed`",
                "did you mean `timing.read`?",
            ],
        ),
        (
            error(&parameter("geometry.over_provisioning", "0.01", "0.4"), &good, |_| ()),
            &["cannot be built with the lower bound of `geometry.over_provisioning`"],
        ),
        (
            error(&one, &good, |spec| spec.metrics = vec!["p5_us".into()]),
            &["--metric: no measured row has the number `p5_us`"],
        ),
        (
            error(&one, &good, |spec| spec.filters = vec![Filter::parse("jobs=2").unwrap()]),
            &["--rows", "no measured row meets the filter"],
        ),
        (
            error(&one, &two, |_| ()),
            &["the measured rows are of 2 drives: Synthetic 1, B", "model="],
        ),
        (
            error(
                &(one.clone() + &parameter("host.command", "\"1ns\"", "\"9ns\"")),
                &good,
                |spec| {
                    spec.metrics = vec!["iops".into()];
                    spec.filters = vec![Filter::parse("qd_per_job=1").unwrap()];
                },
            ),
            &["1 numbers for 2 parameters"],
        ),
        (
            error(&(one.clone() + &choice("queue.admission", "shared", "sharing")), &good, |_| ()),
            &["cannot be built with the option queue.admission=sharing"],
        ),
        // The file and the declarations are wrong at the same time.
        (
            error(&parameter("a", "2", "1"), &good[..50], |_| ()),
            &["is not below", "ends too early"],
        ),
    ] {
        for part in said {
            assert!(wrong.contains(part), "{part}: {wrong}");
        }
    }
}

#[test]
fn a_fit_that_is_stopped_has_no_result() {
    let one = parameter("timing.read", "\"20us\"", "\"200us\"");
    let (spec, _kept) = spec(&one, &rows(&[[1e4, 90.0, 99.0]; 3]), 1);
    let control = Control { stop: &AtomicBool::new(true), ..Control::UNWATCHED };
    assert!(fit(&spec, control).expect("the input is right").is_none());
}
