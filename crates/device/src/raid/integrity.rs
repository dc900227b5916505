//! Integrity mode: every logical page carries a 64-bit version, every physical page stores the
//! version with which it was programmed, and parity is the exclusive-or of stored versions. Data
//! that is read or recovered is correct if its version is the one written last.
//!
//! Invariants: each write of a logical page takes a version that no page had before; a page without
//! data has version zero; `waiting` is the number of bits set in `to_rebuild`; programming or
//! erasing a physical page makes it readable. `laws.rs` checks that the parity of each stripe
//! matches its pages, and that the ledger has the fate of every unreadable page.

use super::Raid;
use super::fault_kinds::Fault;
use super::losses::{Failure, Loss, LossLedger};
use super::silent_corruption::{SilentErrors, Struck};
use super::tag::{Tag, spread};
use crate::config::Config;
use crate::config::layout::Layout;
use crate::host::Ftl;
use crate::mapping::page_map::Location;
use fowler_units::{Bytes, Column, Id, IdVec, Lpn, ParityId, Rng, StripeId, UnitId};

/// The versions of all pages, and the record of pages that cannot be read.
#[derive(Clone, Debug)]
pub struct Integrity {
    /// Version of the data of each logical page: the number given to the data at its last write;
    /// zero if the page holds none. Parity pages have no version.
    versions: IdVec<Lpn, u64>,
    /// Version of the data with which each physical page was programmed.
    stored: IdVec<UnitId, u64>,
    /// Failure that made each physical page unreadable; `None` for readable pages.
    failures: IdVec<UnitId, Option<Failure>>,
    /// Unreadable physical pages whose rebuilding has not begun, one bit each.
    to_rebuild: Column<u64>,
    /// Number of bits set in `to_rebuild`: unreadable pages whose rebuilding has not begun.
    waiting: u32,
    /// Index of the 64-bit word of the bit map `to_rebuild` at which the search for the next
    /// unreadable page to rebuild begins.
    cursor: usize,
    /// Loss of each logical page (data or parity): its cause; `None` unless the page is lost.
    lost: IdVec<Lpn, Option<Loss>>,
    /// For each stripe, the failures beyond those that its parity can recover, since the parity was
    /// last complete.
    exceeded: IdVec<StripeId, Exceeded>,
    /// Pages of the drive that are readable but wrong.
    pub(crate) silent: SilentErrors,
    /// Counts of unreadable and lost pages of the drive.
    pub ledger: LossLedger,
    /// Number of data versions given out so far: each write of a page takes a new one.
    made: u64,
}

/// The failures that cost a stripe its parity: the number of pages that failed, and the number that
/// the parity could have recovered. Zero while the parity is complete, or if the stripe never had
/// any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exceeded {
    pub failed: u8,
    pub given_back: u8,
}

impl Integrity {
    /// Creates the record of data versions and unreadable pages of a drive before any write: every
    /// page is readable.
    pub fn new(config: &Config, layout: &Layout, stripes: u32) -> Self {
        let pages = layout.geometry.pages().into();
        Self::of(config, (layout.mapped_pages.into(), pages), stripes)
    }

    /// Creates the record of data versions and unreadable pages of a drive before any write, with
    /// `mapped` logical pages (data and parity), `pages` physical pages and `stripes` stripes.
    pub fn of(config: &Config, (mapped, pages): (u64, u64), stripes: u32) -> Self {
        let (mapped, pages) = (mapped as usize, pages as usize);
        Self {
            versions: IdVec::filled(0, mapped),
            stored: IdVec::filled(0, pages),
            failures: IdVec::filled(None, pages),
            to_rebuild: Column::filled(0, pages.div_ceil(64)),
            waiting: 0,
            cursor: 0,
            lost: IdVec::filled(None, mapped),
            exceeded: IdVec::filled(Exceeded::default(), stripes as usize),
            silent: SilentErrors::new(config),
            ledger: LossLedger::default(),
            made: 0,
        }
    }

    /// Returns the memory that the versions of `mapped` pages of the mapping, `pages` physical
    /// pages and `stripes` stripes take on the simulating machine.
    pub fn bytes((mapped, pages): (u64, u64), stripes: u32) -> Bytes {
        Bytes::of::<u64>(mapped)
            + Bytes::of::<Option<Loss>>(mapped)
            + Bytes::of::<u64>(pages)
            + Bytes::of::<Option<Failure>>(pages)
            + Bytes::of::<u64>(pages.div_ceil(64))
            + Bytes::of::<Exceeded>(stripes.into())
    }

    /// Returns the version of the data stored in a physical page; zero for a null unit.
    #[inline]
    pub fn version_at(&self, unit: UnitId) -> u64 {
        self.stored.get(unit).copied().unwrap_or(0)
    }

    /// Returns the version of the data that a successful read of a physical page delivers, and its
    /// unnoticed error; both are zero for a null unit.
    #[inline]
    pub(crate) fn tag_at(&self, unit: UnitId) -> Tag {
        Tag { version: self.version_at(unit), error: self.silent.error_read(unit) }
    }

