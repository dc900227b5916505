//! Host requests in flight, in an arena of fixed capacity.
//!
//! Invariants: a slot is either open or in the list of free slots; `left` counts the pages of an
//! open request that have not ended, and each ends once; `next..end` are the pages not issued yet.

use crate::observe::blame::Blame;
use crate::observe::completion::Completion;
use crate::policy::die_order::deadline_steps;
use crate::policy::stream_tag::StreamTag;
use fowler_units::{Bytes, HostIo, HostOp, Id, Locator, Lpn, Nanos, ReqId, Span, Table};

/// The reason why a request waits before its pages are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// The write queue is full: the maximum number of page writes is between the buffer and the
    /// flash.
    Queue,
    /// All page frames of the buffer are in use.
    Buffer,
    /// A mapping entry is not in the controller's memory.
    Mapping,
}

/// A host request in flight.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The request as issued by the host, with its arrival time.
    pub io: HostIo,
    /// Time at which the request had come over the link and passed the throttle.
    pub ready: Nanos,
    /// Time for which the throttle delayed the request.
    pub throttled: Span,
    /// Next page of the request to be issued.
    pub next: u32,
    /// Page after the last page of the request.
    pub end: u32,
    /// Number of pages that the request touches.
    pub pages: u32,
    /// For writes, the number of pages that the request touches, at most 65,535. Stored with the
    /// buffer frames and programs of its data.
    pub group: u16,
    /// Deadline of the request, in steps of 10 ms after its arrival; zero if the drive's deadline
    /// applies.
    pub deadline: u8,
    /// Number of pages of the request that have not ended; for a trim, all its pages minus those
    /// found to hold no data.
    pub left: u32,
    /// For writes, the stream tag of the data.
    pub tag: StreamTag,
    /// For writes, the parts of each page that the request covers, one bit per 64th of a page (or
    /// per sector, if that is larger); zero if they differ from page to page.
    pub covered: u64,
    /// True if a page of the request was served before a longer-waiting page of its kind on the
    /// same die.
    pub overtook: bool,
    /// Reason why the next page of the request waits, and the time since which it does; `None`
    /// while it does not.
    pub stalled: Option<(Stall, Nanos)>,
    /// Total time that pages of the request have waited for buffer space.
    pub buffer_wait: Span,
    /// Total time that pages of the request have waited for the mapping.
    pub mapping_wait: Span,
}

impl Request {
    /// Creates a request that has just come over the link, without delay.
    #[inline]
    pub fn new(io: HostIo, ready: Nanos, locator: &Locator) -> Self {
        let (next, end) = match io.op {
            HostOp::Read | HostOp::Write => {
                let last = io.offset + u64::from(io.size) - 1;
                (locator.page_at(io.offset).0, locator.page_at(last).0 + 1)
            }
            // Only whole pages can be trimmed.
            HostOp::Trim => {
                let next = locator.page_at(io.offset + locator.page_size() - 1).0;
                let end = locator.page_at(io.offset + u64::from(io.size)).0;
                (next, end.max(next))
            }
            HostOp::Flush => (0, 0),
        };
        let pages = end - next;
        Self {
            io,
            ready,
            throttled: Span::ZERO,
            next,
            end,
            pages,
            group: 0,
            deadline: deadline_steps(io.deadline),
            left: pages,
            tag: StreamTag::PLAIN,
            covered: 0,
            overtook: false,
            stalled: None,
            buffer_wait: Span::ZERO,
            mapping_wait: Span::ZERO,
        }
    }

    /// Returns true if a request covers every page that it touches as a whole.
    #[inline]
    pub fn covers_whole_pages(&self, locator: &Locator) -> bool {
        let start = |page: u32| u64::from(page) * locator.page_size();
        let end = self.io.offset + u64::from(self.io.size);
        (start(self.next), start(self.end)) == (self.io.offset, end)
    }

    /// Ends, at `now`, the wait of the request's next page, if it waits. The time of a wait for
    /// buffer space or for the mapping is added to the request's total, that for a queue is not.
    #[inline]
    pub fn end_stall(&mut self, now: Nanos) {
        if self.stalled.is_some() {
            self.count_stall(now);
        }
    }

    #[inline(never)]
    fn count_stall(&mut self, now: Nanos) {
        match self.stalled.take() {
            Some((Stall::Buffer, since)) => self.buffer_wait += now - since,
            Some((Stall::Mapping, since)) => self.mapping_wait += now - since,
            Some((Stall::Queue, _)) | None => {}
        }
    }

    /// Returns the bytes of `page` that the request touches, as a range within the page.
    #[inline]
    pub fn within(&self, page: Lpn, page_size: u64) -> (u64, u64) {
        let start = u64::from(page.0) * page_size;
        let from = self.io.offset.max(start) - start;
        let to = (self.io.offset + u64::from(self.io.size)).min(start + page_size) - start;
        (from, to)
    }
}

