//! Tests of faults: the units that they take, and the repair.

use super::Superblocks;
use super::cases::{UNIT, drive, protect, read, tiny};
use super::commands::Stream;
use crate::blocks::block_table::BlockState;
use crate::blocks::failed_dies;
use crate::config::Config;
use crate::event_loop::{Device, Pacing};
use crate::observe::blame::Part;
use crate::observe::completion::Completion;
use crate::observe::operation::Source;
use crate::policy::placement::StreamId;
use crate::policy::redundancy::{CachePower, Checks, CutPrograms};
use crate::raid::fault_kinds::Fault;
use crate::raid::losses::{Failure, Reason};
use fowler_units::{BlockId, DieId, HostIo, HostOp, Lpn, Nanos, Rng, RuId, Span, StripeId, UnitId};

/// A full drive of four dies that notices losses, with one command in so many parity.
fn failing(parity: u32) -> Config {
    let mut config = tiny();
    protect(&mut config, parity);
    config.redundancy.integrity = true;
    // A die that fails is replaced.
    config.failed_dies.spare = failed_dies::Params::ENDLESS;
    // Parity of every other command takes half of the space.
    config.over_provisioning = 0.65;
    config
}

/// Lets the drive work without the host until nothing happens any more.
fn rest(device: &mut Device<Superblocks>) {
    let until = device.now() + Span::ms(60_000);
    device.rest_until(until, &mut ());
    device.check_superblocks().expect("the laws hold");
}

/// Returns the valid units of a block of the flash.
fn valid_in_block(device: &Device<Superblocks>, block: u32) -> Vec<UnitId> {
    let layer = device.superblocks();
    let geometry = layer.sizes().geometry;
    let of = |unit: &UnitId| layer.shape.place(*unit).1.0 / geometry.pages_per_block == block;
    let first = layer.shape.first_unit(RuId(block % geometry.blocks_per_plane));
    let units = first.run(layer.shape.units).filter(of);
    units.filter(|&unit| layer.map.valid_owner(unit).is_some()).collect()
}

/// A block that fails takes its valid units. With stripes over its four dies all of them are
/// rebuilt without the host; without parity all are lost at once.
#[test]
fn a_block_comes_back_where_parity_covers_it() {
    for (parity, rebuilt) in [(4, true), (0, false)] {
        let mut device = drive(&failing(parity));
        let layer = device.superblocks();
        let full = layer.map.superblocks().find(|&it| layer.map.state(it) == BlockState::Full);
        let block = full.expect("a full drive").0 + 2 * layer.sizes().geometry.blocks_per_plane;
        let units = valid_in_block(&device, block);
        assert!(units.len() > 10, "{} units", units.len());
        device.inject(Fault::Block(BlockId(block)));
        device.check_superblocks().expect("the laws hold");
        let ledger = device.losses().expect("it notices losses");
        let count = units.len() as u64;
        let lost = if rebuilt { 0 } else { count };
        assert_eq!((ledger.unreadable, ledger.lost[Reason::Unprotected]), (count, lost));
        rest(&mut device);
        let ledger = device.losses().expect("it notices losses");
        assert_eq!((ledger.rebuilt, ledger.lost_in_all()), (count - lost, lost));
        assert_eq!((ledger.wrong, device.to_rebuild()), (0, 0));
        assert_eq!(device.counters().aged.refreshed, u64::from(rebuilt));
        assert_eq!(device.spoilt_superblocks(), u32::from(!rebuilt));
    }
}

/// A die of four comes back if no stripe has two commands on it, and only then.
#[test]
fn a_die_comes_back_if_stripes_are_not_wider_than_the_dies() {
    for (parity, whole) in [(2, true), (4, true), (5, false), (8, false)] {
        let mut device = drive(&failing(parity));
        device.inject(Fault::Die(DieId(1)));
        device.check_superblocks().expect("the laws hold");
        rest(&mut device);
        let ledger = device.losses().expect("it notices losses");
        assert!(ledger.unreadable > 900, "{ledger:?}");
        let lost = ledger.lost_in_all();
        fill_open(&mut device);
        let ledger = device.losses().expect("it notices losses");
        assert_eq!(lost == 0, whole, "{parity}: {lost}");
        assert_eq!(ledger.lost[Reason::BeyondParity], lost, "{parity}");
        assert_eq!(ledger.rebuilt + ledger.rewritten, ledger.unreadable - lost, "{parity}");
        assert!(ledger.at_risk > Span::ZERO && ledger.since.is_none(), "{ledger:?}");
        assert_eq!(ledger.wrong, 0);
    }
}

