//! Losses of power.
//!
//! 1. All data grows older by the time without power, which the clock of the drive does not count.
//! 2. Blocks whose data is older than T_retention by then are refreshed first (DA-RAID-5, section
//!    III-C: "the controller can monitor retention time only at time of power-on"), and the turns
//!    of scrubbing move on.
//! 3. Programs in flight end or are cut off ([`crate::policy::redundancy::CutPrograms`]); then
//!    unprotected caches lose their contents: the buffer (`host/power_loss.rs`), and the parity
//!    cache (`raid/power_loss.rs`).
//! 4. The pages whose programs were cut off, and the earlier pages of their word lines, become
//!    unreadable.
//! 5. Operations resume where they were, and the losses are added to the totals (`power_offs.rs`).
//!
//! Exceptions: a drive whose caches are protected loses nothing, and one that is offline has
//! nothing to lose. A drive with a throttle cannot lose power, because its lifetime runs on the
//! drive's clock.

use super::controller::{Controller, Hooks, with_redundancy};
use super::faulty::Faulty;
use super::{Device, Layer};
use crate::event_loop::probe::Probe;
use crate::flash::Flash;
use crate::host::failed_dies::Service;
use crate::raid::fault_kinds::Fault;
use crate::raid::losses::Failure;
use fowler_units::{Nanos, Span};

impl<L: Layer> Device<L> {
    /// Advances time to `at` without a request; idle-time work proceeds. `probe` observes, as in a
    /// run.
    ///
    /// # Panics
    /// If a request is in the drive.
    pub fn rest_until<P: Probe<L>>(&mut self, at: Nanos, probe: &mut P) {
        assert_eq!(self.layer.front().requests.open_count(), 0, "a request is in the drive");
        self.flash.watch(probe.watches_flash());
        while self.run_until(at, probe, &mut |_| {}) {}
        if at > self.now() {
            self.report_samples(at, probe);
            self.flash.agenda.advance(at);
        }
        self.report_steps(probe);
    }
}

/// Losses of the controller at one loss of power: writes, parity and programs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// Number of acknowledged writes lost, because no die had begun to program them.
    lost_writes: u64,
    /// Number of stripes whose only parity was in the cache and is lost.
    parity_lost: u64,
    /// Number of programs that the loss of power cut off.
    torn: u64,
    /// Number of pages lost because the program of a later page of their word line was cut off.
    paired: u64,
}

impl Controller {
    /// Turns the power off for `lasts`; the clock of the drive does not advance.
    pub(super) fn lose_power_for(&mut self, flash: &mut Flash, lasts: Span) {
        if let Some(condition) = flash.condition_mut() {
            condition.grow_older(lasts);
        }
        let overdue = self.ftl.gc.age_without_power(&mut self.ftl.core, flash, lasts);
        self.ftl.gc.scrub_without_power(&self.ftl.core, flash, lasts);
        let before = self.ledger();
        let taken = self.lose_power(flash);
        self.note_struck(Fault::Power, flash.now(), before);
        let power_offs = &mut self.power_offs;
        power_offs.spans += 1;
        power_offs.off += lasts;
        power_offs.lost_writes += taken.lost_writes;
        power_offs.parity_lost += taken.parity_lost;
        power_offs.torn += taken.torn;
        power_offs.paired += taken.paired;
        power_offs.overdue += overdue;
    }

    /// Discards the contents of caches that do not survive without power, and cuts off programs if
    /// the drive does not end them.
    pub(super) fn lose_power(&mut self, flash: &mut Flash) -> Taken {
        let saved = self.saved;
        if saved == usize::MAX || self.ftl.service == Service::Offline {
            return Taken::default();
        }
        let cut = self.ftl.cut_programs(flash, saved);
        let saved = saved - cut.ended;
        let (lost_writes, saved) = {
            let flash = &mut *flash;
            with_redundancy!(self, |ftl, raid| ftl.lose_buffer(flash, saved, raid))
        };
        let torn = self.ftl.lose_torn_frames(flash, &cut.torn);
        let paired = self.ftl.paired_pages(flash, &cut.torn);
        let parity_lost = match &mut self.hooks {
            Hooks::Raid(raid) => raid.lose_parity(&mut self.ftl, flash, saved, &cut.torn),
            Hooks::Nothing | Hooks::LostPages(_) => 0,
        };
        let taken = Taken {
            lost_writes,
            parity_lost,
            torn: cut.torn.len() as u64,
            paired: paired.len() as u64,
        };
        let mut struck = [torn, paired].concat();
        struck.sort_unstable();
        match &mut self.hooks {
            Hooks::Raid(raid) => raid.strike_pages(&mut self.ftl, flash, struck, Failure::Torn),
            Hooks::LostPages(lost) => {
                lost.strike_pages(&mut self.ftl, flash, struck, Failure::Torn);
            }
            Hooks::Nothing => {}
        }
        with_redundancy!(self, |ftl, raid| ftl.resume(flash, raid));
        taken
    }
}
