//! Word lines of cells of several bits, as a controller reads them.
//!
//! A controller has one of two ways to read a page again that it could not correct. It moves the
//! references by the entries of a *retry table* ([`WordLines::retries`]), or it senses more of them
//! (*soft decision*; [`WordLines::suffices_until`]). Both work on the voltages of
//! [`crate::multibit`]. The second is that of the two-bit cells of [`crate::ldpc`]: one, three or
//! seven references for each of the boundaries between states.

use crate::multibit::{Cells, GrayCode, References, Window, WornCells};
use crate::parameters::{CONSTANTS, Constant, Parameters, WORD_LINE_CONSTANTS, WordLine};
use crate::rber::ModelError;
use crate::root;
use fowler_units::Span;

/// Oldest retention age, in days, that searches over the age of data consider.
const OLDEST_DAYS: f64 = 1e5;

/// Returns a number of days as a span, rounded down to nanoseconds.
pub fn days(days: f64) -> Span {
    Span((days * 86_400e9) as u64)
}

/// Cells of word lines, and the retry table of their controller.
#[derive(Clone, Copy, Debug)]
pub struct WordLines {
    /// The cells: voltages of the states, wear and retention.
    pub cells: Cells,
    table: WordLine,
}

impl WordLines {
    /// Creates cells of `bits` bits, whose bits a balanced code assigns to the states.
    ///
    /// # Errors
    /// The first reason why the constants do not describe cells.
    ///
    /// # Panics
    /// If there are no bits, or more than [`crate::multibit::BITS_MOST`].
    pub fn new(bits: u32, parameters: Parameters, line: WordLine) -> Result<WordLines, ModelError> {
        let places = (line.voltage_window, line.erased_below);
        let widths = (line.step_share, parameters.erased_sd);
        let window = Window::even(bits, GrayCode::Balanced, places, widths);
        Ok(WordLines { cells: Cells::new(window, parameters)?, table: line })
    }

    /// Returns the number of entries of the retry table that fail before one reads a page of data
    /// of this age: 0 if the usual references do; `None` if no entry reads it.
    pub fn retries(&self, worn: &WornCells, page: usize, age: Span) -> Option<u32> {
        let WordLine { retry_entries, retry_shift, correctable, .. } = self.table;
        let reads =
            |&entry: &u32| worn.rber(page, f64::from(entry) * retry_shift, age) <= correctable;
        (0..=retry_entries as u32).find(reads)
    }

    /// Returns the mean number of read retries over the types of pages of a word line, such as
    /// lower, middle and upper. A page that no entry of the retry table reads counts as one retry
    /// more than the table has entries.
    pub fn mean_retries(&self, worn: &WornCells, age: Span) -> f64 {
        let pages = self.cells.window().bits;
        let all = self.table.retry_entries as u32 + 1;
        let retries = (0..pages as usize).map(|page| self.retries(worn, page, age).unwrap_or(all));
        f64::from(retries.sum::<u32>()) / f64::from(pages)
    }

    /// Returns the age up to which a page has an RBER of at most `correctable`, in days;
    /// `None` if even just-written data has a higher one.
    pub fn suffices_until(
        worn: &WornCells,
        page: usize,
        references: References,
        correctable: f64,
    ) -> Option<f64> {
        let holds = |age| {
            let age = days(age);
            let rber = match references {
                References::Fixed => worn.rber(page, 0.0, age),
                References::Tracked => worn.rber_at_best(page, age),
            };
            rber <= correctable
        };
        root::last(0.0, OLDEST_DAYS, holds)
    }
}

/// P/E cycles and days since programming of the data whose reads are compared, in an average block
/// without read disturb.
pub const POINTS: [(f64, f64); 3] = [(1000.0, 30.0), (3000.0, 30.0), (3000.0, 365.0)];

/// Bit error rates and read retries that the model of three-bit cells computes with one choice of
/// its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Results {
    /// Mean RBER at each pair of P/E cycles and days in [`POINTS`]: at references for just-written
    /// data, and at references for the age of the data.
    pub rber: [[f64; 2]; 3],
    /// Number of read retries at each pair of P/E cycles and days in [`POINTS`], by type of page
    /// from lower to upper; `None` if no entry of the retry table reads the page.
    pub retries: [[Option<u32>; 3]; 3],
}

