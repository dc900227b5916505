//! The setup of a run: not measured, but needed to interpret and to repeat the measurement.

use super::metric::{Metric, Stored, Unit};
use crate::json_schema::nullable;
use crate::json_schema::output::{Fact, map_of, schema, written};
use crate::outcome::laws::Law;
use crate::outcome::{Ending, Outcome};
use crate::provenance::VERSION;
use crate::replay_speed::Search;
use fowler_device::{OpBase, Pacing};
use serde_json::{Map, Value, json};

const BYTES: Unit = Unit::Count("bytes");

/// Returns a metric that is a text about the run, such as the drive's name.
fn text(name: &str, about: &str, read: fn(&Outcome) -> &str) -> Metric {
    Metric::new(name, Unit::Text, about, move |it| read(it).to_string())
}

/// Returns the metrics at the head of the summary, which identify the run.
pub(super) fn identity() -> Vec<Metric> {
    vec![
        text("scheme", "The scheme on the drive.", |it| &it.drive.scheme),
        text("device", "The drive: a preset or a file.", |it| &it.drive.device),
        Metric::new(
            "candidate",
            Unit::Text,
            "Name of the drive where drives are compared; absent elsewhere.",
            |it| it.drive.candidate.clone(),
        )
        .only_if(|it| it.drive.candidate.is_some()),
        Metric::new("complete", Unit::Flag, "True if the workload ran to its end.", |it| {
            it.ending == Ending::Complete
        }),
        Metric::new(
            "interrupted",
            Unit::Text,
            "Reason why the run ended early; null if it did not.",
            |it| match &it.ending {
                Ending::Complete => Value::Null,
                Ending::Stopped => json!("stopped by the user"),
                Ending::Failed(diagnostics) => json!(diagnostics.to_string()),
            },
        ),
    ]
}

/// Returns the metrics at the end of a run's summary: checks of the laws that every run must obey,
/// the drive, the workload, and the means to reproduce the run.
pub(super) fn laws_and_origin() -> Vec<Metric> {
    let laws = "Laws that every run must obey: whether each holds, its value in seconds, and its \
        bounds.";
    let mut list = vec![
        Metric::new("laws.LAW", Unit::Table, laws, |it| it.laws().json())
            .like(map_of(Law::schema())),
    ];
    list.extend(drive());
    list.extend(workload());
    list.extend(trace());
    list.extend(provenance());
    list
}

fn drive() -> Vec<Metric> {
    vec![
        Metric::new("drive.raw_bytes", BYTES, "Raw capacity.", |it| it.drive.layout.raw.0),
        Metric::new("drive.logical_bytes", BYTES, "Capacity that the host sees.", |it| {
            it.drive.layout.logical.0
        }),
        Metric::new(
            "drive.over_provisioning_of_raw",
            Unit::Share,
            "Spare capacity as a share of raw capacity.",
            Outcome::spare_of_raw,
        ),
        Metric::new(
            "drive.over_provisioning_of_logical",
            Unit::Share,
            "Spare capacity as a share of logical capacity.",
            Outcome::spare_of_logical,
        ),
        Metric::new(
            "drive.stated_base",
            Unit::Text,
            "The base of the over-provisioning in the description: raw or logical.",
            |it| match it.drive.config.over_provisioning_base {
                OpBase::Raw => "raw",
                OpBase::Logical => "logical",
            },
        ),
        text("drive.precondition", "The state of the drive before the run.", |it| &it.precondition),
    ]
}

