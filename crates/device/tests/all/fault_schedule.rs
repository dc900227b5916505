//! Faults at times known in advance, and faults on drives without redundancy.

use crate::faults::{Harmed, fault, kinds, noticing, peace, strike, taken_so_far};
use crate::support::algebra::check_census;
use crate::support::fading::striped;
use crate::support::fault_tally::Tally;
use crate::support::random::{Choice, drive, may_err, one_of, requests, whole_pages};
use fowler_device::policy::redundancy::{CachePower, RedundancyKind};
use fowler_device::*;
use fowler_units::{BlockId, DieId, HostIo, HostOp, Lpn, Nanos, PlaneId, Rng, Span, StripeId};
use std::collections::BTreeSet;

/// A second of writes and reads, a hundred outstanding at times.
fn load(device: &Device) -> Vec<HostIo> {
    let mut rng = Rng::stream(5, "fault schedule");
    let pages = u64::from(device.layout().logical_pages);
    let io = |at: u64, rng: &mut Rng| {
        let op = one_of(rng, &[HostOp::Write, HostOp::Write, HostOp::Read]);
        HostIo::new(op, Nanos(at), rng.below(pages) * 4096, 4096)
    };
    (0..2000).map(|number| io(number / 100 * 30_000_000, &mut rng)).collect()
}

const FAULTS: [Fault; 6] = [
    Fault::Page(Lpn(7)),
    Fault::Parity(StripeId(9)),
    Fault::Block(BlockId(3)),
    Fault::Plane(PlaneId(2)),
    Fault::Chip(3),
    Fault::Channel(1),
];

/// Returns the effects of a fault, as seen right after it.
fn seen(device: &Device) -> (LossLedger, Census, u32) {
    let losses = device.losses().expect("a drive that notices losses");
    (
        LossLedger { at_risk: Span::ZERO, since: None, ..losses },
        device.census(),
        device.to_rebuild(),
    )
}

fn config(kind: RedundancyKind) -> Config {
    let mut config = striped(kind, CachePower::Protected);
    config.redundancy.integrity = true;
    config
}

#[test]
fn a_scheduled_fault_does_what_an_injected_one_does_at_that_moment() {
    for kind in [RedundancyKind::Raid5, RedundancyKind::PartialParity, RedundancyKind::Unprotected]
    {
        for fault in FAULTS {
            if kind == RedundancyKind::Unprotected && matches!(fault, Fault::Parity(_)) {
                continue;
            }
            let new = Device::new(&config(kind)).unwrap();
            let at = Nanos(120_000_123);
            // After the last event before that moment.
            let (mut pilot, mut calls) = (new.clone(), 0);
            pilot.run_watched(load(&new), Pacing::Open, &mut (), |device| {
                calls += u32::from(device.now() < at);
            });
            let (mut device, mut call, mut injected) = (new.clone(), 0, None);
            device.run_with_faults(load(&new), Pacing::Open, &mut (), |device| {
                call += 1;
                if call == calls {
                    device.inject(fault);
                    injected = Some(seen(device));
                }
            });
            let (mut device, mut scheduled) = (new.clone(), None);
            let mut answers: Vec<Completion> = Vec::new();
            device.schedule_fault(at, fault);
            device.run_watched(load(&new), Pacing::Open, &mut answers, |device| {
                if let ([struck], None) = (device.struck(), &scheduled) {
                    assert_eq!((struck.at, device.now()), (at, at));
                    scheduled = Some(seen(device));
                }
            });
            assert!(
                answers.iter().any(|answer| answer.io.at < at && answer.done > at),
                "in flight"
            );
            device.check().unwrap_or_else(|law| panic!("{kind:?} {fault:?}: {}", law.0));
            assert_eq!(scheduled, injected, "{kind:?} {fault:?}");
            let (ledger, census, _) = scheduled.unwrap();
            let struck = device.struck()[0];
            assert_eq!(ledger.faults, 1);
            assert_eq!(struck.after.unreadable, ledger.unreadable);
            assert_eq!(census.lost() > 0, kind == RedundancyKind::Unprotected, "{fault:?}");
        }
    }
}

