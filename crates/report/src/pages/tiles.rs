//! The tiles at the head of a page: the six numbers that most people look for first.

use fowler_experiment::numbers::{NOTHING, percent, real, whole};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::seeds::Spread;
use fowler_experiment::summary::layout::is_amplification;
use fowler_experiment::summary::{Unit, unit, value};
use fowler_figures::palette;

/// Most runs that a tile of a page lists; the tables have all of them.
const ROWS: usize = 6;

/// A tile of a page: one metric with its number for each run.
#[derive(Debug, PartialEq)]
pub struct Tile {
    /// Title of the tile: the metric's name and unit.
    pub title: &'static str,
    pub rows: Vec<Row>,
    /// Number of compared runs for which the tile (the box of one metric at the head of a report
    /// page) has no row, because a tile shows at most six runs.
    pub more: usize,
}

/// A row of a tile, the box at the head of a page that shows one metric: the metric's value in one
/// run.
#[derive(Debug, PartialEq)]
pub struct Row {
    /// Name of the run's hue, which the charts share.
    pub hue: &'static str,
    pub label: String,
    /// Value of the metric in the run, formatted for a tile at the head of a page; if several seeds
    /// were run, their mean with its confidence interval.
    pub value: String,
    /// Relative difference of the tile's metric between this run and the first run on the report
    /// page, such as `+3.0 %`; empty for the first run.
    pub change: String,
}

/// Tiles that a page may show, one metric each: title and metric. Tiles of read latency need reads,
/// tiles of write latency need writes.
const TILES: [(&str, &str); 8] = [
    ("mean read (us)", "read.mean_us"),
    ("p99.9 read (us)", "read.p999_us"),
    ("mean write (us)", "write.mean_us"),
    ("p99.9 write (us)", "write.p999_us"),
    ("requests per second", "iops"),
    ("write amplification (pages)", "waf"),
    ("blocks erased", "erases"),
    ("idle (share of die time)", "idle_share"),
];

/// Largest number of tiles (boxes with one metric each) at the head of a page.
const SHOWN: usize = 6;

/// Returns the tiles (boxes with one metric each) of the HTML page of the results, without metrics
/// that no run has. Writes have tiles if there are no reads, or if other tiles have no number.
pub fn of(outcomes: &[Outcome], spread: Option<&Spread>) -> Vec<Tile> {
    let known = |path: &str| outcomes.iter().any(|it| reported(it, path).is_some());
    let mut shown: Vec<(&str, &str)> = TILES.into_iter().filter(|(_, path)| known(path)).collect();
    // The 99.9th percentile of writes goes first, then their mean.
    for path in ["write.p999_us", "write.mean_us"] {
        if shown.len() > SHOWN {
            shown.retain(|(_, other_path)| *other_path != path);
        }
    }
    let spread = spread.filter(|it| !it.is_nothing());
    shown.into_iter().map(|(title, path)| tile(title, path, outcomes, spread)).collect()
}

/// Returns the value of a metric in a run for a tile of the report page; `None` if unknown or, for
/// write amplification, if too few blocks were erased to measure it.
fn reported(outcome: &Outcome, path: &str) -> Option<f64> {
    let withheld = is_amplification(path) && outcome.withheld().is_some();
    value(outcome, path).as_f64().filter(|_| !withheld)
}

fn tile(title: &'static str, path: &str, outcomes: &[Outcome], spread: Option<&Spread>) -> Tile {
    let share = unit(path) == Unit::Share;
    let shown = |number: f64| match () {
        () if share => percent(number),
        () if number.fract() == 0.0 => whole(number as u64),
        () => real(number),
    };
    // The mean over the seeds if there are several, with half its interval.
    let number = |place: usize, outcome: &Outcome| {
        let result = reported(outcome, path)?;
        let interval = spread.and_then(|it| it.of(place, path));
        Some(interval.map_or((result, None), |it| (it.mean, Some(it.half_width))))
    };
    let first = outcomes.first().and_then(|it| number(0, it)).map(|(result, _)| result);
    let row = |(place, outcome): (usize, &Outcome)| {
        let measured = number(place, outcome);
        let value = match measured {
            None => NOTHING.into(),
            Some((result, None)) => shown(result),
            Some((result, Some(half))) => format!("{} ± {}", shown(result), shown(half)),
        };
        let change = match (place, first, measured) {
            (1.., Some(first), Some((result, _))) => change(first, result, share),
            _ => String::new(),
        };
        let hue = palette::scheme(place).hue().name;
        Row { hue, label: outcome.drive.label().into(), value, change }
    };
    let rows: Vec<Row> = outcomes.iter().enumerate().take(ROWS).map(row).collect();
    Tile { title, more: outcomes.len() - rows.len(), rows }
}

/// Describes the difference of a metric between a later run (`second`) and the first: shares in
/// percentage points, other metrics in percent of the first.
fn change(first: f64, second: f64, share: bool) -> String {
    if first == second {
        return "same".into();
    }
    let (by, unit) = match () {
        () if share => ((second - first) * 100.0, "points"),
        () if first > 0.0 => ((second / first - 1.0) * 100.0, "%"),
        // A number that was zero in the first run has no relative change.
        () => return String::new(),
    };
    let sign = if by < 0.0 { "−" } else { "+" };
    match by.abs() {
        by if by < 0.05 => format!("<0.1 {unit}"),
        by if by < 99.95 => format!("{sign}{by:.1} {unit}"),
        by if share => format!("{sign}{by:.0} {unit}"),
        _ => format!("{:.1}x", second / first),
    }
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn changes_are_said_in_few_digits() {
        for (first, second, share, says) in [
            (70.0, 60.0, false, "−14.3 %"),
            (70.0, 70.0, false, "same"),
            (70.0, 70.01, false, "<0.1 %"),
            (1.0, 2.5, false, "2.5x"),
            (0.0, 3.0, false, ""),
            (0.5, 0.45, true, "−5.0 points"),
            (0.0, 1.0, true, "+100 points"),
        ] {
            assert_eq!(change(first, second, share), says, "{first} {second}");
        }
    }
}
