//! Tables that summarize a sweep: the points, the best points, and the main effect of each axis.
//! The files of the sweep and the Python module have more.

use crate::summary::{ERROR, POINT, Row};
use fowler_experiment::tables::{Cell, Sheet};
use std::collections::BTreeMap;

/// Metrics of a point that the tables of a sweep show, each with its column head. Smaller is better
/// for every metric.
const RESPONSES: [(&str, &str); 6] = [
    ("read.mean_us", "read mean (us)"),
    ("read.p99_us", "read p99 (us)"),
    ("read.p999_us", "read p99.9 (us)"),
    ("write.mean_us", "write mean (us)"),
    ("write.p99_us", "write p99 (us)"),
    ("waf", "WAF"),
];
/// Name of the column that explains, for one run of a sweep, why the write amplification is not
/// reported.
const WITHHELD: &str = "waf_withheld";
/// Largest number of runs of a sweep that a table shows.
const SHOWN: usize = 24;
/// The maximum number of levels of a sweep's numeric axis whose values are kept apart. The values
/// of an axis with more levels are cut into [`PARTS`] ranges with about equal numbers of points, as
/// the Python module's function `main_effects` does.
const LEVELS_MOST: usize = 8;
const PARTS: usize = 4;

/// Returns the tables that summarize these points of a sweep; `axes` are the names of its axes.
pub(crate) fn sheets(rows: &[Row], axes: &[&str]) -> Vec<Sheet> {
    let measured: Vec<&Row> = rows.iter().filter(|row| row.text(ERROR).is_none()).collect();
    if measured.is_empty() {
        return Vec::new();
    }
    let values =
        |name: &str| -> Vec<f64> { measured.iter().filter_map(|row| value(row, name)).collect() };
    let mut shown = RESPONSES.to_vec();
    shown.retain(|(name, _)| !values(name).is_empty());
    let mut sheets = vec![points(&measured, axes, &shown, rows.len())];
    // A response that is the same everywhere has no best point.
    shown.retain(|(name, _)| values(name).windows(2).any(|pair| pair[0] != pair[1]));
    if !shown.is_empty() {
        sheets.push(best(&measured, axes, &shown));
        sheets.extend(effects(&measured, axes, &shown));
    }
    sheets
}

/// Returns the value of a metric in one run of a sweep; `None` if it is unknown, or is a write
/// amplification that the run does not report.
fn value(row: &Row, name: &str) -> Option<f64> {
    let withheld = name == "waf" && row.text(WITHHELD).is_some();
    row.get(name).and_then(|it| it.real()).filter(|_| !withheld)
}

fn sheet(name: &str, title: String, heads: Vec<String>, rows: Vec<Vec<Cell>>) -> Sheet {
    Sheet { name: name.into(), title, heads, rows }
}

/// Returns the table cells that identify a point of a sweep: its number, and its level on each axis
/// of the sweep.
fn place(row: &Row, axes: &[&str]) -> Vec<Cell> {
    let text = |name: &str| row.get(name).and_then(|it| it.text()).unwrap_or_else(|| "-".into());
    let mut cells = vec![Cell::Text(text(POINT))];
    cells.extend(axes.iter().map(|axis| Cell::Text(text(&format!("axis.{axis}")))));
    cells
}

fn heads(first: &str, axes: &[&str], rest: impl IntoIterator<Item = &'static str>) -> Vec<String> {
    let axes = axes.iter().map(|axis| axis.to_string());
    let rest = rest.into_iter().map(String::from);
    std::iter::once(first.to_string()).chain(axes).chain(rest).collect()
}

fn points(
    measured: &[&Row],
    axes: &[&str],
    shown: &[(&'static str, &'static str)],
    all: usize,
) -> Sheet {
    let count = measured.len().min(SHOWN);
    let title = match (count == measured.len(), all - measured.len()) {
        (true, 0) => "Points".to_string(),
        (true, failed) => format!("Points of the sweep; {failed} more failed"),
        (false, _) => format!("Points: the first {count} of {}", measured.len()),
    };
    let title = match measured.iter().filter(|row| row.text(WITHHELD).is_some()).count() {
        0 => title,
        count => {
            format!(
                "{title}; in {count} of them, the drive erased too little to report a WAF (column \
                 {WITHHELD} says why)"
            )
        }
    };
    let row = |row: &&Row| {
        let number = |(name, _): &(&str, &str)| Cell::number(value(row, name));
        place(row, axes).into_iter().chain(shown.iter().map(number)).collect()
    };
    let rows = measured.iter().take(SHOWN).map(row).collect();
    sheet("points", title, heads("point", axes, shown.iter().map(|(_, head)| *head)), rows)
}

