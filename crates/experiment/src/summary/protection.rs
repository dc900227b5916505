//! Protection by parity, lost data, and power losses.

use super::metric::{Metric, Stored, Unit};
use crate::json_schema::output::{Fact, Typed};
use crate::outcome::Outcome;
use fowler_device::policy::redundancy::CachePower;
use fowler_device::{Counters, LossLedger, PowerOffs, Protection, Reason, StageChange};
use fowler_units::Nanos;
use serde_json::{Map, Value, json};

const PAGES: Unit = Unit::Count("pages");
const STRIPES: Unit = Unit::Count("stripes");
const BLOCKS: Unit = Unit::Count("blocks");

pub(super) fn metrics() -> Vec<Metric> {
    let parts = [stripes(), parity(), losses(), power()];
    parts.into_iter().flatten().collect()
}

/// Returns a metric of the drive's parity stripes; null on a drive without stripes.
fn of_stripes<V: Into<Value> + Typed + 'static>(
    name: &str,
    unit: Unit,
    about: &str,
    read: fn(&Protection) -> V,
) -> Metric {
    let read = move |it: &Outcome| it.protection.as_ref().map(read);
    Metric::new(format!("redundancy.{name}"), unit, about, read)
}

fn stripes() -> Vec<Metric> {
    let changes = "Each change of stage: the new stage, the time, and the state of the cells.";
    vec![
        Metric::group(
            "redundancy",
            "Protection and losses; null without stripes, unless losses are noted.",
            |it| it.protection.is_some() || it.losses.is_some(),
        ),
        of_stripes("stripes", STRIPES, "Stripes of the drive.", |it| it.stripes),
        of_stripes("stage", Unit::Count("stage"), "Stage of life at the end, 1 to 3.", |it| {
            it.stage as u8 + 1
        }),
        Metric::list("redundancy.changes", changes, of_change, |it| {
            Some(&it.protection.as_ref()?.changes)
        }),
        of_stripes("worn_stripes", STRIPES, "Stripes with a page in a worn block.", |it| {
            it.age.worn_stripes
        }),
        of_stripes(
            "most_cycles",
            Unit::Count("P/E cycles"),
            "P/E cycles of the most worn block.",
            |it| it.age.cycles,
        ),
        of_stripes("bare", STRIPES, "Stripes without their parity at the end.", |it| it.bare),
        of_stripes("exposed", STRIPES, "Stripes whose parity is only cached at the end.", |it| {
            it.exposed
        }),
        of_stripes(
            "exposed_most",
            STRIPES,
            "Largest number of stripes whose parity was only cached at any time.",
            |it| it.exposed_most,
        ),
    ]
}

/// Returns the JSON fields of a change from one stage of the drive's life to the next.
fn of_change() -> Vec<Fact<StageChange>> {
    type It = StageChange;
    let number = json!({ "type": "number", "minimum": 0 });
    vec![
        Fact::new("to", "", |it: &It| it.to as u8 + 1)
            .like(json!({ "type": "integer", "minimum": 1, "maximum": 3 })),
        Fact::new("at_s", "", |it: &It| (it.at - Nanos::ZERO).as_s()).like(number.clone()),
        Fact::new("cycles", "", |it: &It| it.age.cycles).like(number.clone()),
        Fact::new("worn_stripes", "", |it: &It| it.age.worn_stripes).like(number),
    ]
}

/// Returns a metric for a counter that only drives with parity stripes have.
fn counted(name: &str, unit: Unit, about: &str, read: fn(&Counters) -> u64) -> Metric {
    let read = move |it: &Outcome| it.protection.as_ref().map(|_| read(&it.counters));
    Metric::new(format!("redundancy.{name}"), unit, about, read)
}

fn parity() -> Vec<Metric> {
    vec![
        counted(
            "parity_from_rest",
            PAGES,
            "Parity pages computed from the rest of their stripe.",
            |it| it.parity_ways.from_rest,
        ),
        counted(
            "parity_from_difference",
            PAGES,
            "Parity pages computed from the old data and the old parity.",
            |it| it.parity_ways.by_delta,
        ),
        counted("refreshed_at_hard_limit", BLOCKS, "Blocks refreshed at their hard limit.", |it| {
            it.refreshed.at_hard_limit
        }),
        counted(
            "refreshed_in_idle_time",
            BLOCKS,
            "Blocks refreshed earlier, in idle time.",
            |it| it.refreshed.when_idle,
        ),
        counted("closed_early", BLOCKS, "Blocks closed before they were full.", |it| {
            it.closed_early
        }),
    ]
}

