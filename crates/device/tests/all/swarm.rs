//! A swarm of tiny random drives under random requests: every conservation law after every event,
//! every request answered once with parts that sum to its latency, and an obvious model (an ordered
//! set of the pages that hold data) that must agree in the end. A failure names its seed.

use crate::support::random::{Choice, drive, one_of, requests};
use fowler_device::policy::placement::{Isolation, PlacementKind};
use fowler_device::policy::voltage::VoltageKind;
use fowler_device::reliability::RetryCost;
use fowler_device::*;
use fowler_units::{Deadline, HostIo, HostOp, Lpn, PlacementHandle, QueueId, Rng, Span};
use std::collections::BTreeSet;

/// Returns the pages that hold data in the end, by the obvious model: requests one after another.
fn model(initially: BTreeSet<u32>, requests: &[HostIo], page: u64) -> BTreeSet<u32> {
    let mut held = initially;
    for io in requests {
        let (from, to) = (io.offset, io.offset + u64::from(io.size));
        match io.op {
            HostOp::Write => held.extend((from / page) as u32..to.div_ceil(page) as u32),
            HostOp::Trim => {
                let gone = (from.div_ceil(page) as u32)..(to / page) as u32;
                held.retain(|held_page| !gone.contains(held_page));
            }
            HostOp::Read | HostOp::Flush => {}
        }
    }
    held
}

/// Returns the pages that some request trims.
fn trimmed(requests: &[HostIo], page: u64) -> BTreeSet<u32> {
    let trims = requests.iter().filter(|io| io.op == HostOp::Trim);
    trims
        .flat_map(|io| {
            let (from, to) = (io.offset, io.offset + u64::from(io.size));
            (from.div_ceil(page) as u32)..(to / page) as u32
        })
        .collect()
}

fn held(device: &Device) -> BTreeSet<u32> {
    // A page that too many errors made unreadable, and that nothing brings back, held data.
    let pages = (0..device.layout().logical_pages).map(Lpn);
    let held = |page: &Lpn| device.holds(*page) || device.lost(*page).is_some();
    pages.filter(held).map(|page| page.0).collect()
}

/// Runs one drive and one workload. Returns true if the drive could work at all.
fn case(seed: u64, checked: bool) -> bool {
    let mut rng = Rng::stream(seed, "swarm");
    let mut config = drive(&mut rng, seed, &Choice::all());
    // These choices are drawn apart, so that the drives of the digests stay the same.
    let mut later = Rng::stream(seed, "swarm/later");
    if !config.redundancy.has_stripes() {
        config.placement.stripe_unit = one_of(&mut later, &[1, 1, 2, 3, 8]);
    }
    if config.voltage.name != VoltageKind::ByHotness && later.chance(0.2) {
        config.placement.name = PlacementKind::Handles;
        config.placement.handles = 2 + later.below(3) as u32;
        config.placement.isolation =
            one_of(&mut later, &[Isolation::Initial, Isolation::Persistent]);
        config.geometry.blocks_per_plane += 2 * config.placement.handles;
    }
    config.reliability.retry = one_of(&mut later, &[RetryCost::Whole, RetryCost::Increment]);
    let line = &mut Rng::stream(seed, "swarm/line");
    config.admission = one_of(line, &[config.admission, config.admission, Admission::Shared]);
    config.queue.reads_behind = line.below(8) as u32;
    let orders = [Arbitration::Arrival, Arbitration::RoundRobin, Arbitration::Weighted];
    config.queue.arbitration = one_of(line, &orders);
    config.queue.weights = one_of(line, &["1", "3 1", "1 2 16"]).parse().expect("weights");
    config.queue.taken = 1 + line.below(6) as u32;
    let Ok(mut device) = Device::new(&config) else { return false };
    let initially = held(&device);
    let count = 20 + rng.below(100);
    let mut requests = requests(&mut rng, device.layout(), count);
    for io in &mut requests {
        if later.chance(0.2) {
            *io = io.with_deadline(Deadline::after(Span(later.below(100_000_000))));
        }
        io.placement = PlacementHandle(later.below(6) as u8);
        io.queue = QueueId(line.below(3) as u16);
    }
    let pacing = one_of(
        &mut rng,
        &[Pacing::Open, Pacing::Open, Pacing::Closed { depth: 1 }, Pacing::Closed { depth: 7 }],
    );
    let mut completions: Vec<Completion> = Vec::new();
    device.run_watched(requests.iter().copied(), pacing, &mut completions, |device| {
        if checked {
            device.check().unwrap_or_else(|law| panic!("at {}: {}", device.now().0, law.0));
        }
    });
    device.check().unwrap_or_else(|law| panic!("in the end: {}", law.0));
    device.check_data().unwrap_or_else(|law| panic!("in the end: {}", law.0));
    assert_eq!(completions.len(), requests.len(), "each request is answered once");
    for completion in &completions {
        assert_eq!(completion.blame.total(), completion.latency(), "parts: {completion:?}");
    }
    let latencies: u128 = completions.iter().map(|it| u128::from(it.latency().0)).sum();
    assert_eq!(device.counters().outstanding, latencies, "Little's law");
    let sizes = |ios: &mut Vec<(u64, u32, HostOp)>| ios.sort_unstable();
    let mut asked: Vec<_> = requests.iter().map(|io| (io.offset, io.size, io.op)).collect();
    let mut got: Vec<_> = completions.iter().map(|c| (c.io.offset, c.io.size, c.io.op)).collect();
    sizes(&mut asked);
    sizes(&mut got);
    assert_eq!(asked, got, "the requests answered are those asked");
    let page = device.layout().geometry.page_size.0;
    let (mut held, mut expected) = (held(&device), model(initially, &requests, page));
    if config.queue.arbitration != Arbitration::Arrival {
        // Queues take turns, so a trim may come before or after a write of another queue.
        let unclear = trimmed(&requests, page);
        held.retain(|page| !unclear.contains(page));
        expected.retain(|page| !unclear.contains(page));
    }
    assert_eq!(held, expected, "the pages that hold data");
    true
}

