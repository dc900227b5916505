//! Bisection: the last number for which a condition holds, exactly.

/// Enough halvings to shrink any interval of doubles as far as possible.
const HALVINGS: usize = 1100;

/// By what share of the target a value must differ from it for its side to be beyond doubt: far
/// more than the rounding of any value that is searched here.
const DOUBT: f64 = 1e-12;

/// Steps after which a search that does not close in is left to halving.
const STEPS: usize = 30;

/// The largest number between `low` and `high` for which `holds`, if it holds up to some point and
/// not beyond it; `None` if it does not hold at `low`.
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

/// A value that rises, where it was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub at: f64,
    pub value: f64,
}

/// Where a value that rises stops to be at most `target`: the number that [`last`] finds, to the
/// last bit, with fewer questions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rising<V> {
    pub value: V,
    pub target: f64,
    /// About where the value turns from linear to logarithmic; it decides nothing but how soon the
    /// search is over.
    pub bend: f64,
    /// Whether the value is sure to rise everywhere, without which interpolation could find another
    /// crossing than halving does: a table that is extrapolated may fall again.
    pub smooth: bool,
}

impl<V: Fn(f64) -> f64> Rising<V> {
    /// As [`last`].
    pub fn last(&self, low: f64, high: f64) -> Option<f64> {
        let ends = [low, high].map(|at| Found { at, value: (self.value)(at) });
        self.between(ends, f64::MIN_POSITIVE)
    }

    /// The same for whole numbers, of which two ends are known.
    pub fn last_whole(&self, ends: [Found; 2]) -> Option<u32> {
        self.between(ends, 1.0).map(|at| at as u32)
    }

    fn between(&self, [low, high]: [Found; 2], grain: f64) -> Option<f64> {
        // Of a value that is no number nothing holds.
        let [low_holds, high_holds] = [low, high].map(|end| end.value <= self.target);
        if !low_holds {
            return None;
        }
        if high_holds {
            return Some(high.at);
        }
        // The way of halving is gone in any case, so that rounding decides as it always did; but
        // nothing is asked that is known.
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

    /// Numbers between which the last one lies beyond doubt, by inverse interpolation of logarithms
    /// between the last three points.
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
            // The side that is further away is drawn in.
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

/// A point on logarithmic axes: off by the logarithm of its value over the target.
#[derive(Clone, Copy, Debug)]
struct Point {
    across: f64,
    off: f64,
}

/// Where a curve through three points comes to `aim`; a line if the first two are the same.
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

    /// Against plain halving, which asks everywhere on its way.
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
