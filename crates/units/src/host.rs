//! Host requests: the commands that a trace record or a generator issues to the drive.
//!
//! Build a request with [`HostIo::read`], [`HostIo::write`], [`HostIo::trim`], [`HostIo::flush`] or
//! [`HostIo::new`], and add the fields that few sources specify using `with_*`. A new field
//! therefore changes only this file and the code that reads the field.

use crate::{Nanos, Span};
use std::fmt;

/// The operation that a host request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostOp {
    /// The host asks for data of the range.
    Read,
    /// The host stores data in the range.
    Write,
    /// The host discards data: the range holds nothing of value any more.
    Trim,
    /// The host asks that all writes acknowledged so far be made durable; has no range.
    Flush,
}

impl HostOp {
    /// Every host operation, in the order of its code.
    pub const ALL: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];

    /// Returns the word for the operation in native traces: `read`, `write`, `trim`, `flush`.
    pub fn word(self) -> &'static str {
        ["read", "write", "trim", "flush"][self as usize]
    }
}

crate::enumerated! {
    HostOp:
    /// Array with one value for each kind of host request: read, write, trim and flush.
    pub ByOp
}

/// The submission queue of a request, 0 to 65,535. Sources that do not name a queue use the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u16);

impl QueueId {
    /// Queue of requests that name no queue.
    pub const FIRST: QueueId = QueueId(0);
}

/// Placement handle of a write, 0 to 254: data with the same handle is stored in the same blocks.
/// It is the placement handle of NVMe Flexible Data Placement and the stream of NVMe Directives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlacementHandle(pub u8);

impl PlacementHandle {
    /// No placement requested; never a valid handle.
    pub const NONE: PlacementHandle = PlacementHandle(u8::MAX);

    /// Returns true if the host named a placement handle.
    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 != PlacementHandle::NONE.0
    }
}

impl Default for PlacementHandle {
    fn default() -> PlacementHandle {
        PlacementHandle::NONE
    }
}

/// The time after the arrival of a request within which the host wants an answer, or no limit. A
/// single word without a discriminant, so that a request stays at 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deadline(Span);

impl Deadline {
    /// No deadline. Later than every actual deadline.
    pub const NONE: Deadline = Deadline(Span(u64::MAX));

    /// Returns a deadline `span` after the arrival.
    ///
    /// # Panics
    /// If `span` is the maximum (2^64 - 1 ns), which stands for no limit.
    #[inline]
    pub const fn after(span: Span) -> Deadline {
        assert!(span.0 != u64::MAX, "the longest span stands for no deadline");
        Deadline(span)
    }

    /// Returns the time within which the host wants an answer to the request, counted from its
    /// arrival; `None` if there is no limit.
    #[inline]
    pub fn span(self) -> Option<Span> {
        (self != Deadline::NONE).then_some(self.0)
    }
}

impl Default for Deadline {
    fn default() -> Deadline {
        Deadline::NONE
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Deadline").field(&self.span()).finish()
    }
}

/// A host request. Create it with a constructor; the fields are public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct HostIo {
    /// Time at which the request arrives. Sources yield requests in order of arrival.
    pub at: Nanos,
    /// Address of the first byte of the request on the drive.
    pub offset: u64,
    /// The time after `at` within which the host wants the request answered.
    pub deadline: Deadline,
    /// Number of bytes from `offset` that the request covers; zero only for a flush.
    pub size: u32,
    /// Number of the submission queue through which the request arrives.
    pub queue: QueueId,
    /// Placement handle that the host names for the data of a write.
    pub placement: PlacementHandle,
    /// Operation that the request asks for.
    pub op: HostOp,
}

/// Requests are copied several times inside a drive, so they fit half a cache line.
const _: () = assert!(size_of::<HostIo>() == 32);

