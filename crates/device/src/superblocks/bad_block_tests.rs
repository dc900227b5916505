//! Known blocks that fail in known places: what their superblock holds then, and what is left of
//! the spare.

use super::Superblocks;
use super::cases::{UNIT, drive, protect, read, tiny};
use crate::blocks::bad_blocks::BadBlockCounts;
use crate::blocks::block_fates::Fates;
use crate::blocks::block_table::BlockState;
use crate::config::{Config, Pattern, Retire};
use crate::event_loop::{Device, Pacing};
use crate::raid::fault_kinds::Fault;
use fowler_units::{BlockId, DieId, HostIo, HostOp, Nanos, RuId, Span};

/// A drive of 24 superblocks of 16 commands of 24 units, which holds nothing, and whose blocks fail
/// only where a test says so.
fn fresh(retire: Retire, parity: u32) -> Config {
    let mut config = tiny();
    protect(&mut config, parity);
    config.redundancy.integrity = true;
    config.over_provisioning = 0.6;
    (config.precondition.fill, config.precondition.pattern) = (0.0, Pattern::Sequential);
    config.superblocks.retire = retire;
    (config.bad_blocks.share, config.life.cycles) = (1e-9, 1e6);
    config
}

/// Returns the drive of a configuration on which a program of a block fails in the first cycle of
/// the block, on this page, or the erase after it.
fn with_bad(config: &Config, block: BlockId, page: Option<u16>) -> Device<Superblocks> {
    let mut device = drive(config);
    fates(&mut device).set(block, page);
    device
}

fn fates(device: &mut Device<Superblocks>) -> &mut Fates {
    let bad = device.layer.bad.as_mut().expect("blocks fail");
    bad.fates.as_mut().expect("blocks fail")
}

/// Writes units of the drive in order, from `first` on, in requests of a command each, and waits
/// until nothing is programmed or erased any more.
fn write(device: &mut Device<Superblocks>, first: u64, count: u64) {
    let now = device.now();
    let io = |at: u64| HostIo::new(HostOp::Write, now, at * UNIT, (24 * UNIT) as u32);
    let requests = (first..first + count).step_by(24).map(io);
    let mut events = 0u32;
    device.run_watched(requests, Pacing::Closed { depth: 2 }, &mut (), |device| {
        events += 1;
        if events.is_multiple_of(16) {
            device.check_superblocks().expect("the laws hold");
        }
    });
    let later = read(Span(device.now().0) + Span::ms(100), 0, 1);
    device.run([later], Pacing::Open, &mut ());
    device.check_superblocks().expect("the laws hold");
}

fn counts(device: &Device<Superblocks>) -> BadBlockCounts {
    device.bad_blocks().expect("blocks fail")
}

/// The block of the second plane of the second die, of the first superblock. The die is the third
/// of four in striping order.
const BAD: BlockId = BlockId(3 * 24);

/// With parity over the four dies, the program of the third word line of the die fails: the two
/// commands that it would have had after that are gaps, and its data is in the next place. When
/// the superblock is full it is moved, and is erased without the die from then on.
#[test]
fn a_program_that_fails_leaves_a_gap() {
    let config = fresh(Retire::Block, 4);
    let mut device = with_bad(&config, BAD, Some(7));
    let whole = 12 * 24;
    assert_eq!(device.layer.data_units_of(RuId(0)), whole);
    let spare = counts(&device).spare;
    // Of ten commands of data, nine are written.
    write(&mut device, 0, 9 * 24);
    assert_eq!(device.layer.data_units_of(RuId(0)), whole - 2 * 24);
    let of_command = |command: u32| {
        let first = device.layer.shape.unit_of_command(RuId(0), command);
        first.run(24).filter(|&unit| device.layer.map.valid_owner(unit).is_some()).count()
    };
    let held: Vec<usize> = (0..16).map(of_command).collect();
    assert_eq!(held, [24, 24, 24, 0, 24, 24, 24, 0, 24, 24, 0, 0, 24, 0, 0, 0]);
    let now = counts(&device);
    assert_eq!((now.programs, now.erases, now.retired), (1, 0, 0), "{now:?}");
    // A die of a superblock with parity holds three commands of data and one of parity.
    assert_eq!(spare - now.spare, u64::from(whole) - 8 * 24);
    // The one after the last needs another superblock: parity fills this one, which is moved.
    write(&mut device, 9 * 24, 48);
    let now = counts(&device);
    assert_eq!((now.retired, now.sound, now.delayed), (1, 1, 0), "{now:?}");
    assert_eq!(device.layer.map.state(RuId(0)), BlockState::Free);
    assert_eq!((device.layer.data_units_of(RuId(0)), device.layer.dies_of(RuId(0))), (8 * 24, 3));
    let counters = device.counters();
    assert_eq!(counters.erases.sum(), 4, "the last time, all dies are erased");
    assert_eq!(counters.aged.refreshed, 1);
    assert_eq!(device.losses().expect("it notices losses").lost_in_all(), 0);
}