/// Returns the table of a sweep's best points: for each metric, the point with the smallest value;
/// if several are equal, the first.
fn best(measured: &[&Row], axes: &[&str], shown: &[(&'static str, &'static str)]) -> Sheet {
    let row = |&(name, head): &(&str, &str)| {
        let values = measured.iter().filter_map(|row| Some((value(row, name)?, *row)));
        let (least, row) = values.reduce(|a, b| if b.0 < a.0 { b } else { a })?;
        let mut cells = vec![Cell::Text(head.into()), Cell::number(Some(least))];
        cells.extend(place(row, axes));
        Some(cells)
    };
    let mut names = heads("smallest", &[], ["is", "at point"]);
    names.extend(axes.iter().map(|axis| axis.to_string()));
    sheet("best", "Best points".into(), names, shown.iter().filter_map(row).collect())
}

/// Returns the table of the effect of each axis on each metric: the largest minus the smallest mean
/// over the values of the axis.
fn effects(
    measured: &[&Row],
    axes: &[&str],
    shown: &[(&'static str, &'static str)],
) -> Option<Sheet> {
    let effect = |axis: &str, name: &str| {
        let column = format!("axis.{axis}");
        let points = measured
            .iter()
            .filter_map(|row| Some((row.get(&column), value(row, name)?)))
            .map(|(level, value)| {
                (level.and_then(|it| it.real()).ok_or(level.and_then(|it| it.text())), value)
            })
            .collect::<Vec<_>>();
        let means: Vec<f64> = levels(points).iter().map(|level| mean(level)).collect();
        (means.len() > 1).then(|| {
            let most = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            most - means.iter().copied().fold(f64::INFINITY, f64::min)
        })
    };
    let row = |axis: &&str| {
        let cells = shown.iter().map(|(name, _)| Cell::number(effect(axis, name)));
        std::iter::once(Cell::Text(axis.to_string())).chain(cells).collect::<Vec<_>>()
    };
    let rows: Vec<_> =
        axes.iter().map(row).filter(|row| row[1..] != vec![Cell::Nothing; row.len() - 1]).collect();
    let title =
        "Main effects: the largest less the smallest mean over the values of an axis".into();
    let names = heads("axis", &[], shown.iter().map(|(_, head)| *head));
    (!rows.is_empty()).then(|| sheet("effects", title, names, rows))
}

/// Groups the values of a metric over a sweep's runs by the level that each run has on one axis of
/// the sweep: a number, a word, or none.
fn levels(points: Vec<(Result<f64, Option<String>>, f64)>) -> Vec<Vec<f64>> {
    let mut words: BTreeMap<Option<String>, Vec<f64>> = BTreeMap::new();
    let mut numbers: Vec<(f64, f64)> = Vec::new();
    for (level, value) in points {
        match level {
            Ok(number) => numbers.push((number, value)),
            Err(word) => words.entry(word).or_default().push(value),
        }
    }
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let alike = |a: &(f64, f64), b: &(f64, f64)| a.0 == b.0;
    let mut levels: Vec<Vec<f64>> = words.into_values().collect();
    let values = |chunk: &[(f64, f64)]| chunk.iter().map(|it| it.1).collect::<Vec<f64>>();
    if numbers.chunk_by(alike).count() <= LEVELS_MOST {
        levels.extend(numbers.chunk_by(alike).map(values));
        return levels;
    }
    let mut begin = 0;
    for part in 1..=PARTS {
        let mut end = (numbers.len() * part / PARTS).max(begin);
        while 0 < end && end < numbers.len() && alike(&numbers[end], &numbers[end - 1]) {
            end += 1;
        }
        if begin < end {
            levels.push(values(&numbers[begin..end]));
        }
        begin = end;
    }
    levels
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_values_or_parts_of_as_many_points() {
        let of = |numbers: &[f64]| levels(numbers.iter().map(|&it| (Ok(it), it)).collect());
        assert_eq!(of(&[2.0, 1.0, 2.0]), [vec![1.0], vec![2.0, 2.0]]);
        let many: Vec<f64> = (0..12).map(f64::from).collect();
        let parts = of(&many);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3, 3]);
        assert_eq!(parts[1], [3.0, 4.0, 5.0]);
        // Points of one value stay together.
        let tied: Vec<f64> =
            (0..12).map(|it| if it < 5 { 0.0 } else { f64::from(it) }).chain([20.0; 2]).collect();
        assert_eq!(of(&tied)[0], [0.0; 5]);
        let words = vec![(Err(Some("a".into())), 1.0), (Err(None), 2.0), (Ok(3.0), 4.0)];
        assert_eq!(levels(words).len(), 3);
    }
}
