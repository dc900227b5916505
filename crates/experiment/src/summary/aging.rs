//! Reads of aged data on drives with superblocks. Absent on other drives.

use super::metric::{Metric, Unit};
use crate::outcome::Outcome;
use fowler_device::Counters;

/// A counter of the drive's aging: name, unit, meaning and getter.
type Count = (&'static str, Unit, &'static str, fn(&Counters) -> u64);

const COUNTS: [Count; 3] = [
    (
        "retried",
        Unit::Count("reads"),
        "Flash page reads that were repeated at other reference voltages.",
        |it| it.aged.retried,
    ),
    (
        "retries",
        Unit::Count("reads"),
        "Total number of read retries at other reference voltages; equals counters.retries.",
        |it| it.retries_at.iter().sum(),
    ),
    (
        "refreshed",
        Unit::Count("superblocks"),
        "Superblocks refreshed because a page of theirs needed a late entry of the retry table.",
        |it| it.aged.refreshed,
    ),
];

pub(super) fn metrics() -> Vec<Metric> {
    let metric = |(name, unit, about, read): Count| {
        let read = move |it: &Outcome| ages(it).then(|| read(&it.counters));
        Metric::new(format!("aging.{name}"), unit, about, read).only_if(ages)
    };
    COUNTS.into_iter().map(metric).collect()
}

fn ages(outcome: &Outcome) -> bool {
    outcome.drive.config.aging.is_on()
}
