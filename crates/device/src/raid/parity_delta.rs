//! Covered pages that are replaced: what they held must be taken out of the cached parity, and for
//! that it must be read. Until all reads of an entry are done, what was replaced stays valid: the
//! cached parity is that of the covered pages and of those that leave. The parity from before is
//! kept until then (assumed: a second page for each place that is being read for), and what
//! replaces a page is in the write buffer, whose answer waits for the reads.
//!
//! If a page that leaves cannot be read any more, the cached parity brings back nothing until it
//! has been made anew from all covered pages: it is *blank*.

use super::Raid;
use super::parity_cache::{Progress, bit};
use crate::flash::Flash;
use crate::host::Ftl;
use fowler_units::{Id, ParityId, StripeId, UnitId};

impl Raid {
    /// The pages that leave the cached parity of an entry.
    pub(crate) fn deltas(&self, entry: ParityId) -> impl Iterator<Item = UnitId> {
        self.deltas.iter().filter(move |its| its.0 == entry).map(|its| its.1)
    }
}

impl Raid {
    /// A covered page is to be replaced: it must be read, or brought back from the others that are
    /// covered.
    pub(crate) fn take_from_parity(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        position: u32,
        old: UnitId,
    ) {
        if self.reads_well(old) {
            return self.read_for_parity(ftl, flash, entry, old);
        }
        let its = *self.cache.get(entry);
        self.read_positions(ftl, flash, entry, its.stripe, its.covered & !bit(position));
    }

    /// A covered page was replaced. What lay there becomes invalid once nothing is read for the
    /// entry.
    pub(crate) fn leave(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        position: u32,
        old: UnitId,
    ) {
        let its = *self.cache.get(entry);
        if !old.is_some() || its.reads == 0 {
            return ftl.invalidate(flash, old);
        }
        if self.reads_well(old) {
            self.deltas.push((entry, old));
            return;
        }
        ftl.invalidate(flash, old);
        self.read_anew(ftl, flash, entry, its.covered & !bit(position));
    }

    /// Nothing is read any more for an entry: what it has is the parity of the covered pages alone.
    pub(crate) fn left(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        while let Some(at) = self.deltas.iter().position(|its| its.0 == entry) {
            let (_, old) = self.deltas.swap_remove(at);
            ftl.invalidate(flash, old);
        }
    }

    /// What is cached is read anew: the covered pages, or those of them that are not in the write
    /// buffer.
    pub(crate) fn read_anew(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        which: u64,
    ) {
        self.left(ftl, flash, entry);
        let stripe = self.cache.get(entry).stripe;
        let its = self.cache.get_mut(entry);
        let turn = std::mem::take(&mut its.turn);
        self.read_positions(ftl, flash, entry, stripe, which);
        let its = self.cache.get_mut(entry);
        (its.turn, its.blank) = (turn, its.reads > 0);
    }

    /// A page cannot be read any more. If it leaves the parity of an entry, that is blank. Returns
    /// whether it did.
    pub(crate) fn leaves_no_more(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        unit: UnitId,
    ) -> bool {
        let Some(at) = self.deltas.iter().position(|its| its.1 == unit) else { return false };
        let (entry, _) = self.deltas.swap_remove(at);
        self.cache.get_mut(entry).blank = true;
        ftl.invalidate(flash, unit);
        true
    }

    /// The entry of a stripe is blank, and some pages are lost: the covered ones are read, unless
    /// for one of those they are read anyway.
    pub(crate) fn read_covered(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        stripe: StripeId,
        lost: u64,
    ) {
        let Some(entry) = self.cache.find(stripe) else { return };
        let covered = self.cache.get(entry).covered;
        if lost & covered == 0 {
            self.read_anew(ftl, flash, entry, covered);
        }
    }

    /// A read for what is cached has come without its data, and its page is not lost: the other
    /// covered pages give it.
    pub(crate) fn read_others(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        unit: UnitId,
    ) {
        let its = *self.cache.get(entry);
        let page = ftl.core.map.owner(unit);
        let stripes = self.stripes;
        if its.progress != Progress::Open
            || stripes.of(page) != its.stripe
            || stripes.is_parity(page)
            || ftl.core.flash_copy(page) != unit
        {
            return;
        }
        let others = its.covered & !bit(stripes.position(page));
        self.read_positions(ftl, flash, entry, its.stripe, others);
    }

    /// What is known of covered pages and of those that leave together.
    pub(crate) fn known_sum(&self, value: u64, deltas: &[UnitId]) -> u64 {
        let version =
            |unit: UnitId| self.integrity.as_deref().map_or(0, |its| its.version_at(unit));
        deltas.iter().fold(value, |sum, &unit| sum ^ version(unit))
    }
}
