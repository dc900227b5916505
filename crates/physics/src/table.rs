//! Bit error rates from tables instead of voltages: measurements of a chip, by P/E cycles and
//! retention age.
//!
//! Between its points, a table interpolates the logarithm of the rate linearly in the cycles and in
//! `ln(1 + age / 1 h)`, the axis on which retention is a straight line. Before its first point the
//! table is constant, which overstates rates; beyond its last point the table continues linearly,
//! up to 0.5. Cycles are equivalent cycles, because a table describes an average block.

use crate::parameters::Parameters;
use crate::rber::disturbed;
use crate::vth::Setting;
use fowler_units::Span;

/// Unit, in seconds, of the retention age t on the logarithmic axis `ln(1 + t / 1 h)` of a table of
/// bit error rates, which is nearly linear below one hour.
const HOUR: f64 = 3600.0;

/// A problem with a table of bit error rates.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// An axis of the table of bit error rates has no point, or the number of rates does not match.
    #[error("{rates} rates; expected one for each of {cycles} cycles and {ages} ages")]
    Size {
        /// Number of P/E cycle counts (rows) that were given for the table of bit error rates.
        cycles: usize,
        /// Number of retention ages (columns) that were given for the table of bit error rates.
        ages: usize,
        /// Number of bit error rates that were given for the table.
        rates: usize,
    },
    /// The P/E cycles or the retention ages of a table of bit error rates do not ascend, or one of
    /// them is negative, infinite or not a number.
    #[error("{axis} must be ascending, from 0 or more: index {index} is {value}")]
    Axis {
        /// Name of the faulty axis of the table of bit error rates: `cycles` or `ages`.
        axis: &'static str,
        /// Index, from 0, of the value that is not above the one before it on its axis of the table
        /// of bit error rates, or is negative, infinite or not a number.
        index: usize,
        /// Value on an axis of the table of bit error rates that is not above the value before, or
        /// is negative, infinite or not a number.
        value: f64,
    },
    /// A bit error rate is not between 0 and 0.5.
    #[error("a rate must be above 0 and below 0.5: {value} at cycles {cycles}, age {age}")]
    Rate {
        /// Index on the axis of cycles, from 0, of the bit error rate that is out of range.
        cycles: usize,
        /// Index on the axis of ages, from 0, of the bit error rate that is out of range.
        age: usize,
        /// Bit error rate that is not between 0 and 0.5.
        value: f64,
    },
    /// A rate in the table of bit error rates is lower than that at less wear or at a shorter
    /// retention age.
    #[error("a rate must not fall with wear or age: it falls at cycles {cycles}, age {age}")]
    Falls {
        /// Index, from 0, on the table's axis of P/E cycles of the bit error rate that is lower
        /// than the one before it in P/E cycles or age.
        cycles: usize,
        /// Index on the axis of ages, from 0, of the bit error rate that is lower than a
        /// neighbor's.
        age: usize,
    },
    /// No table of bit error rates was given, or two for one combination of voltage scale and ISPP
    /// step.
    #[error("a setting of voltage and step has no table, or two; expected one table per setting")]
    Settings,
}

/// Measured bit error rates by retention age and by wear, in P/E cycles of an average block.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    cycles: Vec<f64>,
    /// Retention ages as `ln(1 + age / 1 h)`.
    ages: Vec<f64>,
    /// Logarithms of the bit error rates, one row of ages for each number of cycles.
    rates: Vec<f64>,
}

