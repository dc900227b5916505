//! The configuration of the cells: the model of bit errors, and its constants.

use super::Config;
use fowler_physics::ispp::EndOfLife;
use fowler_physics::ldpc::{Ldpc, Level};
use fowler_physics::multibit::GrayCode;
pub use fowler_physics::multibit::References;
use fowler_physics::parameters::Parameters;
use fowler_physics::rber::{self, Analytic, ModelError, Reliability};
use fowler_physics::table::{Table, TableError, Tabled};
use fowler_physics::vth::Setting;
use fowler_units::Span;

/// Parameters of the reliability of a drive's cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Model of bit errors; `Off` for cells without errors.
    pub model: ModelKind,
    /// Measured bit error rates for [`ModelKind::Table`].
    pub table: RateTable,
    /// Physical constants of the cells. The operating times are those of the drive
    /// ([`crate::Config::timing`]).
    pub cells: Parameters,
    /// Data age to which the controller adapts its read reference voltages: zero, or the age of the
    /// data read ([`ModelKind::Analytic`] on a drive with superblocks).
    pub references: References,
    /// Number of sensing levels that the error correction code supports: 1 to 3.
    pub levels: u32,
    /// Rule for the time of a read retry at the next sensing level: that of the whole level, or
    /// only of the part that the level adds to the previous one.
    pub retry: RetryCost,
    /// P/E cycles that every block has behind it before preconditioning.
    pub cycles: u32,
    /// Maximum of the additional P/E cycles that each block draws at random. They raise the bit
    /// error rate of the block, and count as its wear where RAID stripes are chosen by the wear of
    /// blocks.
    pub cycles_spread: u32,
    /// Uncorrectable errors per bit read, whatever the age and wear of the page: 0 (none) to 1e-6.
    /// A page, or a mapping unit on drives with superblocks, that such an error strikes
    /// cannot be read any more.
    pub uber: f64,
    /// The age, at the first request, of what preconditioning wrote first. Ages fall evenly to
    /// zero in the order in which preconditioning filled blocks, those included that it has
    /// written anew since: the oldest data of a drive in steady state is younger. With the model of
    /// read retries (`aging.coding`), the oldest superblock has this age.
    pub oldest: Span,
    /// Source from which the controller knows the strength of a block.
    pub strength: StrengthSource,
    /// Period in which the strength of every block is measured once, if the controller learns
    /// strengths by measurement (`reliability.strength = "measured"` only).
    pub measure_every: Span,
    /// Maximum probability, in (0, 1), that a block is weaker than the strength class it is
    /// assigned to (`measured` only). A block assigned too strong a class may lose data.
    pub risk: f64,
}

/// The cost of a read retry at the next sensing level. See docs/decisions/cells.md, "What does a
/// retry cost?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryCost {
    /// The retry senses every reference voltage of its level and transfers every bit.
    Whole,
    /// The retry senses and transfers only the part of its level that goes beyond the previous one
    /// (progressive sensing: Zhao et al., "LDPC-in-SSD", FAST 2013, RHIO's reference 9).
    Increment,
}

/// Model from which bit errors of pages follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Cells without errors: a read takes its nominal time.
    Off,
    /// Errors are computed from threshold voltages: of two-bit cells or, on a drive with
    /// superblocks, of cells with as many bits as a word line has pages.
    Analytic,
    /// Programming voltages alone decide: boosted, nominal and reduced cells are read at the first,
    /// second and third level, whatever their age and wear (HIRE, Table 1).
    ByVoltage,
    /// Errors are interpolated in a table of measurements of pages programmed at the nominal step.
    Table,
}

/// Measured bit error rates of an average block ([`fowler_physics::table`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RateTable {
    /// P/E cycles of the rows of the error table, ascending.
    pub cycles: Vec<f64>,
    /// Retention ages of the columns of the error table, ascending.
    pub ages: Vec<Span>,
    /// Bit error rates: one row per entry of `cycles`, with one rate per entry of `ages`.
    pub rates: Vec<Vec<f64>>,
}

