//! The laws of a run hold where reads take more than one level of soft sensing, and more than one
//! try.

use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::run::{ReplaySpeed, Run, RunSpec};
use fowler_experiment::workload::{Control, WorkloadSpec};
use std::sync::atomic::AtomicBool;

#[test]
fn transfers_are_those_of_every_level_tried() {
    let set = [
        "geometry.blocks_per_plane=64",
        "geometry.channels=2",
        "geometry.chips_per_channel=2",
        "reliability.cycles=4000",
        "reliability.levels=3",
        "policy.sensing=retry",
    ];
    let spec = RunSpec {
        device: DeviceSpec {
            device: "rhio".into(),
            set: set.map(String::from).into(),
            ..DeviceSpec::default()
        },
        scheme: None,
        workload: WorkloadSpec::Generated(Source {
            name: "reads and writes".into(),
            text: "requests = 3000\narrivals = { kind = \"poisson\", rate = 2000.0 }\nmix.reads = 0.95\n".into(),
        }),
        replay_speed: ReplaySpeed::AsRecorded,
        limit: None,
        requests: None,
        faults: Vec::new(),
        detail: false,
    };
    let stop = AtomicBool::new(false);
    let outcome = Run::new(&spec, Control { stop: &stop, progress: &|_| () }).outcome().unwrap();
    let counters = outcome.counters;
    assert!(counters.reads_at[1] > 100 && counters.reads_at[2] > 100, "{counters:?}");
    assert!(counters.retries_at[0] > counters.retries_at[1], "{counters:?}");
    assert!(counters.retries_at[1] > 100, "{counters:?}");
    assert!(outcome.laws().hold(), "{:?}", outcome.laws());
    let mut spoiled = outcome;
    spoiled.counters.retries_at[1] += 100_000;
    assert!(!spoiled.laws().hold());
}
