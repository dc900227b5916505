//! A host that sends the next write only when the drive has admitted the previous one, so that
//! every delay makes the host lag.
//!
//! 1. The write arrives at its own time plus the lag so far ([`WaitingHost::enter`]).
//! 2. It is delayed, and enters, unless the life has ended before.
//! 3. The lag grows by the delay. It never shrinks.

use crate::observe::counters::Counters;
use crate::policy::throttle::Throttled;
use fowler_units::{Nanos, Span};

/// A host that waits for each write to be admitted before it sends the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingHost {
    /// Time by which the host lags behind its own arrival times.
    pub behind: Span,
    /// Delay of the write that the drive had not admitted when its life ended.
    pub blocked_at_end: Throttled,
    /// Simulated time at which the drive admitted the last write or other request.
    pub now: Nanos,
}

impl WaitingHost {
    /// Creates a host at the beginning of a drive's simulated life; no write has been delayed, so
    /// that the host does not lag behind its own arrival times.
    pub fn new() -> Self {
        Self { behind: Span::ZERO, blocked_at_end: Throttled::default(), now: Nanos::ZERO }
    }

    /// Admits a write that the host sends at its own time `sent`, after the delay that `delay`
    /// returns for the moment of arrival. Returns the time of entry; `None` if the life `ends`
    /// before that.
    #[inline]
    pub fn enter(
        &mut self,
        sent: Nanos,
        ends: Nanos,
        counters: &mut Counters,
        delay: impl FnOnce(Nanos, &Counters) -> Throttled,
    ) -> Option<(Nanos, Throttled)> {
        let at = sent + self.behind;
        if at >= ends {
            return None;
        }
        let throttled = delay(at, counters);
        let at = at + throttled.total();
        counters.throttled.delayed += throttled.spread;
        counters.throttled.stopped += throttled.stopped;
        counters.stops += u64::from(throttled.stops);
        if at >= ends {
            self.blocked_at_end = throttled;
            return None;
        }
        self.behind += throttled.total();
        self.now = at;
        Some((at, throttled))
    }
}
