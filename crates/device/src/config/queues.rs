//! The bounded queues of the drive: their sizes, their order, and which requests wait for which.

use std::fmt;
use std::str::FromStr;

/// The bounded queues of the drive: sizes and order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Largest number of host requests in the drive; further ones wait outside.
    pub depth: u32,
    /// Maximum number of host page reads waiting or in service.
    pub max_reads: u32,
    /// Maximum number of host page writes between the buffer and the flash.
    pub max_writes: u32,
    /// Number of waiting writes that are admitted between two groups of waiting reads, when reads
    /// and writes wait for room in the drive together ([`Admission::Shared`] only).
    pub reads_behind: u32,
    /// The order in which writes are taken from the submission queues.
    pub arbitration: Arbitration,
    /// Number of writes that each submission queue hands over in its turn
    /// ([`Arbitration::Weighted`] only).
    pub weights: Weights,
    /// Maximum number of writes that wait in the drive besides those that wait in their submission
    /// queues. Without effect if writes are taken in order of arrival.
    pub taken: u32,
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self {
            depth: 1024,
            max_reads: 1024,
            max_writes: 1024,
            reads_behind: 64,
            arbitration: Arbitration::Arrival,
            weights: Weights::EQUAL,
            taken: 256,
        }
    }
}

/// The rule for which requests wait behind one that finds no room in a queue of pages. See
/// docs/decisions/host.md, "Whom does a full write queue hold up?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Only requests of the same kind wait: reads pass writes that wait for room, and writes pass
    /// reads.
    ReadsPass,
    /// All requests that arrive after a waiting one wait, too: requests enter the drive one by one,
    /// in order of arrival.
    InOrder,
    /// Reads take turns with writes that wait for room: after every [`QueueConfig::reads_behind`]
    /// waiting writes, all waiting reads enter. A read enters at the latest after the writes that
    /// waited when it arrived.
    Shared,
}

/// The order in which writes are taken from the submission queues. See
/// docs/decisions/host.md, "From which queue does the next write come?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// Writes are taken in order of arrival, whatever their queue.
    Arrival,
    /// One write is taken from each queue in turn.
    RoundRobin,
    /// From each queue in turn, as many writes are taken as its weight.
    Weighted,
}

/// The number of writes that each submission queue hands over in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Weights of the first submission queues; the last weight holds for all further queues.
    /// Entries from `count` on are not used.
    per_queue: [u16; Weights::MOST],
    count: u8,
}

impl Weights {
    /// Largest number of submission queues that can have a weight of their own.
    pub const MOST: usize = 16;
    /// Largest weight of a submission queue: that of NVMe.
    pub const LARGEST: u16 = 256;
    /// Weights of one for every submission queue, as in round robin.
    pub const EQUAL: Weights = Weights { per_queue: [1; Weights::MOST], count: 1 };

    /// Returns the weight of a submission queue.
    pub fn of(&self, queue: usize) -> u32 {
        self.per_queue[queue.min(usize::from(self.count) - 1)].into()
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_queue = self.per_queue[..usize::from(self.count)].iter();
        let words: Vec<String> = per_queue.map(u16::to_string).collect();
        f.write_str(&words.join(" "))
    }
}

impl FromStr for Weights {
    type Err = String;

    fn from_str(text: &str) -> Result<Weights, String> {
        let mut weights = Weights { count: 0, ..Weights::EQUAL };
        for word in text.split_ascii_whitespace() {
            let weight = word.parse().ok().filter(|it| (1..=Weights::LARGEST).contains(it));
            let Some(weight) = weight else {
                return Err(format!(
                    "`{word}` is not a queue weight from 1 to {}",
                    Weights::LARGEST
                ));
            };
            let Some(place) = weights.per_queue.get_mut(usize::from(weights.count)) else {
                return Err(format!("more than {} weights", Weights::MOST));
            };
            *place = weight;
            weights.count += 1;
        }
        if weights.count == 0 {
            return Err("no weight".into());
        }
        Ok(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_and_written() {
        for (text, first, tenth) in [("1", 1, 1), (" 3  256 ", 3, 256), ("1 2 3", 1, 3)] {
            let weights: Weights = text.parse().expect(text);
            assert_eq!((weights.of(0), weights.of(9), weights.of(60_000)), (first, tenth, tenth));
            assert_eq!(weights.to_string().parse(), Ok(weights), "{text}");
        }
        let many = "1 ".repeat(17);
        for (text, expected) in [
            ("", "no weight"),
            ("0", "`0` is not a queue weight from 1 to 256"),
            ("1 257", "`257` is not a queue weight from 1 to 256"),
            ("1,2", "`1,2` is not a queue weight from 1 to 256"),
            (&many, "more than 16 weights"),
        ] {
            assert_eq!(text.parse::<Weights>(), Err(expected.to_string()));
        }
    }
}
