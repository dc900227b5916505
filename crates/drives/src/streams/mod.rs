//! Several streams of requests that feed one drive, each with its own arrival law, bound on
//! requests in flight, and host path: they model the threads of a benchmark.
//!
//! **Owns** the times at which streams issue requests. **May touch** nothing of the drive: it is a
//! [`Feed`] that the drive asks. The number of a stream is the submission queue of its requests.
//!
//! - `pace.rs`: the times at which a stream wants to issue its next request.

mod pace;

pub use pace::Pace;

use fowler_device::{Completion, Controller, Device, Feed, Layer, Probe};
use fowler_experiment::progress::Control;
use fowler_units::{HostIo, Nanos, QueueId, Rng, Span};
use pace::Clock;
use std::collections::VecDeque;

/// Largest number of streams that feed one drive: the number of submission queues.
pub const MOST: usize = 1 << 16;
/// Number of completions between two checks of the stop signal, and between two progress reports.
const LOOK_EVERY: u64 = 4096;

/// Times that a request spends in the host, outside the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPath {
    /// Time from the submission of a request, at which its latency begins, to its arrival at the
    /// drive.
    pub before: Span,
    /// Time from the drive's completion to the end of the latency measurement, when the slot
    /// becomes free.
    pub after: Span,
    /// CPU time of the stream's thread per request, and so the smallest time between two requests.
    /// The thread collects completions one at a time, in order: those that wait for it are still in
    /// flight, and their latency goes on.
    pub between: Span,
}

/// A stream of requests, like one thread of a benchmark.
pub struct Stream<'a> {
    /// Requests of the stream, in order. Their own arrival times decide when they are issued only
    /// if `pace` is [`Pace::AsGiven`].
    pub requests: Box<dyn Iterator<Item = HostIo> + Send + 'a>,
    /// Times at which the stream wants to issue requests.
    pub pace: Pace,
    /// Largest number of requests in flight, at least 1. A request that is due while all slots are
    /// taken is issued as soon as one is free, and its latency is measured from then on.
    pub depth: u32,
    /// Time that the stream's requests spend in the host.
    pub host: HostPath,
    /// Start of the stream, as a time after the start of the run.
    pub begins: Span,
    /// Largest lag of the stream behind its schedule. With a larger lag, a new schedule begins.
    pub forgets: Span,
}

impl<'a> Stream<'a> {
    /// Returns a stream that keeps `depth` requests in flight (a closed loop).
    pub fn closed(requests: impl Iterator<Item = HostIo> + Send + 'a, depth: u32) -> Stream<'a> {
        Stream {
            requests: Box::new(requests),
            pace: Pace::Closed,
            depth,
            host: HostPath::default(),
            begins: Span::ZERO,
            forgets: Span(u64::MAX),
        }
    }
}

/// A completed request, as reported to the stream that issued it.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// Index of the stream, in the order in which streams were given.
    pub stream: usize,
    /// Latency of the request from submission to completion in the host, the host path included.
    pub latency: Span,
    /// Completion of the request by the drive.
    pub completion: &'a Completion,
}

/// Decision whether streams issue further requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// The streams continue to issue requests.
    On,
    /// Streams issue no more requests; the run ends when those in flight have completed.
    End,
}

/// An observer that records completions and decides when the run has enough of them.
pub trait Watcher<L = Controller> {
    /// Called for every completed request, in order of completion; decides whether the run
    /// continues.
    fn answered(&mut self, device: &Device<L>, answer: Answer<'_>) -> Go;
}

/// State of a stream during a run.
struct Running<'a> {
    requests: Box<dyn Iterator<Item = HostIo> + Send + 'a>,
    next: Option<HostIo>,
    clock: Clock,
    depth: u32,
    host: HostPath,
    in_flight: u32,
    /// Times, ascending, at which the host has collected completions that already left the drive;
    /// until then each still counts as in flight.
    freed: VecDeque<Nanos>,
    /// Time at which the thread of the stream can collect the next completion.
    thread: Nanos,
    /// Time at which the next request reaches the drive; `None` if a completion must come first.
    at: Option<Nanos>,
}

