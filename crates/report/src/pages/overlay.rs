//! Two results on the same axes: the lines of two pages that were written, in one.

use super::{Page, REPORT, Section, fill};
use crate::diff::{Diff, is_as_written};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::tables::{Cell, Sheet};
use fowler_experiment::text_file;
use fowler_figures::{Axis, Figure, Panel, Series, Shape};
use std::path::Path;

/// Largest accepted HTML page in bytes: the page of 27 schemes has two million.
const LARGEST: u64 = 64 << 20;
/// Text in an HTML page before the data of a chart.
const OPENS: &str = "<script type=\"application/json\">";
const CLOSES: &str = "</script>";
/// Names of the two results on the HTML page that compares them, in their order.
const NAMES: [&str; 2] = ["first", "second"];

/// Renders the HTML page of two results: the differences between them (`found`), and every chart of
/// lines that the pages in both `folders` have, with the lines of both.
///
/// # Errors
/// If a folder has no page, or it cannot be read, or is damaged (its checksum does not match).
pub fn of_two(folders: [&Path; 2], found: &Diff) -> Result<String, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let charts = folders.map(|folder| diagnostics.take(charts_of(folder)));
    let [Some(first), Some(second)] = charts else { return Err(diagnostics) };
    let charts = overlaid([&first, &second]);
    let lead = folders.iter().zip(NAMES);
    let lead = lead.map(|(folder, name)| format!("The {name}: {}.", folder.display())).collect();
    let remark = match charts.is_empty() {
        true => vec!["The two pages have no chart of lines in common.".to_string()],
        false => Vec::new(),
    };
    Ok(fill(Page {
        title: "Two results".into(),
        lead: [lead, remark].concat(),
        sections: vec![
            Section::new("What differs", sheets(found), Vec::new()),
            Section::new("On the same axes", Vec::new(), charts),
        ]
        .into_iter()
        .filter(|section| !section.is_empty())
        .collect(),
        ..Page::blank()
    }))
}

/// Returns the charts of the HTML report in a folder of results.
fn charts_of(folder: &Path) -> Result<Vec<Figure>, Diagnostics> {
    let file = folder.join(REPORT);
    if !file.exists() {
        let what = format!("holds no {REPORT}");
        let hint = "fill a folder with `fowler run --out` or `fowler compare --out`".to_string();
        return Err(Diagnostic::new(folder.display().to_string(), what).hint(hint).into());
    }
    is_as_written(&file)?;
    let page = text_file::read(&file, LARGEST)?;
    let chart = |text: &str| {
        let data = text.split(CLOSES).next().unwrap_or_default();
        let chart: Figure = serde_json::from_str(data).map_err(|error| {
            let what = format!(
                "is a page with a chart that cannot be read: {}",
                printable(error.to_string())
            );
            let hint = "write the page again with this version of Fowler".to_string();
            Diagnostics::from(Diagnostic::new(file.display().to_string(), what).hint(hint))
        })?;
        Ok(chart)
    };
    page.split(OPENS).skip(1).map(chart).collect()
}

/// Returns the line charts that both results have, each with the lines of both.
fn overlaid([first, second]: [&[Figure]; 2]) -> Vec<Figure> {
    let lines = |chart: &&Figure| matches!(frame(chart), Some((Shape::Lines | Shape::Steps, _)));
    // A line has the same ink in every chart, also in those that do not have them all.
    let mut names: Vec<String> = Vec::new();
    for (charts, name) in [first, second].into_iter().zip(NAMES) {
        let panels = charts.iter().filter(lines).flat_map(|chart| &chart.panels);
        for series in panels.flat_map(|panel| &panel.series) {
            let full = full_name(name, series);
            if !names.contains(&full) {
                names.push(full);
            }
        }
    }
    let of_both = |one: &Figure| {
        let other = second.iter().filter(lines).find(|it| it.id == one.id)?;
        let (shape, x) = frame(one).filter(|shape_and_x| frame(other) == Some(*shape_and_x))?;
        let panels: Vec<Panel> = one
            .panels
            .iter()
            .filter_map(|view| {
                let other = other.panels.iter().find(|it| it.title == view.title)?;
                (view.y == other.y).then(|| together([view, other], &names))
            })
            .collect();
        let both = Figure::new(one.id.clone(), one.title.clone(), panels);
        (!both.panels.is_empty()).then(|| both.caption(one.caption.clone()).views(shape, x.clone()))
    };
    first.iter().filter(lines).filter_map(of_both).collect()
}

