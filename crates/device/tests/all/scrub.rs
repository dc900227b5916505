//! Patrol scrub: every block is read in time, whatever the host does; the moves because of errors
//! are bounded; and faults may strike at any moment. The pages that scrubbing saves are in
//! `census.toml`.

use crate::support::fading::{DAYS, fading, io};
use crate::support::scheme;
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::scrub::{self, ScrubKind};
use fowler_device::*;
use fowler_units::{HostIo, HostOp, Lpn, PlaneId, Rng, Span};

/// Forty blocks on each of five dies, of eight pages.
const BLOCKS: u64 = 40;

/// Returns a full drive of these cells that reads all of its data once in `period`.
fn patrolled(kind: RedundancyKind, period: Span, margin: f64) -> Config {
    let mut config = fading(kind);
    config.reliability.cells.disturb_slope = 0.0;
    config.redundancy.retention = DAYS(10_000);
    config.scrub = scrub::Params { name: ScrubKind::Patrol, period, margin, stripes: false };
    config
}

/// Sets the error rate of the cells as a share of the errors that they correct: `fresh` when just
/// programmed, and `later`.
fn with_errors(config: &mut Config, fresh: f64, later: f64) {
    let correctable = config.reliability.cells.correctable_3;
    let table = &mut config.reliability.table;
    let row = [fresh, later, later].map(|share| share * correctable).to_vec();
    (table.ages, table.rates) = (vec![DAYS(0), DAYS(1), DAYS(10_000)], vec![row.clone(), row]);
}

fn checked(device: &Device) {
    device.check().unwrap_or_else(|law| panic!("at {}: {}", device.now().0, law.0));
    device.check_data().unwrap_or_else(|law| panic!("at {}: {}", device.now().0, law.0));
}

/// The use of the drive by the host.
#[derive(Clone, Copy, Debug)]
enum Host {
    Absent,
    Reads { depth: u32 },
    Writes { depth: u32 },
}

/// A block is read at once in its turn on an idle drive. On a drive that is never idle, it is read
/// within one and a half turns, plus the time that a read waits for its die.
// Slow: three turns of a patrol on sixteen drives, most of them never idle.
#[test]
fn a_block_is_read_in_its_turn_whatever_the_host_does() {
    let period = Span::ms(2_000);
    let turn = Span(period.0 / BLOCKS);
    let cases = [
        ("FIFO", Host::Absent, 0.05),
        ("RPS", Host::Absent, 0.05),
        // A die that is idle for moments: eight times a millisecond, in turns of fifty.
        ("FIFO", Host::Reads { depth: 1 }, 1.8),
        ("FIFO", Host::Reads { depth: 32 }, 1.7),
        // Under these the reads of the host go first, and hardly ever leave a die to others.
        ("RPS", Host::Reads { depth: 32 }, 3.0),
        ("PES_IPS", Host::Reads { depth: 32 }, 3.0),
        ("FIFO", Host::Writes { depth: 32 }, 2.0),
        ("PES_IPC", Host::Writes { depth: 32 }, 2.0),
    ];
    for (order, host, turns) in cases {
        for kind in [RedundancyKind::Unprotected, RedundancyKind::Raid5] {
            let case = format!("{order}, {host:?}, {kind:?}");
            let mut config = patrolled(kind, period, 1.0);
            scheme(&mut config, order);
            let mut device = Device::new(&config).expect("a sound drive");
            let pages = u64::from(device.layout().logical_pages);
            let until = device.now() + period * 3;
            let (mut rng, mut done) = (Rng::stream(1, "scrub"), Vec::<Completion>::new());
            let mut ask = |op| io(op, rng.below(pages), 1, Span::ZERO);
            while device.now() < until {
                let (op, depth) = match host {
                    Host::Absent => {
                        device.rest_until(until, &mut ());
                        break;
                    }
                    Host::Reads { depth } => (HostOp::Read, depth),
                    Host::Writes { depth } => (HostOp::Write, depth),
                };
                let ios: Vec<HostIo> = (0..2000).map(|_| ask(op)).collect();
                device.run(ios, Pacing::Closed { depth }, &mut done);
            }
            checked(&device);
            let ScrubProgress { rounds, latest } = device.scrub().expect("it scrubs");
            assert!((2..=4).contains(&rounds), "{case}: {rounds} rounds");
            let late = latest.0 as f64 / turn.0 as f64;
            assert!(late <= turns, "{case}: {late} turns late");
            let Scrubbed { pages: read, under_load, blocks, .. } = device.counters().scrubbed;
            assert_eq!(under_load > 0, late > 1.0, "{case}: {under_load} under load");
            if matches!(host, Host::Absent | Host::Reads { .. }) {
                let held = u64::from(device.layout().mapped_pages);
                let whole = u64::from(rounds) * held..=u64::from(rounds + 1) * held;
                assert!(whole.contains(&read), "{case}: {read} read of {held}, {rounds} rounds");
            }
            assert!(blocks <= u64::from(rounds + 1) * BLOCKS * 5, "{case}: {blocks} blocks");
            let latencies: u128 = done.iter().map(|it| u128::from(it.latency().0)).sum();
            assert_eq!(device.counters().outstanding, latencies, "{case}: Little's law");
        }
    }
}

