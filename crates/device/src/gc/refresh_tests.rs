//! Tests of refresh on whole drives.

use crate::cells::reliability::{ModelKind, RateTable};
use crate::config::Ack;
use crate::config::Config;
use crate::config::tests::shaped;
use crate::event_loop::{Device, Pacing};
use crate::observe::completion::Completion;
use crate::observe::counters::Refreshed;
use crate::policy::redundancy::RedundancyKind;
use crate::policy::sensing::SensingKind;
use fowler_units::{BlockId, Bytes, Geometry, HostIo, HostOp, Nanos, Span};

/// Returns a drive with two planes per die that keeps data for a minute.
fn config() -> Config {
    let mut config = shaped(Geometry {
        channels: 5,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 20,
        pages_per_block: 16,
        page_size: Bytes(4096),
    });
    (config.over_provisioning, config.precondition.fill) = (0.5, 0.9);
    (config.buffer.ack, config.buffer.size) = (Ack::OnProgram, Bytes(8 * 4096));
    (config.gc.foreground_below, config.gc.background_below) = (2, 3);
    let redundancy = &mut config.redundancy;
    (redundancy.name, redundancy.stripe, redundancy.integrity) =
        (RedundancyKind::DisturbLimiting, 4, true);
    (redundancy.parity_cache, redundancy.retention) = (Bytes(4 * 4096), Span::ms(60_000));
    config
}

/// Returns the age of the oldest block that holds data, and the maximum reads of any block.
fn oldest(device: &Device) -> (Span, u32) {
    let (core, gc) = (&device.layer.ftl.core, &device.layer.ftl.gc);
    let refresher = gc.refresh.as_ref().expect("refresh is on");
    let holds = |block: &BlockId| core.allocator.blocks.valid(*block) > 0;
    let held = || (0..core.layout.geometry.blocks()).map(BlockId).filter(holds);
    let age = |block: BlockId| refresher.age(block, device.now());
    let reads = held().map(|block| refresher.blocks[block].reads).max();
    (held().map(age).max().expect("some blocks hold data"), reads.unwrap_or(0))
}

fn io(op: HostOp, page: u64, at: Span) -> HostIo {
    HostIo::new(op, Nanos(at.0), page * 4096, 4096)
}

/// On a drive where one page per second fills a block in some minutes, neither the first pages of
/// such a block nor those of open blocks that take no more data are kept for too long.
#[test]
fn a_block_that_fills_slowly_keeps_no_page_for_too_long() {
    for writes in [0, 1] {
        let mut device = Device::new(&config()).unwrap();
        let (most, mut passed) = (Span::ms(61_000), 0);
        let ios = (0..240).map(|turn| {
            let op = if turn % 7 < writes { HostOp::Write } else { HostOp::Read };
            io(op, turn * 3 % 50, Span::ms(1000) * turn)
        });
        let mut completions: Vec<Completion> = Vec::new();
        device.run_watched(ios, Pacing::Open, &mut completions, |device| {
            let (age, _) = oldest(device);
            assert!(age <= most, "data of {age} at {}", device.now().0);
            passed += 1;
        });
        device.check().unwrap_or_else(|law| panic!("{}", law.0));
        device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
        let counters = device.counters();
        assert!(passed > 240, "{passed} events");
        assert!(counters.closed_early > 0, "{:?} refreshed", counters.refreshed);
    }
}

/// On a drive that the host reads without a pause, so that no die is ever idle and no block fills,
/// blocks of different ages are refreshed in time.
#[test]
fn a_drive_that_is_never_idle_refreshes_in_time() {
    let limit = Span::ms(2000);
    // Sixteen pages, each read behind waiting reads and then programmed, and an erase: this is the
    // maximum on a drive with a queue depth of sixteen.
    let job = Span::ms(120);
    // Either jobs begin in idle time and are then promoted, or none begins in idle time.
    for idle_after in [config().gc.idle_after, Span::ms(10_000)] {
        let mut config = config();
        (config.redundancy.retention, config.reliability.oldest) = (limit, Span::ms(1700));
        config.gc.idle_after = idle_after;
        let mut device = Device::new(&config).unwrap();
        let (mut most, mut idle) = (Span::ZERO, Span::ZERO);
        let read = |turn: u64| io(HostOp::Read, turn * 7 % 600, Span::ZERO);
        let mut completions: Vec<Completion> = Vec::new();
        let reads = (0..300_000).map(read);
        device.run_watched(reads, Pacing::Closed { depth: 16 }, &mut completions, |device| {
            most = most.max(oldest(device).0);
            idle = device.counters().idle;
        });
        assert!(device.now() > Nanos(2 * limit.0), "{}", device.now().0);
        assert_eq!(idle, Span::ZERO, "the host reads without a pause");
        let Refreshed { at_hard_limit: due, when_idle: early } = device.counters().refreshed;
        assert!(due + early > 100 && (due > 100 || idle_after < limit), "{due} {early}");
        assert!(most <= limit + job, "data of {most}, {due} and {early} refreshed");
        device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
    }
}

/// An open block is closed and refreshed when its pages have been read too often.
#[test]
fn a_block_that_is_open_is_not_read_too_often() {
    let mut config = config();
    (config.redundancy.reads, config.redundancy.retention) = (200, Span::ms(1_000_000_000));
    let mut device = Device::new(&config).unwrap();
    // The buffer holds eight pages: at the end, it does not hold the first of these.
    let ios = (7..27).map(|page| io(HostOp::Write, page, Span::ZERO));
    let reads = (1..3000).map(|turn| io(HostOp::Read, 7, Span::ms(1) * turn));
    let mut completions: Vec<Completion> = Vec::new();
    device.run(ios.chain(reads), Pacing::Open, &mut completions);
    let (_, reads) = oldest(&device);
    assert!(reads <= 200, "{reads} reads");
    assert!(device.counters().closed_early > 0);
}

/// Every try of a read counts as a read of its block, which it disturbs.
#[test]
fn a_retry_is_a_read() {
    let mut config = config();
    config.redundancy.retention = Span::ms(1_000_000_000);
    config.redundancy.integrity = false;
    config.reliability.model = ModelKind::Table;
    config.reliability.levels = 3;
    config.reliability.table = RateTable {
        cycles: vec![0.0, 3000.0],
        ages: vec![Span::ZERO, Span::ms(2_000_000_000)],
        rates: vec![vec![1e-2; 2]; 2],
    };
    config.sensing.name = SensingKind::Retry;
    let mut device = Device::new(&config).unwrap();
    let reads = (0..50).map(|turn| io(HostOp::Read, 7, Span::ms(1) * turn));
    let mut completions: Vec<Completion> = Vec::new();
    device.run(reads, Pacing::Open, &mut completions);
    let retries: u64 = device.counters().retries_at.iter().sum();
    assert!(retries > 0, "the first try is enough");
    assert_eq!(u64::from(oldest(&device).1), 50 + retries);
}