/// Every page has the version that was written last, after a die has been rebuilt twice.
#[test]
fn a_rebuilt_die_holds_what_was_written() {
    let mut device = drive(&failing(4));
    for die in [3, 0] {
        device.inject(Fault::Die(DieId(die)));
        fill_open(&mut device);
    }
    let contents = device.superblocks().contents.as_ref().expect("it notices losses");
    let map = &device.superblocks().map;
    for page in map.pages() {
        let crate::mapping::page_map::Location::Flash(unit) = map.place(page) else { continue };
        let version = contents.integrity.version(page);
        assert!(contents.reads(unit) && contents.integrity.version_at(unit) == version);
    }
    let ledger = device.losses().expect("it notices losses");
    assert_eq!((ledger.lost_in_all(), ledger.wrong), (0, 0), "{ledger:?}");
}

/// A read of a page that has failed waits for the other three commands of its stripe: it senses and
/// transfers once in vain, and then waits until the slowest of the three dies has sent its page.
#[test]
fn a_degraded_read_takes_the_rest_of_its_stripe() {
    let config = failing(4);
    let mut device = drive(&config);
    // A unit of a complete stripe of an open superblock, which is not moved before it is full.
    let found = (0..40).find_map(|seed| {
        let now = device.now();
        let mut rng = Rng::stream(seed, "writes");
        let logical = u64::from(device.superblocks().map.logical());
        let all: Vec<HostIo> = (0..100)
            .map(|_| HostIo::new(HostOp::Write, now, rng.below(logical) * UNIT, UNIT as u32))
            .collect();
        device.run(all, Pacing::Closed { depth: 8 }, &mut ());
        rest(&mut device);
        let layer = device.superblocks();
        let open =
            layer.commands.open_of(Stream::Host(StreamId(0))).filter(|open| open.command >= 4)?;
        let first = layer.shape.unit_of_command(open.superblock, 1);
        let mut units = first.run(layer.shape.units_per_command);
        units.find_map(|unit| Some((unit, layer.map.valid_owner(unit)?)))
    });
    let (unit, page) = found.expect("an open superblock with a stripe");
    // The types of pages of a word line take 40, 60 and 80 us; a unit is a quarter of a page.
    let kind = u64::from(device.superblocks().shape.place(unit).1.0 % 3);
    let sense = Span::us(40 + 20 * kind);
    let transfer = Span(config.timing.bus_transfer.0 / 4);
    device.inject(Fault::Page(page));
    let reads = device.counters().reads;
    let io = HostIo::new(HostOp::Read, device.now(), u64::from(page.0) * UNIT, UNIT as u32);
    let mut answers: Vec<Completion> = Vec::new();
    device.run([io], Pacing::Closed { depth: 1 }, &mut answers);
    let ledger = device.losses().expect("it notices losses");
    assert_eq!((ledger.degraded_reads, ledger.wrong, ledger.lost_in_all()), (1, 0, 0));
    let blame = answers[0].blame;
    assert_eq!(blame.total(), answers[0].latency());
    assert_eq!((blame[Part::Sense], blame[Part::Transfer]), (sense, transfer));
    // The three dies sense at once, and two of them share a channel.
    assert_eq!(blame[Part::Degraded], sense + transfer + transfer);
    assert_eq!(device.counters().reads[Source::Parity] - reads[Source::Parity], 3);
}

/// Reads of a lost page say so until it is written again.
#[test]
fn a_lost_page_is_lost_until_it_is_written() {
    let mut device = drive(&failing(0));
    device.inject(Fault::Page(Lpn(7)));
    assert!(device.lost(Lpn(7)).is_some());
    let mut answers: Vec<Completion> = Vec::new();
    let write = HostIo::new(HostOp::Write, Nanos::ZERO + Span::ms(1), 7 * UNIT, UNIT as u32);
    let all = [read(Span::us(1), 7, 1), write, read(Span::ms(2), 7, 1)];
    device.run(all, Pacing::Open, &mut answers);
    let ledger = device.losses().expect("it notices losses");
    assert_eq!((ledger.failed_reads, ledger.lost_in_all()), (1, 1));
    assert!(device.lost(Lpn(7)).is_none());
    device.check_superblocks().expect("the laws hold");
}

