//! Write throttles on drives with superblocks: the programs of a life keep to its share of the
//! rated capacity, whatever they are made for.

use crate::support::superblocks::{built, tiny};
use fowler_device::blame::Part;
use fowler_device::policy::placement::PlacementKind;
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::throttle::{EpochRule, ThrottleKind};
use fowler_device::*;
use fowler_units::{Bytes, HostIo, HostOp, Nanos, PlacementHandle, Rng, Span};

const SECOND: u64 = 1_000_000_000;
const TARGET: u64 = 100;
const UNIT: u64 = 4096;

/// The programs that the cells of each unit endure.
const CYCLES: f64 = 3.0;

/// A drive whose units endure [`CYCLES`] programs, which are to last for [`TARGET`] seconds.
fn throttled(name: ThrottleKind) -> Config {
    let mut config = tiny();
    config.throttle.name = name;
    (config.throttle.epoch, config.throttle.epoch_length) = (EpochRule::Fixed, Span::ms(5_000));
    (config.life.cycles, config.life.target) = (CYCLES, Span(TARGET * SECOND));
    config
}

/// Serves random writes of 16 KiB, one every 5 ms for 8 s, which is several times as much as the
/// life allows.
fn served(config: &Config, seed: u64) -> (Device<Superblocks>, Vec<Completion>) {
    let mut device = built(config).unwrap_or_else(|why| panic!("{why:?}"));
    let logical = device.layout().logical.0 / UNIT;
    let mut rng = Rng::stream(seed, "writes");
    let all: Vec<HostIo> = (0..1_600)
        .map(|number| {
            let at = rng.below(logical - 4) * UNIT;
            let io = HostIo::new(HostOp::Write, Nanos(number * SECOND / 200), at, 4 * UNIT as u32);
            io.with_placement(PlacementHandle((number % 4) as u8))
        })
        .collect();
    let mut answers = Vec::new();
    device.run(all, Pacing::Open, &mut answers);
    device.check_superblocks().unwrap_or_else(|law| panic!("seed {seed}: {law:?}"));
    for answer in &answers {
        assert_eq!(answer.blame.total(), answer.latency(), "seed {seed}: {answer:?}");
    }
    (device, answers)
}

#[test]
fn what_is_programmed_keeps_to_its_share_of_the_life() {
    for (seed, name) in
        (0..).zip([ThrottleKind::FixedRate, ThrottleKind::Dynamic, ThrottleKind::Ready])
    {
        // A period of 1 s, and the 256 frames of the buffer, which are not programmed yet.
        let (programmed, counters) = keeps_to_the_life(&throttled(name), seed, 256.0);
        // Each program counts, whether for the host or for a move.
        assert_eq!(programmed, counters.programs.sum() as f64, "{name:?}");
    }
}

/// With parity, two passes and four handles: a command counts as programmed from its first pass on,
/// and among the counters when the second has ended.
#[test]
fn parity_passes_and_handles_count_too() {
    let mut config = throttled(ThrottleKind::FixedRate);
    config.geometry.blocks_per_plane = 48;
    config.superblocks.parity = 3;
    config.redundancy.name = RedundancyKind::Raid5;
    config.over_provisioning = 0.7;
    config.flash.program_passes = 2;
    config.buffer.size = Bytes(4 << 20);
    (config.placement.name, config.placement.handles) = (PlacementKind::Handles, 4);
    let (programmed, counters) = keeps_to_the_life(&config, 9, 1024.0);
    assert!(counters.programs[Source::Parity] > 1000, "{counters:?}");
    // Up to three commands of 24 units on each of 4 dies, for each of 5 streams, have begun.
    let begun = programmed - counters.programs.sum() as f64;
    assert!((0.0..=3.0 * 24.0 * 4.0 * 5.0).contains(&begun), "{begun} units between passes");
}

/// Returns the units programmed, and the counters, of a drive that has programmed its share of the
/// life, but for a period of 1 s and the frames
/// of its buffer, and that its writes waited for that.
fn keeps_to_the_life(config: &Config, seed: u64, frames: f64) -> (f64, Counters) {
    let name = config.throttle.name;
    let (device, answers) = served(config, seed);
    let (_, life) = device.life().expect("it has a throttle");
    let share = device.now().0 as f64 / (TARGET * SECOND) as f64;
    let used = life.programmed / life.rated;
    assert!((used - share).abs() < 0.01 + frames / life.rated, "{name:?}: {used} at {share}");
    let counters = device.counters();
    let waited: u64 = answers.iter().map(|it| it.blame[Part::Throttled].0).sum();
    let ThrottleTime { delayed, stopped } = counters.throttled;
    assert_eq!(waited, (delayed + stopped).0, "{name:?}");
    assert!(waited > 10 * SECOND, "{name:?}: {waited}");
    (life.programmed, counters)
}

/// Without a throttle the same writes take 43 % of the life in a twelfth of it.
#[test]
fn without_a_throttle_the_life_ends_early() {
    let (device, answers) = served(&tiny(), 0);
    assert!(device.life().is_none());
    assert!(answers.iter().all(|it| it.blame[Part::Throttled] == Span::ZERO));
    let rated = CYCLES * f64::from(device.layout().geometry.pages()) * 4.0;
    let used = device.counters().programs.sum() as f64 / rated;
    let share = device.now().0 as f64 / (TARGET * SECOND) as f64;
    assert!(used > 0.4 && share < 0.085, "{used} at {share}");
}
