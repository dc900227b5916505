//! The event loop: advances time from event to event until the workload ends and every request is
//! completed. It drives the flash and a translation layer on top of it ([`Layer`]); the page-mapped
//! controller is one.
//!
//! 1. Requests are issued, as many as the pacing allows, and come over the link
//!    ([`Device::issue`]).
//! 2. Events are processed up to the time at which the next request can enter, or until a request
//!    completes ([`Device::run_until`]). After everything that ends or enters at one nanosecond,
//!    the dies decide (S15).
//! 3. A request that the throttle delays waits outside, and all later ones with it
//!    ([`Device::is_throttled`]).
//! 4. The request enters: the layer admits it ([`Device::enter`]).
//! 5. Completed requests are reported to the probe, with their blame
//!    ([`Device::report_completions`]); the next round begins.
//!
//! The probe also receives the steps of flash operations, before the completion that follows them,
//! and the drive itself at the times that the probe asks for.
//!
//! - `controller.rs`: the page-mapped controller, which calls the components when a transaction
//!   ends. `layer.rs`: the interface of a translation layer.
//! - `lookahead.rs`: draws requests early, so that the simulator's own memory is in its cache when
//!   their turn comes. Invisible to the drive.
//! - `host_feed.rs`: a host of several streams, whose requests depend on completions.
//! - `probe.rs`: the interface for observing a run. `check.rs`: all laws, checkable at any event.
//! - `faults.rs`, `power_loss.rs`: failures from outside. `fault_schedule.rs`, `fault_strikes.rs`:
//!   failures at times known in advance. `census.rs`: the pages lost to failures and to the cells.
//!   `write_out.rs`: the end of a run.

mod census;
mod check;
pub mod controller;
mod failed_dies;
pub mod fault_schedule;
mod fault_strikes;
mod faults;
mod faulty;
pub mod host_feed;
mod layer;
mod lookahead;
pub mod power_loss;
pub mod power_offs;
pub mod probe;
mod write_out;
#[cfg(test)]
mod zoned_tests;

use crate::blocks::bad_blocks::BadBlockCounts;
use crate::config::Config;
use crate::config::layout::{Layout, Refusal};
use crate::core::Core;
use crate::event::Event;
use crate::flash::Flash;
use crate::flash::flash_trace::Steps;
use crate::gc::Gc;
use crate::gc::scrub::ScrubProgress;
use crate::host::endurance::Totals;
use crate::observe::counters::Counters;
use crate::observe::ledger::Ledger;
use crate::policy::throttle::State;
use crate::precondition::image::PreconditionedImage;
use crate::precondition::{Preconditioned, UNWATCHED, Watch};
use crate::raid::{Protection, Raid};
use controller::Controller;
pub use faulty::Faulty;
use fowler_agenda::Phase;
use fowler_units::{ChannelId, DieId, HostIo, HostOp, Id, Nanos, ReqId, Span};
pub use layer::Layer;
use lookahead::Lookahead;
use probe::Probe;
use std::collections::VecDeque;

/// Number of steps of flash operations that are collected before they are reported to the probe.
const STEPS: usize = 4096;

/// Rule by which the host issues requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Requests are issued at their arrival times, whatever the drive does.
    Open,
    /// Each request is issued as soon as fewer than `depth` are outstanding (a closed loop).
    /// Arrival times are ignored, and latency counts from the time of issue.
    Closed {
        /// Number of requests outstanding at once.
        depth: u32,
    },
}

/// A simulated drive. A clone continues independently of the original.
#[derive(Clone, Debug)]
pub struct Device<L = Controller> {
    pub(crate) flash: Flash,
    pub(crate) layer: L,
    /// Requests that were issued and have not entered the drive yet, in order.
    arrivals: VecDeque<Arrival>,
    /// Number of host requests that have entered the drive.
    pub(crate) entered: u64,
    /// Number of host requests that have been completed.
    pub(crate) answered: u64,
    /// Time since which no request has been in the drive.
    idle_since: Nanos,
    /// Time at which the first request was issued; `None` before that.
    began: Option<Nanos>,
    started: Nanos,
    last_issue: Nanos,
    /// Time by which the host lags behind its own arrival times, because a delayed write delays all
    /// later requests.
    behind: Span,
}

/// A request about to enter the drive: on the link, or waiting for a slot.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    io: HostIo,
    ready: Nanos,
    /// Earliest time of entry: the request has come over the link and is no longer delayed.
    enters: Nanos,
    /// Delay of the request by the throttle; `None` until the throttle has decided.
    delay: Option<Span>,
}

