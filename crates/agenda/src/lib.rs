//! The simulated clock and the agenda, the queue of future events. Generic over the event type and
//! independent of storage.
//!
//! An entry is one `u128`: time, phase, sequence number and event. Events are therefore ordered by
//! comparing integers, which gives a total order that is the same on every machine. A superseded
//! entry stays in the queue. When it is popped, its ticket no longer matches, and the owner of the
//! entry ignores it.

mod lane;

use fowler_units::Nanos;
use lane::{Lane, NOTHING, Put};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::marker::PhantomData;

/// Phase of an event, which orders the events of the same nanosecond. The order is part of the
/// model: a die that an operation leaves at `t` can serve a request that arrives at `t`, and an
/// event that samples the drive's state at `t` sees the state after both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    /// The event is the completion of an operation.
    Completion,
    /// The event is the arrival of a request.
    Arrival,
    /// The event is a decision that no request triggers, such as GC in idle time.
    Decision,
    /// The event takes a sample of the drive's state.
    Sample,
}

/// An event small enough to be stored in the lowest 24 bits of the integer that orders the event
/// queue.
pub trait Event: Copy {
    /// Returns the event as an integer below 2^24.
    fn pack(self) -> u32;
    /// Returns the event from an integer that [`Event::pack`] returned.
    fn unpack(bits: u32) -> Self;
}

/// The identifier of an agenda entry: its key without the time. The sequence number in the key
/// makes a ticket unique, so no ticket is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

impl Ticket {
    /// A ticket (the identifier of an entry of the event queue) that matches no entry.
    pub const NONE: Ticket = Ticket(u64::MAX);
}

const EVENT_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 38;
const PHASE_SHIFT: u32 = EVENT_BITS + SEQUENCE_BITS;
/// Increment by which the 128-bit keys of two successively scheduled events differ in the bits of
/// their sequence numbers.
const NEXT: u64 = 1 << EVENT_BITS;
const TIME_SHIFT: u32 = PHASE_SHIFT + 2;

/// Number of lanes of the event queue: FIFO queues for events that are usually added in order of
/// their due times. The last lane is for rare events.
pub const LANES: usize = 4;

/// Index in [`Agenda::heads`] of the first rare event: of the first keys of the last lane and of
/// the binary heap, the smaller one.
const RARE: usize = LANES - 1;

/// The clock and the events to come.
///
/// Operations that always take the same time end in the order in which they began. Their entries
/// wait in a *lane*, a plain queue, and only the first entry of each lane competes to be next. An
/// entry goes to the heap if it has no lane, if its lane is full, or if it is due before the last
/// entry of its lane. The place where an entry waits affects only its cost, never its order, which
/// is that of the keys.
#[derive(Clone, Debug)]
pub struct Agenda<E> {
    now: Nanos,
    /// Sequence number of the next event to be scheduled, shifted to the bits that it has in the
    /// event's 128-bit key.
    sequence: u64,
    /// First event key of each lane (FIFO queue); for the last lane, the smaller one of its first
    /// key and the first key of the binary heap.
    heads: [u128; LANES],
    /// Smallest of the keys of all scheduled events in the queue: that of the next event.
    first: u128,
    /// Index in `heads` (the first event key of each lane) of the smallest key, which is that of
    /// the next event.
    next: usize,
    /// True if, of the first event in the binary heap and the first event in the last lane, that of
    /// the heap is due first.
    rare_in_heap: bool,
    lanes: [Lane; LANES],
    heap: BinaryHeap<Reverse<u128>>,
    event: PhantomData<E>,
}

