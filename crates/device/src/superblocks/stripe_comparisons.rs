//! Parity as a check of the data. As on a page-mapped drive ([`crate::raid::stripe_check`]), a
//! comparison does not tell which page is wrong.
//!
//! 1. Scrubbing has read a page of parity: the patrol waits ([`Superblocks::begin_comparison`]).
//! 2. The pages at the same place in all other commands of the stripe are read, one after another;
//!    a page counts as read when its read begins ([`Superblocks::page_compared`]).
//! 3. The sum of the errors is the result: zero at each place if the stripe matches. The patrol
//!    continues.
//!
//! If the superblock is emptied meanwhile, or a unit of the stripe cannot be read, nothing is
//! decided.

use super::Superblocks;
use super::patrol::Comparison;
use crate::blocks::block_table::BlockState;
use crate::flash::Flash;
use crate::flash::txn::{Owner, Txn};
use fowler_units::{RuId, StripeId, TxnId, UnitId};

impl Superblocks {
    /// Returns the number of the stripe that a parity page protects. It consists of one page of
    /// each command in a stripe of commands: the pages at the same place as `parity`.
    fn stripe_number(&self, superblock: RuId, parity: UnitId) -> StripeId {
        let stripe = self.shape.stripe_before(self.shape.command_of(parity));
        let page = self.shape.slot_of(parity) / self.shape.units_per_page;
        let of_superblock = superblock.0 * self.shape.stripes() + stripe;
        StripeId(of_superblock * self.shape.pages_per_command + page)
    }

    /// Begins to compare a stripe of a full superblock if scrubbing has read a page of its parity,
    /// which begins with the unit `first`. Returns true if so: the patrol then waits.
    pub(super) fn begin_comparison(&mut self, flash: &mut Flash, first: UnitId) -> bool {
        let superblock = self.shape.superblock_of(first);
        let compares = self.patrol.as_ref().is_some_and(|patrol| patrol.unequal.is_some());
        if !compares
            || self.map.state(superblock) != BlockState::Full
            || self.shape.is_slc(first)
            || !self.is_parity(superblock, self.shape.command_of(first))
        {
            return false;
        }
        let stripe = self.stripe_number(superblock, first);
        let line = self.shape.line_of(first);
        let programmed = |unit: UnitId| self.uses(superblock, self.shape.command_of(unit));
        let rest = line.iter().filter(|&unit| unit != first && programmed(unit));
        let rest = rest.rev();
        let rest = rest.collect();
        let errors = vec![0; self.shape.units_per_page as usize];
        let comparison = Comparison { stripe, rest, errors };
        if let Some(reading) = self.patrol.as_mut().and_then(|patrol| patrol.reading.as_mut()) {
            reading.comparison = Some(comparison);
        }
        if self.note_errors(first) {
            self.compare_next(flash);
        } else {
            self.end_comparison(flash, false);
        }
        true
    }

    /// Adds the silent errors of the units of a page just read to those of the stripe being
    /// compared with its parity, by exclusive-or, for each place in the page. Returns false if a
    /// unit cannot be read.
    fn note_errors(&mut self, first: UnitId) -> bool {
        let Some(contents) = &self.contents else { return false };
        let reading = self.patrol.as_mut().and_then(|patrol| patrol.reading.as_mut());
        let Some(comparison) = reading.and_then(|it| it.comparison.as_mut()) else { return false };
        for (unit, error) in first.run(self.shape.units_per_page).zip(&mut comparison.errors) {
            if !contents.reads(unit) {
                return false;
            }
            *error ^= contents.integrity.tag_at(unit).error;
        }
        true
    }

    /// Reads the next page of the stripe that scrubbing is comparing with its parity, or ends the
    /// comparison if none is left or the stripe cannot be compared.
    fn compare_next(&mut self, flash: &mut Flash) {
        let reading = self.patrol.as_mut().and_then(|patrol| patrol.reading.as_mut());
        let Some(comparison) = reading.and_then(|it| it.comparison.as_mut()) else { return };
        let next = comparison.rest.pop();
        if !self.is_as_when_read() {
            return self.end_comparison(flash, false);
        }
        match next {
            None => self.end_comparison(flash, true),
            Some(first) if self.note_errors(first) => {
                let (die, _) = self.shape.place(first);
                self.read_to_scrub(flash, first, Owner::StripeCheck(die));
            }
            Some(_) => self.end_comparison(flash, false),
        }
    }

    /// Handles the end of the read of a page whose stripe scrubbing compares with its parity.
    pub(super) fn page_compared(&mut self, flash: &mut Flash, id: TxnId) {
        let Txn { needed, level, .. } = *flash.txns.get(id);
        flash.txns.close(id);
        if let Some(patrol) = &mut self.patrol {
            patrol.units += u64::from(self.shape.units_per_page);
        }
        match needed > level {
            true => self.end_comparison(flash, false),
            false => self.compare_next(flash),
        }
    }

    /// Ends the comparison of a stripe with its parity and continues scrubbing. Notes whether the
    /// stripe matched, or (`compared` is false) counts it as undecided.
    fn end_comparison(&mut self, flash: &mut Flash, compared: bool) {
        let Some(patrol) = &mut self.patrol else { return };
        let comparison = patrol.reading.as_mut().and_then(|reading| reading.comparison.take());
        if let (Some(unequal), Some(comparison), Some(contents)) =
            (&mut patrol.unequal, comparison, &mut self.contents)
        {
            let ledger = &mut contents.integrity.silent.ledger;
            let matches = comparison.errors.iter().all(|&error| error == 0);
            match compared {
                true => unequal.note(comparison.stripe, matches, ledger),
                false => ledger.stripes_undecided += 1,
            }
        }
        self.patrol_after_read(flash);
    }

    /// Marks all stripes of an erased superblock as matching their parity, although an earlier
    /// comparison by scrubbing may have found mismatches.
    pub(super) fn forget_comparisons(&mut self, superblock: RuId) {
        let stripes = self.shape.stripes() * self.shape.pages_per_command;
        if let Some(unequal) = self.patrol.as_mut().and_then(|patrol| patrol.unequal.as_mut()) {
            (superblock.0 * stripes..(superblock.0 + 1) * stripes)
                .map(StripeId)
                .for_each(|stripe| unequal.forget(stripe));
        }
    }
}