/// However many errors there are: a block moves at most once in a period, and not at all if that
/// gains nothing.
#[test]
fn a_block_moves_once_in_a_period_at_most() {
    // The share of errors when just programmed and later; true if blocks move; true if blocks are
    // left in place.
    let cases = [
        (0.1, 0.2, false, false),
        (0.1, 0.6, true, false),
        (0.1, 5.0, true, false),
        (0.6, 0.6, false, true),
        (5.0, 5.0, false, true),
    ];
    const ROUNDS: u64 = 5;
    for kind in [RedundancyKind::Unprotected, RedundancyKind::Raid5] {
        for (fresh, later, moves, stays) in cases {
            let case = format!("{kind:?}, {fresh} and then {later}");
            let mut config = patrolled(kind, DAYS(10), 0.5);
            with_errors(&mut config, fresh, later);
            let mut device = Device::new(&config).expect("a sound drive");
            device.rest_until(device.now() + DAYS(10) * ROUNDS, &mut ());
            checked(&device);
            let Scrubbed { moved, left, postponed, unreadable, .. } = device.counters().scrubbed;
            let most = ROUNDS * BLOCKS * 5;
            assert!(moved <= most && left <= most, "{case}: {moved} moved, {left} left");
            assert_eq!((moved > 0, left > 0), (moves, stays), "{case}: {moved} moved, {left} left");
            assert_eq!(postponed, 0, "{case}");
            assert_eq!(unreadable > 0, later > 1.0, "{case}: {unreadable} unreadable");
            let erases = device.counters().erases;
            assert!(erases[Source::Refresh] <= moved && moved <= erases[Source::Refresh] + 5);
            assert!(device.scrub().expect("it scrubs").rounds >= ROUNDS as u32 - 1, "{case}");
        }
    }
}

/// Data that scrubbing holds within its margin is not lost, and the wear equals the moved pages.
#[test]
fn a_drive_that_is_scrubbed_keeps_its_data() {
    for kind in [RedundancyKind::Unprotected, RedundancyKind::Raid5] {
        let ended = |name: ScrubKind| {
            let mut config = patrolled(kind, DAYS(10), 0.1);
            config.scrub.name = name;
            let mut device = Device::new(&config).expect("a sound drive");
            device.rest_until(device.now() + DAYS(400), &mut ());
            checked(&device);
            (device.census(), device.counters())
        };
        let (census, counters) = ended(ScrubKind::Off);
        assert_eq!((census.lost(), census.found()), (census.pages, 0), "{kind:?}");
        assert_eq!((counters.scrubbed, counters.erases.sum()), Default::default(), "{kind:?}");
        let (census, counters) = ended(ScrubKind::Patrol);
        assert_eq!((census.unreadable, census.lost()), (0, 0), "{kind:?}");
        assert_eq!(counters.scrubbed.moved, counters.erases[Source::Refresh], "{kind:?}");
    }
}

