//! Spans without power. Nothing happens in one: whatever the drive was about is as it was when
//! power is back. But data grows older, so that blocks whose data is older than T_retention by then
//! are refreshed before anything else (DA-RAID-5, section III-C: "the controller can monitor
//! retention time only at time of power-on"); and what caches held is gone, unless they are
//! protected.
//!
//! The clock of the drive counts time under power; the time without it is added to ages.

use super::controller::{Controller, with_redundancy};
use super::{Device, Layer};
use crate::device::probe::Probe;
use crate::flash::Flash;
use crate::policy::redundancy::CachePower;
use fowler_units::{Nanos, Span};

/// What the spans without power came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerOffs {
    /// How many there were.
    pub spans: u32,
    /// How long they were in all.
    pub off: Span,
    /// Writes that had been acknowledged and were gone with them.
    pub lost_writes: u64,
    /// Stripes that had parity nowhere but in a cache that lost its power.
    pub parity_lost: u64,
    /// Blocks whose data was older than T_retention when power came back, where blocks are
    /// refreshed.
    pub overdue: u64,
}

impl<L: Layer> Device<L> {
    /// Lets time go by until `at` without a request: what goes on in idle time does. `probe`
    /// watches, as in a run.
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
    /// The power is off for so long. What runs on a die runs to its end, as in
    /// [`crate::Fault::Power`]. `probe` hears of what the drive begins when power is back.
    ///
    /// # Panics
    /// If a request is in the drive, or the drive has a throttle: its life goes by on the drive's
    /// clock.
    pub fn power_off<P: Probe>(&mut self, lasts: Span, probe: &mut P) {
        assert_eq!(self.layer.front().requests.open_count(), 0, "a request is in the drive");
        assert!(self.layer.throttle.is_none(), "a throttle knows of no time without power");
        if let Some(condition) = self.flash.condition_mut() {
            condition.grow_older(lasts);
        }
        let overdue =
            self.layer.ftl.gc.age_without_power(&mut self.layer.ftl.core, &mut self.flash, lasts);
        let (lost_writes, parity_lost) = self.layer.lose_power(&mut self.flash);
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

    /// What spans without power came to so far.
    pub fn power_offs(&self) -> &PowerOffs {
        &self.layer.power_offs
    }
}

impl Controller {
    /// What caches hold is gone, unless they are protected. Returns how many writes that were
    /// acknowledged are, and of how many stripes the parity.
    pub(super) fn lose_power(&mut self, flash: &mut Flash) -> (u64, u64) {
        if self.cache_power == CachePower::Protected {
            return (0, 0);
        }
        let lost_writes = {
            let flash = &mut *flash;
            with_redundancy!(self, |ftl, raid| ftl.lose_buffer(flash, raid))
        };
        let parity_lost =
            self.raid.as_mut().map_or(0, |raid| raid.lose_parity(&mut self.ftl, flash));
        with_redundancy!(self, |ftl, raid| ftl.resume(flash, raid));
        (lost_writes, parity_lost)
    }
}
