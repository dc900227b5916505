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
//! read, of whichever kind, and garbage collection comes first, except for a swap of cold data that
//! an erase has called for ([`super::wear_leveling`]). Units of one more superblock may be read to
//! fill a command ([`super::top_up`]).
//!
//! Invariants: at most one superblock is being read to be emptied (`job`); no more units than
//! `moving_most` are between their read and the end of their program; no more units are promised to
//! a stream than fit there (`check.rs`). `collection_jobs.rs` has the steps of a job.

use super::commands::MOVED_MAX;
use super::shape::Shape;
use crate::config::Config;
use crate::policy::placement::StreamId;
use fowler_units::{Lpn, RuId, UnitId};
use std::collections::VecDeque;

/// Reason why a superblock is being emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Fewer superblocks are erased than GC must keep in reserve for host writes and moved data.
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
pub(super) struct EmptyingJob {
    pub(super) victim: RuId,
    pub(super) why: Why,
    /// The next unit to look at in the superblock being emptied; and the end of its units.
    pub(super) next: UnitId,
    pub(super) end: UnitId,
    /// Number of valid units of the superblock being emptied, when its emptying began; and number
    /// of units that its erase gains for the host.
    pub(super) valid: i64,
    pub(super) gain: i64,
    /// Number of units read so far from the superblock being emptied; and number of units that the
    /// host has written since its emptying began. For one emptied to gain free space, the latter
    /// starts with the units by which host writes exceeded earlier gains ([`Collector::carried`];
    /// negative if they fell short).
    pub(super) moved: i64,
    pub(super) written: i64,
    /// Number of units by which the host and the emptying of this superblock may be ahead of each
    /// other in their shares of the work; [`UNPACED`] without such a limit.
    pub(super) slack: i64,
    /// The stream into which the valid units of the superblock being emptied are moved.
    pub(super) into: StreamId,
}

/// Value of `slack` that is never reached: superblocks emptied in idle time or for a refresh are
/// not paced by the host's writes. Its product with the units of a superblock fits into 64 bits.
pub(super) const UNPACED: i64 = 1 << 32;

/// State of garbage collection, and of the other moves of data between superblocks.
#[derive(Clone, Debug)]
pub(super) struct Collector {
    /// Garbage collection begins when fewer superblocks than this are erased or being emptied.
    pub(super) below: u32,
    pub(super) job: Option<EmptyingJob>,
    /// The superblock chosen to be emptied for its space, whose units have no place to go to yet.
    pub(super) chosen: Option<RuId>,
    /// Units read and not yet sent to their new place, by stream: the unit of the host, and its old
    /// place in the flash.
    pub(super) copied: [VecDeque<(Lpn, UnitId)>; MOVED_MAX],
    /// Number of units being moved by GC, from the submission of a unit's read to the end of its
    /// program; and the largest number allowed.
    pub(super) moving: u32,
    moving_most: u32,
    /// Units being moved that no program command has taken yet, by stream.
    pub(super) unsent: [u32; MOVED_MAX],
    /// Number of reads in flight of valid units that are moved out of superblocks being emptied.
    pub(super) reading: u32,
    /// Number of units by which the progress of host writes and that of garbage collection may
    /// differ, after scaling each to its part of the work of emptying one superblock: two word
    /// lines of all dies.
    pub(super) slack: i64,
    /// Units that the host has written beyond those that the last collection for space gained for
    /// it; negative if it has written fewer. The next collection for space starts with this
    /// balance.
    pub carried: i64,
    /// True if the superblock emptied last was emptied to gain free space and its erase gained
    /// fewer units than a program command holds. Program commands of moved data are then filled up
    /// with units of another superblock instead of padding ([`super::top_up`]).
    pub gained_little: bool,
    /// Number of superblocks being emptied or erased, without those reserved for the SLC cache
    /// (`slc.static`).
    pub leaving: u32,
    /// For each stream of moved data, in a simulation of the drive's whole life in which moves take
    /// no time: the next free unit and the end of the program command that the stream is filling.
    pub(super) begun: [Option<(UnitId, UnitId)>; MOVED_MAX],
}

