//! The rate at which stripes lose data when each of their pages cannot be read with some
//! probability: faults injected into drives against the closed form (binomial;
//! `fowler_theory::stripes`).

use crate::support::small;
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::*;
use fowler_theory::stripes::{page_loss, stripe_loss};
use fowler_units::{Bytes, Rng, StripeId};

/// The tolerated deviation, in standard deviations. A count of that many independent stripes is
/// nearly normal; beyond 3.9 lies one in ten thousand on either side together, and eighteen counts
/// are checked: one set of seeds in five hundred would fail though all is well. The seeds are
/// fixed.
const SIGMAS: f64 = 3.9;

fn device(data: u32) -> Device {
    let mut config = small();
    config.geometry.channels = data + 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 40;
    config.over_provisioning = 0.4;
    let redundancy = &mut config.redundancy;
    (redundancy.name, redundancy.stripe, redundancy.integrity) =
        (RedundancyKind::Raid5, data, true);
    redundancy.parity_cache = Bytes(16 * 4096);
    Device::new(&config).expect("a drive that works")
}

/// The chance that `failed` of `of` pages fail.
fn binomial(of: u32, failed: u32, q: f64) -> f64 {
    let ways = (0..failed).fold(1.0, |ways, k| ways * f64::from(of - k) / f64::from(k + 1));
    ways * q.powi(failed as i32) * (1.0 - q).powi((of - failed) as i32)
}

/// The mean square of the data pages that a stripe loses: all that fail if two pages do or more,
/// parity aside, which is among `k` of N+1 with probability k / (N+1).
fn squared_pages(data: u32, q: f64) -> f64 {
    (2..=data + 1)
        .map(|k| {
            let with_parity = f64::from(k) / f64::from(data + 1);
            let (all, but_one) = (f64::from(k).powi(2), f64::from(k - 1).powi(2));
            binomial(data + 1, k, q) * (with_parity * but_one + (1.0 - with_parity) * all)
        })
        .sum()
}

/// Lets every page of every stripe of a drive fail with probability `q`, all in one moment. Returns
/// the stripes that lost data, and the data pages lost.
fn strike(device: &mut Device, rng: &mut Rng, q: f64) -> (u32, u32) {
    let (mut stripes, mut pages) = (0, 0);
    for stripe in (0..device.stripes()).map(StripeId) {
        let data: Vec<_> = device.stripe(stripe).data.iter().map(|&(page, _)| page).collect();
        for &page in &data {
            if rng.chance(q) {
                device.inject(Fault::Page(page));
            }
        }
        if rng.chance(q) {
            device.inject(Fault::Parity(stripe));
        }
        let lost = data.iter().filter(|&&page| device.lost(page).is_some()).count() as u32;
        stripes += u32::from(lost > 0);
        pages += lost;
    }
    let losses = device.losses().expect("a drive with versions");
    assert_eq!(losses.lost_in_all(), u64::from(pages), "no page is lost elsewhere");
    (stripes, pages)
}

#[test]
fn stripes_lose_data_as_often_as_the_closed_form_says() {
    for (seed, data) in [(1, 2), (2, 4), (3, 8)] {
        let fresh = device(data);
        for q in [0.01, 0.05, 0.2] {
            let mut rng = Rng::stream(seed, "stripe loss");
            let p = stripe_loss(data, q);
            // Enough stripes that some two hundred lose data.
            let drives = (200.0 / p / f64::from(fresh.stripes())).ceil() as u32;
            let (mut stripes, mut pages) = (0, 0);
            for _ in 0..drives {
                let (of_stripes, of_pages) = strike(&mut fresh.clone(), &mut rng, q);
                (stripes, pages) = (stripes + of_stripes, pages + of_pages);
            }
            let count = f64::from(drives * fresh.stripes());
            let within = |counted: u32, mean: f64, variance: f64, of: &str| {
                let (counted, expected) = (f64::from(counted), count * mean);
                let sigmas = (counted - expected).abs() / (count * variance).sqrt();
                let reported = format!("{counted} {of} of {count} stripes of {data} + 1 at {q}");
                assert!(
                    sigmas < SIGMAS,
                    "{reported}: {expected:.1} expected, {sigmas:.1} sigmas off"
                );
            };
            within(stripes, p, p * (1.0 - p), "lost");
            let mean = f64::from(data) * page_loss(data, q);
            within(pages, mean, squared_pages(data, q) - mean * mean, "pages lost");
        }
    }
}

/// The formula of the variance has the mean of the closed form.
#[test]
fn binomials_add_up_to_the_closed_form() {
    for (data, q) in [(1, 0.3), (4, 0.05), (8, 0.2)] {
        let two_or_more: f64 = (2..=data + 1).map(|k| binomial(data + 1, k, q)).sum();
        assert!((two_or_more / stripe_loss(data, q) - 1.0).abs() < 1e-12);
    }
}
