//! Requests drawn before their turn. What a request will look up lies scattered over hundreds of
//! megabytes; asked for a few requests ahead, it is in the cache when its turn comes. Nothing that
//! a request does depends on it.

use super::Layer;
use crate::flash::Flash;
use fowler_units::{HostIo, Nanos};

/// How many requests are drawn ahead: enough for three look-ups in memory, each of which needs what
/// the one before it found, to end before their request enters.
const AHEAD: usize = 8;
/// How many turns before its own the second look-up of a request begins, and the third.
const SECOND: usize = 5;
const THIRD: usize = 2;

/// A source of requests with the next ones drawn already.
/// See docs/decisions/device.md, "May requests be drawn before their turn?".
pub(crate) struct Lookahead<I> {
    source: I,
    drawn: [HostIo; AHEAD],
    /// Requests drawn and handed out so far.
    last: usize,
    next: usize,
    exhausted: bool,
}

impl<I: Iterator<Item = HostIo>> Lookahead<I> {
    /// Nothing drawn yet.
    pub fn of(source: I) -> Self {
        let blank = HostIo::flush(Nanos::ZERO);
        Self { source, drawn: [blank; AHEAD], last: 0, next: 0, exhausted: false }
    }

    /// The next request.
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
