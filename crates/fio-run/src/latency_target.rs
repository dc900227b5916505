//! `latency_target`: looks for the largest depth at which enough requests are fast enough.
//!
//! The search begins at depth 1 and doubles the depth after each window that meets the target. Once
//! a window has failed, it halves the distance between the best and the worst depth. When the depth
//! no longer changes, one more window is recorded, alone, and the job ends unless it runs on.

use super::plan::Target;
use fowler_units::{Nanos, Span};

/// Search of a process for the largest queue depth that meets its latency target.
#[derive(Clone, Debug)]
pub(super) struct Search {
    target: Target,
    most: u32,
    /// Queue depth that the process uses at present, in requests.
    pub depth: u32,
    /// Largest queue depth that has met the latency target, 0 before any has, and smallest queue
    /// depth that has failed it.
    good: u32,
    bad: Option<u32>,
    /// Start of the current time window of the search for a queue depth, number of requests that
    /// completed in the window, and number of those that were slower than the latency target.
    from: Nanos,
    answered: u64,
    slow: u64,
    /// True in the last time window of the search for a queue depth, the only window whose requests
    /// are recorded.
    last: bool,
    /// True if some queue depth met the latency target.
    pub met: bool,
}

/// Outcome of one time window in fio's search for the largest queue depth that meets the latency
/// target (`latency_target`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The search for the largest queue depth that meets the latency target is not over: it tries a
    /// queue depth in the next time window.
    Nothing,
    /// The search for the largest queue depth that meets the latency target (`latency_target`) has
    /// found a depth: statistics restart, so that the job is measured at that depth.
    RecordAnew,
    /// The search for a queue depth is over and the job ends.
    End,
}

impl Search {
    /// Begins the search for the largest queue depth that meets the latency target, with one
    /// request in flight.
    pub fn new(target: Target, most: u32, from: Nanos) -> Search {
        let (bad, answered, slow) = (None, 0, 0);
        Search {
            target,
            most,
            depth: 1,
            good: 0,
            bad,
            from,
            answered,
            slow,
            last: false,
            met: false,
        }
    }

    /// Records the latency of a completed request.
    pub fn answered(&mut self, latency: Span) {
        self.answered += 1;
        self.slow += u64::from(latency > self.target.latency);
    }

    /// Evaluates the current time window of the search for a queue depth if the window is over at
    /// `now`.
    pub fn look(&mut self, now: Nanos) -> Found {
        if now < self.from + self.target.window || self.answered == 0 {
            return Found::Nothing;
        }
        let fast = 100.0 * (self.answered - self.slow) as f64 / self.answered as f64;
        let met = fast >= self.target.percentile;
        let before = self.depth;
        if met {
            (self.good, self.met) = (self.good.max(before), true);
        } else {
            self.bad = Some(before);
            // A depth that was good once may fail later: drives change.
            self.good = self.good.min(before - 1);
        }
        self.depth = match self.bad {
            None => before.saturating_mul(2).min(self.most),
            Some(bad) => self.good.midpoint(bad).max(1),
        };
        (self.from, self.answered, self.slow) = (now, 0, 0);
        if self.depth != before {
            self.last = false;
            return Found::Nothing;
        }
        if self.target.runs_on {
            // From here on the search follows the drive.
            self.bad = None;
            return Found::Nothing;
        }
        if self.last || !met {
            return Found::End;
        }
        self.last = true;
        Found::RecordAnew
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs windows on a drive that is fast enough up to some depth.
    fn depths(fast_up_to: u32, most: u32) -> (Vec<u32>, bool) {
        let target = Target {
            latency: Span::us(100),
            window: Span::ms(1),
            percentile: 90.0,
            runs_on: false,
        };
        let mut search = Search::new(target, most, Nanos::ZERO);
        let mut depths = Vec::new();
        for window in 1..50 {
            depths.push(search.depth);
            let latency = if search.depth <= fast_up_to { 100 } else { 101 };
            (0..10).for_each(|_| search.answered(Span::us(latency)));
            assert_eq!(search.look(Nanos(window * 1_000_000 - 1)), Found::Nothing, "not over");
            if search.look(Nanos(window * 1_000_000)) == Found::End {
                return (depths, search.met);
            }
        }
        panic!("it never ends: {depths:?}");
    }

    #[test]
    fn the_largest_depth_that_meets_the_target_is_found() {
        assert_eq!(depths(64, 8), (vec![1, 2, 4, 8, 8], true));
        assert_eq!(depths(5, 64), (vec![1, 2, 4, 8, 6, 5, 5], true));
        assert_eq!(depths(0, 64), (vec![1], false));
    }
}