impl Device {
    /// Creates a preconditioned drive at time zero.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    pub fn new(config: &Config) -> Result<Device, Vec<Refusal>> {
        let device = Device::watched(config, UNWATCHED)?;
        Ok(device.expect("an unwatched run is never stopped"))
    }

    /// Creates a preconditioned drive at time zero, and reports the progress of preconditioning to
    /// `watch`; `None` if `watch` stopped it.
    ///
    /// # Errors
    /// Like [`Device::new`].
    pub fn watched(config: &Config, watch: Watch<'_>) -> Result<Option<Device>, Vec<Refusal>> {
        let layout = config.layout()?;
        let (mut core, mut gc) = (Core::new(config, &layout), Gc::new(config, &layout));
        let done = crate::precondition::run(config, &mut core, &mut gc, watch);
        if config.policies.placement.is_some() {
            core.allocator.place_by(config);
        }
        Ok(done.and_then(|preconditioned| Device::begin(config, core, gc, preconditioned, watch)))
    }

    /// Creates a drive at time zero whose data is placed as in `core`; `None` if `watch` stopped
    /// it.
    pub(crate) fn begin(
        config: &Config,
        core: Core,
        gc: Gc,
        preconditioned: Preconditioned,
        watch: Watch<'_>,
    ) -> Option<Device> {
        let layout = core.layout;
        let mut flash = Flash::new(config, layout.geometry, layout.transactions);
        let layer = Controller::begin(config, core, gc, preconditioned, &mut flash, watch);
        (!watch.stopped()).then(|| Device::on(flash, layer))
    }

    /// Returns facts about the drive's state before the first request, such as how it was
    /// preconditioned.
    pub fn preconditioned(&self) -> &Preconditioned {
        &self.layer.preconditioned
    }

    /// Returns the erase count of each block, preconditioning included.
    pub fn erase_counts(&self) -> &[u32] {
        self.layer.ftl.core.allocator.blocks.erase_counts()
    }

    /// Returns the state of the throttle, and the endurance left to the drive; `None` without a
    /// throttle.
    pub fn life(&self) -> Option<(State, Totals)> {
        let blocks = &self.layer.ftl.core.allocator.blocks;
        self.layer.throttle.as_ref().map(|throttle| throttle.state(blocks, self.now()))
    }

    /// Resets the counts of block failures: failures during a warm-up are no result.
    pub fn count_failures_anew(&mut self) {
        self.layer.ftl.core.allocator.count_failures_anew();
    }

    /// Returns the counts of blocks that failed; `None` if blocks cannot fail.
    pub fn bad_blocks(&self) -> Option<BadBlockCounts> {
        self.layer.ftl.core.allocator.bad_blocks()
    }

    /// Returns the progress of scrubbing; `None` on a drive without it.
    pub fn scrub(&self) -> Option<ScrubProgress> {
        self.layer.ftl.gc.scrub.as_ref().map(|scrub| scrub.progress())
    }

    /// Returns the state of the data's protection by parity; `None` on a drive without stripes.
    pub fn protection(&self) -> Option<Protection> {
        self.layer.raid().map(Raid::report)
    }
}

impl PreconditionedImage {
    /// Returns the drive of `config` with the data of this image, at time zero: the same result as
    /// [`Device::new`], but faster.
    ///
    /// # Errors
    /// Like [`Device::new`].
    ///
    /// # Panics
    /// If `config` differs in an option that affects preconditioning.
    pub fn device(&self, config: &Config) -> Result<Device, Vec<Refusal>> {
        let device = self.device_watched(config, UNWATCHED)?;
        Ok(device.expect("nobody stops it"))
    }

    /// Returns the drive of `config` with the data of this image, at time zero, and reports
    /// progress to `watch`; `None` if `watch` stopped it. A drive that measures its blocks before
    /// the run takes a second.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    ///
    /// # Panics
    /// If `config` differs in an option that affects preconditioning.
    pub fn device_watched(
        &self,
        config: &Config,
        watch: Watch<'_>,
    ) -> Result<Option<Device>, Vec<Refusal>> {
        let (core, gc) = self.data_for(config)?;
        Ok(Device::begin(config, core, gc, *self.preconditioned(), watch))
    }

    /// Converts the image into the drive that it was made for, without copying data; `None` if
    /// `watch` stopped it.
    pub fn into_device(self, watch: Watch<'_>) -> Option<Device> {
        let (config, core, gc, preconditioned) = self.into_data();
        Device::begin(&config, core, gc, preconditioned, watch)
    }
}

