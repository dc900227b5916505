//! The common part of the throttles DT and READY. The life is divided into epochs. In each, the
//! three functions of READY (Figure 3) predict the demand, derive a delay from it, and enforce the
//! capacity.

use super::capacity::{CapacityRegulator, Rest};
use super::delay::DelayEstimator;
use super::demand::DemandPredictor;
use super::{Enforcement, EpochRule, Life, Params, Predicted, State, Throttled};
use fowler_units::{Nanos, Span};
use serde::{Deserialize, Serialize};

/// The epoch of a throttle that is in progress.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Epoch {
    start: Nanos,
    ends: Nanos,
    /// Number of pages of the life's write capacity used when this throttle epoch began, including
    /// pages that the throttle has granted to the write in progress and that are not yet
    /// programmed.
    taken: u64,
    /// Write capacity that the drive had left when the epoch began, in pages.
    remains: f64,
    /// True if more pages were written in the previous epoch than its capacity.
    after_overuse: bool,
    /// Time for which the throttle stopped the host in the epoch.
    stopped: Span,
    /// Predicted write demand of the epoch, in pages; `None` without a prediction.
    predicted: Option<f64>,
}

/// Number of epochs in a row whose predictions were all right, or all wrong by more, after which
/// the limit of a wrong prediction changes. READY names the change and no number for "always"
/// (section 3.5). Assumed.
const STEADY_EPOCHS: u32 = 24;

/// Relative error beyond which a prediction of write demand counts as wrong. It adapts to the
/// workload if [`Params::miss_step`] says so. READY (section 3.5) has 0.15 instead of 0.25 if
/// predictions are always right, and 0.35 if they are always wrong by much; it prints "reduce" for
/// both, the second of which must be a slip.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct MissLimit {
    /// Number of the latest epochs in a row whose predictions were within the limit.
    within: u32,
    /// Number of the latest epochs in a row whose predictions were wrong by more than the limit and
    /// its step.
    beyond: u32,
}

impl MissLimit {
    /// Returns the limit for an epoch as the epochs before it have set it, and counts the epoch,
    /// whose demand differed from the prediction by the share `error` of the prediction.
    pub fn after(&mut self, error: f64, params: &Params) -> f64 {
        let &Params { miss, miss_step: step, .. } = params;
        let limit = match self {
            MissLimit { within: STEADY_EPOCHS.., .. } => (miss - step).max(0.0),
            MissLimit { beyond: STEADY_EPOCHS.., .. } => miss + step,
            _ => miss,
        };
        self.within = if error < miss { self.within.saturating_add(1) } else { 0 };
        self.beyond = if error > miss + step { self.beyond.saturating_add(1) } else { 0 };
        limit
    }
}

/// A throttle that sets write capacity and delay anew for each epoch: DT, dynamic throttling by the
/// rated capacity, or READY, by the capacity with recovery of cells in idle time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EpochRegulator {
    params: Params,
    /// True if the write capacity includes the recovery of cells in idle time (READY); false for
    /// the rated capacity (DT).
    healed: bool,
    demand: DemandPredictor,
    delay: DelayEstimator,
    capacity: CapacityRegulator,
    epoch: Option<Epoch>,
    length: Span,
    /// Sum of all delays of writes: the time by which the host lags behind.
    behind: Span,
    /// Number of pages of write capacity used for all sources (host, GC and others), up to and
    /// including the last write that was recorded as demand.
    counted: u64,
    misses: u32,
    limit: MissLimit,
    predicted: Predicted,
    chosen: u64,
}

impl EpochRegulator {
    pub fn new(params: &Params, healed: bool) -> Self {
        let share = match params.enforcement {
            Enforcement::Pessimistic => 0.0,
            Enforcement::Optimistic => params.spare,
        };
        Self {
            params: *params,
            healed,
            demand: DemandPredictor::new(params.window, params.history),
            delay: DelayEstimator::default(),
            capacity: CapacityRegulator::new(params.period, share),
            epoch: None,
            length: match params.epoch {
                EpochRule::Auto => params.window,
                EpochRule::Fixed => params.epoch_length,
            },
            behind: Span::ZERO,
            counted: 0,
            misses: 0,
            limit: MissLimit::default(),
            predicted: Predicted::default(),
            chosen: 0,
        }
    }

    pub fn state(&self) -> State {
        State {
            delay: Span(self.delay.delay() as u64),
            epoch: self.epoch.map(|epoch| epoch.ends - epoch.start),
            predicted: self.predicted,
            chosen: self.chosen,
        }
    }

