//! Silent corruption: pages that do not hold the data written to them, although every read of them
//! succeeds.
//!
//! The *error* of a page of the flash is the exclusive-or of the data in it and of the data that it
//! should hold; nearly always the error is zero. Errors spread with data, by the same operations as
//! versions ([`super::tag::Tag`]): GC copies them, parity that is computed from a wrong page is
//! wrong by the same error, and so is a page that is rebuilt from one. Nothing else is assumed of
//! the spread of errors. An error counts as read at the moment at which the version is, which for
//! parity is when its reads begin.
//!
//! Invariants: `errors` has no page without an error; no two errors are drawn alike, so they cannot
//! cancel out in a parity; a page that is programmed or erased loses its error; on a drive that
//! checks versions, a read finds every error, so that none spreads. See docs/decisions/raid.md,
//! "What becomes of silent corruption?".

use super::fault_kinds::Fault;
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

/// The silently corrupted pages of a drive.
#[derive(Clone, Debug)]
pub(crate) struct SilentErrors {
    checks: Checks,
    /// Difference (exclusive-or) between the data in each wrong physical page and the data that it
    /// should hold; pages without error are left out.
    errors: BTreeMap<UnitId, u64>,
    /// Number of random error patterns drawn so far: each is the difference between wrong and right
    /// data of a silently corrupted page.
    drawn: u64,
    rng: Rng,
    pub ledger: SilentLedger,
}

/// Largest number of tries to find a page on which a misdirected write lands.
const TRIES: u32 = 64;

impl SilentErrors {
    /// Creates the record of a drive without silent corruption.
    pub fn new(config: &Config) -> Self {
        Self {
            checks: config.redundancy.checks,
            errors: BTreeMap::new(),
            drawn: 0,
            rng: Rng::stream(config.seed, "raid/misdirected"),
            ledger: SilentLedger::default(),
        }
    }

    /// Returns true if any page of the drive is silently corrupted.
    #[inline]
    pub fn any(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Returns the silent error of a physical page: the exclusive-or of the data in it and the data
    /// that it should hold; zero if it holds the right data.
    #[inline]
    pub fn error(&self, unit: UnitId) -> u64 {
        if !self.any() { 0 } else { self.errors.get(&unit).copied().unwrap_or(0) }
    }

    /// Returns the silent corruption in the data that a successful read of a page returns: the bits
    /// that differ from the right data; zero on a drive that checks versions, whose reads of wrong
    /// pages fail.
    #[inline]
    pub fn error_read(&self, unit: UnitId) -> u64 {
        match self.checks {
            Checks::Nothing => self.error(unit),
            Checks::Versions => 0,
        }
    }

    /// Returns true if a read of a page finds out that it holds wrong data.
    #[inline]
    pub fn is_found(&self, unit: UnitId) -> bool {
        self.checks == Checks::Versions && self.error(unit) != 0
    }

    /// Returns true if a read of a page returns wrong data, and nobody notices it.
    #[inline]
    pub fn reads_wrong(&self, unit: UnitId) -> bool {
        self.error_read(unit) != 0
    }

    /// Records that a successful read for the host gave wrong data, if it did: the data is
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

    /// Records that a read has found a wrong page, which is unreadable from now on.
    pub fn found(&mut self, unit: UnitId) {
        self.errors.remove(&unit);
        self.ledger.by_versions += 1;
    }

    /// Records the silent corruption of a page that is programmed or recovered: `error` is the
    /// exclusive-or of its data and of the right data; zero for none.
    #[inline]
    pub fn store(&mut self, unit: UnitId, error: u64) {
        if error != 0 {
            self.errors.insert(unit, error);
        } else if self.any() {
            self.errors.remove(&unit);
        }
    }

    /// Clears the errors of the physical pages of an erased block.
    pub fn erase(&mut self, pages: Range<u32>) {
        if self.any() {
            let units: Vec<UnitId> =
                self.errors.range(UnitId(pages.start)..UnitId(pages.end)).map(|it| *it.0).collect();
            units.iter().for_each(|unit| _ = self.errors.remove(unit));
        }
    }

    /// Returns a random 64-bit error (the difference between wrong and right data of a page) that
    /// no other page has, so that two errors cannot cancel out in a parity.
    pub fn fresh(&mut self) -> u64 {
        self.drawn += 1;
        // Errors differ from versions, which count up from one.
        super::tag::spread(!self.drawn)
    }

    /// Silently corrupts pages by a fault that strikes the copy of a page at `unit`.
    pub fn strike(&mut self, (fault, unit): (Fault, UnitId), drive: &Struck<'_>) {
        let Struck { open, stored, current, another } = drive;
        if !open(unit) {
            return;
        }
        let corrupt = |silent: &mut Self, unit: UnitId, error: u64| {
            let made = u64::from(silent.error(unit) == 0);
            let ledger = &mut silent.ledger;
            *if current(unit) { &mut ledger.made } else { &mut ledger.parity_made } += made;
            debug_assert!(error != 0, "a page without an error is recorded as wrong");
            silent.errors.insert(unit, error);
        };
        match fault {
            Fault::Misdirected(_) => {
                let mut draws = (0..TRIES).filter_map(|_| another(unit, &mut self.rng));
                let other = draws.find(|&other| other != unit && open(other));
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
}

/// The pages of a drive, as a fault that corrupts some of them sees them.
pub(crate) struct Struck<'a> {
    /// Returns true if a page holds readable data that the controller does not hold, too.
    pub open: &'a dyn Fn(UnitId) -> bool,
    /// Returns the version of the data that a page should hold; zero where that is not known.
    pub stored: &'a dyn Fn(UnitId) -> u64,
    /// Returns true if a page is the current copy of a page of the host.
    pub current: &'a dyn Fn(UnitId) -> bool,
    /// Draws a page that holds data in the plane of a given page, for a misdirected write to land
    /// on; `None` if the draw finds none.
    pub another: &'a dyn Fn(UnitId, &mut Rng) -> Option<UnitId>,
}

/// Draws a random page of the plane of `unit` that holds data.
pub(crate) fn draw_page(core: &Core, unit: UnitId, rng: &mut Rng) -> Option<UnitId> {
    let plane = core.locator.plane_of(unit);
    let valid = u64::from(core.allocator.blocks.valid_in(plane));
    valid_page(core, plane, rng.below(valid.max(1)) as u32)
}

/// Returns true if a page holds data that is not in the controller. `at_hand` are the pages whose
/// data is, sorted.
pub(crate) fn is_stored(core: &Core, at_hand: &[UnitId], unit: UnitId) -> bool {
    let valid = unit.is_some() && core.allocator.blocks.is_valid(unit);
    valid && at_hand.binary_search(&unit).is_err()
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

    /// Errors spread with data: parity of a wrong page is wrong by the same error, and so is a page
    /// recovered from that parity.
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
