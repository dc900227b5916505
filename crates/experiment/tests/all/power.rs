//! A workload that the power goes off in, from its text to its outcome.

use fowler_device::Op;
use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::outcome::Outcome;
use fowler_experiment::run::{ReplaySpeed, Run, RunSpec};
use fowler_experiment::timeline::{Choice, record};
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_units::Span;
use std::sync::atomic::AtomicBool;

/// A second of requests to a drive of two chips under UDL that keeps data for an hour, with more to
/// set and the workload's own keys.
fn outcome(set: &[&str], more: &str, replay_speed: ReplaySpeed) -> Result<Outcome, Diagnostics> {
    let spec = spec(set, more, replay_speed);
    Run::new(&spec, Control { stop: &AtomicBool::new(false), progress: &|_| () }).outcome()
}

fn spec(set: &[&str], more: &str, replay_speed: ReplaySpeed) -> RunSpec {
    let small = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/small.toml");
    let usual = [
        "policy.redundancy.name=udl",
        "policy.redundancy.stripe=1",
        "policy.redundancy.retention=1h",
        "buffer.ack=on_insert",
    ];
    let key = |setting: &str| setting.split('=').next().map(str::to_string);
    let stays = |setting: &&&str| !set.iter().any(|other| key(other) == key(setting));
    let set = usual.iter().filter(stays).chain(set).map(ToString::to_string).collect();
    let text = format!(
        "requests = 2000\narrivals = {{ kind = 'poisson', rate = 2000 }}\nmix.reads = 0.5\n{more}"
    );
    RunSpec {
        device: DeviceSpec { device: small.into(), set, ..DeviceSpec::default() },
        scheme: None,
        workload: WorkloadSpec::Generated(Source { name: "w.toml".into(), text }),
        replay_speed,
        limit: None,
        requests: None,
        faults: Vec::new(),
        detail: false,
    }
}

#[test]
fn a_run_goes_on_after_the_power_was_off() {
    let plain = outcome(&[], "", ReplaySpeed::AsRecorded).unwrap();
    assert_eq!(plain.json()["power_off"], serde_json::Value::Null);
    for (cache, speed) in [("volatile", 1.0), ("protected", 1.0), ("protected", 4.0)] {
        let cache = format!("policy.redundancy.cache={cache}");
        let off = "power_off = '400ms 30min, 500ms 31min, 100s 1h'";
        let result = outcome(&[&cache], off, ReplaySpeed::Speed(speed)).unwrap();
        assert_eq!(result.recorder.requests(), 2000, "every request is served");
        let power = &result.json()["power_off"];
        assert_eq!(power["spans"], 2, "no request follows the third");
        assert_eq!(power["off_s"], 61.0 * 60.0);
        assert!(power["overdue"].as_u64().unwrap() > 0, "an hour is over: {power}");
        let lost = power["lost_writes"].as_u64().unwrap();
        assert_eq!(lost > 0, cache.ends_with("volatile"), "{power}");
        // Time under power is that of the requests.
        let under_power = result.simulated.as_s() * speed;
        assert!((under_power / plain.simulated.as_s() - 1.0).abs() < 0.02, "{under_power} s");
        assert!(result.laws().hold());
    }
}

#[test]
fn who_knows_of_no_time_without_power_says_so() {
    let off = "power_off = '400ms 30min'";
    let reported =
        outcome(&["policy.throttle.name=ready"], off, ReplaySpeed::AsRecorded).unwrap_err();
    assert!(reported.to_string().contains("policy.throttle works on"), "{reported}");
    let wrong = "power_off = '1s 1h, 1s 2h'";
    let reported = outcome(&[], wrong, ReplaySpeed::AsRecorded).unwrap_err().to_string();
    assert!(reported.contains("overlap") && reported.contains("w.toml"), "{reported}");
}

/// Operations between the last request and the power loss appear in the timeline, in each step and
/// each window.
#[test]
fn a_run_without_power_has_its_timeline() {
    let spans: Vec<String> = (1..=30).map(|turn| format!("{}ms 1ms", turn * 20)).collect();
    let off = format!("power_off = '{}'", spans.join(", "));
    let all = Choice::Window { from: Span::ZERO, until: Span::ms(3_600_000) };
    // In one the drive is about all the time, so that windows end in the midst of it; in the other
    // a trace can hold it.
    for (retention, holds) in [("1s", false), ("4s", true)] {
        let retention = format!("policy.redundancy.retention={retention}");
        let set = [retention.as_str(), "precondition.pattern=steady"];
        let control = Control { stop: &AtomicBool::new(false), progress: &|_| () };
        let spec = RunSpec { detail: true, ..spec(&set, &off, ReplaySpeed::Speed(0.02)) };
        let recorded =
            record(&spec, all, control).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let (outcome, timeline) = (recorded.outcome, recorded.timeline);
        assert_eq!(outcome.json()["power_off"]["spans"], 30);
        let windows = outcome.detail.as_ref().expect("it was asked for").over_time.windows();
        let seen: u64 = windows.iter().map(|window| window.erases).sum();
        let erases: u64 = outcome.counters.erases.sum();
        assert!(erases > 10, "{erases}");
        assert_eq!(seen, erases);
        let done = timeline.operations.iter().filter(|it| it.operation.op == Op::Erase && it.done);
        assert_eq!(
            (done.count() as u64 == erases, recorded.diagnostics.0.is_empty()),
            (holds, holds)
        );
    }
}

/// Where hybrid caching acknowledges writes only when they are in flash, its data cache caches
/// nothing, and the outcome says so. DA-RAID-5 in its third stage does the same.
#[test]
fn a_data_cache_that_caches_nothing_is_told() {
    let third = "policy.redundancy.worn_above=1 policy.redundancy.all_above=1 reliability.cycles=2";
    for (scheme, more, ack, reported) in [
        ("hc", "", "on_program", true),
        ("hc", "", "on_insert", false),
        ("raid5", "", "on_program", false),
        ("da_raid5", "policy.redundancy.worn_above=2000", "on_program", false),
        ("da_raid5", third, "on_program", true),
        ("da_raid5", third, "on_insert", false),
    ] {
        let (name, ack) = (format!("policy.redundancy.name={scheme}"), format!("buffer.ack={ack}"));
        let mut set = vec![name.as_str(), ack.as_str(), "policy.redundancy.parity_cache=64KiB"];
        set.extend(more.split_whitespace());
        let result = outcome(&set, "", ReplaySpeed::AsRecorded)
            .unwrap_or_else(|why| panic!("{scheme}: {why}"));
        assert_eq!(result.caches_no_data(), reported, "{scheme} {more} {ack}");
    }
}
