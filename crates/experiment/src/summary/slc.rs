//! Units that went through the SLC cache. Absent on drives without one.

use super::metric::{Metric, Unit};
use crate::outcome::Outcome;
use fowler_device::SlcCounts;

const UNITS: Unit = Unit::Count("units");

/// A counter of the SLC cache: name, unit, meaning and getter.
type Count = (&'static str, Unit, &'static str, fn(&SlcCounts) -> u64);

const COUNTS: [Count; 3] = [
    ("cached", UNITS, "Mapping units of the host programmed in SLC mode.", |it| it.cached),
    (
        "folded",
        UNITS,
        "Mapping units folded from the SLC cache into word lines with all bits of a cell; GC's \
            programs include them.",
        |it| it.folded,
    ),
    (
        "erased",
        Unit::Count("superblocks"),
        "Superblocks erased that were in SLC mode; their blocks count among the erases.",
        |it| it.erased,
    ),
];

pub(super) fn metrics() -> Vec<Metric> {
    let metric = |(name, unit, about, read): Count| {
        let read = move |it: &Outcome| has_cache(it).then(|| read(&it.counters.slc));
        Metric::new(format!("slc.{name}"), unit, about, read).only_if(has_cache)
    };
    COUNTS.into_iter().map(metric).collect()
}

fn has_cache(outcome: &Outcome) -> bool {
    outcome.drive.config.slc.is_on()
}
