//! A life in no time against the drive that is simulated event by event, and against theory.

use super::Superblocks;
use super::cases::{UNIT, drive, protect, tiny};
use crate::config::{Coding, Config, Pattern, WhenFull};
use crate::event_loop::Pacing;
use crate::observe::counters::Counters;
use crate::observe::operation::Source;
use crate::policy::hotness::Detector;
use crate::policy::placement::PlacementKind;
use crate::policy::redundancy::RedundancyKind;
use crate::policy::throttle::{EpochRule, ThrottleKind};
use crate::policy::victim::VictimKind;
use crate::policy::wear::WearKind;
use crate::precondition::UNWATCHED;
use crate::untimed::LifetimeDrive;
use crate::untimed::checkpoint::Checkpoint;
use fowler_units::{HostIo, HostOp, Nanos, PlacementHandle, Rng, Span};

/// Nanoseconds of a day.
const DAY: u64 = 86_400_000_000_000;

/// Superblocks of 64 commands: 48 pages to a block instead of 12.
fn small() -> Config {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 100;
    config.geometry.pages_per_block *= 4;
    config.over_provisioning = 0.25;
    (config.gc.foreground_below, config.gc.background_below) = (4, 4);
    config
}

/// Requests of 1 to 8 units, three quarters of them to a quarter of the drive: one in 50 is a trim,
/// and one in 5 a read.
fn requests(
    seed: u64,
    logical: u64,
    count: u64,
    gap: Span,
) -> impl Iterator<Item = HostIo> + Clone {
    let mut rng = Rng::stream(seed, "a small life");
    (0..count).map(move |number| {
        let units = 1 + rng.below(8);
        let space = if rng.chance(0.75) { logical / 4 } else { logical };
        let unit = rng.below(space - units);
        let op = match rng.below(50) {
            0 => HostOp::Trim,
            1..=10 => HostOp::Read,
            _ => HostOp::Write,
        };
        let io = HostIo::new(op, Nanos(number * gap.0), unit * UNIT, (units * UNIT) as u32);
        io.with_placement(PlacementHandle(u8::from(space < logical)))
    })
}

fn erases(layer: &Superblocks) -> u64 {
    layer.erase_counts().iter().map(|&count| u64::from(count)).sum()
}

/// The units programmed for each unit of the host, and the erases of superblocks.
fn timed(config: &Config, requests: impl Iterator<Item = HostIo>) -> [f64; 2] {
    let mut device = drive(config);
    let before = erases(device.superblocks());
    device.run(requests, Pacing::Open, &mut ());
    device.check_superblocks().expect("every law");
    let waf = device.counters().waf().expect("it was written");
    [waf, (erases(device.superblocks()) - before) as f64]
}

/// As [`timed`], in no time, and with the laws of the drive checked now and then.
fn untimed(config: &Config, requests: impl Iterator<Item = HostIo>) -> [f64; 2] {
    let mut layer = drive(config).superblocks().clone();
    layer.begin_life(config);
    let before = erases(&layer);
    let (mut counters, mut last) = (Counters::default(), Nanos::ZERO);
    for (number, io) in requests.enumerate() {
        layer.serve_now(&io, (io.at, io.at - last), &mut counters);
        last = io.at;
        if number % 5000 == 0 {
            layer.check().unwrap_or_else(|law| panic!("request {number}: {law}"));
        }
    }
    layer.check().expect("every law");
    [counters.waf().expect("it was written"), (erases(&layer) - before) as f64]
}

/// In WAF and erases, a life agrees with the drive that is simulated event by event within 1 %, at
/// K and at 2 K writes of the drive, for each of five seeds. With superblocks of 16 commands
/// instead of 64 it is within 4 %: moved units arrive otherwise in time, so that other commands are
/// padded, and each is a sixteenth of a superblock.
// Slow: 40 lives, half of them event by event.
#[test]
fn a_life_is_that_of_the_simulated_drive() {
    for (quarter, parity, tolerance) in [(false, 0, 0.01), (false, 8, 0.01), (true, 0, 0.04)] {
        let mut config = small();
        protect(&mut config, parity);
        if parity > 0 {
            config.over_provisioning = 0.35;
        }
        if quarter {
            config.geometry.pages_per_block /= 4;
        }
        let logical = u64::from(config.layout().expect("it works").logical_pages);
        for seed in 0..5 {
            for drives in [2, 4] {
                // A request writes 3.5 units on average, reads and trims included.
                let count = drives * logical * 2 / 7;
                let all = requests(seed, logical, count, Span::ms(1));
                let (one, other) = (timed(&config, all.clone()), untimed(&config, all));
                for (one, other) in one.into_iter().zip(other) {
                    let off = other / one - 1.0;
                    let case = format!("seed {seed}, {drives} drive writes, parity {parity}");
                    assert!(off.abs() < tolerance, "{case}: {other} instead of {one}");
                }
            }
        }
    }
}

