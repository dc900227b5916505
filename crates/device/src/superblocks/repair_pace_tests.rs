//! The pace of repair on a small drive.

use super::Superblocks;
use super::cases::{UNIT, drive, protect, tiny};
use crate::blocks::block_table::BlockState;
use crate::config::{Config, Pattern};
use crate::event_loop::{Device, Pacing};
use crate::observe::completion::Completion;
use crate::raid::fault_kinds::Fault;
use fowler_units::{ByteRate, DieId, HostIo, HostOp, Nanos, Rng, Span};

fn paced(rate: u64) -> Config {
    let mut config = tiny();
    protect(&mut config, 4);
    config.redundancy.integrity = true;
    config.redundancy.rebuild_rate = ByteRate(rate);
    config.over_provisioning = 0.8;
    (config.precondition.fill, config.precondition.pattern) = (1.0, Pattern::Sequential);
    config
}

/// Lets a die fail on an idle drive. Returns the time until every superblock that was full has been
/// repaired, and the number of units in them.
fn repair(config: &Config) -> (Span, u64) {
    let mut device = drive(config);
    let map = &device.layer.map;
    let full = map.superblocks().filter(|&it| map.state(it) == BlockState::Full);
    let units = full.map(|it| u64::from(map.valid(it))).sum();
    device.inject(Fault::Die(DieId(2)));
    let waits = |device: &Device<Superblocks>| {
        // An open superblock is repaired when it is full.
        let layer = &device.layer;
        !layer.renewals.due.is_empty() || layer.renewals.moving.is_some()
    };
    let (began, mut steps) = (device.now(), 0u32);
    while waits(&device) {
        device.rest_until(device.now() + Span::us(100), &mut ());
        steps += 1;
        if steps.is_multiple_of(100) {
            device.check_superblocks().expect("the laws hold");
        }
        assert!(device.now() < Nanos(600_000_000_000), "it does not end");
    }
    assert_eq!(device.losses().expect("it notices losses").lost_in_all(), 0);
    (device.now() - began, units)
}

/// A page of four units at most is read at a time, each when the rate allows those before it. What
/// comes on top is the time that each superblock takes to be programmed and erased after its last
/// page has been read.
#[test]
fn repair_keeps_to_its_rate() {
    let (free, units) = repair(&paced(0));
    assert_eq!(units, 6 * 288);
    for rate in [4_000_000, 8_000_000] {
        let (took, _) = repair(&paced(rate));
        let least = ByteRate(rate).time((units - 4) * UNIT);
        assert!(took >= least && took < least + Span::ms(20) * 6, "{took} of at least {least}");
        assert!(took > free * 3, "{took}, {free} without a limit");
    }
    // A page every 15 ns.
    let (fast, _) = repair(&paced(1 << 40));
    assert!(fast < free + Span::ms(10), "{fast}, {free} without a limit");
}

/// A repair at a page in four seconds does not hold up the host: garbage collection goes first, and
/// the repair continues where it stopped.
#[test]
fn a_slow_repair_makes_way_for_the_host() {
    let slowest = |rate: u64| {
        let mut device = drive(&paced(rate));
        device.inject(Fault::Die(DieId(2)));
        let mut rng = Rng::stream(3, "slow repair");
        let logical = u64::from(device.layer.layout.logical_pages);
        let io = |_| {
            let unit = rng.below(logical - 8);
            HostIo::new(HostOp::Write, Nanos::ZERO, unit * UNIT, (8 * UNIT) as u32)
        };
        let requests: Vec<HostIo> = (0..3000).map(io).collect();
        let (mut answers, mut events) = (Vec::new(), 0u32);
        device.run_watched(requests, Pacing::Closed { depth: 4 }, &mut answers, |device| {
            events += 1;
            if events.is_multiple_of(61) {
                device.check_superblocks().expect("the laws hold");
            }
        });
        assert_eq!(device.failed_dies().expect("one failed").read_only, None);
        answers.iter().map(Completion::latency).max().expect("an answer")
    };
    let (fast, slow) = (slowest(0), slowest(4096));
    assert!(slow < Span::ms(100), "{slow}, {fast} without a limit");
}
