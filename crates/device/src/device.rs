//! The loop: what happens next, in the order of time, until the workload ends and everything in flight
//! is done.

use crate::config::Config;
use crate::config::layout::{Layout, Refusal};
use crate::event::Event;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::host::life::Totals;
use crate::host::lookahead::Lookahead;
use crate::host::write_throttle::WriteThrottle;
use crate::observe::counters::Counters;
use crate::observe::ledger::Ledger;
use crate::observe::probe::Probe;
use crate::policy::throttle::State;
use crate::precondition::Preconditioned;
use fowler_agenda::Phase;
use fowler_units::{ChannelId, DieId, HostIo, HostOp, Nanos, ReqId, Span};
use std::collections::VecDeque;

/// Steps of flash operations that are kept before whoever watches hears of them.
const STEPS: usize = 4096;

/// How requests are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// At their times of arrival, whatever the drive does.
    Open,
    /// Each as soon as fewer than `depth` are outstanding; their times of arrival are ignored, and
    /// latency counts from the moment of issue.
    Closed {
        /// Requests outstanding at once.
        depth: u32,
    },
}

/// A simulated drive. Cloning it branches its whole future.
#[derive(Clone, Debug)]
pub struct Device {
    pub(crate) flash: Flash,
    pub(crate) ftl: Ftl,
    pub(crate) preconditioned: Preconditioned,
    /// Requests that were issued and have not come in, in order.
    arrivals: VecDeque<Arrival>,
    /// Requests that came in, and those that were answered.
    pub(crate) entered: u64,
    pub(crate) answered: u64,
    /// Since when no request has been in the device.
    idle_since: Nanos,
    /// Up to when the requests in the device are integrated over time.
    integrated: Nanos,
    /// When the first request was issued.
    began: Option<Nanos>,
    started: Nanos,
    last_issue: Nanos,
    /// By how much the host is behind its own times since then: a write that is held holds those behind it.
    behind: Span,
}

/// A request on its way in: on the link, or outside for want of a place.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    io: HostIo,
    ready: Nanos,
    /// When it may enter: it is ready, and no longer held.
    enters: Nanos,
    /// How long it is held; none, before that was asked.
    held: Option<Span>,
}

