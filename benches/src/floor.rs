//! The floor: what no event-driven simulator of a drive can leave out, and nothing else.
//!
//! It takes the same requests from the same iterator as the drive, under the same pacing, and does:
//!
//! - **For each request** a record of what is in flight (when it was issued, which pages are to
//!   begin and to end), merged by time with the events or held back by the depth; and one latency
//!   in a histogram. Without these no latency is known.
//! - **For each page** an access to the mapping where the page lies. What is found goes into a sum
//!   and nothing waits for it, although in a drive nothing can begin before it is known which die
//!   is asked. A write changes the mapping both ways, and its new place is the next of the next
//!   die: pages of a block are programmed in order, dies work side by side, so that no simulator
//!   has fewer streams of places.
//! - **For each page moved** the backward mapping of its old place, and both ways for its new one.
//!   As in the drive, the pages of a victim lie next to each other, one victim to a die, while the
//!   logical pages found there are scattered. The floor reads the pages that it moves packed; in a
//!   drive invalid ones lie between them, so it is spared cache lines.
//! - **For each end** of a sensing, a transfer, a program or an erase one event, pushed and popped;
//!   for each suspension two (the cells are free; what was interrupted ends later than planned). A
//!   simulator that knows of channels and suspension must decide something at each of these
//!   moments.
//!
//! How many flash operations a page takes is what the drive of the same round had, on average: the
//! write amplification, the reads before partial writes, the buffer hits that take none, the
//! suspensions.
//!
//! The event queue is the drive's own ([`Agenda`], lanes included), and about as many events are
//! pending in it: of each request no more pages are under way at once than the dies would allow.
//! The columns are the drive's kind (on large pages), have the drive's size, are scattered where
//! the drive's are, and are as warm: made just before the run. Latencies fall into the drive's kind
//! of histogram.
//!
//! There are two of it. The *plain* floor looks a page up when its request comes, and most of it is
//! that wait for the memory: the floor that simulators have been compared with. The other asks for
//! mapping entries beforehand as the drive does, of requests that it draws ahead and of pages that
//! it will move: the stricter one, since no simulator need wait. Its instructions have a budget as
//! the drive's have (`budget.toml`): a floor that became dearer would flatter every ratio.
//!
//! **Left out on purpose**, although some of it no real simulator can do without: queues of waiting
//! transactions, the state of dies and channels and all arbitration (a page never waits: the
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

/// Which request an event belongs to, and how many are to follow for the same page.
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

/// How many requests, and pages to move, are known before their turn: as in the drive.
const AHEAD: usize = 8;

/// Requests in flight at most: what fits into an event.
const IN_FLIGHT: u32 = 1 << 16;

/// A request in flight.
#[derive(Clone, Copy)]
struct InFlight {
    issued: Nanos,
    op: HostOp,
    /// The next page to begin, the page after the last, and how many have not ended.
    next: u32,
    end: u32,
    left: u32,
}

/// Something that happens so often per page on average, paid out in whole numbers.
#[derive(Clone, Copy, Default)]
struct Dues {
    /// In units of 2^-32.
    per_page: u64,
    owed: u64,
}

impl Dues {
    fn new(count: u64, pages: u64) -> Self {
        // Half a unit ahead, so that rounding down loses no whole one that is due.
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

/// Places in the order in which a drive gives them out: the next of each die in turn.
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

/// The floor under one drive.
#[derive(Clone)]
pub struct Floor {
    agenda: Agenda<End>,
    forward: IdVec<Lpn, u32>,
    backward: IdVec<Ppn, u32>,
    in_flight: Vec<InFlight>,
    free: Vec<u32>,
    histogram: Histogram<u64>,
    /// Where host pages go, where moved pages go, and where they come from.
    written: Stripe,
    moved: Stripe,
    victims: Stripe,
    /// Victims' pages whose mapping entries are asked for.
    victims_ahead: Stripe,
    read_events: Dues,
    write_events: Dues,
    moves: Dues,
    /// Pages of one request under way at once.
    at_once: u32,
    /// Whether mapping entries are asked for before they are needed.
    asks_ahead: bool,
    /// The sum of the places found.
    found: u32,
    /// Events scheduled; counted where assertions are checked only.
    events: u64,
}

impl Floor {
    /// The floor under a drive of these sizes, whose logical pages lie scattered or in order.
    pub fn new(layout: &Layout, scattered: bool) -> Self {
        let (logical, physical) = (layout.logical_pages, layout.geometry.pages());
        let dies = layout.geometry.dies();
        let rows = physical / dies;
        // Logical pages fill the first places; who lies in the others is as random or orderly.
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

    /// The same floor, which waits for the memory wherever the drive would without asking ahead.
    pub fn plain(self) -> Self {
        Self { asks_ahead: false, ..self }
    }

    /// Serves the requests, with the flash operations that a drive had for them. Returns
    /// nanoseconds of wall time per request.
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
        // A second run begins where the first ended.
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

    /// Begins pages of a request until one takes the flash some time, or none is left to begin.
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

    /// Begins the next page of a request, if there is one. Returns how many events it takes.
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

    /// Writes a page, and moves the pages that are due for it. Returns how many events that takes.
    #[inline]
    fn write(&mut self, page: u32) -> u32 {
        let place = self.written.next();
        self.store(page, place);
        for _ in 0..self.moves.take() {
            self.relocate();
        }
        self.write_events.take()
    }

    /// Moves one page, found by its place in a victim; its events are among those of writes.
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

    /// Takes note that a page has ended. Returns whether it was the request's last.
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

    /// What makes it a floor of this drive: the same requests, the same flash operations, none
    /// invented.
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
