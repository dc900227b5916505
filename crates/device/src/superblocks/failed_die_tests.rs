//! Dies that fail for good on small drives: what is rebuilt and what is lost, the gaps and the room
//! afterwards, and what becomes of commands on their way.

use super::Superblocks;
use super::cases::{UNIT, drive, protect, read, tiny};
use super::commands::Stream;
use super::gaps::Gaps;
use crate::blocks::block_table::BlockState;
use crate::blocks::failed_dies::FailedDieCounts;
use crate::config::{Config, Pattern};
use crate::event_loop::{Device, Pacing};
use crate::flash::txn::Owner;
use crate::mapping::page_map::Location;
use crate::observe::completion::Completion;
use crate::observe::operation::Op;
use crate::policy::redundancy::CachePower;
use crate::raid::fault_kinds::Fault;
use fowler_units::{DieId, HostIo, HostOp, Lpn, Nanos, RuId, Span, UnitId};

/// A drive of 24 superblocks of 16 commands of 24 units on four dies, which holds little.
fn roomy(parity: u32) -> Config {
    let mut config = tiny();
    protect(&mut config, parity);
    config.redundancy.integrity = true;
    config.over_provisioning = 0.8;
    (config.precondition.fill, config.precondition.pattern) = (0.0, Pattern::Sequential);
    config
}

fn checked(device: &Device<Superblocks>) {
    device.check_superblocks().expect("the laws hold");
}

fn write_at(now: Nanos, unit: u64) -> HostIo {
    HostIo::new(HostOp::Write, now, unit * UNIT, (24 * UNIT) as u32)
}

/// Writes units in order, a command each time, and returns the answers.
fn write(device: &mut Device<Superblocks>, first: u64, count: u64) -> Vec<Completion> {
    let now = device.now();
    let requests = (first..first + count).step_by(24).map(|unit| write_at(now, unit));
    let (mut answers, mut events) = (Vec::new(), 0u32);
    device.run_watched(requests, Pacing::Closed { depth: 4 }, &mut answers, |device| {
        events += 1;
        if events.is_multiple_of(16) {
            checked(device);
        }
    });
    device.rest_until(device.now() + Span::ms(100), &mut ());
    checked(device);
    answers
}

/// Reads units in order, and returns how many of them could not be read.
fn failed_reads(device: &mut Device<Superblocks>, count: u64) -> u64 {
    let before = device.losses().expect("it notices losses").failed_reads;
    let reads: Vec<HostIo> = (0..count).map(|at| read(Span(device.now().0), at, 1)).collect();
    device.run(reads, Pacing::Closed { depth: 8 }, &mut ());
    checked(device);
    device.losses().expect("it notices losses").failed_reads - before
}

/// The units of the host whose copy in the flash is on a die.
fn held_by(device: &Device<Superblocks>, die: DieId) -> Vec<(Lpn, UnitId)> {
    let map = &device.layer.map;
    let copy = |page: Lpn| match map.place(page) {
        Location::Flash(unit) => Some((page, unit)),
        Location::Buffer(_) | Location::Nowhere => None,
    };
    let on_die = |&(_, unit): &(Lpn, UnitId)| device.layer.shape.place(unit).0 == die;
    map.pages().filter_map(copy).filter(on_die).collect()
}

fn counts(device: &Device<Superblocks>) -> FailedDieCounts {
    device.failed_dies().expect("a die has failed")
}

const DIE: DieId = DieId(2);

/// Every superblock goes without the die, and what it held is rebuilt. Of stripes of four commands
/// three are left, so that a superblock holds eight commands of data and not twelve.
#[test]
fn what_a_die_held_is_rebuilt_and_every_superblock_goes_without_it() {
    let mut device = drive(&roomy(4));
    let all = u64::from(device.layer.layout.logical_pages) / 24 * 24;
    write(&mut device, 0, all);
    let held = held_by(&device, DIE).len() as u64;
    assert!(held > all / 5 && held < all / 3, "{held} of {all}");
    device.inject(Fault::Die(DIE));
    checked(&device);
    assert_eq!(u64::from(device.to_rebuild()), held);
    let seen = counts(&device);
    assert!(seen.degraded_stripes > 0, "{seen:?}");
    let expected = FailedDieCounts { failed: 1, ..FailedDieCounts::default() };
    assert_eq!(FailedDieCounts { degraded_stripes: 0, ..seen }, expected);
    let erased: Vec<RuId> = device.layer.map.erased_superblocks().collect();
    assert!(erased.len() > 5);
    for superblock in erased {
        assert_eq!(
            (device.layer.data_units_of(superblock), device.layer.dies_of(superblock)),
            (192, 3)
        );
    }
    assert_eq!(failed_reads(&mut device, all), 0);
    // Open superblocks are moved when they are full, and what is overwritten needs no rebuilding.
    for _ in 0..8 {
        write(&mut device, 0, all);
    }
    assert_eq!((device.to_rebuild(), device.spoilt_superblocks()), (0, 0));
    assert_eq!(held_by(&device, DIE), []);
    let ledger = device.losses().expect("it notices losses");
    assert_eq!((ledger.unreadable, ledger.lost_in_all()), (held, 0));
    assert_eq!(ledger.rebuilt + ledger.rewritten, held);
    assert!(ledger.rebuilt > held / 2 && ledger.degraded_reads > 0, "{ledger:?}");
    let layer = &device.layer;
    for superblock in layer.map.superblocks() {
        assert_eq!((layer.data_units_of(superblock), layer.dies_of(superblock)), (192, 3));
    }
    let bad = layer.bad.as_ref().expect("it has gaps");
    let reserve = layer.layout.reserve_blocks + 1;
    let needed = u64::from(layer.layout.logical_pages) + u64::from(reserve) * 288;
    assert_eq!((bad.needed, bad.counts.spare), (needed, 24 * 192 - needed));
    assert_eq!((counts(&device).read_only, counts(&device).degraded_stripes), (None, 0));
    assert_eq!(device.bad_blocks(), None, "no block of this drive can fail");
}

