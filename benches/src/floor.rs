//! The floor: the work that no event-driven simulator of a drive can leave out, and nothing else.
//!
//! It takes the same requests from the same iterator as the drive, with the same pacing, and does:
//!
//! - **For each request**: one record of what is in flight (when it was issued, which pages are to
//!   begin and to end), in order of time with the events or throttled by the queue depth, and one
//!   latency in a histogram. Without these no latency is known.
//! - **For each page**: one access to the mapping. The result goes into a sum and nothing waits for
//!   it, although in a drive nothing can begin before the die is known. A write updates the mapping
//!   both ways, and its new location is the next page of the next die: pages of a block are
//!   programmed in order and dies work in parallel, so no simulator has fewer write streams.
//! - **For each page moved**: the reverse mapping of its old location, and both mappings of its new
//!   one. As in the drive, the pages of a victim are adjacent, with one victim per die, while the
//!   logical pages found there are scattered. The pages that the floor moves are packed. In a drive
//!   invalid pages lie between them, so the floor touches fewer cache lines.
//! - **For each end** of a sensing, a transfer, a program or an erase: one event, pushed and
//!   popped. For each suspension: two (the cells are free; the operation ends later than planned).
//!   A simulator that knows channels and suspension must decide something at each of these moments.
//!
//! The number of flash operations per page is the average of the drive in the same round. It
//! includes write amplification, reads before partial writes, buffer hits that need no operation,
//! and suspensions.
//!
//! The event queue is the drive's own ([`Agenda`], including lanes), with about as many pending
//! events: a request has no more pages in progress at once than the dies would allow. The columns
//! are of the drive's kind (on large pages), have the drive's size, are scattered if the drive's
//! are, and are equally warm, because they are made just before the run. The histogram is of the
//! drive's kind, too.
//!
//! There are two floors. The *plain* floor looks a page up when its request arrives, and spends
//! most of its time waiting for memory. Simulators were compared with this one. The other floor
//! prefetches mapping entries as the drive does, for requests that it reads ahead and for pages
//! that it will move. It is the stricter one, as no simulator has to wait for memory. Its
//! instructions have a budget like the drive's (`budget.toml`), because a more expensive floor
//! would flatter every ratio.
//!
//! **Left out on purpose**, although a real simulator needs some of it: queues of waiting
//! transactions, the state of dies and channels and all arbitration (a page never waits, and the
//! lengths of operations are those of reads), the write buffer, valid counts and bitmaps, the
//! choice of victims, and all blame. See docs/decisions/validation.md, "What does the benchmark
//! floor include?".

use crate::drive::Work;
use crate::requests::PAGE;
use fowler_agenda::{Agenda, Event, Phase};
use fowler_device::{Layout, Pacing};
use fowler_units::{HostIo, HostOp, IdVec, Lpn, Nanos, Ppn, Rng, Scatter, Span};
use hdrhistogram::Histogram;
use std::time::Instant;

/// End of a flash operation, as an event: the request that it belongs to, and the number of events
/// that follow for the same page.
#[derive(Clone, Copy)]
struct End {
    request: u32,
    left: u32,
}

impl Event for End {
    #[inline]
    fn pack(self) -> u32 {
        (self.left << 16) | self.request
    }
    #[inline]
    fn unpack(bits: u32) -> Self {
        End { request: bits & 0xffff, left: bits >> 16 }
    }
}

/// Number of requests, and of pages to move, that are read ahead, as in the drive.
const AHEAD: usize = 8;

/// Largest number of requests in flight, limited by the bits of an event.
const IN_FLIGHT: u32 = 1 << 16;

/// A request in flight on the floor.
#[derive(Clone, Copy)]
struct InFlight {
    issued: Nanos,
    op: HostOp,
    /// Next page of the request to begin, the page after the last, and the number of pages that
    /// have not ended.
    next: u32,
    end: u32,
    left: u32,
}

