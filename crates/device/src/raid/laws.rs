//! The laws of stripes and their parity: invariants that hold after every event, which
//! [`crate::Device::check`] checks. The largest: a stripe that must have parity has it in the flash
//! or in the cache, or is listed to get it; a page that cannot be read can be recovered, or is lost
//! and counted; with versions, parity matches its pages.

use super::Raid;
use super::fault_kinds::is_at_hand;
use super::integrity::Integrity;
use super::parity_cache::{Entry, Progress, bit};
use crate::core::Core;
use crate::flash::Flash;
use crate::flash::txn::Owner;
use crate::mapping::page_map::Location;
use crate::observe::law::{Violation, law};
use crate::observe::operation::Op;
use fowler_units::{Id, Lpn, ParityId, StripeId, TxnId};

impl Raid {
    /// Returns true if the completion of a program waits for parity.
    pub(crate) fn is_deferred(&self, flash: &Flash, id: TxnId) -> bool {
        self.note(flash, id).awaiting_parity
    }

    /// Returns the number of physical pages that are valid only because the parity of their stripe
    /// is not in the flash yet.
    pub(crate) fn retained_for_parity(&self) -> u64 {
        let kept = |(id, _): (ParityId, &Entry)| {
            self.cache.all_replaced(id).iter().filter(|unit| unit.is_some()).count() as u64
        };
        self.cache.iter().map(kept).sum::<u64>() + self.deltas.len() as u64
    }

    /// Checks that the parity cache holds exactly the parity that the flash lacks, that the
    /// counters of worn pages are right, and that every page is on the die of its address, unless a
    /// die has failed. With versions, also checks that the parity of every stripe matches its
    /// pages.
    pub(crate) fn check(&self, core: &Core, flash: &Flash) -> Result<(), Violation> {
        for stripe in (0..self.stripes.count()).map(StripeId) {
            self.check_stripe(core, flash, stripe)?;
        }
        let worn = self.worn.as_slice().iter().filter(|&&pages| pages > 0).count();
        law(worn == self.worn_stripes as usize, || {
            format!("{} stripes are counted as worn, but {worn} are", self.worn_stripes)
        })?;
        let mut programs = 0;
        for (id, txn) in flash.txns.iter() {
            programs +=
                u32::from(matches!(txn.owner, Owner::Frame(_)) && self.note(flash, id).pinned);
        }
        let pinned: u32 = self.cache.iter().map(|(_, entry)| entry.pinned).sum();
        law(programs == pinned, || {
            format!(
                "{programs} programs in flight pin a parity cache entry, but the entries count \
                 {pinned}"
            )
        })?;
        for (id, entry) in self.cache.iter() {
            self.check_entry(core, id, entry)?;
        }
        self.check_ledger(core)
    }

    /// Checks that every data page that became unreadable was rebuilt, rewritten or lost, or still
    /// waits for one of these.
    fn check_ledger(&self, core: &Core) -> Result<(), Violation> {
        let Some(integrity) = &self.integrity else { return Ok(()) };
        let ledger = &integrity.ledger;
        let mut waiting = 0;
        for stripe in (0..self.stripes.count()).map(StripeId) {
            for (_, page) in self.stripes.data_pages(stripe) {
                let unit = core.flash_copy(page);
                waiting += u64::from(unit.is_some() && !integrity.reads(unit));
            }
        }
        law(ledger.wrong == 0, || format!("{} pages were read with wrong contents", ledger.wrong))?;
        law(ledger.unread == 0, || {
            format!("{} parity pages computed from unread pages", ledger.unread)
        })?;
        let lost = ledger.lost_in_all() - ledger.lost_writes;
        law(ledger.unreadable == ledger.rebuilt + ledger.rewritten + lost + waiting, || {
            format!(
                "{waiting} data pages are unreadable, but the ledger of losses (unreadable pages \
                 less those rebuilt, rewritten or lost) says otherwise: {ledger:?}"
            )
        })
    }