/// Parity that fails loses nothing, and its superblock is moved, so that the stripe is covered
/// again.
#[test]
fn failed_parity_is_written_anew() {
    let mut device = drive(&failing(4));
    let stripes = device.protection().expect("it has parity").stripes;
    // The superblock that the last stripe belongs to may be erased.
    let mut struck = 0;
    for stripe in 0..stripes {
        device.inject(Fault::Parity(StripeId(stripe)));
        let failed = device.losses().expect("it notices losses").parity_unreadable;
        if failed > 0 {
            struck = failed;
            break;
        }
    }
    assert_eq!(struck, u64::from(device.superblocks().shape.units_per_page));
    rest(&mut device);
    let ledger = device.losses().expect("it notices losses");
    assert_eq!((ledger.unreadable, ledger.lost_in_all()), (0, 0));
    assert_eq!((device.counters().aged.refreshed, device.spoilt_superblocks()), (1, 0));
}

/// The running parity of a stripe that is not complete gives back what has been programmed of it.
#[test]
fn an_open_stripe_is_covered() {
    let mut device = drive(&failing(4));
    let mut covered = 0;
    for seed in 0..400 {
        let logical = u64::from(device.superblocks().map.logical());
        let mut rng = Rng::stream(seed, "writes");
        let now = device.now();
        let all: Vec<HostIo> = (0..24)
            .map(|_| HostIo::new(HostOp::Write, now, rng.below(logical) * UNIT, UNIT as u32))
            .collect();
        device.run(all, Pacing::Closed { depth: 8 }, &mut ());
        rest(&mut device);
        if device.spoilt_superblocks() > 0 {
            continue;
        }
        let layer = device.superblocks();
        let Some(open) = layer.commands.open_of(Stream::Host(StreamId(0))) else { continue };
        let stripe = layer.shape.stripe_of(open.command);
        let Some(command) = (stripe.start..open.command).next() else { continue };
        let first = layer.shape.unit_of_command(open.superblock, command);
        let owner = first.run(24).find_map(|unit| layer.map.valid_owner(unit));
        let Some(page) = owner else { continue };
        covered += 1;
        device.inject(Fault::Page(page));
        assert_eq!(device.to_rebuild(), 1, "seed {seed}");
        let io = HostIo::new(HostOp::Read, device.now(), u64::from(page.0) * UNIT, UNIT as u32);
        device.run([io], Pacing::Closed { depth: 1 }, &mut ());
        let ledger = device.losses().expect("it notices losses");
        assert_eq!((ledger.degraded_reads, ledger.wrong), (covered, 0), "seed {seed}");
        assert_eq!(ledger.lost_in_all(), 0, "seed {seed}: {ledger:?}");
    }
    assert!(covered > 10, "{covered}");
}

/// If each unit fails by itself with probability p, a valid one is lost if it fails and another of
/// its line of n fails too: p (1 - (1 - p)^(n - 1)). Without parity it is lost with p.
#[test]
fn independent_failures_lose_as_many_units_as_the_closed_form() {
    for (parity, p) in [(0, 0.01), (4, 0.05), (4, 0.1), (8, 0.05), (16, 0.05)] {
        let (mut valid, mut lost, drives) = (0, 0, 60);
        for seed in 0..drives {
            let mut config = failing(parity);
            config.seed = seed;
            let mut device = drive(&config);
            let layer = device.superblocks();
            let full = |it: &RuId| layer.map.state(*it) == BlockState::Full;
            let (shape, map) = (&layer.shape, &layer.map);
            let mut rng = Rng::stream(seed, "failures");
            let full: Vec<RuId> = map.superblocks().filter(full).collect();
            valid += full.iter().map(|&it| u64::from(map.valid(it))).sum::<u64>();
            let units = full.iter().flat_map(|&it| shape.first_unit(it).run(shape.units));
            let failed: Vec<UnitId> = units.filter(|_| rng.chance(p)).collect();
            let Device { flash, layer, .. } = &mut device;
            layer.strike(flash, failed, Failure::Page);
            device.check_superblocks().unwrap_or_else(|law| panic!("seed {seed}: {law:?}"));
            lost += device.losses().expect("it notices losses").lost_in_all();
        }
        let n = f64::from(parity);
        let each = if parity == 0 { p } else { p * (1.0 - (1.0 - p).powf(n - 1.0)) };
        let expected = each * valid as f64;
        // Units of a line are lost together: at most n at a time, so the variance of the count is
        // at most n times that of a Poisson count. Five standard deviations.
        let spread = 5.0 * (expected * n.max(1.0)).sqrt();
        let found = lost as f64;
        assert!((found - expected).abs() < spread, "{parity}, {p}: {found} for {expected:.0}");
        assert!(spread < expected / 2.0, "{parity}, {p}: {expected:.0} ± {spread:.0} says nothing");
    }
}

