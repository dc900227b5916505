//! Spans without power. Operations resume afterwards where they were, but data has aged: blocks
//! whose data is older than T_retention are refreshed first (DA-RAID-5, section III-C: "the
//! controller can monitor retention time only at time of power-on"). Unprotected caches lose their
//! contents.
//!
//! The clock of the drive counts time under power; time without power is added to ages.

use super::controller::{Controller, Hooks, with_redundancy};
use super::{Device, Layer};
use crate::device::probe::Probe;
use crate::flash::Flash;
use crate::raid::fault_kinds::Fault;
use fowler_units::{Nanos, Span};

/// Totals of all spans without power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerOffs {
    /// Their number.
    pub spans: u32,
    /// Their total length.
    pub off: Span,
    /// Acknowledged writes lost.
    pub lost_writes: u64,
    /// Stripes whose only parity was in a cache that lost power.
    pub parity_lost: u64,
    /// Blocks whose data was older than T_retention when power returned, if blocks are refreshed.
    pub overdue: u64,
}

impl<L: Layer> Device<L> {
    /// Advances time to `at` without a request; idle-time work proceeds. `probe` watches, as in a
    /// run.
    ///
    /// # Panics
    /// If a request is in the drive.
    pub fn rest_until<P: Probe<L>>(&mut self, at: Nanos, probe: &mut P) {
        assert_eq!(self.layer.front().requests.open_count(), 0, "a request is in the drive");
        self.flash.watch(probe.watches_flash());
        while self.served_before(at, probe, &mut |_| {}) {}
        if at > self.now() {
            self.show(at, probe);
            self.flash.agenda.advance(at);
        }
        self.tell(probe);
    }
}

impl Device {
    /// Turns the power off for `lasts`. A die finishes the operation it is running, as with
    /// [`crate::Fault::Power`]. `probe` sees the operations that begin when power returns.
    ///
    /// # Panics
    /// If a request is in the drive, or if it has a throttle, whose lifetime runs on the drive's
    /// clock.
    pub fn power_off<P: Probe>(&mut self, lasts: Span, probe: &mut P) {
        assert_eq!(self.layer.front().requests.open_count(), 0, "a request is in the drive");
        assert!(self.layer.throttle.is_none(), "a drive with a throttle cannot lose power");
        if let Some(condition) = self.flash.condition_mut() {
            condition.grow_older(lasts);
        }
        let overdue =
            self.layer.ftl.gc.age_without_power(&mut self.layer.ftl.core, &mut self.flash, lasts);
        self.layer.ftl.gc.scrub_without_power(&self.layer.ftl.core, &mut self.flash, lasts);
        let before = self.layer.ledger().copied();
        let (lost_writes, parity_lost) = self.layer.lose_power(&mut self.flash);
        self.layer.note_struck(Fault::Power, self.flash.now(), before);
        let its = &mut self.layer.power_offs;
        its.spans += 1;
        its.off += lasts;
        its.lost_writes += lost_writes;
        its.parity_lost += parity_lost;
        its.overdue += overdue;
        self.flash.watch(probe.watches_flash());
        self.flash.settle(&mut self.layer);
        self.tell(probe);
    }

    /// Returns the totals of all spans without power so far.
    pub fn power_offs(&self) -> &PowerOffs {
        &self.layer.power_offs
    }
}

impl Controller {
    /// Discards what caches cannot keep without power. Returns the number of acknowledged writes
    /// and of stripe parities lost.
    pub(super) fn lose_power(&mut self, flash: &mut Flash) -> (u64, u64) {
        let saved = self.saved;
        if saved == usize::MAX {
            return (0, 0);
        }
        let (lost_writes, saved) = {
            let flash = &mut *flash;
            with_redundancy!(self, |ftl, raid| ftl.lose_buffer(flash, saved, raid))
        };
        let parity_lost = match &mut self.hooks {
            Hooks::Raid(raid) => raid.lose_parity(&mut self.ftl, flash, saved),
            Hooks::Nothing | Hooks::LostPages(_) => 0,
        };
        with_redundancy!(self, |ftl, raid| ftl.resume(flash, raid));
        (lost_writes, parity_lost)
    }
}