    fn check_stripe(&self, core: &Core, flash: &Flash, stripe: StripeId) -> Result<(), Violation> {
        let mut worn = 0;
        for (_, page) in self.stripes.data_pages(stripe) {
            let unit = core.flash_copy(page);
            if !unit.is_some() {
                continue;
            }
            let (block, die) = (core.locator.block_of(unit), core.locator.die_of(unit));
            worn += u8::from(self.is_worn(core, block));
            let home = die == core.allocator.die_of_address(page);
            law(home || core.allocator.dies_have_failed(), || {
                format!("page {} of stripe {} lies on the wrong die {}", page.0, stripe.0, die.0)
            })?;
            let gone = core.allocator.has_failed(die) && self.integrity.is_some();
            law(!gone || !self.reads_well(unit) || is_at_hand(flash, unit), || {
                format!("page {} is readable on die {}, which has failed", page.0, die.0)
            })?;
        }
        let counted = self.worn[stripe];
        law(counted == worn, || {
            format!("stripe {}: {counted} pages counted in worn blocks, not {worn}", stripe.0)
        })?;
        let parity = core.flash_copy(self.stripes.parity(stripe));
        let entry = self.cache.find(stripe);
        let bare = self.protects(stripe) && !parity.is_some() && entry.is_none();
        let holds = self.stripes.data_pages(stripe).any(|(_, it)| core.flash_copy(it).is_some());
        law(!(bare && holds) || self.is_wanted(stripe), || {
            format!("stripe {} has no parity, and none is planned", stripe.0)
        })?;
        if self.integrity.is_some() {
            let lost = self.beyond_help(core, stripe);
            law(lost == 0, || {
                format!(
                    "stripe {}: unreadable data pages {lost:b} (bit i: page i) cannot be rebuilt",
                    stripe.0
                )
            })?;
        }
        match (&self.integrity, entry) {
            (Some(integrity), None) if parity.is_some() => {
                let sum = self.sum_of(core, integrity, stripe, u64::MAX);
                law(sum == integrity.version_at(parity), || {
                    format!("stripe {}: parity does not match its pages", stripe.0)
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns the exclusive-or of the versions in the flash of the data pages `which` of a stripe.
    fn sum_of(&self, core: &Core, integrity: &Integrity, stripe: StripeId, which: u64) -> u64 {
        let pages = self.stripes.data_pages(stripe).filter(|&(at, _)| which & bit(at) != 0);
        pages.fold(0, |sum, (_, page)| sum ^ integrity.version_at(core.flash_copy(page)))
    }

    fn check_entry(&self, core: &Core, id: ParityId, entry: &Entry) -> Result<(), Violation> {
        let stripe = entry.stripe;
        let parity = core.flash_copy(self.stripes.parity(stripe));
        law(entry.based == parity.is_some() || entry.again, || {
            format!(
                "stripe {}: its parity is mapped to unit {}, but its parity cache entry says that \
                 the flash has parity: {}",
                stripe.0, parity.0, entry.based
            )
        })?;
        let deltas = self.deltas(id);
        for unit in deltas {
            let valid = core.allocator.blocks.is_valid(unit) && self.reads_well(unit);
            let open = entry.progress == Progress::Open && entry.reads > 0;
            law(valid && open, || {
                format!("stripe {}: no parity needs the superseded copy at {}", stripe.0, unit.0)
            })?;
        }
        law(!entry.blank || entry.reads > 0, || {
            format!("stripe {}: cached parity is to be reread, and no read is in flight", stripe.0)
        })?;
        for (at, &unit) in self.cache.all_replaced(id).iter().enumerate() {
            let valid = !unit.is_some() || core.allocator.blocks.is_valid(unit);
            let covered = entry.covered | entry.uncovered;
            let covered = !unit.is_some() || covered & bit(at as u32) != 0;
            law(valid && covered, || {
                format!(
                    "stripe {}: the parity cache retains an old copy of the page at position {at}, \
                     which is invalid or which no cached parity covers",
                    stripe.0
                )
            })?;
        }
        let Some(integrity) = &self.integrity else { return Ok(()) };
        let cached = self.sum_of(core, integrity, stripe, entry.covered);
        law(cached == entry.value.version, || {
            format!("stripe {}: cached parity ({:?}) is wrong", stripe.0, entry.progress)
        })?;
        let whole = self.sum_of(core, integrity, stripe, u64::MAX);
        let computed = entry.progress != Progress::Open && !entry.again;
        law(!computed || whole == entry.whole.version, || {
            format!("stripe {}: computed parity is wrong", stripe.0)
        })?;
        if entry.based {
            let rest = self.sum_of(core, integrity, stripe, !entry.covered);
            let kept = self.cache.all_replaced(id).iter();
            let sum = kept.fold(rest, |sum, &unit| sum ^ integrity.version_at(unit));
            law(sum == integrity.version_at(parity), || {
                format!(
                    "stripe {}: its parity page in the flash does not match the old copies of the \
                     pages in the cached parity and the pages not in it",
                    stripe.0
                )
            })?;
        }
        Ok(())
    }

    /// With versions: checks that the last written version of every host page is in the buffer or
    /// in the flash.
    ///
    /// # Errors
    /// The first page whose last version is in neither.
    pub(crate) fn check_data(&self, core: &Core, flash: &Flash) -> Result<(), Violation> {
        let Some(integrity) = &self.integrity else { return Ok(()) };
        for host in (0..core.layout.logical_pages).map(Lpn) {
            let page = self.stripes.stored(host);
            let version = integrity.version(page);
            let found = match core.map.place(page) {
                Location::Nowhere => 0,
                Location::Flash(unit) => integrity.version_at(unit),
                // A frame always holds the latest version, whatever its origin.
                Location::Buffer(_) => version,
            };
            law(found == version || integrity.lost(page).is_some(), || {
                format!("page {} has version {found:x}; written was {version:x}", host.0)
            })?;
        }
        let moving = flash.txns.iter().filter(|(_, txn)| {
            txn.op == Op::Program && matches!(txn.owner, Owner::Frame(_)) && txn.unit.is_some()
        });
        for (_, txn) in moving {
            let valid = core.allocator.blocks.is_valid(txn.unit);
            let version = integrity.version_at(txn.unit);
            law(!valid || version != 0, || {
                format!("page {} is programmed without data", txn.lpn.0)
            })?;
        }
        Ok(())
    }
}