#[test]
fn faults_of_one_moment_strike_in_order_and_those_beyond_the_end_do_not() {
    let mut device = Device::new(&config(RedundancyKind::Unprotected)).unwrap();
    for (at, chip) in [(5, 1), (5, 0), (90_000_000_000, 2)] {
        device.schedule_fault(Nanos(at), Fault::Chip(chip));
    }
    device.run(load(&device.clone()), Pacing::Closed { depth: 4 }, &mut ());
    let struck: Vec<_> = device.struck().iter().map(|strike| (strike.at.0, strike.fault)).collect();
    assert_eq!(struck, [(5, Fault::Chip(1)), (5, Fault::Chip(0))]);
    assert!(device.now() < Nanos(90_000_000_000));
}

#[test]
#[should_panic(expected = "faults out of order")]
fn faults_are_scheduled_in_order() {
    let mut device = Device::new(&config(RedundancyKind::Unprotected)).unwrap();
    device.schedule_fault(Nanos(5), Fault::Chip(1));
    device.schedule_fault(Nanos(4), Fault::Chip(1));
}

#[test]
#[should_panic(expected = "faults need policy.redundancy.integrity")]
fn a_drive_that_notices_no_loss_has_no_faults() {
    let mut config = config(RedundancyKind::Unprotected);
    config.redundancy.integrity = false;
    Device::new(&config).unwrap().inject(Fault::Chip(1));
}

/// Returns the pages of the host for which `holds` is true.
fn pages(device: &Device, holds: impl Fn(&Device, Lpn) -> bool) -> BTreeSet<Lpn> {
    (0..device.layout().logical_pages).map(Lpn).filter(|&page| holds(device, page)).collect()
}

/// A random drive without redundancy, whose units fail at random moments. Only pages that held data
/// can be lost, and once everything has failed, all data is lost that only the flash held.
pub fn unprotected(seed: u64, tally: &mut Tally) {
    unprotected_with(seed, failed_dies::Params::ENDLESS, tally);
}

/// As [`unprotected`], on a drive with `spare` spare dies. Returns the counts of its failed dies.
pub fn unprotected_with(seed: u64, spare: u32, tally: &mut Tally) -> Option<FailedDieCounts> {
    let mut rng = Rng::stream(seed, "faults without redundancy");
    let mut config = drive(&mut rng, seed, &Choice::protected(RedundancyKind::Unprotected));
    config.redundancy.integrity = true;
    config.redundancy.name = RedundancyKind::Unprotected;
    config.failed_dies.spare = spare;
    let mut device = Device::new(&config).ok()?;
    let count = 20 + rng.below(100);
    let requests = requests(&mut rng, device.layout(), count);
    let g = device.layout().geometry;
    device.run_with_faults(requests, Pacing::Closed { depth: 5 }, &mut (), |device| {
        device.check().unwrap_or_else(|law| panic!("seed {seed}: {}", law.0));
        if !rng.chance(0.01) {
            return;
        }
        let one = |rng: &mut Rng, count: u32| rng.below(count.into()) as u32;
        let fault = match rng.below(6) {
            0 => Fault::Block(BlockId(one(&mut rng, g.blocks()))),
            1 => Fault::Plane(PlaneId(one(&mut rng, g.planes()))),
            2 => Fault::Chip(one(&mut rng, g.chips())),
            3 => Fault::Channel(one(&mut rng, g.channels)),
            4 => Fault::Die(DieId(one(&mut rng, g.dies()))),
            _ => Fault::Power,
        };
        let before = taken_so_far(device);
        if fault == Fault::Power {
            device.inject(fault);
        } else {
            strike_unprotected(device, fault);
            if !may_err(&config) {
                let lost = lost(device).len() as u64;
                assert_eq!((device.census().found(), device.census().unfound()), (lost, 0));
            }
        }
        tally.fault(fault, taken_so_far(device) > before);
        device.check().unwrap_or_else(|law| panic!("seed {seed}: {}", law.0));
    });
    let dies = device.failed_dies().filter(|counts| counts.failed > 0);
    if spare != failed_dies::Params::ENDLESS {
        return dies;
    }
    // A page that is being moved does not fail.
    device.rest_until(device.now() + Span::ms(60_000), &mut ());
    let only_there = pages(&device, |ssd, page| ssd.holds(page) && !ssd.is_buffered(page));
    (0..g.channels).for_each(|channel| device.inject(Fault::Channel(channel)));
    assert!(only_there.iter().all(|&page| device.lost(page).is_some()), "seed {seed}");
    tally.end(&device);
    None
}

fn lost(device: &Device) -> BTreeSet<Lpn> {
    pages(device, |device, page| device.lost(page).is_some())
}

