//! Garbage collection: the choice of superblocks to empty, and the pace of emptying them.
//!
//! When fewer than `gc.foreground_below` superblocks are erased, the one that `policy.victim`
//! chooses is emptied. Host and collection keep in step: the share of the victim's valid units that
//! has been moved follows the share of the freed units that the host has written. Neither runs
//! ahead of the other by more than [`Collector::slack`], so that the host never stalls while a
//! whole superblock is moved, and reads do not meet bursts of moves. Collection does not wait for a
//! host that itself waits for a superblock.
//!
//! The SLC cache is emptied by the same steps ([`super::slc_cache`]): one superblock at a time is
//! read, of whichever kind, and garbage collection comes first, but for a swap of cold data that an
//! erase has called for ([`super::wear_leveling`]). Beside it, units of one more may be
//! read to fill a command ([`super::top_up`]).

use super::commands::MOVED_MAX;
use super::shape::Shape;
use crate::config::Config;
use std::collections::VecDeque;

/// Why a superblock is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Too few superblocks are erased.
    Space,
    /// The SLC cache is full.
    CacheFull,
    /// The host is idle, and the SLC cache holds data.
    Idle,
    /// The data of the superblock is old: it was read far down the retry table.
    Refresh,
    /// The superblock has few erases, and its data is cold: it moves into a worn one.
    Wear,
}

/// A superblock that is being emptied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) victim: u32,
    pub(super) why: Why,
    /// The next unit of the victim to look at, and the end of its units.
    pub(super) next: u32,
    pub(super) end: u32,
    /// Valid units of the victim when the job began, and units that its erase gains for the host.
    pub(super) valid: i64,
    pub(super) gain: i64,
    /// Units read from the victim so far, and units that the host has written since the job began,
    /// including those carried over from the last job for space ([`Collector::carried`]).
    pub(super) moved: i64,
    pub(super) written: i64,
    /// Units by which host and job may be ahead of each other; [`UNPACED`] without such a limit.
    pub(super) slack: i64,
    /// The stream that the units of the victim are moved into.
    pub(super) into: u8,
}

/// The slack, in units, of a job in idle time and of a refresh, which keep in step with nobody. Its
/// products with the units of a superblock fit into 64 bits.
pub(super) const UNPACED: i64 = 1 << 32;

/// The state of garbage collection.
#[derive(Clone, Debug)]
pub(super) struct Collector {
    /// Garbage collection begins when fewer superblocks than this are erased or being emptied.
    pub(super) below: u32,
    pub(super) job: Option<Job>,
    /// The superblock chosen to be emptied for its space, whose units have no place to go to yet.
    pub(super) chosen: Option<u32>,
    /// Units read and not yet sent to their new place, by stream: the unit of the host, and its old
    /// place in the flash.
    pub(super) copied: [VecDeque<(u32, u32)>; MOVED_MAX],
    /// Units between the submission of their read and the end of their program, and the most
    /// there may be.
    pub(super) moving: u32,
    moving_most: u32,
    /// Units being moved that no program command has taken yet, by stream.
    pub(super) unsent: [u32; MOVED_MAX],
    /// Reads for moved units in flight.
    pub(super) reading: u32,
    /// Units by which host and collection may be ahead of each other: two word lines of all dies.
    pub(super) slack: i64,
    /// Units that the host has written beyond those that the last collection for space gained for
    /// it; negative if it has written fewer. The next collection for space starts with this
    /// balance.
    pub carried: i64,
    /// True if the last job was for space and gained less than a command holds ([`super::top_up`]).
    pub gained_little: bool,
    /// Number of superblocks being emptied or erased, without those reserved for the SLC cache
    /// (`slc.static`).
    pub leaving: u32,
    /// In a life, in which units are moved in no time: the next place and the end of the command
    /// that each stream has begun ([`super::untimed`]).
    pub(super) begun: [Option<(u32, u32)>; MOVED_MAX],
}

impl Collector {
    /// Creates the state on a drive with these streams of moved data.
    pub fn new(config: &Config, shape: &Shape, moved: &[u8]) -> Collector {
        let into = |at: usize| moved.iter().any(|&stream| usize::from(stream) == at);
        let moved = moved.len() as u32;
        let moving_most = Collector::commands_moving(shape, moved) * shape.units_per_command;
        Collector {
            below: config.gc.foreground_below,
            job: None,
            chosen: None,
            copied: std::array::from_fn(|at| {
                VecDeque::with_capacity(if into(at) { moving_most as usize } else { 0 })
            }),
            moving: 0,
            moving_most,
            unsent: [0; MOVED_MAX],
            reading: 0,
            slack: (2 * shape.dies * shape.units_per_command).into(),
            carried: 0,
            gained_little: false,
            leaving: 0,
            begun: [None; MOVED_MAX],
        }
    }

    /// Returns the most commands whose data is on its way to its new place: two word lines of all
    /// dies, which is enough to keep every die at work, and one incomplete command for each further
    /// stream of moved data.
    pub fn commands_moving(shape: &Shape, moved: u32) -> u32 {
        2 * shape.dies + moved - 1
    }

    /// Ends a job that has read all units of its superblock: units that the host has written beyond
    /// those that the job gains are charged to the next collection for space. A swap of cold data
    /// gains nothing.
    pub(super) fn carry(&mut self, job: &Job) {
        match job.why {
            Why::Space => self.carried = job.written - job.gain,
            Why::Wear => self.carried += job.written,
            Why::CacheFull | Why::Idle | Why::Refresh => {}
        }
    }

    /// Returns true if the host may program another command.
    #[inline]
    pub fn lets_host_write(&self) -> bool {
        self.job.is_none_or(|job| {
            job.written * job.valid <= job.moved * job.gain + job.slack * job.valid
        })
    }

    /// Records that the host has sent units to the flash. While no superblock is being emptied,
    /// they only use up units that earlier collections gained and the host has not written yet, so
    /// that the host is not held back for them later.
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

    /// Returns the places that are left in the command that a stream has begun.
    pub(super) fn left_of_command(&self, stream: u8) -> u32 {
        self.begun[usize::from(stream)].map_or(0, |(next, end)| end - next)
    }

    /// Returns the number of superblocks that garbage collection keeps erased.
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

    /// Returns true if nothing more is read until the next job begins.
    pub fn rests(&self) -> bool {
        self.job.is_none() && self.reading == 0
    }

    /// Returns true if so many more units may be moved at once.
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
    /// Returns true if another unit may be moved without getting ahead of the host by more than the
    /// slack.
    pub(super) fn keeps_step(&self) -> bool {
        self.moved * self.gain <= (self.written + self.slack) * self.valid
    }
}