impl HostIo {
    /// Creates a request that arrives at `at` for the `size` bytes from `offset` on. The request
    /// uses the first queue, names no placement and has no deadline. For a flush, `offset` and
    /// `size` are zero.
    #[inline]
    pub const fn new(op: HostOp, at: Nanos, offset: u64, size: u32) -> HostIo {
        HostIo {
            at,
            offset,
            deadline: Deadline::NONE,
            size,
            queue: QueueId::FIRST,
            placement: PlacementHandle::NONE,
            op,
        }
    }

    /// Creates a read of `size` bytes from `offset` on.
    #[inline]
    pub const fn read(at: Nanos, offset: u64, size: u32) -> HostIo {
        HostIo::new(HostOp::Read, at, offset, size)
    }

    /// Creates a write of `size` bytes from `offset` on.
    #[inline]
    pub const fn write(at: Nanos, offset: u64, size: u32) -> HostIo {
        HostIo::new(HostOp::Write, at, offset, size)
    }

    /// Creates a trim of `size` bytes from `offset` on.
    #[inline]
    pub const fn trim(at: Nanos, offset: u64, size: u32) -> HostIo {
        HostIo::new(HostOp::Trim, at, offset, size)
    }

    /// Creates a flush, which has no range.
    #[inline]
    pub const fn flush(at: Nanos) -> HostIo {
        HostIo::new(HostOp::Flush, at, 0, 0)
    }

    /// Returns the request with another arrival time. The deadline counts from the new one.
    #[inline]
    pub const fn with_at(self, at: Nanos) -> HostIo {
        HostIo { at, ..self }
    }

    /// Returns the request with another byte offset.
    #[inline]
    pub const fn with_offset(self, offset: u64) -> HostIo {
        HostIo { offset, ..self }
    }

    /// Returns the request with another size.
    #[inline]
    pub const fn with_size(self, size: u32) -> HostIo {
        HostIo { size, ..self }
    }

    /// Returns the request with another operation.
    #[inline]
    pub const fn with_op(self, op: HostOp) -> HostIo {
        HostIo { op, ..self }
    }

    /// Returns the request with another submission queue.
    #[inline]
    pub const fn with_queue(self, queue: QueueId) -> HostIo {
        HostIo { queue, ..self }
    }

    /// Returns the request with another placement handle.
    #[inline]
    pub const fn with_placement(self, placement: PlacementHandle) -> HostIo {
        HostIo { placement, ..self }
    }

    /// Returns the request with another deadline.
    #[inline]
    pub const fn with_deadline(self, deadline: Deadline) -> HostIo {
        HostIo { deadline, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_nothing_that_its_source_did_not() {
        let at = Nanos(7);
        for (io, op) in [
            (HostIo::read(at, 4096, 512), HostOp::Read),
            (HostIo::write(at, 4096, 512), HostOp::Write),
            (HostIo::trim(at, 4096, 512), HostOp::Trim),
            (HostIo::flush(at).with_offset(4096).with_size(512), HostOp::Flush),
        ] {
            assert_eq!(io, HostIo::new(op, at, 4096, 512));
            assert_eq!((io.queue, io.placement), (QueueId::default(), PlacementHandle::default()));
            assert_eq!((io.deadline, io.deadline.span()), (Deadline::default(), None));
            assert!(!io.placement.is_some());
        }
    }

    #[test]
    fn what_is_added_stays_when_the_rest_changes() {
        let io = HostIo::flush(Nanos(1))
            .with_queue(QueueId(u16::MAX))
            .with_placement(PlacementHandle(254))
            .with_deadline(Deadline::after(Span::us(50)));
        let io = io.with_op(HostOp::Write).with_at(Nanos(2)).with_offset(3).with_size(4);
        assert_eq!((io.op, io.at, io.offset, io.size), (HostOp::Write, Nanos(2), 3, 4));
        assert_eq!((io.queue.0, io.placement.0), (u16::MAX, 254));
        assert_eq!(io.deadline.span(), Some(Span::us(50)));
        assert!(io.placement.is_some() && io.deadline < Deadline::NONE);
    }

    #[test]
    #[should_panic(expected = "stands for no deadline")]
    fn the_longest_span_is_no_deadline() {
        let _ = Deadline::after(Span(u64::MAX));
    }
}
