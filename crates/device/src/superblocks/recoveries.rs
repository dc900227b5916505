//! Reads that found a unit which cannot be read, and wait until its line has been read instead.
//! `degraded_reads.rs` has the steps.
//!
//! Invariants: at most [`AT_ONCE`] recoveries are in progress, of which at most `moving_most` move
//! units; recoveries of each kind begin in the order in which they were asked for, those of the
//! host before those that move units.

use crate::config::Config;
use crate::config::stripes::AT_ONCE;
use crate::observe::blame::Blame;
use fowler_units::{Id, Nanos, TxnId, UnitId};
use std::collections::VecDeque;

/// A flash read that waits until unreadable units of its page have been recovered from parity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// The flash read during which the units to be recovered proved unreadable.
    pub read: TxnId,
    /// True if the unreadable units are recovered because GC or refresh moves them, and no host
    /// request waits for them.
    pub moves: bool,
    /// First unit of the failed read `read`, and the units of that read that are being recovered:
    /// one bit each, from `first` on.
    pub first: UnitId,
    pub which: u32,
    /// Number of flash pages of the stripe that are still being read to recover the unreadable
    /// units.
    pub left: u32,
    /// Time since which the read waits for the recovery, and the causes of its latency before that.
    pub since: Nanos,
    pub blame: Blame,
}

/// Recoveries of unreadable units from the parity of their stripe: those in progress, and those
/// that wait for a place. Recoveries for host reads go before those for units that GC or refresh
/// moves, which may use only some of the places.
#[derive(Clone, Debug)]
pub(super) struct Recoveries {
    /// Recoveries of unreadable units in progress, one per element; an element is free if its
    /// `read` is `TxnId::NONE`.
    all: Vec<Recovery>,
    waiting: VecDeque<Recovery>,
    waiting_moves: VecDeque<Recovery>,
    /// Number of recoveries in progress for units that GC or refresh moves, as opposed to host
    /// reads; and the largest number allowed.
    moving: u32,
    moving_most: u32,
}

impl Recoveries {
    /// Creates the list of recoveries of unreadable units on a drive where none is in progress.
    pub fn new(config: &Config) -> Self {
        let (read, blame) = (TxnId::NONE, Blame::default());
        let since = Nanos::ZERO;
        let free =
            Recovery { read, moves: false, first: UnitId(0), which: 0, left: 0, since, blame };
        Recoveries {
            all: vec![free; AT_ONCE],
            waiting: VecDeque::new(),
            waiting_moves: VecDeque::new(),
            moving: 0,
            moving_most: config.redundancy.rebuild_at_once.clamp(1, AT_ONCE as u32),
        }
    }

    /// Begins the recovery of unreadable units from parity if one of the limited places for
    /// recoveries is free. Returns the number of the place; `None` if the recovery has to wait.
    pub fn begin(&mut self, recovery: Recovery) -> Option<u32> {
        let may = !recovery.moves || self.moving < self.moving_most;
        let free = self.all.iter().position(|it| !it.read.is_some()).filter(|_| may);
        let Some(place) = free else {
            let waiting = if recovery.moves { &mut self.waiting_moves } else { &mut self.waiting };
            waiting.push_back(recovery);
            return None;
        };
        self.moving += u32::from(recovery.moves);
        self.all[place] = recovery;
        Some(place as u32)
    }

    /// Returns a recovery in progress.
    pub fn get_mut(&mut self, number: u32) -> &mut Recovery {
        &mut self.all[number as usize]
    }

    /// Ends a recovery of unreadable units, frees its element and returns it.
    pub fn end(&mut self, number: u32) -> Recovery {
        let ended = self.all[number as usize];
        debug_assert!(ended.read.is_some(), "a recovery ends once");
        self.all[number as usize].read = TxnId::NONE;
        self.moving -= u32::from(ended.moves);
        ended
    }

    /// Takes the next recovery that waits and may begin, those of the host first.
    pub fn next_waiting(&mut self) -> Option<Recovery> {
        if let Some(first) = self.waiting.pop_front() {
            return Some(first);
        }
        if self.moving < self.moving_most { self.waiting_moves.pop_front() } else { None }
    }
}