/// A superblock without the die is filled again. Then a die fails that is left: what it held is
/// rebuilt from stripes of three commands.
#[test]
fn a_superblock_with_a_gap_survives_a_die() {
    let config = fresh(Retire::Block, 4);
    let mut device = with_bad(&config, BAD, None);
    // Superblocks are filled and overwritten until the first one has been used twice.
    let logical = u64::from(device.layer.layout.logical_pages);
    let all = logical / 24 * 24;
    while device.layer.map.erases()[0] == 0 {
        write(&mut device, 0, all);
    }
    let now = counts(&device);
    assert_eq!((now.programs, now.erases, now.retired, now.sound), (0, 1, 1, 1), "{now:?}");
    while device.layer.map.state(RuId(0)) != BlockState::Full {
        write(&mut device, 0, 240);
    }
    assert_eq!(device.layer.data_units_of(RuId(0)), 8 * 24);
    device.inject(Fault::Die(DieId(0)));
    device.check_superblocks().expect("the laws hold");
    let reads: Vec<HostIo> = (0..all).map(|unit| read(Span(device.now().0), unit, 1)).collect();
    device.run(reads, Pacing::Closed { depth: 8 }, &mut ());
    device.check_superblocks().expect("the laws hold");
    let ledger = device.losses().expect("it notices losses");
    assert!(ledger.unreadable > 0 && ledger.rebuilt > 0, "{ledger:?}");
    assert_eq!((ledger.lost_in_all(), ledger.failed_reads), (0, 0));
}

/// One bad block costs a superblock, or the part of it on the die; once too few are left, no block
/// fails any more.
#[test]
fn what_is_retired_is_taken_from_the_spare() {
    for (retire, lost, sound) in [(Retire::Superblock, 384, 7), (Retire::Block, 96, 1)] {
        let config = fresh(retire, 0);
        let mut device = with_bad(&config, BAD, None);
        let before = counts(&device);
        // In reserve are superblocks that are kept erased or open, and where superblocks may
        // differ in size, one more for what is moved.
        let reserve = config.superblock_sizes().reserve_blocks + u32::from(lost == 96);
        let logical = device.layer.layout.logical_pages;
        assert_eq!(before.spare, u64::from((24 - reserve) * 384 - logical), "{retire:?}");
        let all = u64::from(logical) / 24 * 24;
        while device.layer.map.erases()[0] == 0 {
            write(&mut device, 0, all);
        }
        let now = counts(&device);
        let expected = BadBlockCounts {
            erases: 1,
            retired: 1,
            sound,
            spare: before.spare - lost,
            ..BadBlockCounts::default()
        };
        assert_eq!(now, expected, "{retire:?}");
        let retired = device.layer.map.state(RuId(0)) == BlockState::Retired;
        assert_eq!(retired, retire == Retire::Superblock);
        // The next failures use up the spare: one in each superblock, or two that leave half.
        let fates = fates(&mut device);
        (25..48).for_each(|block| fates.set(BlockId(block), None));
        if retire == Retire::Block {
            (97..120).for_each(|block| fates.set(BlockId(block), None));
        }
        for _ in 0..20 {
            write(&mut device, 0, all);
        }
        let end = counts(&device);
        assert!(end.worn_out.is_some_and(|at| at > Nanos::ZERO), "{end:?}");
        assert_eq!(end.spare, now.spare % lost, "{retire:?}: {end:?}");
        assert_eq!(end.erases, 1 + now.spare / lost, "{retire:?}: {end:?}");
        assert_eq!(device.losses().expect("it notices losses").lost_in_all(), 0);
    }
}