impl Collector {
    /// Creates the state of garbage collection on a drive that moves data into the streams `moved`,
    /// with nothing being emptied.
    pub fn new(config: &Config, shape: &Shape, moved: &[StreamId]) -> Collector {
        let into = |at: usize| moved.iter().any(|&stream| stream.index() == at);
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

    /// Returns the maximum number of program commands that moved data fills between its read and
    /// the end of its program: two word lines of all dies, which keep every die at work, and one
    /// incomplete command for each further stream of moved data.
    pub fn commands_moving(shape: &Shape, moved: u32) -> u32 {
        2 * shape.dies + moved - 1
    }

    /// Ends the emptying of a superblock whose valid units have all been read. If it was emptied to
    /// gain free space, the host writes beyond that gain are carried over: the next superblock
    /// emptied for space must make up for them. A swap for wear leveling gains nothing, so all host
    /// writes during it are carried over.
    pub(super) fn carry(&mut self, job: &EmptyingJob) {
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

    /// Records that the host has sent units to the flash. If no superblock is being emptied, they
    /// are charged against the free units that GC gained in advance, ahead of the host's writes, so
    /// that they do not delay the host later.
    #[inline]
    pub fn host_wrote(&mut self, units: u32) {
        match &mut self.job {
            Some(job) => job.written += i64::from(units),
            None if self.carried < 0 => self.carried = (self.carried + i64::from(units)).min(0),
            None => {}
        }
    }

    /// Returns the units that superblocks being emptied may still send to a stream.
    pub fn promised(&self, stream: StreamId) -> i64 {
        let job = self.job.filter(|job| job.into == stream);
        let unread = job.map_or(0, |job| (job.valid - job.moved).max(0));
        unread + i64::from(self.unsent[stream.index()])
    }

    /// Returns the number of free unit places left in the program command that a stream of moved
    /// data has begun to fill.
    pub(super) fn left_of_command(&self, stream: StreamId) -> u32 {
        self.begun[stream.index()].map_or(0, |(next, end)| end.0 - next.0)
    }

    /// Returns the number of superblocks that garbage collection keeps erased.
    pub fn keeps(&self) -> u32 {
        self.below
    }

    /// Takes a unit that has been read, to be sent to its new place in a stream.
    pub fn next_copied(&mut self, stream: StreamId) -> (Lpn, UnitId) {
        self.unsent[stream.index()] -= 1;
        self.copied[stream.index()].pop_front().expect("counted by the caller")
    }

    /// Returns the next unit that has been read and waits to be programmed at its new place in a
    /// stream of moved data: its number for the host, and its old place. The unit stays in line.
    pub fn first_copied(&self, stream: StreamId) -> (Lpn, UnitId) {
        self.copied[stream.index()][0]
    }

    /// Records that units moved by garbage collection have been programmed at their new place.
    pub fn stored(&mut self, units: u32) {
        debug_assert!(units <= self.moving, "more units are stored than were moving");
        self.moving -= units;
    }

    /// Returns the number of units that have been read and wait to be programmed in a stream of
    /// moved data.
    pub fn waiting(&self, stream: StreamId) -> u32 {
        self.copied[stream.index()].len() as u32
    }

    /// Returns true if garbage collection is reading nothing: no superblock has units left to read,
    /// and no read of a unit to be moved is in flight.
    pub fn rests(&self) -> bool {
        self.job.is_none() && self.reading == 0
    }

    /// Returns true if GC may begin to move `units` more units: with these, no more units than
    /// allowed are between their read and the end of their program.
    pub fn has_room_for(&self, units: u32) -> bool {
        self.moving + units <= self.moving_most
    }

    /// Returns the number of units being moved by GC (between their read and the end of their
    /// program), and the number of their reads in flight.
    pub fn in_flight(&self) -> (u32, u32) {
        (self.moving, self.reading)
    }

    /// Returns the superblock that is being emptied, and why; `None` if there is none.
    pub fn victim(&self) -> Option<(RuId, Why)> {
        self.job.map(|job| (job.victim, job.why))
    }
}

impl EmptyingJob {
    /// Returns true if the emptying of this superblock may move another unit: its share of moved
    /// units is not ahead of the host's share of written ones by more than `slack` units.
    pub(super) fn keeps_step(&self) -> bool {
        self.moved * self.gain <= (self.written + self.slack) * self.valid
    }
}
