//! Bit errors by sensing level, steps and voltages on a drive with superblocks: cases derived by
//! hand, to the nanosecond. On [`tiny`], a read senses for 40, 60 or 80 us by page type and
//! transfers each unit in 10 us; a command of six pages programs in 15 iterations of 44 us.

use super::cases::{UNIT, answer_to, drive, read, tiny};
use super::commands::Stream;
use crate::config::{Config, Pattern};
use crate::event_loop::{Device, Pacing};
use crate::observe::blame::Part;
use crate::observe::completion::Completion;
use crate::observe::operation::Source;
use crate::policy::hotness::Detector;
use crate::policy::placement::PlacementKind;
use crate::policy::sensing::SensingKind;
use crate::policy::step::StepKind;
use crate::policy::stream_tag::StreamTag;
use crate::policy::voltage::VoltageKind;
use crate::reliability::{ModelKind, References, RetryCost};
use crate::superblocks::Superblocks;
use fowler_nand::PerPageType;
use fowler_units::{BlockId, Bytes, DieId, HostIo, HostOp, Nanos, Rng, RuId, Span};

/// A drive that is full of data written in order, whose reads need the level of their voltages.
fn by_voltage() -> Config {
    let mut config = tiny();
    config.precondition.pattern = Pattern::Sequential;
    config.reliability.model = ModelKind::ByVoltage;
    config
}

/// Boosted, nominal and reduced cells are read with 3, 9 and 21 references: in once, three and
/// seven times the time to sense, and with 2, 4 and 5 bits to transfer where a hard decision has 2.
/// A retry adds the try before it, or the references and bits that it lacked.
#[test]
fn a_read_takes_the_references_of_its_level() {
    for units in [1, 3] {
        let took = |sense: u64, transfer: u64| 1000 * (sense + units * transfer);
        for (voltage, sensing, retry, expected) in [
            (VoltageKind::High, SensingKind::WorstCase, RetryCost::Whole, [took(40, 10), 0, 0]),
            (
                VoltageKind::Nominal,
                SensingKind::WorstCase,
                RetryCost::Whole,
                [took(120, 20), 0, took(80, 10)],
            ),
            (
                VoltageKind::Low,
                SensingKind::WorstCase,
                RetryCost::Whole,
                [took(280, 25), 0, took(240, 15)],
            ),
            (
                VoltageKind::Nominal,
                SensingKind::Retry,
                RetryCost::Whole,
                [took(160, 30), took(40, 10), took(80, 10)],
            ),
            (
                VoltageKind::Low,
                SensingKind::Retry,
                RetryCost::Whole,
                [took(440, 55), took(160, 30), took(240, 15)],
            ),
            (
                VoltageKind::Low,
                SensingKind::Retry,
                RetryCost::Increment,
                [took(280, 25), took(240, 15), 0],
            ),
        ] {
            let mut config = by_voltage();
            config.voltage.name = voltage;
            config.sensing.name = sensing;
            config.reliability.retry = retry;
            let mut device = drive(&config);
            let io = read(Span::ZERO, 0, units);
            let mut answers: Vec<Completion> = Vec::new();
            device.run([io], Pacing::Open, &mut answers);
            let answer = answer_to(&io, &answers);
            let blame = [Part::Retry, Part::SoftSensing].map(|part| answer.blame[part].0);
            let found = [answer.latency().0, blame[0], blame[1]];
            assert_eq!(found, expected, "{voltage:?}, {sensing:?}, {retry:?}, {units} units");
        }
    }
}

/// A drive that holds nothing, whose small writes are hot and whose blocks differ.
fn by_strength() -> Config {
    let mut config = tiny();
    config.precondition.fill = 0.0;
    config.geometry.blocks_per_plane = 64;
    config.gc.foreground_below = 5;
    config.reliability.model = ModelKind::Analytic;
    config.reliability.cells.end_cycles = 100.0;
    config.reliability.cells.end_age = 1.0;
    config.hotness.detectors = 1 << Detector::RequestSize as u32;
    config.hotness.hot_up_to = Bytes(UNIT);
    config.placement.name = PlacementKind::Streams;
    config.placement.hot_to_strong = true;
    config.step.name = StepKind::ByStrength;
    config
}

