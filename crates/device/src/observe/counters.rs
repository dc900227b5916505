//! What the device counts while it runs. Plain sums, read out once at the end.

use crate::observe::operation::Source;
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
    /// Flash page reads for the host, for garbage collection, for wear levelling, for refreshing,
    /// for parity.
    pub reads: [u64; Source::COUNT],
    /// Of the host's flash reads, those that a partial write needed.
    pub merge_reads: u64,
    /// Flash page programs for the host, for garbage collection, for wear levelling, for
    /// refreshing, for parity.
    pub programs: [u64; Source::COUNT],
    /// The same programs by the threshold voltages they were made at, boosted, nominal and reduced;
    /// none where no errors are modelled.
    pub programs_at: [[u64; 3]; Source::COUNT],
    /// Pages that left the buffer, or were written through it, by how they were used: mixed,
    /// read-hot, write-hot.
    pub left: [u64; 3],
    /// Of clean pages that were read hot: those programmed anew, and those given up for want of
    /// idle time.
    pub rewritten: [u64; 2],
    /// Flash page reads by the level at which they came to be read, the hard decision first; none
    /// where no errors are modelled.
    pub reads_at: [u64; 4],
    /// Tries at each level that were not enough, so that the read climbed to the next.
    pub retries_at: [u64; 4],
    /// Of the reads, those with more errors than the code corrects at its highest level.
    pub uncorrectable: u64,
    /// Block erases for the host (raw commands), for garbage collection, for wear levelling, for
    /// refreshing, for parity.
    pub erases: [u64; Source::COUNT],
    /// Parity pages computed from the rest of their stripe, and from what was there before:
    /// equations (2) and (1) of DA-RAID-5.
    pub parity_ways: [u64; 2],
    /// Blocks recycled because they were due, and in idle time before that.
    pub recycled: [u64; 2],
    /// Blocks closed before they were full, because their first pages were old or had been read
    /// often.
    pub closed_early: u64,
    /// Collections that competed with the host, and collections in idle time.
    pub collections: [u64; 2],
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
    /// How long writes were held by the throttle: by delays of their pages, and by stops.
    pub held: [Span; 2],
    /// Writes that were stopped.
    pub stops: u64,
    /// Time since the first request during which none was in the device.
    pub idle: Span,
    /// Answered reads and writes of which a page was taken up before one of their kind that had
    /// waited longer on the same die (RHIO, section IV-B: prioritised requests).
    pub prioritised: [u64; 2],
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
        let host = self.programs[0];
        (host > 0).then(|| self.programs.iter().sum::<u64>() as f64 / host as f64)
    }
}