impl<E: Event> Agenda<E> {
    /// Creates an empty event queue with the clock at zero. `capacity` is the number of events that
    /// its binary heap, which holds the events outside the FIFO lanes, takes before it has to grow.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            now: Nanos::ZERO,
            sequence: 0,
            heads: [NOTHING; LANES],
            first: NOTHING,
            next: 0,
            rare_in_heap: false,
            lanes: std::array::from_fn(|_| Lane::new()),
            heap: BinaryHeap::with_capacity(capacity),
            event: PhantomData,
        }
    }

    /// Returns the current simulated time.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Adds an event at `at`. Events of the same time and phase happen in the order in which they
    /// were added.
    ///
    /// # Panics
    /// If `at` lies in the past, or is [`Nanos::NEVER`].
    #[inline]
    pub fn schedule(&mut self, at: Nanos, phase: Phase, event: E) -> Ticket {
        let (key, ticket) = self.key(at, phase, event);
        self.push_on_heap(key);
        ticket
    }

    /// Schedules an event at time `at` like [`Agenda::schedule`], but in the FIFO queue number
    /// `lane`, which is faster than the binary heap if the event is usually due after all events
    /// already in that queue. Only events of [`Phase::Completion`] use such a queue; all others go
    /// to the heap.
    ///
    /// # Panics
    /// As [`Agenda::schedule`], and if there is no such lane.
    #[inline]
    pub fn schedule_in(&mut self, lane: usize, at: Nanos, phase: Phase, event: E) -> Ticket {
        let mut ticket = Ticket::NONE;
        self.schedule_noted(lane, at, phase, event, |scheduled| ticket = scheduled);
        ticket
    }

    /// Schedules an event in a FIFO queue like [`Agenda::schedule_in`], but passes the event's
    /// ticket (its identifier) to `note` before storing the event. The caller then does nothing
    /// after the call, so it need not save registers across it.
    ///
    /// # Panics
    /// As [`Agenda::schedule_in`].
    #[inline]
    pub fn schedule_noted(
        &mut self,
        lane: usize,
        at: Nanos,
        phase: Phase,
        event: E,
        note: impl FnOnce(Ticket),
    ) {
        let (key, ticket) = self.key(at, phase, event);
        note(ticket);
        self.put(lane, at, phase, key);
    }

    /// Stores the key of an event in the FIFO queue number `lane`, or in the binary heap if that
    /// queue refuses the key or the event is not a completion.
    #[inline]
    fn put(&mut self, lane: usize, at: Nanos, phase: Phase, key: u128) {
        debug_assert!(at != Nanos::NEVER, "an event was scheduled at NEVER");
        // A lane has a single phase, so of two keys with the same time, the later one is greater.
        let put = match phase {
            Phase::Completion => self.lanes[lane].put(at, key),
            Phase::Arrival | Phase::Decision | Phase::Sample => Put::Refused,
        };
        match put {
            Put::Behind => {}
            Put::First if lane < RARE => self.begin(lane, key),
            Put::First => self.begin_rare(key, false),
            Put::Refused => self.push_on_heap(key),
        }
    }

    /// Creates the 128-bit key of a new event, which orders the event queue, and its ticket, the
    /// lower 64 bits. See docs/decisions/device.md, "What orders events?".
    #[inline]
    fn key(&mut self, at: Nanos, phase: Phase, event: E) -> (u128, Ticket) {
        assert!(at >= self.now, "an event was scheduled in the past");
        let sequence = self.sequence;
        self.sequence += NEXT;
        let bits = event.pack();
        // A larger number would change the order. `Event::pack` never returns one, because
        // implementations check their indices before the run.
        debug_assert!(bits >> EVENT_BITS == 0, "an event does not fit {EVENT_BITS} bits");
        let rest = ((phase as u64) << PHASE_SHIFT) | sequence | u64::from(bits);
        ((u128::from(at.0) << TIME_SHIFT) | u128::from(rest), Ticket(rest))
    }

    /// Pushes a key onto the heap. Not inlined: [`Agenda::schedule_in`] rarely calls this function,
    /// but would save registers for it on every call.
    #[inline(never)]
    fn push_on_heap(&mut self, key: u128) {
        // `NEVER` means "no deadline" and must not be scheduled. Lanes need no such check: their
        // events end at the current time plus a span, and that sum panics on overflow.
        assert!(time(key) != Nanos::NEVER, "an event was scheduled at NEVER");
        self.check_sequence();
        self.heap.push(Reverse(key));
        self.begin_rare(key, true);
    }

    /// Makes `key` the first key of the rare events (those in the last lane and in the binary heap)
    /// if it is due before the current first one.
    fn begin_rare(&mut self, key: u128, in_heap: bool) {
        if key < self.heads[RARE] {
            self.rare_in_heap = in_heap;
            self.begin(RARE, key);
        }
    }

    /// Asserts that sequence numbers of events have not grown into the bits of a key that hold the
    /// phase. Called when an event goes to the heap and when the clock is advanced, which is often
    /// enough and cheaper than for every event.
    #[inline]
    fn check_sequence(&self) {
        assert!(self.sequence >> PHASE_SHIFT == 0, "more than 2^38 events in one run");
    }

    /// Makes `key` the first key of the lane (FIFO queue) with index `place`, and that of the next
    /// event if it is the smallest key of the event queue.
    #[inline]
    fn begin(&mut self, place: usize, key: u128) {
        self.heads[place] = key;
        if key < self.first {
            self.first = key;
            self.next = place;
        }
    }

    /// Returns the time and the phase of the next event; `None` if there is none.
    #[inline]
    pub fn next_due(&self) -> Option<(Nanos, Phase)> {
        let key = self.first;
        (key != NOTHING).then(|| (time(key), phase(key)))
    }

    /// Returns true if an event is due before phase `phase` of time `at`.
    #[inline]
    pub fn is_due_before(&self, at: Nanos, phase: Phase) -> bool {
        self.first < (u128::from(at.0) << TIME_SHIFT) | ((phase as u128) << PHASE_SHIFT)
    }

    /// Advances the clock to the next event and removes that event from the agenda. `None` if there
    /// is none.
    #[inline]
    pub fn pop(&mut self) -> Option<(Ticket, E)> {
        let key = self.first;
        if key == NOTHING {
            return None;
        }
        self.take_first();
        let due = time(key);
        // Already asserted where entries are created and where the clock is advanced.
        debug_assert!(due >= self.now, "time ran backwards");
        self.now = due;
        Some((Ticket(key as u64), E::unpack(key as u32 & ((1 << EVENT_BITS) - 1))))
    }

    #[inline]
    fn take_first(&mut self) {
        let place = self.next;
        if place < RARE {
            self.heads[place] = self.lanes[place].take();
        } else {
            self.take_rare();
        }
        let [a, b, c, rare] = self.heads;
        let ab = if b < a { (b, 1) } else { (a, 0) };
        (self.first, self.next) = if c < ab.0 { (c, 2) } else { ab };
        // Rare entries are usually later. Comparing the upper halves, which hold the times, is
        // enough to see that, and the branch is well predicted.
        if rare >> 64 <= self.first >> 64 {
            self.weigh_rare();
        }
    }

    /// Removes the event that is due first of those outside the fast FIFO lanes: rare events, which
    /// wait in the last lane or, out of order, in the binary heap.
    #[inline(never)]
    fn take_rare(&mut self) {
        if self.rare_in_heap {
            self.heap.pop();
        } else {
            self.lanes[RARE].take();
        }
        let in_heap = self.heap.peek().map_or(NOTHING, |&Reverse(key)| key);
        let in_lane = self.lanes[RARE].first();
        self.rare_in_heap = in_heap < in_lane;
        self.heads[RARE] = in_heap.min(in_lane);
    }

    /// Makes the first rare event (of the last lane or the binary heap) the next event if its key
    /// is smaller than the first key of every other lane.
    #[inline(never)]
    fn weigh_rare(&mut self) {
        let key = self.heads[RARE];
        if key < self.first {
            (self.first, self.next) = (key, RARE);
        }
    }

    /// Advances the simulated clock to the time of an event that is not in the event queue.
    ///
    /// # Panics
    /// If `to` lies in the past or beyond the next event, or after 2^38 entries.
    #[inline]
    pub fn advance(&mut self, to: Nanos) {
        assert!(to >= self.now, "time ran backwards");
        // Otherwise, `pop` would turn the clock back. If the agenda is empty, `first` is later
        // than any time.
        assert!(to <= time(self.first), "the clock would skip an event");
        self.check_sequence();
        self.now = to;
    }

    /// Returns the number of events in the event queue, including those that their owner has
    /// replaced and will ignore when they come up.
    pub fn len(&self) -> usize {
        self.heap.len() + self.lanes.iter().map(Lane::len).sum::<usize>()
    }

    /// Returns true if no event is scheduled in the event queue.
    pub fn is_empty(&self) -> bool {
        self.next_due().is_none()
    }
}