/// Writes of one unit each, which are hot, and of two, which are not.
fn written(config: &Config, seed: u64, count: u64) -> Device<Superblocks> {
    let mut device = drive(config);
    let mut rng = Rng::stream(seed, "modes");
    let units = u64::from(device.layout().logical_pages) - 1;
    let all: Vec<HostIo> = (0..count)
        .map(|at| {
            let size = UNIT * (1 + at % 2);
            HostIo::new(HostOp::Write, Nanos::ZERO, rng.below(units) * UNIT, size as u32)
        })
        .collect();
    device.run(all, Pacing::Closed { depth: 8 }, &mut ());
    device.check_superblocks().unwrap_or_else(|law| panic!("seed {seed}: {law:?}"));
    device
}

/// Hot data opens the superblock whose weakest block is strongest, other data the one whose weakest
/// block is weakest. Each die programs hot data at the coarsest step of the weaker of its two
/// blocks, and other data at the nominal step.
#[test]
fn hot_data_goes_to_strong_superblocks_at_the_step_of_the_weaker_plane() {
    let mut coarse = 0;
    for seed in 0..5 {
        let config = Config { seed, ..by_strength() };
        // Fewer writes than a superblock holds of each kind, so that each has opened one.
        let device = written(&config, seed, 100);
        let layer = device.superblocks();
        let condition = device.flash.condition().expect("cells err");
        let class = |superblock: RuId, die: u32| {
            let of_plane =
                |plane| condition.class_of(BlockId((2 * die + plane) * 64 + superblock.0));
            of_plane(0).max(of_plane(1))
        };
        let weakest = |superblock: RuId| (0..4).map(|die| class(superblock, die)).max();
        let open = |tag: StreamTag| {
            let stream = Stream::Host(layer.streams.of(tag));
            layer.commands.open_of(stream).expect("both kinds were written").superblock
        };
        let (hot, plain) = (open(StreamTag::PLAIN.as_hot()), open(StreamTag::PLAIN));
        assert_eq!(Some(weakest(hot)), layer.map.superblocks().map(weakest).min(), "seed {seed}");
        assert_eq!(Some(weakest(plain)), layer.map.superblocks().map(weakest).max(), "seed {seed}");
        let modes = layer.modes.as_ref().expect("cells err");
        for die in 0..4 {
            let [hot_mode, plain_mode] = [hot, plain].map(|number| modes.of(number, DieId(die)));
            assert_eq!(plain_mode.step.0, 0, "seed {seed}");
            assert_eq!(hot_mode.step, modes.bears(class(hot, die)), "seed {seed}, die {die}");
            coarse += u32::from(hot_mode.step.0);
        }
    }
    assert!(coarse > 0, "no die took a coarser step");
}

/// Dies are busy for as long as the transfers and iterations of the commands of each step take.
#[test]
fn a_coarse_step_takes_fewer_iterations() {
    let config = by_strength();
    let mut device = drive(&config);
    // 24 units fill a command; the first goes to the die of the first position.
    let write = |unit: u64| HostIo::new(HostOp::Write, Nanos::ZERO, unit * UNIT, UNIT as u32);
    let last = HostIo::new(HostOp::Flush, Nanos::ZERO + Span::ms(100), 0, 0);
    device.run((0..24).map(write).chain([last]), Pacing::Open, &mut ());
    let layer = device.superblocks();
    let stream = Stream::Host(layer.streams.of(StreamTag::PLAIN.as_hot()));
    let superblock = layer.commands.open_of(stream).expect("written").superblock;
    let modes = layer.modes.as_ref().expect("cells err");
    let step = modes.of(superblock, layer.shape.die_at(0)).step;
    assert!(step.0 > 0, "the strongest superblock is programmed at a coarser step");
    // Each step takes one iteration less than the one before.
    let programmed = 24 * 10_000 + (15 - u64::from(step.0)) * 44_000;
    let busy: u64 = device.counters().die_busy.0;
    assert_eq!(busy, programmed, "step {step:?}");
}

