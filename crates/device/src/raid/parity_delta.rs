//! Replacement of covered pages: the old contents must be removed from the cached parity.
//!
//! 1. A page that the cached parity covers is rewritten: its old copy is read
//!    ([`Raid::take_from_parity`]).
//! 2. The new copy takes its place. Until all reads of the entry have ended, the old copy stays
//!    valid ([`Raid::leave`]), and the cached parity is that of the covered pages and of their
//!    superseded copies. The earlier parity is retained (assumed: a second page for each entry with
//!    reads in flight), the new data is in the write buffer, and its completion waits for the
//!    reads.
//! 3. When the reads have ended, the superseded copies become invalid ([`Raid::left`]).
//!
//! Exceptions:
//!
//! - An old copy that cannot be read is recovered from the other covered pages, which are read
//!   instead.
//! - If a superseded copy becomes unreadable, the cached parity recovers no page until it has been
//!   recomputed from all covered pages: it is *blank* ([`Raid::read_anew`]).

use super::Raid;
use super::parity_cache::{Progress, bit};
use super::tag::Tag;
use crate::flash::Flash;
use crate::host::Ftl;
use fowler_units::{Id, ParityId, StripeId, TxnId, UnitId};

impl Raid {
    /// Returns the superseded page copies that the parity of a parity cache entry still includes.
    pub(crate) fn deltas(&self, entry: ParityId) -> impl Iterator<Item = UnitId> {
        self.deltas.iter().filter(move |delta| delta.0 == entry).map(|delta| delta.1)
    }
}

impl Raid {
    /// Prepares the rewrite of a page that the cached parity of its stripe covers, by removing the
    /// old data `old` from that parity: reads `old`, or else recovers it from the other covered
    /// pages. Returns the read of `old`; `None` if it is unreadable.
    pub(crate) fn take_from_parity(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        position: u32,
        old: UnitId,
    ) -> Option<TxnId> {
        if self.reads_well(old) {
            return self.read_for_parity(ftl, flash, entry, old);
        }
        let cached = *self.cache.get(entry);
        self.read_positions(ftl, flash, entry, cached.stripe, cached.covered & !bit(position));
        None
    }

    /// Retires the old copy `old` of a rewritten page that the cached parity of its stripe covers.
    /// The copy stays valid while reads for the parity cache entry are in flight.
    pub(crate) fn leave(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        position: u32,
        old: UnitId,
    ) {
        let cached = *self.cache.get(entry);
        if !old.is_some() || cached.reads == 0 {
            return ftl.invalidate(flash, old);
        }
        if self.reads_well(old) {
            self.deltas.push((entry, old));
            return;
        }
        ftl.invalidate(flash, old);
        self.read_anew(ftl, flash, entry, cached.covered & !bit(position));
    }

    /// Invalidates the superseded page copies that a cached parity still included: that parity is
    /// now that of the covered pages' current copies alone.
    pub(crate) fn left(&mut self, ftl: &mut Ftl, flash: &mut Flash, entry: ParityId) {
        while let Some(at) = self.deltas.iter().position(|delta| delta.0 == entry) {
            let (_, old) = self.deltas.swap_remove(at);
            ftl.invalidate(flash, old);
        }
    }

    /// Computes the parity of a parity cache entry anew by rereading the covered pages `which` (one
    /// bit each).
    pub(crate) fn read_anew(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        which: u64,
    ) {
        self.left(ftl, flash, entry);
        let stripe = self.cache.get(entry).stripe;
        let cached = self.cache.get_mut(entry);
        let turn = std::mem::take(&mut cached.turn);
        self.read_positions(ftl, flash, entry, stripe, which);
        let cached = self.cache.get_mut(entry);
        (cached.turn, cached.blank) = (turn, cached.reads > 0);
    }

    /// Handles a flash page that has become unreadable. If it is a superseded copy that a cached
    /// parity still includes, that parity recovers no page until it has been reread. Returns true
    /// in that case.
    pub(crate) fn leaves_no_more(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        unit: UnitId,
    ) -> bool {
        let Some(at) = self.deltas.iter().position(|delta| delta.1 == unit) else { return false };
        let (entry, _) = self.deltas.swap_remove(at);
        self.cache.get_mut(entry).blank = true;
        ftl.invalidate(flash, unit);
        true
    }

    /// Rereads the data pages that a stripe's cached parity covers, because that parity recovers
    /// nothing at present. Does nothing if it covers one of the pages `lost` (one bit each): the
    /// loss itself makes the covered pages be reread.
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

    /// Handles a failed read, for the cached parity, of a page that is not lost: reads the other
    /// covered pages, from which it is recovered.
    pub(crate) fn read_others(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        entry: ParityId,
        unit: UnitId,
    ) {
        let cached = *self.cache.get(entry);
        let page = ftl.core.map.owner(unit);
        let stripes = self.stripes;
        if cached.progress != Progress::Open
            || stripes.of(page) != cached.stripe
            || stripes.is_parity(page)
            || ftl.core.flash_copy(page) != unit
        {
            return;
        }
        let others = cached.covered & !bit(stripes.position(page));
        self.read_positions(ftl, flash, entry, cached.stripe, others);
    }

    /// Returns the sum (exclusive-or) of `value`, the tag of a cached parity, and of the tags of
    /// superseded page copies, `deltas`, which that parity still includes until they have been
    /// read.
    pub(crate) fn known_sum(&self, value: Tag, deltas: &[UnitId]) -> Tag {
        let version = |unit: UnitId| {
            self.integrity.as_deref().map_or(Tag::ZERO, |integrity| integrity.tag_at(unit))
        };
        deltas.iter().fold(value, |sum, &unit| sum ^ version(unit))
    }
}