/// Without parity, the units of the die are lost and no others, whatever is on its way: commands
/// that the die had begun or that waited for it are programmed on other dies.
#[test]
fn without_parity_the_units_of_the_die_are_lost_and_no_others() {
    for cache_program in [false, true] {
        let mut config = roomy(0);
        (config.flash.cache_program, config.flash.cache_read) = (cache_program, cache_program);
        let mut device = drive(&config);
        let all = u64::from(device.layer.layout.logical_pages) / 24 * 24;
        write(&mut device, 0, all);
        let now = device.now();
        let requests: Vec<HostIo> = (0..all).step_by(24).map(|unit| write_at(now, unit)).collect();
        let (mut events, mut struck, mut begun) = (0, None, 0);
        device.run_with_faults(requests, Pacing::Closed { depth: 16 }, &mut (), |device| {
            events += 1;
            let queued = |id| device.flash.is_queued(id);
            let of_die = device.flash.txns.iter().filter(|(_, txn)| txn.die == DIE);
            let programs = of_die.filter(|(_, txn)| txn.op == Op::Program);
            let (waiting, running): (Vec<_>, Vec<_>) = programs.partition(|&(id, _)| queued(id));
            if struck.is_none() && events > 200 && !waiting.is_empty() && running.len() >= 6 {
                begun = running.len();
                struck = Some(held_by(device, DIE));
                device.inject(Fault::Die(DIE));
            }
            checked(device);
        });
        let held = struck.expect("commands were on their way");
        assert!(begun >= 6 && held.len() > 50, "{begun}, {}", held.len());
        device.rest_until(device.now() + Span::ms(100), &mut ());
        checked(&device);
        let ledger = device.losses().expect("it notices losses");
        // Newer data of some units of the die is in the buffer.
        assert_eq!(ledger.lost_in_all(), held.len() as u64, "{ledger:?}");
        assert_eq!(ledger.rewritten, ledger.unreadable - ledger.lost_in_all(), "{ledger:?}");
        let lost = held.iter().filter(|(page, _)| device.lost(*page).is_some()).count() as u64;
        assert_eq!(failed_reads(&mut device, all), lost);
        assert_eq!(held_by(&device, DIE), []);
    }
}

/// If only the parity of a stripe is missing and its die fails, the parity is lost as if it had
/// been programmed before. The data is moved, and another failure finds it protected.
#[test]
fn a_stripe_whose_parity_has_no_place_is_moved() {
    let mut device = drive(&roomy(4));
    write(&mut device, 0, 3 * 24);
    let open =
        device.layer.commands.open_of(Stream::Host(Default::default())).expect("one is open");
    assert_eq!(open.command, 3);
    let die = device.layer.shape.die_at(3);
    device.inject(Fault::Die(die));
    checked(&device);
    assert_eq!((device.to_rebuild(), held_by(&device, die).len()), (0, 0));
    assert!(device.layer.is_parity(open.superblock, 3), "it is sent, and comes back");
    assert_eq!(device.layer.data_units_of(open.superblock), (3 + 3 * 2) * 24);
    write(&mut device, 3 * 24, 24);
    let ledger = device.losses().expect("it notices losses");
    assert_eq!((ledger.parity_unreadable, ledger.lost_in_all()), (24, 0));
    assert_eq!(device.spoilt_superblocks(), 1);
    // Six commands of data fill the superblock.
    write(&mut device, 4 * 24, 6 * 24);
    assert_eq!(device.layer.map.state(open.superblock), BlockState::Free);
    assert_eq!((device.spoilt_superblocks(), device.counters().aged.refreshed), (0, 1));
    let other = device.layer.shape.die_at(0);
    device.inject(Fault::Plane(fowler_units::PlaneId(other.0 * 2)));
    assert_eq!(failed_reads(&mut device, 10 * 24), 0);
}

