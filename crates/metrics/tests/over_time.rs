//! A run over time and by address, compared with the completions of the same run, and with the
//! counters of the drive as a whole.

use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::{Completion, Config, Device, Pacing, Pattern, Probe, Source};
use fowler_metrics::{Kind, OverTime, Region, Regions};
use fowler_nand::{PerPageType, Timing};
use fowler_units::{Bytes, Geometry, HostIo, HostOp, Nanos, Rng, Span};

/// A drive in steady state, with suspension, whose dies share channels or have one each.
fn drive(chips_per_channel: u32) -> Device {
    Device::new(&config(chips_per_channel)).expect("a sound drive")
}

fn config(chips_per_channel: u32) -> Config {
    let timing = Timing {
        bus_transfer: Span::us(40),
        read: PerPageType::uniform(Span::us(25)),
        program_phase: Span::us(20),
        verify_phase: Span::us(24),
        program_iterations: PerPageType::uniform(15),
        erase_pulse: Span::us(3300),
        erase_verify: Span::us(24),
        voltage_reset: Span::us(4),
        buffer_load: Span::us(3),
    };
    let geometry = Geometry {
        channels: 2,
        chips_per_channel,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 32,
        pages_per_block: 16,
        page_size: Bytes(4096),
    };
    let mut config = Config { over_provisioning: 0.3, ..Config::new(geometry, timing) };
    config.precondition.pattern = Pattern::Steady;
    config.die_order.name = fowler_device::policy::die_order::DieOrderKind::ReadFirst;
    config.suspension.name = fowler_device::policy::suspension::SuspensionKind::Ipc;
    config
}

/// Requests that begin late, pause for long now and then, and are of every size.
fn requests(count: usize, pages: u32) -> Vec<HostIo> {
    let mut rng = Rng::stream(11, "over_time");
    let mut at = Nanos(5_000_000_000);
    let io = |_| {
        let pause = if rng.below(500) == 0 { 40_000_000 } else { 900_000 };
        at = at + Span(rng.below(pause));
        let op = if rng.below(10) < 7 { HostOp::Read } else { HostOp::Write };
        let size = 4096 * (1 + rng.below(3)) as u32;
        HostIo::new(op, at, 4096 * rng.below(u64::from(pages) - 3), size)
    };
    (0..count).map(io).collect()
}

/// Notes when the first request entered, and the counters of the drive at that time.
#[derive(Default)]
struct Begun(Option<(Nanos, fowler_device::Counters)>);

impl Probe for Begun {
    fn completed(&mut self, _completion: &Completion) {}

    fn begun(&mut self, device: &Device) {
        self.0 = Some((device.now(), device.counters()));
    }
}

#[test]
fn windows_hold_exactly_what_happened_in_them() {
    for (chips, count) in [(1, 60), (2, 3_000), (1, 20_000), (3, 20_000)] {
        let mut device = drive(chips);
        let pages = device.layout().logical_pages;
        let mut probe = (OverTime::new(), (Vec::new(), Begun::default()));
        device.run(requests(count, pages), Pacing::Open, &mut probe);
        let (mut over_time, (completions, Begun(begun))) = probe;
        over_time.end(&device);
        // The long runs were merged again and again, the short one never.
        let merged = over_time.width() > Span::ms(10);
        assert_eq!(merged, count == 20_000, "{}", over_time.width());
        let (began, before) = begun.expect("there were requests");
        check_requests(&over_time, &completions, began);
        check_drive(&over_time, &device, &before, began);
        // In half as many windows the results are the same.
        let coarser = over_time.coarser();
        assert_eq!(coarser.windows().len(), over_time.windows().len().div_ceil(2));
        assert_eq!(coarser.width(), over_time.width() * 2);
        check_requests(&coarser, &completions, began);
        check_drive(&coarser, &device, &before, began);
    }
}

fn check_requests(over_time: &OverTime, completions: &[Completion], began: Nanos) {
    for (window, it) in over_time.windows().iter().enumerate() {
        let from = began + over_time.width() * window as u64;
        let inside = |done: Nanos| done > from && done <= from + it.length;
        for kind in Kind::ALL {
            let op = [HostOp::Read, HostOp::Write][kind as usize];
            let mut latencies: Vec<u64> = completions
                .iter()
                .filter(|completion| completion.io.op == op && inside(completion.done))
                .map(|completion| completion.latency().0)
                .collect();
            latencies.sort_unstable();
            let served = &it.served[kind];
            assert_eq!(served.requests, latencies.len() as u64, "window {window}");
            assert_eq!(served.latency, latencies.iter().map(|&it| u128::from(it)).sum());
            assert_eq!(served.max.0, latencies.last().copied().unwrap_or(0));
            for share in [0.5, 0.99] {
                let rank = (share * latencies.len() as f64).ceil() as usize;
                let exact = rank.checked_sub(1).map(|rank| latencies[rank]);
                let shown = over_time.quantile(window, kind, share).map(|it| it.0);
                assert_eq!(exact.is_some(), shown.is_some());
                let (exact, shown) = (exact.unwrap_or(0), shown.unwrap_or(0));
                assert!(exact <= shown && shown <= exact + exact / 16, "{exact} {shown}");
            }
        }
    }
    let served: u64 = over_time
        .windows()
        .iter()
        .flat_map(|it| it.served.into_array())
        .map(|it| it.requests)
        .sum();
    assert_eq!(served, completions.len() as u64);
}

