//! Scrubbing counters: pages read, errors found, blocks moved. Absent where data is not scrubbed.

use super::metric::{Metric, Unit};
use crate::json_schema::output::Typed;
use crate::outcome::Outcome;
use fowler_device::{ScrubProgress, Scrubbed};
use serde_json::Value;

const PAGES: Unit = Unit::Count("pages");
const BLOCKS: Unit = Unit::Count("blocks");

/// A counter of scrubbing: name, unit, meaning and getter.
type Count = (&'static str, Unit, &'static str, fn(&Scrubbed) -> u64);

const COUNTS: [Count; 7] = [
    ("pages", PAGES, "Pages read in the background, once in each period.", |it| it.pages),
    ("under_load", PAGES, "Pages scrubbed late, while the host used their die.", |it| {
        it.under_load
    }),
    ("unreadable", PAGES, "Scrubbed pages with uncorrectable errors.", |it| it.unreadable),
    ("blocks", BLOCKS, "Blocks, or superblocks, read to their end.", |it| it.blocks),
    (
        "moved",
        BLOCKS,
        "Blocks, or superblocks, moved because the errors of a page reached the margin.",
        |it| it.moved,
    ),
    (
        "left",
        BLOCKS,
        "Blocks that reached the margin and stayed, because moving would not lower their errors.",
        |it| it.left,
    ),
    (
        "postponed",
        BLOCKS,
        "Blocks that reached the margin and were postponed to the next period, because their \
            plane had no room or other work; or superblocks that were open.",
        |it| it.postponed,
    ),
];

pub(super) fn metrics() -> Vec<Metric> {
    let mut list: Vec<Metric> = COUNTS
        .into_iter()
        .map(|(name, unit, about, read)| {
            let read = move |it: &Outcome| it.scrub.map(|_| read(&it.counters.scrubbed));
            Metric::new(format!("scrub.{name}"), unit, about, read)
        })
        .collect();
    list.push(progress(
        "rounds",
        Unit::Count("rounds"),
        "Number of scrub passes over every block.",
        |it| it.rounds,
    ));
    let about = "Longest time from the scheduled scrub of a block until it was read, and moved if \
        necessary.";
    list.push(progress("latest_s", Unit::Seconds, about, |it| it.latest.as_s()));
    list.into_iter().map(|metric| metric.only_if(|it| it.scrub.is_some())).collect()
}

fn progress<V: Into<Value> + Typed + 'static>(
    name: &str,
    unit: Unit,
    about: &str,
    read: fn(&ScrubProgress) -> V,
) -> Metric {
    let read = move |it: &Outcome| it.scrub.as_ref().map(read);
    Metric::new(format!("scrub.{name}"), unit, about, read)
}
