//! Writes the curves of the models as figures and columns.

mod pictures;
mod word_lines;

use super::{
    Cells, Plotted, agreement, chip_measurements, constants, sensitivity, sensitivity_of_word_lines,
};
use crate::figures_folder::{self, Written};
use fowler_experiment::atomic_file::unwritable;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::disk;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Axis, Figure, Panel, Series};
use std::path::Path;

pub use pictures::recovery;

/// Writes every curve of the cell model to `folder`, as a figure and as columns, together with the
/// tables.
///
/// # Errors
/// If the folder cannot be written.
pub fn plot(folder: &Path) -> Result<Plotted, Diagnostics> {
    disk::create_folder(folder).map_err(|error| unwritable(folder, &error))?;
    let figures = all(&Cells::new());
    let columns = figures.iter().map(columns);
    let tables = [constants(), sensitivity(), sensitivity_of_word_lines(), agreement()];
    let sheets: Vec<Sheet> = columns.chain(tables).collect();
    let Written { files, warnings, .. } = figures_folder::write(&sheets, &figures, folder)?;
    Ok(Plotted { files, warnings })
}

/// Returns every figure: those of the two-bit cells of the papers, and those of three-bit cells.
fn all(cells: &Cells) -> Vec<Figure> {
    let mut figures = pictures::all(cells);
    figures.extend(word_lines::all(cells));
    figures
}

/// Returns the numbers behind a figure of the cell models, one row for each point or bar.
fn columns(figure: &Figure) -> Sheet {
    let heads = ["panel", "curve", "x axis", "x", "y axis", "y", "published"];
    let mut sheet = Sheet::new(&figure.id, figure.title.clone(), &heads);
    for (panel, series) in
        figure.panels.iter().flat_map(|panel| panel.series.iter().map(move |it| (panel, it)))
    {
        let mut row = |x: Cell, y: Cell, mark: Cell| {
            let titles = [&panel.title, &series.name, &panel.x.title, &panel.y.title];
            let [title, curve, x_axis, y_axis] = titles.map(|text| text.as_str().into());
            sheet.row(vec![title, curve, x_axis, x, y_axis, y, mark]);
        };
        for (at, group) in panel.rows.iter().enumerate() {
            let of = |column: &[Option<f64>]| Cell::number(column.get(at).copied().flatten());
            row(group.as_str().into(), of(&series.y), of(&series.published));
        }
        for (&x, &y) in series.x.iter().zip(&series.y) {
            row(Cell::Number(x), Cell::number(y), Cell::Nothing);
        }
        for (&x, &y) in series.published_x.iter().zip(&series.published) {
            row(Cell::Number(x), Cell::Nothing, Cell::number(y));
        }
    }
    sheet
}

/// Returns `count` equal steps between two numbers, including both.
fn steps(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> + Clone {
    (0..=count).map(move |step| low + (high - low) * f64::from(step) / f64::from(count))
}

/// Returns numbers at `count` equal ratios between two numbers, including both.
fn ratios(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> + Clone {
    let (from, to) = (libm::log(low), libm::log(high));
    steps(from, to, count).map(libm::exp)
}

/// Returns a chart's axis of bit error rates.
fn rates() -> Axis {
    Axis::log10("raw bit error rate")
}

/// Returns a line in the style that charts use for results of a formula instead of a simulation.
fn curve(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    Series::line(name, points).theory()
}

/// Returns a chart of bit error rates over `x`, with a mark at the error rate above which no
/// sensing level can correct a page.
fn panel(cells: &Cells, title: &str, x: Axis, series: impl IntoIterator<Item = Series>) -> Panel {
    let name = "correctable from 21 references";
    Panel::lines(title, x, rates(), series).reference(cells.ldpc.correctable(), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_picture_is_drawn_and_has_its_columns() {
        for figure in all(&Cells::new()) {
            let name = &figure.id;
            let svg = figure.svg().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(svg.starts_with("<svg"), "{name}");
            let sheet = columns(&figure);
            assert!(sheet.rows.len() >= 6, "{name}: {} rows", sheet.rows.len());
        }
    }
}
