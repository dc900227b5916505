//! Samples of rates: the requests and bytes in each window of time.

use super::Stats;
use crate::plan::{ByDirection, Direction};
use fowler_units::{Nanos, Span};

/// Sampler of the bandwidth and requests per second of a process, in time windows of equal width.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    width: Span,
    from: Nanos,
    until: Nanos,
    before: ByDirection<(u64, u64)>,
    /// True if a whole sampling window has passed since the sampling of the fio process's bandwidth
    /// and requests per second began.
    passed: bool,
}

/// Bandwidth and requests per second of one direction (reads, writes or trims) in a time window
/// with at least one such request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Direction of the requests whose rates were sampled: read, write or trim.
    pub direction: Direction,
    /// End time of the window for which the bandwidth and the requests per second of a fio process
    /// were measured.
    pub until: Nanos,
    /// Bytes per second that the requests of one direction moved in a time window.
    pub bytes_per_s: u64,
    /// Requests per second of one direction in a time window.
    pub iops: u64,
}

impl Samples {
    /// Starts to sample the rates of a process in time windows of `width`, at least 1 ms, of which
    /// the first begins at `from`.
    pub fn new(width: Span, from: Nanos) -> Samples {
        let width = width.max(Span::ms(1));
        let (until, before, passed) = (from + width, ByDirection::default(), false);
        Samples { width, from, until, before, passed }
    }

    /// Restarts the sampling windows at `from`, with the counts of requests and bytes at zero.
    pub fn restart(&mut self, from: Nanos) {
        *self = Samples::new(self.width, from);
    }

    /// Passes the rates in every time window that has ended by `now` to `see`, by direction.
    /// Directions without requests in a window are left out, as in fio.
    #[inline]
    pub fn until(&mut self, now: Nanos, stats: &Stats, see: &mut dyn FnMut(Window)) {
        if now < self.until {
            return;
        }
        self.window(self.until, stats, see);
        self.passed = true;
        // Windows without a request are skipped at once.
        let widths = (now - self.until).0 / self.width.0;
        self.from = Nanos(self.until.0 + widths * self.width.0);
        self.until = self.from + self.width;
    }

    /// Passes the rates of the unfinished sampling window to `see`. A window that is less than half
    /// over is left out if an earlier window was complete: a few completions in a moment give no
    /// rate.
    pub fn end(&mut self, now: Nanos, stats: &Stats, see: &mut dyn FnMut(Window)) {
        self.until(now, stats, see);
        let long = now.0.saturating_sub(self.from.0) >= self.width.0.div_ceil(2);
        if now > self.from && (long || !self.passed) {
            self.window(now, stats, see);
            self.from = now;
        }
    }

    fn window(&mut self, until: Nanos, stats: &Stats, see: &mut dyn FnMut(Window)) {
        let width = (until - self.from).0.max(1);
        for direction in Direction::ALL {
            let done = &stats.done[direction];
            let (bytes, requests) = self.before[direction];
            if done.requests == requests {
                continue;
            }
            let rate = |more: u64| (u128::from(more) * 1_000_000_000 / u128::from(width)) as u64;
            see(Window {
                direction,
                until,
                bytes_per_s: rate(done.bytes - bytes),
                iops: rate(done.requests - requests),
            });
            self.before[direction] = (done.bytes, done.requests);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Recorded;
    use crate::stats::Times;

    #[test]
    fn a_window_has_what_was_done_in_it() {
        let (mut stats, mut seen) = (Stats::default(), Vec::new());
        let mut samples = Samples::new(Span::ms(500), Nanos::ZERO);
        for ms in [100, 200, 499, 700, 2_100] {
            let collected = Nanos::ZERO + Span::ms(ms);
            samples.until(collected, &stats, &mut |window| seen.push(window));
            let times = Times { start: Nanos::ZERO, issued: None, collected };
            stats.record(Direction::Read, 4096, &times, &Recorded::default());
        }
        samples.end(Nanos::ZERO + Span::ms(2_250), &stats, &mut |window| seen.push(window));
        let found: Vec<_> = seen.iter().map(|it| (it.until.0 / 1_000_000, it.iops)).collect();
        // Three in half a second, one in the next, none in two, one in a quarter of a second.
        assert_eq!(found, [(500, 6), (1_000, 2), (2_250, 4)]);
        assert_eq!(seen[0].bytes_per_s, 6 * 4096);
        // A few answers after the last window are no rate.
        let mut short = Samples::new(Span::ms(500), Nanos::ZERO);
        let (mut seen, done) = (Vec::new(), Stats::default());
        short.until(Nanos::ZERO + Span::ms(500), &done, &mut |window| seen.push(window));
        short.end(Nanos::ZERO + Span::ms(501), &stats, &mut |window| seen.push(window));
        assert_eq!(seen, []);
    }
}