/// A slot of the arena of host requests.
#[derive(Clone, Debug)]
struct Place {
    request: Request,
    /// Completion to be reported to the host for the request, with the causes of the request's
    /// latency: those of its page that ended last.
    completion: Completion,
    open: bool,
}

/// The arena of host requests in flight.
#[derive(Clone, Debug)]
pub struct Requests {
    places: Table<ReqId, Place>,
    free: Vec<ReqId>,
}

impl Requests {
    /// Creates an arena for `capacity` requests.
    pub fn with_capacity(capacity: u32, locator: &Locator) -> Self {
        let io = HostIo::flush(Nanos::ZERO);
        let request = Request::new(io, Nanos::ZERO, locator);
        let place = |id: ReqId| Place {
            request,
            completion: Completion { io, id, done: Nanos::ZERO, blame: Blame::default() },
            open: false,
        };
        let places = (0..capacity as usize).map(ReqId::new).map(place).collect();
        // SAFETY: request IDs are created only here, in `free`, all below `capacity`; events and
        // transactions store them.
        #[allow(unsafe_code, reason = "see `Table`")]
        let places = unsafe { Table::new(places) };
        Self { places, free: (0..capacity as usize).rev().map(ReqId::new).collect() }
    }

    /// Returns the memory that an arena for `capacity` requests takes on the simulating machine.
    pub fn bytes(capacity: u32) -> Bytes {
        Bytes::of::<Place>(capacity.into()) + Bytes::of::<ReqId>(capacity.into())
    }

    /// Returns true if the arena has a slot for another request.
    #[inline]
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Returns the number of requests in flight.
    #[inline]
    pub fn open_count(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Returns the time of the latest completion so far; zero before the first. While no request is
    /// in flight, none has been in flight since that time.
    pub fn last_answered(&self) -> Nanos {
        // The slot that was freed last is the next to be used.
        self.free.last().map_or(Nanos::ZERO, |&id| self.places[id].completion.done)
    }

    /// Returns the sum of the times in flight up to `now`, over the requests in flight.
    pub fn time_in_flight(&self, now: Nanos) -> u128 {
        let open = self.places.as_slice().iter().filter(|place| place.open);
        open.map(|place| u128::from((now - place.request.io.at).0)).sum()
    }

    /// Returns the IDs of the requests in flight for which `holds` returns true.
    pub fn open_ids(&self, holds: impl Fn(&Request) -> bool) -> impl Iterator<Item = ReqId> {
        let open = move |&id: &ReqId| self.places[id].open && holds(&self.places[id].request);
        self.places.ids().filter(open)
    }

    /// Allocates a slot for a request.
    #[inline]
    pub fn open(&mut self, request: Request) -> ReqId {
        let id = self.free.pop().expect("request arena full: admission must wait");
        let place = &mut self.places[id];
        debug_assert!(!place.open, "a slot in use was in the list of free slots");
        (place.request, place.open) = (request, true);
        id
    }

    /// Frees the slot of a completed request.
    #[inline]
    pub fn close(&mut self, id: ReqId) {
        debug_assert!(self.places[id].open, "request closed twice");
        self.places[id].open = false;
        self.free.push(id);
    }

    /// Counts a page of a request as ended. Returns true if it was the last.
    #[inline]
    pub fn page_done(&mut self, id: ReqId) -> bool {
        debug_assert!(self.places[id].open, "a page of a request that was answered");
        let request = &mut self.places[id].request;
        debug_assert!(request.left > 0, "more pages done than the request has");
        request.left -= 1;
        request.left == 0
    }

    /// Resets the breakdown of a request's latency, and returns it.
    #[inline]
    pub fn blame_anew(&mut self, id: ReqId) -> &mut Blame {
        let blame = &mut self.places[id].completion.blame;
        *blame = Blame::default();
        blame
    }

    /// Returns the breakdown of a request's latency.
    #[inline]
    pub fn blame_mut(&mut self, id: ReqId) -> &mut Blame {
        &mut self.places[id].completion.blame
    }

    /// Returns the completion to report, for a request completed at `done`.
    #[inline]
    pub fn completion(&mut self, id: ReqId, done: Nanos) -> &Completion {
        let Place { request, completion, .. } = &mut self.places[id];
        completion.io = request.io;
        completion.done = done;
        completion
    }

    /// Returns a host request in flight.
    #[inline]
    pub fn get(&self, id: ReqId) -> &Request {
        &self.places[id].request
    }

    /// Returns a host request in flight for modification.
    #[inline]
    pub fn get_mut(&mut self, id: ReqId) -> &mut Request {
        &mut self.places[id].request
    }
}

/// The result of issuing a request's flash reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// All reads of the request have been issued.
    All,
    /// The read queue has no room for the next read.
    NoRoom,
    /// The next read waits for a mapping entry, and is resumed when the entry is loaded.
    MissesMapping,
}
