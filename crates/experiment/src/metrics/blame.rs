//! The causes of latency: the mean time of each cause, over all requests and over the slowest.

use super::{Metric, Unit, plural};
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
    let metric = |name: &str, unit, about: String, read: fn(&Band) -> Value| {
        let name = format!("blame.{}.{band}.{name}", kind.name());
        let about = format!("{about} {requests}.");
        Metric::new(name, unit, about, move |it| read(&it.recorder.blame(kind).slowest(share)))
    };
    let (count, us) = (Unit::Count("requests"), Unit::Us);
    [
        metric("count", count, "Requests in the band of".into(), |band| json!(band.count)),
        metric("mean_latency_us", us, "Mean latency of".into(), |band| {
            json!(band.mean_latency_us())
        }),
        metric("from_us", us, "Lowest latency among".into(), |band| {
            json!((band.count > 0).then(|| band.from.as_us()))
        }),
        metric("mean_us.CAUSE", us, "Mean time by cause, of".into(), causes),
    ]
}

/// Returns the mean time of each cause.
fn causes(band: &Band) -> Value {
    let mean = |part: Part| (part.name().to_string(), json!(band.mean_us(part)));
    Part::ALL.into_iter().map(mean).collect::<Map<_, _>>().into()
}
