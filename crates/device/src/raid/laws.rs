//! The laws of stripes and their parity, with those of [`crate::observe::laws`].

use crate::device::Device;
use crate::flash::txn::{Op, Owner};
use crate::mapping::page_map::Location;
use crate::observe::laws::{Violation, law};
use crate::raid::Array;
use crate::raid::integrity::Integrity;
use crate::raid::parity_cache::{Entry, Progress, bit};
use fowler_units::{Id, Lpn, ParityId, StripeId};

impl Device {
    /// Physical pages that are valid because the parity of their stripe is not in the flash yet.
    pub(crate) fn kept_for_parity(&self) -> u64 {
        let Some(array) = &self.ftl.array else { return 0 };
        let kept = |(id, _): (ParityId, &Entry)| {
            array.cache.all_replaced(id).iter().filter(|ppn| ppn.is_some()).count() as u64
        };
        array.cache.iter().map(kept).sum::<u64>() + array.leaving.len() as u64
    }

    /// What the parity cache holds is what the flash lacks; counters of worn pages are right; no two pages of a stripe
    /// share a die; and with tags, every stripe adds up.
    pub(crate) fn check_array(&self) -> Result<(), Violation> {
        let Some(array) = &self.ftl.array else { return Ok(()) };
        for stripe in (0..array.stripes.count()).map(StripeId) {
            self.check_stripe(array, stripe)?;
        }
        let worn = array.worn.as_slice().iter().filter(|&&pages| pages > 0).count();
        law(worn == array.worn_stripes as usize, || {
            format!("{} stripes counted as worn, {worn} are", array.worn_stripes)
        })?;
        let mut programs = 0;
        for (_, txn) in self.flash.txns.iter() {
            programs += u32::from(matches!(txn.owner, Owner::Frame(_)) && txn.pinned);
        }
        let pinned: u32 = array.cache.iter().map(|(_, entry)| entry.pinned).sum();
        law(programs == pinned, || format!("{programs} programs to cover, {pinned} counted on"))?;
        for (id, entry) in array.cache.iter() {
            self.check_entry(array, id, entry)?;
        }
        self.check_ledger(array)
    }

    /// Every data page that became unreadable was rebuilt, written anew or lost, or still waits for one of these.
    fn check_ledger(&self, array: &Array) -> Result<(), Violation> {
        let Some(integrity) = &array.integrity else { return Ok(()) };
        let its = &integrity.ledger;
        let mut waiting = 0;
        for stripe in (0..array.stripes.count()).map(StripeId) {
            for (_, page) in array.stripes.data_pages(stripe) {
                let ppn = self.ftl.flash_copy(page);
                waiting += u64::from(ppn.is_some() && !integrity.reads(ppn));
            }
        }
        law(its.wrong == 0, || format!("{} pages came back as something else", its.wrong))?;
        law(its.unread == 0, || format!("{} parities of what was not read", its.unread))?;
        let lost = its.lost_in_all() - its.lost_writes;
        law(its.unreadable == its.rebuilt + its.rewritten + lost + waiting, || {
            format!("{waiting} unreadable pages wait, of {its:?}")
        })
    }

    fn check_stripe(&self, array: &Array, stripe: StripeId) -> Result<(), Violation> {
        let ftl = &self.ftl;
        let mut worn = 0;
        for (_, page) in array.stripes.data_pages(stripe) {
            let ppn = ftl.flash_copy(page);
            if !ppn.is_some() {
                continue;
            }
            let (block, die) = (ftl.locator.block_of(ppn), ftl.locator.die_of(ppn));
            worn += u8::from(ftl.is_worn(array, block));
            law(die == ftl.space.die_of_address(page), || {
                format!("page {} of stripe {} lies on die {}", page.0, stripe.0, die.0)
            })?;
        }
        let counted = array.worn[stripe];
        law(counted == worn, || {
            format!("stripe {}: {counted} pages counted in worn blocks, {worn} are", stripe.0)
        })?;
        let parity = ftl.flash_copy(array.stripes.parity(stripe));
        let entry = array.cache.find(stripe);
        let bare = array.protects(stripe) && !parity.is_some() && entry.is_none();
        let holds = array.stripes.data_pages(stripe).any(|(_, it)| ftl.flash_copy(it).is_some());
        law(!(bare && holds) || array.is_wanted(stripe), || {
            format!("stripe {} has no parity, and is to get none", stripe.0)
        })?;
        if array.integrity.is_some() {
            let lost = ftl.beyond_help(stripe);
            law(lost == 0, || {
                format!("stripe {}: pages {lost:b} cannot be brought back", stripe.0)
            })?;
        }
        match (&array.integrity, entry) {
            (Some(integrity), None) if parity.is_some() => {
                let sum = self.sum_of(array, integrity, stripe, u64::MAX);
                law(sum == integrity.tag(parity), || {
                    format!("stripe {}: parity is not that of its pages", stripe.0)
                })
            }
            _ => Ok(()),
        }
    }

