//! The floor: what no event-driven simulator of a drive can do without, and nothing else.
//!
//! For each request: drawing it, one access to the mapping where it lies, one push and pop of the event
//! queue for each end of a sensing, transfer, program or erase that it causes, two for each suspension
//! that the drive had (the cells are free; the program ends later than planned), and one histogram
//! record. A write also changes both directions of the mapping; each page that collection must move, at
//! the write amplification that the drive had, reads and changes both again. The event queue is the
//! drive's own, with as many events pending; the columns have the drive's size. No queues, no state of
//! dies, no valid counts, no blame.

use crate::drive::{Measured, Workload, geometry};
use crate::requests::Uniform;
use fowler_agenda::{Agenda, Event, Phase};
use fowler_units::{HostIo, HostOp, Nanos, Span};
use hdrhistogram::Histogram;
use std::time::Instant;

/// Which request an event belongs to, and how many are to follow.
#[derive(Clone, Copy)]
struct End {
    request: u32,
    left: u32,
}

impl Event for End {
    fn pack(self) -> u32 {
        (self.left << 16) | self.request
    }
    fn unpack(bits: u32) -> Self {
        End { request: bits & 0xffff, left: bits >> 16 }
    }
}

struct Floor {
    agenda: Agenda<End>,
    forward: Vec<u32>,
    backward: Vec<u32>,
    next_page: u32,
    issued: Vec<Nanos>,
    histogram: Histogram<u64>,
    moves_owed: f64,
    suspensions_owed: f64,
    erases_owed: f64,
}

/// Nanoseconds per request of the floor of a workload, at the write amplification `measured`.
pub fn run(workload: Workload, measured: &Measured) -> f64 {
    let physical = geometry().pages();
    let logical = (f64::from(physical) / 1.28) as u32;
    let mut floor = Floor::new(physical, logical);
    let mut requests = Uniform::new(workload.requests(), logical, workload.read_share());
    let start = Instant::now();
    for request in 0..workload.depth() {
        let Some(io) = requests.next() else { break };
        floor.issue(request, io.offset, io.op, measured);
    }
    while let Some((_, end)) = floor.agenda.pop() {
        if end.left > 0 {
            floor.follow(end.request, end.left - 1);
            continue;
        }
        let latency = floor.agenda.now() - floor.issued[end.request as usize];
        floor.histogram.record(latency.0).expect("within bounds");
        if let Some(io) = requests.next() {
            floor.issue(end.request, io.offset, io.op, measured);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(floor.histogram.len(), workload.requests());
    seconds * 1e9 / workload.requests() as f64
}

/// Nanoseconds per request of the floor of a trace: arrivals in order, and for each page a look-up and
/// two events (a write changes the mapping both ways).
pub fn run_trace(requests: &[HostIo]) -> f64 {
    let physical = geometry().pages();
    let mut floor = Floor::new(physical, (f64::from(physical) / 1.28) as u32);
    let mut arrivals = requests.iter().enumerate().peekable();
    let mut pages_left = vec![0u32; 1 << 16];
    let start = Instant::now();
    loop {
        let due = floor.agenda.next_due().map_or(Nanos::NEVER, |(due, _)| due);
        match arrivals.peek() {
            Some((_, io)) if io.at <= due => {
                let (number, io) = arrivals.next().expect("peeked");
                let request = (number & 0xffff) as u32;
                floor.agenda.advance(io.at);
                floor.issued[request as usize] = io.at;
                let pages = io.offset / 4096..(io.offset + u64::from(io.size)).div_ceil(4096);
                pages_left[request as usize] = (pages.end - pages.start) as u32;
                for page in pages {
                    let place = floor.forward[page as usize];
                    if io.op == HostOp::Write {
                        floor.store(page as u32);
                    }
                    floor.follow(request, 1 + (place >> 31));
                }
            }
            _ => {
                let Some((_, end)) = floor.agenda.pop() else { break };
                if end.left > 0 {
                    floor.follow(end.request, end.left - 1);
                    continue;
                }
                let left = &mut pages_left[end.request as usize];
                *left -= 1;
                if *left == 0 {
                    let latency = floor.agenda.now() - floor.issued[end.request as usize];
                    floor.histogram.record(latency.0).expect("within bounds");
                }
            }
        }
    }
    start.elapsed().as_secs_f64() * 1e9 / requests.len() as f64
}

impl Floor {
    fn new(physical: u32, logical: u32) -> Self {
        Self {
            agenda: Agenda::with_capacity(256),
            forward: (0..logical).collect(),
            backward: (0..physical).map(|page| page % logical).collect(),
            next_page: 0,
            issued: vec![Nanos::ZERO; 1 << 16],
            histogram: Histogram::new_with_bounds(1, 1 << 40, 3).expect("sound bounds"),
            moves_owed: 0.0,
            suspensions_owed: 0.0,
            erases_owed: 0.0,
        }
    }

    #[inline]
    fn issue(&mut self, request: u32, offset: u64, op: HostOp, measured: &Measured) {
        let page = (offset / 4096) as usize;
        self.issued[request as usize] = self.agenda.now();
        let place = self.forward[page];
        self.suspensions_owed += measured.suspensions_per_request;
        // No place has the top bit; the sum only keeps the look-up from being left out.
        let mut events = 2 + (place >> 31);
        if self.suspensions_owed >= 1.0 {
            self.suspensions_owed -= 1.0;
            events += 2;
        }
        if op == HostOp::Write {
            self.store(page as u32);
            self.moves_owed += measured.moves_per_request;
            self.erases_owed += measured.erases_per_request;
            while self.moves_owed >= 1.0 {
                self.moves_owed -= 1.0;
                events += 4;
                // A page found by its place in a victim, as collection finds it.
                let moved = self.backward[(place as usize + events as usize) % self.backward.len()];
                self.store(moved);
            }
            if self.erases_owed >= 1.0 {
                self.erases_owed -= 1.0;
                events += 1;
            }
        }
        self.follow(request, events - 1);
    }

    #[inline]
    fn store(&mut self, page: u32) {
        let to = self.next_page;
        self.next_page = if to as usize + 1 == self.backward.len() { 0 } else { to + 1 };
        self.forward[page as usize] = to;
        self.backward[to as usize] = page;
    }

    #[inline]
    fn follow(&mut self, request: u32, left: u32) {
        let time = if left % 2 == 1 { Span::us(50) } else { Span::us(4) };
        let jitter = u64::from(request * 37 % 101);
        let at = self.agenda.now() + time + Span(jitter);
        self.agenda.schedule(at, Phase::Completion, End { request, left });
    }
}