impl<L: Layer> Device<L> {
    /// Creates a drive on the given flash array and translation layer, at time zero.
    pub(crate) fn on(flash: Flash, layer: L) -> Self {
        Self {
            flash,
            layer,
            arrivals: VecDeque::with_capacity(1),
            entered: 0,
            answered: 0,
            idle_since: Nanos::ZERO,
            began: None,
            started: Nanos::ZERO,
            last_issue: Nanos::ZERO,
            behind: Span::ZERO,
        }
    }

    /// Returns the counters of the drive so far.
    pub fn counters(&self) -> Counters {
        let busy = |span: Span, die: &crate::flash::die::Die| {
            span + die.account.read_at(self.now()).busy()
        };
        let idle = if self.layer.front().requests.open_count() == 0 {
            self.now() - self.idle_since.max(self.began())
        } else {
            Span::ZERO
        };
        Counters {
            channel_busy: self.flash.channel_busy(),
            die_busy: self.flash.dies().as_slice().iter().fold(Span::ZERO, busy),
            idle: self.flash.counters.idle + idle,
            outstanding: self.flash.counters.outstanding
                + self.layer.front().requests.time_in_flight(self.now()),
            ..self.flash.counters
        }
    }

    /// Returns the sizes of the drive.
    pub fn layout(&self) -> &Layout {
        self.layer.layout()
    }

    /// Returns the current simulated time.
    pub fn now(&self) -> Nanos {
        self.flash.now()
    }

    /// Returns the time at which the first request was issued, or the current time before that.
    /// Rates and shares of time count from here: a trace need not begin at zero. See
    /// docs/decisions/device.md, "Where does time begin?".
    pub fn began(&self) -> Nanos {
        self.began.unwrap_or(self.now())
    }

    /// Makes the next request the first of the run: [`Device::began`] becomes the time at which
    /// that request is issued, and [`Probe::begun`] is called for it. The counters keep their
    /// values.
    ///
    /// # Panics
    /// If a request is in the drive.
    pub fn begin_again(&mut self) {
        assert_eq!(self.layer.front().requests.open_count(), 0, "a request is in the drive");
        self.began = None;
    }

    /// Returns a die's time by activity up to `at`, which lies between the last event and the next.
    ///
    /// # Panics
    /// If the drive has no such die.
    pub fn die_times(&self, die: DieId, at: Nanos) -> Ledger {
        self.flash.dies().as_slice()[die.index()].account.read_at(at)
    }

    /// Returns the transfer time of a channel up to `at`, which lies between the last event and the
    /// next.
    ///
    /// # Panics
    /// If the drive has no such channel.
    pub fn channel_time(&self, channel: ChannelId, at: Nanos) -> Span {
        self.flash.channel(channel).carried_until(at)
    }

    /// Serves every request of `source`, in order, until all are done. May be called again; time
    /// continues.
    ///
    /// Up to eight requests are drawn before their turn: a source must not depend on the drive or
    /// the probe.
    ///
    /// # Panics
    /// If a request lies beyond the drive, has no length, or arrives before its predecessor.
    pub fn run<P: Probe<L>>(
        &mut self,
        source: impl IntoIterator<Item = HostIo>,
        pacing: Pacing,
        probe: &mut P,
    ) {
        self.run_watched(source, pacing, probe, |_| {});
    }

    /// Serves every request of `source`, in order, until all are done, like [`Device::run`], and
    /// calls `watch` with the drive after every event.
    pub fn run_watched<P: Probe<L>>(
        &mut self,
        source: impl IntoIterator<Item = HostIo>,
        pacing: Pacing,
        probe: &mut P,
        mut watch: impl FnMut(&Self),
    ) {
        self.run_with_faults(source, pacing, probe, |device| watch(device));
    }

