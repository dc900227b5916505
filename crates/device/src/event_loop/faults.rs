//! Fault injection, and inspection of the consequences.

use super::Device;
use super::controller::{Controller, Hooks};
use super::fault_schedule::FaultSchedule;
use super::faulty::Faulty;
use super::power_offs::PowerOffs;
use crate::flash::Flash;
use crate::host::failed_dies::Service;
use crate::host::redundancy_hooks::{NoRedundancy, RedundancyHooks};
use crate::mapping::page_map::Location;
use crate::raid::fault_kinds::Fault;
use crate::raid::faults::{CachedView, StripeView};
use crate::raid::integrity::Integrity;
use crate::raid::losses::{Loss, LossLedger};
use crate::raid::parity_cache::{Progress, bit};
use crate::raid::silent_corruption::SilentErrors;
use fowler_units::{FrameId, Id, Lpn, ParityId, Ppn, Span, StripeId, UnitId};

impl Device {
    /// Returns the kind of loss that took a host page; `None` if the page is not lost.
    pub fn lost(&self, page: Lpn) -> Option<Loss> {
        match &self.layer.hooks {
            Hooks::LostPages(lost_pages) => lost_pages.lost(page),
            _ => self.integrity()?.lost(self.stored_page(page)),
        }
    }

    /// Returns the number of physical pages still to be rebuilt.
    pub fn to_rebuild(&self) -> u32 {
        let Some(array) = self.layer.raid() else { return 0 };
        array.integrity.as_ref().map_or(0, |integrity| integrity.to_rebuild())
            + array.degraded_reads.rebuilding()
    }

    /// Returns the number of stripes; zero on a drive without them.
    pub fn stripes(&self) -> u32 {
        self.layer.raid().map_or(0, |array| array.stripes.count())
    }

    /// Returns the present state of a stripe.
    pub fn stripe(&self, stripe: StripeId) -> StripeView {
        let core = &self.layer.ftl.core;
        let array = self.layer.raid().expect("a drive with stripes");
        let integrity = self.integrity().expect("a drive that checks integrity");
        let cell = |unit: UnitId| {
            unit.is_some().then(|| {
                (
                    core.locator.page_of(unit),
                    integrity.reads(unit).then(|| integrity.version_at(unit)),
                )
            })
        };
        let pages = || array.stripes.data_pages(stripe);
        let kept = |id: ParityId| {
            let entry = array.cache.get(id);
            let of = |(at, _)| (entry.covered & bit(at) != 0, cell(array.cache.replaced(id, at)));
            let computed = entry.progress == Progress::Writing && !entry.again;
            let deltas: Vec<UnitId> = array.deltas(id).collect();
            CachedView {
                covered: pages().map(of).collect(),
                based: entry.based,
                value: (!entry.blank).then(|| array.known_sum(entry.value, &deltas).version),
                deltas: deltas.into_iter().filter_map(cell).collect(),
                whole: computed.then_some(entry.whole.version),
                on_its_way: computed && !entry.stale && array.parity_has_begun(&self.flash, id),
            }
        };
        StripeView {
            data: pages()
                .map(|(_, page)| (array.stripes.host(page), cell(core.flash_copy(page))))
                .collect(),
            parity: cell(core.flash_copy(array.stripes.parity(stripe))),
            cached: array.cache.find(stripe).map(kept),
        }
    }

    /// Returns the version of a host page that was written last: a number that grows with each
    /// write of the page.
    pub fn version(&self, page: Lpn) -> u64 {
        let stored = self.stored_page(page);
        self.integrity().map_or(0, |integrity| integrity.version(stored))
    }

    /// Returns true if the data of a host page is in the controller, before or after a transfer to
    /// or from the flash.
    pub fn is_buffered(&self, page: Lpn) -> bool {
        matches!(self.layer.ftl.core.map.place(self.stored_page(page)), Location::Buffer(_))
    }

    /// Returns true if a physical page's data is in the controller, because the page is being
    /// programmed or moved.
    pub fn is_at_hand(&self, page: Ppn) -> bool {
        let unit = self.layer.ftl.core.locator.first_unit(page);
        crate::raid::fault_kinds::is_at_hand(&self.flash, unit)
    }

