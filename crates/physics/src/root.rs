//! Finds the largest number for which a condition holds, exactly, by bisection.

/// Largest number of halvings in a bisection for a number: enough to shrink any interval of doubles
/// to adjacent ones.
const HALVINGS: usize = 1100;

/// Smallest distance of a cell model's function from the target value of the search, relative to
/// that value, at which the search trusts its comparison of the two; far above rounding errors.
const DOUBT: f64 = 1e-12;

/// Largest number of inverse interpolations in the search for an argument at which a function
/// reaches its target; then bisection takes over.
const STEPS: usize = 30;

/// Returns the largest number from `low` to `high` for which `holds` returns true; `None` if
/// `holds` returns false at `low`. The condition must hold up to some point and not beyond.
pub(crate) fn last(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    if !holds(low) {
        return None;
    }
    if holds(high) {
        return Some(high);
    }
    Some(halve(low, high, holds))
}

fn halve(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Point of a rising function of the cell model (such as the bit error rate by age): argument and
/// value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub at: f64,
    pub value: f64,
}

/// Search for the largest argument at which a rising function (such as the bit error rate by age)
/// is at most `target`. Finds, with fewer evaluations, the number that plain bisection finds, to
/// the last bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rising<V> {
    pub value: V,
    pub target: f64,
    /// Approximate argument at which the rising function turns from linear to logarithmic. It
    /// affects only the speed of the search for the crossing, not its result.
    pub bend: f64,
    /// True if the function that is searched is known to rise everywhere. If not, interpolation
    /// could find another crossing than bisection does: an extrapolated table may fall again.
    pub smooth: bool,
}

impl<V: Fn(f64) -> f64> Rising<V> {
    /// Returns the largest number from `low` to `high` at which the function that is searched is at
    /// most `target`; `None` if it is above `target` at `low`.
    pub fn last(&self, low: f64, high: f64) -> Option<f64> {
        let ends = [low, high].map(|at| Found { at, value: (self.value)(at) });
        self.between(ends, f64::MIN_POSITIVE)
    }

    /// Returns the largest whole number between two evaluated points at which the function that is
    /// searched is at most `target`; `None` if it is above `target` at the lower point.
    pub fn last_whole(&self, ends: [Found; 2]) -> Option<u32> {
        self.between(ends, 1.0).map(|at| at as u32)
    }

    fn between(&self, [low, high]: [Found; 2], grain: f64) -> Option<f64> {
        // For NaN, no comparison holds.
        let [low_holds, high_holds] = [low, high].map(|end| end.value <= self.target);
        if !low_holds {
            return None;
        }
        if high_holds {
            return Some(high.at);
        }
        // Bisection visits the same numbers in any case, so that rounding has the same effect. Only
        // the numbers between `below` and `above` are evaluated; the others are known.
        let [below, above] =
            if self.smooth { self.close_in([low, high], grain) } else { [low.at, high.at] };
        let holds = |at| at <= below || at < above && (self.value)(at) <= self.target;
        if grain < 1.0 {
            return Some(halve(low.at, high.at, holds));
        }
        let (mut low, mut high) = (low.at as u64, high.at as u64);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if holds(middle as f64) { low = middle } else { high = middle }
        }
        Some(low as f64)
    }

    /// Returns two arguments between which the rising function of this search certainly crosses
    /// `target`, found by inverse interpolation through the last three points on logarithmic axes.
    fn close_in(&self, [low, high]: [Found; 2], grain: f64) -> [f64; 2] {
        let point = |Found { at, value }| Point {
            across: libm::log1p(at / self.bend),
            off: libm::log(value / self.target),
        };
        let (mut below, mut above) = (low.at, high.at);
        let mut sides = [point(low), point(high)];
        let mut seen = [sides[0], sides[0], sides[1]];
        for step in 0..STEPS {
            if above - below <= grain || sides[1].off - sides[0].off < 8.0 * DOUBT {
                break;
            }
            // Move the side that is further from the target.
            let from_below = -sides[0].off > sides[1].off;
            let aim = if from_below { -2.0 * DOUBT } else { 2.0 * DOUBT };
            let mut at = self.bend * libm::expm1(interpolated(&seen, aim));
            if grain >= 1.0 {
                at = if from_below { libm::floor(at) } else { libm::ceil(at) };
                at = at.max(below + grain).min(above - grain);
            }
            if !(below < at && at < above) || step % 8 == 7 {
                let middle = (sides[0].across + sides[1].across) / 2.0;
                at = self.bend * libm::expm1(middle);
                if grain >= 1.0 {
                    at = libm::floor(at).max(below + grain).min(above - grain);
                }
            }
            let new = point(Found { at, value: (self.value)(at) });
            if new.off <= -DOUBT && at > below {
                (below, sides[0]) = (at, new);
            } else if new.off >= DOUBT && at < above {
                (above, sides[1]) = (at, new);
            } else {
                break;
            }
            seen = [seen[1], seen[2], new];
        }
        [below, above]
    }
}

/// A point of a rising function in the search for where it crosses a target, on logarithmic axes.
/// `off` is the logarithm of the function's value over the target.
#[derive(Clone, Copy, Debug)]
struct Point {
    across: f64,
    off: f64,
}

/// Returns the position on the argument's axis at which the logarithm of the function over its
/// target is `aim`, by inverse quadratic interpolation: through the three points goes a quadratic
/// that gives positions by logarithms. A line is used if the first two points coincide.
fn interpolated([a, b, c]: &[Point; 3], aim: f64) -> f64 {
    let line = |a: &Point, b: &Point| (b.across - a.across) / (b.off - a.off);
    let first = line(b, c);
    let straight = c.across + (aim - c.off) * first;
    if a.off == b.off {
        return straight;
    }
    let bend = (first - line(a, b)) / (c.off - a.off);
    straight + (aim - c.off) * (aim - b.off) * bend
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_is_found_at_both_ends_and_between() {
        assert_eq!(last(0.0, 4.0, |x| x * x <= 4.0), Some(2.0));
        assert_eq!(last(0.0, 4.0, |_| true), Some(4.0));
        assert_eq!(last(0.0, 4.0, |_| false), None);
    }

    /// The search must find the same number as plain bisection.
    #[test]
    fn closing_in_finds_what_halving_finds() {
        let asked = std::cell::Cell::new(0);
        for case in 0..400 {
            let (power, scale) = (0.1 + 0.01 * f64::from(case), 10f64.powi(case % 30 - 20));
            let curve = |at: f64| {
                asked.set(asked.get() + 1);
                match case % 4 {
                    0 => scale * libm::pow(at, power),
                    1 => scale * libm::exp(power * libm::log1p(at)),
                    2 => scale * libm::floor(at * power),
                    _ => scale * (2.0 - 1.0 / (power + at)),
                }
            };
            for target in [scale * 1e-3, scale, scale * 1.7, scale * 40.0, scale * 1e9] {
                let rising = Rising { value: curve, target, bend: 3000.0, smooth: true };
                let expected = last(0.0, 1e4, |at| curve(at) <= target);
                assert_eq!(rising.last(0.0, 1e4), expected, "{case}, {target:e}");
                let ends = [0.0, f64::from(u32::MAX)].map(|at| Found { at, value: curve(at) });
                let expected =
                    last(0.0, f64::from(u32::MAX), |at| curve(libm::floor(at)) <= target);
                let expected = expected.map(|at| at as u32);
                asked.set(0);
                assert_eq!(rising.last_whole(ends), expected, "{case}, {target:e}");
                assert!(case % 2 == 0 || asked.get() < 24, "{case}, {target:e}: {}", asked.get());
            }
        }
    }
}
