//! The census against hand-made cases (`census.toml`), and against the losses that reads then find.
//! The comparison of the census with the algebra is in `faults.rs`.

use crate::support::fading::{DAYS, MINUTE, fading, io};
use crate::support::random::one_of;
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::scrub::{self, ScrubKind};
use fowler_device::*;
use fowler_units::{Bytes, HostIo, HostOp, Lpn, Nanos, Rng, Span, StripeId};
use std::collections::{BTreeMap, BTreeSet};

/// Cells that only age, and hardly any buffer.
fn config(kind: RedundancyKind) -> Config {
    let mut config = fading(kind);
    config.reliability.cells.disturb_slope = 0.0;
    // Nothing is refreshed: refresh would find losses that nobody reads.
    config.redundancy.retention = DAYS(10_000);
    // Some blocks are worn, which matters to protection and not to the cells.
    (config.reliability.cycles, config.reliability.cycles_spread) = (2000, 10);
    config.redundancy.worn_above = 2005;
    config.precondition.fill = 0.0;
    (config.buffer.size, config.buffer.ack) = (Bytes(4 * 4096), Ack::OnProgram);
    config
}

fn run(device: &mut Device, ios: impl IntoIterator<Item = HostIo>) {
    let mut completions: Vec<Completion> = Vec::new();
    device.run(ios, Pacing::Closed { depth: 1 }, &mut completions);
    device.check().unwrap_or_else(|law| panic!("{}", law.0));
    device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
}

fn step(device: &mut Device, step: &str) {
    let words: Vec<&str> = step.split(' ').collect();
    let number = |at: usize| words[at].parse::<u32>().expect("a number");
    let pages = |op: HostOp| io(op, number(1).into(), number(2), Span::ZERO);
    match (words[0], words.get(1)) {
        ("write", _) => run(device, [pages(HostOp::Write)]),
        ("read", _) => run(device, [pages(HostOp::Read)]),
        ("trim", _) => run(device, [pages(HostOp::Trim)]),
        ("off", _) => device.power_off(DAYS(number(1).into()), &mut ()),
        ("on", _) => device.rest_until(device.now() + DAYS(number(1).into()), &mut ()),
        ("rest", _) => device.rest_until(device.now() + MINUTE, &mut ()),
        ("fail", Some(&"page")) => device.inject(Fault::Page(Lpn(number(2)))),
        ("fail", Some(&"parity")) => device.inject(Fault::Parity(StripeId(number(2)))),
        ("fail", Some(&"chip")) => device.inject(Fault::Chip(number(2))),
        _ => panic!("no step is called {step}"),
    }
}

/// The counts of a case, as in the file: of pages, of parity, and of losses by name.
type Counts = ([u64; 3], [u64; 3], BTreeMap<String, [u64; 2]>);

fn number(value: &toml::Value) -> u64 {
    value.as_integer().expect("a whole number") as u64
}

fn list<const N: usize>(value: &toml::Value) -> [u64; N] {
    let list: Vec<u64> = value.as_array().expect("a list").iter().map(number).collect();
    list.try_into().expect("as many numbers")
}

fn expected(case: &toml::Table) -> Counts {
    let named = |name: &str| case.get(name).map_or(0, number);
    let parity = case.get("parity").map_or([0; 3], list);
    let lost = case.get("lost").and_then(toml::Value::as_table).into_iter().flatten();
    let lost = lost.map(|(name, value)| (name.clone(), list(value)));
    (["pages", "recoverable", "buffered"].map(named), parity, lost.collect())
}

fn counted(census: &Census) -> Counts {
    let &Census { pages, recoverable, buffered, .. } = census;
    assert_eq!(census.unreadable, buffered + recoverable + census.lost());
    let lost =
        census.losses.iter().map(|group| (group.loss.to_string(), [group.found, group.unfound]));
    let parity = [census.parity_pages, census.parity_unreadable, census.parity_lost];
    ([pages, recoverable, buffered], parity, lost.collect())
}

#[test]
fn by_hand() {
    let table: toml::Table = include_str!("../census.toml").parse().expect("cases");
    for case in table["case"].as_array().expect("a list") {
        let case = case.as_table().expect("a case");
        let scheme = case["scheme"].as_str().expect("a scheme");
        let kind = RedundancyKind::ALL.iter().find(|kind| kind.name() == scheme);
        let mut config = config(*kind.expect("a scheme"));
        config.buffer.size = Bytes(case.get("frames").map_or(0, number) * 4096);
        if let Some(days) = case.get("period") {
            let period = DAYS(number(days));
            config.scrub =
                scrub::Params { name: ScrubKind::Patrol, period, margin: 0.1, stripes: false };
        }
        let mut device = Device::new(&config).expect("a sound drive");
        for text in case["steps"].as_array().expect("a list") {
            step(&mut device, text.as_str().expect("a step"));
        }
        assert_eq!(counted(&device.census()), expected(case), "{}", case["why"]);
        let Scrubbed { unreadable, moved, .. } = device.counters().scrubbed;
        let scrubbed = case.get("scrubbed").map_or([0; 2], list);
        assert_eq!([unreadable, moved], scrubbed, "{}", case["why"]);
        device.check().unwrap_or_else(|law| panic!("{}: {}", case["why"], law.0));
    }
}