    /// Records the contents of a physical page that is programmed, as a tag: the version of the
    /// data and its error (the bits in which the contents differ from that data).
    #[inline]
    pub(crate) fn set(&mut self, unit: UnitId, tag: Tag) {
        self.stored[unit] = tag.version;
        self.silent.store(unit, tag.error);
        self.failures[unit] = None;
    }

    /// Returns the version of the data last written to a logical page; zero if the page holds none.
    #[inline]
    pub fn version(&self, page: Lpn) -> u64 {
        self.versions[page]
    }

    /// Gives a logical page a new data version after a write; version zero if (`holds` is false)
    /// the page no longer holds data.
    #[cold]
    pub fn renew(&mut self, page: Lpn, holds: bool) {
        self.made += u64::from(holds);
        self.versions[page] = if holds { spread(self.made) } else { 0 };
        self.lost[page] = None;
    }

    /// Reverts a logical page, whose latest data is lost, to the older data version stored in the
    /// physical page `unit`.
    pub fn revert(&mut self, page: Lpn, unit: UnitId) {
        self.versions[page] = self.version_at(unit);
    }

    /// Marks a logical page as lost for the cause `why`.
    pub fn lose(&mut self, page: Lpn, why: Loss) {
        self.lost[page] = Some(why);
    }

    /// Returns the cause for which a logical page was lost; `None` if the page is not lost.
    pub fn lost(&self, page: Lpn) -> Option<Loss> {
        self.lost[page]
    }

    /// Returns true if a physical page can be read.
    #[inline]
    pub fn reads(&self, unit: UnitId) -> bool {
        self.failure(unit).is_none()
    }

    /// Returns the failure that made a physical page unreadable; `None` if it is readable.
    #[inline]
    pub fn failure(&self, unit: UnitId) -> Option<Failure> {
        self.failures.get(unit).copied().flatten()
    }

    /// Returns the failures that cost a stripe its parity.
    pub fn exceeded(&self, stripe: StripeId) -> Exceeded {
        self.exceeded[stripe]
    }

    /// Records the failures that cost a stripe its parity. Zero records that the parity is complete
    /// again.
    pub fn set_exceeded(&mut self, stripe: StripeId, failures: Exceeded) {
        self.exceeded[stripe] = failures;
    }

    /// Clears the versions of erased physical pages, which are readable again.
    pub fn erase(&mut self, pages: std::ops::Range<u32>) {
        self.silent.erase(pages.clone());
        for unit in pages.map(UnitId) {
            let (word, mask) = (unit.index() / 64, 1 << (unit.index() % 64));
            self.stored[unit] = 0;
            self.failures[unit] = None;
            self.waiting -= u32::from(self.to_rebuild[word] & mask != 0);
            self.to_rebuild[word] &= !mask;
        }
    }

    /// Marks a physical page as unreadable because of a failure.
    pub fn spoil(&mut self, unit: UnitId, failure: Failure) {
        let (word, mask) = (unit.index() / 64, 1 << (unit.index() % 64));
        self.failures[unit] = Some(failure);
        self.waiting += u32::from(self.to_rebuild[word] & mask == 0);
        self.to_rebuild[word] |= mask;
    }

    /// Silently corrupts physical pages by a fault that strikes one of them: `unit`, and for a
    /// misdirected write also the page overwritten in its place. The closures describe the pages of
    /// the drive ([`Struck`]).
    pub(crate) fn corrupt(
        &mut self,
        struck: (Fault, UnitId),
        open: &dyn Fn(UnitId) -> bool,
        current: &dyn Fn(UnitId) -> bool,
        another: &dyn Fn(UnitId, &mut Rng) -> Option<UnitId>,
    ) {
        let Integrity { silent, stored, failures, .. } = self;
        let reads = |unit: UnitId| failures[unit].is_none();
        let open = |unit: UnitId| open(unit) && reads(unit);
        let stored = |unit: UnitId| stored[unit];
        silent.strike(struck, &Struck { open: &open, stored: &stored, current, another });
    }

    /// Stores the data of an unreadable physical page as recovered from its stripe, after checking
    /// its version.
    pub(crate) fn bring_back(&mut self, unit: UnitId, tag: Tag) {
        self.ledger.wrong += u64::from(self.stored[unit] != tag.version);
        self.stored[unit] = tag.version;
        self.silent.store(unit, tag.error);
    }

    /// Returns the number of unreadable physical pages whose rebuilding has not begun. Some may no
    /// longer be needed.
    pub fn to_rebuild(&self) -> u32 {
        self.waiting
    }

