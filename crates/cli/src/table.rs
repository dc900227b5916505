//! Tables in the form of Markdown, which reads well on a terminal and pastes into a report.
//!
//! On a terminal that is too narrow a table loses the columns that it can spare, or becomes several
//! tables one below the other. Anywhere else it is whole, so that a script finds every column.

use crate::console;
use crate::wrap::columns;
use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};

/// Maximum width of a table's columns of words, in characters.
const WORDS_WIDTH: u16 = 44;
/// Minimum width of a table's columns of words on a narrow terminal, in characters.
const LEAST_WORDS: u16 = 12;
/// Characters of a table with two columns that belong to no cell: `| ` and ` | ` and ` |`.
const EDGES: u16 = 7;
/// Smallest width of a table's first column when a narrow terminal leaves room for just one column
/// beside it, in characters.
const LABELS_WIDTH: u16 = 24;

/// Largest widths of the columns of a table that is wider than the terminal, in characters.
#[derive(Clone, Copy)]
struct Bound {
    /// Largest width of the table's first column, in characters.
    labels: u16,
    /// Largest width of the columns of words other than the first one, in characters.
    words: u16,
}

/// A text table whose first column names rows and whose others hold numbers.
pub(crate) struct Grid {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    words: Vec<usize>,
    spare: Vec<usize>,
}

impl Grid {
    /// Creates an empty table with these column headings.
    pub fn new(heads: Vec<String>) -> Grid {
        Grid { heads, rows: Vec::new(), words: Vec::new(), spare: Vec::new() }
    }

    /// Marks columns of the table that hold words: they begin at the left, and long text continues
    /// in further lines.
    pub fn words(self, columns: impl IntoIterator<Item = usize>) -> Grid {
        Grid { words: columns.into_iter().collect(), ..self }
    }

    /// Marks columns of the table that are left out where there is no room for all.
    pub fn spare(self, columns: impl IntoIterator<Item = usize>) -> Grid {
        Grid { spare: columns.into_iter().collect(), ..self }
    }

    /// Adds a row to the table.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Returns the table as lines of text, as wide as standard output allows.
    pub fn text(&self) -> String {
        let tables = self.fitting(console::width());
        tables.iter().map(|table| emphasized(table)).collect::<Vec<_>>().join("\n")
    }

    /// Returns the table as text, or the tables into which it is divided to fit the width.
    fn fitting(&self, width: Option<usize>) -> Vec<String> {
        let all: Vec<usize> = (0..self.heads.len()).collect();
        let whole = self.of(&all, None);
        let Some(width) = width.filter(|&width| wide(&whole) > width) else {
            return vec![whole];
        };
        let fewer: Vec<usize> = all.iter().copied().filter(|it| !self.spare.contains(it)).collect();
        let kept = self.of(&fewer, None);
        if wide(&kept) <= width || fewer.len() < 2 {
            return vec![kept];
        }
        // The first column names the rows of each table.
        let others = |columns: &[usize]| wide(&self.of(columns, None));
        let labels = wide(&self.of(&[0], None));
        let widest = fewer[1..].iter().map(|&column| others(&[column])).max().unwrap_or(0);
        let bound = (labels + widest > width).then(|| {
            let labels = (width.saturating_sub(widest + 4) as u16).max(LABELS_WIDTH);
            let words =
                (width as u16).saturating_sub(labels + EDGES).clamp(LEAST_WORDS, WORDS_WIDTH - 2);
            Bound { labels, words }
        });
        let mut tables: Vec<Vec<usize>> = Vec::new();
        for &column in &fewer[1..] {
            let with = |table: &Vec<usize>| [&table[..], &[column]].concat();
            match tables.last_mut() {
                Some(table) if wide(&self.of(&with(table), bound)) <= width => table.push(column),
                _ => tables.push(vec![0, column]),
            }
        }
        tables.iter().map(|columns| self.of(columns, bound)).collect()
    }

    /// Returns these columns of the table as text.
    fn of(&self, columns: &[usize], bound: Option<Bound>) -> String {
        let mut table = Table::new();
        let pick = |cells: &[String]| columns.iter().map(|&at| cells[at].clone()).collect();
        let heads: Vec<String> = pick(&self.heads);
        table.load_style(ASCII_MARKDOWN).set_header(heads);
        for row in &self.rows {
            let cells: Vec<String> = pick(row);
            table.add_row(cells);
        }
        let mut wraps = bound.is_some();
        for (place, at) in columns.iter().enumerate() {
            let Some(column) = table.column_mut(place) else { continue };
            let words = self.words.contains(at);
            if *at > 0 && !words {
                column.set_cell_alignment(CellAlignment::Right);
            }
            let most = match bound {
                Some(bound) if *at == 0 => Some(bound.labels + 2),
                _ => words.then(|| bound.map_or(WORDS_WIDTH, |bound| bound.words + 2)),
            };
            if let Some(most) = most {
                column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(most)));
                wraps = true;
            }
        }
        if wraps {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(u16::MAX);
        }
        let mut text = table.trim_fmt();
        text.push('\n');
        text
    }
}

/// Returns the width of the longest line of `text` on a terminal, in columns.
fn wide(text: &str) -> usize {
    text.lines().map(columns).max().unwrap_or(0)
}

/// Returns the table with its headings in bold, down to the rule below them, where standard output
/// may be emphasized.
fn emphasized(table: &str) -> String {
    let rule = table.lines().position(|line| line.starts_with("|-")).unwrap_or(0);
    let line =
        |(number, line)| if number < rule { console::strong(line) } else { String::from(line) };
    table.lines().enumerate().map(line).map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new(["of a drive", "one", "two", "three"].map(String::from).into());
        grid.row(
            ["reads per second", "1,000,000", "2,000,000", "3,000,000"].map(Into::into).into(),
        );
        grid.row(["writes", "4", "5", "6"].map(String::from).into());
        grid
    }

    #[test]
    fn a_table_that_fits_or_is_read_by_a_program_stays_whole() {
        let whole = grid().fitting(None).join("");
        assert_eq!(grid().fitting(Some(wide(&whole))).join(""), whole);
        assert!(whole.lines().all(|line| line.matches('|').count() == 5), "{whole}");
    }

    #[test]
    fn a_table_that_is_too_wide_becomes_several() {
        for width in [32, 33, 40, 44, 52] {
            let text = grid().fitting(Some(width)).join("\n");
            assert!(wide(&text) <= width, "{width}:\n{text}");
            for value in ["1,000,000", "2,000,000", "3,000,000", "4", "5", "6"] {
                assert_eq!(text.split_whitespace().filter(|it| *it == value).count(), 1, "{text}");
            }
        }
    }

    #[test]
    fn words_beside_long_labels_are_broken() {
        let long = "a sentence that is longer than what is left of the line";
        let mut grid = Grid::new(["what", "why"].map(String::from).into()).words([0, 1]);
        grid.row([long, &long.replace("sentence", "remark")].map(String::from).into());
        for width in [60, 70, 80] {
            let text = grid.fitting(Some(width)).join("\n");
            assert!(wide(&text) <= width, "{width}:\n{text}");
            assert_eq!(text.matches("longer").count(), 2, "{text}");
        }
    }

    #[test]
    fn what_can_be_spared_goes_first() {
        let text = grid().spare([2]).fitting(Some(44)).join("\n");
        assert!(!text.contains("two") && text.contains("three"), "{text}");
        assert_eq!(text.matches("writes").count(), 1, "{text}");
    }
}
