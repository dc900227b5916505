//! The cells of a drive at time zero: how strong each block is, what it has been through, and how old its data
//! is.

use crate::config::Config;
use crate::flash::Flash;
use crate::flash::condition::{BlockCondition, Condition, Curves, Known};
use crate::frontier::StrengthClass;
use crate::ftl::Ftl;
use crate::measure::Measurer;
use crate::policy::sensing::AnySensing;
use crate::policy::voltage::{AnyVoltage, VoltageRule};
use crate::reliability::{CLASSES, Cells, ModelKind, StrengthSource};
use crate::tag::{Class, Mode, Step, Tag, Voltage};
use fowler_units::{BlockId, Id, IdVec, Ppn, Rng, Span};

/// The inverse distribution of growth rates is looked up in a table of so many intervals, between whose ends it is
/// taken to be straight: 131,072 blocks are drawn in no time.
const INTERVALS: usize = 1024;

/// The weakest class.
const WEAKEST: StrengthClass = (CLASSES - 1) as StrengthClass;

impl Ftl {
    /// Lets the cells of the drive err from now on, if they are modelled.
    pub(crate) fn wear(&mut self, flash: &mut Flash, config: &Config) {
        if config.reliability.model == ModelKind::Off {
            return;
        }
        let lowest = lowest(config);
        let cells = Cells::new(config, flash.ladder(), lowest).expect("refused otherwise");
        let classes = cells.coarsest;
        flash.read_unknown_at(cells.worst_level);
        let oldest = config.reliability.oldest;
        let stamps = self.stamps(oldest);
        let blocks = self.worn_blocks(&cells, config, &stamps);
        let told = config.reliability.strength == StrengthSource::Oracle;
        let believed = blocks
            .as_slice()
            .iter()
            .map(|its| if told { cells.class_of(its.growth.into()) } else { WEAKEST });
        self.space.frontiers.believe(believed.collect(), classes);
        let sensing = AnySensing::new(&config.sensing, config.seed);
        let (told, end) = (config.sensing, config.reliability.end());
        let curves = Curves { cells, told, end, lowest };
        let stamps = (stamps, oldest);
        let levels = config.reliability.levels as u8;
        let by_age = config.die_order.ranks();
        flash.wear(Condition::new(curves, (sensing, levels), blocks, stamps, by_age));
        if config.reliability.strength == StrengthSource::Measured {
            let geometry = &self.layout.geometry;
            self.measurer = Some(Measurer::new(&config.reliability, geometry, config.seed));
            self.measure_all(flash);
        }
    }

    fn worn_blocks(
        &self,
        cells: &Cells,
        config: &Config,
        stamps: &IdVec<Ppn, u32>,
    ) -> IdVec<BlockId, BlockCondition> {
        let mut rng = Rng::stream(config.seed, "reliability/strength");
        let ends: Vec<f64> = (0..=INTERVALS)
            .map(|at| cells.strengths.strength_at(at as f64 / INTERVALS as f64))
            .map(|rate| rate / cells.strengths.mean)
            .collect();
        let told = config.reliability.strength == StrengthSource::Oracle;
        let mut draw = || {
            let at = rng.unit() * INTERVALS as f64;
            let (low, high) = (ends[at as usize], ends[at as usize + 1]);
            low + (high - low) * at.fract()
        };
        // What lies there was programmed as data of which nothing is known.
        let rule = AnyVoltage::new(&config.voltage, config.seed);
        let mode = Mode { step: Step::NOMINAL, voltage: rule.voltage(Tag::PLAIN) };
        let erases = self.space.blocks.erase_counts().iter().enumerate();
        erases
            .map(|(block, &erases)| {
                let first_page = self.layout.geometry.first_page(BlockId::new(block));
                // The pages of a block are as old as each other; of an erased one there are none.
                let stamp = stamps[first_page];
                let erased = self.space.blocks.written(BlockId::new(block)) == 0;
                let first = if erased { u32::MAX } else { stamp };
                let growth = draw() as f32;
                let cycles = config.reliability.cycles + erases;
                BlockCondition {
                    growth,
                    // Who is not told takes every block for the weakest until it is measured.
                    believed: if told { growth } else { cells.weakest() as f32 },
                    cycles,
                    reads: 0,
                    mode,
                    first,
                    last: stamp,
                    known: Known::default(),
                }
            })
            .collect()
    }

    /// Data is as old as the order in which its blocks were filled says; in blocks that are not full it has just
    /// been written.
    fn stamps(&self, oldest: Span) -> IdVec<Ppn, u32> {
        let geometry = &self.layout.geometry;
        let blocks = &self.space.blocks;
        let filled = blocks.filled().max(1);
        let mut stamps = IdVec::filled(0, geometry.pages() as usize);
        for block in (0..geometry.blocks()).map(BlockId) {
            let age = blocks.fill_order(block).map_or(Span::ZERO, |order| {
                let younger = u128::from(filled - order);
                Span((u128::from(oldest.0) * younger / u128::from(filled)) as u64)
            });
            let stamp = Condition::stamp_before(oldest, age);
            let first = geometry.first_page(block).index();
            for page in first..first + geometry.pages_per_block as usize {
                stamps[Ppn::new(page)] = stamp;
            }
        }
        stamps
    }
}

/// The lowest voltages at which the rule of a configuration lets anything be programmed.
pub(crate) fn lowest(config: &Config) -> Voltage {
    let rule = AnyVoltage::new(&config.voltage, config.seed);
    let voltages = Class::ALL.map(|class| rule.voltage(Tag::new(false, class)));
    voltages.into_iter().max().expect("there are classes")
}
