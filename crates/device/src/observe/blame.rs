//! Blame: the breakdown of a request's latency by cause, whose parts sum to the latency to the
//! nanosecond.

use crate::observe::operation::{Op, Source};
use fowler_units::Span;
use std::ops::{AddAssign, Index, IndexMut};

/// Cause of a request's latency, such as waiting for a busy die. The latency is the sum of the
/// times assigned to the causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Part {
    /// Transfer of commands and data over the host link, and the wait for it.
    HostLink,
    /// Delay by the write throttle for the sake of the drive's life.
    Throttled,
    /// Waiting for a slot in the drive's bounded queues.
    QueueFull,
    /// Waiting for a free page frame of the write buffer.
    BufferFull,
    /// Waiting for a die with room for another page: every plane holds as many valid pages as it
    /// may.
    NoSpace,
    /// Waiting while the die read for a host request.
    BehindHostRead,
    /// Waiting while the die programmed host data other than the waiting page.
    BehindHostProgram,
    /// Waiting while the die erased for a raw host command.
    BehindHostErase,
    /// Waiting while the die read for garbage collection.
    BehindGcRead,
    /// Waiting while the die programmed for garbage collection.
    BehindGcProgram,
    /// Waiting while the die erased for garbage collection.
    BehindGcErase,
    /// Waiting while the die read for wear leveling.
    BehindWearRead,
    /// Waiting while the die programmed for wear leveling.
    BehindWearProgram,
    /// Waiting while the die erased for wear leveling.
    BehindWearErase,
    /// Waiting while the die read a page to reprogram it.
    BehindRefreshRead,
    /// Waiting while the die programmed data that could have stayed in place, moved for a refresh
    /// or reprogrammed for faster reads.
    BehindRefreshProgram,
    /// Waiting while the die erased for a refresh.
    BehindRefreshErase,
    /// Waiting while the die read for parity.
    BehindParityRead,
    /// Waiting while the die programmed parity.
    BehindParityProgram,
    /// Waiting for the channel, which another die uses.
    Channel,
    /// Waiting while a die suspends a program or erase, until the cells are free. If the request's
    /// own program was suspended, also the time lost to these suspensions, without the reads served
    /// meanwhile.
    Suspend,
    /// Reading the old page for a partial write, before the new page can be programmed.
    Merge,
    /// Time to sense the page that the request reads.
    Sense,
    /// Time to transfer the request's page over the channel.
    Transfer,
    /// Time to program the page that the request writes.
    Program,
    /// Soft sensing: more reference voltages than for the hard decision, and the transfer of the
    /// additional bits.
    SoftSensing,
    /// Failed tries of a read, before the one that succeeded.
    Retry,
    /// For writes, waiting for room in the parity cache, for the parity of an earlier write to the
    /// stripe, or until the write's own parity is in the flash.
    Parity,
    /// For reads, reading the other pages of the stripe to recover an unreadable page.
    Degraded,
    /// Waiting for a mapping entry that is not in the drive's memory. For a trim, also the time to
    /// change the mapping, and the wait for earlier trims that change it.
    Mapping,
}

impl Part {
    /// Number of causes that a latency is divided into.
    pub const COUNT: usize = 30;

    /// All causes of latency, in order.
    pub const ALL: [Part; Part::COUNT] = [
        Part::HostLink,
        Part::Throttled,
        Part::QueueFull,
        Part::BufferFull,
        Part::NoSpace,
        Part::BehindHostRead,
        Part::BehindHostProgram,
        Part::BehindHostErase,
        Part::BehindGcRead,
        Part::BehindGcProgram,
        Part::BehindGcErase,
        Part::BehindWearRead,
        Part::BehindWearProgram,
        Part::BehindWearErase,
        Part::BehindRefreshRead,
        Part::BehindRefreshProgram,
        Part::BehindRefreshErase,
        Part::BehindParityRead,
        Part::BehindParityProgram,
        Part::Channel,
        Part::Suspend,
        Part::Merge,
        Part::Sense,
        Part::Transfer,
        Part::Program,
        Part::SoftSensing,
        Part::Retry,
        Part::Parity,
        Part::Degraded,
        Part::Mapping,
    ];

    /// Returns the name of a cause of latency in JSON, CSV columns and tables.
    pub fn name(self) -> &'static str {
        [
            "host_link",
            "throttled",
            "queue_full",
            "buffer_full",
            "no_space",
            "behind_host_read",
            "behind_host_program",
            "behind_host_erase",
            "behind_gc_read",
            "behind_gc_program",
            "behind_gc_erase",
            "behind_wear_read",
            "behind_wear_program",
            "behind_wear_erase",
            "behind_refresh_read",
            "behind_refresh_program",
            "behind_refresh_erase",
            "behind_parity_read",
            "behind_parity_program",
            "channel",
            "suspend",
            "merge",
            "sense",
            "transfer",
            "program",
            "soft_sensing",
            "retry",
            "parity",
            "degraded",
            "mapping",
        ][self as usize]
    }

    /// Returns the cause of latency for waiting behind an operation of kind `op` (read, program,
    /// erase) that `source` (host, GC and so on) issued.
    #[inline]
    pub fn behind(op: Op, source: Source) -> Part {
        Part::ALL[Part::BehindHostRead as usize + 3 * source as usize + op as usize]
    }
}

fowler_units::enumerated! {
    Part:
    /// A value for each cause of latency.
    pub ByPart
}

/// Breakdown of one request's latency by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blame([Span; Part::COUNT]);

impl Blame {
    /// Returns the latency of the request: the sum of the times over all causes, in nanoseconds.
    pub fn total(&self) -> Span {
        self.0.iter().copied().sum()
    }

    /// Adds times in nanoseconds to consecutive causes of latency, in the order of [`Part::ALL`]
    /// from `first` on.
    #[inline]
    pub(crate) fn add<const COUNT: usize>(&mut self, first: Part, times: &[u64; COUNT]) {
        let parts = &mut self.0[first as usize..][..COUNT];
        for (part, &time) in parts.iter_mut().zip(times) {
            part.0 += time;
        }
    }

    /// Returns the time of a request's latency by cause, in the order of [`Part::ALL`].
    pub fn parts(&self) -> &[Span; Part::COUNT] {
        &self.0
    }
}

impl Index<Part> for Blame {
    type Output = Span;
    #[inline]
    fn index(&self, part: Part) -> &Span {
        &self.0[part as usize]
    }
}

impl IndexMut<Part> for Blame {
    #[inline]
    fn index_mut(&mut self, part: Part) -> &mut Span {
        &mut self.0[part as usize]
    }
}

impl AddAssign<&Blame> for Blame {
    fn add_assign(&mut self, other: &Blame) {
        for (sum, part) in self.0.iter_mut().zip(&other.0) {
            *sum += *part;
        }
    }
}
