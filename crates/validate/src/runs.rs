//! Validates the laws of whole runs: Little's law and utilizations, on drives with GC and
//! suspension.

use super::drives::{FLASHES, set, spoiled};
use super::expectation::{Allowed, Group, Point, Row};
use super::spec::ValidateSpec;
use fowler_device::Pacing;
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::outcome::laws::Law;
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::run::{self, ReplaySpeed, Run, RunSpec};
use fowler_experiment::workload::{Control, WorkloadSpec};

/// Workloads whose runs must obey conservation laws: name in the report, workload, and replay
/// speed.
const WORKLOADS: [(&str, &str, ReplaySpeed); 2] = [
    ("demo", "demo", ReplaySpeed::AsRecorded),
    ("mixed-70-30", "16 outstanding", ReplaySpeed::Closed(16)),
];

pub(super) fn points(spec: &ValidateSpec) -> Result<Vec<Point>, Diagnostics> {
    let mut points = Vec::new();
    let limit = if spec.quick { 10_000 } else { 100_000 };
    for flash in FLASHES {
        for (workload, name, replay_speed) in WORKLOADS {
            for scheme in ["fifo", "pes_ipc"] {
                let keys = [
                    set("geometry.blocks_per_plane", 32),
                    set("gc.background_below", 8),
                    set("precondition.pattern", "\"steady\""),
                ];
                let source = presets::open(Folder::Workloads, workload)?;
                let run = RunSpec {
                    device: DeviceSpec {
                        device: flash.into(),
                        set: spoiled(&keys, spec),
                        ..DeviceSpec::default()
                    },
                    scheme: Some(scheme.into()),
                    workload: WorkloadSpec::Generated(source),
                    replay_speed,
                    limit: Some(limit),
                    requests: None,
                    faults: Vec::new(),
                    detail: false,
                };
                run::check(&run.device, &[scheme.to_string()], Some(&run.workload), &[]).or(())?;
                points.push(point(format!("{flash} {scheme}, {name}"), run));
            }
        }
    }
    Ok(points)
}

fn point(title: String, run: RunSpec) -> Point {
    let name = title.clone();
    Point::new(Group::Laws, title, move |control: Control<'_>| {
        let outcome = Run::new(&run, control).outcome();
        if control.stopped() {
            return None;
        }
        let outcome = outcome.expect("the run was checked");
        let requests = outcome.recorder.requests();
        // In an open loop all requests may be in flight at once, so the bound is meaningless.
        let open = outcome.pacing == Pacing::Open;
        let telling = |law: &Law| law.high > 0 && !(open && law.name == "occupancy");
        let laws = outcome.laws().0.into_iter().filter(telling);
        let rows = laws.map(|law| {
            let (low, high) = (law.low as f64 / 1e9, law.high as f64 / 1e9);
            Row {
                group: Group::Laws,
                what: format!("{name}: {}", law.says),
                unit: "s",
                theory: high,
                measured: law.value as f64 / 1e9,
                half_width: None,
                allowed: Allowed { low: low / high - 1.0, high: 0.0 },
                requests,
            }
        });
        Some(rows.collect())
    })
}
