//! Writes the curves of the models as figures and columns.

mod pictures;

use super::{Cells, Plotted, agreement, constants, sensitivity};
use crate::figures_folder::{self, Written};
use fowler_experiment::atomic_file::unwritable;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::disk;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Axis, Figure, Plot};
use std::path::Path;

pub use pictures::recovery;

/// Writes every curve to `folder`, as a figure and as columns, together with the tables.
///
/// # Errors
/// If the folder cannot be written.
pub fn plot(folder: &Path) -> Result<Plotted, Diagnostics> {
    disk::create_folder(folder).map_err(|error| unwritable(folder, &error))?;
    let figures = pictures::all(&Cells::new());
    let columns = figures.iter().map(|(name, figure)| columns(name, figure));
    let tables = [constants(), sensitivity(), agreement()];
    let sheets: Vec<Sheet> = columns.chain(tables).collect();
    let Written { files, warnings, .. } = figures_folder::write(&sheets, &figures, folder)?;
    Ok(Plotted { files, warnings })
}

/// Returns the numbers behind a figure, one row for each point or bar.
fn columns(name: &str, figure: &Figure) -> Sheet {
    let heads = ["panel", "curve", "x axis", "x", "y axis", "y", "published"];
    let mut sheet = Sheet::new(name, figure.title.clone(), &heads);
    for panel in &figure.panels {
        let mut row = |curve: &str, (x_axis, y_axis): (&str, &str), x: Cell, y: Cell, mark| {
            let title = panel.title.as_str().into();
            sheet.row(vec![title, curve.into(), x_axis.into(), x, y_axis.into(), y, mark]);
        };
        match &panel.plot {
            Plot::Lines(lines) => {
                let axes = (lines.x.title.as_str(), lines.y.title.as_str());
                for series in &lines.series {
                    for (x, y) in &series.points {
                        let (x, y) = (Cell::Number(*x), Cell::Number(*y));
                        row(&series.name, axes, x, y, Cell::Nothing);
                    }
                    for (x, y) in &series.published {
                        let (x, y) = (Cell::Number(*x), Cell::Number(*y));
                        row(&series.name, axes, x, Cell::Nothing, y);
                    }
                }
            }
            Plot::Bars(bars) | Plot::Towers(bars) => {
                for series in &bars.series {
                    for (place, group) in bars.groups.iter().enumerate() {
                        let y = Cell::number(series.values.get(place).copied().flatten());
                        let mark = Cell::number(series.published.get(place).copied().flatten());
                        row(&series.name, ("", &bars.y), group.as_str().into(), y, mark);
                    }
                }
            }
            Plot::Steps(_) => {}
        }
    }
    sheet
}

/// Returns equal steps between two numbers, including both.
fn steps(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> + Clone {
    (0..=count).map(move |step| low + (high - low) * f64::from(step) / f64::from(count))
}

/// Returns equal ratios between two numbers, including both.
fn ratios(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> + Clone {
    let (from, to) = (libm::log(low), libm::log(high));
    steps(from, to, count).map(libm::exp)
}

/// Returns an axis of bit error rates.
fn rates() -> Axis {
    Axis::log10("raw bit error rate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_picture_is_drawn_and_has_its_columns() {
        for (name, figure) in pictures::all(&Cells::new()) {
            let svg = figure.svg().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(svg.starts_with("<svg"), "{name}");
            let sheet = columns(&name, &figure);
            assert!(sheet.rows.len() >= 6, "{name}: {} rows", sheet.rows.len());
        }
    }
}