#[allow(clippy::disallowed_methods, reason = "a failure is looked into by hand")]
fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| value.parse().expect("a number"))
}

/// Runs the seeds. With `FOWLER_SWARM_SEED=n` in the environment only that seed runs, to look into
/// a failure; with `FOWLER_SWARM_TIMES=n`, n times as many seeds run.
fn swarm(seeds: std::ops::Range<u64>, checked: bool) {
    if let Some(seed) = asked("FOWLER_SWARM_SEED") {
        case(seed, checked);
        return;
    }
    let times = asked("FOWLER_SWARM_TIMES").unwrap_or(1);
    let seeds = seeds.start..seeds.start + times * (seeds.end - seeds.start);
    let mut worked = 0;
    let all = seeds.end - seeds.start;
    for seed in seeds {
        let outcome = std::panic::catch_unwind(|| case(seed, checked));
        match outcome {
            Ok(ran) => worked += u64::from(ran),
            Err(_) => panic!("swarm seed {seed} failed (checked: {checked}); the reason is above"),
        }
    }
    assert!(worked * 3 > all, "only {worked} of {all} drives could work: the swarm tests little");
}

// Slow: 1,500 drives, with every sum taken again after every event.
#[test]
fn conservation_after_every_event() {
    swarm(0..1500, true);
}

// Slow: 6,000 drives.
#[test]
fn conservation_in_the_end() {
    swarm(10_000..16_000, false);
}

#[test]
fn the_same_seed_gives_the_same_completions() {
    for seed in 0..50 {
        let run = || {
            let mut rng = Rng::stream(seed, "swarm");
            let config = drive(&mut rng, seed, &Choice::all());
            let mut device = Device::new(&config).ok()?;
            let requests = requests(&mut rng, device.layout(), 100);
            let mut completions: Vec<Completion> = Vec::new();
            device.run(requests, Pacing::Open, &mut completions);
            Some((completions, device.counters()))
        };
        assert_eq!(run(), run(), "seed {seed}");
    }
}

/// A run draws its source to the end, and does not ask again after the end.
#[test]
fn a_source_is_drawn_to_its_end_and_no_further() {
    for count in 0..20 {
        for pacing in [Pacing::Open, Pacing::Closed { depth: 3 }] {
            let mut device = Device::new(&crate::support::small()).expect("a sound drive");
            let requests = requests(&mut Rng::stream(count, "source"), device.layout(), count);
            let mut left = requests.iter().copied();
            let mut ended = false;
            let source = std::iter::from_fn(|| {
                assert!(!ended, "asked after the end");
                let io = left.next();
                ended = io.is_none();
                io
            });
            let mut completions: Vec<Completion> = Vec::new();
            device.run(source, pacing, &mut completions);
            assert!(ended && completions.len() as u64 == count);
        }
    }
}