/// Returns the bit error rates and read retries of three-bit cells with these constants; `None` if
/// no cells can have them.
pub fn results(parameters: &Parameters, line: &WordLine) -> Option<Results> {
    let lines = WordLines::new(3, *parameters, *line).ok()?;
    let worn = POINTS.map(|(cycles, age)| (lines.cells.worn(cycles), days(age)));
    let references = [References::Fixed, References::Tracked];
    Some(Results {
        rber: worn.map(|(worn, age)| references.map(|it| worn.mean_rber(it, age))),
        retries: worn.map(|(worn, age)| [0, 1, 2].map(|page| lines.retries(&worn, page, age))),
    })
}

/// Bit error rates and read retries of three-bit cells with one constant of the cell model at one
/// end of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Constant of the cell model that is at one end of its range; the others have their defaults.
    pub constant: &'static Constant,
    /// Value at one end of the range of the constant that a row of the sensitivity analysis of
    /// three-bit cells changes.
    pub value: f64,
    /// Bit error rates and read retries of three-bit cells with one constant of the cell model at
    /// an end of its range; `None` if no cells can have that value.
    pub results: Option<Results>,
}

/// Evaluates the model of three-bit cells twice for every constant that has a range, with that
/// constant at each end and the others at their defaults. Constants without effect are left out.
pub fn sweep() -> Vec<Row> {
    let (parameters, line) = (Parameters::default(), WordLine::default());
    let base = results(&parameters, &line);
    let changed = |constant: &Constant, value| match parameters.with(constant.name, value) {
        Some(parameters) => results(&parameters, &line),
        None => results(&parameters, &line.with(constant.name, value)?),
    };
    let constants = WORD_LINE_CONSTANTS.iter().chain(CONSTANTS);
    let ends = constants.filter_map(|constant| Some((constant, constant.sweep?)));
    ends.map(|(constant, (low, high))| {
        [low, high].map(|value| Row { constant, value, results: changed(constant, value) })
    })
    .filter(|rows| rows.iter().any(|row| row.results != base))
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> WordLines {
        WordLines::new(3, Parameters::default(), WordLine::default()).expect("cells")
    }

    /// The first entry that reads a page is the first whose rate is correctable, and there is none
    /// exactly if all rates are too high.
    #[test]
    fn retries_end_at_the_first_entry_that_reads() {
        let lines = lines();
        let (mut read, mut lost) = (0, 0);
        for cycles in [0.0, 1000.0, 3000.0, 8000.0] {
            let worn = lines.cells.worn(cycles);
            for age in [0.0, 0.1, 3.0, 30.0, 365.0, 3650.0].map(days) {
                for page in 0..3 {
                    let rates: Vec<bool> = (0..=15)
                        .map(|entry| worn.rber(page, 0.08 * f64::from(entry), age) <= 4e-3)
                        .collect();
                    let expected = rates.iter().position(|&it| it).map(|it| it as u32);
                    assert_eq!(lines.retries(&worn, page, age), expected, "{cycles} {age} {page}");
                    if expected.is_some() { read += 1 } else { lost += 1 }
                }
            }
        }
        assert!(read > 20 && lost > 5, "{read} {lost}");
    }

    #[test]
    fn a_level_suffices_up_to_the_age_at_which_it_no_longer_corrects() {
        let worn = lines().cells.worn(2000.0);
        for page in 0..3 {
            let mut last = 0.0;
            for limit in [2e-3, 4e-3, 1e-2] {
                let until =
                    WordLines::suffices_until(&worn, page, References::Fixed, limit).unwrap();
                assert!(worn.rber(page, 0.0, days(until)) <= limit, "{page} {limit}: {until}");
                assert!(worn.rber(page, 0.0, days(1.001 * until)) > limit, "{page} {limit}");
                assert!(until > last, "{page} {limit}: {until} {last}");
                last = until;
                let tracked = WordLines::suffices_until(&worn, page, References::Tracked, limit);
                assert!(tracked.unwrap() > until, "{page} {limit}");
            }
        }
        assert_eq!(WordLines::suffices_until(&worn, 0, References::Fixed, 1e-6), None);
    }

    /// Every range describes cells, and every constant of word lines matters, except for the time
    /// of a retry, which no rate depends on, and the length of the retry table, which is never used
    /// up.
    #[test]
    fn every_end_of_every_range_makes_cells() {
        let rows = sweep();
        for row in &rows {
            assert!(row.results.is_some(), "{} = {}", row.constant.name, row.value);
        }
        for constant in WORD_LINE_CONSTANTS {
            let swept = rows.iter().any(|row| row.constant.name == constant.name);
            let matters = !["retry_overhead", "retry_entries"].contains(&constant.name);
            assert_eq!(swept, matters, "{}", constant.name);
        }
    }
}
