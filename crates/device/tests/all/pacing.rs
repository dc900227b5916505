//! The issue of requests: Little's law in the closed loop, whatever the link and the queue; and
//! that a steady host never stands still for a whole GC job.

use crate::support::small;
use fowler_device::policy::wear::WearKind;
use fowler_device::*;
use fowler_units::{ByteRate, HostIo, HostOp, Nanos, Rng, Span};

fn random(op: HostOp, count: u64, pages: u64, seed: u64) -> Vec<HostIo> {
    let mut rng = Rng::stream(seed, "pacing");
    let io = |_| HostIo::new(op, Nanos::ZERO, rng.below(pages) * 4096, 4096);
    (0..count).map(io).collect()
}

#[test]
fn as_many_requests_are_outstanding_as_the_loop_is_deep() {
    for (link, places) in [(0, 1024), (50_000_000, 1024), (0, 4), (50_000_000, 4)] {
        for depth in [1, 4, 32] {
            let mut config = small();
            config.host.bandwidth = ByteRate(link);
            config.host.command = Span::us(2);
            config.queue.depth = places;
            let mut device = Device::new(&config).expect("a sound drive");
            let pages = u64::from(device.layout().logical_pages);
            let mut completions: Vec<Completion> = Vec::new();
            let requests = random(HostOp::Read, 5_000, pages, 1);
            device.run(requests, Pacing::Closed { depth }, &mut completions);
            let waited: u64 = completions.iter().map(|c| c.latency().0).sum();
            // Little's law: mean number outstanding = throughput x mean latency. The ends of the
            // run, where fewer are outstanding, are a fraction depth / 5000 of it.
            let outstanding = waited as f64 / (device.now() - device.began()).0 as f64;
            let off = outstanding / f64::from(depth) - 1.0;
            assert!(off.abs() < 0.01, "link {link}, {places} places, depth {depth}: {outstanding}");
        }
    }
}

/// Returns the longest time without a completion, and the time to collect a block (or to move one).
fn longest_stand(wear: WearKind) -> (Span, Span) {
    let mut config = small();
    config.wear.name = wear;
    config.wear.threshold = 5;
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 64;
    config.over_provisioning = 0.2;
    config.gc.foreground_below = 5;
    config.gc.background_below = 5;
    config.precondition.pattern = Pattern::Steady;
    let mut device = Device::new(&config).expect("a sound drive");
    let pages = u64::from(device.layout().logical_pages);
    let mut completions: Vec<Completion> = Vec::new();
    let hot = if wear == WearKind::Off { pages } else { pages / 5 };
    let writes = random(HostOp::Write, 60_000, hot, 2);
    device.run(writes, Pacing::Closed { depth: 8 }, &mut completions);
    let valid_moved = device.counters().programs[Source::Gc] / device.counters().erases[Source::Gc];
    let mut done: Vec<Nanos> = completions.iter().map(|c| c.done).collect();
    done.sort_unstable();
    let gap = done.windows(2).map(|pair| pair[1] - pair[0]).max().expect("many");
    assert_eq!(device.counters().programs[Source::Wear] > 0, wear != WearKind::Off);
    let moved = if wear == WearKind::Off { valid_moved } else { 64 };
    (gap, Span::us(30 + 160) * moved + Span::us(1508))
}

#[test]
fn no_write_waits_for_a_whole_block_to_be_collected_or_swapped() {
    for wear in [WearKind::Off, WearKind::HotColdSwap] {
        let (gap, block) = longest_stand(wear);
        assert!(gap < block, "{wear:?}: the drive stood still for {gap}, a block takes {block}");
    }
}

#[test]
fn planes_stay_aligned_while_gc_runs() {
    let mut config = small();
    config.geometry.planes_per_die = 4;
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 32;
    config.gc.foreground_below = 4;
    config.gc.background_below = 4;
    config.precondition.pattern = Pattern::Steady;
    let mut device = Device::new(&config).expect("a sound drive");
    let pages = u64::from(device.layout().logical_pages);
    let writes = random(HostOp::Write, 40_000, pages, 3);
    device.run(writes, Pacing::Closed { depth: 64 }, &mut ());
    let c = device.counters();
    assert!(c.erases[Source::Gc] > 500, "GC ran");
    let background = c.programs[Source::Gc] + c.erases[Source::Gc];
    let planes = c.programs[Source::Host] as f64 / (c.operations - background) as f64;
    assert!(planes > 3.0, "{planes:.2} of 4 planes take part in a host program on average");
}

#[test]
fn a_flush_is_answered_however_hot_a_page_is() {
    let mut config = small();
    config.buffer.ack = Ack::OnInsert;
    let mut device = Device::new(&config).expect("a sound drive");
    let write = |page: u64| HostIo::write(Nanos::ZERO, page * 4096, 4096);
    let mut requests: Vec<HostIo> = (0..20).map(write).collect();
    requests.push(HostIo::flush(Nanos::ZERO));
    let pages = u64::from(device.layout().logical_pages);
    let mut rng = Rng::stream(4, "flush");
    requests.extend((0..20_000).map(|n| write(if n % 2 == 0 { 0 } else { rng.below(pages) })));
    let mut completions: Vec<Completion> = Vec::new();
    device.run(requests, Pacing::Closed { depth: 8 }, &mut completions);
    let flush = completions.iter().find(|c| c.io.op == HostOp::Flush).expect("answered");
    // Twenty pages on four dies of two planes: a handful of programs each.
    assert!(flush.latency() < Span::ms(10), "{}", flush.latency());
}

#[test]
fn a_saturated_drive_reads_as_fast_as_its_dies_and_no_faster() {
    // S1: a read holds its die for sensing and transfer. With a channel for each die, the dies set
    // the bound.
    let mut config = small();
    config.geometry.channels = 4;
    config.geometry.chips_per_channel = 1;
    config.queue.max_reads = 1024;
    config.queue.depth = 1024;
    let mut device = Device::new(&config).expect("a sound drive");
    let pages = u64::from(device.layout().logical_pages);
    let reads = random(HostOp::Read, 200_000, pages, 5);
    device.run(reads, Pacing::Closed { depth: 256 }, &mut ());
    let per_s = 200_000.0 / (device.now() - device.began()).as_s();
    let bound = 4.0 / 30e-6;
    assert!(
        per_s <= bound && per_s > 0.99 * bound,
        "{per_s:.0} reads per second, bound {bound:.0}"
    );
}

/// Watches every step, and notes the maximum number of steps reported at once.
#[derive(Default)]
struct Steps {
    heard: usize,
    most: usize,
}

impl Probe for Steps {
    fn completed(&mut self, _completion: &Completion) {}

    fn watches_flash(&self) -> fowler_device::Steps {
        fowler_device::Steps::All
    }

    fn stepped(&mut self, steps: &[FlashStep]) {
        self.heard += steps.len();
        self.most = self.most.max(steps.len());
    }
}

/// A request may be served in any number of steps: the steps are reported before the answer.
#[test]
fn whoever_watches_hears_of_steps_before_they_are_many() {
    let mut config = small();
    config.geometry.blocks_per_plane = 256;
    config.precondition.pattern = Pattern::Steady;
    let mut device = Device::new(&config).expect("a sound drive");
    let size = device.layout().logical_pages * 4096;
    let mut steps = Steps::default();
    let all = HostIo::read(Nanos::ZERO, 0, size);
    device.run([all], Pacing::Open, &mut steps);
    assert!(steps.heard > 10_000, "{}", steps.heard);
    assert!(steps.most < 5_000, "{}", steps.most);
}
