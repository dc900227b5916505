//! The error rate of a drive's cells, the controller's knowledge of it, and the resulting cost of
//! reads and programs. The curves are in [`fowler_physics`]; this module applies them to a drive.

use crate::cells::program_mode::{Mode, Step, Voltage};
use crate::config::Config;
pub use crate::config::reliability::{
    ModelKind, NoModel, Params, RateTable, References, RetryCost, StrengthSource,
};
use fowler_nand::{PerPageType, Timing};
use fowler_physics::ispp;
use fowler_physics::ldpc::{Ldpc, Level};
use fowler_physics::rates::{AgeColumn, Rates};
use fowler_physics::rber::Reliability;
use fowler_physics::strength::Strengths;
use fowler_physics::thresholds::{Grid, Lasting, Read, Thresholds};
use fowler_physics::voltage::{ByVoltage, SCALES};
use fowler_physics::vth::Setting;
use fowler_units::Span;

/// The strength class of a block: the rate at which it is believed to accumulate errors, as one of
/// [`CLASSES`] classes, the strongest first.
pub type StrengthClass = u8;

/// The number of strength classes, all equally probable.
pub const CLASSES: usize = 16;

/// The coarsest ISPP step at which a block's data can be read at the end of its life, by the
/// voltages of its pages and its strength class. Lower voltages lie closer together and leave less
/// margin for the spread that a coarse step causes. See docs/decisions/cells.md, "How coarse a step
/// do other voltages allow?".
pub type Coarsest = ByVoltage<[Step; CLASSES]>;

/// The largest ISPP step as a multiple of the nominal one: coarser steps gain nothing.
const WIDEST: u32 = 2;
/// Maximum number of ISPP step sizes that a drive can choose from.
const RUNGS_MAX: u32 = 16;

/// Numbers of ISPP iterations of a program at each selectable step size, from the nominal size up.
/// Each larger size takes one iteration less for the slowest page type, and proportionally fewer
/// for the others: time is inverse to the step size (RHIO, an I/O scheduler, section II-A).
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    iterations: Vec<PerPageType<u32>>,
    /// Size of each ISPP step relative to the nominal one.
    ratios: Vec<f64>,
}

impl Ladder {
    /// Returns the ISPP steps of a drive that programs at the nominal step only.
    pub fn nominal(timing: &Timing) -> Ladder {
        Ladder { iterations: vec![timing.program_iterations], ratios: vec![1.0] }
    }

    /// Returns the ISPP steps at which a drive with this configuration can program while the
    /// reliability of the data is known: only the nominal step if error rates come from a table, or
    /// if voltages alone determine the sensing level of a read. See docs/decisions/cells.md, "Which
    /// steps does a drive with an error table have?".
    pub fn of(config: &Config) -> Ladder {
        let timing = config.effective_timing();
        match config.reliability.model {
            ModelKind::Off | ModelKind::Table | ModelKind::ByVoltage => Ladder::nominal(&timing),
            ModelKind::Analytic => Ladder::new(&timing),
        }
    }

    /// Returns all ISPP steps from the nominal one up to `WIDEST` times the nominal one.
    pub fn new(timing: &Timing) -> Ladder {
        let nominal = timing.program_iterations;
        let most = nominal.values().iter().copied().max().unwrap_or(1);
        let rungs = (most - most.div_ceil(WIDEST) + 1).min(RUNGS_MAX);
        let left = (0..rungs).map(|rung| most - rung);
        Ladder {
            iterations: left
                .clone()
                .map(|left| {
                    nominal.map(|iterations| {
                        (u64::from(iterations) * u64::from(left)).div_ceil(u64::from(most)) as u32
                    })
                })
                .collect(),
            ratios: left.map(|left| f64::from(most) / f64::from(left)).collect(),
        }
    }

    /// Returns true if the drive can program at ISPP steps other than the nominal one.
    #[inline]
    pub fn has_rungs(&self) -> bool {
        self.iterations.len() > 1
    }

    /// Returns the number of ISPP iterations that program the page at `offset` in its block.
    #[inline]
    pub fn iterations(&self, step: Step, offset: u32) -> u32 {
        self.iterations[usize::from(step.0)].at(offset)
    }

