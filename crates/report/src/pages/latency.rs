//! Charts of how slow requests are, and why.

use super::chart::{coarse, percentage};
use fowler_device::blame::Part;
use fowler_experiment::numbers::{percent, words};
use fowler_experiment::outcome::Outcome;
use fowler_figures::{Axis, Figure, Panel, Series, Shape};
use fowler_metrics::{Band, Kind, Latencies};
use fowler_units::Span;

/// Smallest distance between drawn points of a latency distribution, as a factor along x or y.
const ACROSS: f64 = 1.02;
const UPWARDS: f64 = 1.03;
/// Causes of latency that stay below this share in every band are shown as one.
const SHOWN: f64 = 0.005;

/// Bands of requests by latency: name, and the shares of slowest requests between which each band
/// lies.
const BANDS: [(&str, f64, f64); 6] = [
    ("fastest half", 1.0, 0.5),
    ("50 to 90 %", 0.5, 0.1),
    ("90 to 99 %", 0.1, 0.01),
    ("99 to 99.9 %", 0.01, 0.001),
    ("99.9 to 99.99 %", 0.001, 0.0001),
    ("slowest 0.01 %", 0.0001, 0.0),
];

/// Returns the chart of the latency distribution of reads or writes: the share of requests that
/// took at least a given time, for every run.
pub fn distribution(outcomes: &[Outcome], kind: Kind) -> Option<Figure> {
    let mut at_once = Vec::new();
    let mut line = |(place, outcome): (usize, &Outcome)| {
        let mut points = at_least(outcome.recorder.latencies(kind));
        let all = points.len();
        // A logarithmic axis cannot show zero.
        points.retain(|&(at, _)| at > Span::ZERO);
        if points.len() < all {
            let share = 1.0 - points.first().map_or(0.0, |&(_, later)| later);
            at_once.push(format!("{} {}", percent(share), outcome.drive.place()));
        }
        let points = points.into_iter().map(|(at, share)| (at.as_us(), share));
        Series::line(outcome.drive.label(), points).of_scheme(place)
    };
    let series: Vec<Series> =
        outcomes.iter().enumerate().map(&mut line).filter(|it| !it.x.is_empty()).collect();
    let name = kind.name();
    let at_once = match at_once.join(", ") {
        none if none.is_empty() => none,
        some => format!(" Not shown on the axis of latency are {name}s that took no time: {some}."),
    };
    let about = format!(
        "The share of {name}s that took at least this long, on logarithmic axes: 10⁻³ is the latency that one \
             {name} in a thousand exceeds. A line further left is faster; one that reaches further right has \
             slower outliers. Latencies are at most 0.1 % too high. Points within {} in x and {} in y of the previous one \
             are not drawn.{at_once}",
        percent(ACROSS - 1.0),
        percent(UPWARDS - 1.0),
    );
    (!series.is_empty()).then(|| {
        Figure::new(
            format!("{name}-latency"),
            format!("How slow {name}s are"),
            vec![Panel::view(
                "",
                Axis::log10(format!("share of {name}s at least this slow (1 is all)")),
                series,
            )],
        )
        .caption(about)
        .views(Shape::Steps, Axis::log10("latency (us)"))
    })
}

/// Most request streams with a line in a chart; more cannot be distinguished.
const STREAMS: usize = 14;

/// Returns the chart of latencies by request stream (such as the requests of one job of the
/// workload), with a view for each kind of request; `None` for several runs.
pub fn of_streams(outcomes: &[Outcome]) -> Option<Figure> {
    let [outcome] = outcomes else { return None };
    let kinds = ["read", "write", "trim"];
    let panels = kinds.into_iter().filter_map(|kind| {
        let of_kind = outcome.streams.iter().filter(|stream| stream.kind == kind);
        let all: Vec<_> = of_kind.filter(|stream| !stream.later_than.is_empty()).collect();
        let series = all.iter().take(STREAMS).enumerate().map(|(place, stream)| {
            let mut points = thinned(stream.requests as f64, stream.later_than.iter().copied());
            points.retain(|&(at, _)| at > Span::ZERO);
            let points = points.into_iter().map(|(at, share)| (at.as_us(), share));
            Series::line(stream.stream.clone(), points).of_scheme(place)
        });
        let y = Axis::log10(format!("share of {kind}s at least this slow (1 is all)"));
        let mut panel = Panel::view(format!("{kind}s"), y, series);
        if all.len() > STREAMS {
            panel.remark = Some(format!("The first {STREAMS} of {} streams.", all.len()));
        }
        (all.len() > 1).then_some(panel)
    });
    let panels: Vec<Panel> = panels.collect();
    let about = "The share of the requests of each stream that took at least this long as its host saw it, on \
                logarithmic axes. Latencies are within 0.8 % of the true ones.";
    (!panels.is_empty()).then(|| {
        Figure::new("streams-latency", "How slow the requests of each stream are", panels)
            .caption(about)
            .views(Shape::Steps, Axis::log10("latency (us)"))
    })
}

/// Returns the complementary distribution of latencies: the share of requests that took at least
/// each time, with points thinned for display.
pub fn at_least(latencies: &Latencies) -> Vec<(Span, f64)> {
    thinned(latencies.count() as f64, latencies.later_than())
}