impl Table {
    /// Creates a table of raw bit error rates over `cycles` and `ages` (in seconds), both
    /// ascending. `rates` holds one row of ages for each number of cycles.
    ///
    /// # Errors
    /// All problems with the columns.
    pub fn new(cycles: &[f64], ages: &[f64], rates: &[f64]) -> Result<Table, Vec<TableError>> {
        let mut wrong = Vec::new();
        for (axis, values) in [("cycles", cycles), ("ages", ages)] {
            let mut before = -f64::MIN_POSITIVE;
            for (index, &value) in values.iter().enumerate() {
                if !(value > before && value < 1e15) {
                    wrong.push(TableError::Axis { axis, index, value });
                }
                before = value;
            }
        }
        let size = cycles.len() * ages.len();
        if size == 0 || size != rates.len() {
            let (cycles, ages, rates) = (cycles.len(), ages.len(), rates.len());
            wrong.push(TableError::Size { cycles, ages, rates });
            return Err(wrong);
        }
        let width = ages.len();
        for (place, &value) in rates.iter().enumerate() {
            let (cycles, age) = (place / width, place % width);
            if !(value > 0.0 && value < 0.5) {
                wrong.push(TableError::Rate { cycles, age, value });
            }
            let younger = (age > 0).then(|| rates[place - 1]);
            let fresher = (cycles > 0).then(|| rates[place - width]);
            if [younger, fresher].into_iter().flatten().any(|before| value < before) {
                wrong.push(TableError::Falls { cycles, age });
            }
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let ages = ages.iter().map(|age| libm::log1p(age / HOUR)).collect();
        let rates = rates.iter().map(|rate| libm::log(*rate)).collect();
        Ok(Table { cycles: cycles.to_vec(), ages, rates })
    }

    /// Returns the table's bit error rate (above 0, at most 0.5) after `cycles` equivalent P/E
    /// cycles at the retention age `age`, interpolated between the points of the table or
    /// extrapolated.
    pub fn rber(&self, cycles: f64, age: Span) -> f64 {
        let (row, across) = place(&self.cycles, cycles);
        let (column, along) = place(&self.ages, libm::log1p(age.as_s() / HOUR));
        let at = |row: usize, column: usize| {
            let (row, column) = (row.min(self.cycles.len() - 1), column.min(self.ages.len() - 1));
            self.rates[row * self.ages.len() + column]
        };
        let between = |row| at(row, column) + along * (at(row, column + 1) - at(row, column));
        let (low, high) = (between(row), between(row + 1));
        libm::exp(low + across * (high - low)).min(0.5)
    }
}

/// Returns the index of the last point of an axis before a value, and the value's position on the
/// way to the next point, which is above 1 beyond the last point.
fn place(axis: &[f64], value: f64) -> (usize, f64) {
    let after = axis.partition_point(|point| *point <= value);
    let Some(before) = after.checked_sub(1) else { return (0, 0.0) };
    let before = before.min(axis.len().saturating_sub(2));
    let Some(next) = axis.get(before + 1) else { return (before, 0.0) };
    (before, (value - axis[before]) / (next - axis[before]))
}

/// Cell model made of tables of measured bit error rates: one for each combination of voltage scale
/// and ISPP step that a drive uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Tabled {
    parameters: Parameters,
    tables: Vec<(Setting, Table)>,
}

impl Tabled {
    /// Creates the cell model from one table of bit error rates for each voltage scale and ISPP
    /// step. `parameters` provides the constants that tables lack: growth rates of the bit error
    /// rate, read disturb and end of life.
    ///
    /// # Errors
    /// If there is no table, or there are two for one setting.
    pub fn new(
        parameters: Parameters,
        tables: Vec<(Setting, Table)>,
    ) -> Result<Tabled, TableError> {
        let twice = |place: usize| tables[..place].iter().any(|(it, _)| *it == tables[place].0);
        if tables.is_empty() || (0..tables.len()).any(twice) {
            return Err(TableError::Settings);
        }
        Ok(Tabled { parameters, tables })
    }

    /// Returns the constants that tables of bit error rates lack: growth rates over blocks, read
    /// disturb and end of life.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns true if there is a table of bit error rates for these voltages and this ISPP step.
    /// Check this before building a drive.
    pub fn covers(&self, setting: Setting) -> bool {
        self.tables.iter().any(|(it, _)| *it == setting)
    }

    /// Returns the raw bit error rate, from 0 to 0.5, of a page in a block whose wear equals
    /// `cycles` P/E cycles of an average block.
    ///
    /// # Panics
    /// If there is no table for the setting.
    pub fn rber(&self, cycles: f64, age: Span, reads: u32, setting: Setting) -> f64 {
        let rate = self.table(setting).rber(cycles, age);
        (rate + disturbed(&self.parameters, cycles, reads)).min(0.5)
    }

