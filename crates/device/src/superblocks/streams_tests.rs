//! Superblocks hold data of their stream only.

use super::cases::{UNIT, drive, tiny};
use crate::config::Config;
use crate::event_loop::{Device, Pacing};
use crate::mapping::page_map::Location;
use crate::observe::operation::Source;
use crate::policy::placement::{Isolation, PlacementKind, StreamId};
use crate::superblocks::Superblocks;
use fowler_units::{HostIo, HostOp, Lpn, Nanos, PlacementHandle, Rng};
use std::collections::{BTreeMap, BTreeSet};

const HANDLES: u8 = 3;

fn config(isolation: Isolation) -> Config {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 64;
    config.precondition.fill = 0.0;
    config.placement.name = PlacementKind::Handles;
    (config.placement.handles, config.placement.isolation) = (HANDLES.into(), isolation);
    config.gc.foreground_below = 5;
    config
}

/// Writes of one unit each, at random, with the handle of their address.
fn served(config: &Config, seed: u64, count: u64) -> Device<Superblocks> {
    let mut device = drive(config);
    let mut rng = Rng::stream(seed, "streams");
    let units = u64::from(device.layout().logical_pages);
    let all: Vec<HostIo> = (0..count)
        .map(|_| {
            let unit = rng.below(units);
            let io = HostIo::new(HostOp::Write, Nanos::ZERO, unit * UNIT, UNIT as u32);
            io.with_placement(handle_of(unit as u32))
        })
        .collect();
    device.run(all, Pacing::Closed { depth: 8 }, &mut ());
    device.check_superblocks().unwrap_or_else(|law| panic!("seed {seed}: {law:?}"));
    device
}

fn handle_of(unit: u32) -> PlacementHandle {
    PlacementHandle((unit % u32::from(HANDLES)) as u8)
}

/// Returns the handles of the valid units of each superblock.
fn handles(device: &Device<Superblocks>) -> BTreeMap<u32, BTreeSet<u8>> {
    let layer = device.superblocks();
    let mut found: BTreeMap<u32, BTreeSet<u8>> = BTreeMap::new();
    for page in layer.map.pages() {
        if let Location::Flash(unit) = layer.map.place(page) {
            let superblock = layer.shape.superblock_of(unit);
            found.entry(superblock.0).or_default().insert(handle_of(page.0).0);
        }
    }
    found
}

/// Before anything has been moved, a superblock has units of one handle, whatever the isolation.
/// After that it still has if survivors are kept apart; if they are not, some superblocks have
/// units of all handles.
#[test]
fn a_superblock_has_units_of_one_handle_until_they_are_moved() {
    for seed in 0..3 {
        for isolation in [Isolation::Initial, Isolation::Persistent] {
            let young = served(&config(isolation), seed, 10_000);
            assert_eq!(young.counters().programs[Source::Gc], 0, "seed {seed}");
            let mixed = |device: &Device<Superblocks>| {
                handles(device).values().filter(|handles| handles.len() > 1).count()
            };
            assert_eq!(mixed(&young), 0, "seed {seed}, {isolation:?}");
            let old = served(&config(isolation), seed, 80_000);
            let moved = old.counters().programs[Source::Gc];
            assert!(moved > 10_000, "seed {seed}, {isolation:?}: {moved} moved");
            match isolation {
                Isolation::Persistent => assert_eq!(mixed(&old), 0, "seed {seed}"),
                Isolation::Initial => {
                    let all = handles(&old).values().filter(|it| it.len() == 3).count();
                    assert!(all > 5, "seed {seed}: {all} superblocks of all handles");
                }
            }
        }
    }
}

/// A unit that is written again with another handle leaves the superblocks of the first one.
#[test]
fn the_last_handle_counts() {
    let config = config(Isolation::Persistent);
    let mut device = drive(&config);
    let write = |unit: u64, handle: u8| {
        let io = HostIo::new(HostOp::Write, Nanos::ZERO, unit * UNIT, UNIT as u32);
        io.with_placement(PlacementHandle(handle))
    };
    // The second write of a unit finds the first in the buffer, where it waits for a command.
    let all = (0..4_000).flat_map(|unit| [write(unit, 1), write(unit, 2)]);
    device.run(all, Pacing::Closed { depth: 1 }, &mut ());
    device.check_superblocks().unwrap_or_else(|law| panic!("{law:?}"));
    let layer = device.superblocks();
    let mut open = BTreeSet::new();
    for page in Lpn(0).run(4_000) {
        if let Location::Flash(unit) = layer.map.place(page) {
            open.insert(layer.streams.of_survivors(layer.shape.superblock_of(unit)));
        }
    }
    assert_eq!(
        open,
        BTreeSet::from([StreamId(2)]),
        "the streams of the superblocks that hold the data"
    );
}

/// The rest of a unit that is being read for a partial write belongs to the stream of the last
/// write, which waits for it too.
#[test]
fn a_partial_write_of_another_handle_waits_for_the_rest() {
    let mut config = config(Isolation::Persistent);
    config.precondition.fill = 1.0;
    let mut device = drive(&config);
    let part = |at: u64, handle: u8| {
        let io = HostIo::new(HostOp::Write, Nanos(at), 7 * UNIT, 512);
        io.with_placement(PlacementHandle(handle))
    };
    // The run ends with its last answer, that of a read long after the rest has been read.
    let read = HostIo::read(Nanos(1_000_000), 0, UNIT as u32);
    device.run([part(0, 1), part(1, 2), read], Pacing::Open, &mut ());
    assert_eq!(device.counters().merge_reads, 1);
    assert_eq!(device.counters().buffer_write_hits, 1, "the second joins the first");
    let layer = device.superblocks();
    assert_eq!([1, 2].map(|at| layer.buffer.waiting(StreamId(at))), [0, 1]);
    device.check_superblocks().unwrap_or_else(|law| panic!("{law:?}"));
}
