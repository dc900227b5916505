//! Tests that every user of a mapping entry that is not in memory waits for that entry, and for
//! nothing else.

use super::forgetful_map::ForgetfulMap;
use super::residency::Residency;
use super::{CachedMap, Waiter};
use crate::config::tests::shaped;
use crate::config::{Ack, Config};
use crate::event_loop::{Device, Pacing};
use crate::observe::blame::Part;
use crate::observe::completion::Completion;
use crate::observe::operation::Source;
use fowler_units::{Bytes, Geometry, HostIo, HostOp, Lpn, Nanos, Rng, Span};
use std::collections::BTreeSet;

const REQUESTS: u64 = 3000;

fn config(ack: Ack) -> Config {
    let mut config = shaped(Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 16,
        pages_per_block: 8,
        page_size: Bytes(4096),
    });
    config.over_provisioning = 0.4;
    config.precondition.fill = 0.9;
    (config.buffer.ack, config.buffer.size) = (ack, Bytes(16 * 4096));
    config.buffer.evict_ahead = 4;
    (config.gc.foreground_below, config.gc.background_below) = (2, 3);
    (config.queue.depth, config.queue.max_reads, config.queue.max_writes) = (16, 64, 64);
    (config.host.trim, config.host.trim_entry) = (Span::ZERO, Span::ZERO);
    config
}

/// Returns reads, writes of one or several pages and of parts of pages, trims and flushes.
fn requests(seed: u64, bytes: u64) -> Vec<HostIo> {
    let mut rng = Rng::stream(seed, "requests");
    let mut at = 0;
    let mut next = || {
        at += rng.below(400_000);
        let sectors = bytes / 512;
        let op = match rng.below(20) {
            0 => HostOp::Flush,
            1 | 2 => HostOp::Trim,
            3..=11 => HostOp::Write,
            _ => HostOp::Read,
        };
        let first = rng.below(sectors - 40);
        let size = 512 * (1 + rng.below(40)) as u32;
        let size = if op == HostOp::Flush { 0 } else { size };
        HostIo::new(op, Nanos(at), 512 * first, size)
    };
    (0..REQUESTS).map(|_| next()).collect()
}

/// The kinds of waiters that a test has seen, and the kinds of requests that waited for the
/// mapping.
#[derive(Default)]
struct Seen {
    reads: bool,
    writes: bool,
    moves: bool,
    blamed: [u64; 4],
}

fn look(map: &CachedMap, seen: &mut Seen) {
    for (_, waiter) in &map.waiters {
        match waiter {
            Waiter::Read(_) => seen.reads = true,
            Waiter::Writes => seen.writes = true,
            Waiter::Move(_) => seen.moves = true,
        }
    }
}

fn run(config: &Config, seed: u64, forgets: bool) -> (Device, Seen, Vec<HostIo>) {
    let mut device = Device::new(config).expect("a drive that works");
    let layout = *device.layout();
    if forgets {
        let map = &mut device.layer.ftl.core.map;
        map.residency = Residency::ForgetfulMap(ForgetfulMap::new(seed, layout.geometry.dies()));
    }
    let requests = requests(seed, layout.logical.0);
    let (mut seen, mut answers) = (Seen::default(), Vec::<Completion>::new());
    let given = requests.iter().copied();
    device.run_watched(given, Pacing::Closed { depth: 8 }, &mut answers, |device| {
        look(&device.layer.ftl.core.map, &mut seen);
        device.check().unwrap_or_else(|law| panic!("seed {seed}: {}", law.0));
    });
    assert_eq!(answers.len(), requests.len(), "seed {seed}");
    for it in &answers {
        assert_eq!(it.blame.total(), it.latency(), "seed {seed}: {:?}", it.io);
        seen.blamed[it.io.op as usize] += it.blame[Part::Mapping].0;
    }
    // Garbage collection may still be waiting when the last request is answered.
    device.rest_until(device.now() + Span::ms(10_000), &mut answers);
    assert!(device.layer.ftl.core.map.waiters.is_empty(), "seed {seed}: someone waits forever");
    (device, seen, requests)
}