/// Count of an operation that happens a fractional number of times per page on average, handed out
/// in whole numbers.
#[derive(Clone, Copy, Default)]
struct Dues {
    /// Mean number of operations per page, in units of 2^-32.
    per_page: u64,
    owed: u64,
}

impl Dues {
    fn new(count: u64, pages: u64) -> Self {
        // Start half a unit ahead, so that rounding down does not lose a whole unit.
        let per_page = (u128::from(count) << 32).checked_div(u128::from(pages)).unwrap_or(0);
        Self { per_page: per_page as u64, owed: 1 << 31 }
    }

    #[inline]
    fn take(&mut self) -> u32 {
        self.owed += self.per_page;
        let whole = self.owed >> 32;
        self.owed &= u64::from(u32::MAX);
        whole as u32
    }
}

/// Flash locations in the order in which a drive allocates them: the next page of each die in turn.
#[derive(Clone, Copy)]
struct Stripe {
    die: u32,
    row: u32,
    dies: u32,
    rows: u32,
}

impl Stripe {
    #[inline]
    fn next(&mut self) -> u32 {
        let place = self.die * self.rows + self.row;
        self.die += 1;
        if self.die == self.dies {
            self.die = 0;
            self.row = if self.row + 1 == self.rows { 0 } else { self.row + 1 };
        }
        place
    }
}

/// The least work that a simulator must do for the requests of one drive.
#[derive(Clone)]
pub struct Floor {
    agenda: Agenda<End>,
    forward: IdVec<Lpn, u32>,
    backward: IdVec<Ppn, u32>,
    in_flight: Vec<InFlight>,
    free: Vec<u32>,
    histogram: Histogram<u64>,
    /// Flash locations of host pages, of moved pages, and of victims' pages.
    written: Stripe,
    moved: Stripe,
    victims: Stripe,
    /// Flash locations of victims' pages whose mapping entries are prefetched.
    victims_ahead: Stripe,
    read_events: Dues,
    write_events: Dues,
    moves: Dues,
    /// Largest number of pages of one request in progress at once.
    at_once: u32,
    /// True if the floor prefetches mapping entries, as the drive does.
    asks_ahead: bool,
    /// Sum of the locations found in the mapping, so that no look-up can be left out.
    found: u32,
    /// Number of events scheduled. Counted in debug builds only.
    events: u64,
}

impl Floor {
    /// Creates the floor of a drive with this layout, whose logical pages are scattered or in
    /// order.
    pub fn new(layout: &Layout, scattered: bool) -> Self {
        let (logical, physical) = (layout.logical_pages, layout.geometry.pages());
        let dies = layout.geometry.dies();
        let rows = physical / dies;
        // Logical pages fill the first locations. The others have owners in the same order.
        let order = Scatter::new(u64::from(logical), &mut Rng::stream(7, "floor"));
        let owner = |place: u32| match scattered {
            true => order.at(u64::from(place % logical)) as u32,
            false => place % logical,
        };
        let mut backward = IdVec::filled(0, physical as usize);
        let mut forward = IdVec::filled(0, logical as usize);
        for place in (0..physical).rev() {
            backward[Ppn(place)] = owner(place);
            forward[Lpn(owner(place))] = place;
        }
        let blank = InFlight { issued: Nanos::ZERO, op: HostOp::Read, next: 0, end: 0, left: 0 };
        Self {
            agenda: Agenda::with_capacity(4 * dies as usize),
            forward,
            backward,
            in_flight: vec![blank; IN_FLIGHT as usize],
            free: (0..IN_FLIGHT).rev().collect(),
            histogram: Histogram::new_with_bounds(1, u64::MAX, 3).expect("sound bounds"),
            written: Stripe { die: 0, row: 0, dies, rows },
            moved: Stripe { die: 0, row: rows / 3, dies, rows },
            victims: Stripe { die: 0, row: 2 * rows / 3, dies, rows },
            victims_ahead: Stripe { die: AHEAD as u32 % dies, row: 2 * rows / 3, dies, rows },
            read_events: Dues::default(),
            write_events: Dues::default(),
            moves: Dues::default(),
            at_once: 1,
            asks_ahead: true,
            found: 0,
            events: 0,
        }
    }