fn check_drive(
    over_time: &OverTime,
    device: &Device,
    before: &fowler_device::Counters,
    began: Nanos,
) {
    let windows = over_time.windows();
    let dies = u64::from(device.layout().geometry.dies());
    let (mut die_time, mut channel_time, mut length) = (0, 0, Span::ZERO);
    for (index, window) in windows.iter().enumerate() {
        let whole = window.activity.iter().sum::<u64>();
        assert_eq!(whole, dies * window.length.0, "a die does one thing at a time, always");
        for &busy in over_time.die_busy(index).iter().chain(over_time.channel_busy(index)) {
            assert!(busy <= window.length.0, "window {index}: {busy} of {}", window.length.0);
        }
        die_time += over_time.die_busy(index).iter().sum::<u64>();
        channel_time += over_time.channel_busy(index).iter().sum::<u64>();
        length += window.length;
    }
    let counters = device.counters();
    assert_eq!(length, device.now() - began);
    assert_eq!(die_time, (counters.die_busy - before.die_busy).0);
    // A transfer that is under way when the run ends is counted whole by the drive, and up to the
    // end here.
    let beyond = (counters.channel_busy - before.channel_busy).0 - channel_time;
    assert!(beyond < 2 * 80_000, "{beyond}");
    let sum = |of: fn(&fowler_metrics::Window) -> u64| windows.iter().map(of).sum::<u64>();
    assert_eq!(sum(|it| it.suspensions), counters.suspensions);
    assert_eq!(sum(|it| it.erases), counters.erases.sum());
    assert_eq!(sum(|it| it.programs.sum()), counters.programs.sum() - before.programs.sum());
    assert!(counters.suspensions > 0, "nothing was suspended");
}

/// Every byte, request and program is in the region of its address; parity is in the region of its
/// stripe.
#[test]
fn regions_hold_exactly_what_happened_in_them() {
    for protected in [false, true] {
        let mut config = config(2);
        config.buffer.size = Bytes(4096 * 64);
        if protected {
            config.redundancy.name = RedundancyKind::Raid5;
            config.redundancy.stripe = 3;
            config.over_provisioning = 0.5;
        }
        let mut device = Device::new(&config).expect("a sound drive");
        let layout = *device.layout();
        let requests = requests(5_000, layout.logical_pages);
        let mut probe = (Regions::default(), (Vec::new(), Begun::default()));
        device.run(requests, Pacing::Open, &mut probe);
        let (regions, (completions, Begun(begun))) = probe;
        let width = regions.width().0;
        assert!(regions.all().len() > 32, "{}", regions.all().len());
        for (index, region) in regions.all().iter().enumerate() {
            let (from, to) = (width * index as u64, width * (index as u64 + 1));
            for kind in Kind::ALL {
                let op = [HostOp::Read, HostOp::Write][kind as usize];
                let of_kind =
                    || completions.iter().filter(|completion: &&Completion| completion.io.op == op);
                let inside = |completion: &&Completion| (from..to).contains(&completion.io.offset);
                let bytes = of_kind().map(|completion| {
                    let end = completion.io.offset + u64::from(completion.io.size);
                    end.min(to).saturating_sub(completion.io.offset.max(from))
                });
                assert_eq!(region.bytes[kind], bytes.sum::<u64>(), "region {index}");
                let latencies: Vec<u64> =
                    of_kind().filter(inside).map(|completion| completion.latency().0).collect();
                assert_eq!(region.requests[kind], latencies.len() as u64, "region {index}");
                let sum: u64 = latencies.iter().sum();
                let mean =
                    (!latencies.is_empty()).then(|| sum as f64 / latencies.len() as f64 / 1e3);
                assert_eq!(region.mean_us(kind), mean, "region {index}");
            }
        }
        let before = begun.expect("there were requests").1;
        let after = device.counters();
        for source in Source::ALL {
            let sum: u64 = regions.all().iter().map(|region| region.programs[source]).sum();
            assert_eq!(sum, after.programs[source] - before.programs[source], "{source:?}");
        }
        let parity = |region: &Region| region.programs[Source::Parity];
        assert_eq!(regions.all().iter().all(|region| parity(region) > 0), protected);
    }
}

/// Pages written often to one end of a drive are programmed there, and hardly elsewhere.
#[test]
fn what_a_region_costs_is_counted_there() {
    let mut config = config(2);
    config.buffer.size = Bytes(4096 * 16);
    let mut device = Device::new(&config).expect("a sound drive");
    let pages = u64::from(device.layout().logical_pages);
    let mut rng = Rng::stream(12, "regions");
    let io = |count: u64| {
        // Nine of ten writes go to the last tenth.
        let hot = rng.below(10) < 9;
        let page = if hot { pages * 9 / 10 + rng.below(pages / 10) } else { rng.below(pages) };
        HostIo::new(HostOp::Write, Nanos(count * 400_000), 4096 * page, 4096)
    };
    let mut regions = Regions::default();
    device.run((0..20_000).map(io).collect::<Vec<_>>(), Pacing::Open, &mut regions);
    let (cold, hot) = regions.all().split_at(regions.all().len() * 9 / 10);
    let host =
        |part: &[Region]| part.iter().map(|region| region.programs[Source::Host]).sum::<u64>();
    // 91 % of the writes. The buffer merges some of them, and a region lies on the border.
    assert!(host(hot) > 5 * host(cold), "{} {}", host(hot), host(cold));
    let waf = |part: &[Region]| {
        let all: u64 = part.iter().map(|region| region.programs.sum()).sum();
        all as f64 / host(part) as f64
    };
    assert!(waf(cold) > 2.0 * waf(hot), "{} {}", waf(cold), waf(hot));
}
