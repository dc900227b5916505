//! Shards: parts of a whole that run anywhere, in any order, and are then merged. Any batch system
//! can run them, because a shard needs only what the whole needs and two numbers.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;

/// The most shards of a sweep or a fleet: as many as a sweep may have points, or a fleet drives.
pub const SHARDS_MAX: u64 = 1_000_000;
/// Most ranges of numbers that a message lists; the rest are omitted.
const NAMED: usize = 12;

/// One of the parts (shards) into which the work of a sweep or a fleet is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Number of this shard, from 1 to the number of shards.
    number: u64,
    /// Number of shards into which the work is divided.
    of: u64,
}

impl Shard {
    /// The single shard of a sweep or fleet that is not divided: it contains all points or drives.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// Parses shard i of n from `i/n`, such as `3/40`.
    ///
    /// # Errors
    /// If it is not two whole numbers, the first from 1 to the second, or there are more shards
    /// than [`SHARDS_MAX`].
    pub fn parse(text: &str) -> Result<Shard, String> {
        let whole = |text: &str| {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u64>().ok().filter(|_| digits)
        };
        let numbers = text.split_once('/').and_then(|(i, n)| Some((whole(i)?, whole(n)?)));
        let Some((number, of)) = numbers else {
            return Err("expected i/n, such as 3/40 for the third of 40 shards".into());
        };
        let shard = Shard { number, of };
        if !shard.is_valid() {
            return Err(format!("expected i/n with 1 <= i <= n <= {SHARDS_MAX}"));
        }
        Ok(shard)
    }

    /// Returns true if the shard's number is from 1 to the number of shards; in a file it may not
    /// be.
    pub fn is_valid(self) -> bool {
        (1..=self.of).contains(&self.number) && self.of <= SHARDS_MAX
    }

    /// Returns the number of the shard, from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Returns the number of shards into which the work is divided.
    pub fn of(self) -> u64 {
        self.of
    }

    /// Returns all shards of the sweep or fleet that this shard is a part of, in order.
    pub fn all(self) -> Vec<Shard> {
        (1..=self.of).map(|number| Shard { number, ..self }).collect()
    }

    /// Returns the items of shard i of n: every n-th item from the i-th on.
    pub fn take<T: Clone>(self, all: &[T]) -> Vec<T> {
        all.iter().skip(self.number as usize - 1).step_by(self.of as usize).cloned().collect()
    }

    /// Returns the range of `all` items, contiguous, that belongs to this shard; the shards in
    /// order cover all items.
    pub fn places(self, all: u32) -> std::ops::Range<u32> {
        let end = |number: u64| (u64::from(all) * number / self.of) as u32;
        end(self.number - 1)..end(self.number)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Returns numbers in ascending order as text, such as `2, 5 to 9`.
pub fn ranges(numbers: &[u64]) -> String {
    let mut runs: Vec<RangeInclusive<u64>> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some(last) if *last.end() + 1 == number => *last = *last.start()..=number,
            _ => runs.push(number..=number),
        }
    }
    let named = runs.iter().take(NAMED).map(|run| match (run.start(), run.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) if first + 1 == *last => format!("{first}, {last}"),
        (first, last) => format!("{first} to {last}"),
    });
    let named: Vec<String> = named.collect();
    let more = if runs.len() > NAMED { ", and more" } else { "" };
    named.join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_read_strictly_and_have_everything_once() {
        for text in ["1/1", "3/40", "1000000/1000000"] {
            assert_eq!(Shard::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "3", "0/4", "5/4", "1/0", "+1/4", "1/4/2", "-1/4", "1 /4", "1/1000001"] {
            assert!(Shard::parse(text).is_err(), "{text}");
        }
        let all: Vec<u32> = (0..11).collect();
        for of in [1, 2, 3, 11, 40] {
            let shards = || (1..=of).map(|number| Shard { number, of });
            let mut taken: Vec<u32> = shards().flat_map(|it| it.take(&all)).collect();
            taken.sort_unstable();
            assert_eq!(taken, all, "{of}");
            let places: Vec<u32> = shards().flat_map(|it| it.places(11)).collect();
            assert_eq!(places, all, "{of}");
        }
        let last = Shard { number: SHARDS_MAX, of: SHARDS_MAX };
        assert_eq!(last.places(1_000_000), 999_999..1_000_000);
    }

    #[test]
    fn numbers_are_named_as_ranges() {
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[1, 2, 5, 7, 8, 9]), "1, 2, 5, 7 to 9");
        let many: Vec<u64> = (0..100).map(|it| 2 * it).collect();
        assert!(ranges(&many).ends_with("22, and more"), "{}", ranges(&many));
    }
}