    /// Returns the sizes of all ISPP steps in volts, for a nominal size in volts.
    pub fn volts(&self, nominal: f64) -> Vec<f64> {
        self.ratios.iter().map(|ratio| nominal * ratio).collect()
    }
}

/// The time to sense and transfer at each level. The nominal times are those of hard decision; the
/// others follow from the numbers of reference voltages and bits ([`fowler_physics::ldpc`]).
#[derive(Clone, Debug, PartialEq)]
pub struct LevelTimes {
    /// Times of sensing (per page type) and of transfer at each level; those of hard decision for
    /// levels that do not exist. The length is a power of two, so that reads need no bounds check.
    times: [(PerPageType<Span>, Span); LEVELS_MAX + 1],
    /// Additional time to sense and transfer a page at each sensing level, compared with a
    /// hard-decision read, for pages of the first type (such as lower pages).
    beyond_hard: [Span; LEVELS_MAX + 1],
    /// True if all page types have the same sensing time, so that the additional times of
    /// soft-decision reads apply to every page and not only to those of the first type.
    alike: bool,
    levels: u8,
}

/// Maximum number of sensing levels that an error correction code (LDPC) supports.
const LEVELS_MAX: usize = 3;
const _: () = assert!((LEVELS_MAX + 1).is_power_of_two());

impl LevelTimes {
    /// Returns the sensing and transfer times of a drive.
    pub fn of_drive(config: &Config) -> LevelTimes {
        let timing = config.read_timing();
        match config.reliability.model {
            ModelKind::Off => LevelTimes::nominal(&timing),
            _ => LevelTimes::new(&timing, &config.reliability.ldpc()),
        }
    }

    /// Returns the sensing and transfer times of a drive that reads with hard decision alone.
    pub fn nominal(timing: &Timing) -> LevelTimes {
        LevelTimes {
            times: [(timing.read, timing.bus_transfer); LEVELS_MAX + 1],
            beyond_hard: [Span::ZERO; LEVELS_MAX + 1],
            alike: timing.read.values().len() == 1,
            levels: 1,
        }
    }

    /// Returns the times to sense and to transfer a page at every sensing level of the LDPC code.
    ///
    /// # Panics
    /// If `ldpc` has more levels than a drive may have.
    pub fn new(timing: &Timing, ldpc: &Ldpc) -> LevelTimes {
        let levels = ldpc.levels();
        assert!(levels.len() <= LEVELS_MAX, "{} levels", levels.len());
        let references = |level: &Level| u64::from(level.references);
        let bits = |level: &Level| u64::from(u32::BITS - level.references.leading_zeros());
        let hard = &levels[0];
        let mut level_times =
            LevelTimes { levels: levels.len() as u8, ..LevelTimes::nominal(timing) };
        for (place, level) in level_times.times.iter_mut().zip(levels).skip(1) {
            let read = timing.read.map(|read| Span(read.0 * references(level) / references(hard)));
            *place = (read, Span(timing.bus_transfer.0 * bits(level) / bits(hard)));
        }
        let took = |level: u8| level_times.sense(level, 0) + level_times.transfer(level);
        let beyond = (0..level_times.levels).map(|level| took(level) - took(0)).collect::<Vec<_>>();
        level_times.beyond_hard[..beyond.len()].copy_from_slice(&beyond);
        level_times
    }

    #[inline]
    fn of(&self, level: u8) -> &(PerPageType<Span>, Span) {
        debug_assert!(level < self.levels, "level {level} of {}", self.levels);
        &self.times[usize::from(level)]
    }

    /// Returns the time to sense the page at `offset` in its block.
    #[inline]
    pub fn sense(&self, level: u8, offset: u32) -> Span {
        self.of(level).0.at(offset)
    }

    /// Returns the time to transfer a page sensed at a level.
    #[inline]
    pub fn transfer(&self, level: u8) -> Span {
        self.of(level).1
    }

    /// Returns the times to sense and transfer a page. `offset` is called only if page types
    /// differ.
    #[inline]
    pub fn sense_and_transfer(&self, level: u8, offset: impl FnOnce() -> u32) -> (Span, Span) {
        let (sense, transfer) = self.of(level);
        (sense.of(offset), *transfer)
    }

