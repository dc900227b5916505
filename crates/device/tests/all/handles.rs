//! Placement by handles on drives with superblocks: what flexible data placement promises.

use crate::support::small;
use crate::support::superblocks::{built, drawn, requests, tiny};
use fowler_device::policy::placement::{Isolation, PlacementKind};
use fowler_device::*;
use fowler_units::{HostIo, HostOp, Nanos, PlacementHandle, Rng};
use std::collections::VecDeque;

/// Serves requests one by one, and returns the answers and the counters.
fn served(config: &Config, all: &[HostIo]) -> (Vec<Completion>, Counters) {
    let mut device = built(config).unwrap_or_else(|why| panic!("{why:?}"));
    let mut answers = Vec::new();
    device.run(all.iter().copied(), Pacing::Closed { depth: 4 }, &mut answers);
    device.check_superblocks().unwrap_or_else(|law| panic!("{law:?}"));
    (answers, device.counters())
}

fn by_handles(config: &Config, handles: u32, isolation: Isolation) -> Config {
    let mut config = config.clone();
    config.placement.name = PlacementKind::Handles;
    (config.placement.handles, config.placement.isolation) = (handles, isolation);
    config
}

/// Data without a handle, or all of one that the drive does not have, is placed as on a drive that
/// knows no handles, to the nanosecond.
#[test]
fn data_of_one_handle_is_placed_as_without_handles() {
    let mut ran = 0;
    for seed in 0..40 {
        let mut rng = Rng::stream(seed, "one handle");
        let mut config = drawn(&mut rng);
        config.geometry.blocks_per_plane += 24;
        config.buffer.size.0 *= 8;
        let with = by_handles(&config, 3, Isolation::Initial);
        let (Ok(_), Ok(layout)) = (built(&with), config.layout()) else { continue };
        let mut all = requests(&mut rng, layout.logical.0, 400, 0);
        for io in &mut all {
            io.placement = [PlacementHandle::NONE, PlacementHandle(9)][rng.below(2) as usize];
        }
        let (plain, placed) = (served(&config, &all), served(&with, &all));
        for (one, other) in plain.0.iter().zip(&placed.0) {
            assert!(one == other, "seed {seed}: {one:?} {other:?}");
        }
        assert!(plain == placed, "seed {seed}");
        ran += 1;
    }
    assert!(ran > 20, "{ran} drives");
}

/// Units of data in a superblock of [`tiny`]: 4 word lines of 4 dies, 2 planes, 3 pages, 4 units.
const RECLAIM_UNIT: u64 = 4 * 4 * 2 * 3 * 4;
const UNIT: u64 = 4096;

/// Writes of 4 handles, of which the first writes most, each of which fills regions as large as a
/// superblock and deletes its oldest when it has too many.
fn deleted_in_order(logical: u64, turns: u64) -> Vec<HostIo> {
    const HANDLES: usize = 4;
    const TURNS: [usize; 8] = [0, 0, 0, 0, 1, 1, 2, 3];
    let regions = logical / UNIT / RECLAIM_UNIT;
    let mut free: VecDeque<u64> = (0..regions).collect();
    let mut held: [VecDeque<u64>; HANDLES] = Default::default();
    let mut written = [0; HANDLES];
    let mut all = Vec::new();
    let size = 8;
    for turn in 0..turns {
        let handle = TURNS[turn as usize % TURNS.len()];
        let held = &mut held[handle];
        let piece = written[handle] % RECLAIM_UNIT;
        written[handle] += size;
        if piece == 0 {
            if held.len() as u64 == regions / HANDLES as u64 {
                let old = held.pop_front().expect("it has some");
                let length = (RECLAIM_UNIT * UNIT) as u32;
                all.push(HostIo::new(HostOp::Trim, Nanos::ZERO, old * RECLAIM_UNIT * UNIT, length));
                free.push_back(old);
            }
            held.push_back(free.pop_front().expect("one was deleted"));
        }
        let at = (held[held.len() - 1] * RECLAIM_UNIT + piece) * UNIT;
        let io = HostIo::new(HostOp::Write, Nanos::ZERO, at, (size * UNIT) as u32);
        all.push(io.with_placement(PlacementHandle(handle as u8)));
    }
    all
}