    /// Returns the table of bit error rates for these voltages and this ISPP step.
    ///
    /// # Panics
    ///
    /// If the setting has no table.
    pub fn table(&self, setting: Setting) -> &Table {
        let table = self.tables.iter().find(|(it, _)| *it == setting);
        &table.expect("a setting that has a table").1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(hours: u64) -> Span {
        Span::ms(hours * 3_600_000)
    }

    fn table() -> Table {
        let ages = [0.0, 3.0 * HOUR, 15.0 * HOUR];
        Table::new(&[0.0, 1000.0], &ages, &[1e-4, 1e-3, 1e-2, 1e-3, 1e-2, 1e-1]).unwrap()
    }

    #[test]
    fn a_table_gives_back_its_points_and_lies_between_them() {
        let table = table();
        let near = |cycles, age, rate: f64| {
            let found = table.rber(cycles, age);
            assert!((found / rate - 1.0).abs() < 1e-9, "{cycles} {age}: {found} {rate}");
        };
        near(0.0, Span::ZERO, 1e-4);
        near(0.0, hours(3), 1e-3);
        near(1000.0, hours(15), 1e-1);
        near(500.0, Span::ZERO, 1e-3 / 10f64.sqrt());
        // ln(1 + 1 h / 1 h) is half of ln(1 + 3 h / 1 h).
        near(0.0, hours(1), 1e-3 / 10f64.sqrt());
        near(500.0, hours(1), 1e-3);
        // Beyond its end the table continues as before, and no page is worse than chance.
        near(0.0, hours(63), 1e-1);
        near(0.0, hours(1_000_000), 0.5);
        near(2000.0, Span::ZERO, 1e-2);
    }

    #[test]
    fn a_table_of_one_point_is_flat() {
        let table = Table::new(&[100.0], &[HOUR], &[2e-3]).unwrap();
        for (cycles, age) in [(0.0, 0), (100.0, 1), (9e9, 999)] {
            assert!((table.rber(cycles, hours(age)) / 2e-3 - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn everything_that_is_wrong_is_said() {
        let wrong = |cycles: &[f64], ages: &[f64], rates: &[f64]| {
            let diagnostics = Table::new(cycles, ages, rates).unwrap_err();
            diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(
            wrong(&[], &[0.0], &[]),
            "0 rates; expected one for each of 0 cycles and 1 ages"
        );
        assert_eq!(
            wrong(&[0.0], &[0.0, 1.0], &[0.1]),
            "1 rates; expected one for each of 1 cycles and 2 ages"
        );
        assert_eq!(
            wrong(&[0.0, 0.0], &[-1.0, f64::NAN], &[0.1, 0.2, 0.05, f64::NAN]),
            "cycles must be ascending, from 0 or more: index 1 is 0; \
             ages must be ascending, from 0 or more: index 0 is -1; \
             ages must be ascending, from 0 or more: index 1 is NaN; \
             a rate must not fall with wear or age: it falls at cycles 1, age 0; \
             a rate must be above 0 and below 0.5: NaN at cycles 1, age 1"
        );
        let rate = "a rate must be above 0 and below 0.5: ";
        assert!(wrong(&[0.0], &[0.0], &[0.5]).starts_with(&format!("{rate}0.5")));
        assert!(wrong(&[0.0], &[0.0], &[0.0]).starts_with(&format!("{rate}0")));
    }

    #[test]
    fn there_is_one_table_for_each_setting() {
        let nominal = Setting { scale: 1.0, step: 0.25 };
        let boosted = Setting { scale: 1.2, ..nominal };
        let new = |tables| Tabled::new(Parameters::default(), tables);
        assert_eq!(new(Vec::new()), Err(TableError::Settings));
        assert_eq!(new(vec![(nominal, table()), (nominal, table())]), Err(TableError::Settings));
        let tables = new(vec![(nominal, table())]).unwrap();
        assert!(tables.covers(nominal) && !tables.covers(boosted));
        // Read disturb is added: 1e-9 per read at 2,000 cycles.
        let (quiet, read) = (0, 100_000);
        let rber = |reads| tables.rber(2000.0, Span::ZERO, reads, nominal);
        assert!((rber(read) - rber(quiet) - 1e-4).abs() < 1e-12);
    }
}
