//! The record of a process: statistics without the ramp, samples of rates, and logs.

use super::log::Logbook;
use super::pace::Pace;
use super::plan::{Plan, RequestKind};
use super::stats::{Depths, Samples, Stats, Times};
use super::unit::Unit;
use fowler_units::{Nanos, Span};

/// The measurements of one process of a job: requests, bytes and times, as fio reports them.
pub(super) struct Record {
    began: Nanos,
    /// Time from which on the process's requests are included in its statistics: the end of its
    /// ramp, or the latest restart of its measurement.
    from: Nanos,
    ramp_passed: bool,
    /// Time at which the process ended; `None` before.
    pub ended: Option<Nanos>,
    /// Statistics of the process's requests after the ramp.
    pub stats: Stats,
    samples: [Samples; 2],
    logs: Logbook,
    /// Bytes of all requests collected, those of the ramp included.
    moved: u64,
    /// Number of requests and flushes collected, those of the ramp included.
    pub collected: u64,
    /// Queue depth of the process when it ended.
    pub depth: u32,
    /// True if a request took longer than `max_latency`.
    pub too_slow: bool,
    /// True if the process's rate fell below `rate_min` or `rate_iops_min`.
    pub below_least: bool,
}

impl Record {
    /// Returns the record of a process that has not issued any request.
    pub fn new(plan: &Plan, logs: Logbook) -> Record {
        let samples = plan.recorded.windows.map(|width| Samples::new(width, Nanos::ZERO));
        Record {
            began: Nanos::ZERO,
            from: Nanos::ZERO,
            ramp_passed: false,
            ended: None,
            stats: Stats::default(),
            samples,
            logs,
            moved: 0,
            collected: 0,
            depth: plan.depth,
            too_slow: false,
            below_least: false,
        }
    }

    /// Records that the process started at `at`.
    pub fn begin(&mut self, at: Nanos, plan: &Plan) {
        self.began = at;
        self.ramp_passed = plan.ramp == Span::ZERO;
        self.from = at + plan.ramp;
        self.restart(self.from);
        self.logs.begin(plan, at, self.from);
    }

    fn restart(&mut self, from: Nanos) {
        self.stats = Stats::default();
        self.samples.iter_mut().for_each(|samples| samples.restart(from));
    }

    /// Restarts the measurement of the process at `now`: requests, bytes and latencies before `now`
    /// no longer count.
    pub fn begin_anew(&mut self, now: Nanos) {
        self.from = now;
        self.restart(now);
        self.logs.count_from(now);
    }

    /// Ends the ramp if its time is over; rates restart then.
    #[inline]
    pub fn pass_ramp(&mut self, now: Nanos, plan: &Plan, pace: &mut Pace) {
        if !self.ramp_passed && now >= self.from {
            self.ramp_passed = true;
            self.restart(self.from);
            *pace = Pace::new(plan, self.from);
        }
    }

    /// Returns the simulated time at which the fio process started.
    pub fn began(&self) -> Nanos {
        self.began
    }

    /// Returns the time from which on the process's requests are included in its statistics: the
    /// end of its ramp, or the latest restart of its measurement.
    pub fn from(&self) -> Nanos {
        self.from
    }

    /// Returns the number of bytes moved by the process, those of the ramp included.
    pub fn moved(&self) -> u64 {
        self.moved
    }

    /// Counts queue depths or batch sizes of the process.
    #[inline]
    pub fn depths(&mut self, count: impl FnOnce(&mut Depths)) {
        count(&mut self.stats.depths);
    }

    /// Writes a request into the log of requests when it is queued, the order of fio's iolog.
    #[inline]
    pub fn queued(&mut self, unit: &Unit) {
        self.logs.request(unit);
    }

    /// Adds a request that the fio process has collected to the statistics of that process.
    pub fn add(&mut self, plan: &Plan, unit: &Unit, times: &Times) {
        self.collected += 1;
        self.moved += u64::from(unit.op.length);
        if !self.ramp_passed {
            return;
        }
        if plan.recorded.rates {
            self.sample(times.collected, false);
        }
        // Windows end before the request that is collected at their end.
        self.logs.rates(times.collected, &self.stats);
        match unit.op.what {
            RequestKind::Data(direction) => {
                self.stats.record(direction, unit.op.length, times, &plan.recorded);
                self.logs.latencies(direction, unit, times);
            }
            RequestKind::Sync | RequestKind::DataSync => self.stats.record_sync(times),
        }
    }

    /// Samples the bandwidth and the requests per second of a fio process for each sampling window
    /// that has ended by `now`; with `last`, also for the window that has not ended.
    fn sample(&mut self, now: Nanos, last: bool) {
        let Record { samples, stats, .. } = self;
        let (mut bandwidth, mut iops) = (Vec::new(), Vec::new());
        let [of_bandwidth, of_iops] = samples;
        if last {
            // fio drops a window that has not ended, unless it is all there is.
            if stats.done.values().all(|done| done.bandwidth.count == 0) {
                of_bandwidth.end(now, stats, &mut |window| bandwidth.push(window));
                of_iops.end(now, stats, &mut |window| iops.push(window));
            }
        } else {
            of_bandwidth.until(now, stats, &mut |window| bandwidth.push(window));
            of_iops.until(now, stats, &mut |window| iops.push(window));
        }
        for window in bandwidth {
            stats.done[window.direction].bandwidth.record(window.bytes_per_s / 1024);
        }
        for window in iops {
            stats.done[window.direction].iops.record(window.iops);
        }
    }

    /// Records the end of the process, which had reached queue depth `depth`.
    pub fn end(&mut self, now: Nanos, plan: &Plan, depth: u32) {
        if now < self.began {
            // The process was to begin later, after its start delay.
            self.began = now;
            self.begin_anew(now);
        }
        self.depth = depth;
        self.ended = Some(now);
        let counts = self.ramp_passed || now >= self.from;
        if counts {
            if plan.recorded.rates {
                self.sample(now, false);
                self.sample(now, true);
            }
            self.stats.ran = Span(now.0.saturating_sub(self.from.0));
            self.stats.ran_in_all_ms = self.stats.ran.0 / 1_000_000;
        } else {
            self.stats = Stats::default();
        }
        self.logs.end(now, plan, &self.stats);
    }
}
