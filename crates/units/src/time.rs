//! Simulated time. A moment and a length of time are different types, so that adding two moments
//! does not compile; both count whole nanoseconds in a `u64` (584 years).

use crate::QuantityError;
use crate::quantity::{Unit, format_exact, parse_exact, suffixes};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};
use std::str::FromStr;

/// A moment in simulated time: nanoseconds since the run began.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Nanos(pub u64);

/// A length of simulated time in nanoseconds; never negative.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span(pub u64);

const UNITS: &[Unit] = &[
    Unit { suffix: "d", scale: 86_400_000_000_000 },
    Unit { suffix: "h", scale: 3_600_000_000_000 },
    Unit { suffix: "min", scale: 60_000_000_000 },
    Unit { suffix: "s", scale: 1_000_000_000 },
    Unit { suffix: "ms", scale: 1_000_000 },
    Unit { suffix: "us", scale: 1_000 },
    Unit { suffix: "ns", scale: 1 },
];

impl Nanos {
    /// The start of the simulated run.
    pub const ZERO: Nanos = Nanos(0);
    /// A moment later than every event of any run.
    pub const NEVER: Nanos = Nanos(u64::MAX);

    /// Returns the time elapsed since `earlier`.
    ///
    /// # Panics
    /// If `earlier` lies in the future: simulated time never runs backwards.
    #[inline]
    pub fn since(self, earlier: Nanos) -> Span {
        if earlier > self {
            ran_backwards(self, earlier);
        }
        Span(self.0 - earlier.0)
    }
}

/// Panics because the clock ran backwards. A function of its own and not inlined, so that callers
/// need not hold two times in memory for the panic message.
#[cold]
#[inline(never)]
fn ran_backwards(now: Nanos, earlier: Nanos) -> ! {
    panic!("time ran backwards: {} before {}", now.0, earlier.0)
}

impl Span {
    /// A length of time of zero.
    pub const ZERO: Span = Span(0);

    /// Returns the unit suffixes of lengths of time allowed in configuration text, such as `us`.
    pub fn units() -> impl Iterator<Item = &'static str> {
        suffixes(UNITS)
    }

    /// Returns a length of time of `n` nanoseconds.
    pub const fn ns(n: u64) -> Span {
        Span(n)
    }

    /// Returns a length of time of `n` microseconds.
    pub const fn us(n: u64) -> Span {
        Span(n * 1_000)
    }

    /// Returns a length of time of `n` milliseconds.
    pub const fn ms(n: u64) -> Span {
        Span(n * 1_000_000)
    }

    /// Returns the length of time in microseconds, for tables and JSON only: the simulation itself
    /// counts whole nanoseconds.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Returns the length of time in seconds, for tables and JSON only: the simulation itself
    /// counts whole nanoseconds.
    pub fn as_s(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns this length of time minus `other`, or zero if `other` is longer.
    #[inline]
    pub fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Nanos {
    type Output = Nanos;
    #[inline]
    fn add(self, length: Span) -> Nanos {
        Nanos(self.0.checked_add(length.0).expect("simulated time passed 584 years"))
    }
}

impl Sub for Nanos {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Nanos) -> Span {
        self.since(earlier)
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0.checked_add(other.0).expect("a length of time passed 584 years"))
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        Span(self.0.checked_sub(other.0).expect("a length of time below zero"))
    }
}

impl SubAssign for Span {
    #[inline]
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    #[inline]
    fn mul(self, times: u64) -> Span {
        Span(self.0.checked_mul(times).expect("a length of time passed 584 years"))
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

impl fmt::Display for Span {
    /// Formats the time in the largest unit that keeps it exact, as configuration text accepts it:
    /// `25us`, `1500ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_exact(self.0, &UNITS[3..]))
    }
}

impl FromStr for Span {
    type Err = QuantityError;
    /// Parses `25us`, `3.3ms`, `381d`. A bare number is an error, as is anything finer than 1 ns.
    fn from_str(text: &str) -> Result<Span, QuantityError> {
        parse_exact(text, UNITS, "a length of time with its unit, such as \"25us\"").map(Span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_text_reads_back() {
        for (text, ns, shown) in [
            ("25us", 25_000, "25us"),
            ("3.3ms", 3_300_000, "3300us"),
            ("381d", 381 * 86_400_000_000_000, "32918400s"),
            ("0s", 0, "0s"),
            ("56.5 us", 56_500, "56500ns"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span, Span(ns), "{text}");
            assert_eq!(span.to_string(), shown);
            assert_eq!(shown.parse::<Span>().unwrap(), span);
        }
    }

    #[test]
    fn unusable_text_is_refused_with_the_reason() {
        for (text, reason) in [
            ("25", "no unit"),
            ("-1us", "negative"),
            ("us", "no number"),
            ("25 parsecs", "unknown unit"),
            ("0.5ns", "finer"),
            ("1e400s", "no number"),
            ("600000000d", "too large"),
            ("inf us", "unknown unit"),
        ] {
            let error = text.parse::<Span>().unwrap_err();
            assert!(error.to_string().contains(reason), "{text}: {error}");
        }
    }

    #[test]
    #[should_panic(expected = "time ran backwards")]
    fn time_never_runs_backwards() {
        let _ = Nanos(1) - Nanos(2);
    }
}