fn workload() -> Vec<Metric> {
    vec![
        text("workload.name", "The generator or the trace file.", |it| &it.workload.name),
        Metric::new(
            "workload.requests",
            Unit::Count("requests"),
            "Requests that entered the drive.",
            |it| it.workload.requests,
        ),
        Metric::new(
            "workload.warm_up",
            Unit::Count("requests"),
            "Warm-up requests before the measurement, included in no other number; absent without \
                a warm-up.",
            Outcome::warm_up,
        )
        .only_if(|it| it.warm_up() > 0),
        Metric::new(
            "workload.speed",
            Unit::Ratio,
            "The factor by which times of the workload were divided.",
            |it| it.workload.speed,
        ),
        Metric::new(
            "workload.queue_depth",
            Unit::Count("requests"),
            "Outstanding requests of a closed loop; null if requests come at their own times.",
            |it| match it.pacing {
                Pacing::Open => None,
                Pacing::Closed { depth } => Some(depth),
            },
        ),
        Metric::new(
            "workload.idle_search.FACT",
            Unit::Table,
            "The search for a share of idle time: target, reached share, runs; null without one.",
            |it| it.search.map(|search| written(&of_search(), &search)),
        )
        .like(nullable(schema(&of_search()))),
    ]
}

fn of_search() -> [Fact<Search>; 3] {
    [
        Fact::new("target", "", |it: &Search| it.target),
        Fact::new("reached", "", |it: &Search| it.reached),
        Fact::new("runs", "", |it: &Search| it.runs)
            .like(json!({ "type": "integer", "minimum": 1 })),
    ]
}

/// Returns the metrics about reading a trace; absent for generated workloads.
fn trace() -> Vec<Metric> {
    let read: fn(&Outcome) -> bool = |it| it.workload.read.is_some();
    let of_trace = vec![
        Metric::new("workload.format", Unit::Text, "The format of the trace.", |it| {
            it.workload.read.as_ref().map(|read| read.format.name())
        }),
        Metric::new(
            "workload.lines",
            Unit::Count("lines"),
            "Number of lines in the trace.",
            |it| it.workload.read.as_ref().map(|read| read.lines),
        ),
        Metric::new(
            "workload.reordered",
            Unit::Count("requests"),
            "Requests of the trace that had to be sorted by time.",
            |it| it.workload.read.as_ref().map(|read| read.reordered),
        ),
        Metric::new(
            "workload.other_devices",
            Unit::Count("requests"),
            "Requests of other devices of the trace, which were left out.",
            |it| it.workload.read.as_ref().map(|read| read.other_devices),
        ),
        Metric::new(
            "workload.skipped.CAUSE",
            Unit::Count("lines"),
            "Bad lines of the trace that were skipped, by error.",
            |it| {
                it.workload.read.as_ref().map(|read| {
                    let skipped = read.skipped.iter();
                    let counts =
                        skipped.map(|(cause, lines)| (cause.to_string(), json!(lines.count)));
                    Value::Object(counts.collect::<Map<_, _>>())
                })
            },
        ),
    ];
    let mut list: Vec<Metric> = of_trace.into_iter().map(|it| it.only_if(read)).collect();
    list.extend([
        Metric::new(
            "workload.remap",
            Unit::Text,
            "How addresses of the trace were fitted to the drive; null for generators.",
            |it| it.workload.remap.map(|remap| remap.name()),
        ),
        Metric::new(
            "workload.touched_pages",
            Unit::Count("pages"),
            "Pages that the trace touches, if fitting it had to count them.",
            |it| it.workload.touched_pages,
        ),
    ]);
    list
}

fn provenance() -> Vec<Metric> {
    let hash = "The first 16 digits of the SHA-256 of the drive's complete description.";
    vec![
        text("config_hash", hash, |it| &it.drive.hash),
        Metric::new("provenance.version", Unit::Text, "The version of Fowler.", |_| VERSION),
        Metric::new("provenance.seed", Unit::Count("seed"), "The seed of the drive.", |it| {
            it.drive.config.seed
        }),
        text("provenance.config", "The drive as TOML, with every key.", |it| &it.drive.text)
            .stored(Stored::SummaryOnly),
        text(
            "provenance.workload_hash",
            "The SHA-256 of the trace, or a hash of the generator's text or of the requests.",
            |it| &it.workload.hash,
        ),
        Metric::new(
            "provenance.generator",
            Unit::Text,
            "The generator as TOML, with every key; null for traces.",
            |it| it.workload.generator.clone(),
        )
        .stored(Stored::SummaryOnly),
    ]
}