/// Power fails, and units do, at any moment of a round.
#[test]
fn faults_may_strike_while_it_reads() {
    let (mut reading, mut moved) = (0, 0);
    for seed in 0..20 {
        let mut rng = Rng::stream(seed, "scrub/faults");
        // Every other drive also moves the blocks that it reads.
        let (margin, fresh) = if seed % 2 == 0 { (0.05, 0.01) } else { (0.3, 0.1) };
        let mut config = patrolled(RedundancyKind::Raid5, Span::ms(500), margin);
        with_errors(&mut config, fresh, 0.1);
        config.reliability.oldest = DAYS(2);
        config.redundancy.cache = policy::redundancy::CachePower::Volatile;
        let mut device = Device::new(&config).expect("a sound drive");
        let pages = u64::from(device.layout().logical_pages);
        let ios: Vec<HostIo> = (0..100)
            .map(|turn| {
                let op = if rng.chance(0.5) { HostOp::Write } else { HostOp::Read };
                io(op, rng.below(pages), 1, Span::ms(20) * turn)
            })
            .collect();
        let (mut done, mut before) = (Vec::<Completion>::new(), 0);
        device.run_with_faults(ios, Pacing::Open, &mut done, |device| {
            let read = device.counters().scrubbed.pages;
            reading += u64::from(read > before);
            before = read;
            if rng.below(200) == 0 {
                device.inject(match rng.below(3) {
                    0 => Fault::Power,
                    1 => Fault::Page(Lpn(rng.below(pages) as u32)),
                    _ => Fault::Plane(PlaneId(rng.below(5) as u32)),
                });
                checked(device);
            }
        });
        device.power_off(Span::ms(700), &mut ());
        device.rest_until(device.now() + Span::ms(1_000), &mut ());
        checked(&device);
        assert_eq!(device.to_rebuild(), 0, "seed {seed}: what can be rebuilt is");
        moved += device.counters().scrubbed.moved;
    }
    assert!(reading > 1000, "{reading} pages");
    assert!(moved > 50, "{moved} blocks");
}

/// However long the power was off, all data is read once when it is back, and in its turns again.
#[test]
fn all_data_is_read_once_when_power_comes_back() {
    let period = DAYS(2);
    for off in [DAYS(1), DAYS(2), DAYS(20)] {
        let config = patrolled(RedundancyKind::Unprotected, period, 1.0);
        let mut device = Device::new(&config).expect("a sound drive");
        device.power_off(off, &mut ());
        device.rest_until(device.now() + Span::ms(60_000), &mut ());
        checked(&device);
        let held = u64::from(device.layout().mapped_pages) as f64;
        let read = device.counters().scrubbed.pages as f64 / held;
        // All data and a block of each die, or the data in the first half of the blocks.
        let all = 1.0..1.0 + 2.0 / BLOCKS as f64;
        let well = if off < period { (0.5..1.0).contains(&read) } else { all.contains(&read) };
        assert!(well, "off for {off}: {read} of the data read");
        let latest = device.scrub().expect("it scrubs").latest;
        assert!(latest <= off.min(period) + Span::ms(60_000), "off for {off}: {latest}");
    }
}

#[test]
fn what_no_die_can_do_is_refused() {
    let refused = |change: fn(&mut scrub::Params)| {
        let mut config = patrolled(RedundancyKind::Unprotected, DAYS(1), 0.5);
        change(&mut config.scrub);
        config.layout().err().into_iter().flatten().map(|it| it.keys).collect::<Vec<_>>()
    };
    // A die has 320 pages, each read in 30 us, in a quarter of the die's time.
    assert_eq!(refused(|params| params.period = Span(38_400_000)), [[""; 0]; 0]);
    assert_eq!(refused(|params| params.period = Span(38_399_999)), [["policy.scrub.period"]]);
    assert_eq!(refused(|params| params.margin = 0.0), [["policy.scrub.margin"]]);
    assert_eq!(refused(|params| params.margin = 1.01), [["policy.scrub.margin"]]);
    let off =
        |params: &mut scrub::Params| (params.name, params.period) = (ScrubKind::Off, Span::ZERO);
    assert_eq!(refused(off), [[""; 0]; 0]);
}
