//! The ISPP step and the voltages at which each superblock is programmed, and its strength.
//!
//! A die programs a word line of all its planes at once, so its part of a superblock has one step:
//! the coarsest that the weakest of its blocks there tolerates. Data may lie anywhere in a
//! superblock, so a superblock is as strong as its weakest block. Cells in SLC mode are always
//! programmed at the nominal step and voltages.
//!
//! Invariant: the modes of a superblock are chosen when it is opened, and hold until it is opened
//! again; the parts of one superblock share their voltages.

use super::map::Map;
use super::shape::Shape;
use super::streams::Streams;
use crate::cells::program_mode::{Mode, Step};
use crate::cells::reliability::{Coarsest, ModelKind, StrengthClass};
use crate::config::Config;
use crate::flash::Flash;
use crate::policy::step::{AnyStep, StepRule};
use crate::policy::stream_tag::StreamTag;
use crate::policy::voltage::{AnyVoltage, VoltageRule};
use crate::precondition::initial_cell_state::{BlockHistory, wear_blocks};
use fowler_units::{BlockId, Bytes, DieId, Id, IdVec, RuId};

/// The ISPP step and voltages at which each superblock is programmed, and the strength of its
/// blocks, on a drive with bit errors by sensing level.
#[derive(Clone, Debug)]
pub(super) struct Modes {
    step: AnyStep,
    voltage: AnyVoltage,
    coarsest: Coarsest,
    dies: usize,
    /// Strength class of the weakest block of each superblock on each die, superblock by
    /// superblock; 0 is the strongest class.
    parts: Vec<StrengthClass>,
    /// Strength class of the weakest block of each superblock; 0 is the strongest class.
    weakest: IdVec<RuId, StrengthClass>,
    /// ISPP step and voltages at which each die programs its part of each superblock, superblock by
    /// superblock.
    modes: Vec<Mode>,
}

impl Modes {
    /// Gives the cells of a drive bit errors, if an error model is configured. Returns the program
    /// modes of all superblocks: data that the drive holds already was programmed with the nominal
    /// ISPP step, at the voltages for its hotness. `None` without an error model.
    pub fn new(
        config: &Config,
        shape: &Shape,
        (map, streams): (&Map, &Streams),
        flash: &mut Flash,
    ) -> Option<Modes> {
        if config.reliability.model == ModelKind::Off {
            return None;
        }
        let geometry = Shape::geometry_of(config);
        let (step, voltage) = (
            AnyStep::new(&config.step, config.seed),
            AnyVoltage::new(&config.voltage, config.seed),
        );
        let mode = |superblock: RuId| {
            Mode::new(Step::NOMINAL, voltage.voltage(streams.tag_of(superblock)))
        };
        let blocks = map.blocks();
        let history = |block: BlockId| {
            let superblock = BlockId(block.0 % geometry.blocks_per_plane);
            BlockHistory {
                erases: blocks.erase_counts()[superblock.index()],
                erased: blocks.written(superblock) == 0,
                fill_order: blocks.fill_order(superblock),
                voltage: mode(RuId(superblock.0)).voltage,
            }
        };
        let strengths = wear_blocks(flash, config, &geometry, blocks.filled(), history);
        let dies = shape.dies as usize;
        let count = shape.superblocks as usize * dies;
        let of = |at: usize| {
            let (superblock, die) = (RuId::new(at / dies), DieId::new(at % dies));
            let blocks = shape.blocks_on(superblock, die);
            blocks.map(|block| strengths.believed[block]).max().expect("a die has a plane")
        };
        let parts: Vec<StrengthClass> = (0..count).map(of).collect();
        let modes = (0..count).map(|at| mode(RuId::new(at / dies))).collect();
        Some(Modes {
            step,
            voltage,
            coarsest: strengths.coarsest,
            dies,
            weakest: parts.chunks(dies).filter_map(|parts| parts.iter().copied().max()).collect(),
            parts,
            modes,
        })
    }

    /// Returns the memory that the program steps, voltages and strengths of superblocks take on the
    /// simulating machine.
    pub fn bytes(config: &Config, shape: &Shape) -> Bytes {
        if config.reliability.model == ModelKind::Off {
            return Bytes(0);
        }
        let count = u64::from(shape.superblocks) * u64::from(shape.dies);
        Bytes::of::<(Mode, StrengthClass)>(count)
            + Bytes::of::<StrengthClass>(shape.superblocks.into())
    }

    /// Sets the ISPP step and voltages of a superblock that is opened for data with a tag (hotness
    /// and placement handle).
    pub fn opened(&mut self, superblock: RuId, tag: StreamTag) {
        let voltage = self.voltage.voltage(tag);
        let first = superblock.index() * self.dies;
        for at in first..first + self.dies {
            let bears = self.coarsest[voltage][usize::from(self.parts[at])];
            self.modes[at] = Mode::new(self.step.step(tag, bears), voltage);
        }
    }

    /// Returns the coarsest ISPP step that blocks of a strength class tolerate at nominal voltages.
    #[cfg(test)]
    pub fn bears(&self, class: StrengthClass) -> Step {
        self.coarsest[crate::Voltage::Nominal][usize::from(class)]
    }

    /// Returns the strength class of the weakest block of a superblock; 0 is the strongest class.
    pub fn weakest(&self, superblock: RuId) -> StrengthClass {
        self.weakest[superblock]
    }

    /// Returns true if blocks of a strength class (a range of error rates, class 0 the lowest)
    /// tolerate the ISPP step of a program mode at the voltages of that mode.
    pub fn bears_mode(&self, class: StrengthClass, mode: Mode) -> bool {
        mode.step <= self.coarsest[mode.voltage][usize::from(class)]
    }

    /// Returns the ISPP step and voltages at which a die programs its part of a superblock.
    pub fn of(&self, superblock: RuId, die: DieId) -> Mode {
        self.modes[superblock.index() * self.dies + die.index()]
    }
}
