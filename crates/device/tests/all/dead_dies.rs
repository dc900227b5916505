//! Dies that fail for good: their data is rebuilt on other dies or lost, nothing goes to a failed
//! die any more, and a drive that can no longer hold its capacity reports so and takes no writes.

use crate::fault_schedule::unprotected_with;
use crate::faults::{Harmed, asked, case_of, kinds, noticing, peace, strike};
use crate::support::fading::striped;
use crate::support::fault_tally::Tally;
use crate::support::random::one_of;
use fowler_device::failed_dies::Params;
use fowler_device::policy::redundancy::{CachePower, RedundancyKind};
use fowler_device::*;
use fowler_units::{ByteRate, DieId, HostIo, HostOp, Lpn, Nanos, Rng, Span, StripeId};

/// Runs a drive whose dies fail for good, once it has used up its spare dies.
fn case(seed: u64, tally: &mut Tally) -> Option<FailedDieCounts> {
    let kinds = kinds();
    let mut rng = Rng::stream(seed, "dead dies");
    let mut config = noticing(&mut rng, seed, kinds[seed as usize % kinds.len()]);
    let mut later = Rng::stream(seed, "dead dies/later");
    config.failed_dies = Params { spare: one_of(&mut later, &[0, 0, 0, 1, 3]) };
    if later.chance(0.6) {
        // Twice the blocks are enough for a few dies less.
        config.geometry.blocks_per_plane *= 2;
        config.over_provisioning = one_of(&mut later, &[0.3, 0.5, 0.7]);
    }
    let most = one_of(&mut later, &[1, 1, 2, 3, 100]);
    case_of(rng, &config, most, tally)
}

#[test]
fn whatever_dies_fail_nothing_else_is_lost() {
    let mut tally = Tally::default();
    let (mut drives, mut failed, mut kept, mut read_only, mut offline) = (0, 0, 0, 0, 0);
    for seed in 0..200 * asked("FOWLER_SWARM_TIMES").unwrap_or(1) {
        let run = std::panic::AssertUnwindSafe(|| case(seed, &mut tally));
        let Ok(counts) = std::panic::catch_unwind(run) else {
            panic!("dead dies seed {seed} failed; the reason is above")
        };
        let Some(dies) = counts else { continue };
        drives += 1;
        failed += u32::from(dies.failed > 0);
        kept += u32::from(dies.failed > 0 && dies.read_only.is_none());
        read_only += u32::from(dies.read_only.is_some() && dies.offline.is_none());
        offline += u32::from(dies.offline.is_some());
    }
    let seen = (drives, failed, kept, read_only, offline);
    assert!(drives > 60 && failed > 50 && kept > 10 && read_only > 5 && offline > 2, "{seen:?}");
}

#[test]
fn without_redundancy_the_pages_of_a_dead_die_are_lost_and_no_others() {
    let mut tally = Tally::default();
    let all = (0..400).filter_map(|seed| unprotected_with(seed, 0, &mut tally));
    let all: Vec<FailedDieCounts> = all.collect();
    let read_only = all.iter().filter(|counts| counts.read_only.is_some()).count();
    assert!(
        all.len() > 40 && read_only > 10 && read_only < all.len(),
        "{read_only} of {}",
        all.len()
    );
}

const PAGE: u64 = 4096;

/// Ten chips of a die each, in two groups of five.
fn ten_chips(kind: RedundancyKind) -> Config {
    let mut config = striped(kind, CachePower::Protected);
    config.geometry.chips_per_channel = 2;
    config.redundancy.integrity = true;
    config.over_provisioning = 0.8;
    config.buffer.ack = Ack::OnProgram;
    config.redundancy.worn_above = 100;
    config
}

/// Writes and reads at random, ten every millisecond.
fn load(device: &Device, count: u64) -> Vec<HostIo> {
    let mut rng = Rng::stream(7, "dead dies/load");
    let pages = u64::from(device.layout().logical_pages);
    let io = |at: u64| {
        let op = one_of(&mut rng, &[HostOp::Write, HostOp::Write, HostOp::Read]);
        HostIo::new(op, Nanos(at), rng.below(pages) * PAGE, PAGE as u32)
    };
    (0..count).map(|number| number / 10 * 1_000_000).map(io).collect()
}

/// The steps on a die after some moment.
struct Watched {
    die: DieId,
    after: Nanos,
    done: Vec<FlashStep>,
}

impl Probe for Watched {
    fn completed(&mut self, _completion: &Completion) {}

    fn watches_flash(&self) -> Steps {
        Steps::All
    }

    fn stepped(&mut self, steps: &[FlashStep]) {
        let of_die = steps.iter().filter(|step| step.die == self.die && step.at > self.after);
        self.done.extend(of_die);
    }
}

