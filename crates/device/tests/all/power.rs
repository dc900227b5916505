//! Spans without power: the losses of caches, data that has grown too old, and that nothing else
//! happens. A failure of the swarm names its seed.

use crate::support::fading::{DAYS, MINUTE, fading, io, striped};
use crate::support::random::{Choice, drive, one_of, requests};
use fowler_device::policy::redundancy::{CachePower, CutPrograms, RedundancyKind};
use fowler_device::policy::throttle::ThrottleKind;
use fowler_device::*;
use fowler_units::{Bytes, HostIo, HostOp, Lpn, Nanos, Rng, Span};

fn run(device: &mut Device, requests: impl IntoIterator<Item = HostIo>) {
    let mut completions: Vec<Completion> = Vec::new();
    device.run(requests, Pacing::Open, &mut completions);
    device.check().unwrap_or_else(|law| panic!("{}", law.0));
    device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
}

/// Without power the clock stands, no counter moves, and requests find the drive as it was.
#[test]
fn nothing_happens_without_power() {
    for kind in [RedundancyKind::DisturbLimiting, RedundancyKind::HybridCaching] {
        let mut device = Device::new(&striped(kind, CachePower::Protected)).unwrap();
        run(&mut device, (0..30).map(|turn| io(HostOp::Write, turn * 3, 1, Span::us(100) * turn)));
        let before = (device.now(), device.counters(), device.protection());
        device.power_off(Span::ms(30_000), &mut ());
        assert_eq!((device.now(), device.counters(), device.protection()), before);
        run(&mut device, [io(HostOp::Read, 0, 1, Span::ZERO)]);
        let expected = PowerOffs { spans: 1, off: Span::ms(30_000), ..PowerOffs::default() };
        assert_eq!(*device.power_offs(), expected);
    }
}

/// Retention continues without power. Blocks that are too old by then are refreshed at once, the
/// oldest first.
#[test]
fn what_is_too_old_when_power_comes_back_is_refreshed_first() {
    let mut device =
        Device::new(&striped(RedundancyKind::DisturbLimiting, CachePower::Protected)).unwrap();
    let held = device.layout().mapped_pages.div_ceil(8);
    // Blocks that are written in the last half of a minute stay young enough.
    run(
        &mut device,
        [io(HostOp::Read, 0, 1, Span::ZERO), io(HostOp::Read, 0, 1, Span::ms(30_000))],
    );
    run(&mut device, (0..80).map(|turn| io(HostOp::Write, turn, 1, Span::us(500) * turn)));
    device.rest_until(device.now() + Span::ms(500), &mut ());
    assert_eq!(device.counters().refreshed, Refreshed::default(), "too young");
    device.power_off(Span::ms(29_000), &mut ());
    assert_eq!(device.power_offs().overdue, 0, "a minute is not over");
    device.power_off(Span::ms(1_000), &mut ());
    let overdue = device.power_offs().overdue;
    assert!(overdue > 0 && overdue <= u64::from(held), "{overdue} of {held}");
    let due = device.counters().refreshed.at_hard_limit;
    assert_eq!(due, 5, "one on every die, before any request");
    device.rest_until(device.now() + Span::ms(2_000), &mut ());
    let due = device.counters().refreshed.at_hard_limit;
    assert!(due >= overdue, "{due} of {overdue}");
    device.power_off(Span::ZERO, &mut ());
    assert_eq!(device.power_offs().overdue, overdue, "none is left");
}

/// The contents of volatile caches are lost: writes that were acknowledged, and parity; protected
/// caches lose nothing; and a capacitor saves as much as its energy allows, data first. This holds
/// with and without versions, and without stripes.
#[test]
fn volatile_caches_lose_what_they_hold() {
    use RedundancyKind::{HybridCaching, PartialParity, Unprotected};
    for kind in [Unprotected, PartialParity, HybridCaching] {
        let limited = [0, 1, 20, 1 << 20].map(|saved| (CachePower::Limited, saved));
        let others = [(CachePower::Volatile, 0), (CachePower::Protected, 0)];
        for (cache, saved) in others.into_iter().chain(limited) {
            for versions in [true, false] {
                let mut config = striped(kind, cache);
                config.redundancy.saved = saved;
                config.redundancy.integrity &= versions;
                let mut device = Device::new(&config).unwrap();
                let pages = 0..device.layout().logical_pages;
                run(&mut device, (0..90).map(|at| io(HostOp::Write, at * 2, 1, Span::ms(5) * at)));
                let dirty = pages.clone().filter(|&page| device.is_dirty(Lpn(page))).count();
                let exposed = device.protection().map_or(0, |protection| protection.exposed);
                device.power_off(MINUTE, &mut ());
                let power_offs = *device.power_offs();
                device.check().unwrap_or_else(|law| panic!("{}", law.0));
                device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
                assert!(dirty > 0 && (exposed > 0) == (kind != Unprotected));
                let energy = match cache {
                    CachePower::Volatile => 0,
                    CachePower::Protected => usize::MAX,
                    CachePower::Limited => saved as usize,
                };
                let kept = dirty.min(energy);
                let parity = (exposed as usize).saturating_sub(energy - kept);
                let case = format!("{kind:?} {cache:?} {saved}");
                assert_eq!(power_offs.lost_writes, (dirty - kept) as u64, "{case}");
                assert_eq!(power_offs.parity_lost, parity as u64, "{case}");
                let left = pages.filter(|&page| device.is_dirty(Lpn(page))).count();
                assert_eq!(left, kept, "{case}");
            }
        }
    }
}