/// Writes until no superblock is left of which a unit has failed.
fn fill_open(device: &mut Device<Superblocks>) {
    let mut rng = Rng::stream(12, "filler");
    let logical = u64::from(device.superblocks().map.logical());
    for _ in 0..100 {
        let now = device.now();
        let all: Vec<HostIo> = (0..600)
            .map(|_| HostIo::new(HostOp::Write, now, rng.below(logical) * UNIT, UNIT as u32))
            .collect();
        device.run(all, Pacing::Closed { depth: 16 }, &mut ());
        rest(device);
        if device.spoilt_superblocks() == 0 {
            return;
        }
    }
    panic!("{} superblocks are never moved", device.spoilt_superblocks());
}

/// Writes so many units, one request each, and rests until everything is on its way that will be.
fn write_units(device: &mut Device<Superblocks>, pages: std::ops::Range<u64>) {
    let now = device.now();
    let all = pages.map(|page| HostIo::new(HostOp::Write, now, page * UNIT, UNIT as u32));
    device.run(all, Pacing::Closed { depth: 4 }, &mut ());
    rest(device);
}

/// A power loss takes the units that do not fill a command, unless the buffer survives, a capacitor
/// has energy for them, or a flush has been answered. The older copy is the newest again.
#[test]
fn a_power_loss_takes_what_is_only_in_the_buffer() {
    use CachePower::{Limited, Protected, Volatile};
    // Ten units wait for a command of 24.
    let cases = [(Protected, false, 0), (Volatile, false, 10), (Limited, false, 7)];
    for (cache, flushes, lost) in cases.into_iter().chain([(Volatile, true, 0)]) {
        let mut config = failing(4);
        (config.redundancy.cache, config.redundancy.saved) = (cache, 3);
        let mut device = drive(&config);
        let old: Vec<u64> = Lpn(0).run(34).map(|page| version(&device, page)).collect();
        write_units(&mut device, 0..34);
        if flushes {
            let io = HostIo::new(HostOp::Flush, device.now(), 0, 0);
            let mut answers: Vec<Completion> = Vec::new();
            device.run([io], Pacing::Closed { depth: 1 }, &mut answers);
            assert!(answers[0].latency() > Span::us(100), "{:?}", answers[0]);
            assert_eq!(answers[0].blame.total(), answers[0].latency());
        }
        let new: Vec<u64> = Lpn(0).run(34).map(|page| version(&device, page)).collect();
        device.power_off(Span::ms(5), &mut ());
        device.check_superblocks().expect("the laws hold");
        let offs = *device.power_offs();
        assert_eq!((offs.spans, offs.off, offs.lost_writes), (1, Span::ms(5), lost), "{cache:?}");
        let ledger = device.losses().expect("it notices losses");
        assert_eq!((ledger.lost_writes, ledger.lost[Reason::Power]), (lost, lost));
        for page in 0..34 {
            let now = version(&device, Lpn(page as u32));
            let reverted = page >= 34 - lost as usize;
            assert_eq!(now, if reverted { old[page] } else { new[page] }, "{cache:?}, {page}");
        }
        write_units(&mut device, 0..34);
    }
}

/// Returns the version of a unit of the host.
fn version(device: &Device<Superblocks>, page: Lpn) -> u64 {
    device.superblocks().contents.as_ref().expect("it notices losses").integrity.version(page)
}