/// A number from the ledger of lost pages: name, unit, meaning and getter.
type Loss = (&'static str, Unit, &'static str, fn(&LossLedger) -> Value);

const LOSSES: [Loss; 22] = [
    ("faults", Unit::Count("faults"), "Units that failed. Power losses are in power_off.", |it| {
        json!(it.faults)
    }),
    ("unreadable", PAGES, "Data pages found to be unreadable.", |it| json!(it.unreadable)),
    ("rebuilt", PAGES, "Unreadable data pages that were rebuilt from their stripes.", |it| {
        json!(it.rebuilt)
    }),
    (
        "rewritten",
        PAGES,
        "Unreadable data pages overwritten or trimmed by the host before they were rebuilt.",
        |it| json!(it.rewritten),
    ),
    ("lost.REASON", PAGES, "Unreadable data pages found to be lost, by reason.", |it| {
        let lost = |(why, pages): (Reason, &u64)| (why.name().to_string(), json!(pages));
        Value::Object(it.lost.iter().map(lost).collect::<Map<_, _>>())
    }),
    (
        "lost_writes",
        PAGES,
        "Lost pages that were acknowledged writes and did not survive a power loss.",
        |it| json!(it.lost_writes),
    ),
    // An unreadable page is rebuilt, rewritten or lost, or waits for one of these.
    ("waiting", PAGES, "Unreadable pages that still wait to be rebuilt at the end.", |it| {
        json!(it.waiting())
    }),
    ("parity_unreadable", PAGES, "Parity pages found to be unreadable.", |it| {
        json!(it.parity_unreadable)
    }),
    (
        "parity_lost",
        STRIPES,
        "Stripes whose only parity was in a cache that lost its power.",
        |it| json!(it.parity_lost),
    ),
    ("wrong", PAGES, "Pages rebuilt with wrong data: always 0.", |it| json!(it.wrong)),
    ("unread", PAGES, "Parity pages programmed that do not match the data read: always 0.", |it| {
        json!(it.unread)
    }),
    ("degraded_reads", PAGES, "Host reads answered from the rest of a stripe.", |it| {
        json!(it.degraded_reads)
    }),
    ("failed_reads", PAGES, "Host reads of lost pages.", |it| json!(it.failed_reads)),
    (
        "silent.made",
        PAGES,
        "Silently corrupted data pages: they read without error and return wrong data.",
        |it| json!(it.silent.made),
    ),
    (
        "silent.parity_made",
        PAGES,
        "Silently corrupted parity pages, and old pages saved for parity.",
        |it| json!(it.silent.parity_made),
    ),
    (
        "silent.by_versions",
        PAGES,
        "Corrupted data or parity pages detected by policy.redundancy.checks.",
        |it| json!(it.silent.by_versions),
    ),
    (
        "silent.corrected",
        PAGES,
        "Corrupted data pages that were detected and rebuilt from their stripes.",
        |it| json!(it.silent.corrected),
    ),
    (
        "silent.returned",
        PAGES,
        "Pages that host reads returned with wrong data, without an error.",
        |it| json!(it.silent.returned),
    ),
    (
        "silent.by_parity",
        STRIPES,
        "Stripes that scrubbing found not to match their parity; each once until it matches again.",
        |it| json!(it.silent.by_parity),
    ),
    ("silent.stripes_compared", STRIPES, "Comparisons of stripes with their parity.", |it| {
        json!(it.silent.stripes_compared)
    }),
    (
        "silent.stripes_undecided",
        STRIPES,
        "Comparisons given up: a page was unreadable, or the stripe was rewritten meanwhile.",
        |it| json!(it.silent.stripes_undecided),
    ),
    ("at_risk_s", Unit::Seconds, "Time in which at least one page waited to be rebuilt.", |it| {
        json!(it.at_risk.0 as f64 / 1e9)
    }),
];

