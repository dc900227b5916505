//! The requests. The drive and its floor read the same requests from the same iterator, so that its
//! cost is in both.

use fowler_units::{HostIo, HostOp, Nanos, Rng};
use std::sync::Arc;

/// Page size of all drives of the benchmark, in bytes.
pub const PAGE: u64 = 4096;
/// Number of pages of a sequential request: 128 KiB.
pub const RUN: u64 = 32;

/// Source of a benchmark's requests, in order of arrival.
#[derive(Clone)]
pub enum Requests {
    /// Requests of one page each at random addresses.
    Random(Random),
    /// Sequential requests of many pages each.
    Sequential(Sequential),
    /// A repeated excerpt of a real trace.
    Repeated(Repeated),
}

impl Iterator for Requests {
    type Item = HostIo;
    #[inline]
    fn next(&mut self) -> Option<HostIo> {
        match self {
            Requests::Random(it) => it.next(),
            Requests::Sequential(it) => it.next(),
            Requests::Repeated(it) => it.next(),
        }
    }
}

/// Requests of one page each, at addresses uniform over the drive.
#[derive(Clone)]
pub struct Random {
    rng: Rng,
    pages: u64,
    read_share: f64,
    /// Mean time between arrivals in nanoseconds; zero if arrivals do not matter.
    gap: f64,
    /// Time of the last arrival, as a fraction and in whole nanoseconds.
    at: f64,
    arrival: Nanos,
    left: u64,
}

impl Random {
    /// Returns `count` requests over `pages` logical pages, a share `read_share` of them reads, all
    /// at time zero.
    pub fn new(count: u64, pages: u32, read_share: f64) -> Self {
        let rng = Rng::stream(7, "bench");
        Self {
            rng,
            pages: u64::from(pages),
            read_share,
            gap: 0.0,
            at: 0.0,
            arrival: Nanos::ZERO,
            left: count,
        }
    }

    /// Returns the requests with arrivals of a Poisson process, `gap` nanoseconds apart on average.
    pub fn poisson(self, gap: f64) -> Self {
        Self { gap, ..self }
    }
}

impl Random {
    #[inline]
    fn next(&mut self) -> Option<HostIo> {
        self.left = self.left.checked_sub(1)?;
        if self.gap > 0.0 {
            // The logarithm of `libm` takes the same instructions on every machine.
            self.at -= self.gap * libm::log(1.0 - self.rng.unit());
            self.arrival = Nanos(self.at as u64);
        }
        let page = self.rng.below(self.pages);
        let read =
            self.read_share >= 1.0 || (self.read_share > 0.0 && self.rng.chance(self.read_share));
        let op = if read { HostOp::Read } else { HostOp::Write };
        Some(HostIo::new(op, self.arrival, page * PAGE, PAGE as u32))
    }
}

/// Sequential requests of [`RUN`] pages each, which start over at the end of the drive.
#[derive(Clone)]
pub struct Sequential {
    op: HostOp,
    next: u64,
    runs: u64,
    left: u64,
}

impl Sequential {
    /// Returns `count` requests on a drive of `pages` logical pages, from run number `first`.
    pub fn new(op: HostOp, first: u64, count: u64, pages: u32) -> Self {
        let runs = u64::from(pages) / RUN;
        Self { op, next: first % runs, runs, left: count }
    }

    #[inline]
    fn next(&mut self) -> Option<HostIo> {
        self.left = self.left.checked_sub(1)?;
        let offset = self.next * RUN * PAGE;
        self.next = if self.next + 1 == self.runs { 0 } else { self.next + 1 };
        Some(HostIo::new(self.op, Nanos::ZERO, offset, (RUN * PAGE) as u32))
    }
}

/// A repeated excerpt of a trace; each repetition is later by the excerpt's length.
#[derive(Clone)]
pub struct Repeated {
    once: Arc<[HostIo]>,
    next: usize,
    /// Delay of the current repetition, and length of one repetition, in nanoseconds.
    shift: u64,
    length: u64,
    left: u64,
}

impl Repeated {
    /// Creates `count` requests from the excerpt `once`, which must have at least one request.
    pub fn new(once: Arc<[HostIo]>, count: u64) -> Self {
        // A millisecond between the last request of a repetition and the first of the next.
        let length = once.last().expect("a request to repeat").at.0 + 1_000_000;
        Self { once, next: 0, shift: 0, length, left: count }
    }

    #[inline]
    fn next(&mut self) -> Option<HostIo> {
        self.left = self.left.checked_sub(1)?;
        if self.next == self.once.len() {
            self.next = 0;
            self.shift += self.length;
        }
        let io = self.once[self.next];
        self.next += 1;
        Some(io.with_at(Nanos(io.at.0 + self.shift)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_repeated_later_each_time() {
        let io = |at| HostIo::read(Nanos(at), 0, 4096);
        let times = Repeated::new([io(5), io(7)].into(), 5);
        let times: Vec<u64> = Requests::Repeated(times).map(|io| io.at.0).collect();
        assert_eq!(times, [5, 7, 1_000_012, 1_000_014, 2_000_019]);
    }

    #[test]
    fn arrivals_come_at_their_rate_and_in_order() {
        let requests = Requests::Random(Random::new(100_000, 1000, 1.0).poisson(1000.0));
        let times: Vec<u64> = requests.map(|io| io.at.0).collect();
        assert!(times.is_sorted());
        let mean = *times.last().unwrap() as f64 / times.len() as f64;
        assert!((mean / 1000.0 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn runs_begin_again_after_the_end() {
        let runs = Sequential::new(HostOp::Write, 2, 3, 3 * RUN as u32 + 5);
        let offsets: Vec<u64> =
            Requests::Sequential(runs).map(|io| io.offset / (RUN * PAGE)).collect();
        assert_eq!(offsets, [2, 0, 1]);
    }
}