    /// Turns this into the plain floor, which does not prefetch.
    pub fn plain(self) -> Self {
        Self { asks_ahead: false, ..self }
    }

    /// Serves the requests with as many flash operations as a drive needed for them. Returns the
    /// wall time per request, in nanoseconds.
    pub fn run(
        &mut self,
        source: impl IntoIterator<Item = HostIo>,
        pacing: Pacing,
        work: &Work,
    ) -> f64 {
        self.read_events = Dues::new(work.read_events(), work.pages_read);
        self.write_events = Dues::new(work.write_events(), work.pages_written);
        self.moves = Dues::new(work.moves, work.pages_written);
        let dies = self.written.dies;
        self.at_once = match pacing {
            Pacing::Open => dies,
            Pacing::Closed { depth } => (dies / depth).max(1),
        };
        self.histogram.reset();
        let start = Instant::now();
        self.serve(source.into_iter(), pacing);
        let seconds = start.elapsed().as_secs_f64();
        std::hint::black_box(self.found);
        seconds * 1e9 / self.histogram.len() as f64
    }

    fn serve(&mut self, mut source: impl Iterator<Item = HostIo>, pacing: Pacing) {
        // A second run begins at the time at which the first ended.
        let began = self.agenda.now() - Nanos::ZERO;
        let mut drawn = [None; AHEAD];
        let mut turn = 0;
        let asks_ahead = self.asks_ahead;
        let mut draw = |forward: &IdVec<Lpn, u32>| {
            let io: Option<HostIo> = source.next();
            if asks_ahead && let Some(io) = &io {
                forward.prefetch(Lpn((io.offset / PAGE) as u32));
            }
            turn = (turn + 1) % AHEAD;
            std::mem::replace(&mut drawn[turn], io)
        };
        for _ in 0..AHEAD {
            draw(&self.forward);
        }
        let mut arrival = draw(&self.forward);
        loop {
            while let Some(io) = arrival {
                match pacing {
                    Pacing::Open if self.agenda.is_due_before(io.at + began, Phase::Arrival) => {
                        break;
                    }
                    Pacing::Open => self.agenda.advance(io.at + began),
                    Pacing::Closed { depth } if self.free.len() as u32 <= IN_FLIGHT - depth => {
                        break;
                    }
                    Pacing::Closed { .. } => {}
                }
                self.enter(&io);
                arrival = draw(&self.forward);
            }
            let Some((_, end)) = self.agenda.pop() else { return };
            self.end(end);
        }
    }

    #[inline]
    fn enter(&mut self, io: &HostIo) {
        let request = self.free.pop().expect("as many places as an event can name");
        let (next, end) = match io.op {
            HostOp::Read | HostOp::Write => {
                let last = io.offset + u64::from(io.size) - 1;
                ((io.offset / PAGE) as u32, (last / PAGE) as u32 + 1)
            }
            HostOp::Trim | HostOp::Flush => (0, 0),
        };
        let issued = self.agenda.now();
        self.in_flight[request as usize] =
            InFlight { issued, op: io.op, next, end, left: end - next };
        if next == end {
            return self.answer(request);
        }
        for _ in 0..self.at_once.min(end - next) {
            self.begin(request);
        }
    }

    /// Begins pages of a request until one takes flash events, or no page is left.
    #[inline]
    fn begin(&mut self, request: u32) {
        while let Some(events) = self.begin_page(request) {
            if events > 0 {
                return self.follow(request, events - 1);
            }
            if self.page_ended(request) {
                return;
            }
        }
    }

    /// Begins the next page of a request; `None` if no page is left. Returns the number of events
    /// that the page takes.
    #[inline]
    fn begin_page(&mut self, request: u32) -> Option<u32> {
        let it = &mut self.in_flight[request as usize];
        if it.next == it.end {
            return None;
        }
        let page = it.next;
        it.next += 1;
        let op = it.op;
        self.found = self.found.wrapping_add(self.forward[Lpn(page)]);
        let events = if op == HostOp::Read { self.read_events.take() } else { self.write(page) };
        if cfg!(debug_assertions) {
            self.events += u64::from(events);
        }
        Some(events)
    }

