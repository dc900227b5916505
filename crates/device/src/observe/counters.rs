//! Counters of a run: plain sums, read at its end.
//!
//! Related counts are tables indexed by an enumeration ([`fowler_units::By`]) or structs with named
//! fields. Both are serialized as arrays in formats without names.

use crate::observe::operation::{BySource, Source};
use crate::policy::stream_tag::ByClass;
use fowler_physics::voltage::ByVoltage;
use fowler_units::Span;
use serde::{Deserialize, Serialize};
use std::ops::Sub;

/// Counters of a run of a drive: numbers of events, and sums of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Number of logical pages that host reads touched.
    pub pages_read: u64,
    /// Number of logical pages read by the host from the write buffer.
    pub buffer_read_hits: u64,
    /// Number of logical pages read by the host that were never written before.
    pub unwritten_reads: u64,
    /// Number of logical pages that host writes touched.
    pub pages_written: u64,
    /// Number of logical pages written by the host into a buffered page that had not yet gone to
    /// the flash.
    pub buffer_write_hits: u64,
    /// Number of logical pages trimmed that held data.
    pub pages_trimmed: u64,
    /// Number of flash page reads by source; on a drive with superblocks, of mapping units read.
    pub reads: BySource<u64>,
    /// Number of flash page reads that partial host writes required.
    pub merge_reads: u64,
    /// Number of flash page programs by source; on a drive with superblocks, of mapping units
    /// programmed, padding included.
    pub programs: BySource<u64>,
    /// Number of flash page programs by source and threshold voltage; zero if errors are not
    /// modeled.
    pub programs_at: BySource<ByVoltage<u64>>,
    /// Number of pages that left the buffer, or were written through it, by access class.
    pub left: ByClass<u64>,
    /// Numbers of clean read-hot pages that left the buffer, by their treatment.
    pub rewritten: Rewritten,
    /// Number of flash page reads by the sensing level that succeeded, the hard decision first;
    /// zero if errors are not modeled.
    pub reads_at: [u64; 4],
    /// Number of failed tries at each sensing level, after which the read continued at the next.
    pub retries_at: [u64; 4],
    /// Number of flash page reads that failed: with too many bit errors even at the highest sensing
    /// level or after the last read retry, or by a random error at the rate `reliability.uber`.
    pub uncorrectable: u64,
    /// Number of uncorrectable reads caused by an error at the rate `reliability.uber`, only the
    /// first read of each struck page or, on drives with superblocks, mapping unit. Not in the
    /// saved state of a drive simulated over years, which has no such errors.
    #[serde(skip)]
    pub failed_at_random: u64,
    /// Number of block erases by source; those by the host are raw commands.
    pub erases: BySource<u64>,
    /// Numbers of parity pages computed, by how they were computed.
    pub parity_ways: ParityWays,
    /// Numbers of blocks whose data was moved because of its age or its number of reads.
    pub refreshed: Refreshed,
    /// Number of blocks closed before they were full, because their first pages were old or had
    /// been read often.
    pub closed_early: u64,
    /// Numbers of pages that scrubbing has read, and of blocks that it has moved.
    pub scrubbed: Scrubbed,
    /// Numbers of blocks that garbage collection has emptied.
    pub collections: Collections,
    /// Numbers of mapping units that went through the SLC cache of a drive with superblocks. Not in
    /// the saved state of a drive simulated over years, which has no superblocks.
    #[serde(skip)]
    pub slc: SlcCounts,
    /// Numbers of retries of reads of aged data on a drive with superblocks. Not in the saved state
    /// of a drive simulated over years, which has no superblocks.
    #[serde(skip)]
    pub aged: AgedCounts,
    /// Number of suspensions of programs and erases for reads (rule S10 of docs/pes.md).
    pub suspensions: u64,
    /// Number of programs and erases executed; a multi-plane program counts once.
    pub operations: u64,
    /// Number of programs and erases that were suspended at least once.
    pub suspended_operations: u64,
    /// Total time, in nanoseconds, that the suspended programs and erases would have taken on the
    /// cells without suspension.
    pub suspended_nominal: Span,
    /// Sum of the additional times that the suspended operations took, including reads served
    /// meanwhile.
    pub suspended_extra: Span,
    /// Total time for which the throttle delayed writes.
    pub throttled: ThrottleTime,
    /// Number of writes that the throttle stopped because no write capacity was left.
    pub stops: u64,
    /// Total time since the first request with no request in the drive.
    pub idle: Span,
    /// Numbers of completed reads and writes with a page that was served before a longer-waiting
    /// page of its kind on the same die (RHIO, section IV-B: prioritized requests).
    pub prioritized: Prioritized,
    /// Time integral of the number of requests issued and not yet completed, in
    /// request-nanoseconds. 128 bits hold 2^48 times the integral of 65,536 requests over the 584
    /// years that the clock covers.
    pub outstanding: u128,
    /// Transfer time, summed over all channels of the drive.
    pub channel_busy: Span,
    /// Operation time, suspending and resuming included, summed over all dies.
    pub die_busy: Span,
}