/// The physical pages of a stripe: its data and its parity.
fn cells(device: &Device, stripe: StripeId) -> Vec<Cell> {
    let view = device.stripe(stripe);
    view.data.into_iter().filter_map(|page| page.1).chain(view.parity).collect()
}

// Slow: all laws are checked after every event.
#[test]
fn what_a_dead_die_held_is_rebuilt_on_others_and_nothing_goes_to_it_any_more() {
    for kind in kinds() {
        let mut device = Device::new(&ten_chips(kind)).expect("a drive that works");
        let (at, die) = (Nanos(50_000_321), DieId(3));
        device.schedule_fault(at, Fault::Die(die));
        let mut watched = Watched { die, after: at, done: Vec::new() };
        device.run_watched(load(&device, 3000), Pacing::Open, &mut watched, |device| {
            device.check().unwrap_or_else(|law| panic!("{kind:?}: {}", law.0));
        });
        // A read that the die had begun may have ended.
        let begun = |step: &FlashStep| step.operation.dispatched > at;
        assert!(!watched.done.iter().any(begun), "{kind:?}: {:?}", watched.done);
        let programs = watched.done.iter().filter(|it| it.operation.op != Op::Read);
        assert_eq!(programs.count(), 0, "{kind:?}");
        peace(&mut device, false, &mut Vec::new());
        let dies = device.failed_dies().expect("one has failed");
        assert_eq!((dies.failed, dies.replaced, dies.read_only), (1, 0, None), "{kind:?}");
        assert_eq!((dies.degraded_stripes, dies.sharing_stripes, dies.refused), (0, 0, 0));
        let losses = device.losses().expect("a drive with versions");
        use RedundancyKind::{HybridCaching, PartialParity, Raid5};
        let protects = matches!(kind, Raid5 | PartialParity | HybridCaching);
        assert!(losses.rebuilt > 50 || !protects, "{kind:?} {losses:?}");
        assert!(losses.lost_in_all() == 0 || !protects, "{kind:?} {losses:?}");
        let g = device.layout().geometry;
        let on_it = (0..device.stripes()).flat_map(|stripe| cells(&device, StripeId(stripe)));
        assert_eq!(on_it.filter(|&(ppn, _)| g.die_of(ppn) == die).count(), 0, "{kind:?}");
        assert_eq!(device.census().unfound(), 0);
        device.check_data().unwrap_or_else(|law| panic!("{kind:?}: {}", law.0));
    }
}

/// On chips for one stripe only, the pages of a dead chip share chips with other pages of their
/// stripes. The next chip takes two pages of those stripes, which agrees with the algebra.
#[test]
fn a_second_chip_takes_the_stripes_that_share_it_and_no_others() {
    let mut config = striped(RedundancyKind::Raid5, CachePower::Protected);
    config.over_provisioning = 0.8;
    let mut device = Device::new(&config).expect("a drive that works");
    device.run(load(&device, 500), Pacing::Open, &mut ());
    let mut harmed = Harmed::at_first(&config);
    strike(&mut device, RedundancyKind::Raid5, &mut harmed, Fault::Chip(1));
    peace(&mut device, false, &mut Vec::new());
    let losses = device.losses().expect("a drive with versions");
    assert_eq!((losses.lost_in_all(), device.to_rebuild()), (0, 0));
    let g = device.layout().geometry;
    let chip = |cell: &Cell| g.chip_of_die(g.die_of(cell.0));
    let stripes = || (0..device.stripes()).map(StripeId);
    let on = |stripe: StripeId, of: u32| {
        cells(&device, stripe).iter().filter(|&cell| chip(cell) == of).count()
    };
    let two: Vec<StripeId> = stripes().filter(|&stripe| on(stripe, 2) == 2).collect();
    let sharing = stripes().filter(|&it| (0..g.chips()).any(|of| on(it, of) > 1)).count();
    let counted = device.failed_dies().expect("one has failed").sharing_stripes;
    assert_eq!(sharing as u32, counted);
    assert!(two.len() > 20 && two.len() < sharing, "{} of {sharing}", two.len());
    let data = |stripe: &StripeId| {
        let view = device.stripe(*stripe);
        let on_chip = view.data.iter().filter(|(_, cell)| cell.is_some_and(|it| chip(&it) == 2));
        on_chip.filter(|(page, _)| !device.is_buffered(*page)).count() as u64
    };
    let must: u64 = two.iter().map(data).sum();
    strike(&mut device, RedundancyKind::Raid5, &mut harmed, Fault::Chip(2));
    assert_eq!(device.losses().expect("a drive with versions").lost_in_all(), must);
}

