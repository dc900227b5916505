//! Several streams of requests that feed one drive, each with its own pace, its own bound on the
//! requests in flight, and a host path of its own: the threads of a benchmark.
//!
//! **Owns** when which stream issues what. **May touch** nothing of the drive: it is a [`Feed`]
//! that the drive asks. A stream's number is the submission queue of its requests.
//!
//! - `pace.rs`: when a stream wants to issue its next request.

mod pace;

pub use pace::Pace;

use fowler_device::{Completion, Controller, Device, Feed, Layer, Probe};
use fowler_experiment::progress::Control;
use fowler_units::{HostIo, Nanos, QueueId, Rng, Span};
use pace::Clock;
use std::collections::VecDeque;

/// The most streams: as many as there are submission queues.
pub const MOST: usize = 1 << 16;
/// Answers between two looks at whether to stop, and two steps of progress.
const LOOK_EVERY: u64 = 4096;

/// The time that a request spends in the host, outside the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPath {
    /// Time from the hand-over, at which the clock starts, to the drive.
    pub before: Span,
    /// Time from the drive's answer to the end of the clock; only then is the slot free again.
    pub after: Span,
    /// The least time between two hand-overs: the time that the thread of the stream needs for
    /// each.
    pub between: Span,
}

/// A stream of requests.
pub struct Stream<'a> {
    /// Requests of the stream, in order. Arrival times count only with [`Pace::AsGiven`].
    pub requests: Box<dyn Iterator<Item = HostIo> + Send + 'a>,
    /// Times at which the stream wants to issue requests.
    pub pace: Pace,
    /// The most requests in flight, at least 1. A request that is due while all slots are taken is
    /// issued as soon as one is free, and its clock starts only then.
    pub depth: u32,
    /// Host path of the stream.
    pub host: HostPath,
    /// Begin of the stream, after the beginning of the run.
    pub begins: Span,
    /// Time by which the stream may fall behind its own times. When it is further behind, its times
    /// begin anew.
    pub forgets: Span,
}

impl<'a> Stream<'a> {
    /// Returns a stream that keeps `depth` requests in flight.
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

/// An answered request, as its stream sees it.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The stream, in the order in which they were given.
    pub stream: usize,
    /// Time from the hand-over to the host's view of the answer, the host path included.
    pub latency: Span,
    /// Completion by the drive.
    pub completion: &'a Completion,
}

/// The decision whether the streams issue more requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// The streams continue.
    On,
    /// Requests in flight are still answered, and then the run ends.
    End,
}

/// An observer that records the answers and decides when there are enough.
pub trait Watcher<L = Controller> {
    /// A request was answered. Called in order of completion.
    fn answered(&mut self, device: &Device<L>, answer: Answer<'_>) -> Go;
}

/// A stream that has begun.
struct Running<'a> {
    requests: Box<dyn Iterator<Item = HostIo> + Send + 'a>,
    next: Option<HostIo>,
    clock: Clock,
    depth: u32,
    host: HostPath,
    in_flight: u32,
    /// Times at which slots become free whose requests have left the drive; ascending.
    freed: VecDeque<Nanos>,
    /// Time at which the thread can hand over again.
    thread: Nanos,
    /// Time at which the next request reaches the drive; `None` if an answer must come before.
    at: Option<Nanos>,
}

impl Running<'_> {
    /// Determines when the next request reaches the drive, if it is handed over at `now` at the
    /// earliest.
    fn plan(&mut self, now: Nanos) {
        let taken = self.in_flight as usize + self.freed.len();
        let slot = match taken < self.depth as usize {
            true => Some(Nanos::ZERO),
            false => self.freed.front().copied(),
        };
        let due = self.next.as_ref().map(|io| self.clock.due(io));
        let handed = slot.zip(due).map(|(slot, due)| slot.max(due).max(self.thread).max(now));
        self.at = handed.map(|handed| handed + self.host.before);
    }

    /// Hands over the next request, which reaches the drive at `at`.
    fn take(&mut self, at: Nanos) -> HostIo {
        let io = self.next.take().expect("asked only when one is due");
        // The drive may be asked a moment late only if nothing can tell: at the same nanosecond.
        let handed = Nanos(at.0.saturating_sub(self.host.before.0));
        while self.freed.front().is_some_and(|&free| free <= handed) {
            self.freed.pop_front();
        }
        self.in_flight += 1;
        self.thread = handed + self.host.between;
        self.clock.issued(&io, handed);
        self.next = self.requests.next();
        self.plan(handed);
        io
    }

    fn answered(&mut self, done: Nanos) {
        self.in_flight -= 1;
        if self.host.after > Span::ZERO {
            self.freed.push_back(done + self.host.after);
        }
        // A request that is on its way to the drive stays on it.
        if self.at.is_none() {
            self.plan(done);
        }
    }
}

/// The streams of a run.
struct Streams<'a, W> {
    running: Vec<Running<'a>>,
    watcher: &'a mut W,
    control: Control<'a>,
    answered: u64,
    ended: bool,
}

impl<W> Streams<'_, W> {
    /// Returns the stream whose request is next, the first of several.
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
        running.answered(completion.done);
        let latency = completion.latency() + running.host.before + running.host.after;
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
/// Times count from now. `seed` decides what paces draw.
///
/// # Panics
/// If there are more than [`MOST`] streams, one has no slot, or a request lies beyond the drive.
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
            thread: from,
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
