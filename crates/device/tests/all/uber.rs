//! Errors at a rate per bit read: as many as the law says, for good, found by the census, and
//! brought back by parity.

use crate::support::small;
use crate::support::superblocks::{built, tiny};
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::reliability::ModelKind;
use fowler_device::*;
use fowler_units::{Bytes, HostIo, HostOp, Lpn, Nanos, Span};

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
    device.rest_until(device.now() + Span::ms(100), &mut ());
    let losses = device.losses().expect("versions");
    let failed = device.counters().failed_at_random;
    assert!(failed > 0);
    assert_eq!(losses.unreadable + losses.parity_unreadable, failed);
    assert_eq!((losses.rebuilt, losses.lost_in_all()), (losses.unreadable, 0));
    assert!((0..device.layout().logical_pages).all(|page| device.lost(Lpn(page)).is_none()));
    device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
}

/// A full drive with superblocks, of pages of four mapping units of 2^15 bits, with as many read
/// tries as `kind` of errors has.
fn of_superblocks(kind: &str, uber: f64, seed: u64) -> Config {
    let mut config = tiny();
    (config.reliability.uber, config.seed) = (uber, seed);
    config.redundancy.integrity = true;
    // Nothing is moved while it is read.
    config.precondition.pattern = Pattern::Sequential;
    match kind {
        "none" => (),
        "levels" => config.reliability.model = ModelKind::Analytic,
        "retry table" => config.aging.coding = Coding::Balanced,
        "parity" => {
            config.redundancy.name = RedundancyKind::Raid5;
            config.superblocks.parity = 4;
            config.over_provisioning = 0.5;
        }
        other => panic!("{other}"),
    }
    config
}

/// Reads every mapping unit of a drive with superblocks, in requests of `units` units.
fn each_unit(device: &mut Device<Superblocks>, units: u32) {
    let size = units * 4096;
    let requests = device.layout().logical.0 / u64::from(size);
    let now = device.now() + Span::ms(1);
    let io = |at: u64| HostIo::new(HostOp::Read, now, at * u64::from(size), size);
    device.run((0..requests).map(io), Pacing::Closed { depth: 4 }, &mut ());
    device.check_superblocks().unwrap_or_else(|law| panic!("{}", law.0));
}

/// On a drive with superblocks each mapping unit that a read brings fails at the rate, whether the
/// read brings one or four of them and however many tries a read has, and nothing but it is lost.
/// At the higher rate a tenth of the reads of four units would have two that fail.
#[test]
fn units_of_superblocks_fail_as_often_as_the_rate_says() {
    let kinds =
        [("none", 1, 3e-7), ("none", 4, 1e-6), ("levels", 1, 3e-7), ("retry table", 4, 3e-7)];
    for (kind, units, uber) in kinds {
        let (mut found, mut read) = (0, 0);
        for seed in 0..30 {
            let mut config = of_superblocks(kind, uber, seed);
            // Without it, the drive notices by itself what the rate strikes.
            config.redundancy.integrity = seed % 2 == 0;
            let mut device = built(&config).expect("a sound drive");
            each_unit(&mut device, units);
            let (case, counters) = (format!("{kind}, seed {seed}"), device.counters());
            assert!(counters.uncorrectable == counters.failed_at_random, "{case}");
            let losses = device.losses().expect("it notices losses");
            assert_eq!(losses.lost_in_all(), counters.failed_at_random, "{case}");
            assert_eq!(losses.failed_reads, losses.lost_in_all(), "{case}");
            assert_eq!(device.census().lost(), losses.lost_in_all(), "{case}");
            found += counters.failed_at_random;
            read += counters.reads[Source::Host];
        }
        let p = uber * 4096.0 * 8.0;
        let (expected, spread) = (read as f64 * p, (read as f64 * p * (1.0 - p)).sqrt());
        let off = (found as f64 - expected) / spread;
        assert!(off.abs() < SIGMAS, "{kind}: {found} of {expected:.1}, {off:.1} sigmas");
    }
}

/// A read of a unit that was never written senses some unit of the drive, which may be erased:
/// nothing unwritten fails, and what has data is lost only if it is struck itself.
#[test]
fn nothing_that_was_never_programmed_is_struck() {
    let mut struck = 0;
    for seed in 0..20 {
        let mut config = of_superblocks("none", 1e-6, seed);
        config.precondition.fill = 0.3;
        let mut device = built(&config).expect("a sound drive");
        each_unit(&mut device, 1);
        let losses = device.losses().expect("it notices losses");
        let failed = device.counters().failed_at_random;
        assert!(losses.lost_in_all() <= failed, "seed {seed}: {losses:?}");
        assert_eq!(losses.unreadable, losses.lost_in_all(), "seed {seed}");
        struck += failed;
    }
    assert!(struck > 0);
}

/// A unit that has failed is read in all tries that the drive has, and from parity from then on.
#[test]
fn parity_brings_back_units_of_superblocks() {
    let mut config = of_superblocks("parity", 1e-8, 2);
    config.aging.coding = Coding::Balanced;
    let mut device = built(&config).expect("a sound drive");
    (0..20).for_each(|_| each_unit(&mut device, 1));
    device.rest_until(device.now() + Span::ms(100), &mut ());
    let (losses, counters) = (device.losses().expect("it notices losses"), device.counters());
    let failed = counters.failed_at_random;
    assert!(failed > 0);
    let tries = u64::from(config.aging.retry_entries);
    assert_eq!(counters.retries_at[0], failed * tries, "each failure takes every try");
    assert_eq!(losses.unreadable + losses.parity_unreadable, failed);
    // Data that fails in an open superblock is moved once that is full; until then parity answers.
    assert!(losses.rebuilt > 0 && losses.rebuilt <= losses.unreadable, "{losses:?}");
    assert_eq!((losses.lost_in_all(), losses.failed_reads, device.census().lost()), (0, 0, 0));
}

#[test]
fn a_rate_out_of_range_is_refused() {
    for wrong in [-1e-9, 2e-6, f64::NAN, f64::INFINITY] {
        let refused = Device::new(&config(RedundancyKind::Unprotected, wrong, 1)).expect_err("bad");
        let keys: Vec<_> = refused.iter().flat_map(|refusal| refusal.keys.clone()).collect();
        assert_eq!(keys, ["reliability.uber"], "{wrong}");
    }
}