    /// Removes and returns the next unreadable physical page whose rebuilding has not begun; `None`
    /// after the last.
    pub fn next_to_rebuild(&mut self) -> Option<UnitId> {
        if self.waiting == 0 {
            return None;
        }
        while self.to_rebuild[self.cursor] == 0 {
            self.cursor = (self.cursor + 1) % self.to_rebuild.len();
        }
        let at = self.to_rebuild[self.cursor].trailing_zeros();
        debug_assert!(self.to_rebuild[self.cursor] != 0, "no page of the word waits");
        self.to_rebuild[self.cursor] &= self.to_rebuild[self.cursor] - 1;
        self.waiting -= 1;
        Some(UnitId::new(self.cursor * 64 + at as usize))
    }
}

impl Raid {
    /// Assigns versions to the data that the drive holds before the run.
    pub(crate) fn begin_integrity(&mut self, ftl: &mut Ftl) {
        let (stripes, map) = (self.stripes, &ftl.core.map);
        let Some(integrity) = &mut self.integrity else { return };
        let at = |page: Lpn| match map.place(page) {
            Location::Flash(unit) => unit,
            Location::Nowhere => UnitId::NONE,
            Location::Buffer(_) => unreachable!("the buffer is empty"),
        };
        for stripe in (0..stripes.count()).map(StripeId) {
            let mut parity = 0;
            for (_, page) in stripes.data_pages(stripe) {
                let unit = at(page);
                if unit.is_some() {
                    integrity.renew(page, true);
                    integrity.set(unit, Tag::right(integrity.version(page)));
                    parity ^= integrity.version(page);
                }
            }
            let unit = at(stripes.parity(stripe));
            if unit.is_some() {
                integrity.set(unit, Tag::right(parity));
            }
        }
    }

    /// Counts a host read of an unmapped page if that page is lost. Returns true if so.
    #[inline]
    pub(crate) fn note_failed_read(&mut self, page: Lpn) -> bool {
        let Some(integrity) = self.integrity.as_deref_mut() else { return false };
        let lost = integrity.lost(page).is_some();
        integrity.ledger.failed_reads += u64::from(lost);
        lost
    }

    /// Assigns a new data version to a logical page that the host has written.
    #[inline]
    pub(crate) fn note_write(&mut self, page: Lpn) {
        if let Some(integrity) = self.integrity.as_deref_mut() {
            integrity.renew(page, true);
        }
    }

    /// Adds the version of a page, read in pass `turn` of the reads for a stripe's parity, to the
    /// exclusive-or of the versions read in that pass. Does nothing if a page has failed meanwhile
    /// and the parity cache entry has begun a new pass.
    pub(crate) fn note_seen(&mut self, entry: ParityId, turn: u32, unit: UnitId) {
        let Some(integrity) = &self.integrity else { return };
        let cached = self.cache.get_mut(entry);
        if turn != 0 && turn == cached.turn {
            cached.seen ^= integrity.tag_at(unit);
        }
    }

    /// Checks the parity computed for a parity cache entry: it must be the exclusive-or of the
    /// cached parity and the versions of the pages that were read for it. A mismatch is counted as
    /// a violated law of the simulation ([`super::losses::LossLedger::unread`]).
    pub(crate) fn note_computed(&mut self, entry: ParityId) {
        let Some(integrity) = &mut self.integrity else { return };
        let cached = self.cache.get(entry);
        integrity.ledger.unread +=
            u64::from((cached.value ^ cached.seen).version != cached.whole.version);
    }

    /// Counts an unreadable copy that has become invalid, because the page was rewritten or
    /// trimmed.
    pub(crate) fn note_rewrite(&mut self, old: UnitId) {
        if let Some(integrity) = self.integrity.as_deref_mut() {
            integrity.ledger.rewritten += u64::from(old.is_some() && !integrity.reads(old));
        }
    }

    /// Counts an unreadable copy that has been reprogrammed elsewhere.
    pub(crate) fn note_rebuilt(&mut self, from: UnitId) {
        if let Some(integrity) = self.integrity.as_deref_mut() {
            let failure = integrity.failure(from);
            integrity.ledger.rebuilt += u64::from(failure.is_some());
            integrity.silent.ledger.corrected += u64::from(failure == Some(Failure::Wrong));
        }
    }

    /// Records that a logical page has been trimmed and no longer holds data.
    pub(crate) fn note_trim(&mut self, page: Lpn) {
        if let Some(integrity) = self.integrity.as_deref_mut() {
            integrity.renew(page, false);
        }
    }

    /// Stores the data version of a logical page in the physical page that is programmed with it.
    /// `wrong` is true if some of the data in the page's buffer frame is silently corrupted.
    pub(crate) fn note_program(&mut self, unit: UnitId, page: Lpn, wrong: bool) {
        if let Some(integrity) = self.integrity.as_deref_mut() {
            let error = if wrong { integrity.silent.fresh() } else { 0 };
            integrity.set(unit, Tag { version: integrity.version(page), error });
        }
    }

    /// Copies the version stored in one physical page to another.
    pub(crate) fn copy_version(&mut self, from: UnitId, to: UnitId) {
        if let Some(integrity) = self.integrity.as_deref_mut() {
            integrity.set(to, integrity.tag_at(from));
        }
    }
}
