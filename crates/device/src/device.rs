//! The loop: what happens next, in the order of time, until the workload ends and everything in flight
//! is done.

use crate::config::Config;
use crate::counters::Counters;
use crate::event::Event;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::layout::{Layout, Refusal};
use crate::policy::die_order::AnyDieOrder;
use crate::policy::suspension::AnySuspension;
use crate::precondition::Preconditioned;
use crate::probe::Probe;
use fowler_agenda::Phase;
use fowler_units::{HostIo, Nanos, Span};

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
    /// Requests that came in, and those that were answered.
    pub(crate) entered: u64,
    pub(crate) answered: u64,
    /// Since when no request has been in the device.
    idle_since: Nanos,
    /// When the first request of the run came in.
    began: Option<Nanos>,
    started: Nanos,
}

/// A request on its way in.
struct Arrival {
    io: HostIo,
    ready: Nanos,
}

impl Device {
    /// A drive, preconditioned, at time zero.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    pub fn new(config: &Config) -> Result<Device, Vec<Refusal>> {
        let layout = config.layout()?;
        let flash = Flash::new(
            layout.geometry,
            config.effective_timing(),
            AnyDieOrder::new(&config.die_order, config.seed),
            AnySuspension::new(&config.suspension, config.seed),
            config.suspension,
            layout.transactions,
        );
        let mut ftl = Ftl::new(config, &layout);
        let preconditioned = ftl.precondition(&config.precondition, config.seed);
        let mut device = Device {
            flash,
            ftl,
            preconditioned,
            entered: 0,
            answered: 0,
            idle_since: Nanos::ZERO,
            began: None,
            started: Nanos::ZERO,
        };
        device.ftl.consider_all(&mut device.flash);
        device.flash.settle(&mut device.ftl);
        Ok(device)
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
        let busy = |span: Span, die: &crate::die::Die| span + die.account.read(self.now()).busy();
        let idle = if self.ftl.requests.open_count() == 0 {
            self.now() - self.idle_since.max(self.began())
        } else {
            Span::ZERO
        };
        Counters {
            die_busy: self.flash.dies().as_slice().iter().fold(Span::ZERO, busy),
            idle: self.flash.counters.idle + idle,
            ..self.flash.counters
        }
    }

    /// The present.
    pub fn now(&self) -> Nanos {
        self.flash.now()
    }

    /// When the first request came in; the present, before there was one. Rates and shares of time
    /// count from here: a trace need not begin at zero.
    pub fn began(&self) -> Nanos {
        self.began.unwrap_or(self.now())
    }

    /// How often each block has been erased, preconditioning included.
    pub fn erase_counts(&self) -> &[u32] {
        self.ftl.space.blocks.erase_counts()
    }

    /// Serves every request of `source`, in order, until all are done. May be called again; time goes on.
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
        let mut source = source.into_iter();
        self.started = self.now();
        let mut arrival = None;
        let mut exhausted = false;
        loop {
            if arrival.is_none() && !exhausted {
                arrival = self.pull(&mut source, pacing, &mut exhausted);
            }
            let entry = arrival.as_ref().and_then(|arrival| self.entry(arrival));
            match (self.flash.agenda.next_due(), entry) {
                (Some(due), Some(at)) if due < (at, Phase::Arrival) => self.event(),
                (_, Some(at)) => {
                    let arrival = arrival.take().expect("its entry was asked");
                    self.enter(arrival, at);
                }
                (Some(_), None) => {
                    if exhausted && self.ftl.requests.open_count() == 0 {
                        break;
                    }
                    self.event();
                }
                (None, None) => break,
            }
            self.flash.settle(&mut self.ftl);
            self.report(probe);
            watch(self);
        }
        assert_eq!(self.ftl.requests.open_count(), 0, "a request was never answered");
    }

    /// The next request of the source, if it may be issued by now.
    fn pull(
        &mut self,
        source: &mut impl Iterator<Item = HostIo>,
        pacing: Pacing,
        exhausted: &mut bool,
    ) -> Option<Arrival> {
        let outstanding = self.ftl.requests.open_count();
        if let Pacing::Closed { depth } = pacing
            && outstanding >= depth as usize
        {
            return None;
        }
        let Some(mut io) = source.next() else {
            *exhausted = true;
            return None;
        };
        match pacing {
            // A second run begins where the first ended.
            Pacing::Open => io.at = io.at + (self.started - Nanos::ZERO),
            Pacing::Closed { .. } => io.at = self.now(),
        }
        let ready = self.ftl.link.receive(&io, io.at);
        Some(Arrival { io, ready })
    }

    /// When an arrival can enter: not before it has come over the link, nor before there is a place.
    fn entry(&self, arrival: &Arrival) -> Option<Nanos> {
        self.ftl.requests.has_room().then(|| arrival.ready.max(self.now()))
    }

    fn enter(&mut self, arrival: Arrival, at: Nanos) {
        self.flash.agenda.advance(at);
        let began = *self.began.get_or_insert(at);
        if self.ftl.requests.open_count() == 0 {
            self.flash.counters.idle += at - self.idle_since.max(began);
        }
        self.entered += 1;
        self.ftl.admit(&mut self.flash, arrival.io, arrival.ready);
    }

    fn event(&mut self) {
        let Some((ticket, event)) = self.flash.agenda.pop() else { return };
        match event {
            Event::Die(die) => self.flash.die_event(die, ticket, &mut self.ftl),
            Event::Idle(die) => self.ftl.idle_event(&mut self.flash, die),
            Event::Reconsider(die) => self.flash.reconsider(die),
            Event::Answered(request) => self.ftl.answered(&self.flash, request),
        }
    }

    #[inline]
    fn report<P: Probe>(&mut self, probe: &mut P) {
        if self.ftl.completed.is_empty() {
            return;
        }
        for completion in &self.ftl.completed {
            probe.completed(completion);
        }
        self.answered += self.ftl.completed.len() as u64;
        self.ftl.completed.clear();
        if self.ftl.requests.open_count() == 0 {
            self.idle_since = self.now();
        }
    }
}
