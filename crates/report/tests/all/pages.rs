//! Pages of real runs: what they hold, and how much.

use fowler_experiment::candidates::Candidates;
use fowler_experiment::compare::compare;
use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::presets::Folder;
use fowler_experiment::run::{ReplaySpeed, Run, RunSpec};
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_report::pages::of_runs;
use serde_json::Value;
use std::sync::atomic::AtomicBool;

/// A drive of four dies, worn so that whatever a scheme does happens.
const SMALL: [&str; 7] = [
    "geometry.chips_per_channel=1",
    "geometry.blocks_per_plane=40",
    "geometry.pages_per_block=16",
    "geometry.over_provisioning=0.45",
    "buffer.size=512KiB",
    "buffer.evict_ahead=8",
    "reliability.cycles=800",
];

fn spec(device: &str, set: &[&str], workload: &str) -> RunSpec {
    RunSpec {
        device: DeviceSpec {
            device: device.into(),
            set: set.iter().map(ToString::to_string).collect(),
            ..DeviceSpec::default()
        },
        scheme: None,
        workload: WorkloadSpec::Generated(Source { name: "w".into(), text: workload.into() }),
        replay_speed: ReplaySpeed::AsRecorded,
        limit: None,
        requests: None,
        faults: Vec::new(),
        detail: true,
    }
}

fn ran(device: &str, set: &[&str], schemes: &[&str], workload: &str) -> Vec<Outcome> {
    let spec = spec(device, set, workload);
    let schemes: Vec<String> = schemes.iter().map(ToString::to_string).collect();
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|_| () };
    compare(&spec, &Candidates::schemes(&spec.device, &schemes), control)
        .unwrap_or_else(|reported| panic!("{reported}"))
}

/// Every scheme there is, on a drive of 64 dies, long enough that every run has all its windows.
#[test]
fn a_page_of_many_schemes_is_under_two_megabytes() {
    let schemes: Vec<&str> = Folder::Schemes.presets().iter().map(|preset| preset.name).collect();
    assert!(schemes.len() >= 20, "{}", schemes.len());
    let wide =
        ["geometry.channels=8", "geometry.chips_per_channel=8", "geometry.blocks_per_plane=130"];
    let set: Vec<&str> = wide.iter().chain(&SMALL[2..]).copied().collect();
    let text = "requests = 10000\narrivals = { kind = 'poisson', rate = 4000 }\nmix.reads = 0.5\n";
    for count in [8, schemes.len()] {
        let outcomes = ran("together", &set, &schemes[..count], text);
        let windows =
            |it: &Outcome| it.detail.as_ref().expect("asked for").over_time.windows().len();
        assert!(outcomes.iter().all(|it| windows(it) > 128), "as long as a course can be");
        let page = of_runs(&outcomes, None, &[]);
        assert!(page.len() < 2_000_000, "{count} schemes: {} bytes", page.len());
    }
}

/// The charts of a page.
fn charts(page: &str) -> Vec<Value> {
    let data = page.split("<script type=\"application/json\">").skip(1);
    data.map(|text| serde_json::from_str(text.split("</script>").next().unwrap()).unwrap())
        .collect()
}

/// A logarithmic axis has no place for zero: a picture of what took no time would be an empty
/// frame.
#[test]
fn what_took_no_time_makes_no_empty_picture() {
    let set: Vec<&str> = SMALL[..5].iter().chain(&["buffer.ack=on_insert"]).copied().collect();
    for (rate, pictures) in [(100, false), (50_000, true)] {
        let text = format!(
            "requests = 3000\narrivals = {{ kind = 'poisson', rate = {rate} }}\nmix.reads = 0.5\nwrites.sizes = '4KiB 1'\n"
        );
        let page = of_runs(&ran("together", &set, &["fifo", "rps"], &text), None, &[]);
        let charts = charts(&page);
        for chart in &charts {
            // Every axis says in which unit its numbers are.
            let unit = |axis: &Value| {
                let name = axis["name"].as_str().unwrap();
                assert!(name.contains('(') || name.contains(" per "), "{}: {name}", chart["id"]);
            };
            if chart["shape"] != "bars" {
                unit(&chart["x"]);
            }
            for panel in chart["panels"].as_array().unwrap() {
                unit(&panel["y"]);
                let series = panel["series"].as_array().unwrap();
                let mut values = series.iter().flat_map(|it| it["y"].as_array().unwrap());
                let some = values.any(|value| value.as_f64().is_some_and(|value| value > 0.0));
                let log = panel["y"]["log"] == true || chart["id"] == "write-blame";
                assert!(some || !log, "{rate}: {} {}", chart["id"], panel["name"]);
            }
        }
        let drawn = |id: &str| charts.iter().any(|chart| chart["id"] == id);
        for id in ["write-latency", "write-blame", "write-latency-over-time"] {
            assert_eq!(drawn(id), pictures, "{rate}: {id}");
        }
        assert!(drawn("read-latency") && drawn("throughput"));
        assert_eq!(page.contains("writes that took no time"), pictures, "{rate}");
    }
}