    /// Returns the start and length of the throttle's current epoch, and in pages its capacity and
    /// the spare that it may borrow from later epochs; `None` before the first epoch.
    #[cfg(test)]
    pub fn standing(&self) -> Option<(Nanos, Span, [f64; 2])> {
        let (capacity, most) = (self.capacity.capacity(), self.capacity.most());
        self.epoch.map(|epoch| (epoch.start, epoch.ends - epoch.start, [capacity, most - capacity]))
    }

    pub fn delay(&mut self, now: Nanos, pages: u32, life: &impl Life) -> Throttled {
        if now >= life.ends() {
            return Throttled::default();
        }
        self.count(now, pages, life);
        let mut way = Way { at: now, had: 0, throttled: Throttled::default(), waited: 0.0 };
        while way.had < u64::from(pages) && way.at < life.ends() {
            let epoch = self.epoch_at(way.at, way.had, life);
            self.advance(epoch, &mut way, u64::from(pages), life);
        }
        way.throttled
    }

    /// Counts the demand of a write, and the pages programmed for other sources since the last one.
    fn count(&mut self, now: Nanos, pages: u32, life: &impl Life) {
        let taken = life.taken();
        let others = taken.saturating_sub(self.counted);
        let undistorted = Span((now - Nanos::ZERO).0.saturating_sub(self.behind.0));
        self.demand.record(undistorted, others + u64::from(pages));
        self.counted = taken + u64::from(pages);
    }

    /// Returns the time at which a drive without write capacity left can program a page again,
    /// because cells recover in idle time, or the end of the drive's life if that comes first.
    fn room_again(&self, from: Nanos, had: u64, life: &impl Life) -> Nanos {
        let has_room = |at: Nanos| life.left(at, true) - had as f64 >= 1.0;
        let (mut none, mut room) = (from, life.ends());
        if !self.healed || !has_room(room) {
            return life.ends();
        }
        while room - none > Span(1) {
            let middle = none + Span((room - none).0 / 2);
            if has_room(middle) { room = middle } else { none = middle }
        }
        room
    }

    /// Grants a write as many of its pages as the throttle's epoch allows. A write that needs more
    /// waits for the next epoch.
    fn advance(&mut self, epoch: Epoch, way: &mut Way, pages: u64, life: &impl Life) {
        let ends = epoch.ends.min(life.ends());
        if epoch.remains < 1.0 {
            let until = self.room_again(way.at, way.had, life).max(ends);
            return self.stop(way, until, 1);
        }
        let taken = (life.taken() + way.had).saturating_sub(epoch.taken) as f64;
        let room = libm::floor(self.capacity.most() - taken).max(0.0) as u64;
        if room == 0 {
            return self.stop(way, ends, 1);
        }
        // Only granted pages are delayed, and only those whose delays fit in the epoch.
        let (left, delay) = (ends - way.at, self.delay.delay());
        let mut count = (pages - way.had).min(room);
        if delay > 0.0 {
            let within = left.0 as f64;
            count = count.min(libm::floor((within + way.waited) / delay) as u64);
            if count == 0 {
                way.waited += within;
                return self.spread(way, left);
            }
            let spread = (count as f64 * delay - way.waited).max(0.0).min(within);
            self.spread(way, Span(spread as u64));
        }
        (way.had, way.waited) = (way.had + count, 0.0);
        let wanted = taken + count as f64;
        if !self.capacity.allows(wanted, way.at - epoch.start) {
            self.stop_for_periods(epoch, way, (taken, count));
        }
    }

    /// Stops the host until a period of the throttle's epoch has room for all `count` pages. Every
    /// page that does not enter immediately counts as a stop, but several pages that enter in the
    /// same period count as one.
    #[cold]
    fn stop_for_periods(&mut self, epoch: Epoch, way: &mut Way, (taken, count): (f64, u64)) {
        let opens = |pages: f64| {
            let after = self.capacity.opens(taken + pages);
            after.map_or(epoch.ends, |after| (epoch.start + after).min(epoch.ends)).max(way.at)
        };
        let allowed = self.capacity.allowed(way.at - epoch.start);
        let at_once = (libm::floor(allowed - taken).max(0.0) as u64).min(count - 1);
        let (first, last) = (opens((at_once + 1) as f64), opens(count as f64));
        let periods = 1 + last.0.saturating_sub(first.0) / self.params.period.0;
        self.stop(way, last, periods.min(count - at_once) as u32);
    }