/// The reason why no error model could be built.
#[derive(Clone, Debug, PartialEq)]
pub enum NoModel {
    /// The physical constants of the cells are invalid, for this reason.
    Cells(ModelError),
    /// In the error table, the number of rows differs from the number of cycles, or a row's length
    /// from the number of ages.
    Shape,
    /// The error table is invalid: all of its problems.
    Table(Vec<TableError>),
}

/// The source from which the controller knows the strength of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrengthSource {
    /// The controller knows the true strength of every block, which no real controller does.
    Oracle,
    /// The controller measures the errors corrected in pages that it reads in idle time (RHIO,
    /// section II-B).
    Measured,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            model: ModelKind::Off,
            table: RateTable::default(),
            cells: Parameters::default(),
            references: References::Fixed,
            levels: 3,
            retry: RetryCost::Whole,
            cycles: 0,
            cycles_spread: 0,
            uber: 0.0,
            oldest: Span::ZERO,
            strength: StrengthSource::Oracle,
            measure_every: Span(86_400_000_000_000),
            risk: 0.05,
        }
    }
}

impl Params {
    /// Returns the end of life (P/E cycles, age and reads) for which blocks are specified.
    pub fn end(&self) -> EndOfLife {
        EndOfLife::new(&self.cells)
    }

    /// Returns the error model; the analytic one if none is selected.
    ///
    /// # Errors
    /// The reason why there is no model: all problems of the table, or the first problem of the
    /// constants.
    pub fn model(&self) -> Result<Reliability, NoModel> {
        if self.model != ModelKind::Table {
            return Analytic::new(self.cells).map(Reliability::Analytic).map_err(NoModel::Cells);
        }
        rber::sound(&self.cells).map_err(NoModel::Cells)?;
        let nominal = Setting { scale: 1.0, step: self.cells.step };
        let tabled = Tabled::new(self.cells, vec![(nominal, self.table.table()?)]);
        Ok(Reliability::Tabled(tabled.expect("one table per setting")))
    }

    /// Returns the error-correcting code, with the sensing levels that the drive supports.
    pub fn ldpc(&self) -> Ldpc {
        let all = Ldpc::hire(&self.cells).expect("the levels were checked before");
        let levels: Vec<Level> = all.levels()[..self.levels as usize].to_vec();
        let Parameters { sense_us, transfer_us, .. } = self.cells;
        let us = |us: f64| Span((us * 1e3).round() as u64);
        Ldpc::new(levels, us(sense_us), us(transfer_us)).expect("a prefix of valid levels")
    }
}

impl Config {
    /// Returns the error model of the drive's cells; the analytic one if none is selected. Word
    /// lines that are programmed as a whole have cells with as many bits as they have pages; other
    /// cells have two.
    ///
    /// # Errors
    /// The reason why there is no model: all problems of the table, or the first problem of the
    /// constants.
    pub fn cell_model(&self) -> Result<Reliability, NoModel> {
        let word_lines = self.ftl.has_superblocks();
        if self.reliability.model == ModelKind::Analytic && word_lines {
            let cells = self.cells_of_word_lines(GrayCode::Balanced);
            let references = self.reliability.references;
            let model = |cells| Reliability::WordLines(cells, references);
            return cells.map(model).map_err(NoModel::Cells);
        }
        self.reliability.model()
    }
}

impl RateTable {
    fn table(&self) -> Result<Table, NoModel> {
        let RateTable { cycles, ages, rates } = self;
        if rates.len() != cycles.len() || rates.iter().any(|row| row.len() != ages.len()) {
            return Err(NoModel::Shape);
        }
        let ages: Vec<f64> = ages.iter().map(|age| age.as_s()).collect();
        Table::new(cycles, &ages, &rates.concat()).map_err(NoModel::Table)
    }
}
