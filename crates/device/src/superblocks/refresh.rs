//! Renewal of superblocks that are due.
//!
//! 1. A superblock becomes due ([`super::renewals`]), for example because a page of it was read far
//!    down the retry table ([`Superblocks::read_by_age`]).
//! 2. When no superblock is being read or refreshed, the first of those that are due and still full
//!    is emptied, if its units fit where they are moved to ([`Superblocks::begin_refresh`]).
//! 3. It is moved by a job like any other (`collection_jobs.rs`), on behalf of refresh until its
//!    erase ([`Superblocks::source_of`]).
//!
//! Exceptions: a page that no entry of the retry table reads makes nothing due, because it cannot
//! be moved. GC may empty a superblock that is due, for its space, before refresh does. A read-only
//! drive takes the due superblock with the fewest valid units at step 2.

use super::Superblocks;
use super::collection::Why;
use super::shape::page_of;
use crate::blocks::block_table::BlockState;
use crate::flash::{Flash, Tries};
use crate::observe::counters::Counters;
use crate::observe::operation::Source;
use fowler_units::{Nanos, Ppn, RuId, TxnId};

impl Superblocks {
    /// Records that a superblock has been opened: its data counts as just programmed.
    #[inline]
    pub(super) fn age_anew(&mut self, superblock: RuId, now: Nanos) {
        if let Some(aging) = &mut self.aging {
            aging.opened(superblock, now);
        }
    }

    /// Returns the tries that a read of a page takes.
    pub(super) fn aged_tries(&mut self, page: Ppn, now: Nanos) -> Tries {
        let aging = self.aging.as_mut().expect("only of aged data");
        aging.tries(&self.map, page, now)
    }

    /// Handles the end of a read that was repeated, or that began at a later entry of the retry
    /// table than the first.
    #[cold]
    pub(super) fn read_by_age(&mut self, flash: &mut Flash, id: TxnId) {
        let txn = flash.txns.get(id);
        // A page that no entry of the retry table reads says nothing about the references, and
        // cannot be moved.
        if txn.level >= txn.needed
            && let Some(aging) = &mut self.aging
        {
            let victim = self.collector.victim().map(|(victim, _)| victim);
            let found = (&self.map, &mut self.renewals);
            aging.found(found, victim, page_of(txn.unit), txn.first_level, txn.level);
        }
        self.end_read(flash, id);
        if !self.renewals.due.is_empty() {
            self.collect(flash);
        }
    }

    /// Begins to move the data of the next superblock due for a refresh, if there is room for it.
    /// Returns true if it has begun. No other superblock is emptied while this one is being read.
    #[inline]
    pub(super) fn begin_refresh(&mut self, counters: &mut Counters) -> bool {
        self.renewals.wait() && self.begin_due_refresh(counters)
    }

    #[cold]
    fn begin_due_refresh(&mut self, counters: &mut Counters) -> bool {
        let stays = |superblock| self.map.is_whole(superblock);
        let next = self.renewals.next(stays);
        self.forget_found();
        let Some(mut superblock) = next else { return false };
        if self.is_read_only() {
            // Room does not grow any more: others may still fit if the first does not.
            let map = &self.map;
            superblock = self
                .renewals
                .bring_forward(|it| (map.state(it) != BlockState::Full, map.valid(it)));
        }
        let valid = self.map.valid(superblock);
        let full = self.map.state(superblock) == BlockState::Full;
        let gain = |it: &Superblocks| it.units_after_erase(superblock).saturating_sub(valid);
        if !full || !self.begin_emptying(superblock, valid, gain, Why::Refresh) {
            return false;
        }
        self.renewals.moving = self.renewals.due.pop_front();
        if !self.map.is_aside(superblock) {
            self.collector.leaving += 1;
        }
        let again = self.forget_stopped_repair(superblock);
        counters.aged.refreshed += u64::from(!again);
        self.count_found(counters, superblock);
        true
    }

    /// Returns the source (refresh, wear leveling or GC) on whose behalf units of a superblock are
    /// moved. GC may empty a superblock that is due for refresh, to gain free space, before refresh
    /// does.
    pub(super) fn source_of(&self, superblock: RuId) -> Source {
        if self.is_refreshed(superblock) {
            Source::Refresh
        } else if self.is_swapped(superblock) {
            Source::Wear
        } else {
            Source::Gc
        }
    }

    /// Returns true if refresh is moving the data of a superblock.
    #[inline]
    pub(super) fn is_refreshed(&self, superblock: RuId) -> bool {
        self.renewals.moving == Some(superblock)
    }
}
