//! One process of the host, on a core of its own: a job, or one of its clones.
//!
//! Each turn of its loop takes up one request. It waits until a rate lets it, queues the request,
//! hands over what is queued once there is a batch, and collects answers when all slots are taken.
//! Handing over and collecting take time of the core (`HostCosts`), so one core issues only so many
//! requests. With a synchronous engine the process waits for each request.
//!
//! A flush (`fsync`, `fdatasync`, `end_fsync`) is handed over after what is queued, and the process
//! waits for it, as fio does with libaio; other requests stay in flight meanwhile. So is a trim
//! with libaio; if anything is in flight then, one answer is collected first. A write that must be
//! durable is a write and then a flush, because drives have no FUA here: that is what Linux does on
//! a drive without it.

use super::flow::Standing;
use super::latency_target::{Found, Search};
use super::least_rate::Cycle;
use super::log::Logbook;
use super::pace::Pace;
use super::plan::{Direction, HostCosts, Op, Plan, RequestKind, Requests};
use super::record::Record;
use super::unit::Unit;
use fowler_units::{HostIo, HostOp, Nanos, QueueId, Span};
use std::collections::VecDeque;

/// Step that a process of the host takes once the answers or the time that it waits for have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The process takes the next turn of its loop.
    Turn,
    /// The fio process collects answers of the drive only if its queue depth is used up, so that no
    /// further request can be issued.
    Think,
    /// The process issues its last flush, and ends.
    Finish,
}

/// The step that a process takes after it has handed requests to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The process takes completions from the drive if all places of its queue depth are in use.
    Batch,
    /// The process issues the flush that it waits for.
    Flush,
    /// The fio process waits until all its requests in flight have completed, and then takes the
    /// step that this variant contains.
    Drain(Then),
    /// The process waits until the drive has completed the one request that it has in flight.
    One,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The process has not begun.
    Idle,
    /// The fio process is at the top of its loop, where it takes up the next request of its job.
    Turn,
    /// The process takes completions until `until` requests or fewer of its queue depth are in
    /// flight; each time it waits for at least `least` completions.
    HandsOver { next: Next },
    /// The fio process collects answers of the drive until at most `until` of its requests are
    /// outstanding; a call that collects waits for at least `least` answers.
    Collects { least: u32, until: u32, then: Then },
    /// The process has collected `count` answers once its core is free.
    Collected { count: u32, until: u32, least: u32, then: Then },
    /// The process waits until the drive has completed its one outstanding request, and then takes
    /// the step `then`.
    Waits { then: Then },
    /// The process sleeps until the next request of a log is due, and collects answers as they
    /// come.
    Rests { until: Nanos },
    /// The fio process has issued and collected all its requests.
    Ended,
}

/// A process of the host: a job of fio, or one of its clones.
pub(super) struct Process<'a> {
    pub plan: Plan,
    requests: Box<dyn Requests + 'a>,
    costs: HostCosts,
    queue: QueueId,
    state: State,
    /// Simulated time of the next action of this fio process; `None` while the process waits for
    /// the drive.
    wake: Option<Nanos>,
    /// Requests of the process by state: taken up but not handed over; in flight; answered but not
    /// collected.
    queued: VecDeque<Unit>,
    in_flight: Vec<Unit>,
    answered: VecDeque<Unit>,
    /// Request of this process for whose completion it waits before it does anything else; `None`
    /// if it waits for none.
    single: Option<Unit>,
    /// Flushes that make writes durable, each due when the drive has answered its write.
    follow: VecDeque<(Nanos, Unit)>,
    /// Request that is drawn but not due yet; `None` if there is none.
    pending: Option<Op>,
    pace: Pace,
    search: Option<Search>,
    /// State of the pauses of a fio process (`thinktime`): number of requests counted towards
    /// pauses so far, that number at the last pause, and the end time of that pause.
    counted: u64,
    thought_at: u64,
    thought: Nanos,
    /// `must_end`: true once this fio process must end, for example because another process of its
    /// group has ended. `stopping`: true once it has no requests left to issue but the flushes at
    /// its end.
    must_end: bool,
    stopping: bool,
    cycle: Cycle,
    /// Number of requests that the process has issued, against its share of those of its flow:
    /// processes that issue requests in proportion to their weights.
    pub standing: Standing,
    pub record: Record,
}