/// Returns each value of a distribution with the share of values that are at least as large,
/// without most of those that lie near each other. The first and the last point are always
/// included.
fn thinned(all: f64, later_than: impl Iterator<Item = (Span, u64)>) -> Vec<(Span, f64)> {
    let mut points: Vec<(Span, f64)> = Vec::new();
    let mut share = 1.0;
    let mut skipped = None;
    for (at, later) in later_than {
        let near = points.last().is_some_and(|&(last, last_share)| {
            (at.0 as f64) < last.0 as f64 * ACROSS && last_share < share * UPWARDS
        });
        skipped = near.then_some((at, share));
        if !near {
            points.push((at, share));
        }
        share = later as f64 / all;
    }
    points.extend(skipped);
    points
}

/// Returns the chart of the causes of latency in each band of requests, as bars.
pub fn blame(outcomes: &[Outcome], kind: Kind) -> Option<Figure> {
    let mut rows: Vec<(String, Band)> = Vec::new();
    let mut groups: Vec<(String, usize)> = Vec::new();
    for (name, below, above) in BANDS {
        let before = rows.len();
        for outcome in outcomes {
            let band = outcome.recorder.blame(kind).between(below, above);
            // Requests that took no time have no causes: their bar would be blank.
            if band.parts.values().any(|&part| part > 0) {
                let several = outcomes.len() > 1;
                let row = if several { outcome.drive.label() } else { name };
                rows.push((row.into(), band));
            }
        }
        if rows.len() > before {
            groups.push((name.into(), rows.len() - before));
        }
    }
    if outcomes.len() == 1 {
        groups.clear();
    }
    let series = |value: &dyn Fn(&Band, Part) -> Option<f64>| parts(&rows, value);
    let panel = |name: &str, y: &str, series: Vec<Series>| Panel {
        rows: rows.iter().map(|(name, _)| name.clone()).collect(),
        groups: groups.clone(),
        ..Panel::view(name, Axis::linear(y), series)
    };
    let name = kind.name();
    let about = format!(
        "The causes of latency of {name}s, from the fastest to the slowest: every nanosecond of every request \
             has one cause. Causes below {} in every band are summed as other. Bands consist of whole buckets of \
             latency, 3 % wide; a missing band shares its bucket with its neighbor.",
        percent(SHOWN)
    );
    (!rows.is_empty()).then(|| {
        Figure::new(
            format!("{name}-blame"),
            format!("What makes {name}s slow"),
            vec![
                panel(
                    "share",
                    "share of the latency (%)",
                    series(&|band, part| Some(percentage(band.share(part)?))),
                ),
                panel(
                    "time",
                    "mean time (us)",
                    series(&|band, part| Some(coarse(band.mean_us(part)?))),
                ),
            ],
        )
        .caption(about)
        .views(Shape::Bars, Axis::linear("slowness"))
    })
}

fn parts(rows: &[(String, Band)], value: &dyn Fn(&Band, Part) -> Option<f64>) -> Vec<Series> {
    let worth = |part: Part| {
        rows.iter().any(|(_, band)| band.share(part).is_some_and(|share| share >= SHOWN))
    };
    let (shown, rest): (Vec<Part>, Vec<Part>) = Part::ALL.into_iter().partition(|&it| worth(it));
    let sum = |parts: &[Part]| {
        // A band of requests that took no time has no shares.
        let of = |(_, band): &(String, Band)| {
            let known = parts.iter().filter_map(|&part| value(band, part));
            known.reduce(|sum, part| sum + part).map(|sum| (sum * 1e4).round() / 1e4)
        };
        rows.iter().map(of).collect::<Vec<_>>()
    };
    let cause = |&part: &Part| Series::values(words(part), sum(&[part])).of_cause(part.name());
    let mut series: Vec<Series> = shown.iter().map(cause).collect();
    let other = Series::values("other", sum(&rest)).of_others();
    if other.y.iter().flatten().any(|&value| value > 0.0) {
        series.push(other);
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Rng;

    /// Compared with the obvious oracle: a list of all latencies.
    #[test]
    fn a_thinned_distribution_says_what_the_whole_says() {
        let mut rng = Rng::stream(5, "report/at_least");
        let mut latencies = Latencies::new();
        let mut all = Vec::new();
        for _ in 0..50_000 {
            let octave = 10 + rng.below(20);
            let latency = Span(10_000 + rng.below(1 << octave));
            latencies.record(latency);
            all.push(latency);
        }
        let points = at_least(&latencies);
        assert!(points.len() < 1_000, "{}", points.len());
        assert_eq!(points[0].1, 1.0);
        assert_eq!(points.last().unwrap().0, latencies.max().unwrap());
        assert!(points.is_sorted_by(|a, b| a.0 < b.0 && a.1 > b.1));
        for &(at, share) in &points {
            // A value of the histogram represents those up to 0.1 % below it.
            let count = |from: f64| all.iter().filter(|it| it.0 as f64 >= from).count() as f64;
            let (most, least) = (count(at.0 as f64 * 0.998), count(at.0 as f64));
            let counted = share * all.len() as f64;
            assert!(
                (least - 0.5..=most + 0.5).contains(&counted),
                "{at}: {least} {counted} {most}"
            );
        }
        assert!(at_least(&Latencies::new()).is_empty());
    }
}
