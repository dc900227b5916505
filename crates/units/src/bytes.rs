//! Amounts of data and rates. `KiB` is 2^10 and `KB` is 10^3; configuration text must say which.

use crate::quantity::{Unit, format_exact, parse_exact, suffixes};
use crate::{QuantityError, Span};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Mul};
use std::str::FromStr;

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A data rate in bytes per second; zero means that transfers take no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteRate(pub u64);

const BINARY: &[Unit] = &[
    Unit { suffix: "TiB", scale: 1 << 40 },
    Unit { suffix: "GiB", scale: 1 << 30 },
    Unit { suffix: "MiB", scale: 1 << 20 },
    Unit { suffix: "KiB", scale: 1 << 10 },
    Unit { suffix: "B", scale: 1 },
];

const ALL: &[Unit] = &[
    Unit { suffix: "TiB", scale: 1 << 40 },
    Unit { suffix: "GiB", scale: 1 << 30 },
    Unit { suffix: "MiB", scale: 1 << 20 },
    Unit { suffix: "KiB", scale: 1 << 10 },
    Unit { suffix: "TB", scale: 1_000_000_000_000 },
    Unit { suffix: "GB", scale: 1_000_000_000 },
    Unit { suffix: "MB", scale: 1_000_000 },
    Unit { suffix: "KB", scale: 1_000 },
    Unit { suffix: "B", scale: 1 },
];

const RATES: &[Unit] = &[
    Unit { suffix: "GB/s", scale: 1_000_000_000 },
    Unit { suffix: "MB/s", scale: 1_000_000 },
    Unit { suffix: "GiB/s", scale: 1 << 30 },
    Unit { suffix: "MiB/s", scale: 1 << 20 },
    Unit { suffix: "B/s", scale: 1 },
];

impl Bytes {
    /// Returns the memory of `count` consecutive values of type `T`, in bytes.
    pub const fn of<T>(count: u64) -> Bytes {
        Bytes(count.saturating_mul(size_of::<T>() as u64))
    }

    /// Returns the unit suffixes of amounts of data allowed in configuration text, such as `MiB`.
    pub fn units() -> impl Iterator<Item = &'static str> {
        suffixes(ALL)
    }
}

/// Adds two amounts; a sum above 2^64 - 1 bytes becomes that amount.
impl Add for Bytes {
    type Output = Bytes;

    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(all: I) -> Bytes {
        all.fold(Bytes(0), Add::add)
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;

    fn mul(self, times: u64) -> Bytes {
        Bytes(self.0.saturating_mul(times))
    }
}

impl ByteRate {
    /// Returns the unit suffixes of data rates allowed in configuration text, such as `GB/s`.
    pub fn units() -> impl Iterator<Item = &'static str> {
        suffixes(RATES)
    }

    /// Returns the time to transfer `bytes` at this rate, rounded up once for the whole transfer;
    /// zero at rate zero.
    pub fn time(self, bytes: u64) -> Span {
        if self.0 == 0 {
            return Span::ZERO;
        }
        // Nearly every transfer fits 64-bit division, which is several times faster.
        if let Some(scaled) = bytes.checked_mul(1_000_000_000) {
            return Span(scaled.div_ceil(self.0));
        }
        let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(self.0));
        Span(u64::try_from(ns).expect("a transfer takes less than 584 years"))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&if self.0 == 0 { "0B".into() } else { format_exact(self.0, BINARY) })
    }
}

impl FromStr for Bytes {
    type Err = QuantityError;
    /// Parses `64MiB`, `2GB`, `4096B`; a bare number is an error.
    fn from_str(text: &str) -> Result<Bytes, QuantityError> {
        parse_exact(text, ALL, "an amount of data with its unit, such as \"64MiB\"").map(Bytes)
    }
}

impl fmt::Display for ByteRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&if self.0 == 0 { "0B/s".into() } else { format_exact(self.0, RATES) })
    }
}

impl FromStr for ByteRate {
    type Err = QuantityError;
    /// Parses `2GB/s`, `1200MB/s`; `0B/s` is a link whose transfers take no time.
    fn from_str(text: &str) -> Result<ByteRate, QuantityError> {
        parse_exact(text, RATES, "a rate with its unit, such as \"2GB/s\"").map(ByteRate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_of_units_are_read_and_exactly_written() {
        for (text, bytes, shown) in
            [("64MiB", 64 << 20, "64MiB"), ("2GB", 2_000_000_000, "1953125KiB"), ("0B", 0, "0B")]
        {
            assert_eq!(text.parse(), Ok(Bytes(bytes)));
            assert_eq!(Bytes(bytes).to_string(), shown);
            assert_eq!(shown.parse(), Ok(Bytes(bytes)));
        }
        assert!("64".parse::<Bytes>().is_err());
        assert!("64mib".parse::<Bytes>().is_err());
        for (text, reason) in [
            ("16EiB", "`EiB` is an unknown unit"),
            ("16e3B", "without exponent"),
            ("16777216TiB", "must be below 2^64 B"),
        ] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn a_transfer_is_rounded_up_once() {
        let onfi: ByteRate = "1200MB/s".parse().unwrap();
        assert_eq!(onfi.time(16_384), Span(13_654));
        assert_eq!(ByteRate(0).time(1 << 40), Span::ZERO);
        assert_eq!(ByteRate(1 << 30).time(1 << 40), Span(1024 * 1_000_000_000));
    }
}
