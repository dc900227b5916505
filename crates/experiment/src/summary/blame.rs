//! The causes of latency: the mean time of each cause, over all requests and over the slowest.

use super::metric::{Metric, Unit, plural};
use crate::outcome::Outcome;
use fowler_device::blame::Part;
use fowler_metrics::{Band, Kind};
use serde_json::{Map, Value, json};

/// The bands of slowest requests in every report: name in JSON, and share of all requests.
pub const BANDS: [(&str, f64); 3] =
    [("all", 1.0), ("slowest_1pct", 0.01), ("slowest_0_1pct", 0.001)];

pub(super) fn metrics() -> Vec<Metric> {
    let bands = |kind: Kind| BANDS.into_iter().flat_map(move |band| of_band(kind, band));
    Kind::ALL.into_iter().flat_map(bands).collect()
}

fn of_band(kind: Kind, (band, share): (&'static str, f64)) -> [Metric; 4] {
    let requests = match share {
        1.0 => format!("all {}", plural(kind)),
        _ => format!("the slowest {} % of {}", share * 100.0, plural(kind)),
    };
    let band_of = move |it: &Outcome| it.recorder.blame(kind).slowest(share);
    let named = |name: &str| format!("blame.{}.{band}.{name}", kind.name());
    let about = |what: &str| format!("{what} {requests}.");
    let (count, us) = (Unit::Count("requests"), Unit::Us);
    [
        Metric::new(named("count"), count, about("Requests in the band of"), move |it| {
            band_of(it).count
        }),
        Metric::new(named("mean_latency_us"), us, about("Mean latency of"), move |it| {
            band_of(it).mean_latency_us()
        }),
        Metric::new(named("from_us"), us, about("Lowest latency among"), move |it| {
            let band = band_of(it);
            (band.count > 0).then(|| band.from.as_us())
        }),
        Metric::new(named("mean_us.CAUSE"), us, about("Mean time by cause, of"), move |it| {
            causes(&band_of(it))
        }),
    ]
}

/// Returns the mean time that each cause added to the latencies of the requests in a band.
fn causes(band: &Band) -> Map<String, Value> {
    let mean = |part: Part| (part.name().to_string(), json!(band.mean_us(part)));
    Part::ALL.into_iter().map(mean).collect()
}
