//! Host requests in flight, in a fixed-capacity arena.

use crate::observe::blame::Blame;
use crate::observe::completion::Completion;
use crate::policy::stream_tag::StreamTag;
use fowler_units::{HostIo, HostOp, Id, Locator, Lpn, Nanos, ReqId, Span, Table};

/// Why a request waits before its pages are on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// As many page writes as may be are on their way to the flash.
    Queue,
    /// Every page frame of the buffer is taken.
    Buffer,
    /// An entry of the mapping is not at hand.
    Mapping,
}

/// One host request.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// What was asked, and when.
    pub io: HostIo,
    /// When it had come over the link, and the throttle had let it in.
    pub ready: Nanos,
    /// How long the throttle had delayed it.
    pub throttled: Span,
    /// The next page that is to be on its way.
    pub next: u32,
    /// The page after the last.
    pub end: u32,
    /// Its pages.
    pub pages: u32,
    /// Writes: `pages`, capped to 16 bits, as stored in frames and programs.
    pub group: u16,
    /// Those that are not done.
    pub left: u32,
    /// Writes: what kind of data it is; which parts of each page it covers, as frames say it, or
    /// none if that differs from page to page.
    pub tag: StreamTag,
    pub covered: u64,
    /// One of its pages was taken up before one of its kind that had waited longer on the same die.
    pub overtook: bool,
    /// Why its next page waits, and since when.
    pub stalled: Option<(Stall, Nanos)>,
    /// How long its pages have waited for buffer space so far.
    pub buffer_wait: Span,
    /// How long they have waited for the mapping.
    pub mapping_wait: Span,
}

impl Request {
    /// A request that has just come over the link, delayed by nothing.
    #[inline]
    pub fn new(io: HostIo, ready: Nanos, locator: &Locator) -> Self {
        let (next, end) = match io.op {
            HostOp::Read | HostOp::Write => {
                let last = io.offset + u64::from(io.size) - 1;
                (locator.page_at(io.offset).0, locator.page_at(last).0 + 1)
            }
            // Only whole pages can be forgotten.
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
            left: pages,
            tag: StreamTag::PLAIN,
            covered: 0,
            overtook: false,
            stalled: None,
            buffer_wait: Span::ZERO,
            mapping_wait: Span::ZERO,
        }
    }

    /// Whether a request covers every page that it touches.
    #[inline]
    pub fn covers_whole_pages(&self, locator: &Locator) -> bool {
        let start = |page: u32| u64::from(page) * locator.page_size();
        let end = self.io.offset + u64::from(self.io.size);
        (start(self.next), start(self.end)) == (self.io.offset, end)
    }

    /// Whatever its next page waited for until `now` is over.
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

    /// The bytes of `page` that the request touches, as a range within the page.
    #[inline]
    pub fn within(&self, page: Lpn, page_size: u64) -> (u64, u64) {
        let start = u64::from(page.0) * page_size;
        let from = self.io.offset.max(start) - start;
        let to = (self.io.offset + u64::from(self.io.size)).min(start + page_size) - start;
        (from, to)
    }
}

/// A place of the arena.
#[derive(Clone, Debug)]
struct Place {
    request: Request,
    /// What is said of it once it is answered: the breakdown is that of the page that was done
    /// last.
    completion: Completion,
    open: bool,
}

/// The arena.
#[derive(Clone, Debug)]
pub struct Requests {
    places: Table<ReqId, Place>,
    free: Vec<ReqId>,
}

impl Requests {
    /// An arena for `capacity` requests.
    pub fn with_capacity(capacity: u32, locator: &Locator) -> Self {
        let io = HostIo::flush(Nanos::ZERO);
        let request = Request::new(io, Nanos::ZERO, locator);
        let place = |id: ReqId| Place {
            request,
            completion: Completion { io, id, done: Nanos::ZERO, blame: Blame::default() },
            open: false,
        };
        let places = (0..capacity as usize).map(ReqId::new).map(place).collect();
        // SAFETY: ids of requests are made here alone, in `free` with those of `capacity`; events
        // and transactions carry them.
        #[allow(unsafe_code, reason = "see `Table`")]
        let places = unsafe { Table::new(places) };
        Self { places, free: (0..capacity as usize).rev().map(ReqId::new).collect() }
    }

    /// Whether one more finds a place.
    #[inline]
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Requests in flight.
    #[inline]
    pub fn open_count(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// How long those in flight have been so up to `now`, added up.
    pub fn time_in_flight(&self, now: Nanos) -> u128 {
        let open = self.places.as_slice().iter().filter(|place| place.open);
        open.map(|place| u128::from((now - place.request.io.at).0)).sum()
    }

    /// Takes a place.
    #[inline]
    pub fn open(&mut self, request: Request) -> ReqId {
        let id = self.free.pop().expect("request arena full: admission must hold back");
        let place = &mut self.places[id];
        (place.request, place.open) = (request, true);
        id
    }

    /// Gives the place back.
    #[inline]
    pub fn close(&mut self, id: ReqId) {
        self.places[id].open = false;
        self.free.push(id);
    }

    /// One more of its pages is done. Returns whether it was the last.
    #[inline]
    pub fn page_done(&mut self, id: ReqId) -> bool {
        let request = &mut self.places[id].request;
        request.left -= 1;
        request.left == 0
    }

    /// The breakdown of its latency, nothing blamed yet.
    #[inline]
    pub fn blame_anew(&mut self, id: ReqId) -> &mut Blame {
        let blame = &mut self.places[id].completion.blame;
        *blame = Blame::default();
        blame
    }

    /// The breakdown of its latency.
    #[inline]
    pub fn blame_mut(&mut self, id: ReqId) -> &mut Blame {
        &mut self.places[id].completion.blame
    }

    /// What is to be said of it now that it is answered.
    #[inline]
    pub fn completion(&mut self, id: ReqId, done: Nanos) -> &Completion {
        let Place { request, completion, .. } = &mut self.places[id];
        completion.io = request.io;
        completion.done = done;
        completion
    }

    /// A request.
    #[inline]
    pub fn get(&self, id: ReqId) -> &Request {
        &self.places[id].request
    }

    /// A request, to change it.
    #[inline]
    pub fn get_mut(&mut self, id: ReqId) -> &mut Request {
        &mut self.places[id].request
    }
}