    /// Writes a page, and moves the pages that are due for it. Returns the number of events that
    /// this takes.
    #[inline]
    fn write(&mut self, page: u32) -> u32 {
        let place = self.written.next();
        self.store(page, place);
        for _ in 0..self.moves.take() {
            self.relocate();
        }
        self.write_events.take()
    }

    /// Moves one page of a victim block. The events of the move are among those of writes.
    #[inline]
    fn relocate(&mut self) {
        if self.asks_ahead {
            let soon = self.backward[Ppn(self.victims_ahead.next())];
            self.forward.prefetch(Lpn(soon));
        }
        let page = self.backward[Ppn(self.victims.next())];
        let place = self.moved.next();
        self.store(page, place);
    }

    #[inline]
    fn store(&mut self, page: u32, place: u32) {
        self.forward[Lpn(page)] = place;
        self.backward[Ppn(place)] = page;
    }

    #[inline]
    fn follow(&mut self, request: u32, left: u32) {
        let (lane, time) = if left % 2 == 1 { (0, Span::us(50)) } else { (1, Span::us(4)) };
        let at = self.agenda.now() + time;
        self.agenda.schedule_in(lane, at, Phase::Completion, End { request, left });
    }

    #[inline]
    fn end(&mut self, end: End) {
        if end.left > 0 {
            return self.follow(end.request, end.left - 1);
        }
        if !self.page_ended(end.request) {
            self.begin(end.request);
        }
    }

    /// Records that a page has ended. Returns true if it was the last of its request.
    #[inline]
    fn page_ended(&mut self, request: u32) -> bool {
        let it = &mut self.in_flight[request as usize];
        it.left -= 1;
        let last = it.left == 0;
        if last {
            self.answer(request);
        }
        last
    }

    #[inline]
    fn answer(&mut self, request: u32) {
        let latency = self.agenda.now() - self.in_flight[request as usize].issued;
        self.histogram.record(latency.0).expect("the bounds hold every u64");
        self.free.push(request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{self, Measured};
    use crate::workload::{Asked, RANDOM_WRITE, SEQUENTIAL_WRITE, WORKLOADS, Workload};

    fn both(workload: &Workload) -> (Measured, Floor) {
        let geometry = fowler_units::Geometry {
            blocks_per_plane: 32,
            pages_per_block: 32,
            ..drive::geometry()
        };
        let mut device = workload.drive(geometry);
        let requests = match workload.asked {
            Asked::Sequential { .. } => 1_000,
            _ => 20_000,
        };
        let requests = workload.requests(&device, requests);
        let mut floor = Floor::new(device.layout(), true);
        let measured = drive::serve(&mut device, requests.clone(), workload.pacing());
        floor.run(requests, workload.pacing(), &measured.work);
        (measured, floor)
    }

    /// The floor has the same requests and as many flash operations as the drive.
    #[test]
    fn the_floor_has_the_requests_and_the_events_of_the_drive() {
        for workload in &WORKLOADS {
            let (measured, floor) = both(workload);
            assert_eq!(floor.histogram.len(), measured.requests, "{}", workload.name);
            let (events, due) = (floor.events as f64, measured.events() as f64);
            assert!((events / due - 1.0).abs() < 1e-3, "{}: {events} for {due}", workload.name);
        }
    }

    #[test]
    fn sequential_writes_find_empty_victims_and_random_ones_do_not() {
        let (sequential, random) = (both(&SEQUENTIAL_WRITE).0.work, both(&RANDOM_WRITE).0.work);
        assert!(sequential.erases > 0 && sequential.moves == 0, "{sequential:?}");
        assert!(random.moves > random.programs, "{random:?}");
    }
}
