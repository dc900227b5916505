//! Dies that fail. Absent where none has failed.

use super::metric::{Metric, Unit};
use crate::outcome::Outcome;
use fowler_device::FailedDieCounts;
use fowler_units::{Nanos, Span};

const DIES: Unit = Unit::Count("dies");
const STRIPES: Unit = Unit::Count("stripes");

/// A counter of failed dies: name, unit, meaning and getter.
type Count = (&'static str, Unit, &'static str, fn(&FailedDieCounts) -> u64);

const COUNTS: [Count; 6] = [
    ("failed", DIES, "Dies that failed and stay failed.", |it| it.failed.into()),
    ("replaced", DIES, "Dies that failed and were replaced by spare ones.", |it| {
        it.replaced.into()
    }),
    ("spare", DIES, "Spare dies that are left.", |it| it.spare.into()),
    (
        "degraded_stripes",
        STRIPES,
        "Stripes with a page at the end that cannot be read and waits to be rebuilt.",
        |it| it.degraded_stripes.into(),
    ),
    (
        "sharing_stripes",
        STRIPES,
        "Stripes with two pages on one chip at the end, because each other chip has failed or has one.",
        |it| it.sharing_stripes.into(),
    ),
    (
        "refused",
        Unit::Count("requests"),
        "Requests that the drive refused, because too few of its dies were left.",
        |it| it.refused,
    ),
];

pub(super) fn metrics() -> Vec<Metric> {
    let mut list: Vec<Metric> = COUNTS
        .into_iter()
        .map(|(name, unit, about, read)| {
            let read = move |it: &Outcome| it.failed_dies.as_ref().map(read);
            Metric::new(format!("failed_dies.{name}"), unit, about, read)
        })
        .collect();
    let about = "Time from the first request until the dies that were left could no longer hold the capacity \
                 of the drive; null if they always could. It has taken no writes since.";
    list.push(Metric::new("failed_dies.read_only_s", Unit::Seconds, about, read_only));
    let about = "Time from the first request until they could not even take what was in the controller; null \
                 if that did not happen. The drive has served nothing since.";
    list.push(Metric::new("failed_dies.offline_s", Unit::Seconds, about, offline));
    list.into_iter().map(|metric| metric.only_if(|it| it.failed_dies.is_some())).collect()
}

/// Returns the time at which the drive became read-only, in seconds from the first request.
pub(crate) fn read_only(outcome: &Outcome) -> Option<f64> {
    outcome.failed_dies?.read_only.map(|at| since_first(outcome, at))
}

/// Returns the time at which the drive stopped serving requests, in seconds from the first request.
pub(crate) fn offline(outcome: &Outcome) -> Option<f64> {
    outcome.failed_dies?.offline.map(|at| since_first(outcome, at))
}

fn since_first(outcome: &Outcome, at: Nanos) -> f64 {
    let began = outcome.clock.0 - outcome.simulated.0;
    Span(at.0.saturating_sub(began)).as_s()
}
