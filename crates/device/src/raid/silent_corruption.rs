//! Silent corruption: pages that do not hold the data written to them, though every read of them
//! succeeds.
//!
//! The *error* of a page of the flash is the exclusive-or of the data in it and of the data that it
//! should hold; nearly always the error is zero. Errors go wherever data goes, by the same
//! operations as versions ([`super::tag::Tag`]): GC copies them, parity that is computed from a
//! wrong page is as wrong, and so is a page that is rebuilt from one. Nothing else is assumed of
//! the spread of errors. An error counts as read at the moment at which the version is, which for
//! parity is when its reads begin.
//!
//! A drive that checks versions finds an error whenever it reads the page, so that no error
//! spreads. See docs/decisions/raid.md, "What becomes of silent corruption?".

use super::fault_kinds::Fault;
use super::fault_kinds::units_at_hand;
use super::losses::SilentLedger;
use crate::config::Config;
use crate::core::Core;
use crate::flash::Flash;
use crate::flash::txn::{Owner, Txn};
use crate::host::Ftl;
use crate::policy::redundancy::Checks;
use fowler_units::{BlockId, Id, PlaneId, Rng, TxnId, UnitId};
use std::collections::BTreeMap;
use std::ops::Range;

/// The silent corruption of a drive.
#[derive(Clone, Debug)]
pub(crate) struct SilentErrors {
    checks: Checks,
    /// The errors of physical pages that are not zero.
    errors: BTreeMap<UnitId, u64>,
    /// Numbers drawn for errors so far.
    drawn: u64,
    rng: Rng,
    pub ledger: SilentLedger,
}

/// The number of tries to find a page on which a misdirected write lands.
const TRIES: u32 = 64;

impl SilentErrors {
    /// Creates the state of a drive on which all pages are right.
    pub fn new(config: &Config) -> Self {
        Self {
            checks: config.redundancy.checks,
            errors: BTreeMap::new(),
            drawn: 0,
            rng: Rng::stream(config.seed, "raid/misdirected"),
            ledger: SilentLedger::default(),
        }
    }