impl Counters {
    /// Returns the write amplification (WAF) of the translation layer: pages programmed in total
    /// per page programmed for the host. `None` before the first host program. See
    /// docs/decisions/observe.md, "What is `waf`?".
    pub fn waf(&self) -> Option<f64> {
        waf(&self.programs)
    }

    /// Returns the increase of each counter of a drive since `before`, its counters at an earlier
    /// moment.
    #[must_use]
    pub fn since(&self, before: &Counters) -> Counters {
        Counters {
            pages_read: self.pages_read - before.pages_read,
            buffer_read_hits: self.buffer_read_hits - before.buffer_read_hits,
            unwritten_reads: self.unwritten_reads - before.unwritten_reads,
            pages_written: self.pages_written - before.pages_written,
            buffer_write_hits: self.buffer_write_hits - before.buffer_write_hits,
            pages_trimmed: self.pages_trimmed - before.pages_trimmed,
            reads: self.reads - before.reads,
            merge_reads: self.merge_reads - before.merge_reads,
            programs: self.programs - before.programs,
            programs_at: self.programs_at - before.programs_at,
            left: self.left - before.left,
            rewritten: self.rewritten - before.rewritten,
            reads_at: std::array::from_fn(|level| self.reads_at[level] - before.reads_at[level]),
            retries_at: std::array::from_fn(|level| {
                self.retries_at[level] - before.retries_at[level]
            }),
            uncorrectable: self.uncorrectable - before.uncorrectable,
            failed_at_random: self.failed_at_random - before.failed_at_random,
            erases: self.erases - before.erases,
            parity_ways: self.parity_ways - before.parity_ways,
            refreshed: self.refreshed - before.refreshed,
            closed_early: self.closed_early - before.closed_early,
            scrubbed: self.scrubbed - before.scrubbed,
            collections: self.collections - before.collections,
            slc: self.slc - before.slc,
            aged: self.aged - before.aged,
            suspensions: self.suspensions - before.suspensions,
            operations: self.operations - before.operations,
            suspended_operations: self.suspended_operations - before.suspended_operations,
            suspended_nominal: self.suspended_nominal - before.suspended_nominal,
            suspended_extra: self.suspended_extra - before.suspended_extra,
            throttled: self.throttled - before.throttled,
            stops: self.stops - before.stops,
            idle: self.idle - before.idle,
            prioritized: self.prioritized - before.prioritized,
            outstanding: self.outstanding - before.outstanding,
            channel_busy: self.channel_busy - before.channel_busy,
            die_busy: self.die_busy - before.die_busy,
        }
    }
}

/// Returns the write amplification (WAF): pages programmed in total per page programmed for the
/// host; `None` before the first host program.
pub fn waf(programs: &BySource<u64>) -> Option<f64> {
    let host = programs[Source::Host];
    (host > 0).then(|| programs.sum() as f64 / host as f64)
}

/// Numbers of clean read-hot pages that left the buffer, by their treatment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewritten {
    /// Number of read-hot pages reprogrammed in idle time.
    pub anew: u64,
    /// Number of read-hot pages dropped because there was no idle time to reprogram them.
    pub given_up: u64,
}

/// Numbers of parity pages computed, by the data they were computed from (DA-RAID-5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParityWays {
    /// Number of parity pages computed from the other pages of the stripe: equation (2) of the
    /// DA-RAID-5 paper.
    pub from_rest: u64,
    /// Number of parity pages computed from the old data and the old parity: equation (1) of the
    /// DA-RAID-5 paper.
    pub by_delta: u64,
}

/// Numbers of blocks whose data was moved because of its age or its number of reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refreshed {
    /// Number of blocks refreshed at once because they had reached the hard limit: the largest data
    /// age or number of reads allowed.
    pub at_hard_limit: u64,
    /// Number of blocks refreshed early, when their die was idle, because they had reached the soft
    /// limit: a share of the hard limit, at which a block is refreshed at once.
    pub when_idle: u64,
}

