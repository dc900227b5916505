//! Errors at a rate per bit read: as many as the law says, for good, found by the census, and
//! brought back by parity.

use crate::support::small;
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::reliability::ModelKind;
use fowler_device::*;
use fowler_units::{Bytes, HostIo, HostOp, Lpn, Nanos};

/// The tolerated deviation, in standard deviations. Beyond 3.9 lies one in ten thousand on either
/// side together. The seeds are fixed.
const SIGMAS: f64 = 3.9;

/// A full drive of pages of 2^15 bits that nothing buffers.
fn config(kind: RedundancyKind, uber: f64, seed: u64) -> Config {
    let mut config = small();
    (config.reliability.uber, config.seed) = (uber, seed);
    (config.buffer.size, config.precondition.fill) = (Bytes(0), 1.0);
    if kind != RedundancyKind::Unprotected {
        config.geometry.channels = 4;
        let redundancy = &mut config.redundancy;
        (redundancy.name, redundancy.stripe, redundancy.integrity) = (kind, 3, true);
        redundancy.parity_cache = Bytes(16 * 4096);
    }
    config
}

fn drive(config: &Config) -> Device {
    Device::new(config).unwrap_or_else(|why| panic!("{why:?}"))
}

fn each_page(device: &mut Device, op: HostOp) {
    let page = |page: u32| HostIo::new(op, Nanos::ZERO, u64::from(page) * 4096, 4096);
    let pages = device.layout().logical_pages;
    device.run((0..pages).map(page), Pacing::Closed { depth: 4 }, &mut ());
    device.check().unwrap_or_else(|law| panic!("{}", law.0));
}

/// Each page is read once, with and without a model of errors: the failures of a drive are
/// binomial.
#[test]
fn pages_fail_as_often_as_the_rate_says() {
    for (model, uber) in
        [(ModelKind::Off, 3e-7), (ModelKind::Off, 1e-6), (ModelKind::Analytic, 1e-6)]
    {
        let (mut counts, mut pages) = (Vec::new(), 0);
        for seed in 0..100 {
            let mut config = config(RedundancyKind::Unprotected, uber, seed);
            config.reliability.model = model;
            let mut device = drive(&config);
            each_page(&mut device, HostOp::Read);
            let counters = device.counters();
            assert_eq!(counters.uncorrectable, counters.failed_at_random);
            counts.push(counters.failed_at_random as f64);
            pages = device.layout().logical_pages;
        }
        let (n, p) = (f64::from(pages), uber * 4096.0 * 8.0);
        let runs = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / runs;
        let expected = n * p;
        let spread = (n * p * (1.0 - p)).sqrt();
        let off = (mean - expected) / (spread / runs.sqrt());
        assert!(off.abs() < SIGMAS, "{mean} pages of {n}, {off:.1} sigmas from {expected}");
        // The scatter over drives: the variance of that number of drives scatters by sqrt(2 /
        // runs).
        let square = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (runs - 1.0);
        let off = (square / spread.powi(2) - 1.0) / (2.0 / runs).sqrt();
        assert!(off.abs() < SIGMAS, "a variance of {square}, {off:.1} sigmas off");
    }
}

/// Without redundancy a page that has failed stays unreadable, wherever GC moves it, until it is
/// overwritten.
#[test]
fn what_has_failed_stays_failed_until_overwritten() {
    let mut device = drive(&config(RedundancyKind::Unprotected, 1e-7, 1));
    each_page(&mut device, HostOp::Read);
    let failed = device.counters().failed_at_random;
    assert!(failed > 0);
    let census = device.census();
    assert_eq!((census.lost(), census.found()), (failed, failed));
    // Half of the drive, several times over: GC moves the other half.
    let pages = u64::from(device.layout().logical_pages);
    let writes = (0..4 * pages)
        .map(|n| HostIo::new(HostOp::Write, Nanos::ZERO, (n * 2 + 1) % pages / 2 * 2 * 4096, 4096));
    device.run(writes, Pacing::Closed { depth: 4 }, &mut ());
    let counters = device.counters();
    assert!(counters.collections.foreground + counters.collections.background > 0);
    let kept = device.census();
    assert!(kept.found() > 0, "some of them lay in the other half");
    assert_eq!(kept.unfound(), 0, "a page that failed is known");
    each_page(&mut device, HostOp::Write);
    assert_eq!(device.census().lost(), 0, "what is overwritten reads well");
}

/// With parity each failed page is brought back, as long as the rest of its stripe can be read.
#[test]
fn parity_brings_back_what_fails() {
    let mut device = drive(&config(RedundancyKind::Raid5, 2e-8, 1));
    (0..20).for_each(|_| each_page(&mut device, HostOp::Read));
    device.rest_until(device.now() + fowler_units::Span::ms(100), &mut ());
    let losses = device.losses().expect("versions");
    let failed = device.counters().failed_at_random;
    assert!(failed > 0);
    assert_eq!(losses.unreadable + losses.parity_unreadable, failed);
    assert_eq!((losses.rebuilt, losses.lost_in_all()), (losses.unreadable, 0));
    assert!((0..device.layout().logical_pages).all(|page| device.lost(Lpn(page)).is_none()));
    device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
}

#[test]
fn a_rate_out_of_range_is_refused() {
    for wrong in [-1e-9, 2e-6, f64::NAN, f64::INFINITY] {
        let refused = Device::new(&config(RedundancyKind::Unprotected, wrong, 1)).expect_err("bad");
        let keys: Vec<_> = refused.iter().flat_map(|refusal| refusal.keys.clone()).collect();
        assert_eq!(keys, ["reliability.uber"], "{wrong}");
    }
}
