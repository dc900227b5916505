//! The pace at which units enter the write buffer.
//!
//! A buffer that fills at full speed acknowledges writes in microseconds until it is full, and then
//! in milliseconds. Some drives delay writes before that: the fuller the buffer, the longer is the
//! time between two units, from nothing at `buffer.pace_from` to `buffer.pace` when it is full.
//!
//! Invariants: no unit enters before `next`; at most one event per value of `next` is scheduled.

use crate::config::BufferConfig;
use crate::event::Event;
use crate::flash::Flash;
use fowler_agenda::Phase;
use fowler_units::{Nanos, Span};

/// The settings of the pace at which units enter the write buffer, and the time at which the next
/// unit may enter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The time between two units that enter a full buffer.
    full: Span,
    /// Number of frames of the write buffer in use above which the entry of further units is
    /// delayed (`buffer.pace_from`), and the number of all frames.
    from: u64,
    frames: u64,
    next: Nanos,
    /// Time of the event on the agenda that lets the next unit into the buffer.
    scheduled: Nanos,
}

impl Pace {
    pub fn new(config: &BufferConfig, frames: u32) -> Pace {
        // Rounded down, and at least one frame below all of them.
        let from = (f64::from(frames) * config.pace_from) as u64;
        let from = from.min(u64::from(frames).saturating_sub(1));
        let never = Nanos::ZERO;
        Pace { full: config.pace, from, frames: frames.into(), next: never, scheduled: never }
    }

    /// Returns true if the delay of writes lets a unit enter the write buffer now. If not,
    /// schedules an event for the time at which the unit may enter.
    #[inline]
    pub fn lets_in(&mut self, flash: &mut Flash) -> bool {
        self.next <= flash.now() || self.wait(flash)
    }

    #[cold]
    fn wait(&mut self, flash: &mut Flash) -> bool {
        if self.scheduled != self.next {
            self.scheduled = self.next;
            flash.agenda.schedule(self.next, Phase::Decision, Event::Paced);
        }
        false
    }

    /// Records that a unit has entered the write buffer, of which `used` frames are in use now;
    /// determines when the next unit may enter.
    #[inline]
    pub fn entered(&mut self, used: usize, now: Nanos) {
        if self.full > Span::ZERO {
            debug_assert!(self.from < self.frames, "a buffer without room above `from`");
            let above = (used as u64).saturating_sub(self.from);
            let share = u128::from(self.full.0) * u128::from(above);
            self.next = now + Span((share / u128::from(self.frames - self.from)) as u64);
        }
    }
}