/// A program that is cut off loses its page, if the write was acknowledged, and on the cells the
/// earlier pages of its word line, unless a capacitor ends it. One die programs six pages in turn.
#[test]
fn torn_programs_take_their_word_lines() {
    for (ack, saved) in [(Ack::OnInsert, 0), (Ack::OnInsert, 1), (Ack::OnProgram, 0)] {
        for (word_line, page, on_the_cells) in (1..=3).flat_map(|width| {
            (0..6).flat_map(move |page| [(width, page, false), (width, page, true)])
        }) {
            let mut config = striped(RedundancyKind::Unprotected, CachePower::Limited);
            (config.geometry.channels, config.precondition.fill) = (1, 0.0);
            (config.buffer.ack, config.buffer.evict_ahead) = (ack, 64);
            config.redundancy.integrity = true;
            (config.redundancy.cut_programs, config.redundancy.saved) = (CutPrograms::Torn, saved);
            config.redundancy.word_line = word_line;
            let (transfer, program) = (config.timing.bus_transfer, config.timing.program(0));
            let begun = (transfer + program) * page;
            let later = if on_the_cells { transfer + Span(1) } else { Span(1) };
            let mut device = Device::new(&config).unwrap();
            device.schedule_power_off(Nanos::ZERO + begun + later, MINUTE);
            run(&mut device, (0..6).map(|page| io(HostOp::Write, page, 1, Span::ZERO)));
            device.rest_until(device.now() + MINUTE, &mut ());
            let ended = saved == 1;
            let first =
                if on_the_cells && !ended { page - page % u64::from(word_line) } else { page };
            let torn = (ack == Ack::OnInsert && !ended).then_some(page);
            let expected: Vec<u64> = (first..page).chain(torn).collect();
            let lost = (0..6).filter(|&page| device.lost(Lpn(page as u32)).is_some());
            let case =
                format!("{ack:?}, {saved} saved, {word_line} pages, page {page}, {on_the_cells}");
            assert_eq!(lost.collect::<Vec<u64>>(), expected, "{case}");
            let power_offs = *device.power_offs();
            let writes = if ack == Ack::OnInsert { 5 - page } else { 0 };
            let counts = (power_offs.torn, power_offs.paired, power_offs.lost_writes);
            assert_eq!(counts, (u64::from(!ended), page - first, writes), "{case}");
            let held = (0..6).filter(|&page| device.holds(Lpn(page as u32))).count() as u64;
            assert_eq!(held, 6 - writes - expected.len() as u64, "{case}");
        }
    }
}

/// Acknowledged data that no die has begun to program is lost, wherever in the controller it waits:
/// each of the five dies has begun one program at most.
#[test]
fn what_waits_for_a_die_goes_with_the_power() {
    let mut config = striped(RedundancyKind::DisturbLimiting, CachePower::Volatile);
    config.buffer.evict_ahead = 64;
    let mut device = Device::new(&config).unwrap();
    let mut completions: Vec<Completion> = Vec::new();
    let mut struck = false;
    let writes = (0..40).map(|page| io(HostOp::Write, page, 1, Span::us(1)));
    device.run_with_faults(writes, Pacing::Open, &mut completions, |device| {
        let counters = device.counters();
        if counters.pages_written == 40 && !struck {
            struck = true;
            device.inject(Fault::Power);
            let lost = device.losses().unwrap().lost_writes;
            let programmed = counters.programs[Source::Host];
            assert!(lost + programmed + 5 >= 40, "{lost} of 40, {programmed} programmed");
        }
    });
    assert!(struck);
    device.rest_until(device.now() + MINUTE, &mut ());
    let programmed = device.counters().programs[Source::Host];
    assert_eq!(device.losses().unwrap().lost_writes + programmed, 40, "no more was programmed");
    device.check().unwrap_or_else(|law| panic!("{}", law.0));
    device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
}

