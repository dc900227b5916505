//! The counters of the device: pages, programs, erases and times.

use super::metric::{Metric, Stored, Unit};
use super::voltages;
use crate::json_schema::output::Typed;
use crate::outcome::{Outcome, Wear};
use fowler_device::{BySource, Counters};
use fowler_metrics::Kind;
use serde_json::{Map, Value, json};

const PAGES: Unit = Unit::Count("pages");

pub(super) fn metrics() -> Vec<Metric> {
    let parts = [
        pages(),
        programs(),
        voltages::metrics(),
        reads(),
        operations(),
        throttle(),
        times(),
        wear(),
    ];
    parts.into_iter().flatten().collect()
}

/// Returns a metric that is one of the drive's counters.
fn counter<V: Into<Value> + Typed + 'static>(
    name: &str,
    unit: Unit,
    about: &str,
    read: fn(&Counters) -> V,
) -> Metric {
    Metric::new(format!("counters.{name}"), unit, about, move |it| read(&it.counters))
}

/// Returns a JSON object of counts by source, such as host and GC.
pub fn by_source(counts: BySource<u64>) -> Value {
    let [host, gc, wear, refresh, parity] = counts.into_array();
    json!({ "host": host, "gc": gc, "wear": wear, "refresh": refresh, "parity": parity })
}

fn pages() -> Vec<Metric> {
    vec![
        counter("pages_read", PAGES, "Logical pages that host reads touched.", |it| it.pages_read),
        counter(
            "buffer_read_hits",
            PAGES,
            "Logical pages of host reads served from the write buffer.",
            |it| it.buffer_read_hits,
        ),
        counter(
            "unwritten_reads",
            PAGES,
            "Logical pages of host reads that were never written.",
            |it| it.unwritten_reads,
        ),
        counter("pages_written", PAGES, "Logical pages that host writes touched.", |it| {
            it.pages_written
        }),
        counter(
            "buffer_write_hits",
            PAGES,
            "Logical pages of host writes absorbed by a page in the buffer.",
            |it| it.buffer_write_hits,
        ),
        counter("pages_trimmed", PAGES, "Logical pages with data that were trimmed.", |it| {
            it.pages_trimmed
        }),
    ]
}

fn programs() -> Vec<Metric> {
    vec![
        counter("reads.SOURCE", PAGES, "Flash page reads, by source.", |it| by_source(it.reads)),
        counter("merge_reads", PAGES, "Flash page reads for partial-page writes.", |it| {
            it.merge_reads
        }),
        counter("programs.SOURCE", PAGES, "Flash page programs, by source.", |it| {
            by_source(it.programs)
        }),
    ]
}

/// Returns the metrics of the sensing effort of flash reads, and of requests served out of order.
fn reads() -> Vec<Metric> {
    vec![
        Metric::new(
            "counters.reads_at.REFERENCES",
            PAGES,
            "Flash page reads by the reference voltages that they finally needed; null without a model of errors.",
            reads_at,
        ),
        Metric::new(
            "reads_at_share.REFERENCES",
            Unit::Share,
            "Share of flash page reads by the reference voltages that they finally needed.",
            reads_at_share,
        )
        .stored(Stored::Nowhere),
        counter(
            "retries",
            PAGES,
            "Flash page reads repeated at the next level of sensing.",
            |it| it.retries_at.iter().sum::<u64>(),
        ),
        counter(
            "uncorrectable_reads",
            PAGES,
            "Flash page reads that the code could not correct.",
            |it| it.uncorrectable,
        ),
        counter(
            "failed_at_random",
            PAGES,
            "Uncorrectable pages (units, on drives with superblocks) struck by an error at the \
                rate reliability.uber, each counted once.",
            |it| it.failed_at_random,
        ),
        counter(
            "prioritized_reads",
            Unit::Count("requests"),
            "Reads served before one that had waited longer for the same die.",
            |it| it.prioritized.reads,
        ),
        Metric::new(
            "counters.prioritized_writes",
            Unit::Count("requests"),
            "Writes served before one that had waited longer; null where writes do not wait for flash.",
            |it| it.waits_for_programs().then_some(it.counters.prioritized.writes),
        ),
        Metric::new(
            "prioritized_share.KIND",
            Unit::Share,
            "Share of reads or writes served before one of their kind that had waited longer.",
            |it| {
                let share =
                    |kind: Kind| (kind.name().to_string(), json!(it.prioritized_share(kind)));
                Value::Object(Kind::ALL.into_iter().map(share).collect())
            },
        )
        .stored(Stored::Nowhere),
    ]
}

