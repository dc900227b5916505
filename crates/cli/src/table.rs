//! Tables in the form of Markdown, which reads well on a terminal and pastes into a report.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};

/// A table whose first column names rows and whose others hold numbers.
pub(crate) struct Grid {
    table: Table,
}

impl Grid {
    /// A table with these column heads.
    pub fn new(heads: Vec<String>) -> Grid {
        let mut table = Table::new();
        let columns = heads.len();
        table.load_style(ASCII_MARKDOWN).set_header(heads);
        for index in 1..columns {
            if let Some(column) = table.column_mut(index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Grid { table }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.table.add_row(cells);
    }

    /// The table as lines of text.
    pub fn text(&self) -> String {
        let mut text = self.table.trim_fmt();
        text.push('\n');
        text
    }
}
