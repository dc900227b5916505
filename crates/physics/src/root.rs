//! Where something that holds stops to hold, to the last bit.

/// Halvings after which an interval of doubles of one size cannot shrink any further.
const HALVINGS: usize = 1100;

/// The largest number between `low` and `high` for which `holds`, if it holds up to some point and
/// not beyond it; `None` if it does not hold at `low`.
pub(crate) fn last(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    if !holds(low) {
        return None;
    }
    if holds(high) {
        return Some(high);
    }
    let (mut low, mut high) = (low, high);
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

/// The same for whole numbers from zero to `high`.
pub(crate) fn last_whole(high: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    if !holds(0) {
        return None;
    }
    if holds(high) {
        return Some(high);
    }
    let (mut low, mut high) = (0, high);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_is_found_at_both_ends_and_between() {
        assert_eq!(last(0.0, 4.0, |x| x * x <= 4.0), Some(2.0));
        assert_eq!(last(0.0, 4.0, |_| true), Some(4.0));
        assert_eq!(last(0.0, 4.0, |_| false), None);
        assert_eq!(last_whole(1000, |n| n * n <= 99), Some(9));
        assert_eq!(last_whole(u32::MAX, |_| true), Some(u32::MAX));
        assert_eq!((last_whole(9, |_| false), last_whole(9, |n| n < 1)), (None, Some(0)));
    }
}
