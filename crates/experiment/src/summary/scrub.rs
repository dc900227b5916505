//! Scrubbing: what it has read, found and moved. Absent where nothing is scrubbed.

use super::metric::{Metric, Unit};
use crate::json_schema::output::Typed;
use crate::outcome::Outcome;
use fowler_device::{ScrubProgress, Scrubbed};
use serde_json::Value;

const PAGES: Unit = Unit::Count("pages");
const BLOCKS: Unit = Unit::Count("blocks");

/// A count of the device.
type Count = (&'static str, Unit, &'static str, fn(&Scrubbed) -> u64);

const COUNTS: [Count; 7] = [
    ("pages", PAGES, "Pages read in the background, once in each period.", |it| it.pages),
    ("under_load", PAGES, "Of them, read while the host used their die: they were late.", |it| {
        it.under_load
    }),
    ("unreadable", PAGES, "Of them, found to be beyond correction.", |it| it.unreadable),
    ("blocks", BLOCKS, "Blocks read to their end.", |it| it.blocks),
    ("moved", BLOCKS, "Blocks moved because the errors of a page reached the margin.", |it| {
        it.moved
    }),
    ("left", BLOCKS, "The same, left where they are: a move would not lower their errors.", |it| {
        it.left
    }),
    (
        "postponed",
        BLOCKS,
        "The same, put off to the next period: its plane had no room, or other work.",
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
        "How often each block has had its turn.",
        |it| it.rounds,
    ));
    let about = "Longest time from the turn of a block until it was read, and moved if necessary.";
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
