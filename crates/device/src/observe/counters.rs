//! What the device counts while it runs. Plain sums, read out once at the end.
//!
//! A count of several is a table by an enumeration ([`fowler_units::By`]) or a struct with a name
//! for each. Either is written as the array of its values where the format has no names.

use crate::observe::operation::{BySource, Source};
use crate::policy::stream_tag::ByClass;
use fowler_physics::voltage::ByVoltage;
use fowler_units::Span;
use serde::{Deserialize, Serialize};

/// Sums over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Logical pages that host reads touched.
    pub pages_read: u64,
    /// Of them, answered by the write buffer.
    pub buffer_read_hits: u64,
    /// Of them, pages that had never been written.
    pub unwritten_reads: u64,
    /// Logical pages that host writes touched.
    pub pages_written: u64,
    /// Of them, absorbed by a buffered page that had not yet gone to the flash.
    pub buffer_write_hits: u64,
    /// Logical pages trimmed that held data.
    pub pages_trimmed: u64,
    /// Flash page reads.
    pub reads: BySource<u64>,
    /// Of the host's flash reads, those that a partial write needed.
    pub merge_reads: u64,
    /// Flash page programs.
    pub programs: BySource<u64>,
    /// The same programs by the threshold voltages they were made at; none where no errors are
    /// modelled.
    pub programs_at: BySource<ByVoltage<u64>>,
    /// Pages that left the buffer, or were written through it, by how they were used.
    pub left: ByClass<u64>,
    /// What became of clean pages that were read hot.
    pub rewritten: Rewritten,
    /// Flash page reads by the level at which they came to be read, the hard decision first; none
    /// where no errors are modelled.
    pub reads_at: [u64; 4],
    /// Tries at each level that were not enough, so that the read climbed to the next.
    pub retries_at: [u64; 4],
    /// Of the reads, those with more errors than the code corrects at its highest level.
    pub uncorrectable: u64,
    /// Block erases; those for the host are raw commands.
    pub erases: BySource<u64>,
    /// Parity pages by what they were computed from.
    pub parity_ways: ParityWays,
    /// Blocks refreshed.
    pub refreshed: Refreshed,
    /// Blocks closed before they were full, because their first pages were old or had been read
    /// often.
    pub closed_early: u64,
    /// Garbage collections.
    pub collections: Collections,
    /// Times a program or erase was taken off the cells (S10).
    pub suspensions: u64,
    /// Programs and erases on the cells; a multi-plane program is one.
    pub operations: u64,
    /// Of them, suspended at least once.
    pub suspended_operations: u64,
    /// Sum over the suspended operations of their undisturbed time.
    pub suspended_nominal: Span,
    /// Sum over the suspended operations of how much longer than that they took, reads served
    /// meanwhile included.
    pub suspended_extra: Span,
    /// How long the throttle held writes.
    pub throttled: ThrottleTime,
    /// Writes that it stopped.
    pub stops: u64,
    /// Time since the first request during which none was in the device.
    pub idle: Span,
    /// Answered reads and writes of which a page was taken up before one of their kind that had
    /// waited longer on the same die (RHIO, section IV-B: prioritized requests).
    pub prioritized: Prioritized,
    /// The time integral of the number of requests issued and not yet answered, in
    /// request-nanoseconds. 128 bits hold 65,536 requests for the 584 years that a clock runs, 2^48
    /// times over.
    pub outstanding: u128,
    /// Time over all channels spent transferring.
    pub channel_busy: Span,
    /// Time over all dies spent on operations, suspending and resuming included.
    pub die_busy: Span,
}

impl Counters {
    /// Write amplification of the translation layer: pages programmed on any account for each page
    /// programmed for the host. `None` before the first.
    /// See docs/decisions/observe.md, "What is `waf`?".
    pub fn waf(&self) -> Option<f64> {
        waf(&self.programs)
    }
}

/// Pages programmed on any account for each page programmed for the host; none before the first.
pub fn waf(programs: &BySource<u64>) -> Option<f64> {
    let host = programs[Source::Host];
    (host > 0).then(|| programs.sum() as f64 / host as f64)
}

/// What became of clean pages that were read hot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewritten {
    /// Programmed anew.
    pub anew: u64,
    /// Given up for want of idle time.
    pub given_up: u64,
}

/// Parity pages by what they were computed from (DA-RAID-5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParityWays {
    /// The rest of their stripe, equation (2).
    pub from_rest: u64,
    /// The old data and the old parity, equation (1).
    pub by_delta: u64,
}

/// Blocks whose data was moved because it was old or had been read often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refreshed {
    /// They had reached their hard limit.
    pub at_hard_limit: u64,
    /// Before that, when the drive was idle.
    pub when_idle: u64,
}

/// Garbage collections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collections {
    /// Those that competed with the host.
    pub foreground: u64,
    /// Those in idle time.
    pub background: u64,
}

/// How long the throttle held writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThrottleTime {
    /// By delays of their pages.
    pub delayed: Span,
    /// By stops, when no capacity was left.
    pub stopped: Span,
}

/// Requests that went before others of their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prioritized {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table is written as the array it is, and one of another length is refused.
    #[test]
    fn a_table_is_written_and_read_as_an_array() {
        let table = BySource::from([1, 2, 3, 4, 5]);
        let text = serde_json::to_string(&table).expect("writable");
        assert_eq!(text, "[1,2,3,4,5]");
        assert_eq!(serde_json::from_str::<BySource<u64>>(&text).expect("readable"), table);
        for short in ["[1,2,3,4]", "[1,2,3,4,5,6]", "{}"] {
            assert!(serde_json::from_str::<BySource<u64>>(short).is_err(), "{short}");
        }
    }
}