/// Data that is older than its cells bear when power comes back cannot be read, and nothing brings
/// it back: not under UDL, and not from a stripe all of whose pages are as old.
#[test]
fn what_the_cells_do_not_bear_is_lost() {
    let lost = |kind: RedundancyKind, off: Span| {
        let mut device = Device::new(&fading(kind)).unwrap();
        device.power_off(off, &mut ());
        run(&mut device, [io(HostOp::Read, 0, 4, Span::ZERO)]);
        device.rest_until(device.now() + MINUTE, &mut ());
        device.check().unwrap_or_else(|law| panic!("{}", law.0));
        device.losses().unwrap()
    };
    assert_eq!(lost(RedundancyKind::DisturbLimiting, DAYS(101)).lost_in_all(), 0, "they bear more");
    assert!(lost(RedundancyKind::DisturbLimiting, DAYS(250)).lost_in_all() > 0);
    for kind in [RedundancyKind::Raid5, RedundancyKind::PartialParity] {
        let losses = lost(kind, DAYS(250));
        let ended =
            (losses.lost_in_all(), losses.rebuilt, losses.degraded_reads, losses.failed_reads);
        assert_eq!(ended, (4, 0, 0, 4), "{kind:?}: {losses:?}");
    }
}

/// A page is recovered from the other pages of its stripe where these are young enough, and nothing
/// of the stripe is lost.
#[test]
fn what_one_block_does_not_bear_comes_back_from_the_others() {
    let mut config = fading(RedundancyKind::Raid5);
    (config.precondition.fill, config.buffer.ack) = (0.0, Ack::OnProgram);
    config.buffer.size = Bytes(4 * 4096);
    let mut device = Device::new(&config).unwrap();
    // One page of the first stripe is older than the others, and the buffer holds pages of another
    // stripe.
    run(&mut device, [io(HostOp::Write, 0, 4, Span::ZERO)]);
    device.power_off(DAYS(90), &mut ());
    run(&mut device, [io(HostOp::Write, 1, 3, Span::ZERO), io(HostOp::Write, 8, 4, Span::ms(100))]);
    device.power_off(DAYS(90), &mut ());
    run(&mut device, [io(HostOp::Read, 0, 4, Span::ms(100))]);
    device.rest_until(device.now() + MINUTE, &mut ());
    let losses = device.losses().unwrap();
    let ended = (losses.unreadable, losses.rebuilt, losses.degraded_reads, losses.lost_in_all());
    assert_eq!(ended, (1, 1, 1, 0), "{losses:?}");
}

/// A random drive that is switched off between two halves of random requests. Returns the writes
/// and parities that are gone; `None` if the drive could not work.
pub fn case(seed: u64) -> Option<u64> {
    let mut rng = Rng::stream(seed, "power");
    let mut config = drive(&mut rng, seed, &Choice::all());
    config.throttle.name = ThrottleKind::Off;
    let mut device = Device::new(&config).ok()?;
    let mut completions: Vec<Completion> = Vec::new();
    let mut own = Rng::stream(seed, "power in flight");
    for _ in 0..OFF {
        let ios = requests(&mut rng, device.layout(), 30);
        let mut at = device.now();
        for _ in 0..own.below(4) {
            at = at + Span::us(own.below(3000));
            device.schedule_power_off(at, one_of(&mut own, &[Span::us(1), Span::ms(600)]));
        }
        let pacing = one_of(&mut rng, &[Pacing::Open, Pacing::Closed { depth: 4 }]);
        device.run(ios, pacing, &mut completions);
        device.rest_until(at.max(device.now()), &mut ());
        if rng.chance(0.5) {
            let rest = one_of(&mut rng, &[Span::us(50), Span::ms(9)]);
            device.rest_until(device.now() + rest, &mut ());
        }
        let day = Span(86_400_000_000_000);
        device.power_off(one_of(&mut rng, &[Span::ms(1), Span::ms(600), day * 400]), &mut ());
        device.check().unwrap_or_else(|law| panic!("power is back: {}", law.0));
        device.check_data().unwrap_or_else(|law| panic!("power is back: {}", law.0));
    }
    let ios = requests(&mut rng, device.layout(), 30);
    device.run(ios, Pacing::Open, &mut completions);
    device.check().unwrap_or_else(|law| panic!("in the end: {}", law.0));
    device.check_data().unwrap_or_else(|law| panic!("in the end: {}", law.0));
    for completion in &completions {
        assert_eq!(completion.blame.total(), completion.latency(), "{completion:?}");
    }
    let power_offs = device.power_offs();
    Some(power_offs.lost_writes + power_offs.parity_lost)
}

/// The number of times that the power of each random drive goes off.
pub const OFF: u64 = 3;

#[test]
fn laws_hold_after_power_was_off() {
    let (mut ran, mut gone) = (0, 0);
    for seed in 0..400 {
        match std::panic::catch_unwind(|| case(seed)) {
            Ok(Some(lost)) => (ran, gone) = (ran + 1, gone + lost),
            Ok(None) => {}
            Err(_) => panic!("power seed {seed} failed; the reason is above"),
        }
    }
    assert!(ran > 130 && gone > 100, "{ran} drives, {gone} writes and parities gone");
}