/// Writes of a few ages, and failed pages, on a drive that has not read any of it since.
fn some_life(kind: RedundancyKind, versions: bool, seed: u64) -> Device {
    let mut rng = Rng::stream(seed, "census");
    let mut config = config(kind);
    config.redundancy.integrity &= versions;
    config.buffer.ack = one_of(&mut rng, &[Ack::OnProgram, Ack::OnInsert]);
    config.buffer.cache_reads = rng.chance(0.5);
    let mut device = Device::new(&config).expect("a sound drive");
    let pages = u64::from(device.layout().logical_pages);
    for _ in 0..3 {
        let writes = (0..150)
            .map(|_| io(HostOp::Write, rng.below(pages - 4), 1 + rng.below(4) as u32, Span::ZERO));
        let writes: Vec<HostIo> = writes.collect();
        run(&mut device, writes);
        // Data that a die reads when the power goes is as old as it was when the read began.
        device.rest_until(device.now() + MINUTE, &mut ());
        device.power_off(DAYS(rng.below(120)), &mut ());
    }
    if config.redundancy.has_versions() {
        for _ in 0..rng.below(5) {
            device.inject(Fault::Page(Lpn(rng.below(pages) as u32)));
        }
    }
    device
}

fn read_everything(device: &mut Device) {
    let pages = device.layout().logical_pages.into();
    run(device, (0..pages).map(|page| io(HostOp::Read, page, 1, Span::ZERO)));
}

/// Reading everything finds exactly the pages that nobody has found, and no page is found twice.
#[test]
fn reading_everything_finds_the_unfound() {
    let (mut found, mut recoverable) = (0, 0);
    for seed in 0..12 {
        for &kind in RedundancyKind::ALL {
            let mut device = some_life(kind, true, seed);
            let before = device.census();
            read_everything(&mut device);
            device.rest_until(device.now() + MINUTE, &mut ());
            let after = device.census();
            let counts = |census: &Census| (census.lost(), census.pages);
            assert_eq!(counts(&after), counts(&before), "seed {seed}, {kind:?}");
            assert_eq!(
                (after.found(), after.unfound()),
                (before.lost(), 0),
                "seed {seed}, {kind:?}"
            );
            found += before.unfound();
            recoverable += before.recoverable;
        }
    }
    assert!(found > 1000 && recoverable > 100, "{found} found, {recoverable} given back");
}

/// Without versions nothing is rebuilt, but the census still knows the pages that parity gives
/// back.
#[test]
fn without_versions_reads_find_the_same() {
    let mut recoverable = 0;
    for seed in 0..12 {
        for &kind in RedundancyKind::ALL {
            let mut device = some_life(kind, false, seed);
            let before = device.census();
            read_everything(&mut device);
            let after = device.census();
            let found = (after.found(), after.unfound());
            assert_eq!(found, (before.lost(), 0), "seed {seed}, {kind:?}");
            assert_eq!(after.recoverable, before.recoverable, "seed {seed}, {kind:?}");
            assert!(device.counters().uncorrectable >= found.0, "each was read");
            recoverable += before.recoverable;
        }
    }
    assert!(recoverable > 100, "{recoverable} given back");
}

/// GC cannot bring back a page that it cannot read: the new copy of a lost page is as lost.
#[test]
fn a_moved_page_stays_lost() {
    let mut config = config(RedundancyKind::Unprotected);
    config.precondition.fill = 1.0;
    let mut device = Device::new(&config).expect("a sound drive");
    device.power_off(DAYS(250), &mut ());
    let pages = u64::from(device.layout().logical_pages);
    let census = device.census();
    assert_eq!((census.pages, census.unfound()), (pages, pages));
    // Half of the pages are written again and again: GC moves the others between them.
    let mut rng = Rng::stream(1, "moved");
    let writes: Vec<u64> = (0..4 * pages).map(|_| 2 * rng.below(pages / 2)).collect();
    run(&mut device, writes.iter().map(|&page| io(HostOp::Write, page, 1, Span::ZERO)));
    let written: BTreeSet<u64> = writes.into_iter().collect();
    let census = device.census();
    assert_eq!(census.lost(), pages - written.len() as u64);
    assert!(device.counters().reads[Source::Gc] > 0 && census.found() > census.unfound());
    // Half of a page is programmed beside the half that could not be read.
    let half = HostIo::new(HostOp::Write, Nanos::ZERO, 4096, 2048);
    run(&mut device, [half]);
    assert_eq!(device.census().lost(), census.lost(), "the other half is still lost");
}

/// A drive does not notice that it is counted.
#[test]
fn a_census_changes_nothing() {
    for &kind in RedundancyKind::ALL {
        let device = some_life(kind, true, 1);
        let serve = |counts: bool| {
            let mut device = device.clone();
            let mut completions: Vec<Completion> = Vec::new();
            let ios = (0..200).map(|page| io(HostOp::Read, page, 2, Span::us(30) * page));
            device.run_watched(ios, Pacing::Open, &mut completions, |device| {
                if counts {
                    device.census();
                }
            });
            (completions, device.counters(), device.losses())
        };
        assert_eq!(serve(true), serve(false), "{kind:?}");
    }
}
