//! The number of requests, and their latencies.

use super::metric::{Metric, Unit, plural};
use crate::numbers::whole;
use fowler_metrics::{Kind, Percentile};
use fowler_units::Span;

const REQUESTS: Unit = Unit::Count("requests");

pub(super) fn metrics() -> Vec<Metric> {
    let all = "Completed requests: reads, writes, trims and flushes together.";
    let mut list = vec![Metric::new("requests", REQUESTS, all, |it| it.recorder.requests())];
    list.extend(Kind::ALL.into_iter().flat_map(latency));
    list.extend([
        Metric::new("trims", REQUESTS, "Completed trims.", |it| it.recorder.trims()),
        Metric::new("flushes", REQUESTS, "Completed flushes.", |it| it.recorder.flushes()),
    ]);
    list
}

/// Returns the latency metrics of reads or of writes.
fn latency(kind: Kind) -> Vec<Metric> {
    let (name, requests) = (kind.name(), plural(kind));
    let us = |name: String, about: String, read: fn(&fowler_metrics::Latencies) -> Option<f64>| {
        Metric::new(name, Unit::Us, about, move |it| read(it.recorder.latencies(kind)))
    };
    let mut list = vec![
        Metric::new(
            format!("{name}.count"),
            REQUESTS,
            format!("Completed {requests}."),
            move |it| it.recorder.latencies(kind).count(),
        ),
        us(format!("{name}.mean_us"), format!("Mean latency of {requests}."), |it| it.mean_us()),
        us(format!("{name}.min_us"), format!("Lowest latency of {requests}."), |it| {
            it.min().map(Span::as_us)
        }),
    ];
    for percentile in Percentile::ALL {
        let one_in = whole(percentile.one_in());
        list.push(Metric::new(
            format!("{name}.{}_us", percentile.name()),
            Unit::Us,
            format!(
                "Latency that one of {one_in} {requests} exceeds; null if there are fewer than \
                    that many."
            ),
            move |it| it.recorder.latencies(kind).percentile(percentile).map(Span::as_us),
        ));
    }
    list.push(us(format!("{name}.max_us"), format!("Highest latency of {requests}."), |it| {
        it.max().map(Span::as_us)
    }));
    let verb = if kind == Kind::Read { "read" } else { "written" };
    list.push(Metric::new(
        format!("{name}.bytes"),
        Unit::Count("bytes"),
        format!("Bytes that the host has {verb}."),
        move |it| it.recorder.bytes(kind),
    ));
    list.into_iter().map(Metric::headline).collect()
}