impl Running<'_> {
    /// Determines the time at which the next request, submitted at `now` at the earliest, reaches
    /// the drive.
    fn plan(&mut self, now: Nanos) {
        let taken = self.in_flight as usize + self.freed.len();
        let slot = match taken < self.depth as usize {
            true => Some(Nanos::ZERO),
            false => self.freed.front().copied(),
        };
        let due = self.next.as_ref().map(|io| self.clock.due(io));
        let handed = slot.zip(due).map(|(slot, due)| slot.max(due).max(now));
        self.at = handed.map(|handed| handed + self.host.before);
    }

    /// Returns the next request, which reaches the drive at `at`, and plans the one after it.
    fn take(&mut self, at: Nanos) -> HostIo {
        let io = self.next.take().expect("asked only when one is due");
        // The drive may be asked a moment late only if nothing can tell: at the same nanosecond.
        let handed = Nanos(at.0.saturating_sub(self.host.before.0));
        while self.freed.front().is_some_and(|&free| free <= handed) {
            self.freed.pop_front();
        }
        self.in_flight += 1;
        self.clock.issued(&io, handed);
        self.next = self.requests.next();
        self.plan(handed);
        io
    }

    /// Takes note that the drive completed a request at `done`, and returns the time at which the
    /// thread collects it.
    fn answered(&mut self, done: Nanos) -> Nanos {
        self.in_flight -= 1;
        let collected = self.thread.max(done + self.host.after);
        self.thread = collected + self.host.between;
        if collected > done {
            self.freed.push_back(collected);
        }
        // A request that is on its way to the drive stays on it.
        if self.at.is_none() {
            self.plan(done);
        }
        collected
    }
}

/// All streams of a run, as the host of the drive.
struct Streams<'a, W> {
    running: Vec<Running<'a>>,
    watcher: &'a mut W,
    control: Control<'a>,
    answered: u64,
    ended: bool,
}

impl<W> Streams<'_, W> {
    /// Returns the arrival time at the drive of the next request, and the index of its stream; the
    /// first stream if several have it.
    fn first(&self) -> Option<(Nanos, usize)> {
        let times = self.running.iter().enumerate();
        times.filter_map(|(number, stream)| stream.at.map(|at| (at, number))).min()
    }
}

impl<L: Layer, W: Watcher<L>> Feed<L> for Streams<'_, W> {
    #[inline]
    fn due(&mut self) -> Option<Nanos> {
        if self.ended {
            return None;
        }
        self.first().map(|(at, _)| at)
    }

    fn take(&mut self, _: &Device<L>, at: Nanos) -> Option<HostIo> {
        let (_, number) = self.first().expect("asked only when one is due");
        Some(self.running[number].take(at).with_queue(QueueId(number as u16)))
    }

    fn answered(&mut self, device: &Device<L>, completion: &Completion) {
        let stream = usize::from(completion.io.queue.0);
        let running = &mut self.running[stream];
        let collected = running.answered(completion.done);
        let latency = completion.latency() + running.host.before + (collected - completion.done);
        let go = self.watcher.answered(device, Answer { stream, latency, completion });
        self.answered += 1;
        self.ended |= go == Go::End;
        if self.answered.is_multiple_of(LOOK_EVERY) {
            self.ended |= self.control.stopped();
            self.control.served(LOOK_EVERY);
        }
    }
}

/// Lets the drive serve all streams until they end, `watcher` ends them, or `control` stops them.
/// Times count from the drive's present time. `seed` decides the random arrival times.
///
/// # Panics
/// If there are more than [`MOST`] streams, a stream has a depth of zero, or a request lies beyond
/// the drive.
pub fn run<L: Layer>(
    device: &mut Device<L>,
    streams: Vec<Stream<'_>>,
    seed: u64,
    watcher: &mut impl Watcher<L>,
    probe: &mut impl Probe<L>,
    control: Control<'_>,
) {
    assert!(streams.len() <= MOST, "more streams than submission queues");
    let began = device.now();
    let running = streams.into_iter().enumerate().map(|(number, stream)| {
        assert!(stream.depth > 0, "a stream without a slot");
        let rng = Rng::stream(seed, &format!("streams/pace/{number}"));
        let from = began + stream.begins;
        let mut requests = stream.requests;
        let mut running = Running {
            next: requests.next(),
            requests,
            clock: Clock::new(stream.pace, from, stream.forgets, rng),
            depth: stream.depth,
            host: stream.host,
            in_flight: 0,
            freed: VecDeque::new(),
            thread: Nanos::ZERO,
            at: None,
        };
        running.plan(from);
        running
    });
    let running = running.collect();
    let mut feed = Streams { running, watcher, control, answered: 0, ended: control.stopped() };
    device.run_feed(&mut feed, probe);
    control.served(feed.answered % LOOK_EVERY);
}