/// Drives with every part that a life simulates.
fn kinds() -> Vec<(&'static str, Config)> {
    let mut kinds = vec![("plain", small())];
    let mut add = |name, alter: &dyn Fn(&mut Config)| {
        let mut config = small();
        alter(&mut config);
        kinds.push((name, config));
    };
    add("parity", &|it| {
        protect(it, 8);
        it.over_provisioning = 0.35;
    });
    add("limits of age and of reads", &|it| {
        it.over_provisioning = 0.35;
        it.redundancy.name = RedundancyKind::DisturbLimiting;
        (it.redundancy.retention, it.redundancy.reads) = (Span::ms(20_000), 300);
    });
    add("parity by stage of life", &|it| {
        protect(it, 8);
        it.over_provisioning = 0.35;
        it.redundancy.name = RedundancyKind::ByStage;
        (it.redundancy.worn_above, it.redundancy.all_above) = (6, 90);
        (it.redundancy.retention, it.redundancy.reads) = (Span::ms(90_000), 2_000);
    });
    add("handles", &|it| {
        it.placement.name = PlacementKind::Handles;
        it.placement.handles = 2;
        (it.gc.foreground_below, it.gc.background_below) = (5, 5);
    });
    add("sizes", &|it| {
        it.hotness.detectors = 1 << Detector::RequestSize as u8;
        it.placement.name = PlacementKind::Streams;
    });
    add("random victims", &|it| (it.victim.name, it.victim.d) = (VictimKind::DChoices, 3));
    add("wear", &|it| {
        (it.wear.name, it.wear.threshold) = (WearKind::HotColdSwap, 4);
        (it.gc.foreground_below, it.gc.background_below) = (5, 5);
    });
    add("cache", &|it| {
        (it.slc.fixed, it.slc.dynamic, it.slc.keep_erased) = (4, 8, 6);
        it.slc.fold_after = Span::ms(20);
    });
    add("cache that is waited for", &|it| {
        (it.slc.fixed, it.slc.when_full) = (6, WhenFull::Wait);
        it.slc.fold_after = Span::ms(20);
    });
    add("throttle", &|it| {
        it.throttle.name = ThrottleKind::FixedRate;
        it.throttle.epoch = EpochRule::Auto;
        (it.throttle.window, it.life.cycles) = (Span::ms(60_000), 30.0);
        it.life.target = Span::ms(900_000);
    });
    add("refresh", &|it| {
        it.aging.coding = Coding::Balanced;
        it.aging.refresh_above = 1;
        (it.reliability.cycles, it.reliability.oldest) = (1000, Span(365 * DAY));
    });
    kinds
}

/// Requests with a pause of 500 ms after every 200, and otherwise 1 ms apart.
fn paused(seed: u64, logical: u64, count: u64) -> impl Iterator<Item = HostIo> + Clone {
    let all = requests(seed, logical, count, Span::ms(1)).enumerate();
    all.map(|(number, io)| io.with_at(io.at + Span::ms(500 * (number as u64 / 200))))
}

/// Every kind of drive agrees with the simulated one within 3 %, and keeps its laws.
// Slow: nine lives event by event.
#[test]
fn every_kind_of_drive_lives() {
    for (name, config) in kinds().into_iter().filter(|(name, _)| *name != "throttle") {
        let logical = u64::from(config.layout().expect(name).logical_pages);
        let all = paused(3, logical, logical * 4 / 7);
        let (one, other) = (timed(&config, all.clone()), untimed(&config, all));
        for (one, other) in one.into_iter().zip(other) {
            assert!((other / one - 1.0).abs() < 0.03, "{name}: {other} instead of {one}");
        }
    }
}

fn born(config: &Config) -> LifetimeDrive {
    let made = LifetimeDrive::watched(config, UNWATCHED).expect("it works");
    made.expect("nobody stops it")
}

/// Expects two checkpoints to be the same, and otherwise shows where they begin to differ.
fn expect_same(one: &str, other: &str, case: &str) {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let part = |text: &str| text[same.saturating_sub(80)..(same + 80).min(text.len())].to_string();
    assert!(one == other, "{case}: {} instead of {}", part(one), part(other));
}

