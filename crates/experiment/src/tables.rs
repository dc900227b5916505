//! Tables as data: the same rows are printed to the terminal and written as CSV.

use crate::atomic_file::{AtomicFile, unwritable};
use crate::diagnostic::Diagnostics;
use crate::numbers::{NOTHING, number, percent};
use std::io::Write;
use std::path::Path;

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A cell with text, such as a name.
    Text(String),
    /// A cell with a number that was measured or published.
    Number(f64),
    /// A cell with a share, shown in percent.
    Share(f64),
    /// An empty cell: no value was measured.
    Nothing,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl Cell {
    /// Returns a number cell, empty unless the number is known and finite.
    pub fn number(value: Option<f64>) -> Cell {
        value.filter(|value| value.is_finite()).map_or(Cell::Nothing, Cell::Number)
    }

    /// Returns a share cell, empty unless the share is known and finite.
    pub fn share(value: Option<f64>) -> Cell {
        value.filter(|value| value.is_finite()).map_or(Cell::Nothing, Cell::Share)
    }

    /// Returns the number or share in a cell of a table; `None` for a text or an empty cell.
    pub fn value(&self) -> Option<f64> {
        match self {
            Cell::Number(value) | Cell::Share(value) => Some(*value),
            Cell::Text(_) | Cell::Nothing => None,
        }
    }
}

/// A table of results with a name and a title.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Name of the file to which this table of results is written, without the extension.
    pub name: String,
    /// Title of the table, in one line.
    pub title: String,
    /// Headings of the table's columns, with units.
    pub heads: Vec<String>,
    /// Rows of the table, each as long as the headings.
    pub rows: Vec<Vec<Cell>>,
}

impl Sheet {
    /// Returns an empty table with these headings.
    pub fn new(name: &str, title: impl Into<String>, heads: &[&str]) -> Sheet {
        let heads = heads.iter().map(|head| (*head).to_string()).collect();
        Sheet { name: name.into(), title: title.into(), heads, rows: Vec::new() }
    }

    /// Adds a row to the table.
    pub fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.heads.len(), "a row has a cell for every column");
        self.rows.push(cells);
    }

    /// Returns the index of the column with a heading. Headings are fixed in code, so a wrong one
    /// is a bug in the caller and would draw an empty picture.
    fn place(&self, head: &str) -> usize {
        let place = self.heads.iter().position(|it| it == head);
        place.unwrap_or_else(|| unreachable!("the table {} has no column \"{head}\"", self.name))
    }

    /// Returns the numbers of a column, one for each row.
    ///
    /// # Panics
    ///
    /// If no column has that heading. All methods that take a heading panic so.
    pub fn column(&self, head: &str) -> Vec<Option<f64>> {
        let at = self.place(head);
        self.rows.iter().map(|row| row[at].value()).collect()
    }

    /// Returns the texts in the column with a heading, one for each row.
    pub fn texts(&self, head: &str) -> Vec<String> {
        let at = self.place(head);
        self.rows.iter().map(|row| row[at].exact()).collect()
    }

    /// Returns a copy of the table with only those rows that hold the value `cell` in the column
    /// headed `head`.
    pub fn only(&self, head: &str, cell: impl Into<Cell>) -> Sheet {
        let (at, cell) = (self.place(head), cell.into());
        let has = |row: &&Vec<Cell>| row[at] == cell;
        let rows = self.rows.iter().filter(has).cloned().collect();
        Sheet {
            name: self.name.clone(),
            title: self.title.clone(),
            heads: self.heads.clone(),
            rows,
        }
    }

    /// Returns the points of a line in a chart: the numbers of two columns, for rows that have
    /// both.
    pub fn points(&self, x: &str, y: &str) -> Vec<(f64, f64)> {
        let both = self.column(x).into_iter().zip(self.column(y));
        both.filter_map(|(x, y)| x.zip(y)).collect()
    }

    /// Writes the table as CSV to `folder`.
    pub fn write(&self, folder: &Path) -> Result<(), Diagnostics> {
        let path = folder.join(format!("{}.csv", self.name));
        let mut file = AtomicFile::create_stored(&path)?;
        let mut csv = csv::Writer::from_writer(Vec::new());
        let failed = |error: csv::Error| unwritable(&path, &error.into());
        csv.write_record(&self.heads).map_err(failed)?;
        for row in &self.rows {
            csv.write_record(row.iter().map(Cell::exact)).map_err(failed)?;
        }
        let bytes = csv.into_inner().map_err(|error| unwritable(&path, error.error()))?;
        file.write_all(&bytes).map_err(|error| unwritable(&path, &error))?;
        file.finish()
    }
}

impl Cell {
    /// Formats the table cell for people: rounded, with a unit.
    pub fn shown(&self) -> String {
        let signed = |value: f64, print: fn(f64) -> String| {
            let text = print(value.abs());
            match text.strip_prefix('<') {
                _ if value >= 0.0 => text,
                // A negative number below the smallest shown one.
                Some(least) => format!(">−{least}"),
                None => format!("−{text}"),
            }
        };
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(value) => signed(*value, number),
            Cell::Share(share) => signed(*share, percent),
            Cell::Nothing => NOTHING.into(),
        }
    }

    /// Formats the table cell for sorting and for CSV, without rounding.
    pub fn exact(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(value) | Cell::Share(value) => value.to_string(),
            Cell::Nothing => String::new(),
        }
    }

    /// Returns true if the cell belongs in a column of numbers.
    pub fn is_number(&self) -> bool {
        !matches!(self, Cell::Text(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_shown_with_one_sign() {
        let shares = [0.5, -0.5, 1e-6, -1e-6, 0.0].map(|share| Cell::Share(share).shown());
        assert_eq!(shares, ["50.0 %", "−50.0 %", "<0.01 %", ">−0.01 %", "0 %"]);
        assert_eq!(Cell::Number(-12.0).shown(), "−12");
    }

    #[test]
    #[should_panic(expected = "the table sizes has no column \"IOPs\"")]
    fn a_head_that_no_column_has_is_a_bug() {
        Sheet::new("sizes", "By size", &["size", "IOPS"]).points("size", "IOPs");
    }
}