    /// Advances the time of a write by a delay that is spread over its pages.
    fn spread(&mut self, way: &mut Way, spread: Span) {
        way.throttled.spread += spread;
        way.at = way.at + spread;
        self.behind += spread;
    }

    /// Stops a write for lack of capacity until the time `until`; `stops` of its pages count as
    /// stopped.
    fn stop(&mut self, way: &mut Way, until: Nanos, stops: u32) {
        let stopped = until - way.at;
        way.throttled.stopped += stopped;
        way.throttled.stops += stops;
        way.at = until;
        self.behind += stopped;
        if let Some(epoch) = &mut self.epoch {
            epoch.stopped += stopped;
        }
    }

    /// Returns the throttle's epoch at a given time. The throttle has granted `had` pages of the
    /// write in progress, which are not yet programmed.
    #[inline]
    fn epoch_at(&mut self, at: Nanos, had: u64, life: &impl Life) -> Epoch {
        match self.epoch {
            Some(epoch) if at < epoch.ends => epoch,
            Some(epoch) => self.next_epoch(epoch, at, had, life),
            None => {
                let first = self.begin(Nanos::ZERO, false, None, had, life);
                if at < first.ends { first } else { self.next_epoch(first, at, had, life) }
            }
        }
    }

    #[cold]
    fn next_epoch(&mut self, mut epoch: Epoch, at: Nanos, had: u64, life: &impl Life) -> Epoch {
        while at >= epoch.ends {
            epoch = self.close(epoch, had, life);
            if at >= epoch.ends {
                // Nothing was written in the epochs that follow, so skip to the current one.
                epoch = self.close(epoch, had, life);
                let idle = at.0.saturating_sub(epoch.start.0) / self.length.0;
                if idle > 0 {
                    let start = epoch.start + self.length * idle;
                    let predicted = self.predicted_after(&epoch, idle);
                    epoch = self.begin(start, false, Some(predicted), had, life);
                    // The last epoch of a life may be shorter than the others.
                    let length = epoch.ends - start;
                    let expected = predicted * (length.0 as f64 / self.length.0 as f64);
                    self.delay.adjust(length, expected, self.capacity.capacity());
                }
            }
        }
        epoch
    }

    /// Returns the predicted demand after `idle` epochs without a write that follow `epoch`, and
    /// counts the epochs among them for which a demand was predicted as misses.
    fn predicted_after(&mut self, epoch: &Epoch, idle: u64) -> f64 {
        let predicted = epoch.predicted.unwrap_or(0.0);
        if predicted > 0.0 && self.params.smoothing < 1.0 {
            self.predicted.epochs += idle;
            self.misses = self.misses.saturating_add(u32::try_from(idle).unwrap_or(u32::MAX));
        }
        predicted * libm::pow(1.0 - self.params.smoothing, idle as f64)
    }

    /// Ends a throttle epoch: compares the write demand in that epoch with its prediction, and
    /// begins the next epoch.
    fn close(&mut self, epoch: Epoch, had: u64, life: &impl Life) -> Epoch {
        let taken = (life.taken() + had).saturating_sub(epoch.taken) as f64;
        let demand = taken + self.refused(&epoch);
        self.judge(epoch.predicted, demand);
        let overused = taken > self.capacity.capacity();
        if self.params.epoch == EpochRule::Auto
            && self.misses >= self.params.streak
            && let Some((windows, undistorted)) = self.demand.choose()
        {
            self.misses = 0;
            self.limit = MissLimit::default();
            self.chosen += 1;
            self.length = self.params.window * u64::from(windows);
            return self.begin_chosen(epoch.ends, overused, undistorted, had, life);
        }
        let earlier = epoch.predicted.unwrap_or(demand);
        let weight = self.params.smoothing;
        let predicted = weight * demand + (1.0 - weight) * earlier;
        let next = self.begin(epoch.ends, overused, Some(predicted), had, life);
        // The last epoch of a life may be shorter than its predecessor.
        let length = (next.ends - next.start).max(Span(1));
        let expected = predicted * (length.0 as f64 / (epoch.ends - epoch.start).0 as f64);
        self.delay.adjust(length, expected, self.capacity.capacity());
        next
    }