/// A drive that was saved in the middle of a life, at any of several moments, reaches the same end,
/// to the byte of its next checkpoint.
#[test]
fn a_life_that_was_saved_reaches_the_same_end() {
    let bytes = |drive: &LifetimeDrive| serde_json::to_string(&drive.checkpoint()).expect("saved");
    for (name, config) in kinds() {
        let logical = u64::from(config.layout().expect(name).logical_pages);
        let all: Vec<HostIo> = paused(5, logical, logical / 2).collect();
        // A life begins after a season, with units in the buffer and a superblock being emptied.
        let mut whole = born(&config);
        whole.season(paused(4, logical, logical / 3), u64::MAX);
        let whole = whole.again(&config);
        let mut rng = Rng::stream(9, name);
        let mut straight = whole.clone();
        straight.serve(all.iter().copied(), |_, _| true);
        let end = bytes(&straight);
        assert!(straight.counters().programs[Source::Gc] > 0, "{name}: nothing was collected");
        for _ in 0..4 {
            let at = rng.below(all.len() as u64) as usize;
            let mut first = whole.clone();
            first.serve(all[..at].iter().copied(), |_, _| true);
            let saved: Checkpoint = serde_json::from_str(&bytes(&first)).expect("readable");
            let mut second = whole
                .clone()
                .resumed(saved)
                .unwrap_or_else(|why| panic!("{name}, saved after {at} requests: {why}"));
            let case = format!("{name}, saved after {at} requests");
            expect_same(&bytes(&second), &bytes(&first), &case);
            second.serve(all[at..].iter().copied(), |_, _| true);
            expect_same(&bytes(&second), &end, &case);
        }
    }
}

/// A damaged checkpoint is refused, or makes a drive that can go on.
#[test]
fn no_damage_makes_a_drive_that_cannot_be() {
    let mut rng = Rng::stream(3, "damaged lives");
    let mut refused = 0;
    for (name, config) in kinds() {
        let logical = u64::from(config.layout().expect(name).logical_pages);
        let whole = born(&config);
        let mut drive = whole.clone();
        drive.serve(paused(5, logical, logical / 4), |_, _| true);
        let text = serde_json::to_string(&drive.checkpoint()).expect("saved").into_bytes();
        let lists = text.windows(9).position(|part| part == b"filled_at").expect("it is there");
        for case in 0..24 {
            // Half of the damage is in the lists after the map.
            let from = if case % 2 == 0 { 0 } else { lists };
            let mut damaged = text.clone();
            let at = from + rng.below((text.len() - from) as u64) as usize;
            let digits = (at..text.len()).filter(|&at| text[at].is_ascii_digit()).take(3);
            digits.for_each(|at| damaged[at] = b'0' + rng.below(10) as u8);
            let Ok(saved) = serde_json::from_slice::<Checkpoint>(&damaged) else {
                refused += 1;
                continue;
            };
            match whole.clone().resumed(saved) {
                Ok(mut drive) => {
                    let now = drive.now();
                    let more =
                        paused(6, logical, 500).map(|io| io.with_at(io.at + Span(now.0 / 2)));
                    drive.serve(more, |_, _| true);
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 20, "{refused}");
}

/// Uniform writes in a life cost what greedy collection costs in closed form, as they do in a run:
/// within 2.7 %, which one superblock more or less changes at the highest load.
#[test]
fn uniform_writes_cost_what_greedy_collection_costs() {
    for over_provisioning in [0.1, 0.2, 0.35] {
        let mut config = tiny();
        config.geometry.blocks_per_plane = 400;
        config.over_provisioning = over_provisioning;
        config.precondition.pattern = Pattern::Steady;
        let layer = drive(&config).superblocks().clone();
        let (shape, logical) = (layer.shape, u64::from(layer.map.logical()));
        let held = shape.superblocks - config.gc.foreground_below;
        let load = logical as f64 / f64::from(held * shape.data_units());
        let theory = fowler_theory::gc::greedy(load, shape.units).expect("a load below 1");
        let mut rng = Rng::stream(7, "writes");
        let writes = (0..logical)
            .map(|number| HostIo::write(Nanos(number), rng.below(logical) * UNIT, UNIT as u32));
        let [waf, _] = untimed(&config, writes);
        let off = waf / theory - 1.0;
        assert!(off.abs() < 0.027, "{over_provisioning}: {waf}, and {theory} by theory");
    }
}

/// An erase in a dilated life wears the cells as many erases: data on them is refreshed more often.
// Slow: two drives are written many times over, slowly enough that old data is refreshed.
#[test]
fn cells_of_a_dilated_life_wear_faster() {
    let (_, config) = kinds().pop().expect("the last refreshes");
    let logical = u64::from(config.layout().expect("it works").logical_pages);
    let refreshed = |dilation: u32| {
        let mut config = config.clone();
        (config.life.dilation, config.reliability.cycles) = (dilation, 0);
        config.life.target = Span(u64::from(dilation) * 200 * DAY);
        let mut drive = born(&config);
        drive.serve(requests(1, logical, logical * 2, Span::ms(40_000)), |_, _| true);
        drive.counters().aged.refreshed
    };
    let (young, old) = (refreshed(1), refreshed(300));
    assert!(old > young, "{old} superblocks refreshed on worn cells, {young} on young ones");
}
