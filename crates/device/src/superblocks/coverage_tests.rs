//! Tests of parity by wear and by stage of life, and of the limits of age and of reads.

use super::Superblocks;
use super::cases::{UNIT, drive, protect, tiny};
use crate::blocks::block_table::BlockState;
use crate::config::Config;
use crate::event_loop::{Device, Pacing};
use crate::observe::completion::Completion;
use crate::observe::operation::Source;
use crate::policy::redundancy::{RedundancyKind, Stage};
use fowler_units::{HostIo, HostOp, Nanos, Rng, Span};

/// A drive of 24 superblocks of 16 commands, one of which in eight is parity.
fn covered(name: RedundancyKind) -> Config {
    let mut config = tiny();
    protect(&mut config, 8);
    config.redundancy.name = name;
    config
}

/// Writes units at random over the whole drive, one a millisecond.
fn write(device: &mut Device<Superblocks>, from: Nanos, count: u64, seed: u64) -> Nanos {
    let logical = u64::from(device.superblocks().map.logical());
    let mut rng = Rng::stream(seed, "writes");
    let at = |number: u64| from + Span::ms(1) * number;
    let all = (0..count).map(|number| {
        HostIo::new(HostOp::Write, at(number), rng.below(logical) * UNIT, UNIT as u32)
    });
    let mut answers: Vec<Completion> = Vec::new();
    device.run(all, Pacing::Open, &mut answers);
    device.check_superblocks().unwrap_or_else(|law| panic!("seed {seed}: {law:?}"));
    at(count)
}

/// Parity is an eighth of what is programmed under `raid5`, and nothing under `udl`.
#[test]
fn the_share_of_parity_is_that_of_the_stripe() {
    for (name, share) in
        [(RedundancyKind::Raid5, 1.0 / 8.0), (RedundancyKind::DisturbLimiting, 0.0)]
    {
        let mut device = drive(&covered(name));
        write(&mut device, Nanos::ZERO, 20_000, 1);
        let programs = device.counters().programs;
        let all: u64 = programs.sum();
        let found = programs[Source::Parity] as f64 / all as f64;
        // The last stripes are not complete: of some 100 commands of 24 units.
        assert!((found - share).abs() < 0.01, "{}: {found} of {all}", name.name());
    }
}

/// A drive of `da_raid5` has no parity at first. Once a block is worn, what is written into worn
/// superblocks has parity; once so many stripes are worn, all data gets it, without being written
/// by the host.
#[test]
fn parity_comes_with_wear() {
    let mut config = covered(RedundancyKind::ByStage);
    config.redundancy.worn_above = 12;
    // Half of the superblocks, of two stripes of six pages each.
    config.redundancy.all_above = 144;
    let mut device = drive(&config);
    let stage = |device: &Device<Superblocks>| device.protection().expect("it has rules").stage;
    let bare = |device: &Device<Superblocks>| device.superblocks().bare_superblocks().len();
    assert_eq!(stage(&device), Stage::First);
    assert!(bare(&device) > 12, "{} bare", bare(&device));
    assert_eq!(device.counters().programs[Source::Parity], 0);
    let (mut now, mut seen) = (Nanos::ZERO, Vec::new());
    for seed in 0..60 {
        now = write(&mut device, now, 2_000, seed);
        seen.push((stage(&device), bare(&device)));
        if stage(&device) == Stage::Third {
            break;
        }
    }
    let second = |&&(stage, bare): &&(Stage, usize)| stage == Stage::Second && bare > 0;
    assert!(seen.iter().any(|it| second(&it)), "{seen:?}");
    assert_eq!(stage(&device), Stage::Third, "{seen:?}");
    let changes = device.protection().expect("it has rules").changes;
    assert_eq!(changes.iter().map(|it| it.to).collect::<Vec<_>>(), [Stage::Second, Stage::Third]);
    write(&mut device, now, 4_000, 99);
    assert_eq!(bare(&device), 0, "superblocks without parity are left");
    assert!(device.counters().programs[Source::Refresh] > 0, "nothing was moved to get parity");
    assert_eq!(device.protection().expect("it has rules").bare, 0);
}

/// A superblock is refreshed when its data is as old as `policy.redundancy.retention`, and not
/// before.
#[test]
fn old_data_is_refreshed_in_time() {
    let mut config = covered(RedundancyKind::DisturbLimiting);
    config.redundancy.retention = Span::ms(10_000);
    let mut device = drive(&config);
    let now = write(&mut device, Nanos::ZERO, 9_000, 3);
    assert_eq!(device.counters().aged.refreshed, 0, "refreshed too early");
    write(&mut device, now, 3_000, 4);
    let refreshed = device.counters().aged.refreshed;
    // Collection has erased some of the 22 or so that were full at the beginning.
    assert!((5..=24).contains(&refreshed), "{refreshed} refreshed");
}

/// A superblock is refreshed when one of its blocks has been read as often as
/// `policy.redundancy.reads`.
#[test]
fn data_that_is_read_often_is_refreshed() {
    let mut config = covered(RedundancyKind::DisturbLimiting);
    config.redundancy.reads = 1000;
    for (reads, expected) in [(999, 0), (1001, 1)] {
        let mut device = drive(&config);
        let layer = device.superblocks();
        // The superblock with the most valid units is not collected meanwhile.
        let full = layer.map.superblocks().filter(|&it| layer.map.state(it) == BlockState::Full);
        let fullest = full.max_by_key(|&it| layer.map.valid(it)).expect("the drive is full");
        let first = layer.shape.first_unit(fullest);
        let mut units = first.run(layer.shape.units);
        let page = units.find_map(|unit| layer.map.valid_owner(unit));
        let page = u64::from(page.expect("a valid unit").0);
        let all = (0..reads).map(|number| {
            let at = Nanos::ZERO + Span::ms(1) * number;
            HostIo::new(HostOp::Read, at, page * UNIT, UNIT as u32)
        });
        let mut answers: Vec<Completion> = Vec::new();
        device.run(all, Pacing::Open, &mut answers);
        assert_eq!(device.counters().aged.refreshed, expected, "after {reads} reads");
        device.check_superblocks().expect("the laws hold");
    }
}