    /// Serves every request of `source`, in order, until all are done, like [`Device::run`], and
    /// calls `fault` with the drive after every event, to inject faults.
    pub fn run_with_faults<P: Probe<L>>(
        &mut self,
        source: impl IntoIterator<Item = HostIo>,
        pacing: Pacing,
        probe: &mut P,
        mut fault: impl FnMut(&mut Self),
    ) {
        let mut source = Lookahead::of(source.into_iter());
        (self.started, self.behind) = (self.now(), Span::ZERO);
        self.flash.watch(probe.watches_flash());
        let mut exhausted = false;
        loop {
            while !exhausted && self.may_issue(pacing) {
                exhausted = !self.issue_next(&mut source, pacing);
            }
            let served = exhausted
                && self.arrivals.is_empty()
                && self.layer.front().requests.open_count() == 0;
            if served && !self.flash.has_marked() {
                break;
            }
            // When all requests are served, nothing else enters at this nanosecond: the dies make
            // their decisions, and the run ends.
            let entry = match served {
                true => Some(self.now() + Span::ns(1)),
                false => self.arrivals.front().and_then(|arrival| self.entry(arrival)),
            };
            if self.run_until(entry.unwrap_or(Nanos::NEVER), probe, &mut fault) {
                continue;
            }
            let Some(at) = entry.filter(|_| !served) else { break };
            if self.is_throttled(at, pacing) {
                continue;
            }
            let arrival = self.arrivals.pop_front().expect("an arrival with an entry time");
            self.report_samples(at, probe);
            if self.began.is_none() {
                self.first_enters(arrival.io.at, at, probe);
            }
            self.enter(arrival, at);
            fault(self);
            if !self.layer.front().completed.is_empty() {
                self.report_completions(probe);
            }
        }
        self.report_steps(probe);
        assert_eq!(self.layer.front().requests.open_count(), 0, "a request was never answered");
    }

    /// Processes events up to `entry`, the time at which the next request enters, stopping when a
    /// request completes, because then another may be issued or find a slot. Returns true if a
    /// request completed.
    #[inline(always)]
    fn run_until<P: Probe<L>>(
        &mut self,
        entry: Nanos,
        probe: &mut P,
        fault: &mut impl FnMut(&mut Self),
    ) -> bool {
        loop {
            if self.dies_decide_before(entry) {
                self.flash.settle(&mut self.layer);
            } else if self.flash.agenda.is_due_before(entry, Phase::Arrival) {
                self.report_samples(self.next_event(), probe);
                self.event();
            } else {
                return false;
            }
            fault(self);
            self.report_steps_if_many(probe);
            if !self.layer.front().completed.is_empty() {
                self.report_completions(probe);
                return true;
            }
        }
    }

    /// Returns true if the dies decide before anything else happens: everything that ends or enters
    /// at this nanosecond has done so (S15).
    #[inline]
    fn dies_decide_before(&self, entry: Nanos) -> bool {
        let now = self.now();
        self.flash.has_marked()
            && !self.flash.agenda.is_due_before(now, Phase::Decision)
            && entry > now
    }

    /// Returns true if the pacing allows another request to be issued now.
    #[inline]
    fn may_issue(&self, pacing: Pacing) -> bool {
        match pacing {
            Pacing::Open => self.arrivals.is_empty(),
            Pacing::Closed { depth } => {
                self.layer.front().requests.open_count() + self.arrivals.len() < depth as usize
            }
        }
    }

    /// Issues the next request of the source. Returns true if there was one.
    #[inline]
    fn issue_next(
        &mut self,
        source: &mut Lookahead<impl Iterator<Item = HostIo>>,
        pacing: Pacing,
    ) -> bool {
        let Some(mut io) = source.next(&self.layer, &self.flash) else { return false };
        match pacing {
            // A second run begins where the first ended.
            Pacing::Open => io.at = io.at + (self.started - Nanos::ZERO) + self.behind,
            Pacing::Closed { .. } => io.at = self.now(),
        }
        self.issue(io);
        true
    }

    /// Issues a request at its arrival time: the request comes over the link, then waits to enter.
    #[inline(always)]
    fn issue(&mut self, io: HostIo) {
        assert!(io.at >= self.last_issue, "requests must come in order of arrival: {io:?}");
        self.last_issue = io.at;
        let ready = self.layer.front_mut().link.receive(&io, io.at);
        let delay =
            (!self.layer.may_delay_writes() || io.op != HostOp::Write).then_some(Span::ZERO);
        self.arrivals.push_back(Arrival { io, ready, enters: ready, delay });
    }

    /// Returns the time at which an issued request can enter: after it has come over the link, and
    /// once there is a slot; `None` if there is none yet.
    #[inline]
    fn entry(&self, arrival: &Arrival) -> Option<Nanos> {
        self.layer.front().requests.has_room().then(|| arrival.enters.max(self.now()))
    }

    /// Returns true if the throttle delays the next request, which could enter at `at`. Decided
    /// once per request. See docs/decisions/host.md, "What does a throttled write delay?".
    #[inline]
    fn is_throttled(&mut self, at: Nanos, pacing: Pacing) -> bool {
        let Some(arrival) = self.arrivals.front_mut().filter(|front| front.delay.is_none()) else {
            return false;
        };
        let delay = self.layer.delay(&mut self.flash, &arrival.io, at).total();
        (arrival.delay, arrival.enters) = (Some(delay), at + delay);
        if pacing == Pacing::Open {
            self.behind += delay;
        }
        delay > Span::ZERO
    }

