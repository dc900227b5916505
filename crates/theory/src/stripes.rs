//! Stripes of N data pages and one parity page, each of which is unreadable with an independent
//! probability: the probability of data loss, the mean time until then, and how wide a stripe may
//! be (DA-RAID-5, end of section III-E).

/// Returns the probability that a stripe of `data` pages and one parity page loses data, if each
/// page is unreadable with probability `q`. It loses data if two or more pages are unreadable, as
/// at least one of them is a data page.
///
/// # Panics
/// If `q` is not between 0 and 1.
pub fn stripe_loss(data: u32, q: f64) -> f64 {
    assert!((0.0..=1.0).contains(&q), "{q} is not a probability");
    let n = f64::from(data + 1);
    if q < 1e-4 {
        // The sum below would lose its digits. Each term from the third on is smaller by n q / 3.
        let pairs = n * (n - 1.0) / 2.0 * q * q;
        let triples = n * (n - 1.0) * (n - 2.0) / 6.0 * q * q * q;
        return pairs * (1.0 - q).powf(n - 2.0) + triples;
    }
    1.0 - (1.0 - q).powf(n) - n * q * (1.0 - q).powf(n - 1.0)
}

/// Returns the share of data pages that stripes of `data` pages and one parity page lose, if each
/// page is unreadable with probability `q`. A page is lost if it and another page of its stripe are
/// unreadable.
pub fn page_loss(data: u32, q: f64) -> f64 {
    q * -libm::expm1(f64::from(data) * libm::log1p(-q))
}

/// Returns the mean number of periods until one of `count` independent items fails, if each fails
/// with probability `p` per period.
pub fn periods_to_loss(p: f64, count: f64) -> f64 {
    // 1 - (1 - p)^count, to as many digits as p has.
    let any = -libm::expm1(count * libm::log1p(-p));
    if any > 0.0 { 1.0 / any } else { f64::MAX }
}

/// Returns the number of data pages of the widest stripe, up to `most`, whose probability of data
/// loss is at most `target`; `None` if even a mirror loses more.
pub fn widest(q: f64, target: f64, most: u32) -> Option<u32> {
    (1..=most).rev().find(|&data| stripe_loss(data, q) <= target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_stripes_are_counted_by_hand() {
        for q in [1e-9f64, 1e-5, 0.01, 0.3] {
            let mirror = stripe_loss(1, q);
            assert!((mirror / (q * q) - 1.0).abs() < 1e-9, "{q}: {mirror}");
            let three = 3.0 * q * q * (1.0 - q) + q * q * q;
            assert!((stripe_loss(2, q) / three - 1.0).abs() < 1e-8, "{q}");
            assert!((page_loss(1, q) / (q * q) - 1.0).abs() < 1e-9, "{q}");
        }
    }

    #[test]
    fn the_two_ways_of_summing_meet() {
        for data in [1, 4, 8, 16, 63] {
            let (below, above) = (stripe_loss(data, 0.999e-4), stripe_loss(data, 1.001e-4));
            assert!((above / below / (1.001f64 / 0.999).powi(2) - 1.0).abs() < 1e-4, "{data}");
        }
    }

    #[test]
    fn wider_stripes_lose_more_and_the_widest_is_the_last_that_does_not() {
        let q = 0.01588;
        assert!((1..63).all(|data| stripe_loss(data, q) < stripe_loss(data + 1, q)));
        let widest = widest(q, 0.01, 63).unwrap();
        assert!(stripe_loss(widest, q) <= 0.01 && stripe_loss(widest + 1, q) > 0.01);
        assert_eq!(super::widest(0.5, 0.01, 63), None);
    }

    #[test]
    fn one_in_a_hundred_takes_a_hundred_periods() {
        assert!((periods_to_loss(0.01, 1.0) - 100.0).abs() < 1e-9);
        assert!((periods_to_loss(1e-18, 1e6) / 1e12 - 1.0).abs() < 1e-9);
        assert_eq!(periods_to_loss(0.0, 5.0), f64::MAX);
    }
}