/// A command that is cut off takes the units of the host with it; one that ends does not.
#[test]
fn a_program_that_is_cut_off_takes_its_units() {
    for (cut, lost) in [(CutPrograms::Finished, 0), (CutPrograms::Torn, 24)] {
        let mut config = failing(4);
        config.redundancy.cache = CachePower::Volatile;
        config.redundancy.cut_programs = cut;
        let mut device = drive(&config);
        let now = device.now();
        let all = (0..24).map(|page| HostIo::new(HostOp::Write, now, page * UNIT, UNIT as u32));
        device.run(all, Pacing::Closed { depth: 4 }, &mut ());
        assert_eq!(device.superblocks().commands.in_flight().count(), 1);
        device.power_off(Span::ms(1), &mut ());
        device.check_superblocks().expect("the laws hold");
        let offs = *device.power_offs();
        // A command has a page of each type on each of two planes.
        assert_eq!((offs.lost_writes, offs.torn), (lost, if lost > 0 { 6 } else { 0 }), "{cut:?}");
        rest(&mut device);
    }
}

/// Of a stripe whose running parity is lost with the power, what cannot be read is lost; the rest
/// is covered again when the stripe is complete.
#[test]
fn lost_running_parity_takes_what_waits_for_it() {
    let mut config = failing(4);
    config.redundancy.cache = CachePower::Volatile;
    let mut device = drive(&config);
    for count in 1..40 {
        write_units(&mut device, 0..24 * count);
        let layer = device.superblocks();
        let Some(open) = layer.commands.open_of(Stream::Host(StreamId(0))) else { continue };
        let stripe = layer.shape.stripe_of(open.command);
        if stripe.start == open.command || device.spoilt_superblocks() > 0 {
            continue;
        }
        let first = layer.shape.unit_of_command(open.superblock, stripe.start);
        let page = first.run(24).find_map(|unit| layer.map.valid_owner(unit));
        let Some(page) = page else { continue };
        device.inject(Fault::Page(page));
        assert_eq!(device.to_rebuild(), 1);
        device.power_off(Span::ms(1), &mut ());
        device.check_superblocks().expect("the laws hold");
        let loss = device.lost(page).expect("it is lost");
        assert_eq!((loss.reason, device.to_rebuild()), (Reason::Power, 0));
        assert!(device.power_offs().parity_lost > 0);
        write_units(&mut device, 0..240);
        return;
    }
    panic!("no stripe was open");
}

/// A census counts what a fault has taken, by cause, and what the line gives back.
#[test]
fn a_census_counts_what_is_lost_and_what_is_not() {
    for parity in [0, 4, 8] {
        let mut device = drive(&failing(parity));
        let before = device.census();
        assert_eq!((before.unreadable, before.lost(), before.wrong), (0, 0, 0));
        // The last command of a stripe, its parity, is on the last die.
        device.inject(Fault::Die(DieId(3)));
        let (census, ledger) = (device.census(), device.losses().expect("it notices losses"));
        assert_eq!(census.pages, before.pages);
        assert_eq!(census.unreadable, ledger.unreadable, "{parity}");
        assert_eq!(census.lost(), ledger.lost_in_all(), "{parity}");
        assert_eq!(census.recoverable, u64::from(device.to_rebuild()), "{parity}");
        assert_eq!(census.unreadable, census.buffered + census.recoverable + census.lost());
        assert_eq!(census.parity_unreadable > 0, parity > 0, "{parity}");
        let failures = census.losses.iter().map(|counted| counted.loss.failure);
        assert!(failures.into_iter().all(|failure| failure == Failure::Die), "{parity}");
    }
}

/// A page that the code takes for right although it is wrong is returned wrong, or found by a check
/// of its version and rebuilt.
#[test]
fn silent_corruption_is_returned_or_found() {
    for (checks, found) in [(Checks::Nothing, 0), (Checks::Versions, 1)] {
        let mut config = failing(4);
        config.redundancy.checks = checks;
        let mut device = drive(&config);
        device.inject(Fault::Miscorrected(Lpn(9)));
        assert_eq!(device.census().wrong, 1);
        let mut answers: Vec<Completion> = Vec::new();
        device.run([read(Span::us(1), 9, 1)], Pacing::Open, &mut answers);
        let silent = device.losses().expect("it notices losses").silent;
        assert_eq!((silent.made, silent.returned, silent.by_versions), (1, 1 - found, found));
        fill_open(&mut device);
        let silent = device.losses().expect("it notices losses").silent;
        assert_eq!(silent.corrected, found, "{checks:?}");
        assert_eq!(device.census().wrong, 1 - found);
    }
}