    /// Returns the times by which sensing and transfer at a sensing level exceed those at the
    /// previous level, for the reference voltages and the transferred bits that the level adds.
    pub fn beyond_last(&self, level: u8, offset: u32) -> (Span, Span) {
        let sense = self.sense(level, offset) - self.sense(level - 1, offset);
        (sense, self.transfer(level) - self.transfer(level - 1))
    }

    /// Returns the additional time to sense and transfer a page at a sensing level, compared with a
    /// hard-decision read; `None` if it differs between page types.
    #[inline]
    pub fn beyond_hard(&self, level: u8) -> Option<Span> {
        self.alike.then(|| self.beyond_hard[usize::from(level) % self.beyond_hard.len()])
    }

    /// Returns the number of sensing levels.
    pub fn count(&self) -> u8 {
        self.levels
    }
}

/// Cells of a drive: the model of their bit errors, the distribution of block strengths (how slowly
/// errors grow with wear), and the error rates that the error correction code still corrects.
#[derive(Clone, Debug)]
pub struct Cells {
    model: Reliability,
    /// Table of the error thresholds at which each sensing level stops sufficing.
    thresholds: Thresholds,
    /// For each strength class, the rate at which bit errors of its weakest blocks grow with wear,
    /// relative to the mean of all blocks.
    pub growth: [f64; CLASSES],
    /// The coarsest ISPP step that a block tolerates, by voltages and strength class.
    pub coarsest: Coarsest,
    /// Sensing level at which the weakest block can be read at the end of its life if programmed at
    /// the nominal step.
    pub worst_level: u8,
    /// Distribution of the rates at which bit errors of blocks grow with wear.
    pub strengths: Strengths,
    /// Bit error rates by voltage and step, and the number of ISPP steps.
    steps: usize,
    rates: Vec<Rates>,
    /// Highest bit error rate that the code corrects.
    correctable: f64,
    kind: ModelKind,
}

impl Cells {
    /// Creates the cells of a drive whose configuration models errors. No page is programmed at
    /// voltages below `lowest`.
    ///
    /// # Errors
    /// The reason why the cells cannot be modeled.
    ///
    /// # Panics
    /// If the model does not cover a step of the ladder.
    pub fn new(config: &Config, ladder: &Ladder, lowest: Voltage) -> Result<Cells, NoModel> {
        let params = &config.reliability;
        let (model, ldpc, end) = (config.cell_model()?, params.ldpc(), params.end());
        let strengths = Strengths::new(&params.cells);
        let weak_end = |class: usize| strengths.strength_at((class + 1) as f64 / CLASSES as f64);
        let rates: [f64; CLASSES] = std::array::from_fn(weak_end);
        let volts = ladder.volts(model.parameters().step);
        assert!(volts.iter().all(|&step| model.covers(Setting { scale: 1.0, step })));
        let rung = |growth: f64, scale: f64| {
            if !ladder.has_rungs() {
                return Step::NOMINAL;
            }
            let step = ispp::coarsest_step(&model, (growth, scale), &end, &ldpc, &volts);
            let rung = volts.iter().rposition(|&volts| volts <= step);
            Step(rung.unwrap_or(0) as u8)
        };
        let weakest = rates[CLASSES - 1] / strengths.mean;
        // A margin of a tenth, for blocks that pass their end of life during the run.
        let cycles = weakest * 1.1 * end.cycles.max(f64::from(params.cycles));
        let grid = Grid::new(SCALES.to_vec(), volts.clone(), cycles);
        let thresholds = Thresholds::new(model.clone(), ldpc.clone(), grid);
        let worst = model.block(weakest * end.cycles);
        let nominal = Setting { scale: lowest.scale(), step: volts[0] };
        let worst_level = ldpc.needed(worst.rber(end.age, end.reads, nominal));
        Ok(Cells {
            thresholds,
            growth: rates.map(|rate| rate / strengths.mean),
            coarsest: ByVoltage::from_fn(|voltage| rates.map(|rate| rung(rate, voltage.scale()))),
            worst_level: match params.model {
                ModelKind::ByVoltage => lowest as u8,
                ModelKind::Off | ModelKind::Analytic | ModelKind::Table => {
                    worst_level.unwrap_or(ldpc.levels().len() - 1) as u8
                }
            },
            strengths,
            kind: params.model,
            rates: SCALES
                .iter()
                .flat_map(|&scale| volts.iter().map(move |&step| Setting { scale, step }))
                .map(|setting| Rates::new(setting, cycles))
                .collect(),
            steps: volts.len(),
            correctable: ldpc.correctable(),
            model,
        })
    }