/// Returns the kind of chart and the x axis that all views of a chart (panels of which the HTML
/// page shows one at a time) have in common; `None` if the chart has no view.
fn frame(chart: &Figure) -> Option<(Shape, &Axis)> {
    chart.panels.first().map(|view| (view.shape, &view.x))
}

fn full_name(of: &str, series: &Series) -> String {
    format!("{of}: {}", series.name)
}

/// Returns a chart's view with the lines of both results; the ink of a line follows from its place
/// in `names`.
fn together(panels: [&Panel; 2], names: &[String]) -> Panel {
    let mut series = Vec::new();
    for (panel, name) in panels.into_iter().zip(NAMES) {
        // Lines without x values share those of the first.
        let shared = panel.series.first().map_or(&[][..], |drawn| &drawn.x);
        for drawn in &panel.series {
            let x = if drawn.x.is_empty() { shared.to_vec() } else { drawn.x.clone() };
            let name = full_name(name, drawn);
            let place = names.iter().position(|other| *other == name).unwrap_or(names.len());
            let points = x.len().min(drawn.y.len());
            let line =
                Series { x: x[..points].to_vec(), y: drawn.y[..points].to_vec(), ..drawn.clone() };
            series.push(Series { name, ..line }.of_scheme(place));
        }
    }
    Panel::view(panels[0].title.clone(), panels[0].y.clone(), series)
}

/// Returns the tables of the settings and the metrics in which two results differ.
fn sheets(found: &Diff) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    for pair in &found.pairs {
        let of = pair.labels.join(" and ");
        let title = format!("Asked for: {of}");
        let mut asked = Sheet::new("asked-for", title, &["key", "first", "second"]);
        for setting in &pair.settings {
            let value = |it: &Option<String>| it.clone().map_or(Cell::Nothing, Cell::Text);
            let [first, second] = &setting.values;
            asked.row(vec![setting.key.clone().into(), value(first), value(second)]);
        }
        let heads = ["result", "first", "second", "change"];
        let mut results = Sheet::new("results", format!("Results: {of}"), &heads);
        for change in pair.changes.iter().filter(|it| it.label.is_some()) {
            let label = change.label.clone().unwrap_or_default();
            let [first, second] = change.values.map(Cell::number);
            results.row(vec![label.into(), first, second, Cell::share(change.share())]);
        }
        sheets.extend([asked, results].into_iter().filter(|sheet| !sheet.rows.is_empty()));
    }
    sheets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(id: &str, name: &str, shape: Shape, axis: &str) -> Figure {
        let own = Series::line(name, [(1.0, Some(3.0)), (2.0, None)]);
        let shared = Series { x: Vec::new(), ..Series::line("b", [(0.0, 5.0)]) };
        Figure::new(id, id, vec![Panel::view("reads", Axis::log10("us"), vec![own, shared])])
            .caption(String::new())
            .views(shape, Axis::linear(axis))
    }

    /// Line charts of two results with equal axes are drawn together; all others are left out.
    #[test]
    fn lines_of_both_are_in_one_chart() {
        let first = [
            chart("both", "a", Shape::Lines, "s"),
            chart("heat", "a", Shape::Heat, "s"),
            chart("unit", "a", Shape::Lines, "s"),
            chart("alone", "a", Shape::Steps, "s"),
        ];
        let second = [
            chart("unit", "c", Shape::Lines, "ms"),
            chart("heat", "c", Shape::Heat, "s"),
            chart("both", "c", Shape::Lines, "s"),
        ];
        let charts = overlaid([&first, &second]);
        assert_eq!(charts.len(), 1);
        let series = &charts[0].panels[0].series;
        let names: Vec<&str> = series.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["first: a", "first: b", "second: c", "second: b"]);
        let inks: std::collections::BTreeSet<_> = series.iter().map(|line| &line.ink).collect();
        assert_eq!(inks.len(), 4, "{inks:?}");
        assert!(series.iter().all(|line| line.x.len() == line.y.len() && line.x[0] == 1.0));
    }
}