/// A window of the density has all of its requests, and the marks of a box ascend.
#[test]
fn latencies_over_time_are_all_there() {
    // Reads alone: what the buffer answers at once is not drawn.
    let text = "requests = 4000\narrivals = { kind = 'poisson', rate = 4000 }\nmix.reads = 1.0\n";
    let page = of_runs(&ran("together", &SMALL, &["fifo", "rps"], text), None, &[]);
    let charts = charts(&page);
    let of = |chart: &Value| chart["panels"].as_array().unwrap().clone();
    let values = |series: &Value| series["y"].as_array().unwrap().clone();
    let (mut columns, mut boxes) = (0, 0);
    for chart in &charts {
        if chart["id"].as_str().unwrap().ends_with("-latency-density") {
            assert_eq!(of(chart).len(), 2, "a panel for each scheme");
            for panel in of(chart) {
                let rows: Vec<Vec<Value>> =
                    panel["series"].as_array().unwrap().iter().map(values).collect();
                for column in 0..rows[0].len() {
                    let sum: f64 = rows.iter().filter_map(|row| row[column].as_f64()).sum();
                    // Each share has four digits, and a window may have no requests.
                    assert!(sum == 0.0 || (sum - 100.0).abs() < 0.2, "{sum} in {column}");
                    columns += u32::from(sum > 0.0);
                }
            }
        } else if chart["shape"] == "boxes" {
            for series in of(chart)[0]["series"].as_array().unwrap() {
                for marks in values(series).chunks(5) {
                    let marks: Vec<f64> = marks.iter().filter_map(Value::as_f64).collect();
                    assert!(marks.is_sorted() && [0, 5].contains(&marks.len()), "{marks:?}");
                    boxes += usize::from(!marks.is_empty());
                }
            }
        }
    }
    assert!(columns > 100 && boxes >= 2 * 5, "{columns} columns, {boxes} boxes");
}

/// Numbers of a scheme beside latency and wear have tables of their own, where there are any.
#[test]
fn cells_voltages_and_protection_have_tables() {
    let text = "requests = 3000\narrivals = { kind = 'poisson', rate = 2000 }\nmix.reads = 0.5\n";
    let reported = |scheme: &str, more: &[&str]| {
        let set: Vec<&str> = SMALL
            .iter()
            .chain(&["policy.redundancy.parity_cache=256KiB", "policy.redundancy.all_above=1"])
            .chain(more)
            .copied()
            .collect();
        let page = of_runs(&ran("together", &set, &[scheme], text), None, &[]);
        ["cells", "voltages", "throttle", "protection"]
            .map(|name| page.contains(&format!("data-name=\"{name}\"")))
    };
    assert_eq!(reported("fifo", &["reliability.model=off"]), [false; 4]);
    assert_eq!(reported("fifo", &[]), [true, false, false, false]);
    let short = ["lifetime.target=1h", "lifetime.window=1s", "lifetime.period=100ms"];
    assert_eq!(reported("all", &short), [true; 4]);
}

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/small.toml");
const SECOND: &str =
    "requests = 2000\narrivals = { kind = 'poisson', rate = 2000 }\nmix.reads = 0.5\n";

fn outcome(spec: &RunSpec) -> Outcome {
    Run::new(spec, Control::UNWATCHED).outcome().unwrap_or_else(|why| panic!("{why}"))
}

/// Simulated time continues while the power is off.
#[test]
fn a_run_without_power_has_its_page() {
    let spans: Vec<String> = (1..=30).map(|turn| format!("{}ms 1ms", turn * 20)).collect();
    let text = format!("{SECOND}power_off = '{}'", spans.join(", "));
    for retention in ["1s", "4s"] {
        let retention = format!("policy.redundancy.retention={retention}");
        let set = [
            "policy.redundancy.name=udl",
            "policy.redundancy.stripe=1",
            "buffer.ack=on_insert",
            "precondition.pattern=steady",
            &retention,
        ];
        let spec = RunSpec { replay_speed: ReplaySpeed::Speed(0.02), ..spec(TINY, &set, &text) };
        assert!(of_runs(&[outcome(&spec)], None, &[]).contains("throughput"));
    }
}

/// A page says when a data cache caches nothing, as its outcome does.
#[test]
fn a_data_cache_that_caches_nothing_is_told() {
    let third = "policy.redundancy.worn_above=1 policy.redundancy.all_above=1 reliability.cycles=2";
    let second = "policy.redundancy.worn_above=2000";
    let mut told = 0;
    for (scheme, more, ack) in [
        ("hc", "", "on_program"),
        ("hc", "", "on_insert"),
        ("raid5", "", "on_program"),
        ("da_raid5", second, "on_program"),
        ("da_raid5", third, "on_program"),
        ("da_raid5", third, "on_insert"),
    ] {
        let (name, ack) = (format!("policy.redundancy.name={scheme}"), format!("buffer.ack={ack}"));
        let usual = ["policy.redundancy.stripe=1", "policy.redundancy.retention=1h"];
        let mut set = vec![name.as_str(), ack.as_str(), "policy.redundancy.parity_cache=64KiB"];
        set.extend(usual.into_iter().chain(more.split_whitespace()));
        let run = outcome(&RunSpec { detail: false, ..spec(TINY, &set, SECOND) });
        let reported = run.caches_no_data();
        let page = of_runs(&[run], None, &[]);
        let says = page.contains("data is not: a write is acknowledged");
        assert_eq!(says, reported, "{scheme} {more} {ack}");
        told += u32::from(says);
    }
    assert_eq!(told, 2);
}
