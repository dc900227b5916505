//! The clock and the agenda: what happens next in simulated time. Generic in the event; knows no
//! storage word.
//!
//! An entry is one `u128`: time, phase, sequence number and event, so that the order of events is a
//! comparison of integers, total, and the same on every machine. A superseded event is not searched
//! for: its ticket no longer matches and its owner drops it when it is popped.

use fowler_units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::marker::PhantomData;

/// The order of events that fall on the same nanosecond. It is part of the model: a die that becomes
/// free at `t` can serve a request that arrives at `t` (S15); samples see the state after both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    /// Something ends.
    Completion,
    /// Something enters.
    Arrival,
    /// Something is considered that nobody asked for, such as collection in idle time.
    Decision,
    /// Something is looked at.
    Sample,
}

/// An event small enough to ride in its own key.
pub trait Event: Copy {
    /// The event as an integer below 2^24.
    fn pack(self) -> u32;
    /// The event that [`Event::pack`] made an integer of.
    fn unpack(bits: u32) -> Self;
}

/// Names one entry of the agenda; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

impl Ticket {
    /// The ticket of no entry.
    pub const NONE: Ticket = Ticket(u64::MAX);
}

const EVENT_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 38;
const PHASE_SHIFT: u32 = EVENT_BITS + SEQUENCE_BITS;
const TIME_SHIFT: u32 = PHASE_SHIFT + 2;

/// The clock and what is still to happen.
#[derive(Clone, Debug)]
pub struct Agenda<E> {
    now: Nanos,
    sequence: u64,
    heap: BinaryHeap<Reverse<u128>>,
    event: PhantomData<E>,
}

impl<E: Event> Agenda<E> {
    /// An empty agenda at time zero, with room for `capacity` entries before it must grow.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            now: Nanos::ZERO,
            sequence: 0,
            heap: BinaryHeap::with_capacity(capacity),
            event: PhantomData,
        }
    }

    /// The present.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Something happens at `at`. Entries of one moment and phase keep the order of their making.
    ///
    /// # Panics
    /// If `at` lies in the past, or after 2^38 entries.
    #[inline]
    pub fn schedule(&mut self, at: Nanos, phase: Phase, event: E) -> Ticket {
        assert!(at >= self.now, "an event in the past");
        let sequence = self.sequence;
        self.sequence += 1;
        assert!(self.sequence >> SEQUENCE_BITS == 0, "more than 2^38 events in one run");
        let bits = event.pack();
        debug_assert!(bits >> EVENT_BITS == 0);
        let key = (u128::from(at.0) << TIME_SHIFT)
            | ((phase as u128) << PHASE_SHIFT)
            | (u128::from(sequence) << EVENT_BITS)
            | u128::from(bits);
        self.heap.push(Reverse(key));
        Ticket(sequence)
    }

    /// When the next event is due, and in which phase of that moment.
    #[inline]
    pub fn next_due(&self) -> Option<(Nanos, Phase)> {
        self.heap.peek().map(|&Reverse(key)| (time(key), phase(key)))
    }

    /// Moves the clock to the next event and takes it off the agenda.
    #[inline]
    pub fn pop(&mut self) -> Option<(Ticket, E)> {
        let Reverse(key) = self.heap.pop()?;
        let due = time(key);
        assert!(due >= self.now, "time ran backwards");
        self.now = due;
        let sequence = (key >> EVENT_BITS) as u64 & ((1 << SEQUENCE_BITS) - 1);
        Some((Ticket(sequence), E::unpack(key as u32 & ((1 << EVENT_BITS) - 1))))
    }

    /// Moves the clock forward to something that happens outside the agenda.
    ///
    /// # Panics
    /// If `to` lies in the past or beyond the next event.
    #[inline]
    pub fn advance(&mut self, to: Nanos) {
        assert!(to >= self.now, "time ran backwards");
        debug_assert!(self.next_due().is_none_or(|(due, _)| due >= to));
        self.now = to;
    }

    /// Entries on the agenda, superseded ones included.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is due any more.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

fn time(key: u128) -> Nanos {
    Nanos((key >> TIME_SHIFT) as u64)
}

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

    #[test]
    fn tickets_name_their_entries() {
        let mut agenda = Agenda::with_capacity(2);
        let first = agenda.schedule(Nanos(2), Phase::Completion, Number(7));
        let second = agenda.schedule(Nanos(1), Phase::Completion, Number(7));
        assert_eq!(agenda.pop(), Some((second, Number(7))));
        assert_eq!(agenda.pop(), Some((first, Number(7))));
    }

    #[test]
    #[should_panic(expected = "an event in the past")]
    fn nothing_happens_in_the_past() {
        let mut agenda = Agenda::with_capacity(1);
        agenda.advance(Nanos(10));
        agenda.schedule(Nanos(9), Phase::Completion, Number(0));
    }
}
