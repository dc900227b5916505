//! Tables in the form of Markdown, which reads well on a terminal and pastes into a report.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};

/// Columns of words are at most so many characters wide.
const WORDS_WIDTH: u16 = 44;

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

    /// The same with these columns holding words: they begin at the left, and what is long
    /// continues in further lines.
    pub fn words(mut self, columns: impl IntoIterator<Item = usize>) -> Grid {
        for index in columns {
            if let Some(column) = self.table.column_mut(index) {
                column.set_cell_alignment(CellAlignment::Left);
                column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(WORDS_WIDTH)));
            }
        }
        self.table.set_content_arrangement(ContentArrangement::Dynamic).set_width(u16::MAX);
        self
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
