//! The cells of a drive at time zero: strength and history of each block, and the age of its data.

use crate::blocks::block_table::BlockState;
use crate::cells::condition::{BlockCondition, Condition, Curves, Known, Wear};
use crate::cells::program_mode::{Mode, Step, Voltage};
use crate::cells::reliability::StrengthClass;
use crate::cells::reliability::{CLASSES, Cells, Coarsest, ModelKind, StrengthSource};
use crate::config::Config;
use crate::core::Core;
use crate::flash::Flash;
use crate::gc::Gc;
use crate::gc::strength_measurement::StrengthMeasurement;
use crate::policy::sensing::AnySensing;
use crate::policy::stream_tag::AccessClass;
use crate::policy::voltage::lowest;
use crate::precondition::Watch;
use fowler_units::{BlockId, Geometry, Id, IdVec, Ppn, Rng, Span};

/// Number of intervals in the table of the inverse distribution of the rates at which blocks' bit
/// errors grow with wear. It is interpolated linearly: drawing 131,072 blocks takes hardly any
/// time.
const INTERVALS: usize = 1024;

/// Number of the strength class of the weakest blocks, whose bit errors grow fastest with wear.
const WEAKEST: StrengthClass = (CLASSES - 1) as StrengthClass;

impl Config {
    /// Returns the P/E cycles that each block has behind it before preconditioning: those of the
    /// configuration, plus a random number up to its spread. They determine bit errors, and which
    /// blocks count as worn.
    pub(crate) fn initial_cycles(&self, blocks: u32) -> IdVec<BlockId, u32> {
        let mut rng = Rng::stream(self.seed, "reliability/cycles");
        let reliability = &self.reliability;
        let more = u64::from(reliability.cycles_spread) + 1;
        (0..blocks).map(|_| reliability.cycles + rng.below(more) as u32).collect()
    }
}

/// Makes reads of the drive depend on the condition of its cells from now on, if errors are
/// modeled. The drive is unusable if `watch` stopped this function.
pub(crate) fn wear(
    core: &mut Core,
    gc: &mut Gc,
    flash: &mut Flash,
    config: &Config,
    watch: Watch<'_>,
) {
    if config.reliability.model == ModelKind::Off {
        return;
    }
    class_blocks(core, config.precondition.access_class);
    let (geometry, blocks) = (&core.layout.geometry, &core.allocator.blocks);
    let history = |block: BlockId| BlockHistory {
        erases: blocks.erase_counts()[block.index()],
        erased: blocks.written(block) == 0,
        fill_order: blocks.fill_order(block),
        voltage: core.allocator.open_blocks.mode_of(block).voltage,
    };
    let strengths = wear_blocks(flash, config, geometry, blocks.filled(), history);
    core.allocator.open_blocks.believe(strengths.believed, strengths.coarsest);
    if config.reliability.strength == StrengthSource::Measured {
        let geometry = &core.layout.geometry;
        gc.strengths = Some(StrengthMeasurement::new(&config.reliability, geometry, config.seed));
        gc.measure_all(core, flash, || !watch.stopped());
    }
}

/// Sets the access class of the data in full blocks, if the drive distinguishes classes. Open
/// blocks take more data, whose class is unknown.
fn class_blocks(core: &mut Core, class: AccessClass) {
    if class == AccessClass::Mixed || !core.classes.hotness.tells_classes() {
        return;
    }
    for block in (0..core.layout.geometry.blocks()).map(BlockId) {
        if core.allocator.blocks.state(block) == BlockState::Full {
            core.allocator.open_blocks.used_as(block, class);
        }
    }
}

/// The history of a block before the first request.
pub(crate) struct BlockHistory {
    /// Number of erases of the block on the simulated drive, besides the P/E cycles that the
    /// configuration puts behind it before preconditioning.
    pub erases: u32,
    /// True if the block is erased before the first request, so that it holds no data.
    pub erased: bool,
    /// Place of the block in the order in which blocks became full; `None` if it is not full.
    pub fill_order: Option<u64>,
    /// Voltages at which the pages of the block were programmed.
    pub voltage: Voltage,
}

/// The controller's estimates of the strength of all blocks.
pub(crate) struct BlockStrengths {
    /// Estimated strength class of each block.
    pub believed: IdVec<BlockId, StrengthClass>,
    /// Coarsest ISPP step that a block of each strength class tolerates, by voltages.
    pub coarsest: Coarsest,
}

/// Makes reads of a flash array depend on the condition of its cells from now on. `filled` is the
/// number of times that any block has become full.
pub(crate) fn wear_blocks(
    flash: &mut Flash,
    config: &Config,
    geometry: &Geometry,
    filled: u64,
    history: impl Fn(BlockId) -> BlockHistory,
) -> BlockStrengths {
    let lowest = lowest(&config.voltage, config.seed);
    let cells = Cells::new(config, flash.ladder(), lowest).expect("the model was checked before");
    let coarsest = cells.coarsest;
    flash.read_unknown_at(cells.worst_level);
    let oldest = config.reliability.oldest;
    let stamps = stamps(geometry, oldest, filled, &history);
    let blocks = worn_blocks(geometry, &cells, config, &stamps, &history);
    let known = config.reliability.strength == StrengthSource::Oracle;
    let believed = blocks
        .as_slice()
        .iter()
        .map(|condition| if known { cells.class_of(condition.growth.into()) } else { WEAKEST })
        .collect();
    let sensing = AnySensing::new(&config.sensing, config.seed);
    let (known, end) = (config.sensing, config.reliability.end());
    let curves = Curves { cells, known, end, lowest };
    let levels = config.reliability.levels as u8;
    let by_age = config.die_order.ranks();
    flash.wear(Condition::new(curves, (sensing, levels), blocks, (stamps, oldest), by_age));
    BlockStrengths { believed, coarsest }
}