    /// Returns true if any page is wrong.
    #[inline]
    pub fn any(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Returns the error of a physical page.
    #[inline]
    pub fn error(&self, unit: UnitId) -> u64 {
        if !self.any() { 0 } else { self.errors.get(&unit).copied().unwrap_or(0) }
    }

    /// Returns the error of the data that a successful read of a page gives.
    #[inline]
    pub fn error_read(&self, unit: UnitId) -> u64 {
        match self.checks {
            Checks::Nothing => self.error(unit),
            Checks::Versions => 0,
        }
    }

    /// Returns true if a read finds that a page is wrong.
    #[inline]
    pub fn is_found(&self, unit: UnitId) -> bool {
        self.checks == Checks::Versions && self.error(unit) != 0
    }

    /// Returns true if a read gives wrong data, unnoticed.
    #[inline]
    pub fn reads_wrong(&self, unit: UnitId) -> bool {
        self.error_read(unit) != 0
    }

    /// Notes the data that a successful read for the host gave, if the data is wrong: it is
    /// returned, or completes a frame.
    #[inline]
    pub fn note_read(&mut self, ftl: &mut Ftl, flash: &Flash, id: TxnId) {
        if !self.any() {
            return;
        }
        let Txn { unit, owner, .. } = *flash.txns.get(id);
        let wrong = self.reads_wrong(unit);
        match owner {
            Owner::Request => self.ledger.returned += u64::from(wrong),
            Owner::Merge(frame_id) => ftl.core.buffer.get_mut(frame_id).wrong |= wrong,
            _ => {}
        }
    }

    /// Notes that a read has found a wrong page, which is unreadable from now on.
    pub fn found(&mut self, unit: UnitId) {
        self.errors.remove(&unit);
        self.ledger.by_versions += 1;
    }

    /// Stores the error of a page that is programmed or recovered.
    #[inline]
    pub fn store(&mut self, unit: UnitId, error: u64) {
        if error != 0 {
            self.errors.insert(unit, error);
        } else if self.any() {
            self.errors.remove(&unit);
        }
    }

    /// Clears the errors of erased pages.
    pub fn erase(&mut self, pages: Range<u32>) {
        if self.any() {
            let units: Vec<UnitId> =
                self.errors.range(UnitId(pages.start)..UnitId(pages.end)).map(|it| *it.0).collect();
            units.iter().for_each(|unit| _ = self.errors.remove(unit));
        }
    }

    /// Returns an error that no other page has.
    pub fn fresh(&mut self) -> u64 {
        self.drawn += 1;
        // Errors differ from versions, which count up from one.
        super::tag::spread(!self.drawn)
    }

    /// Corrupts pages by a fault that strikes the copy of a page at `unit`. `reads` returns true
    /// for pages that can be read, `stored` returns the version that a page should hold, where that
    /// is known, and `current` returns true for the current copies of host pages.
    pub fn strike(
        &mut self,
        (core, flash): (&Core, &Flash),
        (fault, unit): (Fault, UnitId),
        reads: impl Fn(UnitId) -> bool,
        stored: impl Fn(UnitId) -> u64,
        current: impl Fn(UnitId) -> bool,
    ) {
        let mut at_hand: Vec<UnitId> = units_at_hand(flash).collect();
        at_hand.sort_unstable();
        let open = |unit: UnitId| {
            let valid = unit.is_some() && core.allocator.blocks.is_valid(unit);
            valid && reads(unit) && at_hand.binary_search(&unit).is_err()
        };
        if !open(unit) {
            return;
        }
        let corrupt = |silent: &mut Self, unit: UnitId, error: u64| {
            let made = u64::from(silent.error(unit) == 0);
            let ledger = &mut silent.ledger;
            *if current(unit) { &mut ledger.made } else { &mut ledger.parity_made } += made;
            silent.errors.insert(unit, error);
        };
        match fault {
            Fault::Misdirected(_) => {
                let other = self.other_page(core, unit, open);
                let held = stored(unit) ^ self.error(unit);
                // The data that should have been programmed here lies elsewhere; here is nothing.
                let nothing = if stored(unit) == 0 { self.fresh() } else { stored(unit) };
                corrupt(self, unit, nothing);
                if let Some(other) = other {
                    let error = held ^ stored(other);
                    let error = if error == 0 { self.fresh() } else { error };
                    corrupt(self, other, error);
                }
            }
            _ => {
                let error = self.fresh();
                corrupt(self, unit, error);
            }
        }
    }

    /// Draws another page of the same plane that holds data.
    fn other_page(
        &mut self,
        core: &Core,
        unit: UnitId,
        open: impl Fn(UnitId) -> bool,
    ) -> Option<UnitId> {
        let plane = core.locator.plane_of(unit);
        let valid = u64::from(core.allocator.blocks.valid_in(plane));
        (0..TRIES)
            .filter_map(|_| valid_page(core, plane, self.rng.below(valid.max(1)) as u32))
            .find(|&other| other != unit && open(other))
    }
}

/// Returns a page of a plane by its number among those that hold data.
fn valid_page(core: &Core, plane: PlaneId, mut number: u32) -> Option<UnitId> {
    let blocks = &core.allocator.blocks;
    let all: Vec<BlockId> = core.layout.geometry.blocks_of_plane(plane).collect();
    for block in all {
        let valid = blocks.valid(block);
        if number < valid {
            let units = core.locator.units_of(block).map(UnitId);
            return units.filter(|&unit| blocks.is_valid(unit)).nth(number as usize);
        }
        number -= valid;
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::raid::tag::Tag;

    /// Errors go where data goes: parity of a wrong page is as wrong, and so is the page that this
    /// parity gives back.
    #[test]
    fn errors_add_up_as_versions_do() {
        let (one, other) = (Tag::right(5), Tag { version: 9, error: 3 });
        let parity = one ^ other;
        assert_eq!(parity, Tag { version: 12, error: 3 });
        assert_eq!(
            parity ^ other,
            one,
            "computed from the same wrong page, it gives back the rest"
        );
        assert_eq!((parity ^ Tag::right(9)).error, 3, "a page rewritten since leaves its error");
    }
}