/// Lets a unit fail. The unit takes only pages that held data, and counts each page once.
fn strike_unprotected(device: &mut Device, fault: Fault) {
    let (held, before) = (pages(device, Device::holds), device.losses().unwrap());
    let gone_before = lost(device);
    device.inject(fault);
    let (after, gone) = (device.losses().unwrap(), lost(device));
    let now: Vec<Lpn> = gone.difference(&gone_before).copied().collect();
    assert!(now.iter().all(|page| held.contains(page) && !device.holds(*page)));
    assert_eq!(after.lost_in_all() - before.lost_in_all(), now.len() as u64, "{fault:?}");
}

/// A seed outside the daily range that failed once: a block failed while a page was taken from it,
/// and its plane, which could do without the block but for that page, was full forever.
const MENDED: u64 = 202_978_011;

#[test]
fn without_redundancy_a_unit_takes_what_only_it_holds() {
    let mut tally = Tally::default();
    unprotected(MENDED, &mut tally);
    for seed in 0..400 {
        unprotected(seed, &mut tally);
    }
    let Tally { drives, lost, rewritten, .. } = tally;
    assert!(drives > 100 && lost > 5000 && rewritten > 10, "{tally}");
}

/// A random drive and a random schedule of faults. Each fault has the same effect as one that is
/// injected into a copy of the drive after the last event before, where the algebra determines the
/// losses.
pub fn scheduled(seed: u64, kind: RedundancyKind, tally: &mut Tally) {
    let mut rng = Rng::stream(seed, "scheduled faults");
    let config = noticing(&mut rng, seed, kind);
    let Ok(mut device) = Device::new(&config) else { return };
    if device.stripes() == 0 {
        return;
    }
    let count = 20 + rng.below(60);
    let requests = whole_pages(&mut rng, device.layout(), count);
    let end = requests.last().map_or(0, |io| io.at.0) + 10_000_000;
    let mut times: Vec<u64> = (0..1 + rng.below(20)).map(|_| 1 + rng.below(end)).collect();
    times.sort_unstable();
    // `power.rs` lets the power fail.
    let units = times.into_iter().map(|at| (Nanos(at), fault(&mut rng, &device)));
    let faults: Vec<_> = units.filter(|(_, fault)| *fault != Fault::Power).collect();
    faults.iter().for_each(|&(at, fault)| device.schedule_fault(at, fault));
    // Finds the event at which each fault strikes.
    let (mut pilot, mut events, mut strikes) = (device.clone(), 0_u32, Vec::new());
    pilot.run_watched(requests.iter().copied(), Pacing::Open, &mut (), |device| {
        events += 1;
        strikes.extend((strikes.len()..device.struck().len()).map(|_| events));
    });
    let errs = may_err(&config);
    // Cells err at any time, so that a census a moment earlier may differ.
    let seen = |device: &Device| {
        let (losses, census, to_rebuild) = seen(device);
        (losses, if errs { Census::default() } else { census }, to_rebuild)
    };
    let (mut events, mut harmed, mut injected) = (0, Harmed::at_first(&config), None);
    device.run_watched(requests, Pacing::Open, &mut (), |device| {
        events += 1;
        let struck = device.struck();
        if let Some(injected) = injected.take() {
            let last = struck.last().expect("it struck");
            assert_eq!(seen(device), injected, "{last:?}");
            let Struck { before, after, .. } = last;
            let took = |ledger: &LossLedger| ledger.unreadable + ledger.parity_unreadable;
            tally.fault(last.fault, took(after) > took(before));
            tally.count(&check_census(device));
        }
        harmed.look(device);
        if strikes.get(struck.len()) == Some(&(events + 1)) {
            let mut copy = device.clone();
            strike(&mut copy, kind, &mut harmed, faults[struck.len()].1);
            injected = Some(seen(&copy));
        }
    });
    device.check().unwrap_or_else(|law| panic!("after the requests: {}", law.0));
    device.check_data().unwrap_or_else(|law| panic!("after the requests: {}", law.0));
    peace(&mut device, errs, &mut Vec::new());
    tally.count(&check_census(&device));
    tally.end(&device);
}

#[test]
fn a_schedule_takes_what_no_equation_gives() {
    let (kinds, mut tally) = (kinds(), Tally::default());
    for seed in 0..400 {
        scheduled(seed, kinds[seed as usize % kinds.len()], &mut tally);
    }
    assert!(tally.drives > 70 && tally.took > 150 && tally.rebuilt > 50, "{tally}");
}