/// Returns the logical pages that hold data after the given requests, whose writes and trims were
/// served in order.
fn held(device: &Device, requests: &[HostIo], filled: u32) -> BTreeSet<u32> {
    let locator = device.layer.ftl.core.locator;
    let mut held: BTreeSet<u32> = (0..filled).collect();
    for io in requests {
        let end = io.offset + u64::from(io.size);
        match io.op {
            HostOp::Write => {
                let last = locator.page_at(end - 1).0;
                held.extend(locator.page_at(io.offset).0..=last);
            }
            HostOp::Trim => {
                let first = locator.page_at(io.offset + locator.page_size() - 1).0;
                held.retain(|page| !(first..locator.page_at(end).0).contains(page));
            }
            HostOp::Read | HostOp::Flush => {}
        }
    }
    held
}

// Slow: eight drives, and after each run every page of each is asked for.
#[test]
fn everyone_waits_for_the_mapping_who_must() {
    for ack in [Ack::OnInsert, Ack::OnProgram] {
        let mut all = Seen::default();
        for seed in 0..4 {
            let (device, seen, requests) = run(&config(ack), seed, true);
            let (filled, pages) = device.preconditioned().filled;
            let expected = held(&device, &requests, filled);
            for page in 0..pages {
                let holds = device.holds(Lpn(page));
                assert_eq!(holds, expected.contains(&page), "seed {seed}, page {page}");
            }
            all.reads |= seen.reads;
            all.writes |= seen.writes;
            all.moves |= seen.moves;
            all.blamed.iter_mut().zip(seen.blamed).for_each(|(sum, blamed)| *sum += blamed);
        }
        assert!(all.reads && all.writes && all.moves, "{ack:?}: not everyone has waited");
        for op in [HostOp::Read, HostOp::Write, HostOp::Trim] {
            assert!(all.blamed[op as usize] > 0, "{ack:?}: {op:?} is never blamed on the mapping");
        }
    }
}

/// A drive that holds its whole mapping in memory never waits for it. Trims take no firmware time
/// in this test.
#[test]
fn nobody_waits_for_a_mapping_that_is_all_there() {
    for ack in [Ack::OnInsert, Ack::OnProgram] {
        let (_, seen, _) = run(&config(ack), 1, false);
        assert!(!(seen.reads || seen.writes || seen.moves));
        assert_eq!(seen.blamed, [0; 4]);
    }
}

/// A flush waits for all data acknowledged before it, even if its programs wait for the mapping.
#[test]
fn a_flush_waits_for_data_that_waited_for_the_mapping() {
    let mut config = config(Ack::OnInsert);
    config.queue.depth = 4;
    let io = |at, op, page: u64, size| HostIo::new(op, Nanos(at), page * 4096, size);
    for seed in 0..16 {
        let mut device = Device::new(&config).expect("a drive that works");
        let dies = device.layout().geometry.dies();
        device.layer.ftl.core.map.residency =
            Residency::ForgetfulMap(ForgetfulMap::new(seed, dies));
        let given = [
            // A partial page: the rest is read first.
            io(0, HostOp::Write, 3, 512),
            io(1_000_000, HostOp::Flush, 0, 0),
            io(20_000_000, HostOp::Read, 3, 4096),
        ];
        let mut answers: Vec<Completion> = Vec::new();
        device.run(given, Pacing::Open, &mut answers);
        let done = |op| answers.iter().find(|it| it.io.op == op).expect("an answer").done;
        assert!(done(HostOp::Write) < done(HostOp::Flush), "seed {seed}");
        let programs = device.counters().programs[Source::Host];
        assert_eq!(programs, 1, "seed {seed}: it was programmed before the flush was answered");
    }
}
