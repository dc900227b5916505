//! Roots and minima of functions of one variable, as exact as the function's values allow.

/// Number of halvings that is enough to shrink any interval of doubles as far as possible.
const HALVINGS: usize = 1100;

/// Returns the point between `low` and `high` at which a rising `f`, negative at `low`, crosses
/// zero.
pub(crate) fn rising(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
    high
}

/// Returns the point between `low` and `high` at which `f`, which falls and then rises, is least
/// (golden section search). As a minimum is flat, the position has only half the digits of `f`.
pub(crate) fn least(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    const SECTION: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (low, high);
    let (mut left, mut right) = (high - SECTION * (high - low), low + SECTION * (high - low));
    let (mut at_left, mut at_right) = (f(left), f(right));
    // Each step leaves 0.618 of the interval, and 48 steps leave 1e-10 of it.
    for _ in 0..48 {
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - SECTION * (high - low);
            at_left = f(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + SECTION * (high - low);
            at_right = f(right);
        }
    }
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_and_minima_are_found() {
        assert_eq!(rising(0.0, 4.0, |x| x * x - 4.0), 2.0);
        assert!((rising(0.0, 1.0, |x| x * x - 0.5) - 0.5f64.sqrt()).abs() < 1e-15);
        assert!((least(0.0, 1.0, |x| (x - 0.3) * (x - 0.3)) - 0.3).abs() < 1e-7);
    }
}
