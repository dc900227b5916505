//! Sorts requests by time within a bounded window; equal times keep their order.
//!
//! Traces are almost sorted: a request that arrives in order costs one push to a ring buffer. Only
//! out-of-order requests go into a heap. The next request out is the earlier of the ring's front
//! and the heap's top.

use crate::Record;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// An out-of-order request with its sequence number; ordered by time, then by that number.
#[derive(Clone, Copy, Debug)]
struct Late {
    record: Record,
    place: u64,
}

impl Late {
    #[inline]
    fn key(&self) -> (u64, u64) {
        (self.record.io.at.0, self.place)
    }
}

impl PartialEq for Late {
    fn eq(&self, other: &Late) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Late {}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Late) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Late {
    fn cmp(&self, other: &Late) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// A bounded window that sorts the requests of a trace by arrival time. It holds at most as many
/// requests as its size.
#[derive(Clone, Debug)]
pub(crate) struct Reorder {
    window: usize,
    /// Records of the trace that arrived in the order of their times, ascending from front to back,
    /// and wait in the reorder window.
    ring: VecDeque<Record>,
    /// Requests that arrived out of order, after a later one, as a heap. At equal times, the
    /// requests in `ring`, which arrived in order, precede these.
    late: BinaryHeap<Reverse<Late>>,
    /// Arrival time of the last request returned, in nanoseconds.
    handed_out: u64,
    /// Latest arrival time of a request seen so far, in nanoseconds.
    latest: u64,
    reordered: u64,
}

impl Reorder {
    /// Returns an empty reorder window that holds `window` requests, at least one.
    pub fn new(window: usize) -> Reorder {
        Reorder {
            window: window.max(1),
            ring: VecDeque::new(),
            late: BinaryHeap::new(),
            handed_out: 0,
            latest: 0,
            reordered: 0,
        }
    }

    /// Returns the size of the reorder window: the largest number of requests that it holds.
    pub fn size(&self) -> usize {
        self.window
    }

    /// Returns true if the reorder window holds as many requests as it can, so that one must be
    /// removed before another is added.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.ring.len() + self.late.len() >= self.window
    }

    /// Returns how many requests came after a later one and were sorted.
    pub fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Adds a request to the reorder window, which sorts requests by arrival time.
    ///
    /// # Errors
    /// Number of nanoseconds by which the request is earlier than one already returned.
    #[inline]
    pub fn push(&mut self, record: Record) -> Result<(), u64> {
        debug_assert!(!self.is_full(), "the window is bounded");
        let at = record.io.at.0;
        if at < self.handed_out {
            return Err(self.handed_out - at);
        }
        if at >= self.latest {
            self.latest = at;
            self.ring.push_back(record);
        } else {
            self.late.push(Reverse(Late { record, place: self.reordered }));
            self.reordered += 1;
        }
        Ok(())
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Record> {
        let taken = if self.late.is_empty() { self.ring.pop_front() } else { self.earlier() }?;
        debug_assert!(taken.io.at.0 >= self.handed_out, "handed out in order");
        self.handed_out = taken.io.at.0;
        Some(taken)
    }

    /// Removes the earlier one of two requests: the first of those that arrived in order (`ring`),
    /// and the first of those that arrived out of order (`late`).
    fn earlier(&mut self) -> Option<Record> {
        let late = self.late.peek().map(|Reverse(late)| late.record.io.at);
        match self.ring.front() {
            Some(front) if late.is_none_or(|at| front.io.at <= at) => self.ring.pop_front(),
            _ => self.late.pop().map(|Reverse(late)| late.record),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::{HostIo, Nanos, Rng};

    fn record(at: u64, device: u64) -> Record {
        Record { device, io: HostIo::read(Nanos(at), 0, 512) }
    }

    /// Returns the output of a window (times with input positions), the rejected times, and the
    /// number of sorted requests.
    fn ordered(window: usize, times: &[u64]) -> (Vec<(u64, u64)>, Vec<u64>, u64) {
        let mut reorder = Reorder::new(window);
        let (mut out, mut refused) = (Vec::new(), Vec::new());
        for (place, &at) in times.iter().enumerate() {
            if reorder.is_full() {
                out.extend(reorder.pop());
            }
            if let Err(back) = reorder.push(record(at, place as u64)) {
                refused.push(back);
            }
        }
        out.extend(std::iter::from_fn(|| reorder.pop()));
        (out.iter().map(|r| (r.io.at.0, r.device)).collect(), refused, reorder.reordered())
    }

    #[test]
    fn late_requests_are_put_right_and_counted() {
        let (out, refused, reordered) = ordered(3, &[5, 3, 4, 9, 8]);
        assert_eq!(out, [(3, 1), (4, 2), (5, 0), (8, 4), (9, 3)]);
        assert_eq!((refused.len(), reordered), (0, 3));
    }

    #[test]
    fn equal_times_keep_their_places() {
        let (out, _, reordered) = ordered(8, &[7, 7, 2, 7, 2, 2]);
        assert_eq!(out, [(2, 2), (2, 4), (2, 5), (7, 0), (7, 1), (7, 3)]);
        assert_eq!(reordered, 3);
    }

    #[test]
    fn a_request_that_is_too_late_is_refused_with_how_far_back_it_lies() {
        let (out, refused, _) = ordered(2, &[10, 20, 30, 4, 20]);
        assert_eq!(out.iter().map(|&(at, _)| at).collect::<Vec<_>>(), [10, 20, 20, 30]);
        assert_eq!(refused, [16]);
        assert_eq!(ordered(1, &[1, 3, 2]).1, [1]);
        assert_eq!(ordered(0, &[1, 2, 3]).0.len(), 3);
    }

    #[test]
    fn a_window_as_wide_as_the_disorder_sorts_stably() {
        let mut rng = Rng::stream(3, "reorder");
        for window in [1usize, 2, 7, 64] {
            let times: Vec<u64> = (0..2000).map(|place| place / 3 + rng.below(8)).collect();
            let (out, refused, _) = ordered(window, &times);
            assert!(out.is_sorted(), "window {window}");
            assert_eq!(out.len() + refused.len(), times.len());
            if window == 64 {
                let mut expected: Vec<(u64, u64)> = times.iter().copied().zip(0..).collect();
                expected.sort();
                assert_eq!(out, expected);
            }
        }
    }
}
