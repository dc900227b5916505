//! Latency as density over time: which latencies there are in each window, and how often.

use super::chart::coarse;
use super::time_series::{AllTimeSeries, TimeSeries};
use fowler_figures::{Axis, Figure, Panel, Series, Shape};
use fowler_metrics::Kind;
use fowler_units::Span;

/// The rows of a heat map of latencies begin at these numbers in each decade (Renard's series R10,
/// ISO 3, rounded), times a power of ten: steps of about 26 %, which people can read.
const DECADE: [f64; 10] = [1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0];

/// Returns the lower end of a row of the latency heat map, in microseconds; the first row begins at
/// a nanosecond.
fn start(row: usize) -> f64 {
    DECADE[row % DECADE.len()] * 10f64.powi((row / DECADE.len()) as i32 - 3)
}

/// Returns the latencies of one kind of request (reads or writes) in a time window of a run, each
/// with its count, without those of zero, which a logarithmic axis cannot show.
fn lasting(run: &TimeSeries<'_>, window: usize, kind: Kind) -> impl Iterator<Item = (Span, u32)> {
    run.over_time.latencies(window, kind).filter(|(latency, _)| *latency > Span::ZERO)
}

/// Returns the number of the heat map's row for a latency; the first row has everything below a
/// nanosecond as well.
fn row(latency: Span) -> usize {
    let us = latency.as_us();
    (0..).take_while(|&row| start(row) <= us).last().unwrap_or(0)
}

/// Formats the lowest latency (in us) of a row of the heat map of latencies over time, without
/// insignificant digits.
fn edge(row: usize) -> String {
    let text = format!("{:.5}", start(row));
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Returns the heat map of latencies of one kind of request over time; a panel for each run, all
/// with the same rows.
pub fn chart(all: &AllTimeSeries<'_>, kind: Kind, cells: usize) -> Option<Figure> {
    let rows = |run: &TimeSeries<'_>| {
        let windows = 0..run.over_time.windows().len();
        let rows = windows.flat_map(|window| lasting(run, window, kind));
        rows.map(|(latency, _)| row(latency)).fold(
            None,
            |ends: Option<(usize, usize)>, row_number| {
                let (least, most) = ends.unwrap_or((row_number, row_number));
                Some((least.min(row_number), most.max(row_number)))
            },
        )
    };
    let ends = all.runs.iter().filter_map(rows);
    let (least, most) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    let windows: usize = all.runs.iter().map(|run| run.over_time.windows().len()).sum();
    let together = ((most - least + 1) * windows).div_ceil(cells).max(1);
    let name = kind.name();
    let panel = |run: &TimeSeries<'_>| panel(all, run, kind, (least, most), together);
    let about = format!(
        "Which latencies the {name}s of each window had: bright is common, dark is rare, and blank is none. \
             The colors are logarithmic, so that a single slow {name} is seen. {} Latencies are at \
             most 6 % too high; {name}s that took no time are not shown.",
        all.about_windows(),
    );
    Some(
        Figure::new(
            format!("{name}-latency-density"),
            format!("Latencies of {name}s over time"),
            all.runs.iter().map(panel),
        )
        .caption(about)
        .views(Shape::Heat, all.time()),
    )
}

fn panel(
    all: &AllTimeSeries<'_>,
    run: &TimeSeries<'_>,
    kind: Kind,
    (least, most): (usize, usize),
    together: usize,
) -> Panel {
    let windows = run.over_time.windows().len();
    let mut columns = Vec::new();
    for first in (0..windows).step_by(together) {
        let (mut counts, mut all_of_it) = (vec![0u64; most - least + 1], 0);
        for window in first..(first + together).min(windows) {
            for (latency, count) in lasting(run, window, kind) {
                counts[row(latency) - least] += u64::from(count);
            }
            all_of_it += run.over_time.windows()[window].served[kind].requests;
        }
        columns.push((counts, all_of_it));
    }
    let share = |(counts, all): &(Vec<u64>, u64), row: usize| {
        (counts[row] > 0).then(|| coarse(counts[row] as f64 / *all as f64 * 100.0))
    };
    // The slowest on top.
    let rows: Vec<usize> = (0..=most - least).rev().collect();
    let series = rows.iter().map(|&row| {
        let name = format!("{} to {} us", edge(least + row), edge(least + row + 1));
        Series::values(name, columns.iter().map(|column| share(column, row)))
    });
    let x = all.middles(&run.over_time).into_iter().step_by(together).collect();
    let y = Axis::log10(format!("{}s of the window (%)", kind.name()));
    // Names at 1, 2 and 5 are enough.
    let is_major = |&at: &usize| [0, 3, 7].contains(&((least + rows[at]) % 10));
    let major = (0..rows.len()).filter(is_major).collect();
    Panel { major, ..Panel::cells(run.outcome.drive.label(), y, x, series) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_round_numbers_and_hold_every_latency() {
        let names = [0, 9, 10, 30, 35, 47].map(edge);
        assert_eq!(names, ["0.001", "0.008", "0.01", "1", "3.15", "50"]);
        for latency in [0, 1, 2, 999, 1_000, 3_149, 3_150, 70_000, 10_000_000_000] {
            let row_number = row(Span(latency));
            let us = latency as f64 / 1e3;
            assert!(us < start(row_number + 1), "{latency}: {row_number}");
            assert!(latency == 0 || start(row_number) <= us, "{latency}: {row_number}");
        }
    }
}