impl<'a> Process<'a> {
    /// Returns a process that has not started yet. `queue` is the number of the drive's NVMe
    /// submission queue that its requests go to.
    pub fn new(
        plan: Plan,
        requests: Box<dyn Requests + 'a>,
        costs: HostCosts,
        queue: u16,
        logs: Logbook,
    ) -> Process<'a> {
        Process {
            requests,
            costs,
            queue: QueueId(queue),
            state: State::Idle,
            wake: None,
            queued: VecDeque::new(),
            in_flight: Vec::with_capacity(plan.depth as usize),
            answered: VecDeque::new(),
            single: None,
            follow: VecDeque::new(),
            pending: None,
            pace: Pace::new(&plan, Nanos::ZERO),
            search: None,
            counted: 0,
            thought_at: 0,
            thought: Nanos::ZERO,
            must_end: false,
            stopping: false,
            cycle: Cycle::new(Nanos::ZERO),
            standing: Standing::default(),
            record: Record::new(&plan, logs),
            plan,
        }
    }

    /// Starts the process at `at`.
    pub fn begin(&mut self, at: Nanos) {
        self.state = State::Turn;
        self.wake = Some(at);
        self.thought = at;
        self.pace = Pace::new(&self.plan, at);
        self.search = self.plan.target.map(|target| Search::new(target, self.plan.depth, at));
        self.record.begin(at, &self.plan);
        self.cycle = Cycle::new(self.record.from());
    }

    /// Returns true if the process has begun.
    pub fn has_begun(&self) -> bool {
        self.state != State::Idle
    }

    /// Returns true if the process has ended.
    pub fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// Asks the process to end. Requests in flight are still collected.
    pub fn ask_to_end(&mut self, now: Nanos) {
        self.must_end = true;
        match self.state {
            State::Idle => {
                self.record.begin(now, &self.plan);
                self.end(now);
            }
            // A sleeping process must wake.
            State::Turn => self.wake = Some(now),
            State::Rests { .. } => (self.state, self.wake) = (State::Turn, Some(now)),
            _ => {}
        }
    }

    /// Stops the process at `now` because the whole simulated run is stopped; what it measured
    /// before `now` is reported.
    pub fn stop(&mut self, now: Nanos) {
        if self.has_begun() && !self.has_ended() {
            self.end(now);
        }
    }

    /// Returns the time at which this process of a simulated fio job acts next; `None` while it
    /// waits for the drive.
    pub fn due(&self) -> Option<Nanos> {
        let follow = self.follow.front().map(|&(at, _)| at);
        follow.into_iter().chain(self.wake).min()
    }

    /// Returns the finished share of the work of this process of a fio job, 0 to 1: by run time or
    /// by bytes, whichever share is larger; 0 if the job limits neither.
    pub fn share(&self, now: Nanos) -> f64 {
        if self.has_ended() {
            return 1.0;
        }
        let time = self.plan.runtime.map(|runtime| {
            let all = (self.plan.ramp + runtime).0.max(1);
            now.0.saturating_sub(self.record.began().0) as f64 / all as f64
        });
        let moved = self.plan.bytes.map(|all| self.record.moved() as f64 / all.max(1) as f64);
        time.into_iter().chain(moved).fold(0.0, f64::max).min(1.0)
    }

    /// Performs the process's action that was due at `now`, and returns the command for the drive,
    /// if any.
    pub fn act(&mut self, now: Nanos) -> Option<HostIo> {
        if self.follow.front().is_some_and(|&(at, _)| at <= now) {
            let (_, unit) = self.follow.pop_front()?;
            return Some(self.send(unit, now));
        }
        self.wake = None;
        loop {
            match self.state {
                State::Idle | State::Ended => return None,
                State::Turn => {
                    if let Some(sent) = self.turn(now) {
                        return Some(sent);
                    }
                }
                State::HandsOver { next } => {
                    if let Some(unit) = self.queued.pop_front() {
                        let rest = if self.queued.is_empty() { 0 } else { 1 };
                        self.wake = Some(now + self.costs.submission * rest);
                        return Some(self.send(unit, now));
                    }
                    match next {
                        Next::Batch => self.after_hand_over(now),
                        Next::Flush => self.go_on(now, Then::Turn),
                        Next::Drain(then) => self.drain(now, then),
                        Next::One => self.collect_one(now),
                    }
                }
                State::Collects { least, until, then } => self.collect(now, least, until, then),
                State::Collected { count, until, least, then } => {
                    self.collected(now, count);
                    let taken = self.taken();
                    self.state = State::Collects { least: least.min(taken), until, then };
                    if taken <= until {
                        self.go_on(now, then);
                    }
                }
                State::Rests { .. } => self.state = self.rested(now),
                State::Waits { then } => {
                    let unit = self.single.take()?;
                    self.record_one(&unit, now);
                    self.go_on(now, then);
                }
            }
            if self.wake.is_some_and(|at| at > now) || self.waits_for_the_drive() {
                return None;
            }
            self.wake = None;
        }
    }

    /// Returns the number of requests that use the queue depth of the fio process: those not yet
    /// handed to the drive, in flight, or answered but not collected, and flushes that follow
    /// writes.
    fn taken(&self) -> u32 {
        (self.queued.len() + self.in_flight.len() + self.follow.len() + self.answered.len()) as u32
    }

    fn waits_for_the_drive(&self) -> bool {
        match self.state {
            State::Idle | State::Ended => true,
            State::Turn
            | State::HandsOver { .. }
            | State::Collected { .. }
            | State::Rests { .. } => false,
            State::Collects { least, .. } => (self.answered.len() as u32) < least,
            State::Waits { .. } => {
                self.wake.is_none() && self.single.is_none_or(|unit| unit.answered.is_none())
            }
        }
    }

    /// Runs one turn of the process's loop. Returns the command that a synchronous engine, or a
    /// flush, hands over at once.
    fn turn(&mut self, now: Nanos) -> Option<HostIo> {
        self.record.pass_ramp(now, &self.plan, &mut self.pace);
        let over = self.must_end || now >= self.latest() || self.look_at_latencies(now);
        if over && !self.stopping {
            self.stopping = true;
            self.pending = None;
            self.requests.stop();
        }
        let pace = &self.pace;
        let pick = &mut |next| pace.pick(next, now);
        let Some(op) = self.pending.take().or_else(|| self.requests.next(pick)) else {
            self.drain(now, Then::Finish);
            return None;
        };
        if self.comes_later(op, now) {
            self.pending = Some(op);
            return None;
        }
        let RequestKind::Data(direction) = op.what else { return self.flush(op, now, Then::Turn) };
        let due = self.pace.due(direction);
        if due > now {
            self.pending = Some(op);
            self.sleep_until(due, now);
            return None;
        }
        // fio's libaio takes no trim while anything is queued; fio then hands that over, and waits.
        let awaited = self.plan.waits_for_trims && direction == Direction::Trim;
        let first_the_others =
            awaited && !self.queued.is_empty() || self.plan.serialize_overlap && self.overlaps(&op);
        if first_the_others {
            self.pending = Some(op);
            self.collect_one(now);
            return None;
        }
        if let Some(share) = self.plan.share {
            self.standing.held = self.standing.is_ahead(share.weight);
            if self.standing.held {
                self.pending = Some(op);
                self.wait_for_the_others(now, share.sleep);
                return None;
            }
            self.standing.issued += 1;
        }
        self.pace.issued(direction, u64::from(op.length), &mut *self.requests);
        self.counted += u64::from(self.plan.think.is_some_and(|it| it.counts_issued));
        let unit = self.unit(op, now);
        self.record.queued(&unit);
        if self.plan.synchronous || awaited {
            let level = self.taken() + 1;
            self.record.depths(|depths| {
                depths.level(level);
                depths.submit(1);
                depths.complete(1);
            });
            return self.wait_for(unit, now, Then::Turn);
        }
        self.queued.push_back(unit);
        let taken = self.taken();
        self.record.depths(|depths| depths.level(taken));
        let full = taken >= self.depth();
        if full || self.queued.len() as u32 >= self.plan.batches.submit {
            self.begin_hand_over(now, Next::Batch);
        } else {
            self.after_hand_over(now);
        }
        None
    }

    /// Sleeps until the next request is due. Requests in flight are collected before, as fio does.
    fn sleep_until(&mut self, due: Nanos, now: Nanos) {
        if self.taken() > 0 {
            self.drain(now, Then::Turn);
        } else {
            self.wake = Some(due.min(self.latest()));
        }
    }

    /// Makes the fio process wait if request `op` may not be issued yet: earlier requests must
    /// complete first, or a replayed log gives `op` a later time. Returns true if the process
    /// waits.
    fn comes_later(&mut self, op: Op, now: Nanos) -> bool {
        let until = op.not_before.map(|time| self.record.began() + time);
        if op.after_all && self.taken() > 0 {
            self.drain(now, Then::Turn);
        } else if let Some(until) = until.filter(|&until| until > now) {
            self.rest(now, until.min(self.latest()));
        } else {
            return false;
        }
        true
    }

    /// True if a queued, running or answered request of the fio process touches bytes that request
    /// `op` reads, writes or trims.
    fn overlaps(&self, op: &Op) -> bool {
        let end = |op: &Op| op.address + u64::from(op.length);
        let queued = self.queued.iter().chain(&self.in_flight).chain(&self.answered);
        let all = queued.chain(self.follow.iter().map(|(_, unit)| unit));
        let data = |unit: &&Unit| matches!(unit.op.what, RequestKind::Data(_));
        let touches = |other: &Op| other.address < end(op) && op.address < end(other);
        all.filter(data).any(|unit| touches(&unit.op))
    }

    /// Makes the fio process wait until the drive has completed one more of its requests; the
    /// requests that are still queued are handed to the drive first.
    fn collect_one(&mut self, now: Nanos) {
        if !self.queued.is_empty() {
            return self.begin_hand_over(now, Next::One);
        }
        let until = self.taken().saturating_sub(1);
        self.state = State::Collects { least: 1, until, then: Then::Turn };
    }

    /// Waits for the other processes of a flow: collects outstanding requests, then sleeps.
    fn wait_for_the_others(&mut self, now: Nanos, sleep: Span) {
        if self.taken() > 0 {
            return self.drain(now, Then::Turn);
        }
        let until = if sleep > Span::ZERO { now + sleep } else { Nanos::NEVER };
        self.wake = Some(until.min(self.latest()));
    }

    /// Wakes this process after another process of its flow (processes that issue requests in
    /// proportion to their weights) has issued a request or ended.
    pub fn look_again(&mut self, now: Nanos) {
        let sleeps = self.plan.share.is_some_and(|share| share.sleep > Span::ZERO);
        if self.standing.held && self.state == State::Turn && !sleeps {
            self.wake = Some(now);
        }
    }

    /// Returns the time at which the process's `runtime` is over.
    fn latest(&self) -> Nanos {
        self.plan.runtime.map_or(Nanos::NEVER, |runtime| self.record.from() + runtime)
    }

    /// Returns the largest number of requests that the process may have in flight now: the job's
    /// `iodepth`, or the depth that the search for a latency target tries.
    fn depth(&self) -> u32 {
        self.search.as_ref().map_or(self.plan.depth, |search| search.depth)
    }

    fn unit(&self, op: Op, now: Nanos) -> Unit {
        let io = HostIo::new(op.what.command(), now, op.address, op.length);
        Unit {
            op,
            sent: io.with_queue(self.queue),
            start: now,
            issued: None,
            answered: None,
            then_flush: self.plan.durable && op.what == RequestKind::Data(Direction::Write),
        }
    }

    /// Advances the search for the largest queue depth that meets fio's latency target
    /// (`latency_target`). Returns true if the search is over and so ends the fio process.
    fn look_at_latencies(&mut self, now: Nanos) -> bool {
        match self.search.as_mut().map(|search| search.look(now)) {
            None | Some(Found::Nothing) => false,
            Some(Found::End) => true,
            Some(Found::RecordAnew) => {
                self.record.begin_anew(now);
                self.pace = Pace::new(&self.plan, now);
                false
            }
        }
    }

    /// Hands a request to the drive at `now`.
    fn send(&mut self, unit: Unit, now: Nanos) -> HostIo {
        let unit = Unit { sent: unit.sent.with_at(now), ..unit };
        self.in_flight.push(unit);
        unit.sent
    }

    /// Issues a request, which reaches the drive after its submission time, and waits for it.
    fn wait_for(&mut self, unit: Unit, now: Nanos, then: Then) -> Option<HostIo> {
        self.state = State::Waits { then };
        let at = now + self.costs.submission;
        let unit = Unit { sent: unit.sent.with_at(at), ..unit };
        self.single = Some(unit);
        self.follow.push_back((at, unit));
        None
    }

    /// Issues a flush, after the queued requests have been handed over.
    fn flush(&mut self, op: Op, now: Nanos, then: Then) -> Option<HostIo> {
        if !self.queued.is_empty() {
            self.pending = Some(op);
            self.begin_hand_over(now, Next::Flush);
            return None;
        }
        self.record.depths(|depths| depths.level(1));
        let unit = self.unit(op, now);
        self.record.queued(&unit);
        self.wait_for(unit, now, then)
    }

    /// Begins to hand all queued requests to the drive.
    fn begin_hand_over(&mut self, now: Nanos, next: Next) {
        let count = self.queued.len() as u64;
        let issued = now + self.costs.submission * count;
        self.queued.iter_mut().for_each(|unit| unit.issued = Some(issued));
        self.record.depths(|depths| depths.submit(count as u32));
        self.state = State::HandsOver { next };
        self.wake = Some(now + self.costs.submission);
    }

    /// Continues the fio process after its queued requests were handed to the drive: it collects
    /// completions if its queue depth is used up, and else takes up the next request of its job.
    fn after_hand_over(&mut self, now: Nanos) {
        let taken = self.taken();
        if taken >= self.depth() {
            let batches = self.plan.batches;
            let least = batches.complete_min.clamp(1, taken);
            // At least one collection, however high the mark is.
            let until = batches.low.min(self.depth() - 1);
            self.state = State::Collects { least, until, then: Then::Turn };
            self.wake = Some(now);
        } else {
            self.go_on(now, Then::Turn);
        }
    }

    /// Makes the fio process collect the completions of all its requests in flight, including those
    /// still queued, which are handed to the drive first; then it takes the step `then`.
    fn drain(&mut self, now: Nanos, then: Then) {
        if !self.queued.is_empty() {
            return self.begin_hand_over(now, Next::Drain(then));
        }
        if self.taken() == 0 {
            return self.go_on(now, then);
        }
        self.state = State::Collects { least: 1, until: 0, then };
    }

    /// Begins to collect the answers that have arrived from the drive if there are at least
    /// `least`, and at least one.
    fn collect(&mut self, now: Nanos, least: u32, until: u32, then: Then) {
        let count = self.answered.len() as u32;
        if count < least.max(1) {
            return;
        }
        let count = count.min(self.plan.batches.complete_max.max(least).max(1));
        self.state = State::Collected { count, until, least, then };
        self.wake = Some(now + self.costs.completion * u64::from(count));
    }

    fn collected(&mut self, now: Nanos, count: u32) {
        self.record.depths(|depths| depths.complete(count));
        for _ in 0..count {
            let Some(unit) = self.answered.pop_front() else { return };
            self.record_one(&unit, now);
        }
    }

    fn record_one(&mut self, unit: &Unit, now: Nanos) {
        self.record.pass_ramp(now, &self.plan, &mut self.pace);
        let times = unit.times(now);
        if let RequestKind::Data(_) = unit.op.what {
            self.counted += u64::from(self.plan.think.is_some_and(|it| !it.counts_issued));
            if let Some(search) = &mut self.search {
                search.answered(now - unit.start);
            }
            if self.plan.max_latency.is_some_and(|most| now - unit.start > most) {
                (self.must_end, self.record.too_slow) = (true, true);
            }
        }
        self.record.add(&self.plan, unit, &times);
        if let Some(least) = &self.plan.least
            && self.cycle.is_too_slow(least, &self.record.stats, now)
        {
            (self.must_end, self.record.below_least) = (true, true);
        }
    }

    /// Puts the fio process to sleep until the time `until`. If requests of the process wait to be
    /// handed to the drive, it hands them over first.
    fn rest(&mut self, now: Nanos, until: Nanos) {
        if !self.queued.is_empty() {
            return self.begin_hand_over(now, Next::Batch);
        }
        self.state = State::Rests { until };
        self.wake = Some(if self.answered.is_empty() { until } else { now });
    }

    /// Returns the state of the fio process after a sleep: it collects the completions that have
    /// arrived meanwhile or, if there are none, takes up the next request of its job.
    fn rested(&mut self, now: Nanos) -> State {
        let count = self.answered.len() as u32;
        if count == 0 {
            self.wake = Some(now);
            return State::Turn;
        }
        self.wake = Some(now + self.costs.completion * u64::from(count));
        State::Collected { count, until: u32::MAX, least: 1, then: Then::Turn }
    }

    /// Continues the process with the step `then`, after the completions or the time for which the
    /// process waited have come.
    fn go_on(&mut self, now: Nanos, then: Then) {
        match then {
            Then::Turn => {
                self.state = State::Turn;
                self.wake = Some(now);
                if self.has_to_think(now) {
                    self.drain(now, Then::Think);
                }
            }
            Then::Think => {
                if self.taken() > 0 {
                    return self.drain(now, then);
                }
                let time = self.plan.think.map_or(Span::ZERO, |think| think.time);
                self.state = State::Turn;
                self.thought = now + time;
                self.thought_at = self.counted;
                if self.plan.pauses_shift_rates {
                    self.pace.skip(time);
                }
                self.wake = Some(self.thought.min(self.latest()).max(now));
            }
            Then::Finish => self.finish(now),
        }
    }

    /// True if a pause of the process is due.
    fn has_to_think(&self, now: Nanos) -> bool {
        let Some(think) = self.plan.think else { return false };
        match think.after {
            Some(after) => now.0.saturating_sub(self.thought.0) >= after.0,
            None => self.counted >= self.thought_at + think.blocks.max(1),
        }
    }

    fn finish(&mut self, now: Nanos) {
        if self.taken() > 0 {
            return self.drain(now, Then::Finish);
        }
        self.end(now);
    }

    fn end(&mut self, now: Nanos) {
        self.state = State::Ended;
        self.wake = None;
        let depth = self.depth();
        self.record.end(now, &self.plan, depth);
    }

    /// Records the completion of a request of this process.
    pub fn answered(&mut self, io: &HostIo, done: Nanos) {
        let place = self.in_flight.iter().position(|unit| unit.sent == *io);
        let unit = self.in_flight.swap_remove(place.expect("the drive answers what it was given"));
        if unit.then_flush && io.op == HostOp::Write {
            let flush = HostIo::flush(done).with_queue(self.queue);
            self.follow.push_back((done, Unit { sent: flush, ..unit }));
            return;
        }
        if let State::Waits { .. } = self.state
            && self.single.is_some_and(|it| it.op == unit.op && it.start == unit.start)
        {
            self.single = Some(Unit { answered: Some(done), ..unit });
            self.wake = Some(done + self.costs.completion);
            return;
        }
        self.answered.push_back(Unit { answered: Some(done), ..unit });
        if let State::Rests { until } = self.state {
            self.wake = Some(done.min(until));
        }
        if let State::Collects { least, .. } = self.state
            && self.answered.len() as u32 >= least.max(1)
            && self.wake.is_none()
        {
            self.wake = Some(done);
        }
    }
}