/// Returns two units of the host in the same line of a full superblock.
fn two_of_a_line(device: &Device<Superblocks>) -> [Lpn; 2] {
    let layer = device.superblocks();
    let full = layer.map.superblocks().filter(|&it| layer.map.state(it) == BlockState::Full);
    let mut units = full.flat_map(|it| layer.shape.first_unit(it).run(layer.shape.units));
    let pair = units.find_map(|unit| {
        let owner = |unit: UnitId| layer.map.valid_owner(unit);
        let mut owners = layer.shape.line_of(unit).iter().filter_map(owner);
        Some([owners.next()?, owners.next()?])
    });
    pair.expect("a line with two valid units")
}

/// A unit that the host has rewritten into the buffer is not lost when its old line is, and is
/// stored.
#[test]
fn what_the_buffer_holds_is_not_lost_with_its_old_line() {
    let mut device = drive(&failing(4));
    let [one, other] = two_of_a_line(&device);
    device.inject(Fault::Page(one));
    let now = device.now();
    let io = HostIo::new(HostOp::Write, now, u64::from(one.0) * UNIT, UNIT as u32);
    device.run([io], Pacing::Closed { depth: 1 }, &mut ());
    let new = version(&device, one);
    device.inject(Fault::Page(other));
    device.check_superblocks().expect("the laws hold");
    assert!(device.lost(one).is_none() && device.lost(other).is_some());
    let ledger = device.losses().expect("it notices losses");
    assert_eq!((ledger.unreadable, ledger.rewritten, ledger.lost_in_all()), (2, 1, 1));
    device.write_out(&mut ());
    assert_eq!(version(&device, one), new);
    assert!(device.superblocks().buffer.to_be_stored().next().is_none());
    device.check_superblocks().expect("the laws hold");
}

/// Once a flush is answered, a power loss takes nothing that was written before it, even if a unit
/// was written again while its older data was being programmed.
#[test]
fn a_flush_waits_for_what_replaces_a_unit_on_its_way() {
    let mut config = failing(4);
    config.redundancy.cache = CachePower::Volatile;
    let mut device = drive(&config);
    let old = version(&device, Lpn(0));
    let at = |us| Nanos::ZERO + Span::us(us);
    let mut all: Vec<HostIo> =
        (0..24).map(|page| HostIo::new(HostOp::Write, at(0), page * UNIT, UNIT as u32)).collect();
    all.push(HostIo::new(HostOp::Flush, at(1), 0, 0));
    all.push(HostIo::new(HostOp::Write, at(2), 0, UNIT as u32));
    let mut answers: Vec<Completion> = Vec::new();
    device.run(all, Pacing::Open, &mut answers);
    let flush = answers.last().expect("it was answered");
    assert_eq!(flush.io.op, HostOp::Flush, "the flush is answered last");
    let new = version(&device, Lpn(0));
    device.power_off(Span::ms(1), &mut ());
    device.check_superblocks().expect("the laws hold");
    assert!(version(&device, Lpn(0)) == new && new != old);
    assert_eq!(device.power_offs().lost_writes, 0);
}

/// A check finds that another unit of the line is wrong while a failed one is recovered: then both
/// are lost.
#[test]
fn a_wrong_unit_recovers_nothing_once_it_is_found() {
    for (checks, lost) in [(Checks::Nothing, 0), (Checks::Versions, 2)] {
        let mut config = failing(4);
        config.redundancy.checks = checks;
        let mut device = drive(&config);
        let [one, other] = two_of_a_line(&device);
        device.inject(Fault::Miscorrected(other));
        device.inject(Fault::Page(one));
        rest(&mut device);
        let ledger = device.losses().expect("it notices losses");
        assert_eq!(ledger.lost[Reason::BeyondParity], lost, "{checks:?}");
        assert_eq!(ledger.silent.by_versions, lost / 2, "{checks:?}");
        // Without the check, the recovered unit is as wrong as the one that it was computed from.
        assert_eq!(device.census().wrong, if lost == 0 { 2 } else { 0 }, "{checks:?}");
    }
}