#[test]
fn a_drive_that_cannot_hold_its_capacity_takes_no_writes_and_still_reads() {
    for kind in [RedundancyKind::Raid5, RedundancyKind::HybridCaching, RedundancyKind::Unprotected]
    {
        let mut config = ten_chips(kind);
        config.over_provisioning = 0.25;
        let mut device = Device::new(&config).expect("a drive that works");
        for (number, chip) in [2, 7, 5].into_iter().enumerate() {
            device.schedule_fault(Nanos(20_000_000 * (1 + number as u64)), Fault::Chip(chip));
        }
        let mut answers: Vec<Completion> = Vec::new();
        device.run_watched(load(&device, 2000), Pacing::Open, &mut answers, |device| {
            device.check().unwrap_or_else(|law| panic!("{kind:?}: {}", law.0));
        });
        assert_eq!(answers.len(), 2000);
        let dies = device.failed_dies().expect("three have failed");
        let since = dies.read_only.expect("too few are left");
        assert_eq!((dies.failed, dies.offline), (3, None), "{kind:?}");
        let refused = answers.iter().filter(|it| it.io.op == HostOp::Write && it.io.at >= since);
        assert!(dies.refused >= refused.count() as u64 && dies.refused > 100, "{kind:?} {dies:?}");
        let late = |it: &&Completion| it.io.op == HostOp::Read && it.io.at >= since;
        let read = answers.iter().filter(late).filter(|it| it.latency() > Span::ZERO);
        assert!(read.count() > 100, "{kind:?}");
        for completion in &answers {
            assert_eq!(completion.blame.total(), completion.latency(), "{kind:?} {completion:?}");
        }
        if kind != RedundancyKind::Unprotected {
            // Pages for which there is no room are recovered from their stripes.
            let losses = device.losses().expect("a drive with versions");
            assert!(dies.degraded_stripes > 0 && losses.degraded_reads > 10, "{kind:?} {dies:?}");
        }
    }
}

#[test]
fn spare_dies_take_the_place_of_the_first_that_fail() {
    let mut config = ten_chips(RedundancyKind::PartialParity);
    config.geometry.dies_per_chip = 2;
    config.failed_dies.spare = 3;
    let mut device = Device::new(&config).expect("a drive that works");
    let seen = |device: &Device| {
        let counts = device.failed_dies().expect("some have failed");
        (counts.replaced, counts.spare, counts.failed)
    };
    assert_eq!(device.failed_dies(), None);
    device.inject(Fault::Chip(0));
    assert_eq!(seen(&device), (2, 1, 0));
    peace(&mut device, false, &mut Vec::new());
    device.inject(Fault::Chip(1));
    assert_eq!(seen(&device), (3, 0, 1), "its second die stays failed");
    device.inject(Fault::Chip(1));
    assert_eq!(seen(&device), (3, 0, 2), "the die that took its place fails as well");
    device.inject(Fault::Chip(1));
    assert_eq!(seen(&device), (3, 0, 2), "it has failed already");
    device.inject(Fault::Block(fowler_units::BlockId(5)));
    assert_eq!(seen(&device), (3, 0, 2), "a block is no die");
}

#[test]
fn rebuilding_keeps_to_its_rate_and_to_its_pages_at_once() {
    let run = |at_once: u32, rate: ByteRate| {
        let mut config = ten_chips(RedundancyKind::Raid5);
        let redundancy = &mut config.redundancy;
        (redundancy.rebuild_at_once, redundancy.rebuild_rate) = (at_once, rate);
        let mut device = Device::new(&config).expect("a drive that works");
        let lpn = Lpn(device.layout().logical_pages - 1);
        device.inject(Fault::Chip(4));
        let held = u64::from(device.to_rebuild());
        device.rest_until(Nanos(600_000_000_000), &mut ());
        assert!(device.holds(lpn) && device.to_rebuild() == 0);
        (device.losses().expect("a drive with versions").at_risk, held)
    };
    let (one, _) = run(1, ByteRate(0));
    let (four, _) = run(4, ByteRate(0));
    let (all, _) = run(16, ByteRate(0));
    assert!(one > four * 2 && four > all, "{one} {four} {all}");
    let (slow, pages) = run(4, ByteRate(1_000_000));
    let least = ByteRate(1_000_000).time(PAGE * (pages - 1));
    assert!(slow >= least && slow < least + Span::ms(20), "{slow} of at least {least}");
    assert_eq!(run(4, ByteRate(1 << 40)).0, four, "a rate that it never reaches");
}

#[test]
fn a_pace_that_cannot_be_is_refused() {
    for at_once in [0, 17] {
        let mut config = ten_chips(RedundancyKind::Raid5);
        config.redundancy.rebuild_at_once = at_once;
        let refusals = config.layout().expect_err("refused");
        assert_eq!(refusals.len(), 1);
        let what = &refusals[0].what;
        assert!(what.contains("expected 1 to 16"), "{what}");
    }
}