/// With a handle for each lifetime, and deletes of whole reclaim units, nothing is ever moved:
/// write amplification is exactly 1 (NVMe TP4146; `k` handles have `k + 1` open reclaim units).
/// Without handles the same writes are moved.
#[test]
fn reclaim_units_of_one_lifetime_are_erased_without_moves() {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 60;
    config.precondition.fill = 0.0;
    config.over_provisioning = 0.5;
    let logical = config.layout().unwrap().logical.0;
    let all = deleted_in_order(logical, 40_000);
    for isolation in [Isolation::Initial, Isolation::Persistent] {
        let mut config = by_handles(&config, 4, isolation);
        config.gc.foreground_below = 5;
        let (_, counters) = served(&config, &all);
        assert!(counters.erases[Source::Gc] > 1000, "{counters:?}");
        assert_eq!(counters.reads[Source::Gc], 0, "{isolation:?}: {counters:?}");
        assert_eq!(counters.programs[Source::Gc], 0, "{isolation:?}");
    }
    config.gc.foreground_below = 5;
    let (_, counters) = served(&config, &all);
    assert!(counters.programs[Source::Gc] > 0, "the writes would need no handles: {counters:?}");
}

/// Hot and cold data, each overwritten at random: by handles less is moved than without. Survivors
/// that stay apart cost one more superblock of the spare ones.
// Slow: fifteen drives, each overwritten twenty times.
#[test]
fn handles_keep_lifetimes_apart() {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 200;
    config.over_provisioning = 0.2;
    config.gc.foreground_below = 3;
    config.precondition.fill = 1.0;
    let commands = config.layout().unwrap().logical.0 / UNIT / 8;
    let cold = commands * 8 / 10;
    for seed in 0..5 {
        let mut rng = Rng::stream(seed, "lifetimes");
        let all: Vec<HostIo> = (0..20 * commands)
            .map(|_| {
                let (handle, at) = match rng.below(5) {
                    0 => (0, rng.below(cold)),
                    _ => (1, cold + rng.below(commands - cold)),
                };
                let io = HostIo::new(HostOp::Write, Nanos::ZERO, at * 8 * UNIT, 8 * UNIT as u32);
                io.with_placement(PlacementHandle(handle))
            })
            .collect();
        let moved = |config: &Config| served(config, &all).1.programs[Source::Gc];
        let single = moved(&config);
        let initial = moved(&by_handles(&config, 2, Isolation::Initial));
        let persistent = moved(&by_handles(&config, 2, Isolation::Persistent));
        // Measured: 4.9 to 5.4 % and 4.0 to 4.6 % less. Chance changes a number by 0.3 %.
        for (isolation, handles) in [("initial", initial), ("persistent", persistent)] {
            let saved = 1.0 - handles as f64 / single as f64;
            assert!(saved > 0.03, "seed {seed}, {isolation}: {handles} moved instead of {single}");
        }
    }
}

/// So it is on drives that map pages: data of one handle lies as without handles, and handles keep
/// lifetimes apart.
#[test]
fn handles_work_on_drives_that_map_pages() {
    let mut config = small();
    config.geometry.blocks_per_plane = 64;
    config.over_provisioning = 0.35;
    config.precondition.fill = 1.0;
    let pages = config.layout().unwrap().logical.0 / UNIT;
    let cold = pages * 8 / 10;
    let served = |config: &Config, all: &[HostIo]| {
        let mut device = Device::new(config).unwrap_or_else(|why| panic!("{why:?}"));
        let mut answers: Vec<Completion> = Vec::new();
        device.run(all.iter().copied(), Pacing::Closed { depth: 4 }, &mut answers);
        device.check().unwrap_or_else(|law| panic!("{}", law.0));
        (answers, device.counters())
    };
    for seed in 0..5 {
        let mut rng = Rng::stream(seed, "lifetimes of pages");
        let mut all: Vec<HostIo> = (0..20 * pages)
            .map(|_| {
                let (handle, at) = match rng.below(5) {
                    0 => (0, rng.below(cold)),
                    _ => (1, cold + rng.below(pages - cold)),
                };
                let io = HostIo::new(HostOp::Write, Nanos::ZERO, at * UNIT, UNIT as u32);
                io.with_placement(PlacementHandle(handle))
            })
            .collect();
        let (plain, single) = served(&config, &all);
        for isolation in [Isolation::Initial, Isolation::Persistent] {
            let (_, apart) = served(&by_handles(&config, 2, isolation), &all);
            // Measured: 14 to 17 % and 27 to 29 % less.
            let saved =
                1.0 - apart.programs[Source::Gc] as f64 / single.programs[Source::Gc] as f64;
            let least = if isolation == Isolation::Initial { 0.1 } else { 0.2 };
            assert!(saved > least, "seed {seed}, {isolation:?}: {saved}");
        }
        for io in &mut all {
            io.placement = [PlacementHandle::NONE, PlacementHandle(9)][rng.below(2) as usize];
        }
        let (answers, _) = served(&by_handles(&config, 2, Isolation::Initial), &all);
        let same = |(one, other): (&Completion, &Completion)| {
            (one.done, one.io.offset) == (other.done, other.io.offset)
        };
        assert!(plain.iter().zip(&answers).all(same), "seed {seed}");
    }
}