/// Of stripes of two commands only gaps are left beside a failed die. The command of the other die
/// that waits between its passes is followed by no other there, and gets its second pass at once.
#[test]
fn second_passes_do_not_wait_for_a_command_that_has_become_a_gap() {
    let mut config = roomy(2);
    (config.flash.program_passes, config.flash.first_pass_iterations) = (2, 5);
    config.over_provisioning = 0.9;
    let mut device = drive(&config);
    write(&mut device, 0, 4 * 24);
    let open =
        device.layer.commands.open_of(Stream::Host(Default::default())).expect("one is open");
    assert_eq!(open.command, 7);
    let shape = device.layer.shape;
    let between = |device: &Device<Superblocks>| -> Vec<u32> {
        let first = |&command: &u32| shape.unit_of_command(open.superblock, command);
        (0..16).filter(|it| device.layer.is_between_passes(first(it))).collect()
    };
    assert_eq!(between(&device), [3, 4, 5, 6]);
    device.inject(Fault::Die(shape.die_at(0)));
    device.rest_until(device.now() + Span::ms(10), &mut ());
    checked(&device);
    // The data of command 4 is programmed by command 10, after the parity of command 6.
    assert_eq!(between(&device), [7, 10]);
    write(&mut device, 4 * 24, 4 * 24);
    assert_eq!(device.layer.map.state(open.superblock), BlockState::Free);
    assert_eq!((device.spoilt_superblocks(), counts(&device).read_only), (0, None));
    assert_eq!(device.losses().expect("it notices losses").lost_in_all(), 0);
    assert_eq!(failed_reads(&mut device, 8 * 24), 0);
}

/// Of the last command of a die in a superblock both passes are on the way at once, with the second
/// pass of another command between them. If the die fails then, the command comes back once.
#[test]
fn a_command_with_both_passes_on_the_way_comes_back_once() {
    let mut config = roomy(2);
    (config.flash.program_passes, config.flash.first_pass_iterations) = (2, 5);
    let mut device = drive(&config);
    let writes = (0..16 * 24).step_by(24).map(|unit| write_at(Nanos::ZERO, unit));
    let mut failed = None;
    device.run_with_faults(writes, Pacing::Closed { depth: 16 }, &mut (), |device| {
        let programs: Vec<(Owner, DieId)> =
            device.flash.txns.iter().map(|(_, txn)| (txn.owner, txn.die)).collect();
        let both = |&&(owner, _): &&(Owner, DieId)| match owner {
            Owner::FirstPass(number) => programs.iter().any(|it| it.0 == Owner::Command(number)),
            _ => false,
        };
        if failed.is_none()
            && let Some(&(_, die)) = programs.iter().find(both)
        {
            device.inject(Fault::Die(die));
            failed = Some(die);
        }
        checked(device);
    });
    assert!(failed.is_some(), "no command had both passes on the way");
    device.rest_until(device.now() + Span::ms(100), &mut ());
    checked(&device);
    assert_eq!(device.losses().expect("it notices losses").lost_in_all(), 0);
    assert_eq!(failed_reads(&mut device, 16 * 24), 0);
}

/// Four of eight dies have dropped out of a superblock, and the other four fail: no die is left to
/// erase it, and it is retired without an erase.
#[test]
fn a_superblock_without_a_die_is_retired() {
    let mut config = roomy(0);
    config.geometry.chips_per_channel = 4;
    let mut device = drive(&config);
    let shape = device.layer.shape;
    let layer = &mut device.layer;
    let all = u64::from(layer.layout.logical_pages) / 24 * 24;
    let superblock = layer.map.erased_superblocks().next().expect("all are erased");
    let mut gaps = Gaps::none(&shape);
    (0..4).for_each(|at| gaps.fail(&shape, at, None));
    gaps.erased(&shape, |_| true);
    layer.bad = layer.dies.gaps.take();
    layer.map.keep_gaps();
    let bad = layer.bad.as_mut().expect("dies may fail");
    bad.set_gaps(superblock, Some(gaps));
    assert!(bad.count_spare(&shape, |_| false));
    layer.keep_places(superblock);
    write(&mut device, 0, all);
    assert_eq!(device.layer.map.state(superblock), BlockState::Full);
    for at in 4..8 {
        device.inject(Fault::Die(shape.die_at(at)));
        checked(&device);
    }
    assert_eq!((device.layer.dies_of(superblock), counts(&device).read_only), (0, None));
    for _ in 0..8 {
        write(&mut device, 0, all);
    }
    assert_eq!(device.layer.map.state(superblock), BlockState::Retired);
    assert_eq!(counts(&device).read_only, None);
}