/// Numbers of pages read by scrubbing, and of blocks that were moved because of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scrubbed {
    /// Number of pages read by scrubbing.
    pub pages: u64,
    /// Number of pages read while their die was in use, because scrubbing was behind schedule.
    pub under_load: u64,
    /// Number of pages that scrubbing has found to be uncorrectable.
    pub unreadable: u64,
    /// Number of blocks that scrubbing has read to the end.
    pub blocks: u64,
    /// Number of blocks whose bit errors reached `policy.scrub.margin` and that were moved.
    pub moved: u64,
    /// Number of blocks whose bit errors reached `policy.scrub.margin` and that were not moved,
    /// because moving would not lower their errors.
    pub left: u64,
    /// Number of blocks whose bit errors reached `policy.scrub.margin` and whose move was postponed
    /// to the next scrubbing period, because their plane had no room.
    pub postponed: u64,
}

/// Numbers of blocks that garbage collection has emptied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collections {
    /// Number of blocks emptied in competition with the host (foreground GC).
    pub foreground: u64,
    /// Number of blocks emptied in idle time (background GC).
    pub background: u64,
}

/// Numbers of mapping units and superblocks that went through an SLC cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlcCounts {
    /// Number of mapping units of the host programmed in SLC mode.
    pub cached: u64,
    /// Number of mapping units read from superblocks in SLC mode, to be programmed with all bits of
    /// a cell.
    pub folded: u64,
    /// Number of erases of superblocks that were in SLC mode.
    pub erased: u64,
}

/// Numbers of retries of reads of aged data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgedCounts {
    /// Number of flash page reads that needed a retry.
    pub retried: u64,
    /// Number of mapping units transferred over the channel by tries of reads that failed and were
    /// followed by a retry.
    pub units: u64,
    /// Number of superblocks whose data was moved because of its age.
    pub refreshed: u64,
}

/// Total time for which the write throttle delayed writes: by delays that it spread over the pages
/// of writes, and by stopping writes while no write capacity was left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThrottleTime {
    /// Total time of throttling delays that were spread over the pages of writes.
    pub delayed: Span,
    /// Total time for which the throttle stopped writes, because no write capacity was left.
    pub stopped: Span,
}

/// Numbers of requests served before longer-waiting ones of their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prioritized {
    /// Number of read requests with a page that was served before a longer-waiting read on the same
    /// die.
    pub reads: u64,
    /// Number of write requests with a page that was served before a longer-waiting write on the
    /// same die.
    pub writes: u64,
}

/// Subtracts counters field by field, to get the counts between two moments.
macro_rules! differences {
    ($($Sums:ident { $($field:ident),+ $(,)? })+) => {$(
        impl Sub for $Sums {
            type Output = Self;
            fn sub(self, less: Self) -> Self {
                Self { $($field: self.$field - less.$field),+ }
            }
        }
    )+};
}

differences! {
    Rewritten { anew, given_up }
    ParityWays { from_rest, by_delta }
    Refreshed { at_hard_limit, when_idle }
    Scrubbed { pages, under_load, unreadable, blocks, moved, left, postponed }
    Collections { foreground, background }
    SlcCounts { cached, folded, erased }
    AgedCounts { retried, units, refreshed }
    ThrottleTime { delayed, stopped }
    Prioritized { reads, writes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_later_is_the_difference() {
        let mut before = Counters { pages_read: 3, outstanding: 1 << 70, ..Counters::default() };
        before.programs[Source::Gc] = 2;
        before.programs_at[Source::Gc] = ByVoltage::from([0, 2, 0]);
        (before.reads_at[1], before.rewritten.anew) = (5, 6);
        let mut later = before;
        later.programs[Source::Gc] += 7;
        later.programs_at[Source::Gc] = ByVoltage::from([7, 2, 0]);
        later.reads_at[1] += 1;
        later.idle = Span::us(9);
        let since = later.since(&before);
        assert_eq!((since.pages_read, since.outstanding, since.rewritten.anew), (0, 0, 0));
        assert_eq!((since.programs[Source::Gc], since.reads_at), (7, [0, 1, 0, 0]));
        assert_eq!(since.programs_at[Source::Gc], ByVoltage::from([7, 0, 0]));
        assert_eq!((since.idle, later.since(&Counters::default())), (Span::us(9), later));
    }

    /// A table is serialized as an array; an array of another length is rejected.
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
