//! Superblocks whose data is to be moved although their space is not needed: it is old or was read
//! often, a later stage of life gives it parity, or a page of it cannot be read.
//!
//! They are moved one at a time, in the order in which they became due. Whichever job reaches a
//! superblock first moves its data; one that is erased, or is no longer full, is skipped.
//!
//! Invariants: a superblock is in `due` at most once; `is_due` is true for each one there and for
//! the one that is being moved; at most one is being moved.

use fowler_units::{IdVec, RuId};
use std::collections::VecDeque;

/// Largest number of superblocks being refreshed at a time, each from the first read of its data to
/// the end of its erase.
pub(super) const MOVING_MOST: u32 = 1;

/// Superblocks due for a refresh: their data is to be moved because it is old, was read often,
/// cannot be read, or lacks parity that its wear requires.
#[derive(Clone, Debug)]
pub(super) struct Renewals {
    /// Superblocks that are due to be moved, the next one first.
    pub(super) due: VecDeque<RuId>,
    /// True for each superblock that is due for a refresh, or is being moved for that reason.
    pub(super) is_due: IdVec<RuId, bool>,
    /// Superblock whose data refresh is moving; `None` if there is none.
    pub(super) moving: Option<RuId>,
}

impl Renewals {
    /// Creates the state of a drive on which no superblock is due to be moved.
    pub fn new(superblocks: u32) -> Renewals {
        Renewals {
            due: VecDeque::new(),
            is_due: IdVec::filled(false, superblocks as usize),
            moving: None,
        }
    }

    /// Returns true if a superblock is due for refresh (its data is to be moved to another one), or
    /// is being moved for that reason.
    pub fn has(&self, superblock: RuId) -> bool {
        self.is_due[superblock]
    }

    /// Returns true if superblocks are due for refresh (their data is to be moved to others), and
    /// none is being moved for that reason.
    #[inline]
    pub fn wait(&self) -> bool {
        !self.due.is_empty() && self.moving.is_none()
    }

    /// Makes a superblock due for refresh (its data is to be moved to another), after those that
    /// are due already. Does nothing if it is due itself.
    pub fn add(&mut self, superblock: RuId) {
        if !std::mem::replace(&mut self.is_due[superblock], true) {
            self.due.push_back(superblock);
        }
    }

    /// Makes a superblock due to be moved before all others, because a part of it cannot be read.
    pub fn add_first(&mut self, superblock: RuId) {
        self.is_due[superblock] = true;
        if self.moving != Some(superblock) && !self.due.contains(&superblock) {
            self.due.push_front(superblock);
        }
    }

    /// Stops moving the data of a superblock, which is not due until it is full again.
    pub fn make_way(&mut self, superblock: RuId) {
        debug_assert_eq!(self.moving, Some(superblock));
        self.moving = None;
        self.is_due[superblock] = false;
    }

    /// Records the erase of a superblock, which is no longer due for a refresh.
    pub fn erased(&mut self, superblock: RuId) {
        if !std::mem::take(&mut self.is_due[superblock]) {
            return;
        }
        if self.moving == Some(superblock) {
            self.moving = None;
        } else {
            self.due.retain(|&other| other != superblock);
        }
    }

    /// Moves the superblock with the smallest key to the front of the queue for refresh, which is
    /// not empty; among equals, the one that comes first. Returns it.
    pub fn bring_forward<K: Ord>(&mut self, key: impl Fn(RuId) -> K) -> RuId {
        let least = (0..self.due.len()).min_by_key(|&at| key(self.due[at]));
        let superblock = least.and_then(|at| self.due.remove(at)).expect("some are due");
        self.due.push_front(superblock);
        superblock
    }

    /// Returns the next superblock in the queue for refresh that is full; `stays` is the test for
    /// that. Drops those before it from the queue: they are erased or open, and an open one becomes
    /// due again when it is full.
    pub fn next(&mut self, stays: impl Fn(RuId) -> bool) -> Option<RuId> {
        while let Some(&superblock) = self.due.front() {
            if stays(superblock) {
                return Some(superblock);
            }
            self.due.pop_front();
            self.is_due[superblock] = false;
        }
        None
    }
}
