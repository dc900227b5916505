//! Serving a host whose requests depend on completions: several streams, each with its own arrival
//! law and bound on requests in flight. [`Device::run`] draws from one stream and needs none of
//! this. See docs/decisions/device.md, "How do several streams feed one drive?".
//!
//! 1. The host is asked when it acts next ([`Feed::due`]). What comes first decides: that act, the
//!    entry of the oldest issued request, or an event of the drive.
//! 2. Events of the drive up to then are processed. A completion is reported to the host
//!    ([`Feed::answered`]), which is asked anew.
//! 3. The host acts ([`Feed::take`]), and may issue a request, which takes its time on the link; or
//!    the oldest issued request enters, unless the throttle delays it.
//! 4. When nothing is left to issue and all requests are answered, the dies make their remaining
//!    decisions, and the run ends.
//!
//! A request issued at the nanosecond at which another enters joins the line behind that one.

use super::controller::Controller;
use super::probe::Probe;
use super::{Device, Layer, Pacing};
use crate::flash::flash_trace::{FlashStep, Steps};
use crate::observe::completion::Completion;
use fowler_units::{HostIo, Nanos, Span};

/// A host that decides when to issue each request. The drive asks the host for the time of its next
/// request, takes the request at that time, and reports every completion.
pub trait Feed<L = Controller> {
    /// Returns the time at which the host acts next unless a request completes before; a time in
    /// the past means now. `None` if the host waits for completions, or has no more requests. Asked
    /// again after every completion and every act; the result must not change otherwise.
    fn due(&mut self) -> Option<Nanos>;

    /// Lets the host act, with the drive as of its last event. A returned request is issued at
    /// `at`, which becomes its arrival time; `None` if the host was busy otherwise, for example
    /// collecting completions.
    fn take(&mut self, device: &Device<L>, at: Nanos) -> Option<HostIo>;

    /// Called for every completed request, in order of completion, with the drive as of that
    /// moment.
    fn answered(&mut self, device: &Device<L>, completion: &Completion);
}

/// A probe that forwards everything to another probe, and saves completions for the host.
struct Answers<'a, P> {
    probe: &'a mut P,
    answered: Vec<Completion>,
}

impl<L, P: Probe<L>> Probe<L> for Answers<'_, P> {
    #[inline]
    fn completed(&mut self, completion: &Completion) {
        self.answered.push(*completion);
        self.probe.completed(completion);
    }

    fn watches_flash(&self) -> Steps {
        self.probe.watches_flash()
    }

    fn stepped(&mut self, steps: &[FlashStep]) {
        self.probe.stepped(steps);
    }

    fn begun(&mut self, device: &Device<L>) {
        self.probe.begun(device);
    }

    #[inline]
    fn due(&self) -> Nanos {
        self.probe.due()
    }

    fn sampled(&mut self, device: &Device<L>) {
        self.probe.sampled(device);
    }
}

/// Next act from outside the drive: one of the host or of the link.
enum Next {
    /// The host issues a request at this time.
    Issue(Nanos),
    /// The oldest issued request enters the drive.
    Enter(Nanos),
    /// The last request was served; the dies make their remaining decisions.
    Settle(Nanos),
    /// Nothing comes from outside: only events of the drive can proceed.
    Wait,
}

impl<L: Layer> Device<L> {
    /// Serves every request of `feed` until none is left and all are completed. May be called
    /// again; time continues.
    ///
    /// # Panics
    /// If a request lies beyond the drive or has no length.
    pub fn run_feed<F: Feed<L>, P: Probe<L>>(&mut self, feed: &mut F, probe: &mut P) {
        let mut probe = Answers { probe, answered: Vec::new() };
        self.flash.watch(probe.watches_flash());
        while let Some(next) = self.next_of(feed.due()) {
            let (Next::Issue(until) | Next::Enter(until) | Next::Settle(until)) = next else {
                if !self.run_until(Nanos::NEVER, &mut probe, &mut |_| ()) {
                    break;
                }
                self.report_answers(feed, &mut probe);
                continue;
            };
            if self.run_until(until, &mut probe, &mut |_| ()) {
                self.report_answers(feed, &mut probe);
                continue;
            }
            match next {
                Next::Issue(at) => {
                    if let Some(io) = feed.take(self, at) {
                        self.issue(io.with_at(at));
                    }
                }
                Next::Enter(at) if !self.is_throttled(at, Pacing::Closed { depth: 1 }) => {
                    self.enter_next(at, &mut probe);
                    self.report_answers(feed, &mut probe);
                }
                Next::Enter(_) => {}
                Next::Settle(_) | Next::Wait => break,
            }
        }
        self.report_steps(&mut probe);
        assert_eq!(self.layer.front().requests.open_count(), 0, "a request was never answered");
    }

    /// Returns the next action of the event loop with the host (issue a request, admit one, or
    /// wait), if the host issues its next request at `due`; `None` when all requests have been
    /// answered.
    fn next_of(&self, due: Option<Nanos>) -> Option<Next> {
        let due = due.map(|due| due.max(self.now()).max(self.last_issue));
        let entry = self.arrivals.front().and_then(|arrival| self.entry(arrival));
        let open = self.layer.front().requests.open_count() > 0 || !self.arrivals.is_empty();
        match (due, entry) {
            // A request issued at the nanosecond at which another enters joins the line behind that
            // one.
            (Some(due), Some(entry)) if due < entry => Some(Next::Issue(due)),
            (_, Some(entry)) => Some(Next::Enter(entry)),
            (Some(due), None) => Some(Next::Issue(due)),
            (None, None) if open => Some(Next::Wait),
            (None, None) if self.flash.has_marked() => Some(Next::Settle(self.now() + Span::ns(1))),
            (None, None) => None,
        }
    }

    /// Lets the oldest issued request enter the drive at `at`.
    fn enter_next<P: Probe<L>>(&mut self, at: Nanos, probe: &mut P) {
        let arrival = self.arrivals.pop_front().expect("an arrival with an entry time");
        self.report_samples(at, probe);
        if self.began.is_none() {
            self.first_enters(arrival.io.at, at, probe);
        }
        self.enter(arrival, at);
        if !self.layer.front().completed.is_empty() {
            self.report_completions(probe);
        }
    }

    /// Reports completions to the host.
    fn report_answers<P>(&mut self, feed: &mut impl Feed<L>, probe: &mut Answers<'_, P>) {
        for completion in &probe.answered {
            feed.answered(self, completion);
        }
        probe.answered.clear();
    }
}
