//! Garbage collection: which superblock is emptied, and how fast.
//!
//! When fewer than `gc.foreground_below` superblocks are erased, the one with the fewest valid
//! units is emptied. Host and collection keep in step: for each unit that emptying it frees, so
//! many are moved. Neither runs ahead of the other by more than [`Collector::slack`], so that the
//! host never stalls while a whole superblock is moved, and reads do not meet bursts of moves. Only
//! a host that waits for a superblock is no longer waited for.
//!
//! The SLC cache is emptied by the same steps ([`super::slc_cache`]): one superblock at a time is
//! read, of whichever kind, and garbage collection comes first. Beside it, units of one more may be
//! read to fill a command ([`super::top_up`]).

use super::shape::Shape;
use crate::config::Config;
use crate::policy::placement::STREAMS_MAX;
use std::collections::VecDeque;

/// Why a superblock is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Too few are erased.
    Space,
    /// The SLC cache is full.
    CacheFull,
    /// The host is idle, and the SLC cache holds data.
    Idle,
    /// Its data is old.
    Refresh,
}

/// A superblock that is being emptied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) victim: u32,
    pub(super) why: Why,
    /// The next unit to look at, and the end.
    pub(super) next: u32,
    pub(super) end: u32,
    /// Its valid units when the job began, and the units that erasing it gains.
    pub(super) valid: i64,
    pub(super) gain: i64,
    /// Units that have been read from it, and units that the host has written since, with what it
    /// had written too much or too little before.
    pub(super) moved: i64,
    pub(super) written: i64,
    /// How far host and job may be ahead of each other.
    pub(super) slack: i64,
    /// The stream that its units are moved into.
    pub(super) into: u8,
}

/// The slack of a job in idle time, and of one that gains nothing: there is nobody to keep in step
/// with. Products of it with the units of a superblock fit.
pub(super) const UNPACED: i64 = 1 << 32;

/// The state of garbage collection.
#[derive(Clone, Debug)]
pub(super) struct Collector {
    /// It begins when fewer superblocks are erased.
    pub(super) below: u32,
    pub(super) job: Option<Job>,
    /// The superblock chosen to be emptied for its space, whose units have no place to go to yet.
    pub(super) chosen: Option<u32>,
    /// Units read and not yet sent to their new place, by stream: the unit of the host, and where
    /// it was.
    pub(super) copied: Vec<VecDeque<(u32, u32)>>,
    /// Units between their read and the end of their program, and the most there may be.
    pub(super) moving: u32,
    moving_most: u32,
    /// Those of them that no program command has taken yet, by stream.
    pub(super) unsent: [u32; STREAMS_MAX],
    /// Reads in flight.
    pub(super) reading: u32,
    /// How far host and collection may be ahead of each other, in units: two word lines of all
    /// dies.
    pub(super) slack: i64,
    /// What the host had written beyond what the last job gained.
    pub carried: i64,
    /// Whether the last job was for space and gained less than a command holds
    /// ([`super::top_up`]).
    pub gained_little: bool,
    /// Superblocks being emptied or erased, of those that are not set aside.
    pub leaving: u32,
}

impl Collector {
    /// Creates the state on a drive with so many streams, of which `moved` are of moved data.
    pub fn new(config: &Config, shape: &Shape, (streams, moved): (u8, u32)) -> Collector {
        let moving_most = Collector::commands_moving(shape, moved) * shape.units_per_command;
        Collector {
            below: config.gc.foreground_below,
            job: None,
            chosen: None,
            copied: (0..streams).map(|_| VecDeque::with_capacity(moving_most as usize)).collect(),
            moving: 0,
            moving_most,
            unsent: [0; STREAMS_MAX],
            reading: 0,
            slack: (2 * shape.dies * shape.units_per_command).into(),
            carried: 0,
            gained_little: false,
            leaving: 0,
        }
    }

    /// Returns the most commands whose data is on its way to its new place: two word lines of all
    /// dies, which is enough to keep every die at work, and what each further stream of moved data
    /// may keep incomplete.
    pub fn commands_moving(shape: &Shape, moved: u32) -> u32 {
        2 * shape.dies + moved - 1
    }

    /// Returns whether the host may program another command.
    #[inline]
    pub fn lets_host_write(&self) -> bool {
        self.job.is_none_or(|job| {
            job.written * job.valid <= job.moved * job.gain + job.slack * job.valid
        })
    }

    /// The host has sent units to the flash. While nothing is emptied, that uses up what emptying
    /// is ahead; the host is not held back later for what nobody asked it to wait for.
    #[inline]
    pub fn host_wrote(&mut self, units: u32) {
        match &mut self.job {
            Some(job) => job.written += i64::from(units),
            None if self.carried < 0 => self.carried = (self.carried + i64::from(units)).min(0),
            None => {}
        }
    }

    /// Returns the units that superblocks being emptied may still send to a stream.
    pub fn promised(&self, stream: u8) -> i64 {
        let job = self.job.filter(|job| job.into == stream);
        let unread = job.map_or(0, |job| (job.valid - job.moved).max(0));
        unread + i64::from(self.unsent[usize::from(stream)])
    }

    /// Returns the number of superblocks that it keeps erased.
    pub fn keeps(&self) -> u32 {
        self.below
    }

    /// Takes a unit that has been read, to be sent to its new place in a stream.
    pub fn next_copied(&mut self, stream: u8) -> (u32, u32) {
        self.unsent[usize::from(stream)] -= 1;
        self.copied[usize::from(stream)].pop_front().expect("counted by the caller")
    }

    /// Returns the unit that will be taken next, without taking it.
    pub fn first_copied(&self, stream: u8) -> (u32, u32) {
        self.copied[usize::from(stream)][0]
    }

    /// Units have been stored in their new place.
    pub fn stored(&mut self, units: u32) {
        self.moving -= units;
    }

    /// Returns the units that have been read and wait to be sent to a stream.
    pub fn waiting(&self, stream: u8) -> u32 {
        self.copied[usize::from(stream)].len() as u32
    }

    /// Returns whether nothing more is read until the next job begins.
    pub fn rests(&self) -> bool {
        self.job.is_none() && self.reading == 0
    }

    /// Returns whether so many more units may be moved at once.
    pub fn has_room_for(&self, units: u32) -> bool {
        self.moving + units <= self.moving_most
    }

    /// Returns the units between their read and the end of their program, and the reads in flight.
    pub fn in_flight(&self) -> (u32, u32) {
        (self.moving, self.reading)
    }

    /// Returns the superblock that is being read, and why.
    pub fn victim(&self) -> Option<(u32, Why)> {
        self.job.map(|job| (job.victim, job.why))
    }
}

impl Job {
    /// Returns whether another unit may be moved, if the host is not to be overtaken.
    pub(super) fn keeps_step(&self) -> bool {
        self.moved * self.gain <= (self.written + self.slack) * self.valid
    }
}