    /// Returns the rate at which bit errors of the weakest block grow with wear, relative to the
    /// mean of all blocks.
    pub fn weakest(&self) -> f64 {
        self.growth[CLASSES - 1]
    }

    /// Returns the sensing level that a read needs, if any suffices, and for how long that holds.
    pub fn lasting(&mut self, read: &Read) -> Lasting {
        match self.kind {
            ModelKind::ByVoltage => {
                let level = Some(read.scale as u8);
                Lasting { level, age: Span(u64::MAX), reads: u32::MAX }
            }
            ModelKind::Off | ModelKind::Analytic | ModelKind::Table => {
                self.thresholds.lasting(read)
            }
        }
    }

    /// Returns the bit error rate of a page, accurate to 2 %.
    pub fn rber(&mut self, cycles: f64, age: AgeColumn, reads: u32, mode: Mode) -> f64 {
        let setting = mode.voltage as usize * self.steps + usize::from(mode.step.0);
        self.rates[setting].rber(&self.model, cycles, age, reads)
    }

    /// Returns the bit errors of a page as a share of the errors that the error-correcting code
    /// corrects at its highest sensing level, accurate to 2 %; zero for the error model in which
    /// the program voltages alone determine the sensing level.
    pub fn errors(&mut self, cycles: f64, age: Span, reads: u32, mode: Mode) -> f64 {
        match self.kind {
            ModelKind::ByVoltage => 0.0,
            ModelKind::Off | ModelKind::Analytic | ModelKind::Table => {
                self.rber(cycles, AgeColumn::of(age), reads, mode) / self.correctable
            }
        }
    }

    /// Returns the strength class of a block whose bit errors grow with wear at `growth` times the
    /// mean rate of all blocks.
    pub fn class_of(&self, growth: f64) -> StrengthClass {
        let share = self.strengths.share_below(growth * self.strengths.mean);
        ((share * CLASSES as f64) as usize).min(CLASSES - 1) as StrengthClass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::shaped;
    use fowler_units::{Bytes, Geometry};

    fn config() -> Config {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 16,
            pages_per_block: 16,
            page_size: Bytes(4096),
        };
        let mut config = shaped(geometry);
        config.reliability.model = ModelKind::Analytic;
        config.reliability.cells.end_cycles = 1500.0;
        config
    }

    /// Whatever voltages and step a block is opened with, its data can be read at the end of its
    /// life, unless even the nominal step does not allow that.
    #[test]
    fn no_step_is_coarser_than_the_voltages_bear() {
        let config = config();
        let ladder = Ladder::of(&config);
        let cells = Cells::new(&config, &ladder, Voltage::Reduced).unwrap();
        let (end, ldpc) = (config.reliability.end(), config.reliability.ldpc());
        let volts = ladder.volts(config.reliability.cells.step);
        let mut coarse = [0; 3];
        for voltage in Voltage::ALL {
            for (class, &step) in cells.coarsest[voltage].iter().enumerate() {
                let scale = voltage.scale();
                let setting = Setting { scale, step: volts[usize::from(step.0)] };
                let block = cells.model.block(cells.growth[class] * end.cycles);
                let readable = ldpc.needed(block.rber(end.age, end.reads, setting)).is_some();
                assert!(readable || step == Step::NOMINAL, "{voltage:?}, class {class}");
                coarse[voltage as usize] += u32::from(step.0);
            }
        }
        assert!(coarse[0] > coarse[1] && coarse[1] > coarse[2], "{coarse:?}");
    }

    #[test]
    fn where_voltages_alone_say_how_a_page_is_read_there_is_one_step() {
        let mut config = config();
        assert!(Ladder::of(&config).has_rungs());
        config.reliability.model = ModelKind::ByVoltage;
        assert!(!Ladder::of(&config).has_rungs());
    }
}
