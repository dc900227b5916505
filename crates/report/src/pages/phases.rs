//! Latency as a box for each phase of a run.

use super::chart::{BOX, coarse};
use super::time_series::{AllTimeSeries, TimeSeries};
use fowler_experiment::numbers::seconds;
use fowler_figures::{Axis, Figure, Panel, Series, Shape};
use fowler_metrics::{Kind, OverTime};
use fowler_units::Span;

/// Largest number of equal parts into which a page divides a run to show boxes of latency.
const PHASES: usize = 8;

/// Returns the chart of the quartiles of latency of reads or writes in each of a few equal parts of
/// the run; `None` if the runs cannot be compared part by part.
pub fn chart(all: &AllTimeSeries<'_>, kind: Kind) -> Option<Figure> {
    let parts: Vec<OverTime> = all.runs.iter().map(in_parts).collect();
    let longest = parts.iter().max_by_key(|over_time| over_time.windows().len())?;
    let count = longest.windows().len();
    // A run that took much longer has wider parts.
    if count < 2 || parts.iter().any(|over_time| over_time.width() != longest.width()) {
        return None;
    }
    let line = |(run, over_time): (&TimeSeries<'_>, &OverTime)| {
        let label = run.outcome.drive.label();
        Series::values(label, marks(over_time, kind, count)).of_scheme(run.place)
    };
    let mut series: Vec<Series> = all.runs.iter().zip(&parts).map(line).collect();
    series.retain(|series| series.y.iter().any(Option::is_some));
    let name = kind.name();
    let about = format!(
        "The run in {count} parts of the same length. A box has the middle half of the {name}s, with a line at \
             the median; its whiskers end at p5 and p99. Latencies are at most 6 % too high. Parts without a box had \
             no {name}s, or more than 5 % of them took no time.",
    );
    (!series.is_empty()).then(|| {
        Figure::new(
            format!("{name}-latency-boxes"),
            format!("Latencies of {name}s by phase"),
            [Panel {
                rows: (1..=count).map(|at| at.to_string()).collect(),
                ..Panel::view("", Axis::log10(format!("latency of {name}s (us)")), series)
            }],
        )
        .caption(about)
        .views(
            Shape::Boxes,
            Axis::linear(format!("phase (each {})", seconds(longest.width().as_s()))),
        )
    })
}

/// Returns the time series of a run in at most [`PHASES`] windows.
fn in_parts(run: &TimeSeries<'_>) -> OverTime {
    let mut parts = run.over_time.clone().into_owned();
    while parts.windows().len() > PHASES {
        parts = parts.coarser();
    }
    parts
}

/// Returns the numbers that a box plot draws of the latencies in each part of a run, in us. A box
/// with a number that is unknown or zero is empty, as the latency axis is logarithmic.
fn marks(parts: &OverTime, kind: Kind, count: usize) -> Vec<Option<f64>> {
    let of = |at: usize| {
        let mark = |(_, share): (&str, f64)| {
            let known = at < parts.windows().len();
            let latency = known.then(|| parts.quantile(at, kind, share)).flatten()?;
            (latency > Span::ZERO).then(|| coarse(latency.as_us()))
        };
        let box_marks = BOX.map(mark);
        if box_marks.iter().all(Option::is_some) { box_marks } else { BOX.map(|_| None) }
    };
    (0..count).flat_map(of).collect()
}
