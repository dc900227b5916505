//! Refresh: superblocks whose data is read far down the retry table are moved.

use super::Superblocks;
use super::collection::Why;
use crate::blocks::block_table::BlockState;
use crate::flash::{Flash, Tries};
use crate::observe::counters::Counters;
use crate::observe::operation::Source;
use fowler_units::{Nanos, TxnId, UnitId};

impl Superblocks {
    /// A superblock has been opened.
    #[inline]
    pub(super) fn age_anew(&mut self, superblock: u32, now: Nanos) {
        if let Some(aging) = &mut self.aging {
            aging.opened(superblock, now);
        }
    }

    /// A superblock has been erased.
    #[inline]
    pub(super) fn erased_of_age(&mut self, superblock: u32) {
        if let Some(aging) = &mut self.aging {
            aging.erased(superblock);
        }
    }

    /// Returns the tries that a read of a page takes.
    pub(super) fn aged_tries(&mut self, page: UnitId, now: Nanos) -> Tries {
        let aging = self.aging.as_mut().expect("only of aged data");
        aging.tries(&self.map, page, now)
    }

    /// A read that was repeated, or began further down the table, is done.
    #[cold]
    pub(super) fn read_by_age(&mut self, flash: &mut Flash, id: TxnId) {
        let txn = flash.txns.get(id);
        // A page that no entry of the retry table reads says nothing about the references, and
        // cannot be moved.
        if txn.level >= txn.needed
            && let Some(aging) = &mut self.aging
        {
            let victim = self.collector.victim().map(|(victim, _)| victim);
            aging.found(&self.map, victim, txn.unit, txn.first_level, txn.level);
        }
        self.end_read(flash, id);
        if self.aging.as_ref().is_some_and(|aging| !aging.due.is_empty()) {
            self.collect(flash);
        }
    }

    /// Begins to move a superblock because of its age, if one is due and there is room. Returns
    /// true if a job has begun. While the job reads the superblock, no other begins.
    pub(super) fn begin_refresh(&mut self, counters: &mut Counters) -> bool {
        let Some(aging) = &mut self.aging else { return false };
        if aging.moving.is_some() {
            return false;
        }
        let stays = |number: &u32| aging.all[*number as usize].due && self.map.is_whole(*number);
        while aging.due.front().is_some_and(|number| !stays(number)) {
            aging.due.pop_front();
        }
        let Some(&superblock) = aging.due.front() else { return false };
        let valid = self.map.valid(superblock);
        let gain = self.shape.data_units() - valid;
        let full = self.map.state(superblock) == BlockState::Full;
        if !full || !self.begin_emptying(superblock, valid, gain, Why::Refresh) {
            return false;
        }
        if let Some(aging) = &mut self.aging {
            aging.moving = aging.due.pop_front();
        }
        self.collector.leaving += 1;
        counters.aged.refreshed += 1;
        true
    }

    /// Returns the purpose for which units of a superblock are moved. A superblock that is due may
    /// be emptied for space before its turn to be refreshed comes.
    pub(super) fn source_of(&self, superblock: u32) -> Source {
        match &self.aging {
            Some(aging) if aging.moving() == Some(superblock) => Source::Refresh,
            _ => Source::Gc,
        }
    }
}
