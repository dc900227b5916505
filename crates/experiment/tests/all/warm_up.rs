//! A run with a warm-up, beside the same run without: what is measured is the rest of it alone.

use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::outcome::Outcome;
use fowler_experiment::run::{ReplaySpeed, Run, RunSpec};
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_metrics::Kind;
use std::sync::atomic::AtomicBool;

const REQUESTS: u64 = 4000;

fn outcome(
    warm_up: u64,
    replay_speed: ReplaySpeed,
    more: &str,
    detail: bool,
) -> Result<Outcome, Diagnostics> {
    let small = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/small.toml");
    let set = [format!("precondition.warm_up={warm_up}"), "precondition.pattern=steady".into()];
    let text = format!(
        "requests = {REQUESTS}\narrivals = {{ kind = 'poisson', rate = 900 }}\nmix.reads = 0.5\n{more}"
    );
    let spec = RunSpec {
        device: DeviceSpec { device: small.into(), set: set.into(), ..DeviceSpec::default() },
        scheme: None,
        workload: WorkloadSpec::Generated(Source { name: "w.toml".into(), text }),
        replay_speed,
        limit: None,
        requests: None,
        faults: Vec::new(),
        detail,
    };
    Run::new(&spec, Control { stop: &AtomicBool::new(false), progress: &|_| () }).outcome()
}

/// The warm-up and the rest of a run together have the numbers of the whole run, but for the
/// requests at the boundary.
#[test]
fn only_what_follows_is_measured() {
    for speed in [ReplaySpeed::AsRecorded, ReplaySpeed::Closed(4)] {
        let whole = outcome(0, speed, "", false).unwrap();
        let rest = outcome(REQUESTS / 4, speed, "", true).unwrap();
        assert!(rest.laws().hold(), "{:#?}", rest.laws());
        assert_eq!(rest.recorder.requests(), REQUESTS * 3 / 4);
        assert_eq!(rest.workload.requests, REQUESTS, "all of them entered the drive");
        let json = rest.json();
        assert_eq!(json["workload"]["warm_up"], REQUESTS / 4);
        assert_eq!(json["requests"], REQUESTS * 3 / 4);
        assert!(
            rest.precondition.contains("1,000 requests of the workload"),
            "{}",
            rest.precondition
        );
        assert_eq!(whole.json()["workload"]["warm_up"], serde_json::Value::Null);
        // A closed loop is never idle.
        let share = |of: fn(&Outcome) -> f64| match (of(&rest), of(&whole)) {
            (0.0, 0.0) => 0.75,
            (rest, whole) => rest / whole,
        };
        for (what, share) in [
            ("time", share(|it| it.simulated.as_s())),
            ("reads", share(|it| it.recorder.latencies(Kind::Read).count() as f64)),
            ("pages written", share(|it| it.counters.pages_written as f64)),
            ("programs", share(|it| it.counters.programs.sum() as f64)),
            ("die time", share(|it| it.counters.die_busy.as_s())),
            ("idle", share(|it| it.counters.idle.as_s())),
        ] {
            // A quarter is left out. Its cost to the dies depends on how much GC falls into it,
            // which varies by half of that quarter.
            assert!((0.6..0.9).contains(&share), "{speed:?}, {what}: {share}");
        }
        let idle = |it: &Outcome| it.idle_share().unwrap();
        assert!((idle(&rest) - idle(&whole)).abs() < 0.05, "{} {}", idle(&rest), idle(&whole));
        let over_time = rest.detail.as_ref().unwrap();
        let windows = over_time.over_time.windows();
        let served: u64 = windows
            .iter()
            .flat_map(|window| Kind::ALL.map(|kind| window.served[kind].requests))
            .sum();
        assert_eq!(served, REQUESTS * 3 / 4, "charts begin where the measurement does");
    }
}

/// With idle time in between, the later requests find the drive as they would without a boundary.
#[test]
fn a_boundary_changes_nothing_that_is_measured() {
    let slow = ReplaySpeed::Speed(0.1);
    let (whole, rest) =
        (outcome(0, slow, "", false).unwrap(), outcome(2000, slow, "", false).unwrap());
    let sum = |it: &Outcome| it.recorder.latencies(Kind::Read).max();
    assert!(sum(&rest) <= sum(&whole));
    let mean = |it: &Outcome| it.recorder.latencies(Kind::Read).mean_us().unwrap();
    assert!((mean(&rest) / mean(&whole) - 1.0).abs() < 0.1, "{} {}", mean(&rest), mean(&whole));
}

#[test]
fn a_warm_up_without_an_end_is_refused() {
    for warm_up in [REQUESTS, REQUESTS + 1] {
        let reported =
            outcome(warm_up, ReplaySpeed::AsRecorded, "", false).unwrap_err().to_string();
        assert!(reported.contains("4,000 requests, and all of them are the warm-up"), "{reported}");
    }
    let off = "power_off = '1s 1h'";
    let reported = outcome(10, ReplaySpeed::AsRecorded, off, false).unwrap_err().to_string();
    assert!(reported.contains("precondition.warm_up works without power losses"), "{reported}");
}