/// An erase wears the blocks of all planes, by the voltages at which they were programmed.
#[test]
fn a_cycle_wears_the_blocks_of_every_plane() {
    for (voltage, tenths) in [(VoltageKind::Nominal, 10), (VoltageKind::High, 12)] {
        let mut config = tiny();
        config.reliability.model = ModelKind::Analytic;
        config.reliability.cycles = 7;
        config.voltage.name = voltage;
        let before = drive(&config);
        let device = written(&config, 1, 20_000);
        let layer = device.superblocks();
        let erased: u64 = device.counters().erases.sum();
        assert!(erased > 100, "{erased} erases");
        let of = |device: &Device<Superblocks>, block: u32| {
            device.flash.condition().expect("cells err").block(BlockId(block)).wear.cycles()
        };
        for block in 0..8 * 24 {
            let erases = |device: &Device<Superblocks>| {
                device.superblocks().erase_counts()[block as usize % 24]
            };
            let cycles = erases(&device) - erases(&before);
            let expected = of(&before, block) + f64::from(cycles * tenths) / 10.0;
            assert!((of(&device, block) - expected).abs() < 1e-9, "block {block}, {voltage:?}");
        }
        let programs = device.counters().programs_at;
        let kinds =
            programs.values().map(|at| [at[crate::Voltage::Nominal], at[crate::Voltage::Boosted]]);
        let [nominal, boosted] = kinds.fold([0; 2], |sum, at| [sum[0] + at[0], sum[1] + at[1]]);
        let all = device.counters().programs[Source::Host] + device.counters().programs[Source::Gc];
        let expected = if tenths == 10 { [all, 0] } else { [0, all] };
        assert_eq!([nominal, boosted], expected, "{voltage:?}");
        assert_eq!(layer.map.count(), 24);
    }
}

/// With a step for each die, hot data spares fewer iterations than with one for each block, and
/// more than with one for the superblock: the numbers of docs/decisions/superblocks.md, "At which
/// step and voltages is a superblock programmed?".
#[test]
fn a_die_spares_less_than_its_blocks_would() {
    const SUPERBLOCKS: u32 = 342;
    const DIES: u32 = 16;
    for (references, end, expected) in [
        (References::Fixed, 1000.0, [5.4, 3.7, 0.0]),
        (References::Tracked, 10_000.0, [2.2, 0.6, 0.0]),
        (References::Tracked, 3000.0, [8.0, 8.0, 8.0]),
    ] {
        let mut config = tiny();
        config.geometry.chips_per_channel = DIES / 2;
        config.geometry.blocks_per_plane = SUPERBLOCKS;
        config.reliability.model = ModelKind::Analytic;
        config.reliability.references = references;
        config.reliability.cells.end_cycles = end;
        config.timing.program_iterations = PerPageType::uniform(16);
        let device = drive(&config);
        let modes = device.superblocks().modes.as_ref().expect("cells err");
        let condition = device.flash.condition().expect("cells err");
        let spared = |class: u8| f64::from(modes.bears(class).0) / f64::from(SUPERBLOCKS * DIES);
        let mut sums = [0.0; 3];
        for superblock in 0..SUPERBLOCKS {
            let class = |plane: u32| condition.class_of(BlockId(plane * SUPERBLOCKS + superblock));
            let parts = (0..DIES).map(|die| [class(2 * die), class(2 * die + 1)]);
            for [one, other] in parts.clone() {
                sums[0] += (spared(one) + spared(other)) / 2.0;
                sums[1] += spared(one.max(other));
            }
            let weakest = parts.flatten().max().expect("a block");
            sums[2] += spared(weakest) * f64::from(DIES);
        }
        for (found, expected) in sums.into_iter().zip(expected) {
            assert!((found - expected).abs() < 0.05, "{references:?}, {end}: {sums:?}");
        }
    }
}