fn losses() -> Vec<Metric> {
    let about = "The fate of unreadable pages; null without policy.redundancy.integrity.";
    let mut list = vec![Metric::group("redundancy.losses", about, |it| it.losses.is_some())];
    list.extend(LOSSES.into_iter().map(|(name, unit, about, read)| {
        let read = move |it: &Outcome| it.losses.as_ref().map(read);
        Metric::new(format!("redundancy.losses.{name}"), unit, about, read)
    }));
    let all =
        Metric::new("pages_lost", PAGES, "Data pages found to be lost, for any reason.", |it| {
            it.losses.map(|losses| losses.lost_in_all())
        });
    list.push(all.stored(Stored::Nowhere));
    list
}

fn power() -> Vec<Metric> {
    let metric = |name: &str, unit, about: &str, read: fn(&PowerOffs) -> Value| {
        let name = format!("power_off.{name}");
        Metric::new(name, unit, about, move |it| read(&it.power_offs))
    };
    vec![
        Metric::group("power_off", "Power losses; null without any.", |it| it.power_offs.spans > 0),
        metric("spans", Unit::Count("spans"), "Number of power losses.", |it| json!(it.spans)),
        metric("off_s", Unit::Seconds, "Total time without power.", |it| json!(it.off.as_s())),
        Metric::new(
            "power_off.cache",
            Unit::Text,
            "Whether the cache is protected against power loss, volatile, or of limited energy.",
            |it| match it.drive.config.redundancy.cache {
                CachePower::Protected => "protected",
                CachePower::Volatile => "volatile",
                CachePower::Limited => "limited",
            },
        ),
        metric(
            "lost_writes",
            PAGES,
            "Acknowledged writes that did not survive a power loss.",
            |it| json!(it.lost_writes),
        ),
        metric(
            "parity_lost",
            STRIPES,
            "Stripes whose only parity did not survive a power loss.",
            |it| json!(it.parity_lost),
        ),
        metric("torn", Unit::Count("programs"), "Programs cut off by a power loss.", |it| {
            json!(it.torn)
        }),
        metric(
            "paired",
            PAGES,
            "Pages made unreadable because a later page of their word line was torn.",
            |it| json!(it.paired),
        ),
        metric(
            "overdue",
            BLOCKS,
            "Blocks with data past T_retention when power came back.",
            |it| json!(it.overdue),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_device::SilentLedger;
    use fowler_units::Span;

    /// Every count of the ledger of lost pages has a metric, and the pages still waiting are those
    /// without another fate.
    #[test]
    fn every_loss_is_reported() {
        let ledger = LossLedger {
            faults: 2,
            unreadable: 1000,
            rebuilt: 3,
            rewritten: 5,
            lost: [7, 11, 13].into(),
            lost_writes: 4,
            parity_unreadable: 17,
            parity_lost: 19,
            wrong: 23,
            unread: 29,
            degraded_reads: 31,
            failed_reads: 37,
            silent: SilentLedger {
                made: 43,
                parity_made: 47,
                by_versions: 53,
                corrected: 59,
                returned: 61,
                stripes_compared: 67,
                stripes_undecided: 71,
                by_parity: 73,
            },
            at_risk: Span::ms(41),
            since: None,
        };
        let read = LOSSES.iter().map(|(name, _, _, read)| (name.to_string(), read(&ledger)));
        let expected: Value = json!({
            "faults": 2, "unreadable": 1000, "rebuilt": 3, "rewritten": 5,
            "lost.REASON": { "unprotected": 7, "beyond_parity": 11, "power": 13 }, "lost_writes": 4,
            "waiting": 1000 - 3 - 5 - (7 + 11 + 13 - 4), "parity_unreadable": 17, "parity_lost": 19,
            "wrong": 23, "unread": 29, "degraded_reads": 31, "failed_reads": 37, "at_risk_s": 0.041,
            "silent.made": 43, "silent.parity_made": 47, "silent.by_versions": 53,
            "silent.corrected": 59, "silent.returned": 61, "silent.by_parity": 73,
            "silent.stripes_compared": 67, "silent.stripes_undecided": 71,
        });
        assert_eq!(Value::Object(read.collect()), expected);
    }
}