fn reads_at(it: &Outcome) -> Option<Map<String, Value>> {
    let reads = it.reads_at()?.into_iter();
    Some(reads.map(|(references, reads)| (references.to_string(), json!(reads))).collect())
}

fn reads_at_share(it: &Outcome) -> Option<Map<String, Value>> {
    let reads = it.reads_at()?;
    let all: u64 = reads.iter().map(|&(_, count)| count).sum();
    let share = |count: u64| json!((all > 0).then(|| count as f64 / all as f64));
    Some(
        reads
            .into_iter()
            .map(|(references, count)| (references.to_string(), share(count)))
            .collect(),
    )
}

fn operations() -> Vec<Metric> {
    let operations = Unit::Count("operations");
    vec![
        counter("erases.SOURCE", Unit::Count("erases"), "Block erases, by source.", |it| {
            by_source(it.erases)
        }),
        counter(
            "foreground_gc",
            Unit::Count("blocks"),
            "Blocks collected in the foreground, in competition with the host.",
            |it| it.collections.foreground,
        ),
        counter(
            "background_gc",
            Unit::Count("blocks"),
            "Blocks collected in the background, in idle time.",
            |it| it.collections.background,
        ),
        counter(
            "operations",
            operations,
            "Program and erase operations; a multi-plane program counts once.",
            |it| it.operations,
        ),
        counter(
            "suspended_operations",
            operations,
            "Program and erase operations suspended at least once.",
            |it| it.suspended_operations,
        ),
        counter(
            "suspended_nominal_s",
            Unit::Seconds,
            "Total undisturbed duration of the suspended operations.",
            |it| it.suspended_nominal.as_s(),
        ),
        counter(
            "suspended_extra_s",
            Unit::Seconds,
            "Total time by which suspensions extended operations.",
            |it| it.suspended_extra.as_s(),
        ),
    ]
}

fn throttle() -> Vec<Metric> {
    vec![
        counter(
            "delayed_s",
            Unit::Seconds,
            "Total time by which the throttle delayed written pages.",
            |it| it.throttled.delayed.as_s(),
        ),
        counter(
            "stopped_s",
            Unit::Seconds,
            "Total time for which the throttle stopped writes.",
            |it| it.throttled.stopped.as_s(),
        ),
        counter("stops", Unit::Count("requests"), "Writes that the throttle stopped.", |it| {
            it.stops
        }),
    ]
}

fn times() -> Vec<Metric> {
    vec![
        counter("idle_s", Unit::Seconds, "Time without a request in the drive.", |it| {
            it.idle.as_s()
        }),
        counter(
            "outstanding_s",
            Unit::Seconds,
            "Time integral of the number of outstanding requests, in request-seconds.",
            |it| it.outstanding as f64 / 1e9,
        ),
        counter(
            "channel_busy_s",
            Unit::Seconds,
            "Time spent on transfers, summed over all channels.",
            |it| it.channel_busy.as_s(),
        ),
        counter(
            "die_busy_s",
            Unit::Seconds,
            "Time spent on operations, summed over all dies.",
            |it| it.die_busy.as_s(),
        ),
    ]
}

fn wear() -> Vec<Metric> {
    fn metric<V: Into<Value> + Typed + 'static>(
        name: &str,
        about: &str,
        read: fn(&Wear) -> V,
    ) -> Metric {
        let name = format!("counters.block_erases.{name}");
        Metric::new(name, Unit::Count("erases"), about, move |it| read(&it.wear))
    }
    vec![
        metric("min", "Erases of the least worn block, including those before the run.", |it| {
            it.min
        }),
        metric("mean", "Mean erases of a block, including those before the run.", |it| it.mean),
        metric("max", "Erases of the most worn block, including those before the run.", |it| {
            it.max
        }),
    ]
}