fn worn_blocks(
    geometry: &Geometry,
    cells: &Cells,
    config: &Config,
    stamps: &IdVec<Ppn, u32>,
    history: impl Fn(BlockId) -> BlockHistory,
) -> IdVec<BlockId, BlockCondition> {
    let mut rng = Rng::stream(config.seed, "reliability/strength");
    let ends: Vec<f64> = (0..=INTERVALS)
        .map(|at| cells.strengths.strength_at(at as f64 / INTERVALS as f64))
        .map(|rate| rate / cells.strengths.mean)
        .collect();
    let known = config.reliability.strength == StrengthSource::Oracle;
    let mut draw = || {
        let at = rng.unit() * INTERVALS as f64;
        let (low, high) = (ends[at as usize], ends[at as usize + 1]);
        low + (high - low) * at.fract()
    };
    let before = config.initial_cycles(geometry.blocks());
    (0..geometry.blocks())
        .map(BlockId)
        .map(|block| {
            let BlockHistory { erases, erased, voltage, .. } = history(block);
            // All pages of a block have the same age; an erased block has none.
            let stamp = stamps[geometry.first_page(block)];
            let growth = draw() as f32;
            BlockCondition {
                growth,
                // If strengths are unknown, every block is assumed the weakest until measured.
                believed: if known { growth } else { cells.weakest() as f32 },
                wear: Wear::after(before[block] + erases),
                reads: 0,
                mode: Mode::new(Step::NOMINAL, voltage),
                first: if erased { u32::MAX } else { stamp },
                last: stamp,
                known: Known::default(),
            }
        })
        .collect()
}

/// Returns the program timestamps of all pages: data age follows the order in which blocks were
/// filled; blocks that are not full have just been written.
fn stamps(
    geometry: &Geometry,
    oldest: Span,
    filled: u64,
    history: impl Fn(BlockId) -> BlockHistory,
) -> IdVec<Ppn, u32> {
    let filled = filled.max(1);
    let mut stamps = IdVec::filled(0, geometry.pages() as usize);
    for block in (0..geometry.blocks()).map(BlockId) {
        let age = history(block).fill_order.map_or(Span::ZERO, |order| {
            let younger = u128::from(filled - order);
            Span((u128::from(oldest.0) * younger / u128::from(filled)) as u64)
        });
        let stamp = Condition::stamp_before(oldest, age);
        let first = geometry.first_page(block).index();
        stamps.as_mut_slice()[first..][..geometry.pages_per_block as usize].fill(stamp);
    }
    stamps
}

#[cfg(test)]
mod tests {
    use crate::cells::reliability::ModelKind;
    use crate::config::tests::shaped;
    use crate::event_loop::Device;
    use crate::policy::redundancy::RedundancyKind;
    use fowler_units::{BlockId, Bytes, Geometry};

    /// The bit errors of a block follow from the same P/E cycles by which it counts as worn, with
    /// and without stripes.
    #[test]
    fn cells_have_been_through_the_cycles_that_blocks_are_counted_by() {
        let mut config = shaped(Geometry {
            channels: 5,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 40,
            pages_per_block: 8,
            page_size: Bytes(4096),
        });
        config.over_provisioning = 0.4;
        config.reliability.model = ModelKind::Analytic;
        (config.reliability.cycles, config.reliability.cycles_spread) = (1000, 500);
        (config.redundancy.stripe, config.redundancy.worn_above) = (4, 1200);
        config.redundancy.parity_cache = Bytes(16 * 4096);
        let mut drawn = Vec::new();
        for kind in [RedundancyKind::Raid5, RedundancyKind::Unprotected] {
            config.redundancy.name = kind;
            let device = Device::new(&config).unwrap();
            let condition = device.flash.condition().expect("errors are modeled");
            let before = config.initial_cycles(200);
            for block in (0..200).map(BlockId) {
                let erases =
                    device.layer.ftl.core.allocator.blocks.erase_counts()[block.0 as usize];
                let cycles = condition.block(block).wear.cycles();
                assert_eq!(cycles, f64::from(before[block] + erases), "{kind:?}");
                if let Some(array) = device.layer.raid() {
                    let worn = cycles > 1200.0;
                    assert_eq!(array.is_worn(&device.layer.ftl.core, block), worn);
                }
            }
            drawn.push(before);
        }
        assert_eq!(drawn[0].as_slice(), drawn[1].as_slice());
        assert!(drawn[0].as_slice().iter().any(|&cycles| cycles > 1400));
    }
}