    /// Returns true if the acknowledged data of a host page is only in the buffer: no die has begun
    /// to program it.
    pub fn is_dirty(&self, page: Lpn) -> bool {
        match self.layer.ftl.core.map.place(self.stored_page(page)) {
            Location::Buffer(frame_id) => self.layer.is_only_here(&self.flash, frame_id),
            _ => false,
        }
    }

    pub(super) fn integrity(&self) -> Option<&Integrity> {
        self.layer.raid().and_then(|raid| raid.integrity.as_deref())
    }

    /// Returns the logical page under which the mapping stores a host page. On a drive with
    /// stripes, parity pages are numbered among the data pages, so the number differs from the
    /// host's.
    pub(super) fn stored_page(&self, host: Lpn) -> Lpn {
        self.layer.raid().map_or(host, |raid| raid.stored_page(host))
    }
}

impl Controller {
    fn is_only_here(&self, flash: &Flash, frame_id: FrameId) -> bool {
        match &self.hooks {
            Hooks::Raid(raid) => self.ftl.is_only_here(flash, frame_id, &**raid),
            Hooks::LostPages(lost) => self.ftl.is_only_here(flash, frame_id, &**lost),
            Hooks::Nothing => self.ftl.is_only_here(flash, frame_id, &NoRedundancy),
        }
    }

    /// Returns the pages that are readable but wrong (silent corruption); `None` on a drive that
    /// does not notice losses.
    pub(super) fn silent(&self) -> Option<&SilentErrors> {
        match &self.hooks {
            Hooks::Raid(raid) => raid.integrity.as_ref().map(|integrity| &integrity.silent),
            Hooks::LostPages(lost) => Some(&lost.silent),
            Hooks::Nothing => None,
        }
    }

    fn ledger_mut(&mut self) -> Option<&mut LossLedger> {
        match &mut self.hooks {
            Hooks::Raid(raid) => raid.integrity.as_mut().map(|integrity| &mut integrity.ledger),
            Hooks::LostPages(lost) => Some(&mut lost.ledger),
            Hooks::Nothing => None,
        }
    }
}

impl Faulty for Controller {
    fn faults(&self) -> Option<&FaultSchedule> {
        self.faults.as_deref()
    }

    fn faults_mut(&mut self) -> &mut Option<Box<FaultSchedule>> {
        &mut self.faults
    }

    fn power_offs(&self) -> &PowerOffs {
        &self.power_offs
    }

    fn power_off(&mut self, flash: &mut Flash, lasts: Span) {
        self.lose_power_for(flash, lasts);
    }

    fn ledger(&self) -> Option<LossLedger> {
        let (ledger, silent) = match &self.hooks {
            Hooks::Raid(raid) => {
                raid.integrity.as_ref().map(|integrity| (&integrity.ledger, &integrity.silent))?
            }
            Hooks::LostPages(lost) => (&lost.ledger, &lost.silent),
            Hooks::Nothing => return None,
        };
        Some(LossLedger { silent: silent.ledger, ..*ledger })
    }

    fn inject(&mut self, flash: &mut Flash, fault: Fault) {
        let ledger = self.ledger_mut().expect("faults need policy.redundancy.integrity");
        match fault {
            Fault::Bug(bug) => {
                let Hooks::Raid(raid) = &mut self.hooks else { return };
                raid.bugs.add(bug);
            }
            Fault::Power => {
                ledger.faults += 1;
                self.lose_power(flash);
            }
            Fault::Miscorrected(_) | Fault::Misdirected(_) => {
                ledger.faults += 1;
                match &mut self.hooks {
                    Hooks::Raid(raid) => raid.corrupt(&self.ftl, flash, fault),
                    Hooks::LostPages(lost) => lost.corrupt(&self.ftl, flash, fault),
                    Hooks::Nothing => unreachable!("it has no ledger"),
                }
            }
            Fault::Page(_)
            | Fault::Parity(_)
            | Fault::Block(_)
            | Fault::Plane(_)
            | Fault::Die(_)
            | Fault::Chip(_)
            | Fault::Channel(_) => {
                ledger.faults += 1;
                if self.ftl.service == Service::Offline {
                    return;
                }
                self.fail_dies(flash, fault);
                match &mut self.hooks {
                    Hooks::Raid(raid) => raid.strike(&mut self.ftl, flash, fault),
                    Hooks::LostPages(lost) => lost.strike(&mut self.ftl, flash, fault),
                    Hooks::Nothing => unreachable!("it has no ledger"),
                }
                self.look_at_capacity(flash);
            }
        }
    }
}
