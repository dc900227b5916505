//! Lookahead in the stream of requests, to speed up the simulator. The data that a request looks up
//! is scattered over hundreds of megabytes; prefetched a few requests ahead, it is in the
//! processor's cache when the request's turn comes. Results do not depend on the lookahead.

use super::Layer;
use crate::flash::Flash;
use fowler_units::{HostIo, Nanos};

/// Number of requests drawn from the source before the drive receives them: enough for three
/// dependent memory accesses of the simulating machine to complete meanwhile.
const AHEAD: usize = 8;
/// Lead, in requests, at which the record of the block that holds the first page of a request is
/// prefetched into the processor's cache. The mapping entry of the page, prefetched earlier, names
/// it.
const SECOND: usize = 5;
/// Lead, in requests, at which list neighbours are prefetched into the processor's cache: those, in
/// the list of blocks by valid count, of the block that holds the first page of a request.
const THIRD: usize = 2;

/// A source of requests that draws a few of them early.
/// See docs/decisions/device.md, "May requests be drawn before their turn?".
pub(crate) struct Lookahead<I> {
    source: I,
    drawn: [HostIo; AHEAD],
    /// Number of requests drawn from the source so far.
    last: usize,
    /// Number of requests handed to the drive so far.
    next: usize,
    exhausted: bool,
}

impl<I: Iterator<Item = HostIo>> Lookahead<I> {
    /// Wraps a source of requests; nothing is drawn from it yet.
    pub fn of(source: I) -> Self {
        let blank = HostIo::flush(Nanos::ZERO);
        Self { source, drawn: [blank; AHEAD], last: 0, next: 0, exhausted: false }
    }

    /// Returns the next request of the source; `None` after the last.
    #[inline]
    pub fn next(&mut self, layer: &impl Layer, flash: &Flash) -> Option<HostIo> {
        while !self.exhausted && self.last - self.next < AHEAD {
            match self.source.next() {
                Some(io) => {
                    layer.prefetch(&io);
                    self.drawn[self.last % AHEAD] = io;
                    self.last += 1;
                }
                None => self.exhausted = true,
            }
        }
        let second = &self.drawn[(self.next + SECOND) % AHEAD];
        layer.prefetch_second(second, flash);
        layer.prefetch_third(&self.drawn[(self.next + THIRD) % AHEAD]);
        if self.next == self.last {
            return None;
        }
        let io = self.drawn[self.next % AHEAD];
        self.next += 1;
        Some(io)
    }
}
