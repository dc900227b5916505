//! Reads that found a unit which cannot be read, and wait until its line has been read instead.

use crate::config::stripes::AT_ONCE;
use crate::observe::blame::Blame;
use fowler_units::{Id, Nanos, TxnId};
use std::collections::VecDeque;

/// A read that waits for units of its page to be recovered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// The read that found the units unreadable.
    pub read: TxnId,
    /// The first unit of the read, and the units that are recovered: one bit each, from `first` on.
    pub first: u32,
    pub which: u32,
    /// Pages of the lines that are being read.
    pub left: u32,
    /// The time since which the read waits, and the blame for the time before.
    pub since: Nanos,
    pub blame: Blame,
}

/// The recoveries in progress, and those that wait for one to end.
#[derive(Clone, Debug)]
pub(super) struct Recoveries {
    /// The recoveries in progress; the read is null in a free place.
    all: Vec<Recovery>,
    waiting: VecDeque<Recovery>,
}

impl Default for Recoveries {
    fn default() -> Self {
        let (read, blame) = (TxnId::NONE, Blame::default());
        let free = Recovery { read, first: 0, which: 0, left: 0, since: Nanos::ZERO, blame };
        Recoveries { all: vec![free; AT_ONCE], waiting: VecDeque::new() }
    }
}

impl Recoveries {
    /// Takes a recovery up. Returns its number; none if it has to wait.
    pub fn begin(&mut self, recovery: Recovery) -> Option<u32> {
        let free = self.all.iter().position(|it| !it.read.is_some());
        match free {
            Some(place) => {
                self.all[place] = recovery;
                Some(place as u32)
            }
            None => {
                self.waiting.push_back(recovery);
                None
            }
        }
    }

    /// Returns a recovery in progress.
    pub fn get_mut(&mut self, number: u32) -> &mut Recovery {
        &mut self.all[number as usize]
    }

    /// Ends a recovery and frees its place.
    pub fn end(&mut self, number: u32) -> Recovery {
        let free = Recovery { read: TxnId::NONE, ..self.all[number as usize] };
        std::mem::replace(&mut self.all[number as usize], free)
    }

    /// Takes the next recovery that waits.
    pub fn next_waiting(&mut self) -> Option<Recovery> {
        self.waiting.pop_front()
    }
}
