//! Random drives with superblocks under random requests and faults, checked as they run. The laws
//! say that every page that cannot be read was rebuilt, rewritten or lost, or waits and can be
//! recovered; here it is checked besides that no page is lost that parity covers, that recovered
//! data has the version written last, and that every read of a lost page says so.
//!
//! Slow: forty drives of each kind, with all laws checked at every fault and every 29th event.
//!
//! `make soak` runs these drives as well (`tests/soak`).
//!
//! With `FOWLER_SWARM_TIMES=n` in the environment, n times as many drives run, and with
//! `FOWLER_SWARM_FAULTS=n` n faults strike the drives whose stripes cover them all.

use crate::faults::asked;
use crate::support::fault_tally::Tally;
use crate::support::random::one_of;
use crate::support::superblocks::{
    aging, built, cached, covered, drawn, erring, handled, lazy, leveled, of_other_units, requests,
    scrubbed, streamed, tiny, wearing_out,
};
use fowler_device::policy::redundancy::{CachePower, Checks, CutPrograms, RedundancyKind};
use fowler_device::*;
use fowler_units::{
    BlockId, DieId, Geometry, HostIo, HostOp, Lpn, Nanos, PlaneId, Rng, Span, StripeId,
};

/// Draws a fault of a unit of the drive.
pub(crate) fn fault(rng: &mut Rng, config: &Config, layout: &Layout) -> Fault {
    let Geometry { channels, .. } = config.geometry;
    let page = Lpn(rng.below(layout.logical_pages.into()) as u32);
    let below = |rng: &mut Rng, count: u32| rng.below(count.into()) as u32;
    let fault = match rng.below(20) {
        0 => Fault::Channel(below(rng, channels)),
        1 => Fault::Chip(below(rng, config.geometry.chips())),
        2 => Fault::Die(DieId(below(rng, config.geometry.dies()))),
        3 => Fault::Plane(PlaneId(below(rng, config.geometry.planes()))),
        4..=7 => Fault::Block(BlockId(below(rng, config.geometry.blocks()))),
        8 => Fault::Power,
        9 => Fault::Miscorrected(page),
        10 => Fault::Misdirected(page),
        11..=12 => {
            let (_, count) = Fault::Parity(StripeId(0)).unit(config, layout).expect("a unit");
            if count == 0 { Fault::Page(page) } else { Fault::Parity(StripeId(below(rng, count))) }
        }
        _ => Fault::Page(page),
    };
    let unit = fault.unit(config, layout);
    assert!(unit.is_none_or(|(number, count)| number < count), "{fault:?}: {unit:?}");
    fault
}

/// The totals of a swarm: pages rebuilt, reads that were recovered, reads of lost pages, and pages
/// that came back wrong.
#[derive(Default, Debug)]
struct Totals {
    rebuilt: u64,
    degraded: u64,
    failed: u64,
    wrong: u64,
}

/// Returns how many times as many drives are run as usual.
pub(crate) fn times() -> u64 {
    asked("FOWLER_SWARM_TIMES").unwrap_or(1)
}

/// Lets a drive notice losses, and caches survive a loss of power or not. Dies that fail are
/// replaced.
pub(crate) fn failing(rng: &mut Rng, mut config: Config) -> Config {
    config.redundancy.integrity = true;
    config.failed_dies.spare = failed_dies::Params::ENDLESS;
    config.reliability.uber = [0.0, 0.0, 1e-7][(config.seed % 3) as usize];
    config.redundancy.checks = one_of(rng, &[Checks::Nothing, Checks::Versions]);
    if config.flash.program_passes == 1 {
        use CachePower::{Limited, Protected, Volatile};
        config.redundancy.cache = one_of(rng, &[Protected, Volatile, Limited]);
        config.redundancy.saved = one_of(rng, &[1, 30, 200]);
        if config.ftl.program_unit == ProgramUnit::WordLine {
            use CutPrograms::{Finished, Torn};
            config.redundancy.cut_programs = one_of(rng, &[Finished, Torn]);
        }
        config.redundancy.flush_at_end = rng.chance(0.5);
    }
    config
}

/// Draws requests, with or without flushes between them.
pub(crate) fn load(rng: &mut Rng, seed: u64, logical: u64) -> Vec<HostIo> {
    let mut all = requests(rng, logical, 600, 12);
    handled(&mut Rng::stream(seed, "handles"), &mut all);
    let flushes = rng.chance(0.5);
    let more = |io: HostIo| {
        let flush = HostIo::new(HostOp::Flush, io.at, 0, 0);
        [Some(io), (flushes && rng.below(12) == 0).then_some(flush)]
    };
    all.into_iter().flat_map(more).flatten().collect()
}