/// Stripes of three commands on four dies: each die is left out by a quarter of them. Of the pairs
/// in a stripe, two dies are one of six, so half of the stripes lose two commands: C(3,2)/C(4,2).
#[test]
fn two_dies_take_the_stripes_that_have_a_command_on_both() {
    let mut config = roomy(3);
    config.geometry.pages_per_block = 9;
    for (one, other) in [(0, 1), (0, 3), (1, 2)] {
        let mut device = drive(&config);
        let all = u64::from(device.layer.layout.logical_pages) / 24 * 24;
        write(&mut device, 0, all);
        let dies = [DieId(one), DieId(other)];
        let (layer, shape) = (&device.layer, device.layer.shape);
        let (mut lines, mut both, mut lost) = (0, 0, 0);
        for superblock in layer.map.superblocks() {
            if layer.map.state(superblock) != BlockState::Full {
                continue;
            }
            for command in (0..shape.commands).filter(|&it| shape.is_parity(it)) {
                for unit in shape.units_of_command(superblock, command, false) {
                    let line = || shape.line_of(unit).iter();
                    let on = |die: DieId| line().filter(|&it| shape.place(it).0 == die).count();
                    lines += 1;
                    if dies.iter().all(|&die| on(die) == 1) {
                        both += 1;
                        let held = line().filter(|&it| dies.contains(&shape.place(it).0));
                        lost += held.filter(|&it| layer.map.valid_owner(it).is_some()).count();
                    }
                }
            }
        }
        assert!(lines > 300 && 2 * both == lines, "{both} of {lines}");
        // Units of open superblocks are lost or not by stripes of their own.
        let open = |unit: UnitId| layer.map.state(shape.superblock_of(unit)) != BlockState::Full;
        let in_open =
            dies.iter().flat_map(|&die| held_by(&device, die)).filter(|it| open(it.1)).count();
        device.inject(Fault::Die(dies[0]));
        device.inject(Fault::Die(dies[1]));
        checked(&device);
        let taken = device.losses().expect("it notices losses").lost_in_all() as usize;
        assert!((lost..=lost + in_open).contains(&taken), "{taken} of {lost} and {in_open}");
        assert!(lost > 100, "{lost}");
    }
}

/// Three of four dies have less room than the data of a fuller drive: it takes no writes from then
/// on, answers them at once, and reads everything from the rest of the stripes.
#[test]
fn a_drive_without_room_takes_no_writes_and_still_reads() {
    for cache in [CachePower::Protected, CachePower::Volatile] {
        let mut config = roomy(4);
        config.over_provisioning = 0.45;
        config.redundancy.cache = cache;
        let mut device = drive(&config);
        let all = u64::from(device.layer.layout.logical_pages) / 24 * 24;
        write(&mut device, 0, all);
        let versions: Vec<u64> = (0..all as u32).map(|page| version(&device, Lpn(page))).collect();
        device.inject(Fault::Die(DIE));
        let since = counts(&device).read_only;
        assert_eq!(since, Some(device.now()));
        let answers = write(&mut device, 0, 240);
        assert_eq!((answers.len(), counts(&device).refused), (10, 10));
        let slowest = answers.iter().map(Completion::latency).max();
        assert!(slowest < Some(Span::us(50)), "{slowest:?}");
        let now = device.now();
        let flush = HostIo::new(HostOp::Flush, now, 0, 0);
        device.run([flush], Pacing::Open, &mut ());
        let refused = 10 + u64::from(cache == CachePower::Volatile);
        assert_eq!(counts(&device).refused, refused);
        assert_eq!(failed_reads(&mut device, all), 0);
        let after: Vec<u64> = (0..all as u32).map(|page| version(&device, Lpn(page))).collect();
        assert_eq!(versions, after, "nothing was written");
        assert_eq!(device.losses().expect("it notices losses").lost_in_all(), 0);
    }
}

/// A spare die takes the place of the first; the second stays failed, and once more is nothing.
#[test]
fn spare_dies_go_first() {
    let mut config = roomy(4);
    config.failed_dies.spare = 1;
    let mut device = drive(&config);
    assert_eq!(device.failed_dies(), None);
    let seen = |device: &Device<Superblocks>| {
        let counts = counts(device);
        (counts.replaced, counts.spare, counts.failed)
    };
    for expected in [(1, 0, 0), (1, 0, 1), (1, 0, 1)] {
        device.inject(Fault::Die(DIE));
        assert_eq!(seen(&device), expected);
        checked(&device);
    }
}

fn version(device: &Device<Superblocks>, page: Lpn) -> u64 {
    device.layer.contents.as_ref().expect("it notices losses").integrity.version(page)
}
