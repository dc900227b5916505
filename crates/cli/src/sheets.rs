//! Tables of an experiment on the terminal.

use crate::console;
use crate::table::Grid;
use fowler_experiment::numbers::{NOTHING, number, percent};
use fowler_experiment::tables::{Cell, Sheet};
use std::fmt::Write;

/// Returns a table with its title as text.
pub(crate) fn text(sheet: &Sheet) -> String {
    let words = (0..sheet.heads.len()).filter(|&column| {
        let mut cells = sheet.rows.iter().map(|row| &row[column]);
        cells.any(|cell| matches!(cell, Cell::Text(_)))
    });
    let mut grid = Grid::new(sheet.heads.clone()).words(words);
    for row in &sheet.rows {
        grid.row(row.iter().map(cell).collect());
    }
    let mut text = String::new();
    let title = console::fitted(&sheet.title, 0);
    let _grows = writeln!(text, "{title}\n\n{}", grid.text());
    text
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Number(value) => signed(*value, number),
        Cell::Share(share) => signed(*share, percent),
        Cell::Nothing => NOTHING.into(),
    }
}

fn signed(value: f64, print: impl Fn(f64) -> String) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", print(value.abs()))
}