/// A kind of drive: the name of its stream of random numbers, and the function that makes a drive
/// drawn at random one of this kind.
pub(crate) type Kind = (&'static str, fn(&mut Rng, Config) -> Config);

/// Runs the drive of a seed. Returns its losses; `None` if it cannot work.
pub(crate) fn case(seed: u64, (stream, altered): Kind, tally: &mut Tally) -> Option<LossLedger> {
    let mut rng = Rng::stream(seed, stream);
    let config = drawn(&mut rng);
    let config = altered(&mut rng, config);
    let config = failing(&mut rng, config);
    let device = built(&config).ok()?;
    Some(run(device, &config, &mut rng, (seed, stream), tally))
}

fn swarm(stream: &str) {
    let kind = *KINDS.iter().find(|kind| kind.0 == stream).expect("a kind of drive");
    let drives = times() * if cfg!(debug_assertions) { 40 } else { 600 };
    let (mut tally, mut totals) = (Tally::default(), Totals::default());
    for seed in 0..drives {
        let Some(ledger) = case(seed, kind, &mut tally) else { continue };
        totals.rebuilt += ledger.rebuilt;
        totals.degraded += ledger.degraded_reads;
        totals.failed += ledger.failed_reads;
        totals.wrong += ledger.silent.returned;
    }
    let ran = tally.drives;
    assert!(ran * 2 > drives, "only {ran} of {drives} drives could be built");
    let Totals { rebuilt, degraded, failed, wrong } = totals;
    assert!(rebuilt > 0 && degraded > 0 && failed > 0 && wrong > 0, "{stream}: {totals:?}");
}

/// Returns how many units faults have taken from a drive so far: data and parity in the flash, and
/// data in caches without power.
pub(crate) fn taken_so_far(device: &Device<Superblocks>) -> u64 {
    let ledger = device.losses().expect("it notices losses");
    ledger.unreadable + ledger.parity_unreadable + ledger.lost_writes + ledger.silent.made_in_all()
}

/// Serves requests under faults on the drive of a seed, and checks it. Returns its losses.
fn run(
    mut device: Device<Superblocks>,
    config: &Config,
    rng: &mut Rng,
    (seed, stream): (u64, &str),
    tally: &mut Tally,
) -> LossLedger {
    let case = &format!("seed {seed} of {stream}");
    let layout = config.layout().expect("it was built");
    let all = load(rng, seed, layout.logical.0);
    let pacing = match rng.below(2) {
        0 => Pacing::Open,
        _ => Pacing::Closed { depth: 1 + rng.below(u64::from(config.queue.depth)) as u32 },
    };
    let every = one_of(rng, &[50, 300, 2000]);
    let mut answers: Vec<Completion> = Vec::new();
    let mut events = 0u64;
    device.run_with_faults(all.iter().copied(), pacing, &mut answers, |device| {
        events += 1;
        assert!(events < 10_000_000, "{case} does not end");
        if rng.below(every) == 0 {
            let fault = fault(rng, config, &layout);
            let before = taken_so_far(device);
            device.inject(fault);
            tally.fault(fault, taken_so_far(device) > before);
            let law = device.check_superblocks();
            law.unwrap_or_else(|law| panic!("{case}, {fault:?} at {events}: {law:?}"));
        } else if events.is_multiple_of(29) {
            let law = device.check_superblocks();
            law.unwrap_or_else(|law| panic!("{case}, event {events}: {law:?}"));
        }
    });
    assert_eq!(answers.len(), all.len(), "{case}");
    for answer in &answers {
        assert_eq!(answer.blame.total(), answer.latency(), "{case}: {:?}", answer.io);
    }
    if config.redundancy.flush_at_end {
        device.write_out(&mut ());
        assert!(!device.has_unwritten(), "{case}: the buffer was not written out");
    }
    read_all(&mut device, &layout, case);
    let ledger = device.losses().expect("it notices losses");
    tally.drive(&ledger);
    ledger
}

/// Reads all pages, so that nothing waits to be found. Every read of a lost page says so.
pub(crate) fn read_all(device: &mut Device<Superblocks>, layout: &Layout, case: &str) {
    let now = device.now() + Span::ms(1);
    let pages = 0..u64::from(layout.logical_pages);
    let (size, before) = (layout.page_size.0, device.losses().expect("it notices losses"));
    let reads: Vec<HostIo> =
        pages.map(|page| HostIo::new(HostOp::Read, now, page * size, size as u32)).collect();
    let lost = (0..layout.logical_pages).filter(|&page| device.lost(Lpn(page)).is_some());
    let lost = lost.count() as u64;
    device.run(reads, Pacing::Closed { depth: 8 }, &mut ());
    device.check_superblocks().unwrap_or_else(|law| panic!("{case}, at last: {law:?}"));
    let ledger = device.losses().expect("it notices losses");
    let failed = ledger.failed_reads - before.failed_reads;
    // Reads may find pages that no try reads, and lose them.
    let most = lost + ledger.lost_in_all() - before.lost_in_all();
    assert!((lost..=most).contains(&failed), "{case}: {failed} of {lost} to {most}");
}

/// Gives every superblock parity.
pub(crate) fn protected(rng: &mut Rng, mut config: Config) -> Config {
    config.redundancy.name = RedundancyKind::Raid5;
    config.superblocks.parity = 2 + rng.below(7) as u32;
    config
}

/// Defines the kinds of drives, and a test of each.
macro_rules! kinds {
    ($($(#[$about:meta])* $test:ident, $stream:literal => $altered:expr;)*) => {
        pub(crate) const KINDS: &[Kind] = &[$(($stream, $altered)),*];

        $($(#[$about])* #[test] fn $test() { swarm($stream); })*
    };
}
pub(crate) use kinds;

kinds! {
    faults_take_nothing_that_parity_covers, "faults" => protected;
    faults_whatever_the_cache, "faults of a cache" => |rng, config| {
        let config = cached(rng, config);
        protected(rng, config)
    };
    faults_whatever_the_age, "faults of old data" => |rng, config| {
        let config = aging(rng, config);
        protected(rng, config)
    };
    faults_whatever_the_parity, "faults and coverage" => covered;
    faults_whatever_the_units, "faults of other units" => |rng, config| {
        let config = of_other_units(rng, config);
        protected(rng, config)
    };
    faults_whatever_stays, "faults and clean frames" => |rng, config| {
        let config = lazy(rng, config);
        protected(rng, config)
    };
    faults_whatever_the_errors, "faults and errors" => |rng, config| {
        let config = erring(rng, config);
        protected(rng, config)
    };
    faults_whatever_the_streams, "faults and streams" => |rng, config| {
        let config = streamed(rng, config);
        protected(rng, config)
    };
    /// Between the faults, scrubbing reads pages and compares stripes.
    faults_whatever_is_scrubbed, "faults and scrubbing" => |rng, config| {
        let config = scrubbed(rng, config);
        if config.redundancy.has_stripes() { config } else { protected(rng, config) }
    };
    faults_whatever_the_wear, "faults and wear" => |rng, config| {
        let config = leveled(rng, config);
        protected(rng, config)
    };
    faults_whatever_the_blocks, "faults and bad blocks" => |rng, config| {
        let config = match rng.below(3) {
            0 => cached(rng, config),
            1 => covered(rng, config),
            _ => config,
        };
        let config = wearing_out(rng, config);
        protected(rng, config)
    };
    /// Scrubbing reads and compares what bad blocks have left of stripes.
    faults_whatever_is_scrubbed_of_bad_blocks, "faults, scrubbing and bad blocks" => |rng, config| {
        let config = scrubbed(rng, config);
        let config = wearing_out(rng, config);
        if config.redundancy.has_stripes() { config } else { protected(rng, config) }
    };
}

/// Between superblocks with gaps, each stream once counted whole superblocks for itself, and took
/// half of one to be the least that any holds for the others: collection took room that had been
/// promised to wear leveling.
#[test]
fn moved_data_leaves_other_streams_the_room_promised_to_them() {
    let stream = "faults, scrubbing and bad blocks";
    let kind = *KINDS.iter().find(|kind| kind.0 == stream).expect("a kind of drive");
    assert!(case(263, kind, &mut Tally::default()).is_some(), "the drive works");
}

/// A full drive of four dies on two channels that notices losses, with one command in `parity`
/// parity. A die that fails is replaced.
fn covering(parity: u32) -> Config {
    let mut config = tiny();
    config.redundancy.name = RedundancyKind::Raid5;
    config.superblocks.parity = parity;
    config.redundancy.integrity = true;
    config.failed_dies.spare = failed_dies::Params::ENDLESS;
    // Parity of every other command takes half of the space.
    config.over_provisioning = 0.65;
    config
}

/// Draws a fault that takes no more of any stripe than its parity gives back: of a whole chip if
/// the stripe is no wider than the chips, and of a whole channel if it is no wider than these.
fn covered_fault(rng: &mut Rng, config: &Config, layout: &Layout) -> Fault {
    let (geometry, stripe) = (config.geometry, config.superblocks.parity);
    let (_, parities) = Fault::Parity(StripeId(0)).unit(config, layout).expect("a unit");
    let below = |rng: &mut Rng, count: u32| rng.below(count.into()) as u32;
    match rng.below(9) {
        0 => Fault::Die(DieId(below(rng, geometry.dies()))),
        1 => Fault::Plane(PlaneId(below(rng, geometry.planes()))),
        2 => Fault::Parity(StripeId(below(rng, parities))),
        3 | 4 => Fault::Block(BlockId(below(rng, geometry.blocks()))),
        // Caches are protected, so that nothing but the work in flight is at stake.
        5 => Fault::Power,
        6 if stripe <= geometry.chips() => Fault::Chip(below(rng, geometry.chips())),
        7 if stripe <= geometry.channels => Fault::Channel(below(rng, geometry.channels)),
        _ => Fault::Page(Lpn(below(rng, layout.logical_pages))),
    }
}

/// Whatever the stripe covers is never lost, however often it fails, if it is repaired in between.
/// Stripes are as wide as the chips, or as the channels.
#[test]
fn nothing_that_the_stripe_covers_is_lost() {
    let usual = if cfg!(debug_assertions) { 300 } else { 10_000 };
    let faults = asked("FOWLER_SWARM_FAULTS").unwrap_or(usual) / 2;
    for parity in [4, 2] {
        fail_again_and_again(&covering(parity), faults);
    }
}

/// Lets a drive fail `faults` times, under requests and with time for repair in between.
fn fail_again_and_again(config: &Config, faults: u64) {
    let layout = config.layout().expect("it works");
    let mut device = built(config).expect("it works");
    let mut rng = Rng::stream(11, "faults");
    let rest = |device: &mut Device<Superblocks>| {
        device.rest_until(device.now() + Span::ms(60_000), &mut ());
        device.check_superblocks().expect("the laws hold");
    };
    let size = layout.page_size.0;
    let (pages, mut kinds) = (u64::from(layout.logical_pages), Tally::default());
    for number in 0..faults {
        let fault = covered_fault(&mut rng, config, &layout);
        let case = format!("{fault:?}, number {number}");
        let (now, count) = (device.now(), rng.below(200));
        let io = |number| {
            let op = if rng.chance(0.5) { HostOp::Write } else { HostOp::Read };
            // The times of a run begin where the last one ended.
            let at = Nanos::ZERO + Span::us(200) * number;
            HostIo::new(op, at, rng.below(pages) * size, size as u32)
        };
        let all: Vec<HostIo> = (0..count).map(io).collect();
        device.schedule_fault(now + Span::us(rng.below(40_000)), fault);
        device.run(all, Pacing::Open, &mut ());
        rest(&mut device);
        kinds.fault(fault, true);
        let ledger = device.losses().expect("it notices losses");
        assert_eq!((ledger.lost_in_all(), ledger.wrong), (0, 0), "{case}");
        // Open superblocks of which a unit has failed are not moved before they are full.
        assert!(device.spoilt_superblocks() <= config.open_streams(), "{case}");
        for _ in 0..100 {
            if device.spoilt_superblocks() == 0 {
                break;
            }
            let now = device.now();
            let io = |_| HostIo::new(HostOp::Write, now, rng.below(pages) * size, size as u32);
            let all: Vec<HostIo> = (0..600).map(io).collect();
            device.run(all, Pacing::Closed { depth: 16 }, &mut ());
            rest(&mut device);
        }
        assert_eq!(device.spoilt_superblocks(), 0, "{case}: never moved");
    }
    let ledger = device.losses().expect("it notices losses");
    assert_eq!(ledger.faults, faults);
    assert!(ledger.rebuilt > 10 * faults && ledger.degraded_reads > 0, "{ledger:?}");
    let channels = config.superblocks.parity <= config.geometry.channels;
    let [.., chip, channel, power, _, _] = kinds.faults;
    assert!(chip > 0 && power > 0 && (channel > 0) == channels, "{:?}", kinds.faults);
}