impl Device {
    /// A drive, preconditioned, at time zero.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    pub fn new(config: &Config) -> Result<Device, Vec<Refusal>> {
        let layout = config.layout()?;
        let mut ftl = Ftl::new(config, &layout);
        let preconditioned = ftl.precondition(&config.precondition, config.seed);
        Ok(Device::begin(config, &layout, ftl, preconditioned))
    }

    /// A drive at time zero whose data lie as `ftl` has them.
    pub(crate) fn begin(
        config: &Config,
        layout: &Layout,
        ftl: Ftl,
        preconditioned: Preconditioned,
    ) -> Device {
        let flash = Flash::new(config, layout.geometry, layout.transactions);
        let mut device = Device {
            flash,
            ftl,
            preconditioned,
            arrivals: VecDeque::with_capacity(1),
            entered: 0,
            answered: 0,
            idle_since: Nanos::ZERO,
            integrated: Nanos::ZERO,
            began: None,
            started: Nanos::ZERO,
            last_issue: Nanos::ZERO,
            behind: Span::ZERO,
        };
        device.ftl.begin_array();
        device.ftl.holder = WriteThrottle::of(config, &device.ftl.space.blocks);
        device.ftl.wear(&mut device.flash, config);
        device.ftl.begin_recycling(&mut device.flash, config);
        device.ftl.maybe_start_all(&mut device.flash);
        device.flash.settle(&mut device.ftl);
        device
    }

    /// The sizes of the drive.
    pub fn layout(&self) -> &Layout {
        &self.ftl.layout
    }

    /// What the drive had been through before the first request.
    pub fn preconditioned(&self) -> &Preconditioned {
        &self.preconditioned
    }

    /// What was counted so far.
    pub fn counters(&self) -> Counters {
        let busy =
            |span: Span, die: &crate::flash::die::Die| span + die.account.read(self.now()).busy();
        let idle = if self.ftl.requests.open_count() == 0 {
            self.now() - self.idle_since.max(self.began())
        } else {
            Span::ZERO
        };
        Counters {
            channel_busy: self.flash.channel_busy(),
            die_busy: self.flash.dies().as_slice().iter().fold(Span::ZERO, busy),
            idle: self.flash.counters.idle + idle,
            outstanding: self.outstanding(self.ftl.requests.open_count()),
            ..self.flash.counters
        }
    }

    /// The integral of the requests in flight, of which there have been `open` since it was brought up to
    /// date, as it stands now.
    #[inline]
    fn outstanding(&self, open: usize) -> u128 {
        let span = self.now() - self.integrated;
        self.flash.counters.outstanding + open as u128 * u128::from(span.0)
    }

    /// Brings the integral up to date. Called where the number is about to change, or has just done so, and
    /// was `open` before.
    #[inline]
    fn integrate(&mut self, open: usize) {
        self.flash.counters.outstanding = self.outstanding(open);
        self.integrated = self.now();
    }

    /// The present.
    pub fn now(&self) -> Nanos {
        self.flash.now()
    }

    /// When the first request was issued; the present, before there was one. Rates and shares of time
    /// count from here: a trace need not begin at zero.
    pub fn began(&self) -> Nanos {
        self.began.unwrap_or(self.now())
    }

    /// What a die has spent its time on up to `at`, which lies between the last event and the next.
    pub fn die_times(&self, die: DieId, at: Nanos) -> Ledger {
        self.flash.die(die).account.read(at)
    }

    /// Time up to `at`, which lies between the last event and the next, that a channel spent transferring.
    pub fn channel_time(&self, channel: ChannelId, at: Nanos) -> Span {
        self.flash.channel(channel).carried_until(at)
    }

    /// How often each block has been erased, preconditioning included.
    pub fn erase_counts(&self) -> &[u32] {
        self.ftl.space.blocks.erase_counts()
    }

    /// What the throttle has come to and what of its life the drive has left; none without a throttle.
    pub fn life(&self) -> Option<(State, Totals)> {
        let blocks = &self.ftl.space.blocks;
        self.ftl.holder.as_ref().map(|holder| holder.state(blocks, self.now()))
    }

    /// Serves every request of `source`, in order, until all are done. May be called again; time goes on.
    ///
    /// Up to eight requests are drawn before their turn: a source must not depend on the drive or the probe.
    ///
    /// # Panics
    /// If a request lies beyond the drive or has no length, or arrives before the one before it.
    pub fn run<P: Probe>(
        &mut self,
        source: impl IntoIterator<Item = HostIo>,
        pacing: Pacing,
        probe: &mut P,
    ) {
        self.run_watched(source, pacing, probe, |_| {});
    }

    /// As [`Device::run`], and shows the device to `watch` after every event.
    pub fn run_watched<P: Probe>(
        &mut self,
        source: impl IntoIterator<Item = HostIo>,
        pacing: Pacing,
        probe: &mut P,
        mut watch: impl FnMut(&Device),
    ) {
        self.run_with_faults(source, pacing, probe, |device| watch(device));
    }

    /// As [`Device::run`], and hands the device to `fault` after every event, to let something fail.
    pub fn run_with_faults<P: Probe>(
        &mut self,
        source: impl IntoIterator<Item = HostIo>,
        pacing: Pacing,
        probe: &mut P,
        mut fault: impl FnMut(&mut Device),
    ) {
        let mut source = Lookahead::of(source.into_iter());
        (self.started, self.behind) = (self.now(), Span::ZERO);
        self.flash.watch(probe.watches_flash());
        let mut exhausted = false;
        loop {
            while !exhausted && self.may_pull(pacing) {
                exhausted = !self.pull(&mut source, pacing);
            }
            if exhausted && self.arrivals.is_empty() && self.ftl.requests.open_count() == 0 {
                break;
            }
            let entry = self.arrivals.front().and_then(|arrival| self.entry(arrival));
            if self.served_before(entry.unwrap_or(Nanos::NEVER), probe, &mut fault) {
                continue;
            }
            let Some(at) = entry else { break };
            if self.keeps_out(at, pacing) {
                continue;
            }
            let arrival = self.arrivals.pop_front().expect("its entry was asked");
            self.show(at, probe);
            if self.began.is_none() {
                self.first_enters(arrival.io.at, at, probe);
            }
            self.enter(arrival, at);
            self.flash.settle(&mut self.ftl);
            fault(self);
            if !self.ftl.completed.is_empty() {
                self.report(probe);
            }
        }
        self.tell(probe);
        assert_eq!(self.ftl.requests.open_count(), 0, "a request was never answered");
    }

    /// Lets happen what happens before something enters at `entry`, until a request is answered: only then
    /// can another be issued, or find a place. Returns whether one was.
    #[inline]
    fn served_before<P: Probe>(
        &mut self,
        entry: Nanos,
        probe: &mut P,
        fault: &mut impl FnMut(&mut Device),
    ) -> bool {
        while self.flash.agenda.is_due_before(entry, Phase::Arrival) {
            self.show(self.next_event(), probe);
            self.event();
            self.flash.settle(&mut self.ftl);
            fault(self);
            self.tell_much(probe);
            if !self.ftl.completed.is_empty() {
                self.report(probe);
                return true;
            }
        }
        false
    }

    /// Whether one more request may be issued by now.
    #[inline]
    fn may_pull(&self, pacing: Pacing) -> bool {
        match pacing {
            Pacing::Open => self.arrivals.is_empty(),
            Pacing::Closed { depth } => {
                self.ftl.requests.open_count() + self.arrivals.len() < depth as usize
            }
        }
    }

    /// Issues the next request of the source. Returns whether there was one.
    #[inline]
    fn pull(
        &mut self,
        source: &mut Lookahead<impl Iterator<Item = HostIo>>,
        pacing: Pacing,
    ) -> bool {
        let Some(mut io) = source.next(&self.ftl, &self.flash) else { return false };
        match pacing {
            // A second run begins where the first ended.
            Pacing::Open => io.at = io.at + (self.started - Nanos::ZERO) + self.behind,
            Pacing::Closed { .. } => io.at = self.now(),
        }
        assert!(io.at >= self.last_issue, "requests must come in order of arrival: {io:?}");
        self.last_issue = io.at;
        let ready = self.ftl.link.receive(&io, io.at);
        let held = (self.ftl.holder.is_none() || io.op != HostOp::Write).then_some(Span::ZERO);
        self.arrivals.push_back(Arrival { io, ready, enters: ready, held });
        true
    }

    /// When an arrival can enter: not before it has come over the link, nor before there is a place.
    #[inline]
    fn entry(&self, arrival: &Arrival) -> Option<Nanos> {
        self.ftl.requests.has_room().then(|| arrival.enters.max(self.now()))
    }

    /// Whether the next arrival, which could enter at `at`, is held from now on. Asked once for each.
    #[inline]
    fn keeps_out(&mut self, at: Nanos, pacing: Pacing) -> bool {
        let Some(arrival) = self.arrivals.front_mut().filter(|its| its.held.is_none()) else {
            return false;
        };
        let held = self.ftl.throttled(&mut self.flash, &arrival.io, at).total();
        (arrival.held, arrival.enters) = (Some(held), at + held);
        if pacing == Pacing::Open {
            self.behind += held;
        }
        held > Span::ZERO
    }

    /// The first request was issued, and enters now.
    #[cold]
    fn first_enters<P: Probe>(&mut self, issued: Nanos, at: Nanos, probe: &mut P) {
        self.flash.agenda.advance(at);
        self.began = Some(issued);
        probe.begun(self);
    }

    #[inline]
    fn enter(&mut self, arrival: Arrival, at: Nanos) {
        self.flash.agenda.advance(at);
        let issued = arrival.io.at;
        let idle_since = self.idle_since.max(self.began());
        if self.ftl.requests.open_count() == 0 {
            // A request on the link is work already.
            self.flash.counters.idle += issued.max(idle_since) - idle_since;
        }
        self.integrate(self.ftl.requests.open_count());
        // It was issued at a moment that was no event: how long it has waited outside is added at once.
        self.flash.counters.outstanding += u128::from((at - issued).0);
        self.entered += 1;
        let held = arrival.held.unwrap_or_default();
        self.ftl.admit(&mut self.flash, arrival.io, arrival.ready, held);
    }

    #[inline]
    pub(crate) fn event(&mut self) {
        let Some((ticket, event)) = self.flash.agenda.pop() else { return };
        match event {
            Event::Die(die) => self.flash.die_event(die, ticket, &mut self.ftl),
            Event::Idle(die) => self.ftl.idle_event(&mut self.flash, die),
            Event::Reconsider(die) => self.flash.reconsider(die),
            Event::Answered(request) => self.ftl.completed.push(request),
            Event::Deadline => self.ftl.deadline_event(&mut self.flash),
        }
    }

    /// When the next event happens.
    #[inline]
    pub(crate) fn next_event(&self) -> Nanos {
        self.flash.agenda.next_due().map_or(Nanos::NEVER, |(at, _)| at)
    }

    /// Tells of the steps of flash operations, if there are many: between two answers there may be any number.
    #[inline]
    pub(crate) fn tell_much<P: Probe>(&mut self, probe: &mut P) {
        // Where nobody watches, this is known when it is compiled.
        if probe.watches_flash() && self.flash.tape().is_some_and(|tape| tape.len() >= STEPS) {
            self.tell(probe);
        }
    }

    /// Tells of the steps of flash operations since the last time, if anybody watches.
    #[inline]
    pub(crate) fn tell<P: Probe>(&mut self, probe: &mut P) {
        if let Some(tape) = self.flash.tape() {
            probe.stepped(tape);
            tape.clear();
        }
    }

    /// Shows the drive at the moments that the probe asked for before the next thing happens, which is at `next`.
    #[inline]
    pub(crate) fn show<P: Probe>(&self, next: Nanos, probe: &mut P) {
        while probe.due() < next {
            probe.shown(self);
        }
    }

    #[inline]
    fn count_overtaking(&mut self, request: ReqId) {
        let its = self.ftl.requests.get(request);
        if its.overtook {
            self.flash.counters.prioritised[usize::from(its.io.op == HostOp::Write)] += 1;
        }
    }

    /// Tells of the requests that were answered.
    #[inline]
    fn report<P: Probe>(&mut self, probe: &mut P) {
        let now = self.now();
        self.integrate(self.ftl.requests.open_count());
        self.answered += self.ftl.completed.len() as u64;
        self.tell(probe);
        let mut next = 0;
        while let Some(&request) = self.ftl.completed.get(next) {
            next += 1;
            self.count_overtaking(request);
            probe.completed(self.ftl.requests.completion(request, now));
            self.ftl.requests.close(request);
        }
        self.ftl.completed.clear();
        if self.ftl.requests.open_count() == 0 {
            self.idle_since = self.now();
        }
    }
}