#[inline]
fn time(key: u128) -> Nanos {
    Nanos((key >> TIME_SHIFT) as u64)
}

#[inline]
fn phase(key: u128) -> Phase {
    match (key >> PHASE_SHIFT) & 3 {
        0 => Phase::Completion,
        1 => Phase::Arrival,
        2 => Phase::Decision,
        _ => Phase::Sample,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Rng;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Number(u32);

    impl Event for Number {
        fn pack(self) -> u32 {
            self.0
        }
        fn unpack(bits: u32) -> Self {
            Number(bits)
        }
    }

    #[test]
    fn moments_then_phases_then_order_of_making() {
        let mut agenda = Agenda::with_capacity(8);
        let entries = [
            (5, Phase::Sample, 0),
            (5, Phase::Completion, 1),
            (3, Phase::Decision, 2),
            (5, Phase::Completion, 3),
            (u64::MAX - 1, Phase::Arrival, (1 << 24) - 1),
        ];
        for (at, phase, number) in entries {
            agenda.schedule(Nanos(at), phase, Number(number));
        }
        assert_eq!(agenda.next_due(), Some((Nanos(3), Phase::Decision)));
        let order: Vec<u32> = std::iter::from_fn(|| agenda.pop()).map(|(_, Number(n))| n).collect();
        assert_eq!(order, [2, 1, 3, 0, (1 << 24) - 1]);
        assert_eq!(agenda.now(), Nanos(u64::MAX - 1));
    }

    /// Compares with an obvious oracle, a sorted list.
    #[test]
    fn lanes_change_nothing_but_the_cost() {
        let mut rng = Rng::stream(3, "agenda/lanes");
        for _ in 0..200 {
            let mut agenda = Agenda::with_capacity(4);
            let mut expected: Vec<(u64, Phase, u64)> = Vec::new();
            for number in 0..rng.below(400) {
                let at = agenda.now().0 + rng.below(50);
                let phase = [Phase::Completion, Phase::Decision][rng.below(2) as usize];
                match rng.below(2 * LANES as u64) as usize {
                    lane if lane < LANES => {
                        agenda.schedule_in(lane, Nanos(at), phase, Number(number as u32))
                    }
                    _ => agenda.schedule(Nanos(at), phase, Number(number as u32)),
                };
                expected.push((at, phase, number));
                while rng.chance(0.45) {
                    expected.sort_unstable();
                    let due = (!expected.is_empty()).then(|| expected.remove(0));
                    let next = agenda.next_due();
                    assert_eq!(next, due.map(|(at, phase, _)| (Nanos(at), phase)));
                    for at in [agenda.now(), Nanos(agenda.now().0 + rng.below(50)), Nanos::NEVER] {
                        for phase in [Phase::Completion, Phase::Arrival, Phase::Decision] {
                            let before = next.is_some_and(|next| next < (at, phase));
                            assert_eq!(agenda.is_due_before(at, phase), before);
                        }
                    }
                    let popped = agenda.pop().map(|(_, Number(number))| u64::from(number));
                    assert_eq!(popped, due.map(|(_, _, number)| number));
                }
                assert_eq!(agenda.len(), expected.len());
                assert_eq!(agenda.is_empty(), expected.is_empty());
            }
        }
    }

    #[test]
    fn tickets_name_their_entries() {
        let mut agenda = Agenda::with_capacity(2);
        let first = agenda.schedule(Nanos(2), Phase::Completion, Number(7));
        let second = agenda.schedule(Nanos(1), Phase::Completion, Number(7));
        assert_eq!(agenda.pop(), Some((second, Number(7))));
        assert_eq!(agenda.pop(), Some((first, Number(7))));
    }

    #[test]
    #[should_panic(expected = "an event was scheduled at NEVER")]
    fn nothing_happens_at_no_time() {
        Agenda::with_capacity(1).schedule(Nanos::NEVER, Phase::Decision, Number(0));
    }

    #[test]
    #[should_panic(expected = "the clock would skip an event")]
    fn the_clock_passes_no_event() {
        let mut agenda = Agenda::with_capacity(1);
        agenda.schedule(Nanos(9), Phase::Completion, Number(0));
        agenda.advance(Nanos(10));
    }

    #[test]
    #[should_panic(expected = "an event was scheduled in the past")]
    fn nothing_happens_in_the_past() {
        let mut agenda = Agenda::with_capacity(1);
        agenda.advance(Nanos(10));
        agenda.schedule(Nanos(9), Phase::Completion, Number(0));
    }
}