    /// Reports to the probe that the first request, issued at `issued`, enters now.
    #[cold]
    fn first_enters<P: Probe<L>>(&mut self, issued: Nanos, at: Nanos, probe: &mut P) {
        self.flash.agenda.advance(at);
        self.began = Some(issued);
        probe.begun(self);
    }

    #[inline]
    fn enter(&mut self, arrival: Arrival, at: Nanos) {
        self.flash.agenda.advance(at);
        let issued = arrival.io.at;
        let idle_since = self.idle_since.max(self.began());
        if self.layer.front().requests.open_count() == 0 {
            // A request on the link counts as work.
            self.flash.counters.idle += issued.max(idle_since) - idle_since;
        }
        self.entered += 1;
        let delay = arrival.delay.unwrap_or_default();
        self.layer.admit(&mut self.flash, arrival.io, arrival.ready, delay);
    }

    #[inline]
    pub(crate) fn event(&mut self) {
        let Some((ticket, event)) = self.flash.agenda.pop() else { return };
        match event {
            Event::Die(die) => self.flash.die_event(die, ticket, &mut self.layer),
            Event::Idle(die) => self.layer.idle_event(&mut self.flash, die),
            Event::Reconsider(die) => self.flash.reconsider(die),
            Event::Answered(request) => self.layer.front_mut().completed.push(request),
            Event::Deadline => self.layer.deadline_event(&mut self.flash),
            Event::Fault => self.layer.fault_event(&mut self.flash),
            Event::Paced => self.layer.paced_event(&mut self.flash),
        }
    }

    /// Returns the time of the next event in the agenda.
    #[inline]
    pub(crate) fn next_event(&self) -> Nanos {
        self.flash.agenda.next_due().map_or(Nanos::NEVER, |(at, _)| at)
    }

    /// Reports steps of flash operations to the probe if many have been collected; between two
    /// completions there may be any number.
    #[inline]
    pub(crate) fn report_steps_if_many<P: Probe<L>>(&mut self, probe: &mut P) {
        // If the probe does not watch, the compiler removes this.
        if probe.watches_flash() > Steps::None
            && self.flash.trace().is_some_and(|steps| steps.len() >= STEPS)
        {
            self.report_steps(probe);
        }
    }

    /// Reports the steps of flash operations since the last call to the probe, if it watches them.
    #[inline]
    pub(crate) fn report_steps<P: Probe<L>>(&mut self, probe: &mut P) {
        if let Some(steps) = self.flash.trace() {
            probe.stepped(steps);
            steps.clear();
        }
    }

    /// Reports the drive to the probe at each time that the probe asks for before `next`, the time
    /// of the next event.
    /// See docs/decisions/observe.md, "When does a probe see the drive?".
    #[inline]
    pub(crate) fn report_samples<P: Probe<L>>(&self, next: Nanos, probe: &mut P) {
        while probe.due() < next {
            probe.sampled(self);
        }
    }

    #[inline]
    fn count_overtaking(&mut self, request: ReqId) {
        let host_request = self.layer.front().requests.get(request);
        if host_request.overtook {
            let all = &mut self.flash.counters.prioritized;
            let writes = host_request.io.op == HostOp::Write;
            *if writes { &mut all.writes } else { &mut all.reads } += 1;
        }
    }

    /// Reports completed requests to the probe.
    #[inline(never)]
    fn report_completions<P: Probe<L>>(&mut self, probe: &mut P) {
        let now = self.now();
        self.answered += self.layer.front().completed.len() as u64;
        self.report_steps(probe);
        let mut next = 0;
        while let Some(&request) = self.layer.front().completed.get(next) {
            next += 1;
            self.count_overtaking(request);
            let completion = self.layer.front_mut().requests.completion(request, now);
            // The integral of the requests in flight over time is the sum of their latencies.
            self.flash.counters.outstanding += u128::from(completion.latency().0);
            debug_assert_eq!(completion.blame.total(), completion.latency(), "{completion:?}");
            probe.completed(completion);
            self.layer.front_mut().requests.close(request);
        }
        self.layer.front_mut().completed.clear();
        if self.layer.front().requests.open_count() == 0 {
            self.idle_since = self.now();
        }
    }
}