    /// The exclusive-or of the tags of some data pages of a stripe as they lie in the flash.
    fn sum_of(&self, array: &Array, integrity: &Integrity, stripe: StripeId, which: u64) -> u64 {
        let its = array.stripes.data_pages(stripe).filter(|&(at, _)| which & bit(at) != 0);
        its.fold(0, |sum, (_, page)| sum ^ integrity.tag(self.ftl.flash_copy(page)))
    }

    fn check_entry(&self, array: &Array, id: ParityId, entry: &Entry) -> Result<(), Violation> {
        let stripe = entry.stripe;
        let parity = self.ftl.flash_copy(array.stripes.parity(stripe));
        law(entry.based == parity.is_some() || entry.again, || {
            format!("stripe {}: based on parity at {}: {}", stripe.0, parity.0, entry.based)
        })?;
        let leaving = array.leaving(id);
        for ppn in leaving {
            let valid = self.ftl.space.blocks.is_valid(ppn) && self.ftl.reads_well(ppn);
            let open = entry.progress == Progress::Open && entry.reads > 0;
            law(valid && open, || format!("stripe {}: a page leaves in vain", stripe.0))?;
        }
        law(!entry.blank || entry.reads > 0, || format!("stripe {}: blank for ever", stripe.0))?;
        for (at, &ppn) in array.cache.all_replaced(id).iter().enumerate() {
            let valid = !ppn.is_some() || self.ftl.space.blocks.is_valid(ppn);
            let covered = !ppn.is_some() || entry.covered & bit(at as u32) != 0;
            law(valid && covered, || format!("stripe {}: page {at} is kept in vain", stripe.0))?;
        }
        let Some(integrity) = &array.integrity else { return Ok(()) };
        let cached = self.sum_of(array, integrity, stripe, entry.covered);
        law(cached == entry.value, || {
            format!("stripe {}: what is cached ({:?}) is not its parity", stripe.0, entry.progress)
        })?;
        let whole = self.sum_of(array, integrity, stripe, u64::MAX);
        let computed = entry.progress != Progress::Open && !entry.again;
        law(!computed || whole == entry.whole, || {
            format!("stripe {}: what is computed is not its parity", stripe.0)
        })?;
        if entry.based {
            let rest = self.sum_of(array, integrity, stripe, !entry.covered);
            let kept = array.cache.all_replaced(id).iter();
            let sum = kept.fold(rest, |sum, &ppn| sum ^ integrity.tag(ppn));
            law(sum == integrity.tag(parity), || {
                format!("stripe {}: the flash does not have it as it was", stripe.0)
            })?;
        }
        Ok(())
    }

    /// With tags: whether every page of the host holds what was written last, in the buffer or in the flash.
    ///
    /// # Errors
    /// The first page that does not.
    pub fn check_data(&self) -> Result<(), Violation> {
        let Some(array) = &self.ftl.array else { return Ok(()) };
        let Some(integrity) = &array.integrity else { return Ok(()) };
        for host in (0..self.layout().logical_pages).map(Lpn) {
            let page = array.stripes.stored(host);
            let version = integrity.version(page);
            let found = match self.ftl.map.place(page) {
                Location::Nowhere => 0,
                Location::Flash(ppn) => integrity.tag(ppn),
                // What is in a frame is the latest version, by whatever way it came there.
                Location::Buffer(_) => version,
            };
            law(found == version || integrity.lost(page).is_some(), || {
                format!("page {} reads {found:x}, written was {version:x}", host.0)
            })?;
        }
        let moving = self.flash.txns.iter().filter(|(_, txn)| {
            txn.op == Op::Program && matches!(txn.owner, Owner::Frame(_)) && txn.ppn.is_some()
        });
        for (_, txn) in moving {
            let valid = self.ftl.space.blocks.is_valid(txn.ppn);
            let tag = integrity.tag(txn.ppn);
            law(!valid || tag != 0, || format!("page {} is programmed with nothing", txn.lpn.0))?;
        }
        Ok(())
    }
}