    /// Returns the number of pages by which the demand of the host in an epoch exceeded the pages
    /// it wrote, because the throttle stopped it: the time stopped, times the rate at which the
    /// host writes at the current delay. Without these, demand would never exceed capacity, and
    /// equation 4 of READY, a lifetime throttle that then raises the delay, would never apply. See
    /// docs/decisions/policy.md, "What is `w_i` in the throttle?".
    fn refused(&self, epoch: &Epoch) -> f64 {
        let undistorted = Span((epoch.ends - Nanos::ZERO).0.saturating_sub(self.behind.0));
        let rate = self.demand.rate(undistorted);
        epoch.stopped.0 as f64 * rate / (1.0 + rate * self.delay.delay())
    }

    /// Compares a prediction of write demand with the demand, by the difference ratio of READY's
    /// equation 6, and counts a miss.
    fn judge(&mut self, predicted: Option<f64>, demand: f64) {
        let Some(predicted) = predicted.filter(|&pages| pages > 0.0) else { return };
        let error = (demand - predicted).abs();
        let missed = error > self.limit.after(error / predicted, &self.params) * predicted;
        self.misses = if missed { self.misses.saturating_add(1) } else { 0 };
        self.predicted.epochs += 1;
        // The reported share has one limit, whatever the throttle acts by.
        self.predicted.right += u64::from(error <= self.params.miss * predicted);
    }

    fn begin(
        &mut self,
        start: Nanos,
        overused: bool,
        predicted: Option<f64>,
        had: u64,
        life: &impl Life,
    ) -> Epoch {
        let left = life.ends().max(start) - start;
        let length = self.length.min(left).max(Span(1));
        let taken = life.taken() + had;
        let remains = (life.left(start, self.healed) - had as f64).max(0.0);
        let mut epoch = Epoch {
            start,
            ends: start + length,
            taken,
            remains,
            after_overuse: overused,
            stopped: Span::ZERO,
            predicted,
        };
        self.share_out(&epoch, life);
        let capacity = self.capacity.capacity();
        if remains >= 1.0 && capacity < 1.0 {
            // In an epoch too short for one page, nothing would ever be written.
            self.stretch(&mut epoch, (1.0 + 1e-9) / capacity, life);
        }
        self.epoch = Some(epoch);
        epoch
    }

    /// Assigns an epoch of the throttle its capacity.
    fn share_out(&mut self, epoch: &Epoch, life: &impl Life) {
        let (length, time) = (epoch.ends - epoch.start, life.ends().max(epoch.ends) - epoch.start);
        let whole = (life.ends() - Nanos::ZERO).0.max(1);
        let even = (epoch.remains + epoch.taken as f64) / whole as f64;
        let rest = Rest { pages: epoch.remains, time, even };
        self.capacity.begin(length, rest, epoch.after_overuse);
    }

    /// Extends a throttle epoch, but not beyond the end of the drive's life, and recomputes the
    /// epoch's write capacity.
    fn stretch(&mut self, epoch: &mut Epoch, factor: f64, life: &impl Life) {
        let (length, left) = (epoch.ends - epoch.start, life.ends().max(epoch.ends) - epoch.start);
        let longer = length.0 as f64 * stretched(factor, length, left);
        epoch.ends = epoch.start + Span(longer as u64).min(left);
        self.share_out(epoch, life);
    }

    /// Begins the first epoch of a new length: recomputes the delay of page writes, and extends the
    /// epoch by the factor by which these delays will stretch the demand (READY, section 3.5).
    fn begin_chosen(
        &mut self,
        start: Nanos,
        overused: bool,
        undistorted: f64,
        had: u64,
        life: &impl Life,
    ) -> Epoch {
        let mut epoch = self.begin(start, overused, Some(undistorted), had, life);
        let (length, capacity) = (epoch.ends - start, self.capacity.capacity());
        self.delay.restart(length, undistorted, capacity);
        if undistorted > capacity && capacity > 0.0 {
            self.stretch(&mut epoch, undistorted / capacity, life);
            self.length = epoch.ends - start;
            self.epoch = Some(epoch);
        }
        epoch
    }
}

/// Returns the factor by which a throttle epoch is extended: never beyond the end of the drive's
/// life.
pub(super) fn stretched(wanted: f64, length: Span, left: Span) -> f64 {
    wanted.min(left.0 as f64 / length.0 as f64).max(1.0)
}

/// A write while the throttle delays it, page by page.
struct Way {
    at: Nanos,
    /// Number of pages of the write that the throttle has granted so far.
    had: u64,
    throttled: Throttled,
    /// Time that the write has already waited, in an earlier throttle epoch, for the delay of the
    /// next page, in nanoseconds.
    waited: f64,
}
